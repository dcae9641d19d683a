# SPDX-License-Identifier: BSD-3-Clause
"""
Which genes, and could others do better?
========================================

:class:`~ridgewise.SubsetSelector` selects a few dozen genes out of thousands for ridge regression,
with labels or without, and then bounds how well *every* other panel of the same size could fit.
This example shows the path of the selection with that bound, the effect of alpha (from a filter to
best subset selection), and a panel within a budget.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from ridgewise import SubsetSelector

BLUE, ORANGE, GREY = "#0b5fa5", "#dd7a00", "#7b8894"
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})

# %%
# Simulated expression
# --------------------
# Ten modules of co-expressed genes. The outcome depends on three of them.

rng = np.random.default_rng(0)
n_samples, n_modules, genes_each = 80, 10, 200
activity = rng.standard_normal((n_samples, n_modules))
module = np.repeat(np.arange(n_modules), genes_each)
expression = activity[:, module] * rng.uniform(0.3, 1, module.size)
expression += 0.5 * rng.standard_normal(expression.shape)
names = [f"M{m + 1}_{i + 1}" for m in range(n_modules) for i in range(genes_each)]
X = pd.DataFrame(expression, columns=names)
y = activity[:, 0] + 0.7 * activity[:, 1] - 0.5 * activity[:, 2] + rng.standard_normal(n_samples)

# %%
# A panel of 40 genes
# -------------------
# ``bound`` has the sizes for which all other subsets are bounded. The first k genes of
# ``selected_`` are the panel of size k, so one fit gives the whole path.

sizes = [5, 10, 20, 30, 40]
selector = SubsetSelector(40, target="y", center=True, bound=sizes).fit(X, y)
print(selector.optimality_)
print(*selector.feature_names_in_[selector.selected_[:6]])

# %%
# The objective of ridge regression, scaled to 0 for no gene and 1 for all genes. No panel of that
# size can be above the bars.

gaps = selector.gap_path_
tops = [(gaps[k].of_none - gaps[k].bound) / (gaps[k].of_none - gaps[k].of_all) for k in sizes]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(np.arange(1, 41), selector.objective_path_, color=BLUE, lw=2, label="selected")
ax.plot(sizes, tops, "_", color=ORANGE, ms=16, mew=2, label="no panel is above this")
ax.set(xlabel="genes", ylabel="objective: 0 no gene, 1 all genes", ylim=(0, 1.05))
ax.legend(loc="lower right", frameon=False)
plt.show()

# %%
# How to choose alpha
# -------------------
# With a large alpha, genes are rated one by one, as by a filter, and many are from the same module.
# With a small one, this is best subset selection, which fits noise. Choose it by cross-validation,
# like any parameter.

diagonal = np.sum((expression - expression.mean(axis=0)) ** 2) / n_samples
model = make_pipeline(
    SubsetSelector(20, target="y", center=True, bound=False), Ridge(alpha=0.1 * diagonal / 100)
)
shares = [0.001, 0.01, 0.1, 1, 10]
grid = {"subsetselector__alpha": [share * diagonal for share in shares]}
search = GridSearchCV(model, grid, cv=5, scoring="neg_mean_squared_error").fit(X, y)
errors = -search.cv_results_["mean_test_score"] / y.var()
for share, error in zip(shares, errors, strict=True):
    found = SubsetSelector(20, target="y", alpha=share * diagonal, center=True).fit(X, y)
    n_hit = len(set(module[found.selected_]))
    print(
        f"alpha {share:>5g} of the mean diagonal: held-out error {error:.2f}, "
        f"{n_hit} modules, gap {found.optimality_.gap:.1%}"
    )

# %%
# Costs
# -----
# Some genes cost more to measure; two are on the assay anyway, one cannot be measured.

costs = np.where(module < 3, 3.0, 1.0)
panel = SubsetSelector(
    target="y", center=True, costs=costs, budget=30, include=["M5_1", "M7_2"], exclude=["M1_9"]
).fit(X, y)
print(panel.n_selected_, "genes for", costs[panel.selected_].sum())
print(panel.optimality_.sentence)

# %%
# Without labels
# --------------
# ``target="data"``, the default, is for any outcome that the genes explain: the panel covers the
# modules.

anything = SubsetSelector(20, center=True).fit(X)
print(len(set(module[anything.selected_])), "of 10 modules")
print(anything.optimality_)
