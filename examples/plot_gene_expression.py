# SPDX-License-Identifier: BSD-3-Clause
"""
A panel of genes that covers the modules
========================================

Expression data have thousands of genes and a hundred samples, and genes are co-expressed in
modules. An assay of a few dozen genes has fewer genes than the rank of the data, so some
directions are lost. This example shows how :class:`~ridgewise.BSSSelector` chooses such a panel
from a data frame, what its certificate says, and which modules the panel covers, compared with
the genes of largest variance.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score

from ridgewise import BSSSelector, certify

BLUE, GREEN, ORANGE, GREY = "#0b5fa5", "#2a9d6f", "#dd7a00", "#7b8894"
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})

# %%
# Simulated expression
# --------------------
# Twelve modules of very different strength, and genes that belong to none. Every gene has its own
# mean level, as in real data on a logarithmic scale, and noise. The names contain the module; the
# selector does not use them.

rng = np.random.default_rng(0)
n_modules, genes_each, n_others, n_train, n_new = 12, 100, 800, 100, 400
strength = np.geomspace(3, 0.6, n_modules)
module = np.repeat(np.arange(n_modules), genes_each)
activity = rng.standard_normal((n_train + n_new, n_modules))
loading = rng.uniform(0.4, 1, module.size) * strength[module]
signal = np.hstack([activity[:, module] * loading, np.zeros((n_train + n_new, n_others))])
level = rng.uniform(4, 12, signal.shape[1])
names = [f"M{m + 1}_{i + 1}" for m in range(n_modules) for i in range(genes_each)]
names += [f"other_{i + 1}" for i in range(n_others)]
expression = pd.DataFrame(level + signal + 0.7 * rng.standard_normal(signal.shape), columns=names)
train, new = expression[:n_train], expression[n_train:]
print(train.iloc[:3, :4].round(2))

# %%
# Select
# ------
# ``center=True`` subtracts the genes' means, which carry no information on differences between
# samples. A model with an intercept does the same.

selector = BSSSelector(40, center=True).fit(train)
panel = selector.get_feature_names_out()
print(f"{len(panel)} of {train.shape[1]} genes, rank {selector.rank_}")
print(*panel[:10], "...")

# %%
# The certificate
# ---------------
# With fewer genes than the rank, no selection can keep every direction. The certificate then covers
# ridge models with at least the stated alpha, which shrink the lost directions. ``certify``
# recomputes it, with rounding errors included.

certificate = certify(train, selector)
print(certificate)

# %%
# Which modules are covered
# -------------------------
# A common choice is the genes of largest variance. They come from the strongest module, where genes
# are nearly redundant. BSS, which does not know the modules, covers more of them; the weakest
# modules need more genes.

larger = BSSSelector(80, center=True).fit(train)
panels = {
    "BSS, 40": panel,
    "BSS, 80": larger.get_feature_names_out(),
    "40 that vary most": train.var().nlargest(40).index,
}
labels = [f"M{m + 1}" for m in range(n_modules)]
counts = pd.DataFrame(
    {
        name: pd.Series([gene.split("_")[0] for gene in genes]).value_counts()
        for name, genes in panels.items()
    }
).reindex([*labels, "other"])
print("modules with at least one gene:")
print(counts.loc[labels].gt(0).sum().to_string())

looks = {
    "BSS, 40": (BLUE, "o", "-"),
    "BSS, 80": (GREEN, "D", "-"),
    "40 that vary most": (ORANGE, "s", "-"),
    "all genes": (GREY, "", "--"),
}
figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for shift, (name, column) in zip((-0.27, 0, 0.27), counts.fillna(0).items(), strict=True):
    axes.bar(np.arange(len(column)) + shift, column, width=0.27, color=looks[name][0], label=name)
axes.set_xticks(np.arange(n_modules + 1), [*range(1, n_modules + 1), "none"])
axes.set(xlabel="module, from the strongest to the weakest", ylabel="genes in the panel")
figure.legend(loc="outside upper center", ncols=3, frameon=False)
plt.show()

# %%
# What the panel predicts
# -----------------------
# The activity of each module is a possible outcome that no selector has seen. The figure shows how
# much of its variance a ridge regression explains in new samples. Alpha is the smallest that the
# certificate of the 40 genes covers; that of the 80 genes is smaller, so it is covered too.

alpha = selector.alpha_
print(f"alpha {alpha:.0f}; 80 genes are certified for alpha >= {larger.alpha_:.0f}")
varied = panels["40 that vary most"]
data = {
    "BSS, 40": (selector.transform(train), selector.transform(new)),
    "BSS, 80": (larger.transform(train), larger.transform(new)),
    "40 that vary most": (train[varied], new[varied]),
    "all genes": (train, new),
}
figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for name, (X_train, X_new) in data.items():
    model = Ridge(alpha).fit(np.asarray(X_train), activity[:n_train])
    predicted = model.predict(np.asarray(X_new))
    explained = r2_score(activity[n_train:], predicted, multioutput="raw_values")
    colour, marker, line = looks[name]
    axes.plot(range(1, n_modules + 1), explained, color=colour, marker=marker, ls=line, label=name)
axes.axhline(0, color=GREY, linewidth=0.8)
axes.set(xlabel="module, from the strongest to the weakest", ylabel="explained variance (R²)")
axes.set_xticks(range(1, n_modules + 1))
figure.legend(loc="outside upper center", ncols=2, frameon=False)
plt.show()

# %%
# A module with no gene in the panel, or a single one, is predicted badly, though all genes could
# predict it. This is the loss that the alpha of the certificate describes: models with this alpha
# use the stronger directions and shrink the weaker ones. The panel can be better than all genes: it
# overestimates a direction (``upper`` is above 1), so the direction is shrunk less, and this alpha
# is too large for all genes.
