# SPDX-License-Identifier: BSD-3-Clause
"""Out-of-core and distributed data: memory maps, stored arrays, and a cluster of processes.

Also the growth of time and memory with the features, the samples and the draws (``growth.py``).

    python -m benchmarks.scaling                      all of it
    python -m benchmarks.scaling --only memmap dask   parts: memmap, command, stored, dask, d, n, r
    python -m benchmarks.scaling --share 0.1          with a tenth of the features, n or r
    python -m benchmarks.scaling --only d n r --plot scaling.png

Compare ratios: seconds depend on the machine and its load, which the first line shows. Each process
uses one thread.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

from benchmarks import growth
from benchmarks.engine import best_time, make_memmap
from ridgewise import BSSSelector, LeverageSelector
from ridgewise.spectrum import as_columns, open_parquet

N_SAMPLES = 200
N_DRAWS = 400
MEMORY = 500  # MB


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    names = ("memmap", "command", "stored", "dask", *growth.PARTS)
    parser.add_argument("--only", choices=names, nargs="+", default=names, help="these parts only")
    parser.add_argument("--share", type=float, default=1.0, help="of the largest size")
    parser.add_argument("--plot", type=Path, help="a file for a picture of parts d, n and r")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, of which others use {os.getloadavg()[0]:.1f}")
    parts: dict[str, tuple[Callable[[int], None], int]] = {
        "memmap": (run_memmap, 1_000_000),
        "command": (run_command, 1_000_000),
        "stored": (run_stored, 100_000),
        "dask": (run_dask, 2_000_000),
    }
    for name, (run, n_features) in parts.items():
        if name in options.only:
            run(int(options.share * n_features))
    found = {
        name: grow(options.share) for name, grow in growth.PARTS.items() if name in options.only
    }
    if options.plot is not None:
        growth.draw(found, options.plot)


def run_memmap(d: int) -> None:
    """A memory map of float32 with a memory limit: time, and memory without file pages."""
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        X = make_memmap(Path(folder) / "X.f32", N_SAMPLES, d)
        print(f"\nmemory map of float32, {N_SAMPLES} x {d}, r = {N_DRAWS}, limit {MEMORY} MB")
        with sklearn.config_context(working_memory=MEMORY):
            kernel = best_time(lambda: as_columns(X).gram(), repeats=2)
            print(f"  K by the same blocks  {kernel:8.2f} s")
            for selector in (
                LeverageSelector(N_DRAWS, random_state=0),
                BSSSelector(N_DRAWS),
                BSSSelector(N_DRAWS, rule="slack"),
            ):
                with watched() as peak:
                    fit = best_time(lambda: selector.fit(X), repeats=2)  # noqa: B023
                name = type(selector).__name__ + " " + getattr(selector, "rule", "")
                print(
                    f"  {name:<22}{fit:8.2f} s   {fit / kernel:5.2f} x K alone"
                    f"   at most {max(peak):4.0f} MB resident, file pages aside"
                )


def run_command(d: int) -> None:
    """`ridgewise select` on an .npy file with a memory limit: all steps, in a new process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_npy(make_memmap(folder / "X.f32", N_SAMPLES, d), folder / "X.npy")
        command = [sys.executable, "-m", "ridgewise", "select", "X.npy", "-n", str(N_DRAWS)]
        command += ["--memory", f"{MEMORY}MB", "--json"]
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        pipe, environment = subprocess.PIPE, {**os.environ, **threads}
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe)
        with process, watched(process.pid) as peak:
            printed, _ = process.communicate()
    steps = json.loads(printed)["seconds"]
    print(
        f"\nridgewise select X.npy --memory {MEMORY}MB, float32, {N_SAMPLES} x {d}, r = {N_DRAWS}"
    )
    print("  " + ", ".join(f"{step} {seconds:.1f} s" for step, seconds in steps.items()))
    print(f"  in all {sum(steps.values()):.1f} s, at most {max(peak):.0f} MB, file pages aside")


def save_npy(X: Any, path: Path) -> None:
    """Save an array like np.save, block by block."""
    saved = np.lib.format.open_memmap(path, mode="w+", dtype=X.dtype, shape=X.shape)
    for start in range(0, X.shape[1], 50_000):
        saved[:, start : start + 50_000] = X[:, start : start + 50_000]
    saved.flush()


def run_stored(d: int) -> None:
    """The same data as Zarr and Parquet: one pass, with and without prefetching."""
    with tempfile.TemporaryDirectory() as name, threadpool_limits(1):
        folder = Path(name)
        X = make_memmap(folder / "X.f32", N_SAMPLES, d)
        print(f"\nstored arrays of float32, {N_SAMPLES} x {d}, r = {N_DRAWS}")
        print("                        K, block by block   reading ahead   BSSSelector")
        for kind, stored in stored_arrays(X, folder).items():
            columns = as_columns(stored)
            ahead = best_time(lambda: columns.gram(), repeats=3)  # noqa: B023
            plain = best_time(lambda: kernel_without_ahead(columns), repeats=3)  # noqa: B023
            fit = best_time(lambda: BSSSelector(N_DRAWS).fit(stored), repeats=1)  # noqa: B023
            print(f"  {kind:<24}{plain:12.2f} s {ahead:14.2f} s {fit:12.2f} s")


def stored_arrays(X: Any, folder: Path) -> dict[str, Any]:
    """The data in each container; for Parquet by columns only a part, since it is slow."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    import zarr

    n, d = X.shape
    shape = {"shape": X.shape, "dtype": X.dtype, "chunks": (n, 5000)}
    stored = zarr.open(folder / "X.zarr", mode="w", **shape)
    for start in range(0, d, 5000):
        stored[:, start : start + 5000] = X[:, start : start + 5000]
    rows = pa.table({f"sample {i}": np.asarray(X[i]) for i in range(n)})
    pq.write_table(rows, folder / "rows.parquet", row_group_size=5000)
    few = d // 10
    columns = pa.table({f"feature {j}": np.array(X[:, j]) for j in range(few)})
    pq.write_table(columns, folder / "columns.parquet")
    return {
        "memory map": X,
        "at 400 MB a second": Slow(X),
        "Zarr": stored,
        "Parquet, rows": open_parquet(folder / "rows.parquet", features="rows"),
        f"Parquet, {few} columns": open_parquet(folder / "columns.parquet"),
    }


class Slow:
    """An array that simulates the delay of a disk or a network."""

    def __init__(self, X: Any) -> None:
        self.X, self.shape, self.dtype, self.chunks = X, X.shape, X.dtype, None

    def __getitem__(self, place: tuple[Any, Any]) -> Any:
        part = np.array(self.X[place])
        time.sleep(part.nbytes / 400e6)
        return part


def kernel_without_ahead(columns: Any) -> Any:
    """K by the same blocks, without prefetching."""
    K = np.zeros((columns.shape[0],) * 2)
    for place in columns.slices():
        block = columns.finish(np.asarray(columns.X[:, place]))
        K += block @ block.T
    return K


def run_dask(d: int) -> None:
    """One worker process against two, of one thread each, the data in their memory."""
    for rule in ("norm", "slack"):
        run_dask_rule(d, rule)


def run_dask_rule(d: int, rule: str) -> None:
    """The same for one rule."""
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    print(f"\nDask array of float32, {N_SAMPLES} x {d}, r = {N_DRAWS}, rule {rule}")
    chunks = (N_SAMPLES, min(50_000, max(1, d // 8)))
    settings = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": "CRITICAL"}
    times = []
    for n_workers in (1, 2):
        with (
            LocalCluster(**settings, n_workers=n_workers) as made,
            Client(made),
        ):
            rng = da.random.default_rng(0)
            X = rng.standard_normal((N_SAMPLES, d), chunks=chunks, dtype=np.float32).persist()
            wait(X)
            with watched() as peak:
                fit = partial(BSSSelector(N_DRAWS, rule=rule).fit, X)
                times.append(best_time(fit, repeats=2))
            print(
                f"  {n_workers} worker(s)  {times[-1]:8.2f} s   client at most {max(peak):4.0f} MB"
            )
    print(f"  two are {times[0] / times[1]:.2f} times as fast as one")


@contextmanager
def watched(process: int | str = "self", every: float = 0.01) -> Iterator[list[float]]:
    """Peak resident memory of a process in MB, without file pages, by polling."""
    sizes, done = [resident(process)], threading.Event()

    def watch() -> None:
        while not done.wait(every):
            sizes.append(resident(process))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield sizes
    finally:
        done.set()
        watcher.join()


def resident(process: int | str) -> float:
    """Anonymous resident memory of a process in MB, 0 once it has ended (Linux)."""
    with suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    main()
