# SPDX-License-Identifier: BSD-3-Clause
"""Ridgewise and other feature selection packages: time, memory and spectrum.

    python -m benchmarks.peers --prepare              an environment for each package, by pip
    python -m benchmarks.peers                        all methods on all data at hand, then tables
    python -m benchmarks.peers --only ALL,gaussian    some of the data
    python -m benchmarks.peers --methods BSS,CUR      some of the methods
    python -m benchmarks.peers --table                the tables of what there is already
    python -m benchmarks.peers --plot peers.png       and a picture: time against upper / lower

Each selection runs in a new process, on one thread, and is killed after --minutes of CPU time.
Results are appended to --results at once: an interrupted run is resumed by the same command. (Use a
new file when a method changes.)

Methods select from the training part only (70 %, stratified). "seconds" is CPU time, the best of
up to three runs, after a warm-up on tiny data; "MB" is the growth of the process, including a dense
copy of sparse data. [lower, upper] are the extreme eigenvalues of the selected features'
kernel relative to that of all, with the method's weights, or 1; "polished" is upper / lower with
the best weights for the same features. "error" is that of regularized least squares on the other
30 %, alpha a tenth of the mean diagonal of the selected features' kernel. TechTC is taken as
log(1 + count), dense data minus the training part's means.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks import peers_worker
from benchmarks.engine import SHARED
from benchmarks.epsilon import Log, load, say
from benchmarks.peers_worker import METHODS
from ridgewise import RLSClassifier
from ridgewise.barrier import weighted_spectrum
from ridgewise.datasets import read_techtc_folder
from ridgewise.guarantees import polish
from ridgewise.spectrum import Spectrum, compute_spectrum

SETS = {
    "techtc/Exp_10341_14525": 300,
    "ALL": 400,
    "dexter": 600,
    "gaussian": 400,  # 200 x 20,000, labels at random
    "tiny": 60,  # 30 x 200, for tests
}
ENVIRONMENTS = {
    "skmatter": ["skmatter==0.4.1"],
    "fastcan": ["fastcan==0.6.0"],
    "apricot-select": ["apricot-select==0.6.1", "scikit-learn"],
    "skfeature-chappers": ["skfeature-chappers==1.2.1"],
    "low-rank-toolbox": ["low-rank-toolbox==2.0.0"],
}
PATIENCE = 20  # times the CPU time, on a busy machine
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")
BASE = "BSS"  # whose seconds are 1
ALL_FEATURES = "all features"
HEAD = (
    *("method", "given", "features", "seconds", f"x {BASE}", "MB"),
    *("[lower, upper]", "upper / lower", "polished", "error"),
)


def main() -> None:
    options = parsed()
    if options.prepare:
        for name in ENVIRONMENTS:
            prepare(options.environments / name, ENVIRONMENTS[name])
        return
    log = Log(options.results)
    if not (options.table or options.plot):
        with threadpool_limits(1):
            for name in options.only:
                measure(name, options, log)
    for name in options.only:
        print("\n".join(table(name, options, log)), end="\n\n")
    if options.plot:
        from benchmarks.peers_plot import draw

        draw({name: known(name, log) for name in options.only}, options.plot)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--prepare", action="store_true", help="make the environments, and stop")
    parser.add_argument("--only", type=names_among([*SETS]), default=[*SETS][:-1])
    parser.add_argument("--methods", type=names_among([*METHODS]), default=[*METHODS])
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with the real data")
    parser.add_argument("--minutes", type=float, default=5, help="for a method on a data set")
    parser.add_argument("--gigabytes", type=float, default=8, help="of memory, for a method")
    parser.add_argument("--results", type=Path, default=Path("build/peers.jsonl"))
    parser.add_argument("--environments", type=Path, default=Path("build/peers"))
    parser.add_argument("--table", action="store_true", help="measure nothing")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw, and measure nothing")
    return parser.parse_args()


def names_among(known: list[str]) -> Any:
    """Parser of a comma-separated list of names."""

    def read(text: str) -> list[str]:
        names = text.split(",")
        if unknown := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of: {', '.join(known)}")
        return names

    return read


def prepare(folder: Path, requirements: list[str]) -> None:
    """Create a virtual environment if there is none; record the reason if that fails."""
    if (folder / "ready").exists():
        return
    say(f"{folder.name}: installing")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "-q", "--prefer-binary"]
    done = subprocess.run([*pip, *requirements], capture_output=True, text=True)
    last = done.stderr.strip().rpartition("\n")[2]
    (folder / ("failed" if done.returncode else "ready")).write_text(last, encoding="utf-8")
    say(f"{folder.name}: {last if done.returncode else 'ready'}")


def interpreter(package: str, folder: Path) -> tuple[str, str]:
    """The Python with a package, or the reason why there is none."""
    if package not in ENVIRONMENTS:
        return sys.executable, ""
    if (folder / package / "ready").exists():
        return str(folder / package / "bin" / "python"), ""
    failed = folder / package / "failed"
    reason = failed.read_text(encoding="utf-8") if failed.exists() else "see --prepare"
    return "", f"not installed: {shortened(reason)}"


class Split(NamedTuple):
    """A data set: training part, and test part (or None)."""

    X: Any
    y: Any
    X_test: Any = None
    y_test: Any = None


def read_split(name: str, folder: Path) -> Split | None:
    """A data set; None, with a note, if it is not available."""
    if name in ("gaussian", "tiny"):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((200, 20_000) if name == "gaussian" else (30, 200))
        return Split(X, np.where(rng.permutation(len(X)) % 2, 1, -1))
    if not (folder / name).is_dir():
        say(f"{name}: not at hand ({folder / name})")
        return None
    X, y = read(folder / name)
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)
    if not sp.issparse(X):
        X = X - X[train].mean(axis=0)
    return Split(X[train], y[train], X[test], y[test])


def read(folder: Path) -> tuple[Any, Any]:
    """X in float64, word counts as log(1 + count), and y with values 1 and -1."""
    X = load(folder)
    X = (sp.csr_array(X) if sp.issparse(X) else X).astype(np.float64)
    if (folder / "y.txt").exists():
        labels = np.array((folder / "y.txt").read_text(encoding="utf-8").split())
    else:
        X, labels = X.log1p(), np.asarray(read_techtc_folder(folder).target)
    return X, np.where(labels == labels[0], 1, -1)


def measure(name: str, options: argparse.Namespace, log: Log) -> None:
    """Run the methods without results on a data set."""
    wanted = [method for method in options.methods if not done(name, method, options, log)]
    if not wanted or (split := read_split(name, options.data)) is None:
        return
    spectrum = compute_spectrum(split.X)
    shape = [*split.X.shape, spectrum.rank, len(split.y_test) if split.y_test is not None else 0]
    log.add(name, "shape", value=shape)
    everything = np.arange(split.X.shape[1])
    log.add(name, ALL_FEATURES, value={"error": held_out_error(split, everything, None)})
    with tempfile.TemporaryDirectory() as folder:
        write(split, Path(folder, "X.npz"))
        for method in wanted:
            python, missing = interpreter(METHODS[method].package, options.environments)
            if missing:
                say(f"{name}: {method}: {missing}")
                continue
            found = start(python, method, Path(folder), SETS[name], options)
            if "selected" in found:
                found |= judged(found.pop("selected"), found.pop("weights"), split, spectrum)
            say(f"{name}: {method}: {found}")
            log.add(name, method, value=found)


def done(name: str, method: str, options: argparse.Namespace, log: Log) -> bool:
    """Whether a result is final; after a timeout, a longer limit is another try."""
    found = log.known.get((name, method))
    return found is not None and found.get("minutes", options.minutes) >= options.minutes


def write(split: Split, path: Path) -> None:
    """Write the training part for workers of any environment."""
    if sp.issparse(split.X):
        X = split.X
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
        np.savez(path, y=split.y, **parts)
    else:
        np.savez(path, y=split.y, X=split.X)


def start(
    python: str, method: str, folder: Path, number: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Run a method in a new process; return its report."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    # -P: the folder of the script has modules, which no peer shall import
    script = [python, "-P", str(Path(peers_worker.__file__)), method, str(folder / "X.npz")]
    limits = [f"{60 * options.minutes:.0f}", f"{options.gigabytes:g}"]
    one_thread = os.environ | {f"{library}_NUM_THREADS": "1" for library in THREADS}
    settings: dict[str, Any] = {"env": one_thread, "capture_output": True, "text": True}
    too_long = {"failed": f"> {options.minutes:g} min", "minutes": options.minutes}
    try:  # the worker stops itself, unless it is not even given its time
        command = [*script, str(number), *limits, str(report)]
        ended = subprocess.run(command, timeout=PATIENCE * 60 * options.minutes, **settings)
    except subprocess.TimeoutExpired:
        return too_long
    if ended.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return too_long
    if not report.exists():
        reason = ended.stderr.strip().rpartition("\n")[2]
        return {"failed": f"died with code {ended.returncode}: {reason}"}
    return dict(json.loads(report.read_text(encoding="utf-8")))


def judged(selected: Any, weights: Any, split: Split, spectrum: Spectrum) -> dict[str, Any]:
    """The spectrum of a selection, with its own weights and with polished ones."""
    selected, first = np.unique(selected, return_index=True)
    weights = np.ones(len(selected)) if weights is None else np.asarray(weights)[first]
    rows = spectrum.take(selected)
    found: dict[str, Any] = {
        "features": len(selected),
        "interval": interval(rows, weights),
        "error": held_out_error(split, selected, weights),
    }
    if found["interval"][0] > 0:
        found["polished"] = interval(rows, polish(rows, weights))
    return found


def interval(rows: Any, weights: Any) -> tuple[float, float]:
    """[lower, upper]; lower is 0 if it is within rounding errors."""
    lower, upper = weighted_spectrum(rows, weights)
    rounding = 64 * rows.shape[1] * np.finfo(np.float64).eps * upper
    return (lower if lower > rounding else 0.0), upper


def held_out_error(split: Split, selected: Any, weights: Any) -> float | None:
    """Test error of RLSC on the selected features."""
    if split.X_test is None:
        return None
    scale = np.sqrt(np.ones(len(selected)) if weights is None else weights)
    X, X_test = (sp.csr_array(part[:, selected] * scale) for part in (split.X, split.X_test))
    alpha = 0.1 * (X * X).sum() / X.shape[0]
    model = RLSClassifier(alpha).fit(X, split.y)
    return float(np.mean(model.predict(X_test) != split.y_test))


def known(name: str, log: Log) -> dict[str, Any]:
    """Results of a data set by method."""
    return {key[1]: value for key, value in log.known.items() if key[0] == name}


def table(name: str, options: argparse.Namespace, log: Log) -> Iterator[str]:
    """All results of a data set as a Markdown table, with versions."""
    found = known(name, log)
    if "shape" not in found:
        yield f"{name}: not measured"
        return
    n, d, rank, n_test = found["shape"]
    tested = f"{n_test} test samples, " if n_test else ""
    yield f"{name}: {n} x {d}, rank {rank}, {tested}r = {SETS[name]}\n"
    yield f"| {' | '.join(HEAD)} |"
    yield "|---" * len(HEAD) + "|"
    yield row(ALL_FEATURES, ["", str(d), *[""] * 6, percent(found[ALL_FEATURES]["error"])])
    base = min(found.get(BASE, {}).get("seconds", [np.nan]))
    for method in options.methods:
        _, missing = interpreter(METHODS[method].package, options.environments)
        value = found.get(method, {"failed": missing or "not measured"})
        yield row(titled(method), cells(method, value, base))
    measured = [method for method in METHODS if "version" in found.get(method, {})]
    versions = {METHODS[method].package: found[method]["version"] for method in measured}
    shown = ", ".join(f"{package} {version}" for package, version in versions.items())
    yield f"\n{shown}"


def cells(method: str, found: dict[str, Any], base: float) -> list[str]:
    """A row without its first cell."""
    given = "X, y" if METHODS[method].labels else "X"
    if not METHODS[method].sparse:
        given = given.replace("X", "dense X")
    if "failed" in found:
        return [given, shortened(found["failed"]), *[""] * 7]
    (lower, upper), seconds = found["interval"], min(found["seconds"])
    return [
        given,
        str(found["features"]),
        f"{seconds:.3g}" if seconds < 100 else f"{seconds:.0f}",
        number(seconds / base),
        "" if found["megabytes"] is None else f"{found['megabytes']:.0f}",
        f"[{lower:.3g}, {upper:.3g}]",
        number(upper / lower) if lower else "lost",
        number(found["polished"][1] / found["polished"][0]) if lower else "",
        percent(found["error"]),
    ]


def titled(method: str) -> str:
    """A method with its package, unless its name has it."""
    package = METHODS[method].package.removesuffix("-select").removesuffix("-chappers")
    return f"**{method}**" if package == "ridgewise" else f"{package}: {method}"


def row(first: str, others: list[str]) -> str:
    return f"| {' | '.join([first, *others])} |"


def number(value: float) -> str:
    """Format with two significant digits."""
    if not np.isfinite(value):
        return ""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}" if value < 1e5 else f"{value:.0e}"


def percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def shortened(text: str, most: int = 70) -> str:
    """The first line, truncated to fit a table."""
    line = text.strip().partition("\n")[0].replace("|", "/")
    return line if len(line) <= most else f"{line[: most - 3]}..."


if __name__ == "__main__":
    main()
