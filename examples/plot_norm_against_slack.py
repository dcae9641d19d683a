# SPDX-License-Identifier: BSD-3-Clause
"""
Three rules, and polish
=======================

At every step of BSS several features would do, and the promise is the same whichever is drawn.
``rule`` says which one is, and ``polish=True`` adjusts the weights afterwards. You will see what
each makes of the same data, in the certificate, in every direction, and in time.
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
# Between the two barriers of BSS, a feature has a smallest and a largest weight with which it may
# be drawn; if the one is below the other, it is feasible. Of the feasible features,
#
# - ``"norm"`` draws that with the largest leverage score: the paper's rule, and the fastest;
# - ``"slack"`` draws that with the most room, as the difference of the inverse weights;
# - ``"ratio"`` draws that with the most room, as the ratio of the weights.
#
# All of them with the same number of draws, on the same data:

X, _ = make_ridge_synthetic(n_samples=60, n_features=4000, random_state=0)
n_draws = 3 * 60
BSSSelector(n_draws).fit(X)  # once before the clock runs
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
# The shaded band is promised to all six. Polish reweights the features that were drawn, and draws
# no others; epsilon, the larger distance of the two ends from 1, never grows by it. Part of what
# it does is to scale: without it, the rules "slack" and "ratio" leave most directions shorter
# than they were.

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
# A certificate has the two extremes of a spectrum: the eigenvalues of K~ relative to K, the
# kernels of the selected and of all features. At 1 a direction is as long as it was. The whole
# spectrum shows how far the extremes are from typical.

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
# "norm" where time counts, or where its certificate is good enough; "slack" or "ratio" with
# polish for the tightest certificate that so many features give. All are deterministic. The times
# are of one run each, on small data; on large data the passes over it weigh more, which are the
# same for all.
