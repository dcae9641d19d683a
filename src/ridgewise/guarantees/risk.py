# SPDX-License-Identifier: BSD-3-Clause
"""The risk of ridge regression in the fixed design setting."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ridgewise._typing import FloatArray
from ridgewise.guarantees._checks import check_not_negative


@dataclass(frozen=True)
class Risk:
    """The risk of ridge regression, in its two parts.

    Attributes
    ----------
    bias : float
        The squared error of the mean prediction.
    variance : float
        The share of the noise.
    """

    bias: float
    variance: float

    @property
    def total(self) -> float:
        """The risk itself: bias plus variance."""
        return self.bias + self.variance


def ridge_risk(K: ArrayLike, z: ArrayLike, noise_variance: float, alpha: float) -> Risk:
    """Compute the risk of ridge regression with kernel K at the training points.

    The targets are y = z + noise, with independent noise of one variance, and the risk is the
    expected ||K (K + alpha)^-1 y - z||^2 / n. For the risk after feature selection give the kernel
    of the selected, weighted features and the same z.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        The kernel: symmetric and positive semi-definite, up to rounding.
    z : array-like of shape (n_samples,)
        The mean of the targets.
    noise_variance : float
        The variance of the noise, at least 0.
    alpha : float
        What is added to the kernel's diagonal, at least 0: n times the paper's lambda. At 0 the
        inverse is the pseudo-inverse.

    Returns
    -------
    Risk
        Its `bias`, `variance` and `total`.

    Notes
    -----
    With the eigenvalues k_i of K and zeta_i the components of z along its eigenvectors,

        bias = 1/n sum (alpha / (k_i + alpha))^2 zeta_i^2,
        variance = noise_variance/n sum (k_i / (k_i + alpha))^2,

    which is the paper's R(K) with alpha = n lambda. Products such as K K (K + alpha)^-2 lose so
    many digits that they can break true inequalities; the eigenvalues do not.

    Examples
    --------
    >>> import numpy as np
    >>> risk = ridge_risk(np.diag([3.0, 1.0]), [2.0, 2.0], noise_variance=1.0, alpha=1.0)
    >>> risk.bias, risk.variance, risk.total
    (0.625, 0.40625, 1.03125)
    """
    alpha = check_not_negative("alpha", alpha)
    noise_variance = check_not_negative("noise_variance", noise_variance)
    kernel, precision = _check_kernel(K)
    k, V = np.linalg.eigh(kernel)
    if k.size and k[0] < -precision * max(k[-1], -k[0]):
        raise ValueError(f"expected a positive semi-definite K, got the eigenvalue {k[0]:.3g}")
    zeta = V.T @ _check_mean(z, len(k))
    # Without regularization an eigenvalue that is zero but for rounding must count as zero.
    k = np.where(k > (precision * k[-1] if alpha == 0 else 0.0), k, 0.0)
    kept = np.divide(k, k + alpha, out=np.zeros_like(k), where=k > 0)
    shrunk = np.divide(alpha, k + alpha, out=np.ones_like(k), where=k + alpha > 0)
    bias = float(np.sum((shrunk * zeta) ** 2)) / len(k)
    return Risk(bias, noise_variance * float(np.sum(kept**2)) / len(k))


def _check_kernel(K: ArrayLike) -> tuple[FloatArray, float]:
    """Return K as exactly symmetric floats, and how precise its eigenvalues are, relatively."""
    given = np.asarray(K)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.size == 0:
        raise ValueError(f"expected a square kernel K (n x n), got shape {given.shape}")
    # A kernel in single precision is symmetric and semi-definite to single precision only.
    single = given.dtype in (np.float16, np.float32)
    precision = 10 * len(given) * float(np.finfo(given.dtype if single else np.float64).eps)
    kernel = given.astype(np.float64)
    if not np.all(np.isfinite(kernel)):
        raise ValueError("expected a finite kernel K, got infinities or NaN")
    if np.abs(kernel - kernel.T).max() > precision * np.abs(kernel).max():
        raise ValueError("expected a symmetric kernel K = X X^T")
    return (kernel + kernel.T) / 2, precision


def _check_mean(z: ArrayLike, n: int) -> FloatArray:
    mean = np.asarray(z, dtype=np.float64)
    if mean.shape != (n,):
        raise ValueError(f"expected one mean for each of K's {n} samples, got shape {mean.shape}")
    if not np.all(np.isfinite(mean)):
        raise ValueError("expected a finite z, got infinities or NaN")
    return mean
