# SPDX-License-Identifier: BSD-3-Clause
"""Parquet, Feather (Arrow IPC) and Excel, by polars."""

import io
from pathlib import Path
from typing import Any

import numpy as np

from ridgewise._typing import AnyArray
from ridgewise.datasets.readers._grid import ROW_NAMES, Grid, Request, as_samples
from ridgewise.datasets.readers._names import nearest_name
from ridgewise.datasets.readers._raw import Options, Raw, listed, need, shortened
from ridgewise.datasets.readers._target import MISSING

UNNAMED = "__UNNAMED__"  # what calamine calls a column without a name
SMALL_TYPES = {"Float32", "Int8", "Int16", "UInt8", "UInt16", "Boolean", "Null"}  # in float32


def read_frame(path: Path, options: Options) -> Raw:
    """Read a Parquet, Feather or Excel file."""
    polars = need("polars", "cli", "Parquet, Feather and Excel files")
    notes: list[str] = []
    try:  # without glob: a * in a name is not a pattern
        if options.format == "parquet":
            frame = polars.read_parquet(path, glob=False)
        elif options.format == "excel":
            frame = _read_sheet(path, options, polars, notes)
        else:
            frame = polars.read_ipc(io.BytesIO(path.read_bytes()))
    except (ValueError, ImportError):
        raise
    except (Exception, polars.exceptions.PanicException) as error:
        raise ValueError(
            f"it is damaged, or not a file of format {options.format}: {error}"
        ) from error
    header = ["" if name.startswith(UNNAMED) else name for name in frame.columns]
    request = Request.of(header, options)
    raw = as_samples(_grid(frame, header, request, polars), request, options)
    raw.notes[:0] = notes
    return raw


def _read_sheet(path: Path, options: Options, polars: Any, notes: list[str]) -> Any:
    """Read a sheet: the one that the key names, or the first."""
    excel = need("fastexcel", "excel", "Excel files")
    sheets = excel.read_excel(path).sheet_names
    if options.key is not None and options.key not in sheets:
        known = f"it has {listed(sheets)}{nearest_name(options.key, sheets)}"
        raise ValueError(f"there is no sheet {shortened(options.key)}: {known}")
    sheet = options.key or sheets[0]
    if len(sheets) > 1 and options.key is None:
        others = ", ".join(shortened(name) for name in sheets[1:4])
        notes.append(f"Sheet {shortened(sheet)} was read; use the key for another: {others}.")
    reading = {"header_row": None if options.header is False else 0}
    frame = polars.read_excel(
        path, sheet_name=sheet, engine="calamine", read_options=reading, infer_schema_length=None
    )
    if options.header is False:
        frame.columns = [f"x{j}" for j in range(frame.width)]
    text = [column for column in frame if column.dtype == polars.String]
    return frame.with_columns(_as_numbers(column, polars) for column in text)


def _as_numbers(column: Any, polars: Any) -> Any:
    """Turn text to numbers where all of it is: one "NA" makes a whole column of Excel text."""
    text = column.str.strip_chars()
    text = text.set(text.str.to_lowercase().is_in(list(MISSING)), None)
    numbers = text.cast(polars.Float64, strict=False)
    return numbers if numbers.null_count() == text.null_count() else text


def _grid(frame: Any, header: list[str], request: Request, polars: Any) -> Grid:
    """Copy the columns to one array: float32 if it holds every feature's type, else float64."""
    others = {*request.ids, *request.drop, request.target}
    if header[request.names] in ROW_NAMES:
        others.add(request.names)
    extra = (polars.Boolean, polars.Null)
    is_number = np.array([dtype.is_numeric() or dtype in extra for dtype in frame.dtypes], bool)
    features = [place for place in np.flatnonzero(is_number) if place not in others]
    is_small = SMALL_TYPES.issuperset(str(frame.dtypes[place]) for place in features)
    values = np.empty(frame.shape, np.float32 if is_small else np.float64, order="F")
    for place, column in enumerate(frame.iter_columns()):
        values[:, place] = column.cast(polars.Float64).to_numpy() if is_number[place] else np.nan
    cells = {place: _as_array(frame.to_series(place)) for place in request.columns}
    text = np.flatnonzero(~is_number)
    texts = np.empty((len(text), len(frame)), dtype=object)
    for row, column in zip(texts, text, strict=True):
        row[:] = _as_array(frame.to_series(column))
    at, rows = np.nonzero(np.not_equal(texts, np.array(None)))
    return Grid(header, values, cells, rows, text[at], texts[at, rows])


def _as_array(column: Any) -> AnyArray:
    """Cells as numbers, or else as objects, None where missing."""
    if column.dtype.is_numeric():
        return np.asarray(column.to_numpy())
    cells = np.empty(len(column), dtype=object)
    cells[:] = [cell if cell is None else str(cell) for cell in column.to_list()]
    return cells
