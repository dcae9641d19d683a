# SPDX-License-Identifier: BSD-3-Clause
"""
Fewer features than the rank
============================

With fewer features than the rank of the data, some directions are lost. But a ridge model does
not use all directions. This example shows how alpha and the *effective dimension* determine what
:class:`~ridgewise.BSSSelector` can guarantee for so few features, which directions are lost, and
how much models change, with alphas that the certificate covers and with others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

from ridgewise import BSSSelector, certify

BLUE, ORANGE, GREY = "#0b5fa5", "#dd7a00", "#7b8894"
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})

# %%
# Simulated spectra
# -----------------
# Absorption of mixtures of 25 substances at 1500 wavelengths: 100 training mixtures and 200 new
# ones. Neighbouring wavelengths are highly correlated, so few directions are strong; noise makes
# the rank full. The means are subtracted once, so no model below needs an intercept.

rng = np.random.default_rng(0)
wavelengths = np.linspace(1000, 2500, 1500)
centres, widths = rng.uniform(1000, 2500, (25, 3)), rng.uniform(15, 80, (25, 3))
bands = np.exp(-(((wavelengths - centres[..., None]) / widths[..., None]) ** 2) / 2).sum(axis=1)
amounts = rng.gamma(2.0, 1.0, (300, 25)) * np.geomspace(1, 0.1, 25)
spectra = amounts @ bands + 0.1 * rng.standard_normal((300, 1500))
X, X_new = spectra[:100] - spectra[:100].mean(axis=0), spectra[100:] - spectra[:100].mean(axis=0)
y = amounts[:, 0] + 0.5 * rng.standard_normal(300)  # one substance, measured with an error
y, y_new = y[:100] - y[:100].mean(), y[100:] - y[:100].mean()

# %%
# With such correlated features, the rule "slack" covers them better than the default; polished
# weights tighten the certificate further.

few = BSSSelector(24, rule="slack", polish=True).fit(X)
print(f"{few.n_selected_} of {X.shape[1]} wavelengths, rank {few.rank_}")
print(few.certificate_)

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
axes.plot(wavelengths, spectra[:8].T, color=GREY, linewidth=0.6)
for wavelength in wavelengths[few.selected_]:
    axes.axvline(wavelength, color=BLUE, linewidth=1.2, alpha=0.8)
axes.set(xlabel="wavelength (nm)", ylabel="absorption (arbitrary units)", xlim=(1000, 2500))
axes.set_title("Eight mixtures, and the wavelengths selected", loc="left")
plt.show()

# %%
# Alpha and the effective dimension
# ---------------------------------
# A ridge model that adds alpha to the kernel's diagonal uses the share ``sigma^2 / (sigma^2 +
# alpha)`` of a direction with singular value sigma. The sum of the shares is the effective
# dimension: the rank at alpha 0, and smaller for larger alpha. BSS has a guarantee as soon as it
# draws more features than that. ``alpha="auto"``, the default, takes the smallest alpha whose
# effective dimension is a quarter of the number of features, which guarantees ``[1/4, 9/4]``.

squares = few.singular_values_**2


def effective_dimension(alpha):
    """The sum of the shares that a ridge model uses."""
    return np.sum(squares / (squares + alpha))


n_features = [8, 16, 24, 32, 48, 64, 96]
alphas = [BSSSelector(n).fit(X).alpha_ for n in n_features]
dimensions = [effective_dimension(alpha) for alpha in alphas]
print("features   effective dimension   alpha")
for n, dimension, alpha in zip(n_features, dimensions, alphas, strict=True):
    print(f"{n:8}{dimension:22.2f}   {alpha:<.3g}")

figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
grid = np.geomspace(min(alphas) / 10, max(alphas) * 3, 200)
axes.plot(grid, [effective_dimension(alpha) for alpha in grid], color=GREY)
axes.plot(alphas, dimensions, "o", color=BLUE)
for n, dimension, alpha in zip(n_features, dimensions, alphas, strict=True):
    axes.annotate(n, (alpha, dimension), xytext=(5, 5), textcoords="offset points", color=BLUE)
axes.set_xscale("log")
axes.set(xlabel="alpha", ylabel="effective dimension", ylim=(0, None))
axes.set_title("The smallest alpha with a guarantee, by number of features", loc="left")
plt.show()

# %%
# Directions kept, and directions lost
# ------------------------------------
# The selected features span as many directions of the sample space as there are features. The lines
# show which share of each singular direction lies in that span, the shaded area which share a ridge
# model uses, with the alpha of the certificate. The directions that the model uses are kept. The
# lost ones are those that it shrinks most.

V = np.linalg.svd(X, full_matrices=False)[0]


def spanned(selector):
    """The share of each singular direction that the selected features span."""
    basis = np.linalg.qr(selector.transform(X))[0]
    return np.sum((basis.T @ V) ** 2, axis=0)


more = BSSSelector(64, rule="slack", polish=True).fit(X)
direction = np.arange(1, 101)
figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for selector, colour, line in ((few, BLUE, "-"), (more, ORANGE, "--")):
    used = squares / (squares + selector.alpha_)
    n = selector.n_selected_
    axes.plot(direction, spanned(selector), color=colour, linestyle=line, label=f"spanned by {n}")
    axes.fill_between(
        direction[: len(used)],
        used,
        color=colour,
        alpha=0.3,
        linewidth=0,
        label=f"used, alpha of {n}",
    )
axes.set(
    xlabel="singular direction, from the strongest", ylabel="share", ylim=(0, 1.03), xlim=(1, 100)
)
figure.legend(loc="outside upper center", ncols=2, frameon=False)
plt.show()

# %%
# Models that are covered, and models that are not
# ------------------------------------------------
# The certificate covers its alpha and all larger ones. For those, the fitted values change by at
# most ``eta`` times the norm of the targets. For smaller alphas the features can still be used, but
# nothing is certified. Measured errors on new mixtures show both cases.

grid = np.geomspace(1, 1e6, 25)
errors = {"all wavelengths": [], "24 wavelengths": []}
for alpha in grid:
    model = Ridge(alpha, fit_intercept=False)
    full = model.fit(X, y).predict(X_new)
    small = model.fit(few.transform(X), y).predict(few.transform(X_new))
    errors["all wavelengths"].append(np.sqrt(np.mean((full - y_new) ** 2)))
    errors["24 wavelengths"].append(np.sqrt(np.mean((small - y_new) ** 2)))

figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
axes.axvspan(few.alpha_, grid[-1], color=BLUE, alpha=0.12, linewidth=0, label="certified")
axes.plot(grid, errors["all wavelengths"], color=GREY, linestyle="--", label="all wavelengths")
axes.plot(grid, errors["24 wavelengths"], color=BLUE, label="24 wavelengths")
axes.set_xscale("log")
axes.set(xlabel="alpha of the model", ylabel="error in new mixtures (root mean square)")
axes.set(xlim=(grid[0], grid[-1]), ylim=(0, None))
figure.legend(loc="outside upper center", ncols=3, frameon=False)
plt.show()

# %%
# Here the best alpha is smaller than the certified one for 24 wavelengths. If that matters, select
# for your own alpha: ``BSSSelector(n, alpha=...)``, with more features than its effective
# dimension. ``certify`` measures a given selection for any alpha:

best = grid[np.argmin(errors["all wavelengths"])]
print(f"effective dimension at alpha {best:.0f}: {effective_dimension(best):.1f}")
print("24 wavelengths, as selected above:")
print(certify(X, few, alpha=best))
print("48 wavelengths, selected for it:")
print(certify(X, BSSSelector(48, alpha=best, rule="slack", polish=True).fit(X)))
