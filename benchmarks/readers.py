# SPDX-License-Identifier: BSD-3-Clause
"""CSV readers on wide tables: time relative to the fastest, peak memory relative to the matrix.

    python -m benchmarks.readers                      200 x 50,000 and 38 x 3,000, made here
    python -m benchmarks.readers --slow               also pandas with pyarrow (minutes, 6 GB)
    python -m benchmarks.readers --digits 5           shorter numbers; by default all 17 digits

Prints one Markdown table per shape. Time: all readers interleaved in this process, best of the
rounds. Memory: each in a new process, growth of its peak (Linux). Compare ratios: seconds depend on
the machine and its load. `read_table` also takes the hash
of the file and looks for missing values; the others only read. Needs pandas and pyarrow.
"""

import argparse
import importlib
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from ridgewise.datasets.readers import read_table

SHAPES = ((200, 50_000), (38, 3_000))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--digits", type=int, default=17)
    parser.add_argument("--slow", action="store_true", help="also what takes minutes")
    options = parser.parse_args()
    names = [name for name in READERS if options.slow or name not in SLOW]
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "x.csv")
            X = write(path, shape, options.digits)
            compare(path, X, names, options.rounds)


def write(path: Path, shape: tuple[int, int], digits: int) -> Any:
    """Write random numbers with names; return them as written."""
    X = np.random.default_rng(0).standard_normal(shape)
    with path.open("w") as stream:
        print(",".join(f"gene{j}" for j in range(shape[1])), file=stream)
        for row in X:
            print(",".join(f"{value:.{digits}g}" for value in row), file=stream)
    return X if digits >= 17 else None


def compare(path: Path, X: Any, names: list[str], rounds: int) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            start = time.perf_counter()
            read = READERS[name](path)
            seconds[name].append(time.perf_counter() - start)
            if X is not None:  # pandas loses some digits
                np.testing.assert_allclose(read, X, rtol=1e-11)
            n_samples, n_features = read.shape
            n_bytes = read.nbytes
            del read
    fastest = min(map(min, seconds.values()))
    size = path.stat().st_size / 1e6
    print(f"\n{n_samples} x {n_features:,}, {size:.0f} MB, best of {rounds} rounds\n")
    print("| reader | time / fastest | seconds | peak memory / matrix |\n|---|---|---|---|")
    for name in sorted(names, key=lambda name: min(seconds[name])):
        best = min(seconds[name])
        memory = peak_memory(name, path) / n_bytes
        print(f"| {name} | {best / fastest:.1f} | {best:.2f} | {memory:.1f} |", flush=True)


def peak_memory(name: str, path: Path) -> int:
    """Growth of the peak memory of a new process by reading, in bytes, without its imports."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, name, path).result()


def measure(name: str, path: Path) -> int:
    for module in ("pandas", "polars", "pyarrow.csv"):
        importlib.import_module(module)
    before = high_water()
    READERS[name](path)
    return high_water() - before


def high_water() -> int:
    """Peak memory of this process in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def read_ridgewise(path: Path) -> Any:
    return read_table(path).X


def read_long_column(path: Path) -> Any:
    """Read all cells of a line as one polars column: the core of `read_table`."""
    import polars as pl

    with path.open() as stream:
        stream.readline()
        lines = (pl.Series([line.rstrip()]).str.split(",").explode() for line in stream)
        return np.stack([line.cast(pl.Float64).to_numpy() for line in lines])


def read_polars(path: Path) -> Any:
    import polars as pl

    return pl.read_csv(path).to_numpy()


def read_polars_with_schema(path: Path) -> Any:
    import polars as pl

    with path.open() as stream:
        names = stream.readline().rstrip().split(",")
    return pl.read_csv(path, schema=dict.fromkeys(names, pl.Float64)).to_numpy()


def read_pyarrow(path: Path) -> Any:
    from pyarrow import csv

    # a line must fit into a block
    table = csv.read_csv(path, read_options=csv.ReadOptions(block_size=2**25))
    return np.column_stack([column.to_numpy() for column in table.columns])


def read_pandas(path: Path) -> Any:
    import pandas as pd

    return pd.read_csv(path).to_numpy()


def read_pandas_without_names(path: Path) -> Any:
    import pandas as pd

    frame = pd.read_csv(path, header=None, skiprows=1, dtype=np.float64, low_memory=False)
    return frame.to_numpy()


def read_pandas_by_pyarrow(path: Path) -> Any:
    import pandas as pd

    return pd.read_csv(path, engine="pyarrow").to_numpy()


def read_loadtxt(path: Path) -> Any:
    return np.loadtxt(path, delimiter=",", skiprows=1, comments=None)


def read_fromstring(path: Path) -> Any:
    with path.open() as stream:
        stream.readline()
        return np.stack([np.fromstring(line, sep=",") for line in stream])


def read_split(path: Path) -> Any:
    with path.open("rb") as stream:
        stream.readline()
        return np.stack([np.array(line.split(b","), dtype=float) for line in stream])


READERS = {
    "ridgewise read_table": read_ridgewise,
    "polars, a line as one column": read_long_column,
    "polars": read_polars,
    "polars, types given": read_polars_with_schema,
    "pyarrow": read_pyarrow,
    "pandas": read_pandas,
    "pandas, types given, no names": read_pandas_without_names,
    "pandas by pyarrow": read_pandas_by_pyarrow,
    "numpy.loadtxt": read_loadtxt,
    "numpy.fromstring, line by line": read_fromstring,
    "numpy.array of split lines": read_split,
}
SLOW = ("pandas by pyarrow",)


if __name__ == "__main__":
    main()
