# SPDX-License-Identifier: BSD-3-Clause
"""
The certificate tightens
========================

BSS guarantees an interval a priori, from two numbers: the number of draws and the rank. The
measured interval always lies within it. This example shows both as the number of features grows,
and how many features a given epsilon takes, a priori and measured.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullLocator, ScalarFormatter

from ridgewise import BSSSelector, features_for_epsilon, make_ridge_synthetic

BLUE, ORANGE, GREY = "#0b5fa5", "#dd7a00", "#7b8894"
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})

# %%
# Measured, within promised
# -------------------------
# The paper's synthetic data, and its rule: of the features that are feasible between the two
# barriers, draw the one with the largest leverage score (``rule="norm"``, the default). The
# guarantee for r draws is ``[(1 - s)^2, (1 + s)^2]`` with ``s = sqrt(rank / r)``.

X, _ = make_ridge_synthetic(n_samples=40, n_features=3000, random_state=0)
multiples = np.array([1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24])
certificates = [BSSSelector(round(m * 40)).fit(X).certificate_ for m in multiples]
print("r / rank   promised          measured")
for m, c in zip(multiples, certificates, strict=True):
    promised = f"[{c.promised_lower:.3f}, {c.promised_upper:.3f}]"
    print(f"{m:8.2f}   {promised}    [{c.lower:.3f}, {c.upper:.3f}]")

# %%
# The interval covers all directions of the data: the squared norm of any linear combination of
# samples, computed with the selected features, is between ``lower`` and ``upper`` times its norm
# with all features. At 1 nothing has changed.

promised_lower = [c.promised_lower for c in certificates]
promised_upper = [c.promised_upper for c in certificates]
lower, upper = [c.lower for c in certificates], [c.upper for c in certificates]
figure, axes = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
axes.fill_between(
    multiples, promised_lower, promised_upper, color=BLUE, alpha=0.12, label="promised"
)
axes.fill_between(multiples, lower, upper, color=BLUE, alpha=0.35, label="measured")
axes.plot(multiples, lower, color=BLUE, marker="o", markersize=4)
axes.plot(multiples, upper, color=BLUE, marker="o", markersize=4)
axes.axhline(1, color=GREY, linewidth=1, linestyle="--")
axes.set_xscale("log")
ticks = [1.1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24]
axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
axes.xaxis.set_minor_locator(NullLocator())
axes.set(
    xlabel="draws, as a multiple of the rank",
    ylabel="squared length, relative to all features",
    ylim=(0, 4),
)
figure.legend(loc="outside upper center", ncols=2, frameon=False)
plt.show()

# %%
# From an epsilon to a number of features
# ---------------------------------------
# ``epsilon`` is the larger distance of the two ends from 1. ``features_for_epsilon`` gives the
# number of features for an a-priori guarantee, whatever the data. Given data can need far fewer:
# ``BSSSelector(epsilon=...)`` searches for the fewest, with another rule ("ratio") and polished
# weights.

epsilons = np.array([0.9, 0.75, 0.6, 0.5, 0.4])
beforehand = [features_for_epsilon(epsilon, rank=40) for epsilon in epsilons]
searched = [BSSSelector(epsilon=epsilon).fit(X).n_draws_ for epsilon in epsilons]
print("epsilon   promised beforehand   found on this data")
for epsilon, many, few in zip(epsilons, beforehand, searched, strict=True):
    print(f"{epsilon:7.2f}   {many:10} features   {few:9} features")

figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
axes.plot(epsilons, beforehand, color=GREY, marker="s", label="promised beforehand, for any data")
axes.plot(epsilons, searched, color=ORANGE, marker="o", label="found by search, on this data")
axes.axhline(40, color=GREY, linewidth=1, linestyle="--")
axes.annotate("rank", (0.4, 40), xytext=(0, 4), textcoords="offset points", color=GREY, ha="right")
axes.set_yscale("log")
axes.set_yticks([40, 100, 200, 400, 800, 1600])
axes.yaxis.set_major_formatter(ScalarFormatter())
axes.yaxis.set_minor_locator(NullLocator())
axes.invert_xaxis()
axes.set(xlabel="epsilon, from loose to tight", ylabel="number of features")
figure.legend(loc="outside upper center", frameon=False)
plt.show()
