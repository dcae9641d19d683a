# SPDX-License-Identifier: BSD-3-Clause
"""
Error against the number of features
====================================

Which method, and how many features? :func:`~ridgewise.compare` answers that on your own data, by
cross-validation in which every method selects from the training samples only. This example
compares all methods of the package on one text, with error bars, and tests whether differences
are significant.
"""

import matplotlib.pyplot as plt
from matplotlib.ticker import PercentFormatter

from ridgewise import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
    compare,
    load_stdlib_text,
)

plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})

# %%
# Compare
# -------
# Any scikit-learn selector can be compared; these are the package's own. Few folds and few repeats
# keep this quick. Random methods are averaged over two draws in each fold.

text = load_stdlib_text()
selectors = {
    "BSS": BSSSelector(),
    "leverage, sampled": LeverageSelector(),
    "leverage, largest": LeverageSelector(sampling="top"),
    "RRQR": RRQRSelector(),
    "information gain": InformationGainSelector(),
    "random": RandomSelector(),
}
found = compare(
    selectors,
    text.data.log1p(),
    text.target,
    n_features=[50, 150, 350, 700],
    n_splits=4,
    n_repeats=3,
    n_tries=2,
)
full = found.rows[0]
print(f"{full.method}: {full.n_selected:.0f} words, error {full.error_mean:.1%}")

# %%
# Errors
# ------
# Error bars are one standard deviation of the cross-validated error over the repeats. They show the
# effect of the split, not the variation between samples of documents.

looks = {
    "BSS": ("#0b5fa5", "o", "-"),
    "leverage, sampled": ("#dd7a00", "s", "--"),
    "leverage, largest": ("#dd7a00", "^", "-"),
    "RRQR": ("#2a9d6f", "D", "-."),
    "information gain": ("#b5559b", "v", ":"),
    "random": ("#7b8894", "x", "-"),
}
figure, axes = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
for place, (method, (colour, marker, line)) in enumerate(looks.items()):
    rows = [row for row in found.rows if row.method == method]
    aside = 1.02 ** (place - 2.5)  # so that the bars stand beside each other
    axes.errorbar(
        [row.n_features * aside for row in rows],
        [row.error_mean for row in rows],
        yerr=[row.error_std for row in rows],
        color=colour,
        marker=marker,
        linestyle=line,
        capsize=2,
        label=method,
    )
axes.axhline(full.error_mean, color="black", linewidth=1, linestyle="--", label="all words")
axes.set_xscale("log")
axes.set_xticks(found.n_features, found.n_features)
axes.minorticks_off()
axes.set(xlabel="number of words", ylabel="held-out documents in the wrong class", ylim=(0, None))
axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=10)
plt.show()

# %%
# Differences, stability and times
# --------------------------------
# Folds share most of their training samples, so a plain t-test over folds is too optimistic;
# ``paired`` corrects for that. With so few folds only large differences are significant, and of ten
# tests one is expected to have p below 0.1 by chance.

for n_words in (50, 700):
    print(f"{n_words} words")
    for other in list(selectors)[1:]:
        test = found.paired("BSS", other, n_features=n_words)
        print(f"  BSS minus {other:18} {test.difference:+.3f}, p = {test.p_value:.3f}")

# %%
# ``stability`` is 1 if every fold selects the same words, and 0 for random selections; ``seconds``
# is the time of one selection on one thread, including the spectrum.

print(f"{'350 words':20}error  stability  seconds")
for method in selectors:
    row = found.row(method, 350)
    print(f"{method:20}{row.error_mean:5.3f} {row.stability:10.2f} {row.seconds_mean:8.3f}")

# %%
# Information gain uses the labels, and separates the topics with few words. The other methods do
# not, so one selection serves any labels; only some of them have guarantees: see the certificates.
