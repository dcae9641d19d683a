# SPDX-License-Identifier: BSD-3-Clause
"""Delimited text: a batch of lines is parsed as one long column, then reshaped to a matrix.

Not ``polars.read_csv``, which parses column by column: for 200 x 50,000 cells it takes 1.7 times as
long and 5 times the memory (one thread; ``benchmarks/readers.py`` has more readers).
"""

import csv
import re
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np

from ridgewise._typing import AnyArray, BoolArray, FloatArray, IndexArray
from ridgewise.datasets.readers._grid import Grid, Request, as_samples
from ridgewise.datasets.readers._opening import open_text
from ridgewise.datasets.readers._raw import Options, Raw, count, need
from ridgewise.datasets.readers._target import MISSING

BATCH = 2**20  # characters: larger batches are no faster, and take more memory
CELL_END = "\x1f"  # ASCII's unit separator, between cells once quotes are resolved
DELIMITERS = (",", "\t", ";")
QUOTED = re.compile(r'"[^"]*"?')
NONE = np.zeros(0, dtype=np.intp)


def read_delimited(path: Path, options: Options) -> Raw:
    """Read a CSV or TSV file."""
    if options.delimiter is not None and len(options.delimiter) != 1:
        raise ValueError(f"delimiter must be one character; got {options.delimiter!r}")
    delimiter = options.delimiter or ("\t" if options.format == "tsv" else None)
    with open_text(path, options.encoding) as stream:
        records = Records(stream, delimiter)
        header, first, notes = _header(records, options)
        request = Request.of(header, options)
        cells = Cells(header, request, decimal_comma=records.delimiter == ";")
        for batch in _batches(records, first, len(header)):
            cells.add(batch)
    raw = as_samples(cells.grid(), request, options)
    raw.notes[:0] = notes
    raw.decimal_comma = cells.decimal_comma
    return raw


class Records:
    """The records of delimited text: one line each, or several where a quoted cell has line breaks.

    Each is one string, its cells separated by `CELL_END`. ``line`` is the last line read.
    """

    def __init__(self, stream: IO[str], delimiter: str | None) -> None:
        self.line = 0
        self._lines = self._numbered(stream)
        first = next(self._lines, "")
        self.delimiter = delimiter or max(DELIMITERS, key=QUOTED.sub("", first).count)
        self._lines = chain([first] if first else [], self._lines)

    def _numbered(self, stream: IO[str]) -> Iterator[str]:
        for line in stream:
            self.line += 1
            if not line.isspace():  # also skips rows of empty cells between tabs
                yield line

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            if '"' not in line:
                yield line.rstrip("\r\n").replace(self.delimiter, CELL_END)
                continue
            start = self.line
            lines = chain([line], self._lines)  # csv reads more of them if a cell has line breaks
            try:
                yield CELL_END.join(next(csv.reader(lines, delimiter=self.delimiter, strict=True)))
            except csv.Error as error:
                raise ValueError(f"the quotes on line {start} do not match: {error}") from error


def _header(records: Records, options: Options) -> tuple[list[str], list[str], list[str]]:
    """Return the column names, the records read so far that are data, and notes.

    By default the first line has the names, unless all its cells are numbers that do not increase:
    names that are numbers (wavelengths, or the 0, 1, 2, ... of pandas) increase.
    """
    first = next(iter(records), None)
    if first is None:
        raise ValueError("it has only blank lines")
    names = first.split(CELL_END)
    if options.header is False or (options.header is None and _is_data(names)):
        note = "The first line has only numbers: read as data."
        notes = [] if options.header is False else [note]
        return [f"x{j}" for j in range(len(names))], [first], notes
    names = [name.strip() for name in names]
    second = next(iter(records), None)
    if second is None:
        raise ValueError("it has a header and no rows below it")
    if second.count(CELL_END) == len(names):  # as R writes row names
        names.insert(0, "")
    return names, [second], []


def _is_data(names: list[str]) -> bool:
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    return any(right <= left for left, right in pairwise(numbers))


def _batches(records: Records, first: list[str], n_columns: int) -> Iterator[list[str]]:
    """Yield lists of records of about `BATCH` characters; check the number of cells."""
    batch, size = [], 0
    for record in chain(first, records):
        n_cells = record.count(CELL_END) + 1
        if n_cells != n_columns:
            raise ValueError(
                f"line {records.line} has {count(n_cells, 'cell')} and there are "
                f"{count(n_columns, 'column')}: is the file truncated, or its delimiter wrong?"
            )
        batch.append(record)
        size += len(record)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class Cells:
    """Collects batches of records: numbers, and the text of cells that are not numbers."""

    def __init__(self, header: list[str], request: Request, *, decimal_comma: bool) -> None:
        self.polars = need("polars", "cli", "CSV and TSV files")
        self.header, self.request, self.decimal_comma = header, request, decimal_comma
        self.n_rows = 0
        self.values: FloatArray = np.empty((0, len(header)))
        self.kept: dict[int, list[AnyArray]] = {column: [] for column in request.columns}
        self.target_row: AnyArray | None = None
        self.texts: list[tuple[IndexArray, IndexArray, AnyArray]] = [(NONE, NONE, NONE)]

    def add(self, batch: list[str]) -> None:
        """Parse a batch."""
        n_rows, n_columns = len(batch), len(self.header)
        cells = self.polars.Series([CELL_END.join(batch)]).str.split(CELL_END).explode()
        numbers = cells.cast(self.polars.Float64, strict=False)
        block = numbers.to_numpy()
        failed = np.flatnonzero(numbers.is_null().to_numpy())
        if len(failed):
            block = block.copy()
            block[failed], is_text, texts = self._look_again(cells.gather(failed))
            rows, columns = np.divmod(failed[is_text], n_columns)
            self.texts.append((rows + self.n_rows, columns, texts))
        self._keep(cells)
        self._append(block.reshape(n_rows, n_columns))

    def _append(self, block: FloatArray) -> None:
        stop = self.n_rows + len(block)
        if stop > len(self.values):
            # in place where possible: concatenating at the end would take twice the memory
            self.values.resize((stop + stop // 4, len(self.header)), refcheck=False)
        self.values[self.n_rows : stop] = block
        self.n_rows = stop

    def _look_again(self, cells: Any) -> tuple[FloatArray, BoolArray, AnyArray]:
        """Parse cells that the cast could not: spaces, booleans, decimal commas, missing values."""
        text = cells.str.strip_chars()
        folded = text.str.to_lowercase()
        plain = folded.str.replace_all(",", ".", literal=True) if self.decimal_comma else folded
        numbers = plain.cast(self.polars.Float64, strict=False).to_numpy().copy()
        numbers[(folded == "true").to_numpy()] = 1
        numbers[(folded == "false").to_numpy()] = 0
        is_text = np.isnan(numbers) & ~folded.is_in(list(MISSING)).to_numpy()
        return numbers, is_text, text.to_numpy()[is_text]

    def _keep(self, cells: Any) -> None:
        """Keep the text of the columns asked for, and of the row that is the target."""
        n_columns = len(self.header)
        for column, parts in self.kept.items():
            parts.append(cells.gather_every(n_columns, column).to_numpy())
        if self.request.target_row is not None:
            names = self.kept[self.request.names][-1]
            for row in np.flatnonzero(names == self.request.target_row):
                self.target_row = cells.slice(row * n_columns, n_columns).to_numpy()

    def grid(self) -> Grid:
        """Return the whole table."""
        self.values.resize((self.n_rows, len(self.header)), refcheck=False)
        cells = {column: np.concatenate(parts) for column, parts in self.kept.items()}
        rows, columns, texts = (np.concatenate(parts) for parts in zip(*self.texts, strict=True))
        return Grid(self.header, self.values, cells, rows, columns, texts, self.target_row)
