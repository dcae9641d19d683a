# SPDX-License-Identifier: BSD-3-Clause
"""The engine against the plain algorithm and against leverage scores, on one thread.

    python -m benchmarks.engine                       all of it
    python -m benchmarks.engine --skip-plain          without the plain algorithm (minutes less)
    python -m benchmarks.engine --only memmap         a part of it: techtc, folds, text or memmap

TechTC is read from --data (default: the folder shared/data beside the repository) and left out,
with a word, where it is absent. Ratios count: seconds depend on the machine and what else it does.
"""

import argparse
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from threadpoolctl import threadpool_limits

from ridgewise import BSSSelector, LeverageSelector
from ridgewise.barrier import RULES, sparsify, sparsify_plain
from ridgewise.guarantees.effective_dimension import alpha_for_dimension
from ridgewise.spectrum import as_columns, compute_spectrum

N_DRAWS = 400
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
TECHTC = ("10341_14525", "14630_814096")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--skip-plain", action="store_true", help="leave the plain algorithm out")
    parser.add_argument(
        "--only", choices=["techtc", "folds", "text", "memmap"], help="one part only"
    )
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with techtc/Exp_*")
    options = parser.parse_args()
    with threadpool_limits(1):
        for name in TECHTC if options.only in (None, "techtc", "folds") else ():
            folder = options.data / "techtc" / f"Exp_{name}"
            if not folder.is_dir():
                print(f"TechTC {name}: not at hand ({folder})")
                continue
            X = load_counts(folder)
            if options.only != "folds":
                compare(f"TechTC {name}", X, options.skip_plain)
            if options.only != "techtc":
                # a training part of ten-fold cross-validation, as in the paper
                training = X[np.arange(X.shape[0]) % 10 != 0]
                compare(f"TechTC {name}, training part", training, options.skip_plain)
        if options.only in (None, "text"):
            compare("text-like counts", text_like(), options.skip_plain)
        if options.only in (None, "memmap"):
            compare_memmap()


def compare(name: str, X: sp.csr_array, skip_plain: bool) -> None:
    """Plain algorithm, engine and both selectors on one matrix."""
    spectrum = compute_spectrum(X)
    U = spectrum.take(np.arange(X.shape[1]))
    print(f"\n{name}: {X.shape[0]} x {X.shape[1]}, rank {spectrum.rank}, r = {N_DRAWS}, one thread")
    engine = best_time(lambda: sparsify(spectrum, N_DRAWS), repeats=7)
    if not skip_plain:
        plain = best_time(lambda: sparsify_plain(U, N_DRAWS), repeats=1)
        print(f"  plain algorithm       {plain:8.3f} s")
        print(f"  engine                {engine:8.3f} s   {plain / engine:6.0f} times as fast")
    else:
        print(f"  engine                {engine:8.3f} s")
    leverage_selector = LeverageSelector(N_DRAWS, random_state=0)
    leverage = best_time(lambda: leverage_selector.fit(X), repeats=15)
    times = {}
    for rule in RULES:
        selector = BSSSelector(N_DRAWS, rule=rule)
        repeats = 7 if rule == "norm" else 2
        seconds = times[rule] = best_time(partial(selector.fit, X), repeats)
        print(f"  BSSSelector, {rule:<9}{seconds:8.3f} s   {seconds / leverage:6.1f} x leverage")
    for ratio in (4, 8):  # draws an effective dimension; alpha="auto" takes 4
        alpha = alpha_for_dimension(spectrum.singular_values**2, N_DRAWS / ratio)
        seconds = best_time(partial(BSSSelector(N_DRAWS, alpha=alpha).fit, X), repeats=2)
        compared = seconds / times["norm"]
        print(f"  alpha, r = {ratio} d_eff    {seconds:8.3f} s   {compared:6.1f} x alpha 0")
    print(f"  LeverageSelector      {leverage:8.3f} s")


def compare_memmap(n: int = 200, d: int = 1_000_000) -> None:
    """`BSSSelector.fit` on a memory map of float32: what it allocates, and its time against K's."""
    with tempfile.TemporaryDirectory() as folder:
        X = make_memmap(Path(folder) / "X.f32", n, d)
        print(f"\nmemory map of float32: {n} x {d}, r = {N_DRAWS}, one thread")
        kernel = best_time(lambda: as_columns(X).gram(), repeats=2)
        selector = BSSSelector(N_DRAWS)
        fit = best_time(lambda: selector.fit(X), repeats=2)
        print(f"  K by the same blocks  {kernel:8.3f} s")
        print(f"  BSSSelector           {fit:8.3f} s   {fit / kernel:6.2f} x K alone")
        tracemalloc.start()
        selector.fit(X)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        print(f"  allocated at most     {peak:8.0f} MB  (the matrix: {X.nbytes / 2**20:.0f} MB)")


def best_time(run: Callable[[], object], repeats: int) -> float:
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def text_like(n: int = 225, d: int = 10_675) -> sp.csr_array:
    """Counts of words whose frequencies follow Zipf's law, in documents of different lengths."""
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(1, d + 1)
    length = rng.lognormal(6, 0.7, size=n)
    counts = rng.poisson(length[:, None] * frequency / frequency.sum())
    counts[rng.integers(0, n, size=d), np.arange(d)] += 1  # no word is absent everywhere
    return sp.csr_array(counts.astype(np.float64))


def make_memmap(path: Path, n: int, d: int) -> np.memmap:
    """Gaussian data of varying column scale, written block by block."""
    rng = np.random.default_rng(0)
    X = np.memmap(path, dtype=np.float32, mode="w+", shape=(n, d))
    for start in range(0, d, 50_000):
        width = min(50_000, d - start)
        scale = rng.lognormal(0, 1, size=width).astype(np.float32)
        X[:, start : start + width] = rng.standard_normal((n, width), dtype=np.float32) * scale
    X.flush()
    return np.memmap(path, dtype=np.float32, mode="r", shape=(n, d))


def load_counts(folder: Path) -> sp.csr_array:
    """Counts of words of more than four letters, from TechTC's original layout."""
    words = dict(line.split(None, 1) for line in data_lines(folder / "features.idx"))
    with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
        file.write("\n".join(data_lines(folder / "vectors.dat")))
        file.flush()
        X, _ = load_svmlight_file(file.name, n_features=len(words), zero_based=False)
    kept = [int(index) - 1 for index, word in words.items() if len(word.strip()) > 4]
    return sp.csr_array(X[:, kept])


def data_lines(path: Path) -> list[str]:
    """Lines of a file without comments and blank lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


if __name__ == "__main__":
    main()
