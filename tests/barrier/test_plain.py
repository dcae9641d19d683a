# SPDX-License-Identifier: BSD-3-Clause
"""The plain algorithm: what its mathematics promises.

Where the paper's print does not hold, docs/paper-corrected.md shows it, and is tested.
"""

import numpy as np
import pytest
from tests.barrier.helpers import gaussian_rows, rows_of

from ridgewise.barrier import RULES, ArrayVectors, NumericalBreakdownError, sparsify, sparsify_plain
from ridgewise.barrier import _plain as plain
from ridgewise.barrier._problem import Barriers


def test_barrier_invariants_at_every_draw(family, monkeypatch):
    """L < lambda_min, lambda_max < U, potentials never rise, sum U(u) <= 1 - s <= sum L(u)."""
    U = rows_of(family, np.random.default_rng(1))
    barriers = Barriers(U.shape[1], 3 * U.shape[1])
    s, seen = barriers.s, []
    lower, upper = plain.lower_shift, plain.upper_shift

    def check_lower(u, delta, A, L):
        assert np.linalg.eigvalsh(A)[0] > L + delta
        assert np.trace(plain.inverse(A - L * np.eye(len(A)))) <= s + 1e-9
        lv, term = lower(u, delta, A, L)
        assert lv.sum() >= 1 - s - 1e-9
        return lv, term

    def check_upper(u, delta, A, limit):
        assert np.linalg.eigvalsh(A)[-1] < limit
        assert np.trace(plain.inverse(limit * np.eye(len(A)) - A)) <= s / barriers.delta_U + 1e-9
        uv = upper(u, delta, A, limit)
        assert uv.sum() <= 1 - s + 1e-9
        seen.append(limit)
        return uv

    monkeypatch.setattr(plain, "lower_shift", check_lower)
    monkeypatch.setattr(plain, "upper_shift", check_upper)
    sparsify_plain(U, barriers.n_draws)
    assert len(seen) == barriers.n_draws


def test_zero_rows_are_never_selected():
    U = np.vstack([np.zeros((5, 4)), gaussian_rows(30, 4), np.zeros((5, 4))])
    for rule in RULES:
        assert set(sparsify_plain(U, 25, rule).selected) <= set(range(5, 35))


@pytest.mark.parametrize(
    ("n_draws", "rule", "penalty", "error", "message"),
    [
        (1, "norm", None, ValueError, "got 1 draws for vectors of rank 4"),
        (4, "norm", None, ValueError, "got 4 draws for vectors of rank 4"),
        (2, "norm", np.ones(4), ValueError, "got 2 draws for vectors of effective dimension 2"),
        (10, "best", None, ValueError, "one of 'norm', 'slack', 'ratio'; got 'best'"),
        (4, "norm", np.full(4, 1e-12), NumericalBreakdownError, "by too little to compute with"),
    ],
)
def test_impossible_settings(n_draws, rule, penalty, error, message):
    U = gaussian_rows(30, 4)
    for run, vectors in ((sparsify_plain, U), (sparsify, ArrayVectors(U))):
        with pytest.raises(error, match=message):
            run(vectors, n_draws, rule, penalty)


@pytest.mark.parametrize("rule", RULES)
def test_invariances(rule):
    """A rotation of the columns changes nothing, a permutation of the rows only their names."""
    U, rng = gaussian_rows(80, 5), np.random.default_rng(0)
    found = sparsify_plain(U, 20, rule)
    rotation = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    rotated = sparsify_plain(U @ rotation, 20, rule)
    np.testing.assert_array_equal(rotated.draws, found.draws)
    np.testing.assert_allclose(rotated.weights, found.weights, rtol=1e-9)
    permutation = rng.permutation(80)
    permuted = sparsify_plain(U[permutation], 20, rule)
    np.testing.assert_array_equal(permutation[permuted.draws], found.draws)
