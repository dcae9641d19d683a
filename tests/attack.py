# SPDX-License-Identifier: BSD-3-Clause
"""A random attack on everything that is claimed, with exact rational arithmetic.

    python -m tests.attack --cases 5000 --seed 0

Each case makes small data of some unkind sort (scales from 1e-300 to 1e300, offsets, nearly equal
samples, equal and zero features, centred or of low rank up to rounding, 1 to 12 samples), selects
features or groups of them, and checks against exact rationals:

- the interval of a selector's own ``certificate_`` and that of `certify` (where it is stated about
  the leading singular vectors, on those, with 120 digits),
- every bound of ``prediction_bound``, every sign that is called certain,
- the factors of ``risk_inflation``, and ``known_test_set_bound``,
- the bound of a `SubsetSelector` on all subsets: that it selected, and some others.

A claim is false if the exact value is outside, whatever the rounding. What is not claimed (a
certificate that says "not certified", an infinite bound, a ValueError) cannot be false.
"""

import argparse
import sys
import warnings
from collections import Counter

import numpy as np
from flint import fmpq, fmpq_mat
from mpmath import mp

from ridgewise import BSSSelector, LeverageSelector, SubsetSelector, certify


def main() -> None:
    """Run the attack, and print what was claimed and what was false."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts, false = attack(arguments.cases, arguments.seed)
    for claim, count in sorted(counts.items()):
        print(f"{claim:32} {count:8}")
    print(*false[:50], f"{len(false)} false claims", sep="\n")
    sys.exit(bool(false))


def attack(n_cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Attack so many cases: how many claims of each kind were checked, and which were false."""
    counts: Counter[str] = Counter()
    false: list[str] = []
    for number in range(seed * 10**6, seed * 10**6 + n_cases):
        case = Case(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case.run()
        counts.update(case.counts)
        false += [f"case {number} ({case.kind}, {case.X.shape}): {what}" for what in case.false]
    return counts, false


class Case:
    """One data set and a selection of its features, with what is exactly true of them."""

    def __init__(self, number: int) -> None:
        self.rng = np.random.default_rng(number)
        self.counts: Counter[str] = Counter()
        self.false: list[str] = []
        self.X, self.Q, self.kind = make_data(self.rng)
        self.y = self.rng.choice([-1.0, 1.0], size=len(self.X))
        self.center = bool(self.rng.random() < 0.5)

    def run(self) -> None:
        """Select, and check every claim."""
        size = float(np.linalg.norm(self.X))
        alpha = float(self.rng.choice([0.0, 0.0, 1e-6, 1e-2, 1.0]))
        with np.errstate(all="ignore"):
            alpha *= size * size / len(self.X)
        selector = self.selector(alpha)
        try:
            selector.fit(self.X, self.y)
        except (ValueError, ArithmeticError) as error:  # refused, or broken down: no claim
            self.counts[f"refused by fit: {type(error).__name__}"] += 1
            return
        self.indices = selector.selected_.tolist()
        self.weights = selector.feature_weights_.tolist()
        if isinstance(selector, SubsetSelector):
            self.check_subset(selector)
        own = selector.certificate_
        self.check_interval("fit", own, own.alpha, not own.note)
        try:
            certificate = certify(self.X, selector)
        except ValueError:
            self.counts["refused by certify"] += 1
            return
        self.check_interval("certify", certificate, certificate.alpha, certificate.verified)
        model_alpha = max(certificate.alpha, float(self.rng.choice([0.0, alpha, 3 * alpha])))
        for give in (own, certificate):
            self.attempt("predictions", self.check_predictions, give, model_alpha)
            self.attempt("risk", self.check_risk, give, model_alpha)
            if len(self.X) > 1 and not self.center:
                self.attempt("known test set", self.check_known, give, model_alpha)

    def selector(self, alpha: float) -> BSSSelector | LeverageSelector | SubsetSelector:
        """A selector of some kind, for as many features, or groups, as it may like."""
        n, d = self.X.shape
        choose, draws = self.rng.choice, int(self.rng.integers(1, max(2, min(d, 4 * n)) + 1))
        kind = choose(["bss", "leverage", "subset"], p=[0.6, 0.2, 0.2])
        wanted = "auto" if self.rng.random() < 0.5 else alpha
        labels = self.rng.integers(0, d, size=d) if self.rng.random() < 0.25 else None
        draws = draws if labels is None else min(draws, len(np.unique(labels)))
        shared = {"center": self.center, "groups": labels}
        if kind == "bss":
            rule, polish = str(choose(["norm", "slack", "ratio"])), bool(self.rng.random() < 0.3)
            return BSSSelector(draws, alpha=wanted, rule=rule, polish=polish, **shared)
        if kind == "leverage":
            sampling = str(choose(["top", "iid"]))
            return LeverageSelector(draws, alpha=alpha, sampling=sampling, random_state=0, **shared)
        target = str(choose(["data", "y", "model"]))
        return SubsetSelector(draws, target=target, alpha=wanted or "auto", **shared)

    def attempt(self, name, check, certificate, alpha) -> None:
        """Check, unless the claim is refused."""
        try:
            check(certificate, alpha)
        except ValueError:
            self.counts[f"refused: {name}"] += 1

    def claim(self, name: str, holds: bool, detail: str = "") -> None:
        """Count a claim, and note it where it is false."""
        self.counts[name] += 1
        if not holds:
            self.false.append(f"{name} {detail}")

    # What is true

    def kernels(self, alpha: float) -> tuple[fmpq_mat, fmpq_mat]:
        """K + alpha and K~ + alpha; at alpha = 0, of independent samples that span all."""
        X = rational(self.X)
        if self.center:
            X = centred(X)
        K, K_selected = weighted_kernel(X), weighted_kernel(X, self.indices, self.weights)
        if alpha > 0:
            shift = fmpq_mat(len(self.X), len(self.X))
            for i in range(len(self.X)):
                shift[i, i] = exact(alpha)
            return K + shift, K_selected + shift
        rows = pivots(K)
        return principal(K, rows), principal(K_selected, rows)

    def check_interval(self, name, certificate, alpha, claimed) -> None:
        """lower K <= K~ <= upper K, by the signs of exact eliminations."""
        if not claimed or certificate.lower <= 0:
            self.counts[f"{name}: nothing claimed"] += 1
            return
        if certificate.selection.rank is not None and alpha == 0:
            least, most = self.leading_interval(certificate.selection.rank)
            self.claim(f"{name}: leading, lower", certificate.lower <= least, f"{certificate!r}")
            self.claim(f"{name}: leading, upper", certificate.upper >= most, f"{certificate!r}")
            return
        K, K_selected = self.kernels(alpha)
        if certificate.selection.keeps_all:
            self.claim(f"{name}: all kept", K_selected == K)
            return
        lower, upper = exact(certificate.lower), exact(certificate.upper)
        self.claim(f"{name}: lower", is_definite(K_selected - lower * K), f"{certificate!r}")
        self.claim(f"{name}: upper", is_definite(upper * K - K_selected), f"{certificate!r}")

    def leading_interval(self, rank: int) -> tuple[mp.mpf, mp.mpf]:
        """The extreme eigenvalues of K~ against K on the leading singular vectors of X."""
        X = centred(rational(self.X)) if self.center else rational(self.X)
        K, K_selected = weighted_kernel(X), weighted_kernel(X, self.indices, self.weights)
        size = max(abs(K[i, i]) for i in range(K.nrows()))
        k, V = mp.eigsy(high_precision(K, size))  # ascending
        P = V[:, V.cols - rank :] * mp.diag([1 / mp.sqrt(value) for value in k[len(k) - rank :]])
        found = mp.eigsy(P.T * high_precision(K_selected, size) * P, eigvals_only=True)
        return min(found) * (1 + mp.mpf(10) ** -60), max(found) * (1 - mp.mpf(10) ** -60)

    def predictions(self, alpha: float, indices, weights, X=None, Q=None, y=None) -> list[fmpq]:
        """What the model on these features predicts for the test points."""
        X, Q = rational(self.X if X is None else X), rational(self.Q if Q is None else Q)
        y = [exact(value) for value in (self.y if y is None else y)]
        n, intercept = len(y), fmpq(0)
        if self.center:
            means = column_means(X)
            X, Q = less(X, means), less(Q, means)
            intercept = sum(y, fmpq(0)) / n
            y = [value - intercept for value in y]
        K = weighted_kernel(X, indices, weights)
        if alpha > 0:
            for i in range(n):
                K[i, i] += exact(alpha)
        coef = least_squares(K, y)
        K_test = part(Q, indices, weights) * part(X, indices, [1.0] * len(indices)).transpose()
        found = K_test * coef
        return [found[i, 0] + intercept for i in range(Q.nrows())]

    def check_predictions(self, certificate, alpha: float) -> None:
        """abs(f~ - f) <= bound, and signs that are certain."""
        report = certificate.prediction_bound(self.X, self.y, self.Q, alpha)
        d = self.X.shape[1]
        full = self.predictions(alpha, range(d), [1.0] * d)
        reduced = self.predictions(alpha, self.indices, self.weights)
        for i, (f, g) in enumerate(zip(full, reduced, strict=True)):
            if np.isnan(report.bound[i]):
                self.claim("predictions: a number", False)
            if np.isfinite(report.bound[i]):
                detail = f"{rounded(abs(f - g)):.3g} above {report.bound[i]:.3g}, alpha {alpha:.3g}"
                self.claim("predictions: bound", abs(f - g) <= exact(report.bound[i]), detail)
            if report.sign_certain[i]:
                same = (f > 0) == (report.selected[i] > 0) and f != 0
                self.claim("predictions: sign", same, f"alpha {alpha:.3g}")

    def check_risk(self, certificate, alpha: float) -> None:
        """Bias and variance of the selected features against those of all, for some means."""
        inflation = certificate.risk_inflation(self.X, alpha)
        if alpha == 0:  # both biases are 0, and the variance is the rank
            return
        K, K_selected = self.kernels(alpha)
        X = rational(self.X)
        X = centred(X) if self.center else X
        z = X * fmpq_mat([[exact(v)] for v in self.rng.normal(size=self.X.shape[1])])
        before, after = (squared(M.solve(z)) for M in (K, K_selected))
        if np.isfinite(inflation.bias):
            self.claim("risk: bias", after <= before * exact(inflation.bias), f"alpha {alpha:.3g}")
        if np.isfinite(inflation.bias_bound):
            holds = after <= before * exact(inflation.bias_bound)
            self.claim("risk: bias bound", holds, f"alpha {alpha:.3g}")
        n = len(self.X)
        hats = []
        for M in (K, K_selected):
            H = M.inv()
            H = fmpq_mat([[(i == j) - exact(alpha) * H[i, j] for j in range(n)] for i in range(n)])
            hats.append(sum((H[i, j] ** 2 for i in range(n) for j in range(n)), fmpq(0)))
        if np.isfinite(inflation.variance) and hats[0] > 0:
            self.claim("risk: variance", hats[1] <= hats[0] * exact(inflation.variance))

    def check_known(self, certificate, alpha: float) -> None:
        """The bound for the last samples as known test points."""
        m = int(self.rng.integers(1, len(self.X)))
        X, Q, y = self.X[:m], self.X[m:], self.y[:m]
        bound = certificate.known_test_set_bound(X, y, Q, alpha).total
        d = self.X.shape[1]
        full = self.predictions(alpha, range(d), [1.0] * d, X, Q, y)
        reduced = self.predictions(alpha, self.indices, self.weights, X, Q, y)
        for i, (f, g) in enumerate(zip(full, reduced, strict=True)):
            if np.isfinite(bound[i]):
                detail = f"{rounded(abs(f - g)):.3g} above {bound[i]:.3g}, alpha {alpha:.3g}"
                self.claim("known test set: bound", abs(f - g) <= exact(bound[i]), detail)

    def check_subset(self, selector: SubsetSelector) -> None:
        """No subset of so many features, or groups, has an objective below the bound."""
        if selector.optimality_ is None:
            return
        n, d = self.X.shape
        alpha, bound = exact(selector.alpha_), exact(selector.optimality_.bound)
        groups = np.arange(d) if selector.groups is None else selector.groups
        labels = np.unique(groups)
        subsets = [np.isin(np.arange(d), selector.selected_)]
        for _ in range(3):
            chosen = self.rng.choice(labels, size=len(selector.weights_), replace=False)
            subsets.append(np.isin(groups, chosen))
        K, M = self.kernels(float(selector.alpha_))[0], self.targets(selector.target, alpha)
        for subset in subsets:
            left_out = np.flatnonzero(~subset)
            X = centred(rational(self.X)) if self.center else rational(self.X)
            K_S = K - weighted_kernel(X, left_out, [1.0] * len(left_out)) if len(left_out) else K
            R = K_S.solve(M)
            objective = alpha * sum((R[i, i] for i in range(n)), fmpq(0))
            detail = f"{rounded(objective):.17g} below {selector.optimality_.bound:.17g}, "
            self.claim("subset: bound", objective >= bound, detail + f"{selector}")

    def targets(self, target: str, alpha: fmpq) -> fmpq_mat:
        """M, for the objective alpha tr M (K_S + alpha)^-1."""
        n = len(self.X)
        X = centred(rational(self.X)) if self.center else rational(self.X)
        K, y = X * X.transpose(), fmpq_mat([[exact(value)] for value in self.y])
        y = centred(y) if self.center else y
        unit = fmpq_mat([[fmpq(int(i == j)) for j in range(n)] for i in range(n)])
        if target == "data":
            return unit + (1 / alpha) * K
        if target == "y":
            return y * y.transpose()
        H = (K + alpha * unit).inv()
        predicted, spread = K * H * y, (y.transpose() * H * y)[0, 0] / n
        return predicted * predicted.transpose() + spread * (K - K * H * K)


# Data

KINDS = "plain", "offset", "near", "columns", "zeros", "wide", "counts", "centred", "low rank"


def make_data(rng):
    """Data of some unkind sort, test points like it, and the sort's name."""
    n, d = int(rng.integers(1, 13)), int(rng.integers(1, 25))
    X, Q = rng.normal(size=(n, d)), rng.normal(size=(4, d))
    kind = str(
        rng.choice(
            ["plain", "offset", "near", "columns", "zeros", "wide", "counts", "centred", "low rank"]
        )
    )
    if kind == "offset":
        offset = 10.0 ** rng.uniform(0, 9)
        X, Q = X + offset, Q + offset
    elif kind == "near" and n > 1:
        X[0] = X[1] + 10.0 ** rng.uniform(-15, -1) * rng.normal(size=d)
    elif kind == "columns":
        X = X[:, rng.integers(0, d, size=d)]
    elif kind == "zeros":
        X *= rng.random((n, d)) < 0.4
    elif kind == "wide":
        X *= np.exp(rng.uniform(0, 15) * rng.normal(size=(n, 1)) / 3)
    elif kind == "counts":
        X, Q = rng.poisson(0.7, size=(n, d)) * 1.0, rng.poisson(0.7, size=(4, d)) * 1.0
    elif kind == "centred":
        means = X.mean(axis=0)
        X, Q = X - means, Q - means
    elif kind == "low rank":
        left = rng.normal(size=(n, int(rng.integers(1, 7))))
        X = (left * 10.0 ** rng.uniform(-8, 0, size=left.shape[1])) @ rng.normal(
            size=(left.shape[1], d)
        )
    scale = 10.0 ** (rng.uniform(-300, 300) if rng.random() < 0.3 else 0.0)
    return X * scale, Q * scale, kind


# Exact arithmetic


def exact(x: float) -> fmpq:
    """A float as the rational number that it is."""
    return fmpq(*float(x).as_integer_ratio())


def rounded(x: fmpq) -> float:
    """A rational number as a float (python-flint has this from 0.8 on)."""
    return int(x.p) / int(x.q)


def rational(X) -> fmpq_mat:
    """An array of floats, exactly."""
    return fmpq_mat([[exact(x) for x in row] for row in np.asarray(X).tolist()])


def high_precision(M: fmpq_mat, size: fmpq) -> mp.matrix:
    """M / size, with 120 digits."""
    mp.dps = 120
    rows = [[x / size for x in row] for row in M.tolist()]
    return mp.matrix([[mp.mpf(int(x.p)) / int(x.q) for x in row] for row in rows])


def column_means(X: fmpq_mat) -> list[fmpq]:
    """Means of the columns."""
    rows, n = X.tolist(), X.nrows()
    return [sum((row[j] for row in rows), fmpq(0)) / n for j in range(X.ncols())]


def less(X: fmpq_mat, means: list[fmpq]) -> fmpq_mat:
    """Less these means."""
    return fmpq_mat([[x - m for x, m in zip(row, means, strict=True)] for row in X.tolist()])


def centred(X: fmpq_mat) -> fmpq_mat:
    """Less the means of the columns."""
    return less(X, column_means(X))


def part(X: fmpq_mat, indices, weights) -> fmpq_mat:
    """Columns of X, each times its weight."""
    rows = X.tolist()
    if len(indices) == 0:
        return fmpq_mat(len(rows), 0)
    w = [exact(weight) for weight in weights]
    return fmpq_mat([[row[j] * w[k] for k, j in enumerate(indices)] for row in rows])


def weighted_kernel(X: fmpq_mat, indices=None, weights=None) -> fmpq_mat:
    """X_S diag(w) X_S^T; without a selection, X X^T."""
    if indices is None:
        return X * X.transpose()
    return part(X, indices, weights) * part(X, indices, [1.0] * len(indices)).transpose()


def pivots(K: fmpq_mat) -> list[int]:
    """Samples that are independent, and span all others."""
    reduced, rank = K.rref()
    return [next(j for j, x in enumerate(row) if x != 0) for row in reduced.tolist()[:rank]]


def principal(M: fmpq_mat, rows: list[int]) -> fmpq_mat:
    """The principal submatrix."""
    return fmpq_mat([[M[i, j] for j in rows] for i in rows]) if rows else fmpq_mat(0, 0)


def is_definite(M: fmpq_mat) -> bool:
    """Whether a symmetric matrix is positive semi-definite, by exact elimination."""
    rows = M.tolist()
    for k in range(len(rows)):
        pivot = rows[k][k]
        if pivot < 0:
            return False
        if pivot == 0:
            if any(rows[i][k] != 0 for i in range(k, len(rows))):
                return False
            continue
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / pivot
            rows[i] = [x - factor * p for x, p in zip(rows[i], rows[k], strict=True)]
    return True


def least_squares(K: fmpq_mat, y: list[fmpq]) -> fmpq_mat:
    """K^+ y, for a symmetric positive semi-definite K."""
    rows = pivots(K)
    n = len(y)
    if not rows:
        return fmpq_mat(n, 1)
    # K = C K_P C^T with C = K[:, P] K_PP^-1: K^+ y = C (C^T C)^-1 K_PP^-1 (C^T C)^-1 C^T y
    K_P = principal(K, rows)
    C = fmpq_mat([[K[i, j] for j in rows] for i in range(n)]) * K_P.inv()
    CtC = C.transpose() * C
    right = CtC.solve(C.transpose() * fmpq_mat([[value] for value in y]))
    return C * CtC.solve(K_P.solve(right))


def squared(v: fmpq_mat) -> fmpq:
    """The squared norm of a column."""
    return sum((v[i, 0] ** 2 for i in range(v.nrows())), fmpq(0))


if __name__ == "__main__":
    main()
