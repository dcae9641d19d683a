# SPDX-License-Identifier: BSD-3-Clause
"""
Three rules, and polish
=======================

At every step of BSS several features are feasible, and the guarantee is the same for each.
``rule`` decides which one is drawn, and ``polish=True`` optimizes the weights afterwards. This
example compares them on the same data: certificates, spectra and times.
"""

from time import process_time

import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg

from ridgewise import BSSSelector, make_ridge_synthetic

BLUE, ORANGE, GREEN, GREY = "#0b5fa5", "#dd7a00", "#2a9d6f", "#7b8894"
COLOURS = {"norm": BLUE, "slack": ORANGE, "ratio": GREEN}
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})

# %%
# Between the two barriers of BSS, a feature has a smallest and a largest admissible weight; if the
# first is below the second, it is feasible. Of the feasible features,
#
# - ``"norm"`` draws the one with the largest leverage score: the paper's rule, and the fastest;
# - ``"slack"`` draws the one with the largest difference of the two inverse weights;
# - ``"ratio"`` draws the one with the largest ratio of the two weights.
#
# All have the same number of draws, on the same data:

X, _ = make_ridge_synthetic(n_samples=60, n_features=4000, random_state=0)
n_draws = 3 * 60
BSSSelector(n_draws).fit(X)  # warm up before timing
fitted = {}
print("rule    polish   measured          epsilon   processor seconds")
for rule in COLOURS:
    for polish in (False, True):
        start = process_time()
        selector = BSSSelector(n_draws, rule=rule, polish=polish).fit(X)
        seconds = process_time() - start
        fitted[rule, polish] = selector
        c = selector.certificate_
        interval = f"[{c.lower:.3f}, {c.upper:.3f}]"
        print(f"{rule:8}{'yes' if polish else 'no':9}{interval}{c.epsilon:11.3f}{seconds:10.3f}")

# %%
# The certificates
# ----------------
# The shaded band is the guarantee of all six. Polish optimizes the weights of the drawn features
# and never increases epsilon, the larger distance of the two ends from 1. Part of its effect is
# scaling: without it, the rules "slack" and "ratio" shrink most directions.

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
c = fitted["norm", False].certificate_
axes.axvspan(c.promised_lower, c.promised_upper, color=GREY, alpha=0.15, linewidth=0)
axes.axvline(1, color=GREY, linewidth=1, linestyle="--")
for place, ((rule, polish), selector) in enumerate(fitted.items()):
    c = selector.certificate_
    axes.plot(
        [c.lower, c.upper],
        [place, place],
        color=COLOURS[rule],
        linewidth=6 if polish else 3,
        solid_capstyle="butt",
    )
axes.set_yticks(
    range(len(fitted)), [f"{rule}, polished" if polish else rule for rule, polish in fitted]
)
axes.invert_yaxis()
axes.set_xlabel("squared length, relative to all features")
axes.set_title("Measured, within promised (shaded)", loc="left")
plt.show()

# %%
# Every direction
# ---------------
# A certificate states the two extremes of a spectrum: the eigenvalues of K~ relative to K, the
# kernels of the selected and of all features. At 1 a direction is unchanged. The whole spectrum
# shows how typical the extremes are.

K = X @ X.T


def kept(selector):
    """How much of each direction the selected features keep, in ascending order."""
    X_selected = selector.transform(X)
    return scipy.linalg.eigh(X_selected @ X_selected.T, K, eigvals_only=True)


figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for (rule, polish), selector in fitted.items():
    axes.plot(
        np.arange(1, len(K) + 1),
        kept(selector),
        color=COLOURS[rule],
        linestyle="-" if polish else (0, (3, 2)),
        label=f"{rule}, polished" if polish else rule,
    )
axes.axhline(1, color=GREY, linewidth=1)
axes.set(
    xlabel="direction, from the least to the most kept",
    ylabel="squared length, relative to all features",
)
axes.set_ylim(0, None)
figure.legend(loc="outside upper center", ncols=3, frameon=False)
plt.show()

# %%
# Which to take
# -------------
# "norm" if time matters, or if its certificate is good enough; "slack" or "ratio" with polish for
# the tightest certificate. All are deterministic. The times are of one run each, on small data; on
# large data the passes over the data, which are the same for all, dominate.
