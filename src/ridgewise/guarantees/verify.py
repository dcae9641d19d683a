# SPDX-License-Identifier: BSD-3-Clause
"""Whether a measured interval stands once rounding is accounted for: one pass over the data."""

import hashlib
import math
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ridgewise._typing import FloatArray, is_sparse
from ridgewise.guarantees.rounding import CertifiedInterval, certified_interval
from ridgewise.spectrum import (
    Columns,
    Spectrum,
    TallSpectrum,
    WideSpectrum,
    as_columns,
    is_outside,
)


class Defects(NamedTuple):
    """How far the computed V, S and U are from a decomposition of X; X = V S U^T + F."""

    residual_norm: float
    """||F||, in the norm of Frobenius."""
    residual_in_span: float
    """||V^T F||, likewise: small also where the rank was cut, and F is what was cut off."""
    data_norm: float
    """||X|| before its means were subtracted, which is what rounding is in proportion to."""
    orthogonality_error: float
    """||U^T U - I||."""
    triangle_error: float
    """||T - I|| in the norm of Frobenius, V = Q T with Q orthonormal and T upper triangular."""


def verified_interval(
    spectrum: Spectrum, lower: float, upper: float, *, max_weight: float, alpha: float = 0.0
) -> CertifiedInterval:
    """Widen a measured interval by the measured defects of the spectrum it came from.

    Parameters
    ----------
    spectrum : Spectrum
        Of the data.
    lower, upper : float
        The interval, as measured from this spectrum.
    max_weight : float
        The largest weight of the selection.
    alpha : float, default=0
        What was on the diagonal when the interval was measured.

    Returns
    -------
    CertifiedInterval
        With alpha = 0 it holds on the span of V, see `spans_everything`; else everywhere.

    Notes
    -----
    At alpha = 0 only (V S)^+ F counts, of norm ||V^T F|| / (smin (1 - ||T - I||)^2) at most. Else
    V S U^T = Q (S + (T - I) S) U^T: what V lacks in orthogonality acts like a residual (T - I) S.
    As T is upper triangular and S descends, it is at most ||T - I|| in the scale of S^2 + alpha.

    Examples
    --------
    >>> from ridgewise.spectrum import compute_spectrum
    >>> spectrum = compute_spectrum(np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 1.0]]))
    >>> interval = verified_interval(spectrum, 0.75, 1.0, max_weight=1.5)
    >>> interval.verified, 0 < 0.75 - interval.lower < 1e-12
    (True, True)
    """
    n_samples, _ = spectrum.shape
    defects, smin = measure_defects(spectrum), float(spectrum.singular_values[-1])
    t, residual = defects.triangle_error, defects.residual_in_span
    if t >= 1 or not math.isfinite(upper):
        return CertifiedInterval(0.0, math.inf)
    if alpha > 0:
        whole = spectrum.rank == n_samples
        scale = math.hypot(smin, math.sqrt(alpha)) if whole else math.sqrt(alpha)
        residual = defects.residual_norm + t * scale
    return certified_interval(
        lower,
        upper,
        rank=spectrum.rank,
        n_samples=n_samples,
        max_weight=max_weight,
        min_singular_value=smin if alpha > 0 else smin * (1 - t) ** 2,
        residual_norm=residual,
        data_norm=defects.data_norm,
        orthogonality_error=defects.orthogonality_error,
        alpha=alpha,
    )


def spans_everything(spectrum: Spectrum, X: Any, center: bool, rank: int | float | None) -> bool:
    """Whether nothing that could matter was cut off: V spans all of X, or all that was asked for.

    Singular values at rounding level count as zero, and rounding hides whether they are. They are,
    surely, where X has no more distinct rows, or columns, than the rank that was found. For these
    X must be in memory.
    """
    asked_for = isinstance(rank, Integral) and spectrum.rank == rank
    if asked_for or spectrum.rank < spectrum.numerical_rank:
        return True
    ceiling = min(X.shape[0] - center, X.shape[1])
    if spectrum.rank < ceiling and not is_outside(X):
        # rows less their mean: one dimension fewer than there are distinct ones
        rows = distinct_rows(X) - 1 if center else distinct_rows(X, ignore_zero=True)
        ceiling = min(ceiling, rows, distinct_rows(X.T, ignore_zero=True))
    return spectrum.rank >= ceiling


def measure_defects(spectrum: Spectrum) -> Defects:
    """Measure how far V, S and U are from a decomposition of X, block by block."""
    if isinstance(spectrum, TallSpectrum):
        return tall_defects(spectrum)
    assert isinstance(spectrum, WideSpectrum)
    return wide_defects(spectrum)


def wide_defects(spectrum: WideSpectrum) -> Defects:
    """Of wide data, where U = X^T V S^-1 is made block by block, and U^T U summed up."""
    columns, V = spectrum.columns, spectrum.V
    VS = V * (spectrum.singular_values * columns.scale)
    residual2 = in_span2 = data2 = 0.0
    gram = np.zeros((spectrum.rank, spectrum.rank))
    for _, block in columns.dense_blocks():
        U = block.T @ spectrum.projector
        gram += U.T @ U
        data2 += float(np.vdot(block, block))
        block -= VS @ U.T
        residual2 += float(np.vdot(block, block))
        in_span2 += float(np.sum((V.T @ block) ** 2))
    if columns.center:
        mean = columns.scale * column_means(columns.X)
        data2 += columns.shape[0] * float(mean @ mean)
    return finish(columns, residual2, in_span2, data2, gram, V.T @ V)


def tall_defects(spectrum: TallSpectrum) -> Defects:
    """Of tall data, where V S = X U is made block by block, and its products summed up."""
    rows, U = spectrum.columns, spectrum.U
    residual2 = data2 = 0.0
    products, projected = np.zeros((spectrum.rank, spectrum.rank)), np.zeros_like(U)
    for _, block in rows.dense_blocks():
        VS = block.T @ U
        products += VS.T @ VS
        data2 += float(np.vdot(block, block))
        block -= U @ VS.T
        residual2 += float(np.vdot(block, block))
        projected += block @ VS
    if rows.offset is not None:
        mean = rows.offset
        data2 += rows.shape[1] * float(mean @ mean)
    S = spectrum.singular_values * rows.scale
    in_span2 = float(np.sum((projected / S) ** 2))
    return finish(rows, residual2, in_span2, data2, U.T @ U, products / np.outer(S, S))


def finish(
    columns: Columns,
    residual2: float,
    in_span2: float,
    data2: float,
    UtU: FloatArray,
    VtV: FloatArray,
) -> Defects:
    """From sums to norms, of the data as it is, unscaled."""
    identity = np.eye(len(UtU))
    try:
        T = np.linalg.cholesky(VtV).T
    except np.linalg.LinAlgError:
        T = np.inf * np.eye(len(VtV))
    return Defects(
        math.sqrt(residual2) / columns.scale,
        math.sqrt(in_span2) / columns.scale,
        math.sqrt(data2) / columns.scale,
        float(np.abs(np.linalg.eigvalsh(UtU - identity)).max()),
        float(np.linalg.norm(T - identity)),
    )


def column_means(X: Any) -> FloatArray:
    """Means of the columns, in float64."""
    if is_outside(X):
        return np.concatenate(as_columns(X).map(column_means))
    return np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()


def distinct_rows(X: Any, *, ignore_zero: bool = False) -> int:
    """Count the distinct rows of an array or sparse array (by their digests: X is not copied)."""
    digests = set(sparse_digests(X)) if is_sparse(X) else {digest(row) for row in X}
    zero = digest() if is_sparse(X) else digest(np.zeros(X.shape[1], X.dtype))
    return len(digests - {zero}) if ignore_zero else len(digests)


def sparse_digests(X: Any) -> list[bytes]:
    """The digest of every row of a sparse array: of its non-zeros and their places."""
    rows = X.tocsr(copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return [
        digest(rows.indices[i:j], rows.data[i:j]) if i < j else digest()
        for i, j in pairwise(rows.indptr.tolist())
    ]


def digest(*parts: Any) -> bytes:
    """Tell arrays apart by 32 bytes."""
    found = hashlib.sha256()
    for part in parts:
        found.update(np.ascontiguousarray(part).tobytes())
    return found.digest()
