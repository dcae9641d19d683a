# SPDX-License-Identifier: BSD-3-Clause
"""Draws among sparse rows times a basis are those among the rows themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from ridgewise.barrier import RULES, ArrayVectors, sparsify, sparsify_plain
from ridgewise.barrier import _at_hand as at_hand
from ridgewise.barrier import _compiled as compiled
from ridgewise.barrier import _sparse_rows as sparse_rows_module
from ridgewise.spectrum import compute_spectrum

pytestmark = pytest.mark.usefixtures("by_compiled_code")

KINDS = ("counts", "one non-zero", "multiples", "scales", "ill-conditioned", "rank-deficient")


class SparseVectors(ArrayVectors):
    """The rows of X V S^-1, X = U S V^T sparse: what a spectrum makes of sparse data."""

    def __init__(self, X):
        X = np.asarray(X, dtype=float)
        _, s, Vt = np.linalg.svd(X, full_matrices=False)
        rank = int(np.count_nonzero(s > 1e-9 * s[0]))
        basis = Vt[:rank].T / s[:rank]
        super().__init__(X @ basis)
        self.basis, self.X, self.taken = basis, csr_array(X), []

    def sparse_rows(self, indices):
        return self.X[indices]

    def take(self, indices):
        self.taken.append(len(indices))
        return super().take(indices)


def sparse_data(kind, rng):
    """Rows with few non-zeros, n columns."""
    n, d = int(rng.integers(2, 20)), int(rng.integers(60, 300))
    X = rng.poisson(0.15, size=(d, n)).astype(float)
    X[np.arange(d), rng.integers(0, n, size=d)] += 1
    X[:n] += np.eye(n)
    if kind == "one non-zero":
        X = np.zeros((d, n))
        X[np.arange(d), np.arange(d) % n] = rng.integers(1, 4, size=d)
    elif kind == "multiples":
        X[n:] = X[rng.integers(0, n, size=d - n)] * rng.choice([-2.0, 0.5, 1.0, 3.0], (d - n, 1))
    elif kind == "scales":
        X *= 10.0 ** rng.uniform(-6, 3, size=(d, 1))
    elif kind == "ill-conditioned":
        X *= np.geomspace(1, 1e-4, n)
    elif kind == "rank-deficient" and n > 2:
        X[:, -1] = X[:, 0] + X[:, 1]
    return X


def assert_same(fast, plain):
    np.testing.assert_array_equal(fast.draws, plain.draws)
    np.testing.assert_allclose(fast.weights, plain.weights, rtol=1e-9)


@pytest.fixture
def from_the_start(monkeypatch):
    """Sparse rows from the first draw on, and few of them at hand."""
    monkeypatch.setattr(sparse_rows_module, "PAYS_OFF", 0)
    monkeypatch.setattr(sparse_rows_module, "FIRST_ROWS", 5)


@pytest.mark.usefixtures("from_the_start")
@pytest.mark.parametrize("penalized", [False, True])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_same_as_plain(kind, rule, penalized, seed):
    rng = np.random.default_rng([seed, *kind.encode(), penalized])
    vectors = SparseVectors(sparse_data(kind, rng))
    penalty = rng.lognormal(0, 2, size=vectors.rank) if penalized else None
    n_draws = vectors.rank + int(rng.integers(5, 60))
    fast = sparsify(vectors, n_draws, rule, penalty)
    assert_same(fast, sparsify_plain(vectors.U, n_draws, rule, penalty))
    assert fast.counts["compiled draws"] > 0


@pytest.mark.usefixtures("from_the_start")
@pytest.mark.parametrize("seed", range(300, 420))
def test_rows_that_are_looked_at_late_are_known_as_they_are_then(seed):
    """After draws that changed A, which these rows were not there for."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    X = rng.poisson(rng.uniform(0.1, 0.5, size=n), size=(int(rng.integers(60, 300)), n))
    X[:n] += np.eye(n, dtype=int)
    vectors = SparseVectors(X)
    n_draws = vectors.rank + int(rng.integers(1, 4 * n))
    assert_same(sparsify(vectors, n_draws), sparsify_plain(vectors.U, n_draws))


@pytest.mark.shared_data
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["10567_11346", "8308_8366", "22294_25575"])
def test_same_as_numpy_on_text(name, rule, load_techtc, monkeypatch):
    """Sets where scans go deep, with repeats in the last."""
    spectrum = compute_spectrum(load_techtc(name))
    assert spectrum.basis is not None
    fast = sparsify(spectrum, 300, rule)
    assert fast.counts["compiled draws"] == 300
    monkeypatch.setattr(compiled, "draw_ahead", None)
    assert_same(fast, sparsify(spectrum, 300, rule))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-2, 2), min_size=12, max_size=90), st.integers(1, 30))
@pytest.mark.parametrize("rule", RULES)
def test_same_as_plain_on_small_integers(rule, entries, extra):
    """Full of ties, zeros, and rows that are multiples of others."""
    X = np.reshape(entries[: len(entries) // 3 * 3], (-1, 3))
    if not X.any():
        return
    vectors = SparseVectors(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_rows_module, "PAYS_OFF", 0)
        fast = sparsify(vectors, vectors.rank + extra, rule)
    assert_same(fast, sparsify_plain(vectors.U, vectors.rank + extra, rule))


@pytest.mark.usefixtures("from_the_start")
@pytest.mark.parametrize("rule", RULES)
def test_repeats_are_compiled_too(rule):
    """Only the first row covers its direction."""
    X = np.zeros((100, 2))
    X[0, 0] = X[1:, 1] = 1
    vectors = SparseVectors(X)
    fast = sparsify(vectors, 20, rule)
    assert_same(fast, sparsify_plain(vectors.U, 20, rule))
    assert fast.counts["repeats"] > 0
    assert fast.counts["compiled draws"] == 20


def test_from_few_vectors_to_many_sparse_rows(monkeypatch):
    """Where scans become long, and between two decompositions too."""
    draws, given = compiled.draws, []

    def noting(*args, rows, t, **kwargs):
        given.append((type(rows).__name__, len(t)))
        return draws(*args, rows=rows, t=t, **kwargs)

    monkeypatch.setattr(compiled, "draws", noting)
    monkeypatch.setattr(at_hand, "FIRST_ROWS", 4)
    monkeypatch.setattr(sparse_rows_module, "PAYS_OFF", 1)
    X = np.random.default_rng(0).poisson(0.3, size=(300, 20))
    vectors = SparseVectors(X)
    assert_same(sparsify(vectors, 60), sparsify_plain(vectors.U, 60))
    kinds = [kind for kind, _ in given]
    assert set(kinds) == {"Shortlist", "SparseRows"}
    assert given[kinds.index("SparseRows")][1] > 0


@pytest.mark.usefixtures("from_the_start")
@pytest.mark.parametrize("rule", RULES)
def test_no_vectors_are_made_but_those_drawn(rule):
    vectors = SparseVectors(sparse_data("counts", np.random.default_rng(3)))
    n_draws = 4 * vectors.rank
    fast = sparsify(vectors, n_draws, rule)
    assert fast.counts["compiled draws"] == n_draws
    assert sum(vectors.taken) <= 2 * n_draws  # and once more for the spectrum of the weights


@pytest.mark.usefixtures("from_the_start")
@pytest.mark.parametrize("rule", RULES)
def test_where_there_are_too_many_non_zeros(rule, monkeypatch):
    """Then NumPy makes the draws that need other rows."""
    monkeypatch.setattr(sparse_rows_module, "MOST_NONZEROS", 10)
    vectors = SparseVectors(sparse_data("counts", np.random.default_rng(5)))
    n_draws = 5 * vectors.rank
    assert_same(sparsify(vectors, n_draws, rule), sparsify_plain(vectors.U, n_draws, rule))


@pytest.mark.usefixtures("from_the_start")
@pytest.mark.parametrize("seed", [130, 156, 240, 406, 488, 600, 614, 663])
def test_sums_that_cancel_are_noticed(seed):
    """Rows of X nearly the same, and their vectors short: what is left of them has few digits."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 12)), int(rng.integers(40, 200))
    X = np.ones((d, n)) + 10.0 ** rng.uniform(-7, -3) * rng.standard_normal((d, n))
    vectors = SparseVectors(X * rng.lognormal(0, 1, (d, 1)))
    n_draws = vectors.rank + int(rng.integers(1, 40))
    fast, plain = sparsify(vectors, n_draws), sparsify_plain(vectors.U, n_draws)
    np.testing.assert_array_equal(fast.draws, plain.draws)
    np.testing.assert_allclose(fast.weights, plain.weights, rtol=1e-6)
