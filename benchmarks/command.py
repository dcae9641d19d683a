# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise select` on a wide CSV file: time of each step, and peak memory.

    python -m benchmarks.command

Writes a file of 200 samples and 50,000 features, reads it with polars for comparison, and runs the
command on it in a new process. Peak memory is that of the process; the part of the interpreter and
the libraries is measured by `ridgewise --version`.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

STARTER = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(done.returncode)
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--features", type=int, default=50_000)
    parser.add_argument("-n", type=int, default=400, help="features to select")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder, "wide.csv")
        make_csv(path, options.samples, options.features)
        fastest = time_polars(path, options.features)
        base, _ = run(["--version"])
        command = ["select", str(path), "-n", str(options.n), "--json", "-o", f"{folder}/out"]
        peak, printed = run(command)
    seconds = json.loads(printed)["seconds"]
    matrix = 8 * options.samples * options.features / 2**20
    total = sum(seconds.values())
    print(f"{options.samples} x {options.features} CSV, -n {options.n}: {total:.2f} s")
    for step, took in seconds.items():
        print(f"  {step:<12} {took:6.2f} s")
    print(f"reading: {seconds['reading'] / fastest:.1f} times polars' {fastest:.2f} s")
    print(
        f"peak memory: {peak:.0f} MiB, of which {base:.0f} before any data; the matrix has "
        f"{matrix:.0f} MiB: {peak / matrix:.1f} times it, {(peak - base) / matrix:.1f} without that"
    )


def make_csv(path: Path, n_samples: int, n_features: int) -> None:
    """Write correlated numbers of six digits, with names."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 20)) @ rng.normal(size=(20, n_features))
    X += rng.normal(size=X.shape)
    names = ",".join(f"gene{place}" for place in range(n_features))
    np.savetxt(path, X, fmt="%.6g", delimiter=",", header=names, comments="")


def time_polars(path: Path, n_features: int) -> float:
    """Best time of three runs."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        pl.read_csv(path, schema_overrides=[pl.Float64] * n_features)
        times.append(time.perf_counter() - start)
    return min(times)


def run(arguments: list[str]) -> tuple[float, str]:
    """Run the command; return its peak memory in MiB, and its output.

    A small process starts it, since a new process inherits the peak memory of its parent.
    """
    command = [sys.executable, "-c", STARTER, sys.executable, "-m", "ridgewise", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return int(done.stderr) / 2**10, done.stdout


if __name__ == "__main__":
    main()
