# SPDX-License-Identifier: BSD-3-Clause
"""The data's spectrum: column blocks of any container, K, V and S, leverage scores, rows of U.

This room knows containers and no algorithm.
"""

from ridgewise.spectrum._columns import Columns, as_columns, as_rows
from ridgewise.spectrum._containers import (
    as_dense,
    as_numeric,
    as_source,
    column_variances,
    header_of,
    is_outside,
    scaled_columns,
    select_columns,
)
from ridgewise.spectrum._expanded import Expanded, FeatureExpansion
from ridgewise.spectrum._parquet import open_parquet
from ridgewise.spectrum._spectrum import (
    Spectrum,
    TallSpectrum,
    WideSpectrum,
    compute_spectrum,
    rank_limit,
    scored_spectrum,
)

__all__ = [
    "Columns",
    "Expanded",
    "FeatureExpansion",
    "Spectrum",
    "TallSpectrum",
    "WideSpectrum",
    "as_columns",
    "as_dense",
    "as_numeric",
    "as_rows",
    "as_source",
    "column_variances",
    "compute_spectrum",
    "header_of",
    "is_outside",
    "open_parquet",
    "rank_limit",
    "scaled_columns",
    "scored_spectrum",
    "select_columns",
]
