# SPDX-License-Identifier: BSD-3-Clause
"""Number of features for a certified epsilon, as a multiple of the rank, for each method.

    python -m benchmarks.epsilon                        all available real data, then the table
    python -m benchmarks.epsilon --only golub,techtc    some of it: folders, or folders of folders
    python -m benchmarks.epsilon --minutes 20           leave a data set after so long
    python -m benchmarks.epsilon --table                the table of what there is already

Every measurement is appended to --results at once: an interrupted run is resumed by the same
command. (Use a new file when the methods change.)

The table is in Markdown, one row per method: the smallest r / rank whose measured epsilon is at
most the given one, to two percent of r. The search assumes that epsilon decreases with r.
"polished": weights optimized afterwards; other weights are only scaled, by 2 / (lower + upper).
"> x": not reached with x times the rank, which is ten, or nearly all features. Empty cell: not
measured yet. For the sets of a folder the median is shown, unless --each.
"""

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks.engine import SHARED
from ridgewise import LeverageSelector, RRQRSelector
from ridgewise.barrier import RULES, sparsify, weighted_spectrum
from ridgewise.datasets import read_techtc_folder
from ridgewise.guarantees import polish
from ridgewise.spectrum import Spectrum, compute_spectrum

MOST = 10  # times the rank
PRECISION = 0.02  # of r
SETS = ("golub", "riboflavin", "ALL", "arcene", "techtc", "newsgroup_pairs", "dexter", "wheat")
METHODS = (
    *(f"BSS, {rule}" for rule in RULES),
    "leverage sampling",
    "largest leverage scores",
    "RRQR",
)
ROWS = tuple((method, polished) for method in METHODS for polished in (False, True))

Selection = tuple[Any, Any]  # indices and weights


class OutOfTimeError(Exception):
    """A measurement is missing, and the time limit is reached."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--epsilon", type=float, default=0.5)
    parser.add_argument("--only", type=lambda names: tuple(names.split(",")), default=SETS)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with the real data")
    parser.add_argument("--results", type=Path, default=Path("build/epsilon.jsonl"))
    parser.add_argument("--minutes", type=float, default=math.inf, help="for a data set")
    parser.add_argument("--table", action="store_true", help="measure nothing")
    parser.add_argument("--each", action="store_true", help="a column for every data set")
    options = parser.parse_args()
    log = Log(options.results)
    names = [name for wanted in options.only for name in data_sets(options.data, wanted)]
    if not options.table:
        with threadpool_limits(1):
            for name in names:
                measure(DataSet(name, options.data, log), options.epsilon, 60 * options.minutes)
    print(table([DataSet(name, options.data, log) for name in names], options))


class Log:
    """Measurements in a JSON Lines file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[tuple[Any, ...], Any] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        self.start = "" if text.endswith("\n") else "\n"  # after an incomplete line
        for line in text.splitlines():
            try:
                *key, value = json.loads(line)
            except ValueError:
                continue
            self.known[tuple(key)] = value

    def add(self, *key: Any, value: Any) -> None:
        """Add a measurement to memory and to the file."""
        self.known[key] = value
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{self.start}{json.dumps([*key, value])}\n")
        self.start = ""


class DataSet:
    """A data set, loaded and decomposed on demand."""

    def __init__(self, name: str, folder: Path, log: Log) -> None:
        self.name, self.folder, self.log = name, folder / name, log
        self.deadline = -math.inf  # until which measurements are made
        self.selections: dict[tuple[str, int], Selection] = {}

    @property
    def shape(self) -> tuple[int, int, int]:
        """n, d and the rank."""
        if (self.name, "shape") not in self.log.known:
            self.check_time()
            found = [*self.X.shape, self.spectrum.rank]
            self.log.add(self.name, "shape", value=found)
        n, d, rank = self.log.known[self.name, "shape"]
        return n, d, rank

    def epsilon(self, method: str, polished: bool, n_draws: int) -> float:
        """The epsilon of a selection, cached or measured now."""
        key = (self.name, method, polished, n_draws)
        if key not in self.log.known:
            self.check_time()
            self.log.add(*key, value=self.measured(method, polished, n_draws))
        return float(self.log.known[key])

    def measured(self, method: str, polished: bool, n_draws: int) -> float:
        """Select, optionally polish, and measure; prints progress."""
        start = time.perf_counter()
        selected, weights = self.selection(method, n_draws)
        rows = self.spectrum.take(selected)
        lower, upper = weighted_spectrum(rows, polish(rows, weights) if polished else weights)
        epsilon = (upper - lower) / (upper + lower)
        seconds = time.perf_counter() - start
        say(f"  {title(method, polished)}, r = {n_draws}: {epsilon:.3f} ({seconds:.1f} s)")
        return epsilon

    def selection(self, method: str, n_draws: int) -> Selection:
        """The selection of a method, shared by both kinds of weights."""
        if (method, n_draws) not in self.selections:
            self.selections[method, n_draws] = self.select[method](n_draws)
        return self.selections[method, n_draws]

    def check_time(self) -> None:
        """Raise if the time limit is reached."""
        if time.monotonic() > self.deadline:
            raise OutOfTimeError

    @cached_property
    def X(self) -> Any:
        """The data."""
        return load(self.folder)

    @cached_property
    def spectrum(self) -> Spectrum:
        """Its decomposition."""
        return compute_spectrum(self.X)

    @cached_property
    def select(self) -> dict[str, Callable[[int], Selection]]:
        """Each method: a number of draws -> features and weights."""
        by_score = np.argsort(-self.spectrum.leverage_scores, kind="stable")
        functions = (
            *(self.bss(rule) for rule in RULES),
            self.sampled,
            lambda n_draws: (by_score[:n_draws], np.ones(n_draws)),
            lambda n_draws: (self.pivots[:n_draws], np.ones(n_draws)),
        )
        return dict(zip(METHODS, functions, strict=True))

    @cached_property
    def pivots(self) -> Any:
        """RRQR's order of features, up to the largest r."""
        return RRQRSelector(most_draws(self)).fit(self.X).selected_

    def bss(self, rule: str) -> Callable[[int], Selection]:
        """BSS by one of its rules."""

        def select(n_draws: int) -> Selection:
            found = sparsify(self.spectrum, n_draws, rule)
            return found.selected, found.weights

        return select

    def sampled(self, n_draws: int) -> Selection:
        """Independent draws."""
        selector = LeverageSelector(n_draws, random_state=0).fit(self.X)
        return selector.selected_, selector.weights_


def measure(data: DataSet, epsilon: float, seconds: float) -> None:
    """Measure a data set until the time limit."""
    say(data.name)
    data.deadline = time.monotonic() + seconds
    try:
        for method, polished in ROWS:
            found = smallest(data, method, polished, epsilon)
            say(f"{data.name}: {title(method, polished)}: {shown(data, found)}")
    except OutOfTimeError:
        say(f"{data.name}: out of time; the same command goes on from here")


def smallest(data: DataSet, method: str, polished: bool, epsilon: float) -> int | None:
    """The smallest r that reaches epsilon, or None. May raise OutOfTimeError.

    Starts at 1.6 times the rank, grows by half, then interpolates linearly between the last two,
    away from both ends.
    """
    _, _, rank = data.shape
    most, r, below = most_draws(data), min(int(1.6 * rank) + 1, most_draws(data)), None
    while (found := data.epsilon(method, polished, r)) > epsilon:
        if r == most:
            return None
        below, r = (r, found), min(int(1.5 * r) + 1, most)
    too_few, worse = below or (rank, 1.0)
    enough, better = r, found
    while enough - too_few > max(1, PRECISION * enough):
        share = min(max((worse - epsilon) / (worse - better), 0.2), 0.8)
        middle = min(max(round(too_few + share * (enough - too_few)), too_few + 1), enough - 1)
        found = data.epsilon(method, polished, middle)
        if found <= epsilon:
            enough, better = middle, found
        else:
            too_few, worse = middle, found
    return enough


def most_draws(data: DataSet) -> int:
    """The largest r tried."""
    _, d, rank = data.shape
    return min(MOST * rank, d - 1)


def table(sets: list[DataSet], options: argparse.Namespace) -> str:
    """All results as a Markdown table."""
    groups: dict[str, list[DataSet]] = {}
    for data in sets:
        if (data.name, "shape") in data.log.known:
            groups.setdefault(data.name if options.each else data.name.split("/")[0], []).append(
                data
            )
    lines = [
        [
            f"r / rank for epsilon <= {options.epsilon:g}",
            *(head(*group) for group in groups.items()),
        ],
        ["---"] * (len(groups) + 1),
    ]
    for method, polished in ROWS:
        cells = [cell(group, method, polished, options.epsilon) for group in groups.values()]
        lines.append([title(method, polished), *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def head(name: str, group: list[DataSet]) -> str:
    """Heading of a column: name and rank, or number of sets and range of ranks."""
    ranks = sorted(data.shape[2] for data in group)
    if len(group) == 1:
        return f"{Path(name).name} ({ranks[0]})"
    return f"{name}, median of {len(group)} ({ranks[0]}-{ranks[-1]})"


def cell(group: list[DataSet], method: str, polished: bool, epsilon: float) -> str:
    """A value, or the median over the sets."""
    found = []
    for data in group:
        try:
            found.append((data, smallest(data, method, polished, epsilon)))
        except OutOfTimeError:
            continue
    if len(found) == 1:
        return shown(*found[0])
    ratios = [r / data.shape[2] if r else math.inf for data, r in found]
    if not ratios:
        return ""
    median = statistics.median_low(ratios)
    missing = "" if len(found) == len(group) else f" ({len(found)} sets)"
    return (f"{median:.2f}" if math.isfinite(median) else f"> {MOST}") + missing


def shown(data: DataSet, n_draws: int | None) -> str:
    """A number of draws as a multiple of the rank."""
    rank = data.shape[2]
    return f"{n_draws / rank:.2f}" if n_draws else f"> {most_draws(data) / rank:.3g}"


def title(method: str, polished: bool) -> str:
    return f"{method}, polished" if polished else method


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def data_sets(folder: Path, name: str) -> Iterator[str]:
    """A data set, or all sets of a folder; prints a note if there are none."""
    if is_data_set(folder / name):
        yield name
        return
    inside = sorted((folder / name).glob("*/")) if (folder / name).is_dir() else []
    found = [path for path in inside if is_data_set(path)]
    if not found:
        say(f"{name}: not at hand ({folder / name})")
    for path in found:
        yield f"{name}/{path.name}"


def is_data_set(folder: Path) -> bool:
    return any((folder / file).exists() for file in ("vectors.dat", "X.npz"))


def load(folder: Path) -> Any:
    """A data set of the shared folder."""
    if (folder / "vectors.dat").exists():
        return read_techtc_folder(folder).data
    with np.load(folder / "X.npz") as file:
        if "X" in file:
            return file["X"]
    return sp.load_npz(folder / "X.npz")


if __name__ == "__main__":
    main()
