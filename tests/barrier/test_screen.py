# SPDX-License-Identifier: BSD-3-Clause
"""What the screen says of L(u) and U(u) is true of every row, and close."""

import numpy as np
import pytest

from ridgewise.barrier import RULES, ArrayVectors, sparsify, sparsify_plain
from ridgewise.barrier import _at_hand as at_hand
from ridgewise.barrier._decomposition import eigendecomposition
from ridgewise.barrier._plain import lower_potential, lower_shift, upper_potential, upper_shift
from ridgewise.barrier._problem import Barriers
from ridgewise.barrier._screen import Profile, Screen

MOST = 10  # draws between decompositions here


class Run:
    """Some draws of random rows, with barriers that move as they do in a run."""

    def __init__(self, seed, make_rows, family="gaussian", penalized=False):
        self.rng = np.random.default_rng([seed, *family.encode(), penalized])
        self.U = make_rows(family, self.rng)
        ell = self.U.shape[1]
        penalty = self.rng.uniform(0, 5, size=ell) if penalized else None
        self.barriers = Barriers(ell, 20 * ell, penalty)
        rows = self.U[self.rng.integers(0, len(self.U), size=6 * ell)]
        norms2 = np.maximum(np.einsum("ij,ij->i", rows, rows), 1e-12)
        self.A = (rows.T * (1 / norms2)) @ rows
        # somewhere below the smallest eigenvalue, and above the largest one
        lower, upper = self.barriers.lift(self.A)
        self.L = np.linalg.eigvalsh(lower)[0] - self.rng.uniform(1.5, 9)
        self.U_place = np.linalg.eigvalsh(upper)[-1] + self.rng.uniform(4, 40)
        self.screen = Screen(ArrayVectors(self.U))
        self.decompose()
        self.screen.set(self.Q, self.eigenvalues, self.L, self.U_place, MOST)

    def decompose(self):
        A_lower, A_upper = self.barriers.lift(self.A)
        lower = eigendecomposition(A_lower)
        upper = lower if A_upper is A_lower else eigendecomposition(A_upper)
        self.eigenvalues, self.Q = (lower.diagonal, upper.diagonal), (lower.Q, upper.Q)
        self.Z, self.t_inverse = ([], []), []

    def draw(self, t):
        """Add a row to A, and tell the screen."""
        u = self.U[self.rng.integers(0, len(self.U))]
        u = u / max(np.linalg.norm(u), 1e-6)
        self.A = self.A + t * np.outer(u, u)
        for Z, Q in zip(self.Z, self.Q, strict=True):
            Z.append(u @ Q)
        self.t_inverse.append(1 / t)
        self.screen.follow((np.array(self.Z[0]), np.array(self.Z[1])), np.array(self.t_inverse))

    def exact(self, L, U):
        """L(u), its positive term and U(u) with barriers at L and U, and both changes."""
        A_lower, A_upper = self.barriers.lift(self.A)
        lv, term = lower_shift(self.U, 0.5, A_lower, L - 0.5)
        uv = upper_shift(self.U, 2.0, A_upper, U - 2.0)
        changes = (
            lower_potential(L, A_lower) - lower_potential(L - 0.5, A_lower),
            upper_potential(U - 2.0, A_upper) - upper_potential(U, A_upper),
        )
        return lv, term, uv, changes

    def check(self):
        """Bounds at some places that the screen reaches."""
        ends = self.screen.sides[0].stop, self.screen.sides[1].stop
        for share in (0, 0.3, 1):
            L, U = (
                self.L + share * (ends[0] - self.L),
                self.U_place + share * (ends[1] - self.U_place),
            )
            assert self.screen.reaches(L, U)
            lv, term, uv, changes = self.exact(L, U)
            found_lv, found_uv = self.screen.bounds((L, U), changes).T
            assert np.all(found_lv >= lv)
            assert np.all(found_uv <= uv)
            assert np.all(found_lv <= lv + 0.02 * term)
            assert np.all(found_uv >= 0.98 * uv)


@pytest.mark.parametrize("penalized", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_bounds(seed, family, penalized, make_rows):
    """Right after a decomposition, after some draws, and after another decomposition."""
    run = Run(seed, make_rows, family, penalized)
    run.check()
    for _ in range(5):
        run.draw(run.rng.uniform(0.1, 1))
    run.check()
    run.decompose()
    run.screen.decomposed(run.Q, run.eigenvalues, MOST)
    run.draw(0.5)
    run.check()


def test_follows_as_if_set_anew(make_rows):
    run = Run(0, make_rows)
    for _ in range(4):
        run.draw(0.3)
    N = [np.linalg.inv(run.A - x * np.eye(len(run.A))) for x in run.screen.sides[0].nodes]
    h = [np.einsum("ij,jk,ik->i", run.U, n, run.U) for n in N]
    np.testing.assert_allclose(run.screen.h[:, : len(N)].T, h, rtol=1e-10)


def test_notices_an_eigenvalue_past_the_guard(make_rows):
    run = Run(0, make_rows)
    run.draw(1e4)
    assert not run.screen.is_set


def test_does_not_reach_farther_than_its_nodes(make_rows):
    run = Run(0, make_rows)
    L_end, U_end = (side.stop for side in run.screen.sides)
    assert run.screen.reaches(L_end, U_end)
    assert not run.screen.reaches(L_end + 1e-6, U_end)
    assert not run.screen.reaches(L_end, U_end + 1e-6)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n_nodes", [3, 5, 8])
def test_interpolation_error(sign, n_nodes):
    """Of 1 / (y - x) and its derivative, for any y past the guard."""
    profile = Profile(sign, n_nodes, 0.9)
    start, stop = (2.0, 5.0) if sign > 0 else (-5.0, -2.0)
    profile.place(start, stop, nearest=8.0 * sign)
    y = profile.guard + sign * np.concatenate([[0], np.geomspace(1e-3, 1e6, 200)])
    h = 1 / (y[:, None] - profile.nodes)  # sign h of rows that are eigenvectors
    for x in np.linspace(start, stop, 7):
        exact = 1 / (y - x)
        for change in (1e-3, 1e3):  # the derivative counts, the value counts
            bound = h @ profile.bound(x, change)
            form = exact**2 / change - exact
            assert np.all(bound >= form if sign > 0 else bound <= form)
            scale = 1 / (abs(profile.guard - x) * change) + 1
            assert np.all(abs(bound - form) <= 60 * 0.15**n_nodes * scale * abs(exact))


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("penalized", [False, True])
def test_few_rows_are_left(rule, penalized, monkeypatch, gaussian_rows):
    """The screen alone leaves some rows of 800 a draw, and the right one is among them."""
    monkeypatch.setattr(at_hand, "MOST_ROWS", 8)
    monkeypatch.setattr(at_hand, "MOST_ROWS_SCREENED", 0)
    U = gaussian_rows(800, 20, seed=1)
    penalty = np.geomspace(0.01, 10, 20) if penalized else None
    fast = sparsify(ArrayVectors(U), 100, rule, penalty)
    plain = sparsify_plain(U, 100, rule, penalty)
    np.testing.assert_array_equal(fast.draws, plain.draws)
    np.testing.assert_allclose(fast.weights, plain.weights, rtol=1e-9)
    assert fast.counts["rows"] < 0.02 * 100 * 800
