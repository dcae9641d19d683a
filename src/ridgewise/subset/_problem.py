# SPDX-License-Identifier: BSD-3-Clause
"""The problem: which features make the ridge objective small, for which targets.

For a subset S of the features, K_S = X_S X_S^T and a positive semidefinite M, the objective is

    phi(S) = alpha tr M (K_S + alpha I)^-1.

For M = y y^T it is the minimum of ||y - X_S w||^2 + alpha ||w||^2 over w, the ridge objective
itself; M = Y Y^T adds up several targets. Other M stand for targets that are not observed.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dtrtri

from ridgewise._groups import Groups, resolve_groups
from ridgewise._typing import FloatArray, IndexArray, is_sparse
from ridgewise.spectrum import Columns, Spectrum, TallSpectrum, WideSpectrum, as_columns

EPS = float(np.finfo(np.float64).eps)
TARGETS = ("data", "y", "model")
ROUNDED_UP = 1 + 1e-12  # costs are sums: what fits but for rounding fits


@dataclass(frozen=True)
class Problem:
    """The objective phi, for any subset of the features, or of groups of them.

    Attributes
    ----------
    columns : Columns
        The features x_j. Of tall data, their coordinates in the span of X.
    factor : ndarray of shape (n, t)
        F in M = F F^T, projected onto the span of X.
    alpha : float
        Of these columns, which may be scaled by a power of two.
    constant : float
        The part of the objective that no feature reaches: tr M outside of the span of X.
    of_none, of_all : float
        The objective of no feature and of all features.
    slack : float
        What rounding errors of K, and so of M, can make of the objective.
    groups : Groups
        What is selected: features, or groups of them.
    """

    columns: Columns
    factor: FloatArray
    alpha: float
    constant: float
    of_none: float
    of_all: float
    slack: float
    groups: Groups

    @classmethod
    def of(
        cls,
        spectrum: Spectrum,
        target: str,
        alpha: float,
        Y: FloatArray | None = None,
        groups: Groups | None = None,
    ) -> "Problem":
        """The problem for a target ("data", "y", "model") and, unless it is "data", targets Y.

        Parameters
        ----------
        spectrum : Spectrum
            Of all features; with ``center``, Y must have means 0.
        target : {"data", "y", "model"}
        alpha : float
            Above 0: what a ridge model adds to the diagonal of K.
        Y : ndarray of shape (n, t), optional
        groups : Groups, optional
            Of features that are selected together.

        Examples
        --------
        >>> import numpy as np
        >>> from ridgewise.spectrum import compute_spectrum
        >>> spectrum = compute_spectrum(np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 1.0]]))
        >>> problem = Problem.of(spectrum, "y", 1.0, np.array([[1.0], [1.0]]))
        >>> problem.of_none, round(problem.of_all, 3), round(problem.objective(np.array([0])), 3)
        (2.0, 0.433, 1.1)
        """
        s2 = spectrum.singular_values**2
        G, constant = target_coordinates(spectrum, target, alpha, Y)
        columns, factor = located(spectrum, G)
        of_none = float(np.sum(G**2)) + constant
        n, d = spectrum.shape
        rounding = EPS * max(n, 4 * np.sqrt(d)) * (1 + float(s2[0]) / alpha)
        return cls(
            columns,
            factor,
            alpha * columns.scale**2,
            constant,
            of_none,
            float(np.sum(G**2 * (alpha / (alpha + s2))[:, None])) + constant,
            slack=float(rounding) * of_none,
            groups=resolve_groups(None, d) if groups is None else groups,
        )

    def objective(self, selected: IndexArray) -> float:
        """Phi of a subset, computed anew."""
        return self.relaxed(self.take(selected), selected, np.ones(len(selected)))[0]

    def take(self, chosen: IndexArray) -> FloatArray:
        """The columns of features, or groups."""
        return self.columns.take(self.groups.members(chosen))

    def relaxed(self, P: FloatArray, chosen: IndexArray, s: FloatArray) -> tuple[float, FloatArray]:
        """Phi for K_s = P diag(s) P^T, one s for each of those chosen; B = (K_s + alpha)^-1 F."""
        A = P * np.sqrt(np.repeat(s, self.groups.sizes[chosen]))
        H = A @ A.T
        H.flat[:: len(H) + 1] += self.alpha
        B: FloatArray = cho_solve(
            cho_factor(H, lower=True, overwrite_a=True, check_finite=False),
            self.factor,
            check_finite=False,
        )
        return self.alpha * float(np.vdot(self.factor, B)) + self.constant, B

    def share(self, objective: Any) -> Any:
        """How much of what all features do to the objective: 0 for no feature, 1 for all."""
        most = self.of_none - self.of_all
        if most <= self.slack:
            return np.ones_like(objective)
        return (self.of_none - objective) / most


def target_coordinates(
    spectrum: Spectrum, target: str, alpha: float, Y: FloatArray | None
) -> tuple[FloatArray, float]:
    """V^T F, for X = V S U^T, and tr M outside of the span of V."""
    s2 = spectrum.singular_values**2
    if target == "data":  # y ~ N(0, I + K / alpha): what the model of all features expects
        return np.diag(np.sqrt(1 + s2 / alpha)), float(spectrum.shape[0] - len(s2))
    assert Y is not None
    G = spectrum.V.T @ Y
    outside = max(float(np.sum(Y**2) - np.sum(G**2)), 0.0)
    if target == "y":
        return G, outside
    # The posterior of the model of all features: mean K (K + alpha)^-1 y and covariance
    # c (K - K (K + alpha)^-1 K), with the c of the largest likelihood, y^T (K + alpha)^-1 y / n.
    c = (float(np.sum(G**2 / (s2 + alpha)[:, None])) + outside / alpha) / spectrum.shape[0]
    mean = G * (s2 / (s2 + alpha))[:, None]
    return np.hstack([mean, np.diag(np.sqrt(c * alpha * s2 / (s2 + alpha)))]), 0.0


def located(spectrum: Spectrum, G: FloatArray) -> tuple[Columns, FloatArray]:
    """Columns, and F in their coordinates: of tall data, those of V, which are few."""
    if isinstance(spectrum, TallSpectrum):
        columns = as_columns((spectrum.U * spectrum.singular_values).T)
        columns.scale = 2.0 ** -np.round(np.log2(spectrum.singular_values[0]))
        return columns, G
    assert isinstance(spectrum, WideSpectrum)
    return spectrum.columns, spectrum.V @ G


@dataclass(frozen=True)
class Limits:
    """Which subsets are allowed: those that cost at most the budget, hold ``include``, ...

    Attributes
    ----------
    costs : ndarray of shape (d,)
        Of each feature, or group; ones where these are counted.
    budget : float
    include, exclude : ndarray of int
        Features, or groups, that every subset holds, and that none does.
    """

    costs: FloatArray
    budget: float
    include: IndexArray
    exclude: IndexArray

    @classmethod
    def count(cls, n_features: int, size: int) -> Self:
        """Any ``size`` of ``n_features`` features."""
        none: IndexArray = np.empty(0, dtype=np.intp)
        return cls(np.ones(n_features), size, none, none)

    @property
    def free(self) -> Any:
        """Of every feature whether it may be chosen or not."""
        free = np.ones(len(self.costs), dtype=bool)
        free[self.include] = free[self.exclude] = False
        return free

    @property
    def room(self) -> float:
        """What is left of the budget for free features."""
        return self.budget - float(self.costs[self.include].sum())


def priced(costs: FloatArray) -> FloatArray:
    """Costs to divide by: what costs nothing has a very small one, and comes first."""
    return np.maximum(costs, max(1e-12 * float(costs.max(initial=0)), 1e-300))


def squared_lengths(columns: Columns) -> FloatArray:
    """Squared lengths of the columns, centred if they are to be, and as stored: shape (2, d)."""
    return np.hstack(columns.map(_squared_lengths, columns.center, columns.scale))


def _squared_lengths(block: Any, center: bool, scale: float) -> FloatArray:
    if is_sparse(block):
        block = block.tocsc()
        if not block.has_canonical_format:
            block = block.copy()
            block.sum_duplicates()
        values, ones = block.data * float(scale), np.ones(block.shape[0])
        rows = sp.csr_array((values**2, block.indices, block.indptr), shape=block.shape[::-1])
        stored = rows @ ones
        if not center:
            return np.array([stored, stored])
        rows.data = values
        return np.array([np.maximum(stored - (rows @ ones) ** 2 / len(ones), 0), stored])
    block = block * scale if scale != 1 else block.astype(np.float64, copy=False)
    stored = np.einsum("ij,ij->j", block, block)
    if not center:
        return np.array([stored, stored])
    centred = block - block.mean(axis=0)
    return np.array([np.einsum("ij,ij->j", centred, centred), stored])


def inverse_root(kernel: FloatArray, alpha: float) -> FloatArray:
    """A root of (kernel + alpha)^-1 = root root^T."""
    H = kernel + alpha * np.eye(len(kernel))
    L = np.linalg.cholesky(H)
    root: FloatArray = dtrtri(L, lower=1)[0].T
    return root
