# SPDX-License-Identifier: BSD-3-Clause
"""From the cells of a table to samples and features."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from ridgewise._typing import AnyArray, BoolArray, FloatArray, IndexArray
from ridgewise.datasets.readers._names import as_names, find_column, find_columns, make_unique
from ridgewise.datasets.readers._raw import Options, Raw, count, listed, shortened
from ridgewise.datasets.readers._target import target_file

PANDAS_INDEX = "__index_level_0__"
# Names of a first column that has the row names
ROW_NAMES = ("", "Unnamed: 0", PANDAS_INDEX)
LEVELS_ALLOWED = 20  # of a category, however few samples there are
SAMPLES_PER_LEVEL = 4  # on average; with fewer it is free text

# Names and values of columns that are clearly not features: row numbers, splits, other targets
ID = re.compile(r"(.*[ _.-])?(id|ids|idx|index|row|rows|rownames|rownum|nr|no|number)", re.I)
SPLIT = re.compile(r"((is|in)[ _.-]?)?(train|training|test|testing|validation|split|holdout)", re.I)
PARTS = {"train", "training", "test", "testing", "val", "valid", "validation", "holdout", "dev"}
YES_NO = {"true", "false", "t", "f", "yes", "no", "y", "n", "0", "1", "0.0", "1.0"}
TARGET = re.compile(r"targets?|labels?|class(es)?|outcome|response", re.I)
LIKELY = re.compile("|".join(f"(?:{each.pattern})" for each in (ID, SPLIT, TARGET)), re.I)
FEWEST_ROWS = 5  # fewer could be consecutive by chance
NEIGHBOURS = 3  # names on either side: seven in alphabetical order are words of a vocabulary


@dataclass(frozen=True)
class Request:
    """The columns that the user named, and the one with row names, by index."""

    ids: list[int]
    names: int  # the column with row names, if there is one
    target: int | None  # if features are in columns
    target_row: str | None  # its name, if features are in rows
    drop: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, header: list[str], options: Options) -> Self:
        """Find the columns that the options name."""
        ids = [find_column(name, header, "column") for name in options.ids]
        names = header.index(PANDAS_INDEX) if PANDAS_INDEX in header else 0
        if options.in_rows:
            return cls(ids, (ids or [names])[0], None, options.target)
        target = None
        if options.target in header:
            target = find_column(str(options.target), header, "column")
        elif options.target is not None:
            target_file(options.target, header)  # raises if there is none: the name is misspelled
        drop = [place for name in options.drop for place in find_columns(name, header, "column")]
        return cls(ids, (ids or [names])[0], target, None, drop)

    @property
    def columns(self) -> list[int]:
        """The columns whose cells are kept as they are in the file."""
        places = {*self.ids, self.names, self.target}
        return sorted(place for place in places if place is not None)


@dataclass
class Grid:
    """The cells as numbers, and as text where they are not numbers or were requested."""

    columns: list[str]
    values: AnyArray  # of shape (rows, columns), NaN where missing or text
    cells: dict[int, AnyArray]  # of the requested columns, as they are in the file
    # the cells that are text
    text_rows: IndexArray
    text_columns: IndexArray
    texts: AnyArray
    target_row: AnyArray | None = None


def as_samples(grid: Grid, request: Request, options: Options) -> Raw:
    """Return samples, features and target."""
    if not len(grid.values):
        raise ValueError("it has column names and no rows below them")
    if options.in_rows:
        return _from_feature_rows(grid, request, options)
    return _from_sample_rows(grid, request, options)


def _from_sample_rows(grid: Grid, request: Request, options: Options) -> Raw:
    header = as_names(grid.columns)
    notes: list[str] = []
    names = request.names if request.ids else _guess_names(grid, request, notes)
    maybe = (*request.ids, *request.drop, names, request.target)
    taken = {place for place in maybe if place is not None}
    taken |= set(_left_out(grid, taken, options, notes))
    is_open = ~np.isin(grid.text_columns, list(taken))
    if options.categorical == "onehot":
        text = np.unique(grid.text_columns[is_open])
    else:
        text = _settle_text(grid, is_open, header, "column", options, notes)
    kept = np.setdiff1d(np.arange(len(header)), [*taken, *text])
    raw = Raw(
        X=grid.values[:, _as_slice(kept)],
        feature_names=header[kept],
        sample_names=None if names is None else as_names(grid.cells[names]),
        y=None if request.target is None else grid.cells[request.target],
        target_name=None if request.target is None else options.target,
        targets=grid.columns,
        notes=notes,
        dropped=frozenset(options.drop),
    )
    if options.categorical == "onehot" and len(text):
        _add_categories(raw, grid, text)
    return raw


def _left_out(grid: Grid, taken: set[int], options: Options, notes: list[str]) -> list[int]:
    """Find columns that are clearly not features, and note them."""
    for name in options.keep:
        find_columns(name, grid.columns, "column")
    likely = {place for place, name in enumerate(grid.columns) if LIKELY.fullmatch(name)}
    reasons = {}
    for place in sorted({0, *likely, *np.unique(grid.text_columns)} - taken):
        name, texts = grid.columns[place], grid.texts[grid.text_columns == place]
        if TARGET.fullmatch(name) and _is_in_vocabulary(place, grid.columns):
            continue
        why = _why_no_feature(place, name, grid.values[:, place], texts, options.target)
        if why is not None and name not in options.keep:
            reasons[place] = f"{shortened(name)} {why}"
    if reasons:
        notes.append(
            f"Left out, as not features: {'; '.join(reasons.values())}. "
            f"keep={grid.columns[next(iter(reasons))]!r} would keep it."
        )
    return list(reasons)


def _why_no_feature(
    place: int, name: str, numbers: AnyArray, texts: Iterable[str], target: str | None
) -> str | None:
    """Say why a column is clearly not a feature, or return None.

    ``numbers`` are its cells, NaN where they are missing or text; ``texts`` those that are text.
    """
    if target is not None and name != target and TARGET.fullmatch(name):
        return "is another target"
    texts = {text.strip().casefold() for text in texts}
    if texts <= PARTS and texts and not np.isfinite(numbers).any():
        return "marks training and test samples"
    if SPLIT.fullmatch(name):
        found = texts | {str(value) for value in np.unique(numbers[np.isfinite(numbers)])}
        return "marks training and test samples" if found <= PARTS | YES_NO else None
    is_id = ID.fullmatch(name) is not None
    if texts or len(numbers) < FEWEST_ROWS or not np.isfinite(numbers).all():
        return None
    if (place == 0 or is_id) and numbers[0] in (0, 1) and (np.diff(numbers) == 1).all():
        return "numbers the rows"
    is_whole = (numbers == np.trunc(numbers)).all()
    if is_id and is_whole and len(np.unique(numbers)) == len(numbers):
        return "has a different number for each sample"
    return None


def _is_in_vocabulary(place: int, columns: list[str]) -> bool:
    """Tell whether the names around a column are sorted, as the words of a vocabulary are."""
    around = columns[max(0, place - NEIGHBOURS) : place + NEIGHBOURS + 1]
    return len(around) > 2 * NEIGHBOURS and around == sorted(around)


def _add_categories(raw: Raw, grid: Grid, places: IndexArray) -> None:
    """Append the one-hot columns of columns with text, each such column one group."""
    header, _ = make_unique(as_names(grid.columns))
    blocks, groups = [raw.X], [None] * raw.X.shape[1]
    names = [] if raw.feature_names is None else raw.feature_names.tolist()
    for place in places:
        values, levels = _one_hot(header[place], grid, place)
        blocks.append(values.astype(raw.X.dtype))
        names += levels
        groups += [header[place]] * len(levels)
    raw.X, raw.feature_names = np.concatenate(blocks, axis=1), as_names(names)
    raw.groups = np.array(groups, dtype=object)
    n_columns = raw.X.shape[1] - blocks[0].shape[1]
    raw.notes.append(
        f"{count(len(places), 'text column')} one-hot encoded as {count(n_columns, 'column')}: "
        f"{listed(header[places])}."
    )


def _one_hot(name: str, grid: Grid, place: int) -> tuple[FloatArray, list[str]]:
    """Expand a column with text to one-hot columns, NaN where it is missing, and their names."""
    numbers, is_text = grid.values[:, place], grid.text_columns == place
    cells = np.array([f"{x:.15g}" for x in numbers], dtype=object)  # levels may look like numbers
    cells[grid.text_rows[is_text]] = grid.texts[is_text]
    is_there = ~np.isnan(numbers)
    is_there[grid.text_rows[is_text]] = True
    levels, codes = np.unique(cells[is_there].astype(str), return_inverse=True)
    if len(levels) > max(LEVELS_ALLOWED, len(cells) // SAMPLES_PER_LEVEL):
        raise ValueError(
            f"column {shortened(name)} has {count(len(levels), 'distinct value')} in "
            f"{count(len(cells), 'sample')}, too many for a category: "
            f"drop={name!r} leaves it out"
        )
    values = np.full((len(cells), len(levels)), np.nan)
    values[is_there] = codes[:, np.newaxis] == np.arange(len(levels))
    return values, [f"{name}={level}" for level in levels]


def _guess_names(grid: Grid, request: Request, notes: list[str]) -> int | None:
    """Find the column of sample names: the first, if it has no name or unique text."""
    place = request.names
    if place == request.target:
        return None
    name = grid.columns[place]
    n_texts = int((grid.text_columns == place).sum())
    is_unique_text = n_texts == len(grid.values) == len(set(grid.cells[place]))
    if name not in ROW_NAMES and not is_unique_text:
        return None
    column = "The first column, which has no name," if not name else f"Column {shortened(name)}"
    notes.append(f"{column} was used for the sample names.")
    return place


def _from_feature_rows(grid: Grid, request: Request, options: Options) -> Raw:
    notes: list[str] = []
    if options.categorical == "onehot":
        raise ValueError("categorical='onehot' needs samples in rows, and features are in rows")
    names, header = as_names(grid.cells[request.names]), as_names(grid.columns)
    target = np.flatnonzero(names == request.target_row)
    if len(target) > 1:
        raise ValueError(f"{len(target)} rows are named {shortened(request.target_row)}")
    taken = [request.names, *request.ids]
    is_open = ~np.isin(grid.text_columns, taken) & ~np.isin(grid.text_rows, target)
    # a column with mostly text describes the features; other text makes its row non-numeric
    n_texts = np.bincount(grid.text_columns[is_open], minlength=len(header))
    is_mostly = n_texts[grid.text_columns] > len(names) / 2
    text_columns = _settle_text(grid, is_open & is_mostly, header, "column", options, notes)
    text_rows = _settle_text(grid, is_open & ~is_mostly, names, "row", options, notes)
    columns = np.setdiff1d(np.arange(len(header)), [*taken, *text_columns])
    rows = np.setdiff1d(np.arange(len(names)), [*target, *text_rows])
    y = None
    if len(target):
        y = (grid.values[target[0]] if grid.target_row is None else grid.target_row)[columns]
    return Raw(
        X=grid.values[_as_slice(rows)][:, _as_slice(columns)].T,
        feature_names=names[rows],
        sample_names=header[columns],
        y=y,
        target_name=options.target if len(target) else None,
        targets=names.tolist(),
        notes=notes,
    )


def _settle_text(
    grid: Grid, mask: BoolArray, names: AnyArray, what: str, options: Options, notes: list[str]
) -> IndexArray:
    """Raise if columns or rows have text, or note that they are dropped; return their indices.

    The mask is of the cells with text, `what` is "column" or "row", and the names are of these.
    """
    places, texts = grid.text_columns if what == "column" else grid.text_rows, grid.texts[mask]
    found, first = np.unique(places[mask], return_index=True)
    if not len(found):
        return found
    if options.categorical == "error":
        is_are = f"{what} is" if len(found) == 1 else f"{what}s are"
        raise ValueError(
            f"{len(found):,} {is_are} not numeric: {listed(names[found])}, with "
            f"{shortened(texts[first[0]])}. Name the target with target=, sample names with "
            "ids=; categorical='onehot' expands all others, categorical='drop' leaves them out"
        )
    notes.append(f"{count(len(found), what)} with text dropped: {listed(names[found])}.")
    return found


def _as_slice(places: IndexArray) -> IndexArray | slice:
    """A slice if the places are contiguous, so that indexing copies nothing."""
    is_contiguous = len(places) > 0 and places[-1] - places[0] + 1 == len(places)
    return slice(places[0], places[-1] + 1) if is_contiguous else places
