# SPDX-License-Identifier: BSD-3-Clause
"""
Two workers with Dask
=====================

A Dask array is a matrix in chunks, which may be on several machines. The selectors compute on the
chunks where they are. In this example a cluster of two worker processes selects the same features
as in memory. It also shows from which chunks they come, and that ``transform`` stays lazy.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster, wait

from ridgewise import BSSSelector

BLUE, ORANGE = "#0b5fa5", "#dd7a00"
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})

# %%
# A cluster
# ---------
# Two processes on this machine, with one thread each. Use ``Client("scheduler:8786")`` for your own
# cluster; nothing below changes. The line ``if __name__ ...`` is needed in any script that starts
# processes, since each of them imports the script; leave it out in a notebook.

if __name__ == "__main__":
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    )
    client = Client(cluster)
    print(len(client.scheduler_info()["workers"]), "workers")

# %%
# An array in chunks of columns
# -----------------------------
# 60 samples of 20,000 features in 8 chunks, which the workers create and keep. Chunks with all
# samples of some features are best, since they need not be moved. Later chunks have more correlated
# features: each has fewer latent patterns than the one before.


def make_chunk(block_info=None):
    """A chunk of features: patterns that are mixed, and noise."""
    number = block_info[None]["chunk-location"][1]
    rows, columns = block_info[None]["chunk-shape"]
    rng = np.random.default_rng(number)
    patterns = rng.standard_normal((rows, 24 - 3 * number))
    mixed = patterns @ rng.standard_normal((24 - 3 * number, columns))
    return (mixed + 0.5 * rng.standard_normal((rows, columns))).astype(np.float32)


if __name__ == "__main__":
    X = da.map_blocks(make_chunk, chunks=((60,), (2500,) * 8), dtype=np.float32).persist()
    wait(X)
    print(X.shape, X.numblocks, f"{X.nbytes / 1e6:.0f} MB")

# %%
# The same features
# -----------------
# This process receives the kernel, one number per feature, and the columns of some candidates. The
# result does not depend on where the data are.

if __name__ == "__main__":
    on_cluster = BSSSelector(180).fit(X)
    in_memory = BSSSelector(180).fit(X.compute())
    print(on_cluster.certificate_)
    print("same features, same order:", np.array_equal(on_cluster.selected_, in_memory.selected_))
    apart = np.abs(on_cluster.weights_ / in_memory.weights_ - 1).max()
    print(f"weights differ by at most {apart:.0e}, relatively")

# %%
# ``transform`` returns a lazy Dask array:

if __name__ == "__main__":
    X_small = on_cluster.transform(X)
    print(X_small)
    print(type(X_small.compute()).__name__, X_small.shape)

# %%
# From which chunks
# -----------------
# Chunks with less correlated features contribute more of them. Colours show which worker had the
# chunk.

if __name__ == "__main__":
    counts = np.bincount(on_cluster.selected_ // 2500, minlength=8)
    holders = {str(key): workers for key, workers in client.who_has(X).items()}
    held_by = [holders[str(key)][0] for key in X.__dask_keys__()[0]]
    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for number, worker in enumerate(sorted(set(held_by)), start=1):
        place = [chunk for chunk, holder in enumerate(held_by) if holder == worker]
        axes.bar(place, counts[place], color=(BLUE, ORANGE)[number - 1], label=f"worker {number}")
    axes.set(xlabel="chunk of 2500 features", ylabel="features selected")
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    plt.show()

# %%
# Stop the cluster:

if __name__ == "__main__":
    client.close()
    cluster.close()
