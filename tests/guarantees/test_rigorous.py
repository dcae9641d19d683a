# SPDX-License-Identifier: BSD-3-Clause
"""certify(..., rigorous=True): what is proved is true, tight, and nothing else is called proved."""

import time
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests.guarantees.helpers import Chosen, exact_interval, ill_conditioned

from ridgewise import BSSSelector, LeverageSelector, RRQRSelector, certify
from ridgewise.guarantees import _proof as rigorous
from ridgewise.guarantees._interval import Selection
from ridgewise.guarantees._proof import PROVED, exact_kernels, integers, is_proved

flint = pytest.importorskip("flint", reason="python-flint (the extra 'rigorous') is not installed")

SECONDS = 120  # for a real set: some take 10 on a busy machine


def case(power, seed):
    X, selected, weights = ill_conditioned(power, seed)
    return X, Chosen(selected, weights, 40)


def exact(X, chosen, alpha=0.0, center=False):
    return exact_interval(X, chosen.selected_, chosen.weights_, alpha, center=center)


def assert_proved(certificate, ends):
    """It holds, strictly, and is nowhere looser than the widening by 2^-40 of upper explains."""
    assert certificate.verified
    assert certificate.note == PROVED
    assert f"verified: {PROVED}" in str(certificate)
    a, b = ends
    assert certificate.lower < a
    assert b < certificate.upper
    assert a - certificate.lower < 3e-12 * b
    assert certificate.upper - b < 3e-12 * b


@pytest.mark.parametrize("power", [2, 8, 12, 14, 15])
@pytest.mark.parametrize("center", [False, True])
def test_what_is_proved_is_true_and_tight_at_any_condition(power, center):
    for seed in range(2):
        X, chosen = case(power, seed)
        chosen.center = center
        certificate = certify(X, chosen, rigorous=True)
        assert_proved(certificate, exact(X, chosen, center=center))


@pytest.mark.parametrize("power", [3, 13])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("alpha", [1e-20, 1e-3, 7.0])
def test_it_is_proved_for_ridge_models_too(power, alpha, center):
    X, chosen = case(power, 0)
    chosen.center = center
    for count in (15, 4):
        few = Chosen(chosen.selected_[:count], chosen.weights_[:count], 40, center=center)
        certificate = certify(X, few, alpha=alpha, rigorous=True)
        ends = exact(X, few, alpha, center)
        if ends[0] > 1e-11 * ends[1]:
            assert_proved(certificate, ends)
        else:
            assert (certificate.lower, certificate.verified) == (0.0, False)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_zero_duplicate_and_dependent_samples_change_nothing(container, center, dtype):
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, size=(6, 60)).astype(dtype)
    chosen = Chosen(np.arange(30), np.exp(rng.normal(size=30)), 60, center=center)
    # rows whose coefficients sum to 1: centring, too, leaves them dependent
    dependent = [X, X[[0, 0, 3]], X[:1] + X[1:2] - X[2:3], 2 * X[4:5] - X[5:6]]
    if not center:
        dependent += [np.zeros((2, 60), dtype), X[:3].sum(axis=0, keepdims=True)]
    certificate = certify(container(np.vstack(dependent)), chosen, rigorous=True)
    assert_proved(certificate, exact(X.astype(float), chosen, center=center))


def test_tall_data():
    X = np.random.default_rng(0).normal(size=(80, 5))
    weights = np.array([0.5, 0.7, 1.0, 1.3, 2.0])
    for container in (np.asarray, sp.csr_array):
        certificate = certify(container(X), Chosen(np.arange(5), weights, 5), rigorous=True)
        assert_proved(certificate, (0.5, 2.0))
        centred = Chosen(np.arange(5), weights, 5, center=True)
        assert_proved(certify(container(X), centred, rigorous=True), (0.5, 2.0))


@pytest.mark.parametrize("scale", [2.0**-500, 2.0**500])
def test_extreme_scales(scale):
    X, chosen = case(4, 0)
    expected = certify(X, chosen, rigorous=True)
    found = certify(X * scale, chosen, rigorous=True)
    assert (found.lower, found.upper, found.verified) == (expected.lower, expected.upper, True)


@pytest.mark.parametrize(
    "selector",
    [BSSSelector(25), LeverageSelector(60, random_state=0), RRQRSelector(25)],
    ids=lambda selector: type(selector).__name__,
)
@pytest.mark.parametrize("polish", [False, True])
def test_selectors_and_their_promises(selector, polish):
    X = np.random.default_rng(0).normal(size=(12, 90))
    selector.fit(X)
    plain = certify(X, selector, polish=polish)
    proved = certify(X, selector, polish=polish, rigorous=True)
    assert proved.verified
    assert_allclose([proved.lower, proved.upper], [plain.lower, plain.upper], rtol=1e-9)
    assert proved.promised_lower == plain.promised_lower
    assert proved.selection == plain.selection


def test_a_promise_about_fewer_singular_values_is_not_shown():
    X, _ = case(15, 0)
    selector = BSSSelector(20, alpha=0).fit(X)
    assert selector.rank_ < 6  # numerical rank, after rounding
    proved = certify(X, selector, rigorous=True)
    assert proved.verified
    assert proved.promised_lower is None


@pytest.mark.parametrize("name", ["golub", "Exp_10341_14525", "Exp_6920_8366"])
def test_real_data_is_proved_in_seconds(shared_data, load_techtc, name):
    X = load_techtc(name) if name.startswith("Exp") else np.load(shared_data / name / "X.npz")["X"]
    selector = BSSSelector(2 * X.shape[0]).fit(X)
    start = time.perf_counter()
    certificate = certify(X, selector, rigorous=True)
    assert time.perf_counter() - start < SECONDS
    assert certificate.note == PROVED
    measured = selector.certificate_
    assert_allclose(
        [certificate.lower, certificate.upper], [measured.lower, measured.upper], rtol=1e-5
    )


# What is not proved


def kernels(power=6, alpha=0.0):
    X, chosen = case(power, 0)
    selection = Selection(tuple(chosen.selected_), tuple(chosen.weights_), n_features=40)
    return exact_kernels(X, selection, alpha), exact(X, chosen, alpha)


@pytest.mark.parametrize("alpha", [0.0, 1e-4])
@pytest.mark.parametrize("power", [2, 12])
def test_a_wrong_interval_is_not_proved(power, alpha):
    matrices, (a, b) = kernels(power, alpha)
    a, b = float(a), float(b)
    hair = 1e-13
    assert is_proved(*matrices, a * (1 - hair), b * (1 + hair))
    assert not is_proved(*matrices, a * (1 + hair), b * (1 + hair))
    assert not is_proved(*matrices, a * (1 - hair), b * (1 - hair))
    assert not is_proved(*matrices, b, a)


def test_equality_is_not_provable_by_balls():
    A = flint.fmpz_mat([[2, 1], [1, 2]])
    assert not is_proved(A, A, 1.0, 1.0)
    assert is_proved(A, A, 1 - 2**-50, 1 + 2**-50)


def test_a_lost_direction_is_not_certified():
    X, chosen = case(2, 0)
    few = Chosen(chosen.selected_[:4], chosen.weights_[:4], 40)
    certificate = certify(X, few, rigorous=True)
    assert (certificate.lower, certificate.verified) == (0.0, False)
    assert "a direction of X is lost" in str(certificate)


def test_what_is_about_rounded_vectors_is_not_proved():
    X, chosen = case(2, 0)
    chosen.rank = 3
    certificate = certify(X, chosen, rigorous=True)
    assert not certificate.verified
    assert "rank=" in certificate.note
    assert certify(X, chosen, alpha=1.0, rigorous=True).verified


def test_what_would_take_too_long_is_not_tried(monkeypatch):
    X, chosen = case(2, 0)
    monkeypatch.setattr(rigorous, "MOST_SAMPLES", 5)
    certificate = certify(X, chosen, rigorous=True)
    assert not certificate.verified
    assert "over 5 samples" in certificate.note


def test_too_few_bits_are_said_to_be_too_few(monkeypatch):
    X, chosen = case(15, 0)
    monkeypatch.setattr(rigorous, "PRECISIONS", (64,))
    certificate = certify(X, chosen, rigorous=True)
    assert not certificate.verified
    assert "not certified: there is no proof with 64 bits" in str(certificate)


def test_too_many_orders_of_magnitude_are_refused():
    X, chosen = case(2, 0)
    X[0, 0], X[1, 1] = 1e-180, 1e150
    certificate = certify(X, chosen, rigorous=True)
    assert not certificate.verified
    assert "orders of magnitude" in certificate.note


def test_everything_kept_is_proved_as_it_stands():
    X, _ = case(2, 0)
    certificate = certify(X, Chosen(np.arange(40), np.ones(40), 40), rigorous=True)
    assert (certificate.lower, certificate.upper, certificate.note) == (1.0, 1.0, PROVED)


def test_without_python_flint_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(rigorous, "flint", None)
    X, chosen = case(2, 0)
    assert certify(X, chosen).verified
    with pytest.raises(ImportError, match=r"pip install 'ridgewise\[rigorous\]'") as raised:
        certify(X, chosen, rigorous=True)
    assert "\n" not in str(raised.value)


# The parts


@given(st.lists(st.floats(-1e100, 1e100, allow_subnormal=True), min_size=1, max_size=8))
def test_floats_are_integers_times_a_power_of_two(numbers):
    x = np.array([numbers])
    e = rigorous.lowest_bit(x)
    quotients = [Fraction(number) / Fraction(2) ** e for number in numbers]
    assert all(quotient.denominator == 1 for quotient in quotients)
    if max(map(abs, quotients)) < 2**1024:
        assert integers(x, e).tolist() == [quotients]
    else:
        with pytest.raises(OverflowError):
            integers(x, e)


def test_exact_kernels_are_exact():
    X, chosen = case(9, 1)
    selection = Selection(tuple(chosen.selected_), tuple(chosen.weights_), n_features=40)
    A, B = exact_kernels(X, selection, alpha=0.1)
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    ratio = None
    for i in range(6):
        for j in range(6):
            K = sum(x * y for x, y in zip(rows[i], rows[j], strict=True))
            weighted = zip(chosen.selected_, chosen.weights_, strict=True)
            K_selected = sum(rows[i][s] * rows[j][s] * Fraction(float(w)) for s, w in weighted)
            shift = Fraction(0.1) if i == j else 0
            ratio = ratio or (K + shift) / int(A[i, j])
            assert (K + shift, K_selected + shift) == (int(A[i, j]) * ratio, int(B[i, j]) * ratio)
