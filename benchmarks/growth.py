# SPDX-License-Identifier: BSD-3-Clause
"""Growth of time and memory with d, n and r: parts of ``python -m benchmarks.scaling``.

Each is compared with an unavoidable cost: the leverage scores (K, V, S and one more pass over the
data) for d, and one eigendecomposition of an n x n matrix for n. One thread, CPU seconds.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

from ridgewise import BSSSelector
from ridgewise.spectrum import compute_spectrum

Results = dict[str, list[float]]

PER_FEATURE = 20  # non-zeros
N_SPARSE, R_SPARSE = 500, 1000
D_SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
D_DENSE = 20_000
N_SIZES = (100, 300, 1000, 2000)
N_FOR_R = 300
R_SIZES = (400, 600, 1200, 2400, 4800)
LONG = 10.0  # seconds; slower functions are run once


def grow_d(share: float) -> Results:
    """Sparse features, each size in a new process."""
    n, r = N_SPARSE, R_SPARSE
    print(f"\nsparse, {PER_FEATURE} non-zeros a feature, n = {n}, r = {r}")
    print(
        "         d     matrix  peak memory       times      K, leverage         norm        slack"
    )
    rows = []
    for d in chosen(D_SIZES, share):
        command = [sys.executable, "-m", "benchmarks.growth", str(d)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        row = json.loads(done.stdout)
        rows.append(row)
        print(
            f"{d:>10,}{row['matrix']:>8.0f} MB{row['peak']:>10.0f} MB"
            f"{row['peak'] / row['matrix']:>10.2f} x{row['leverage']:>15.2f} s"
            f"{row['fit']:>11.2f} s{row['slack']:>11.2f} s"
        )
    found = {name: [row[name] for row in rows] for name in rows[0]}
    tell_exponents("d", found, ("leverage", "fit", "peak"))
    return found


def measure_sparse(d: int) -> dict[str, float]:
    """Time and memory of one size, in this process, which must be new."""
    base = memory("VmRSS")
    X = sparse_features(N_SPARSE, d)
    matrix = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6
    made = memory("VmHWM")
    with threadpool_limits(1):
        times = take_turns(
            {
                "leverage": lambda: compute_spectrum(X).leverage_scores,
                "fit": lambda: BSSSelector(R_SPARSE).fit(X),
                "slack": lambda: BSSSelector(R_SPARSE, rule="slack").fit(X),
            }
        )
    peak = memory("VmHWM")
    return {"d": d, "matrix": matrix, "base": base, "made": made, "peak": peak, **times}


def sparse_features(n: int, d: int) -> sp.csc_array:
    """Gaussian values of varying scale at random positions, built without copying the matrix."""
    rng = np.random.default_rng(0)
    indices = np.empty((d, PER_FEATURE), dtype=np.int32)
    data = np.empty((d, PER_FEATURE))
    for start in range(0, d, 50_000):
        shape = (min(50_000, d - start), PER_FEATURE)
        block = slice(start, start + shape[0])
        # ascending and distinct: sorted places, each moved by its rank
        places = rng.integers(0, n - PER_FEATURE + 1, shape, dtype=np.int32)
        indices[block] = np.sort(places, axis=1) + np.arange(PER_FEATURE)
        data[block] = rng.standard_normal(shape) * rng.lognormal(0, 1, (shape[0], 1))
    indptr = np.arange(0, d * PER_FEATURE + 1, PER_FEATURE, dtype=np.int32)
    return sp.csc_array((data.ravel(), indices.ravel(), indptr), shape=(n, d))


def grow_n(share: float) -> Results:
    """Dense Gaussian features, twice as many draws as samples."""
    print(f"\ndense, d = {D_DENSE:,}, r = 2 n")
    print("         n     one eigh of n x n     BSSSelector       ratio")
    found: Results = {"n": [], "eigh": [], "fit": []}
    for n in chosen(N_SIZES, share):
        X = np.random.default_rng(0).standard_normal((n, D_DENSE))
        K = X @ X.T
        with threadpool_limits(1):
            times = take_turns(
                {
                    "eigh": lambda: eigh(K, driver="evd"),  # noqa: B023
                    "fit": lambda: BSSSelector(2 * n).fit(X),  # noqa: B023
                }
            )
        for name, value in {"n": n, **times}.items():
            found[name].append(value)
        print(
            f"{n:>10,}{times['eigh']:>19.3f} s{times['fit']:>16.2f} s"
            f"{times['fit'] / times['eigh']:>10.1f} x"
        )
    tell_exponents("n", found, ("eigh", "fit"))
    return found


def grow_r(share: float) -> Results:
    """Dense Gaussian features, increasing numbers of draws."""
    print(f"\ndense, n = {N_FOR_R}, d = {D_DENSE:,}")
    print("         r     BSSSelector")
    X = np.random.default_rng(0).standard_normal((N_FOR_R, D_DENSE))
    found: Results = {"r": [], "fit": []}
    for r in chosen(R_SIZES, share):
        with threadpool_limits(1):
            times = take_turns({"fit": lambda: BSSSelector(r).fit(X)})  # noqa: B023
        found["r"].append(r)
        found["fit"].append(times["fit"])
        print(f"{r:>10,}{times['fit']:>14.2f} s")
    tell_exponents("r", found, ("fit",))
    return found


PARTS: dict[str, Callable[[float], Results]] = {"d": grow_d, "n": grow_n, "r": grow_r}


def chosen(sizes: Sequence[int], share: float) -> list[int]:
    """The sizes up to a share of the largest, two at least."""
    return [size for size in sizes if size <= max(share * sizes[-1], sizes[1])]


def take_turns(runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Best CPU time of three interleaved runs of each; of one run if all are slow.

    CPU seconds, since wall time depends on the load of the machine.
    """
    times = dict.fromkeys(runs, np.inf)
    for _ in range(3):
        for name, run in runs.items():
            start = time.process_time()
            run()
            times[name] = min(times[name], time.process_time() - start)
        if sum(times.values()) > LONG:
            break
    return times


def tell_exponents(size: str, found: Results, names: Sequence[str]) -> None:
    """Print the fitted exponents."""
    told = [f"{name} {size}^{exponent(found[size], found[name]):.2f}" for name in names]
    print(f"  grows as: {', '.join(told)}")


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Slope of the least-squares line in logarithmic coordinates."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def memory(field: str) -> float:
    """Resident memory of this process in MB: current (VmRSS) or peak (VmHWM). Linux."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError("this system does not tell how much memory a process has")


def draw(found: dict[str, Results], path: Path) -> None:
    """Plot the measurements on logarithmic axes."""
    from matplotlib import style
    from matplotlib.figure import Figure

    from ridgewise.report._style import BLUE, FAINT, INK, ORANGE, STYLE

    look = {**STYLE, "figure.facecolor": "white", "savefig.facecolor": "white"}
    with style.context(look):
        figure = Figure(figsize=(9.6, 7.2), layout="constrained")
        places = iter(figure.subplots(2, 2).flat)
        if "d" in found:
            part = found["d"]
            about = f"n = {N_SPARSE}, r = {R_SPARSE}, {PER_FEATURE} non-zeros a feature"
            times = {"BSSSelector": ("fit", BLUE), "K and leverage scores": ("leverage", ORANGE)}
            plot(next(places), part, "d", times, "seconds", f"Time against d\n{about}")
            sizes = {"at most resident": ("peak", BLUE), "the sparse matrix": ("matrix", INK)}
            plot(next(places), part, "d", sizes, "megabytes", f"Memory against d\n{about}")
        if "n" in found:
            times = {"BSSSelector": ("fit", BLUE), "one eigh of n x n": ("eigh", ORANGE)}
            about = f"d = {D_DENSE:,}, dense, r = 2 n"
            plot(next(places), found["n"], "n", times, "seconds", f"Time against n\n{about}")
        if "r" in found:
            about = f"n = {N_FOR_R}, d = {D_DENSE:,}, dense"
            times = {"BSSSelector": ("fit", BLUE)}
            plot(next(places), found["r"], "r", times, "seconds", f"Time against r\n{about}")
        for unused in places:
            unused.set_axis_off()
        figure.supxlabel(
            "slopes by least squares; seconds of the processor, one thread", color=FAINT, fontsize=9
        )
        figure.savefig(path, dpi=150)


def plot(
    axes: Any,
    part: Results,
    size: str,
    lines: dict[str, tuple[str, str]],
    unit: str,
    title: str,
) -> None:
    """One panel: lines by their labels, each with what it shows and its colour."""
    for label, (name, colour) in lines.items():
        slope = exponent(part[size], part[name])
        axes.plot(part[size], part[name], "o-", color=colour, label=f"{label}: {size}^{slope:.2f}")
    axes.set(xscale="log", yscale="log", xlabel=size, ylabel=unit)
    axes.set_xticks(part[size], [f"{value:,}" for value in part[size]])
    axes.minorticks_off()
    axes.set_title(title, fontsize=10)
    axes.grid(True)
    axes.legend()


if __name__ == "__main__":
    print(json.dumps(measure_sparse(int(sys.argv[1]))))
