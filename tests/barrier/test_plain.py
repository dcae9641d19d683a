# SPDX-License-Identifier: BSD-3-Clause
"""The plain algorithm: what its mathematics promises.

Where the paper's print does not hold, docs/paper-corrected.md shows it, and is tested.
"""

import numpy as np
import pytest
from tests.barrier.helpers import gaussian_rows, rows_of

from ridgewise.barrier import RULES, ArrayVectors, NumericalBreakdownError, sparsify, sparsify_plain
from ridgewise.barrier import _plain as plain


def test_barrier_invariants_at_every_draw(family, monkeypatch):
    """L < lambda_min, lambda_max < U, potentials never rise, sum U(u) <= 1 - s <= sum L(u)."""
    U = rows_of(family, np.random.default_rng(1))
    n_draws, seen, shifts = 3 * U.shape[1], [], plain.shifts

    def check(barriers, A, tau):
        s, (L, limit) = barriers.s, barriers.places(tau)
        eigenvalues = np.linalg.eigvalsh(A)
        assert L + 1 < eigenvalues[0] <= eigenvalues[-1] < limit
        assert np.sum(1 / (eigenvalues - L)) <= s + 1e-9
        assert np.sum(1 / (limit - eigenvalues)) <= s / barriers.delta_U + 1e-9
        lower, upper = shifts(barriers, A, tau)
        assert upper.of(U)[0].sum() <= 1 - s + 1e-9
        assert lower.of(U)[0].sum() >= 1 - s - 1e-9
        seen.append(tau)
        return lower, upper

    monkeypatch.setattr(plain, "shifts", check)
    sparsify_plain(U, n_draws)
    assert len(seen) == n_draws


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
