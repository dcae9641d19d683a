# SPDX-License-Identifier: BSD-3-Clause
"""The engine against the plain algorithm and against leverage scores, on one thread.

    python -m benchmarks.engine                       all of it
    python -m benchmarks.engine --skip-plain          without the plain algorithm (minutes less)
    python -m benchmarks.engine --only memmap         a part, see --help

TechTC is read from --data (default: the folder shared/data beside the repository) and left out,
with a note, if absent. Compare ratios: seconds depend on the machine and its load.
"""

import argparse
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

from ridgewise import BSSSelector, LeverageSelector, certify
from ridgewise.barrier import RULES, sparsify, sparsify_plain, weighted_spectrum
from ridgewise.barrier import _compiled as compiled
from ridgewise.datasets import read_techtc_folder
from ridgewise.guarantees import alpha_for_dimension, polish
from ridgewise.spectrum import Spectrum, as_columns, compute_spectrum

N_DRAWS = 400
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
TECHTC = ("10341_14525", "14630_814096")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--skip-plain", action="store_true", help="leave the plain algorithm out")
    parser.add_argument(
        "--only",
        choices=[*PARTS, "techtc", "folds", "sets", "text", "rules", "quality", "memmap"],
        help="one part only",
    )
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with techtc/Exp_*")
    options = parser.parse_args()
    with threadpool_limits(1):
        if options.only in (None, "techtc", "folds"):
            compare_techtc(options.data, options.only, options.skip_plain)
        if options.only in (None, "sets"):
            compare_selectors(options.data)
        if options.only in (None, "text"):
            compare("text-like counts", text_like(), options.skip_plain)
        if options.only in (None, "rules"):
            compare_rules(options.data)
        if options.only in (None, "quality"):
            compare_quality(options.data)
        if options.only in (None, "memmap"):
            compare_memmap()
        for name, part in PARTS.items():
            if options.only in (None, name):
                part()


def compare_techtc(data: Path, only: str | None, skip_plain: bool) -> None:
    """Two sets, and training parts of them; at r = 500 the second has rows drawn again."""
    times: dict[str, list[float]] = {"whole": [], "training part": []}
    for name in TECHTC:
        folder = data / "techtc" / f"Exp_{name}"
        if not folder.is_dir():
            print(f"TechTC {name}: not available ({folder})")
            return
        X = read_techtc_folder(folder).data
        # as in ten-fold cross-validation, which is the paper's
        training = X[np.arange(X.shape[0]) % 10 != 0]
        if only != "folds":
            times["whole"].append(compare(f"TechTC {name}", X, skip_plain))
        if only != "techtc":
            label = f"TechTC {name}, training part"
            times["training part"].append(compare(label, training, skip_plain))
    for part, (first, second) in ((k, v) for k, v in times.items() if v):
        print(f"\nTechTC {TECHTC[1]} at r = 500, {part}: {second / first:.1f} x {TECHTC[0]}")


def compare_selectors(data: Path) -> None:
    """Both selectors on every TechTC set at hand."""
    ratios = []
    for folder in sorted((data / "techtc").glob("Exp_*")):
        X = read_techtc_folder(folder).data
        times = best_times(selector_runs(X), repeats=7)
        ratios.append(times["BSSSelector"] / times["LeverageSelector"])
        milliseconds = " / ".join(f"{1000 * seconds:4.0f}" for seconds in times.values())
        print(f"  {folder.name:<22}{milliseconds} ms   {ratios[-1]:6.1f} x LeverageSelector")
    if ratios:
        low, middle, high = np.quantile(ratios, [0, 0.5, 1])
        few = np.count_nonzero(np.array(ratios) <= 6)
        spread = f"{low:.1f} to {high:.1f}, median {middle:.1f}, at most 6 on {few}"
        print(f"\nall {len(ratios)} sets, r = {N_DRAWS}: {spread}")


def compare_rules(data: Path) -> None:
    """Every rule in times of the leverage scores, and epsilon= in times of one selection.

    In processor time, which other work on the machine disturbs less.
    """
    rng = np.random.default_rng(0)
    made: dict[str, tuple[Callable[[], Any], int]] = {
        "Gaussian 200 x 20,000": (lambda: rng.standard_normal((200, 20_000)), 400),
        "Gaussian 100 x 100,000": (lambda: rng.standard_normal((100, 100_000)), 300),
        "SNP-like 300 x 30,000": (lambda: snp_like(300, 30_000), 900),
        "sparse 300 x 50,000": (lambda: sparse_noise(300, 50_000), 900),
    }
    if (data / "arcene").is_dir():
        made["arcene"] = (lambda: np.load(data / "arcene" / "X.npz")["X"].astype(float), 400)
    for name, (make, n_draws) in made.items():
        X = make()
        runs: dict[str, Callable[[], object]] = {
            "leverage": partial(LeverageSelector(n_draws, random_state=0).fit, X)
        }
        runs |= {rule: partial(BSSSelector(n_draws, rule=rule).fit, X) for rule in RULES}
        times = best_times(runs, repeats=3, clock=time.process_time)
        ratios = [f"{rule} {times[rule] / times['leverage']:.1f}" for rule in RULES]
        print(f"  {name}, r = {n_draws}: leverage {times['leverage']:.3f} s; x it:", *ratios)
        if name.startswith("Gaussian 200"):
            found = BSSSelector(epsilon=0.5)
            searched = best_time(partial(found.fit, X), 2, time.process_time)
            once = BSSSelector(found.n_draws_, rule="slack")
            ratio = searched / best_time(partial(once.fit, X), 2, time.process_time)
            print(f"    epsilon=0.5: {found.n_draws_} draws, {ratio:.1f} x one slack selection")


def compare_samples() -> None:
    """Selections from 2,000 documents, in eigendecompositions of 2,000 x 2,000."""
    in_eigendecompositions("counts", documents(2000, 13_319), 500)


def compare_large() -> None:
    """The same from dense data, above the rank."""
    X = np.random.default_rng(0).standard_normal((2000, 20_000))
    in_eigendecompositions("Gaussian", X, 4000)


def in_eigendecompositions(name: str, X: Any, n_draws: int) -> None:
    """What a selection takes, in processor time, and what an eigendecomposition of K does."""
    K = X @ X.T if isinstance(X, np.ndarray) else (X @ X.T).toarray()
    unit = best_time(lambda: eigh(K, driver="evd"), 1, time.process_time)
    for rule in ("norm", "slack"):
        selector = BSSSelector(n_draws, rule=rule)
        seconds = best_time(partial(selector.fit, X), 1, time.process_time)
        print(
            f"  {X.shape[0]} x {X.shape[1]} {name}, r = {n_draws}, rule {rule}: {seconds:.0f} s, "
            f"{seconds / unit:.1f} eigh, {selector.n_draws_} draws",
            flush=True,
        )


def compare_quality(data: Path) -> None:
    """How tight the rules are at r = 2 rank: upper / lower, and epsilon after polish."""
    epsilons = []
    folders = sorted((data / "techtc").glob("Exp_*"))
    for folder in [data / name for name in ("golub", "ALL", "riboflavin", "arcene")] + folders:
        if not folder.is_dir():
            print(f"{folder.name}: not available ({folder})")
            continue
        if folder in folders:
            X = read_techtc_folder(folder).data
        else:
            X = np.load(folder / "X.npz")["X"].astype(float)
        spectrum = compute_spectrum(X)
        slack, ratio = (sparsify(spectrum, 2 * spectrum.rank, rule) for rule in ("slack", "ratio"))
        rows = spectrum.take(ratio.selected)
        lower, upper = weighted_spectrum(rows, polish(rows, ratio.weights))
        epsilons.append((upper - lower) / (upper + lower))
        print(
            f"  {folder.name}: slack {slack.upper / slack.lower:.2f}; "
            f"ratio, polished: epsilon {epsilons[-1]:.3f}"
        )
    if folders:
        print(f"  TechTC, median epsilon: {np.median(epsilons[-len(folders) :]):.3f}")


def compare_dask() -> None:
    """Rules on two workers, whatever the chunks."""
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    settings = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": "CRITICAL"}
    X = np.random.default_rng(0).standard_normal((100, 60_000))
    with LocalCluster(**settings, n_workers=2) as cluster, Client(cluster):
        for chunks in ((100, 6000), (100, 2000), (50, 6000)):
            distributed = da.from_array(X, chunks=chunks).persist()
            wait(distributed)
            for rule in RULES:
                seconds = timed(partial(BSSSelector(300, rule=rule).fit, distributed))[1]
                print(f"  Dask, 100 x 60,000 in {chunks}, rule {rule}: {seconds:.1f} s")


def snp_like(n: int, d: int) -> Any:
    """Counts 0, 1, 2 of alleles with frequencies between .05 and .5."""
    rng = np.random.default_rng(0)
    return rng.binomial(2, rng.uniform(0.05, 0.5, d), (n, d)).astype(np.float64)


def sparse_noise(n: int, d: int) -> sp.csr_array:
    """Uniform numbers at one place in a hundred."""
    return sp.csr_array(sp.random(n, d, density=0.01, random_state=0, format="csr"))


def certificate_cost() -> None:
    """What it costs to verify a certificate of many samples, in eigendecompositions."""
    for n_features, n_selected in ((13_319, 500), (139_448, 1000)):
        X = documents(2000, n_features)
        K = (X @ X.T).toarray()
        eigenvalues, unit = timed(lambda K=K: eigh(K, driver="evd", eigvals_only=False)[0])
        alpha = alpha_for_dimension(eigenvalues, n_selected / 4)
        features = np.argsort(-np.asarray(X.multiply(X).sum(axis=0)).ravel())[:n_selected]
        certificate, seconds = timed(partial(certify, X, features, alpha=alpha))
        print(
            f"  certify {X.shape[0]} x {n_features}, r = {n_selected}: {seconds:.1f} s, "
            f"{seconds / unit:.2f} eigh, verified: {certificate.verified}"
        )


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """What a function gives, and its seconds."""
    start = time.perf_counter()
    return function(), time.perf_counter() - start


def documents(n_samples: int, n_features: int, length: int = 300) -> sp.csr_array:
    """Counts of words in documents: words by Zipf's law."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(10, n_features + 10)
    words = rng.choice(n_features, size=n_samples * length, p=shares / shares.sum())
    rows = np.repeat(np.arange(n_samples), length)
    counts = sp.coo_array((np.ones(len(words)), (rows, words)), shape=(n_samples, n_features))
    return counts.tocsr()


def selector_runs(X: sp.csr_array) -> dict[str, Callable[[], object]]:
    """The selectors."""
    return {
        "BSSSelector": partial(BSSSelector(N_DRAWS).fit, X),
        "LeverageSelector": partial(LeverageSelector(N_DRAWS, random_state=0).fit, X),
    }


def compare(name: str, X: sp.csr_array, skip_plain: bool) -> float:
    """Plain algorithm, engine and both selectors on one matrix.

    Returns the engine's time at r = 500.
    """
    spectrum = compute_spectrum(X)
    U = spectrum.take(np.arange(X.shape[1]))
    print(f"\n{name}: {X.shape[0]} x {X.shape[1]}, rank {spectrum.rank}, r = {N_DRAWS}, one thread")
    if not skip_plain:
        engine = best_time(lambda: sparsify(spectrum, N_DRAWS), repeats=7)
        plain = best_time(lambda: sparsify_plain(U, N_DRAWS), repeats=1)
        print(f"  plain algorithm       {plain:8.3f} s   {plain / engine:6.0f} x rule norm")
    times = best_times(engine_runs(spectrum) | selector_runs(X), repeats=7)
    for what, seconds in times.items():
        base = "LeverageSelector" if "Selector" in what else "rule norm"
        print(f"  {what:<22}{seconds:8.3f} s   {seconds / times[base]:6.1f} x {base}")
    return times["rule norm, r = 500"]


def engine_runs(spectrum: Spectrum) -> dict[str, Callable[[], object]]:
    """The engine by each rule, for ridge models, and with more draws than the paper's."""
    runs: dict[str, Callable[[], object]] = {
        f"rule {rule}": partial(sparsify, spectrum, N_DRAWS, rule) for rule in RULES
    }
    squares = spectrum.singular_values**2
    for ratio in (4, 8):  # draws an effective dimension; alpha="auto" takes 4
        penalty = alpha_for_dimension(squares, N_DRAWS / ratio) / squares
        runs[f"alpha, r = {ratio} d_eff"] = partial(sparsify, spectrum, N_DRAWS, "norm", penalty)
    runs["rule norm, r = 500"] = partial(sparsify, spectrum, 500)
    if compiled.draw_ahead is not None:
        for rule in ("norm", "slack"):
            runs[f"rule {rule}, NumPy"] = partial(by_numpy, spectrum, rule)
    return runs


def by_numpy(spectrum: Spectrum, rule: str) -> None:
    """The engine without compiled draws."""
    with patch.object(compiled, "draw_ahead", None):
        sparsify(spectrum, N_DRAWS, rule)


def compare_memmap(n: int = 200, d: int = 1_000_000) -> None:
    """`BSSSelector.fit` on a memory map of float32: what it allocates, and its time against K's."""
    with tempfile.TemporaryDirectory() as folder:
        X = make_memmap(Path(folder) / "X.f32", n, d)
        print(f"\nmemory map of float32: {n} x {d}, r = {N_DRAWS}, one thread")
        kernel = best_time(lambda: as_columns(X).gram(), repeats=2)
        print(f"  K by the same blocks  {kernel:8.3f} s")
        for rule in ("norm", "slack"):
            selector = BSSSelector(N_DRAWS, rule=rule)
            fit = best_time(partial(selector.fit, X), repeats=2)
            print(f"  BSSSelector, {rule:<9}{fit:8.3f} s   {fit / kernel:6.2f} x K alone")
        tracemalloc.start()
        selector.fit(X)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        print(f"  allocated at most     {peak:8.0f} MB  (the matrix: {X.nbytes / 2**20:.0f} MB)")


Clock = Callable[[], float]


def best_times(
    runs: dict[str, Callable[[], object]], repeats: int, clock: Clock = time.perf_counter
) -> dict[str, float]:
    """Best times of interleaved runs, so that the load affects all alike."""
    times = dict.fromkeys(runs, np.inf)
    for _ in range(repeats):
        for what, run in runs.items():
            times[what] = min(times[what], best_time(run, 1, clock))
    return times


def best_time(run: Callable[[], object], repeats: int, clock: Clock = time.perf_counter) -> float:
    """Best time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = clock()
        run()
        times.append(clock() - start)
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


PARTS = {
    "samples": compare_samples,
    "large": compare_large,
    "certificate": certificate_cost,
    "dask": compare_dask,
}

if __name__ == "__main__":
    main()
