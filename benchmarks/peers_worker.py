# SPDX-License-Identifier: BSD-3-Clause
"""Measure one selection by one method: the worker process of `benchmarks.peers`.

    python benchmarks/peers_worker.py METHOD X.npz NUMBER SECONDS GIGABYTES REPORT.json

The interpreter is that of the method's own environment: this file needs numpy and scipy, and each
method imports its package itself. The report has the features, the weights where there are any,
the seconds of processor time of each run, and by how much resident memory grew in the first one.
"""

import json
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

MOST_RUNS = 3
ENOUGH = 3  # seconds, after which no further run is started


class Method(NamedTuple):
    """A way to select: `select` takes X, y and a number; gives features, or those and weights."""

    package: str
    select: Callable[[Any, Any, int], Any]
    sparse: bool = False  # whether it takes sparse X; else it gets a dense copy
    labels: bool = False  # whether it looks at y


def main(name: str, data: str, number: str, seconds: str, gigabytes: str, report: str) -> None:
    limit(int(seconds), float(gigabytes))
    found: dict[str, Any] = {"version": metadata.version(METHODS[name].package)}
    try:
        X, y = read(data)
        with suppress(Exception):  # imports, compiles and allocates what is not the selection's
            run(METHODS[name], *small(sp.issparse(X)), 40)
        found |= measure(METHODS[name], X, y, int(number))
    except MemoryError:
        found["failed"] = f"more than {gigabytes} GB"
    except Exception as error:
        found["failed"] = f"{type(error).__name__}: {error}"
    Path(report).write_text(json.dumps(found), encoding="utf-8")


def measure(method: Method, X: Any, y: Any, number: int) -> dict[str, Any]:
    """Select several times: result, all times, and memory of the first run."""
    seconds: list[float] = []
    before = resident()
    while len(seconds) < MOST_RUNS and sum(seconds) < ENOUGH:
        start = processor_time()
        selected, weights = run(method, X, y, number)
        seconds.append(processor_time() - start)
        if len(seconds) == 1:
            peak = resident("VmHWM")
    return {
        "selected": selected.tolist(),
        "weights": None if weights is None else weights.tolist(),
        "seconds": seconds,
        "megabytes": None if before is None or peak is None else peak - before,
    }


def run(method: Method, X: Any, y: Any, number: int) -> tuple[Any, Any]:
    """Features and weights (or None) of a method."""
    if sp.issparse(X) and not method.sparse:
        X = X.toarray()
    found = method.select(X, y, number)
    selected, weights = found if isinstance(found, tuple) else (found, None)
    return np.asarray(selected, dtype=int)[:number], weights


def read(path: str) -> tuple[Any, Any]:
    """X, dense or sparse, and y."""
    with np.load(path) as file:
        if "X" in file:
            return file["X"], file["y"]
        parts = (file["data"], file["indices"], file["indptr"])
        return sp.csr_array(parts, shape=tuple(file["shape"])), file["y"]


def small(sparse: bool) -> tuple[Any, Any]:
    """Data to warm up with."""
    X = np.abs(np.random.default_rng(0).normal(size=(20, 100)))
    return sp.csr_array(X) if sparse else X, np.where(np.arange(20) % 2, 1, -1)


def resident(field: str = "VmRSS") -> float | None:
    """Resident memory of this process in MB: current, or peak since the last call ("VmHWM").

    None if the system does not report it.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forget the peak
    except OSError:
        return None
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:"))


def limit(seconds: int, gigabytes: float) -> None:
    """Limit the CPU time and the memory of this process."""
    size = int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def processor_time() -> float:
    """Seconds, of all threads (time.process_time goes by ticks where there is a limit)."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def bss(X: Any, _: Any, number: int, **settings: Any) -> Any:
    from ridgewise import BSSSelector

    selector = BSSSelector(number, **settings).fit(X)
    return selector.selected_, selector.weights_


def bss_polished(X: Any, y: Any, number: int) -> Any:
    return bss(X, y, number, rule="slack", polish=True)


def leverage(X: Any, _: Any, number: int) -> Any:
    from ridgewise import LeverageSelector

    selector = LeverageSelector(number, random_state=0).fit(X)
    return selector.selected_, selector.weights_


def rrqr(X: Any, _: Any, number: int) -> Any:
    from ridgewise import RRQRSelector

    return RRQRSelector(number).fit(X).selected_


def mutual_information(X: Any, y: Any, _: int) -> Any:
    from sklearn.feature_selection import mutual_info_classif

    return np.argsort(-mutual_info_classif(X, y, random_state=0), kind="stable")


def chi_squared(X: Any, y: Any, _: int) -> Any:
    from sklearn.feature_selection import chi2

    return np.argsort(-np.nan_to_num(chi2(X, y)[0]), kind="stable")


def recursive_elimination(X: Any, y: Any, number: int) -> Any:
    from sklearn.feature_selection import RFE
    from sklearn.linear_model import RidgeClassifier

    model = RidgeClassifier(0.1 * (X * X).sum() / X.shape[0], fit_intercept=False)
    return RFE(model, n_features_to_select=number, step=0.1).fit(X, y).get_support(indices=True)


def random_features(X: Any, _: Any, number: int) -> Any:
    return np.random.default_rng(0).permutation(X.shape[1])[:number]


def pivoted_qr(X: Any, *_: Any) -> Any:
    from scipy.linalg import qr

    return qr(X, mode="r", pivoting=True)[1]


def interpolative(X: Any, _: Any, number: int) -> Any:
    from scipy.linalg.interpolative import interp_decomp

    k = min(number, *X.shape)  # it takes no more
    return interp_decomp(X, k, rng=0)[0][:k]


def cur(X: Any, _: Any, number: int) -> Any:
    from skmatter.feature_selection import CUR

    return CUR(n_to_select=number).fit(X).selected_idx_


def farthest_points(X: Any, _: Any, number: int) -> Any:
    from skmatter.feature_selection import FPS

    return FPS(n_to_select=number).fit(X).selected_idx_


def canonical_correlation(X: Any, y: Any, number: int) -> Any:
    from fastcan import minibatch  # FastCan itself stops at the rank

    return minibatch(X, y, number, batch_size=X.shape[0] // 2, verbose=0)


def feature_based(X: Any, _: Any, number: int) -> Any:
    from apricot import FeatureBasedSelection  # of rows, whose entries must not be negative

    return FeatureBasedSelection(number).fit(as_rows(X)).ranking


def facility_location(X: Any, _: Any, number: int) -> Any:
    from apricot import FacilityLocationSelection

    return FacilityLocationSelection(number, metric="cosine").fit(as_rows(X)).ranking


def as_rows(X: Any) -> Any:
    """Features as rows, of absolute values, in one of the two containers that apricot takes."""
    return sp.csr_matrix(abs(X).T) if sp.issparse(X) else np.ascontiguousarray(np.abs(X).T)


def laplacian_score(X: Any, *_: Any) -> Any:
    from skfeature.function.similarity_based.lap_score import lap_score

    return lap_score(X.copy(), mode="index")  # it changes what it is given


def mcfs(X: Any, _: Any, number: int) -> Any:
    from skfeature.function.sparse_learning_based.MCFS import mcfs

    return mcfs(X.copy(), n_selected_features=number, mode="index")


def on_basis(name: str) -> Callable[[Any, Any, int], Any]:
    """A method of low-rank-toolbox, which selects as many rows of U as U has columns."""

    def select(X: Any, _: Any, number: int) -> Any:
        from low_rank_toolbox import cssp

        U = basis(X)
        if name != "oversampling_sQDEIM":
            return getattr(cssp, name)(U)
        rank = U.shape[1]
        return cssp.oversampling_sQDEIM(U, min(number - rank, rank))  # twice as many at most

    return select


def basis(X: Any) -> Any:
    """U in X = V S U^T."""
    _, values, Ut = np.linalg.svd(X, full_matrices=False)
    return Ut[values > max(X.shape) * np.finfo(float).eps * values[0]].T


METHODS = {
    "BSS": Method("ridgewise", bss, sparse=True),
    "BSS slack + polish": Method("ridgewise", bss_polished, sparse=True),
    "leverage sampling": Method("ridgewise", leverage, sparse=True),
    "RRQR": Method("ridgewise", rrqr, sparse=True),
    "mutual information": Method("scikit-learn", mutual_information, sparse=True, labels=True),
    "chi2": Method("scikit-learn", chi_squared, sparse=True, labels=True),
    "RFE": Method("scikit-learn", recursive_elimination, sparse=True, labels=True),
    "random": Method("numpy", random_features, sparse=True),
    "pivoted QR": Method("scipy", pivoted_qr),
    "interpolative": Method("scipy", interpolative),
    "CUR": Method("skmatter", cur),
    "FPS": Method("skmatter", farthest_points),
    "FastCan": Method("fastcan", canonical_correlation, labels=True),
    "feature-based": Method("apricot-select", feature_based, sparse=True),
    "facility location": Method("apricot-select", facility_location),
    "Laplacian score": Method("skfeature-chappers", laplacian_score),
    "MCFS": Method("skfeature-chappers", mcfs),
    "DEIM": Method("low-rank-toolbox", on_basis("DEIM")),
    "QDEIM": Method("low-rank-toolbox", on_basis("QDEIM")),
    "Osinsky": Method("low-rank-toolbox", on_basis("Osinsky")),
    "oversampled sQDEIM": Method("low-rank-toolbox", on_basis("oversampling_sQDEIM")),
}

if __name__ == "__main__":
    main(*sys.argv[1:])
