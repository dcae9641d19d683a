# SPDX-License-Identifier: BSD-3-Clause
"""Groups of rows that are drawn whole: the oracle's draws, and the promise for single rows."""

import numpy as np
import pytest
from tests.barrier.helpers import extremes, gaussian_rows, rows_of, same_as_plain, scaled_rows

from ridgewise._groups import resolve_groups
from ridgewise.barrier import RULES, ArrayVectors, sparsify
from ridgewise.barrier._problem import GroupedVectors

RUNS = 50  # a seed


def instance(rng):
    """Groups of 1 to 20 rows, of ranks below their sizes, of like or overlapping scales.

    Returns U, one label a row, the number of draws, and a penalty or None.
    """
    ell, spread = int(rng.integers(2, 9)), rng.choice([0.0, 1.0, 3.0])
    sizes = rng.integers(1, 21, size=int(rng.integers(3 * ell, 12 * ell)))
    parts = []
    for size in sizes:
        rank = int(rng.integers(1, size + 1))
        part = rng.standard_normal((size, rank)) @ rng.standard_normal((rank, ell))
        parts.append(part * np.exp(spread * rng.standard_normal()))
    if rng.random() < 0.3:
        parts[0][:] = 0
    labels = np.repeat(np.arange(len(sizes)), sizes)
    order = rng.permutation(len(labels))
    U, s, _ = np.linalg.svd(np.vstack(parts)[order], full_matrices=False)
    penalty, dimension = None, float(ell)
    if rng.random() < 0.5:
        penalty = rng.choice([0.1, 1, 10]) * np.quantile(s, rng.random()) ** 2 / s**2
        dimension = float(np.sum(1 / (1 + penalty)))
    n_draws = int(rng.integers(int(dimension) + 1, max(int(dimension) + 2, len(sizes))))
    return U, labels[order], n_draws, penalty


@pytest.mark.parametrize("seed", range(21))
def test_oracle_and_promise(seed, request):
    """1,050 runs, plain and ridge: the promise is kept, and draws are the oracle's."""
    if seed % 7 == 6:
        request.getfixturevalue("by_numpy")
    for run in range(RUNS):
        U, labels, n_draws, penalty = instance(np.random.default_rng([seed, run]))
        groups, rule = resolve_groups(labels, len(U)), RULES[run % 3]
        fast = same_as_plain(U, n_draws, rule, penalty, groups=groups, rtol=1e-6)
        weights = np.zeros(len(groups))
        weights[fast.selected] = fast.weights
        lower, upper = extremes(U, weights[groups.index], penalty)
        assert fast.promised_lower - 1e-9 <= lower <= upper <= fast.promised_upper + 1e-9
        np.testing.assert_allclose([fast.lower, fast.upper], [lower, upper], atol=1e-9)


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("rule", RULES)
def test_singletons(rule, family):
    U = rows_of(family, np.random.default_rng(0))
    n_draws = 2 * U.shape[1] + 1
    expected = sparsify(ArrayVectors(U), n_draws, rule)
    found = sparsify(ArrayVectors(U), n_draws, rule, groups=resolve_groups(1, len(U)))
    np.testing.assert_array_equal(found.draws, expected.draws)
    np.testing.assert_array_equal(found.weights, expected.weights)
    assert (found.lower, found.upper) == (expected.lower, expected.upper)


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("rule", RULES)
def test_longer_vectors(rule):
    """Several decompositions and scans, groups that scale differently, and near-ties."""
    U = scaled_rows(900, 40)
    U = np.linalg.qr(np.vstack([U, U[:300]]))[0]  # groups 0 to 59 twice
    groups = resolve_groups(5, len(U))
    same_as_plain(U, 90, rule, groups=groups, rtol=1e-7)


def test_large_groups_have_at_most_rank_rows():
    """A group of 500 rows in 6 dimensions costs no more than one of 6."""
    U = gaussian_rows(600, 6)
    labels = np.repeat([0, *range(1, 51)], [500, *[2] * 50])
    vectors = GroupedVectors(ArrayVectors(U), resolve_groups(labels, 600))
    rows = vectors.take(np.array([3, 0, 7]))
    assert rows.shape == (10, 6)
    np.testing.assert_allclose(rows[2:8].T @ rows[2:8], U[:500].T @ U[:500], atol=1e-12)
    np.testing.assert_allclose(vectors.norms2[0], np.sum(U[:500] ** 2))
