# SPDX-License-Identifier: BSD-3-Clause
"""Parquet and Feather (Arrow IPC), by polars."""

import io
from pathlib import Path
from typing import Any

import numpy as np

from ridgewise._typing import AnyArray
from ridgewise.datasets.readers._grid import ROW_NAMES, Grid, Request, as_samples
from ridgewise.datasets.readers._raw import Options, Raw, need

SMALL_TYPES = ("Float32", "Int8", "Int16", "UInt8", "UInt16")


def read_frame(path: Path, options: Options) -> Raw:
    """Read a Parquet or Feather file."""
    polars = need("polars", "cli", "Parquet and Feather files")
    try:  # neither takes a name with a * in it for several files
        if options.format == "parquet":
            frame = polars.read_parquet(path, glob=False)
        else:
            frame = polars.read_ipc(io.BytesIO(path.read_bytes()))
    except (Exception, polars.exceptions.PanicException) as error:
        raise ValueError(f"it is damaged, or no {options.format} file: {error}") from error
    request = Request.of(frame.columns, options)
    return as_samples(_grid(frame, request, polars), request, options)


def _grid(frame: Any, request: Request, polars: Any) -> Grid:
    """The columns as numbers, one by one: a single copy, whatever types they have."""
    is_number = [_is_number(dtype, polars) for dtype in frame.dtypes]
    values = np.empty(frame.shape, dtype=_common_type(frame, request, polars), order="F")
    for place, column in enumerate(frame.iter_columns()):
        values[:, place] = column.cast(polars.Float64).to_numpy() if is_number[place] else np.nan
    text = np.flatnonzero(~np.array(is_number, dtype=bool))
    columns = [_as_array(frame.to_series(place)) for place in text]
    places = [np.flatnonzero([cell is not None for cell in column]) for column in columns]
    parts = [column[place] for column, place in zip(columns, places, strict=True)]
    return Grid(
        columns=frame.columns,
        values=values,
        cells={place: _as_array(frame.to_series(place)) for place in request.columns},
        text_rows=np.concatenate([*places, text[:0]]),
        text_columns=np.repeat(text, [len(part) for part in parts]),
        texts=np.concatenate([*parts, np.zeros(0, dtype=object)]),
    )


def _is_number(dtype: Any, polars: Any) -> bool:
    return bool(dtype.is_numeric() or dtype in (polars.Boolean, polars.Null))


def _common_type(frame: Any, request: Request, polars: Any) -> type[np.floating[Any]]:
    """float32 if it holds every feature's type, else float64."""
    others = {*request.ids, request.target}
    if frame.columns[request.names] in ROW_NAMES:
        others.add(request.names)
    dtypes = {dtype for place, dtype in enumerate(frame.dtypes) if place not in others}
    small = (*SMALL_TYPES, "Boolean", "Null")
    holds_all = all(
        dtype in [getattr(polars, name) for name in small]
        for dtype in dtypes
        if _is_number(dtype, polars)
    )
    return np.float32 if holds_all else np.float64


def _as_array(column: Any) -> AnyArray:
    """Cells as they are: numbers as an array of numbers, else objects, None where missing."""
    if column.dtype.is_numeric():
        return np.asarray(column.to_numpy())
    cells = np.empty(len(column), dtype=object)
    cells[:] = [cell if cell is None else str(cell) for cell in column.to_list()]
    return cells
