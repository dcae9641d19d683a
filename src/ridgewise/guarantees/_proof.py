# SPDX-License-Identifier: BSD-3-Clause
"""A proof of lower K <= K~ <= upper K: exact integers, and ball arithmetic.

Numbers in double precision are integers times powers of two. So K and K~ (or K + alpha and
K~ + alpha) are, up to a common factor, two integer matrices A and B, and computed without rounding.
That B - lower A and upper A - B are positive definite is then proved by Cholesky decompositions in
ball arithmetic, where every number carries a bound of its error: they succeed only if it is so.

Where A is singular (empty and duplicate samples, other exact dependencies), X = C X_P for some
independent samples P. Then K = C K_PP C^T and K~ = C K~_PP C^T, and a proof for P is one for all.
"""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ridgewise._typing import AnyArray, FloatArray
from ridgewise.guarantees._certificate import Certificate
from ridgewise.guarantees._interval import Selection
from ridgewise.spectrum import as_columns, rank_limit

try:
    import flint
except ImportError:  # an extra
    flint = None  # type: ignore[assignment]

PROVED = "proved in ball arithmetic"
PRECISIONS = (128, 256, 512, 1024, 2048)  # bits: the first that suffices is taken
SLACK = 2.0**-40  # of upper: by how much the interval is widened before it is proved
PRIME = 2**61 - 1
MOST_SAMPLES = 1000


class NotProvedError(ArithmeticError):
    """A matrix is not positive definite, or the precision is too low to prove that it is."""


def prove(certificate: Certificate, X: Any) -> Certificate:
    """Prove a certificate for X and the weights as stored, or note why that failed."""
    check_installed()
    selection, alpha = certificate.selection, certificate.alpha
    assert selection is not None
    if selection.cutoff is not None:  # exact arithmetic hides no singular values
        selection = replace(selection, rank=None, cutoff=None)
        certificate = replace(certificate, selection=selection)
    if selection.keeps_all:
        return replace(certificate, note=PROVED)
    unproved = replace(certificate, verified=False)
    if selection.rank is not None and alpha == 0:
        return replace(unproved, note="with rank=, it is about singular vectors that are rounded")
    if X.shape[0] > MOST_SAMPLES:
        return replace(unproved, note=f"a proof takes too long for over {MOST_SAMPLES} samples")
    try:
        A, B = exact_kernels(X, selection, alpha)
    except OverflowError:
        return replace(unproved, note="X, or the weights, are of too many orders of magnitude")
    lower, upper = estimated_interval(A, B)
    if lower <= 0 and math.isfinite(upper):
        return replace(unproved, lower=0.0, upper=upper, note="")
    if lower <= 0 or not is_proved(A, B, lower, upper):
        return replace(unproved, note=f"there is no proof with {PRECISIONS[-1]} bits")
    return replace(certificate, lower=lower, upper=upper, verified=True, note=PROVED)


def check_installed() -> None:
    """Raise if python-flint is not installed."""
    if flint is None:
        raise ImportError(
            "rigorous=True needs python-flint: pip install 'ridgewise[rigorous]'", name="flint"
        )


def is_proved(A: Any, B: Any, lower: float, upper: float) -> bool:
    """Whether lower A <= B <= upper A can be proved, strictly."""
    (p, q), (s, t) = lower.as_integer_ratio(), upper.as_integer_ratio()
    return is_definite(q * B - p * A) and is_definite(s * A - t * B)


def is_definite(M: Any) -> bool:
    """Whether an integer matrix is proved to be positive definite, at some precision."""
    return any(root_at(precision, M) is not None for precision in PRECISIONS)


def estimated_interval(A: Any, B: Any) -> tuple[float, float]:
    """The extreme eigenvalues of B against A, widened: what is left to prove.

    They are those of G = R B R^T with R A R^T = I, in as many bits as the condition of A takes;
    0 and infinity where there are not enough.
    """
    for precision in PRECISIONS:
        R = root_at(precision, A)
        if R is None:
            continue
        with flint.ctx.workprec(precision):
            G = (R * flint.arb_mat(B) * R.transpose()).entries()
        middle = np.array([float(entry.mid()) for entry in G]).reshape(R.nrows(), -1)
        radius = max(float(entry.rad()) for entry in G)
        if radius <= SLACK / 64 * np.abs(middle).max():
            smallest, largest = np.linalg.eigvalsh(middle)[[0, -1]].tolist()
            return smallest - SLACK * largest, largest + SLACK * largest
    return 0.0, math.inf


def root_at(precision: int, M: Any) -> Any:
    """`inverse_root` of an integer matrix in so many bits; None where they prove nothing."""
    with flint.ctx.workprec(precision):
        try:
            return inverse_root(flint.arb_mat(M))
        except NotProvedError:
            return None


def inverse_root(M: Any) -> Any:
    """R, lower triangular with R M R^T = I: the inverse of M's Cholesky factor, in balls.

    It exists only if M is positive definite, so that to compute it is a proof. By halves,
    M = [[F, E^T], [E, H]]: with R_F of F and Y = R_F E^T, H - Y^T Y is what remains.
    """
    n = M.nrows()
    if n == 1:
        if not M[0, 0] > 0:  # surely
            raise NotProvedError
        return flint.arb_mat([[M[0, 0].rsqrt()]])
    half, rows = n // 2, entries(M)
    R_F = inverse_root(flint.arb_mat(rows[:half, :half].tolist()))
    Y = R_F * flint.arb_mat(rows[:half, half:].tolist())
    H = flint.arb_mat(rows[half:, half:].tolist())
    R_H = inverse_root(H - Y.transpose() * Y)
    corner = -(R_H * (Y.transpose() * R_F))
    zeros = np.zeros((half, n - half), dtype=object)
    R = np.block([[entries(R_F), zeros], [entries(corner), entries(R_H)]])
    return flint.arb_mat(R.tolist())


# Exact kernels


def exact_kernels(X: Any, selection: Selection, alpha: float) -> tuple[Any, Any]:
    """Compute A and B; of all samples with alpha > 0, else of independent ones that span all.

    X = N 2^e and w = v 2^f with integers N and v, so K = N N^T 4^e, and K~ = N_S v N_S^T 4^e 2^f.
    Centred, both are multiplied by J / n = I - 1 1^T / n from either side.
    """
    columns, n = as_columns(X), X.shape[0]
    e = min((lowest_bit(block) for _, block in columns.dense_blocks()), default=0)
    f = min(lowest_bit(selection.w), 0)
    K = flint.fmpz_mat(n, n)
    for _, block in columns.dense_blocks():
        N = flint.fmpz_mat(integers(block, e).tolist())
        K += N * N.transpose()
    N_S, v = integers(columns.take(selection.indices), e), integers(selection.w, f)
    B = flint.fmpz_mat((N_S * v).tolist()) * flint.fmpz_mat(N_S.tolist()).transpose()
    if selection.center:
        J = flint.fmpz_mat((n * np.eye(n, dtype=object) - 1).tolist())
        K, B = J * K * J, J * B * J
    A = K * 2**-f
    if alpha == 0:
        rows = independent(K, rank_limit(n, X.shape[1], selection.center))
        A, B = (flint.fmpz_mat(entries(M)[np.ix_(rows, rows)].tolist()) for M in (A, B))
        return A, B
    shift = Fraction(alpha) / Fraction(2) ** (2 * e + f) * (n**2 if selection.center else 1)
    diagonal = flint.fmpz_mat((shift.numerator * np.eye(n, dtype=object)).tolist())
    return A * shift.denominator + diagonal, B * shift.denominator + diagonal


def lowest_bit(x: FloatArray) -> int:
    """The largest e for which all numbers are integers times 2^e."""
    mantissa, exponent = np.frexp(x[x != 0])
    whole = (mantissa * 2.0**53).astype(np.int64)
    last = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return int((exponent - 53 + last).min(initial=1024))


def integers(x: FloatArray, e: int) -> AnyArray:
    """The numbers divided by 2^e, exactly: an array of Python's integers."""
    with np.errstate(over="ignore"):  # to infinity, which is no integer: OverflowError
        return np.asarray(np.frompyfunc(int, 1, 1)(np.ldexp(x, -e)), dtype=object)


def entries(M: Any) -> AnyArray:
    """The entries of a matrix of python-flint."""
    return np.array(M.tolist(), dtype=object)


def independent(K: Any, most: int) -> list[int]:
    """Samples that are independent and span all others; ``most``: more cannot be independent.

    They are the pivots of elimination. What is independent modulo a prime is so; that others are
    dependent takes exact elimination, unless there are ``most`` already.
    """
    reduced, rank = flint.nmod_mat(K, PRIME).rref()
    if rank < most:
        reduced, _, rank = K.rref()
    return [next(j for j, x in enumerate(row) if int(x)) for row in reduced.tolist()[:rank]]
