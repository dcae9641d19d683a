# SPDX-License-Identifier: BSD-3-Clause
"""
Non-linear additive models: splines, categories, dominance
==========================================================

A ridge model on splines of each feature is a sum of curves, one per feature: an *additive* model.
The columns of a feature are a group, and selecting groups selects features. This example has three
such models: splines of 2,000 measurements, one-hot columns of categories, and additive and
dominance columns of genetic markers. Each has a certificate, and its held-out error is compared
with that of a linear selection.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, SplineTransformer

from ridgewise import BSSSelector, SubsetSelector
from ridgewise.spectrum import FeatureExpansion

BLUE, ORANGE, GREY = "#0b5fa5", "#dd7a00", "#7b8894"
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
rng = np.random.default_rng(0)
ridge = RidgeCV(np.geomspace(1e-3, 1e4, 15))


def held_out(model, X, y, n_train):
    """1 - R^2 on the samples after the first ``n_train``."""
    model.fit(X[:n_train], y[:n_train])
    return 1 - model.score(X[n_train:], y[n_train:])


# %%
# Splines of each feature
# -----------------------
# 25 hidden factors drive 80 measurements each. The target depends on five of the factors: one by a
# sine, two by a parabola, one by its size, one by a line.

n_train, n_factors = 200, 25
factors = rng.uniform(-2, 2, (n_train + 400, n_factors))
owner = np.repeat(np.arange(n_factors), 80)
X = factors[:, owner] * rng.uniform(0.5, 1, owner.size) * rng.choice([-1, 1], owner.size)
X += 0.25 * rng.standard_normal(X.shape)
f = factors[:, :5].T
y = np.sin(2 * f[0]) + f[1] ** 2 + np.abs(f[2]) + 0.5 * f[3] - 0.5 * f[4] ** 2
y += 0.3 * rng.standard_normal(len(y))

# %%
# ``FeatureExpansion`` applies a transformer to the features, one block at a time, whenever columns
# are read: the 10,000 columns are never all in memory. The selector accepts the result as any other
# data, and selects a feature's five columns together. The certificate is about the additive model:
# K is the sum of all features' spline kernels, K~ that of the selected, weighted ones.

splines = FeatureExpansion(SplineTransformer(n_knots=4, include_bias=False))
expanded = splines.fit_transform(X[:n_train])
print("columns:", expanded.shape)
selector = BSSSelector(400, center=True).fit(expanded)
print(selector.certificate_)

# %%
# Few features, with labels: the best subset, of features and of groups. A small alpha selects
# features that complement each other. The default, a large one, rates each feature by itself, and
# is the better of the two for the linear model.

numbers, errors = [5, 10, 20, 40], {}
for name, first, alpha in (("linear", FunctionTransformer(), "auto"), ("additive", splines, 5.0)):
    errors[name] = []
    for n in numbers:
        subset = SubsetSelector(n, target="y", alpha=alpha, center=True, bound=False)
        errors[name].append(held_out(make_pipeline(first, subset, ridge), X, y, n_train))
    print(name, np.round(errors[name], 3))

best = SubsetSelector(10, target="y", alpha=5.0, center=True).fit(expanded, y[:n_train])
print("factors of the ten features:", owner[best.selected_groups_.astype(int)])
print(best.optimality_)

# %%
# Categories
# ----------
# Three of 40 categorical columns matter; each has 12 levels. A category is selected as a whole, and
# the model has one coefficient per level. The linear alternative, integer codes of the levels, has
# no meaning.

levels = rng.integers(0, 12, (500, 40))
effects = rng.standard_normal((3, 12))
spent = sum(effects[j, levels[:, j]] for j in range(3)) + 0.3 * rng.standard_normal(500)
one_hot = FeatureExpansion(OneHotEncoder(handle_unknown="ignore"))
for name, first in (("codes", FunctionTransformer()), ("one-hot", one_hot)):
    chosen = SubsetSelector(3, target="y", center=True)
    error = held_out(make_pipeline(first, chosen, ridge), levels.astype(float), spent, 300)
    picked = getattr(chosen, "selected_groups_", chosen.selected_)
    print(f"{name}: columns {picked}, held-out error {error:.3f}")
print(chosen.certificate_)

# %%
# Dominance
# ---------
# A genetic marker is 0, 1 or 2. The additive column is that number, the dominance column says
# whether it is 1. The two columns of a marker are a group. Any function of one feature will do, and
# so will ``PolynomialFeatures``.


def additive_and_dominance(genotype):
    """Two columns of one marker."""
    return np.hstack([genotype, genotype == 1])


markers = rng.binomial(2, rng.uniform(0.2, 0.5, 600), (500, 600)).astype(float)
effect = np.zeros(600)
effect[:12] = rng.choice([-1, 1], 12)
trait = (markers == 1) @ effect + 0.5 * rng.standard_normal(500)
both = FeatureExpansion(FunctionTransformer(additive_and_dominance))
for name, first in (("additive", FunctionTransformer()), ("with dominance", both)):
    chosen = SubsetSelector(12, target="y", center=True, bound=False)
    error = held_out(make_pipeline(first, chosen, ridge), markers, trait, 300)
    picked = np.sort(getattr(chosen, "selected_groups_", chosen.selected_))
    print(f"{name}: {np.isin(picked, range(12)).sum()} of 12 causal, held-out error {error:.3f}")
print(chosen.certificate_)

# %%
# The errors of the first part: a few features with curves predict better than any number of
# features with lines.

figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
axes.plot(numbers, errors["linear"], "o-", color=GREY, label="linear selection and model")
axes.plot(numbers, errors["additive"], "o-", color=BLUE, label="splines, selected as groups")
axes.axhline(0.3**2 / y.var(), color=ORANGE, linestyle=(0, (4, 2)), label="noise")
axes.set(xlabel="features", ylabel="held-out error, 1 - R²", ylim=(0, None))
axes.legend()
plt.show()
