# SPDX-License-Identifier: BSD-3-Clause
"""
A million sparse features
=========================

Rare genetic variants, word pairs, hashed tokens: a million features of which each sample has a
few thousand. This example measures time and memory of :class:`~ridgewise.BSSSelector` on such
data, compared with the leverage scores.
"""

import tracemalloc
from time import process_time

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from ridgewise import BSSSelector, LeverageSelector

BLUE, ORANGE, GREY = "#0b5fa5", "#dd7a00", "#7b8894"
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})

# %%
# Simulated variants
# ------------------
# Each variant has 6 to 17 copies among 200 people from four populations; most carriers of a variant
# are from one population. A person drawn twice has two copies. The matrix is built in CSC format
# and never dense.

rng = np.random.default_rng(0)
n_people, n_variants = 200, 1_000_000
copies = rng.integers(6, 18, n_variants)
home = np.repeat(rng.integers(4, size=n_variants, dtype=np.int32), copies)
anybody = rng.integers(n_people, size=home.size, dtype=np.int32)
neighbour = 50 * home + anybody % 50
carriers = np.where(rng.random(home.size, dtype=np.float32) < 0.6, neighbour, anybody)
X = sp.csc_array(
    (np.ones(home.size, dtype=np.float32), carriers, np.concatenate([[0], np.cumsum(copies)])),
    shape=(n_people, n_variants),
)
X.sum_duplicates()
del copies, home, anybody, neighbour, carriers
megabytes = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6
print(f"{X.shape[0]} x {X.shape[1]:,}, {X.nnz / n_variants:.1f} per variant, {megabytes:.0f} MB")
print(f"dense, in double precision: {X.shape[0] * X.shape[1] * 8 / 1e6:.0f} MB")

# %%
# Two passes
# ----------
# The kernel takes one pass over the data, the leverage scores another: that is all of
# ``LeverageSelector``'s work. BSS adds its draws, which evaluate few of the features.
# ``center=True`` subtracts the means without making the matrix dense. Times are CPU times,
# independent of the load.

selectors = {
    "leverage": LeverageSelector(800, center=True, random_state=0),
    "BSS": BSSSelector(800, center=True),
}
seconds = {}
for name, selector in selectors.items():
    start = process_time()
    selector.fit(X)
    seconds[name] = process_time() - start
    c = selector.certificate_
    print(f"{name:9} {seconds[name]:5.1f} s, measured [{c.lower:.3f}, {c.upper:.3f}]")
print(f"BSS takes {seconds['BSS'] / seconds['leverage']:.2f} times as long")

# %%
# Peak memory without the matrix itself, on a tenth of the variants. It depends on the size of a
# block of columns and on the number of samples, plus a few numbers per feature.

part = X[:, : n_variants // 10]
tracemalloc.start()
BSSSelector(800, center=True).fit(part)
peak = tracemalloc.get_traced_memory()[1] / 1e6
tracemalloc.stop()
print(f"at most {peak:.0f} MB for {part.shape[1]:,} variants")

# %%
# What was selected
# -----------------
# BSS prefers large leverage scores among the feasible features.

bss = selectors["BSS"]
scores = bss.leverage_scores_
bins = np.linspace(0, 1e4 * scores.max(), 60)
figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
axes.hist(1e4 * scores, bins, color=GREY, alpha=0.5, label=f"all {n_variants:,}")
axes.hist(1e4 * scores[bss.selected_], bins, color=BLUE, label=f"the {bss.n_selected_} selected")
axes.set_yscale("log")
axes.set(xlabel="leverage score, in 1/10,000", ylabel="variants")
figure.legend(loc="outside upper center", ncols=2, frameon=False)
plt.show()

# %%
# ``transform`` returns a sparse matrix, for any linear model.

X_small = bss.transform(X)
print(type(X_small).__name__, X_small.shape, f"{X_small.nnz:,} entries")
