# SPDX-License-Identifier: BSD-3-Clause
"""Groups of features: selected whole, counted, and weighted as one."""

import datetime

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from ridgewise import BSSSelector, LeverageSelector, RandomSelector, SubsetSelector, certify
from ridgewise._groups import resolve_groups
from ridgewise.guarantees import leverage_promise
from ridgewise.selectors import FewerFeaturesWarning

N, D = 12, 60
rng = np.random.default_rng(0)
X = rng.standard_normal((N, D)) * rng.lognormal(0, 1, D)
LABELS = rng.choice(list("abcdefghij"), D)
y = X @ rng.standard_normal(D)

SELECTORS = [
    BSSSelector(8),
    BSSSelector(8, rule="slack", center=True, polish=True),
    BSSSelector(30, rule="ratio", polish=True),
    BSSSelector(8, alpha=500.0, rescale=False),
    BSSSelector(),
    BSSSelector(0.5, rank=4),
    BSSSelector(epsilon=0.7),
    SubsetSelector(8),
    SubsetSelector(8, target="y", scale=True, center=True, bound=[3]),
    SubsetSelector(target="model"),
    LeverageSelector(8, random_state=3),
    LeverageSelector(8, random_state=3, sampling="bernoulli"),
    LeverageSelector(8, sampling="top"),
    LeverageSelector(8, random_state=3, alpha=2.0, center=True),
    LeverageSelector(random_state=3),
    LeverageSelector(0.2, random_state=3, rescale=False),
    LeverageSelector(epsilon=0.9, random_state=3, rank=3),
    RandomSelector(8, random_state=3),
    RandomSelector(0.3, random_state=3),
    RandomSelector(random_state=3),
]

# LABELS has ten groups
WITH_LABELS = [
    selector
    for selector in SELECTORS
    if selector.n_features_to_select in (None, 8) or selector.n_features_to_select < 1
]


def names(selector):
    return repr(clone(selector))


def with_groups(selector, groups):
    return clone(selector).set_params(groups=groups)


def by_eigenvalues(X, columns, weights, alpha=0.0):
    """[lower, upper] of the pencil (K~ + alpha, K + alpha), by explicit matrices."""
    K, part = X @ X.T + alpha * np.eye(len(X)), X[:, columns] * np.sqrt(weights)
    values = np.linalg.eigvals(np.linalg.solve(K, part @ part.T + alpha * np.eye(len(X))))
    return values.real.min(), values.real.max()


class TestResolve:
    def test_none(self):
        assert not resolve_groups(None, 7).given

    @pytest.mark.parametrize("labels", [list("cabcb"), np.array(list("cabcb")), tuple("cabcb")])
    def test_order_of_first_appearance(self, labels):
        groups = resolve_groups(labels, 5)
        assert_array_equal(groups.index, [0, 1, 2, 0, 2])
        assert_array_equal(groups.labels, ["c", "a", "b"])
        assert_array_equal(groups.sizes, [2, 1, 2])
        assert_array_equal(groups.members(np.array([2, 0])), [2, 4, 0, 3])
        assert_array_equal(groups.sums(np.arange(5.0)), [3, 1, 6])

    @pytest.mark.parametrize(
        "labels",
        [
            [(0, "a"), (1, "a"), (0, "a")],
            [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)],
            [frozenset("ab"), 7, frozenset("ba")],
            pd.Series([2**70, -1, 2**70], index=[5, 6, 7]),
            pd.Categorical(["x", "y", "x"], categories=["y", "z", "x"]),
            [False, True, False],
            np.array([1.5, -0.5, 1.5]),
        ],
    )
    def test_any_hashable(self, labels):
        groups = resolve_groups(labels, 3)
        assert_array_equal(groups.index, [0, 1, 0])
        assert groups.labels.shape == (2,)
        assert groups.labels[0] == next(iter(labels))

    def test_consecutive(self):
        groups = resolve_groups(np.int32(3), 6)
        assert_array_equal(groups.index, [0, 0, 0, 1, 1, 1])
        assert_array_equal(groups.labels, [0, 1])

    @pytest.mark.parametrize(
        ("groups", "message"),
        [
            (["a"] * 5, "5 labels, and X has 6 features"),
            ([], "0 labels, and X has 6 features"),
            (4, "must divide the number of features: got groups=4, and X has 6"),
            (0, "at least 1"),
            (-2, "at least 1"),
            (7, "must divide"),
            (2.0, "groups must be None, an int"),
            (True, "groups must be None, an int"),
            ("prefix", "groups must be None, an int"),
            (np.zeros((6, 1)), r"an array of shape \(6, 1\)"),
            (["a", "b", None, "a", "b", "c"], "no label for feature 2: got None"),
            ([1, 2, 3, np.nan, 2, 1], "no label for feature 3: got nan"),
            (["a", "b", "c", "a", "b", ""], "no label for feature 5: got ''"),
            (pd.array(["a", "b", None, "a", "b", "c"], dtype="string"), "feature 2"),
            ([["a"], ["b"], ["c"], ["a"], ["b"], ["c"]], r"hashable; got \['a'\]"),
            ([np.zeros(2)] * 6, "hashable"),
        ],
    )
    def test_errors(self, groups, message):
        with pytest.raises(ValueError, match=message):
            resolve_groups(groups, 6)
        with pytest.raises(ValueError, match=message):
            RandomSelector(1, groups=groups).fit(np.ones((3, 6)))
        with pytest.raises(ValueError, match=message):
            LeverageSelector(1, groups=groups).fit(np.ones((3, 6)))


@pytest.mark.parametrize("selector", SELECTORS, ids=names)
def test_singletons_give_what_no_groups_give(selector):
    plain = clone(selector).fit(X, y)
    for groups in (1, np.arange(D), [f"feature {j}" for j in range(D)]):
        grouped = with_groups(selector, groups).fit(X, y)
        assert_array_equal(grouped.selected_, plain.selected_)
        assert_array_equal(grouped.weights_, plain.weights_)
        assert_array_equal(grouped.transform(X), plain.transform(X))
        assert len(grouped.selected_groups_) == grouped.n_selected_ == plain.n_selected_
        if hasattr(plain, "certificate_"):
            assert grouped.certificate_ == plain.certificate_
        if hasattr(plain, "optimality_"):
            assert grouped.gap_path_.keys() == plain.gap_path_.keys()
            assert grouped.optimality_.bound == plain.optimality_.bound
            assert_array_equal(grouped.objective_path_, plain.objective_path_)
    assert not hasattr(plain, "selected_groups_")


@pytest.mark.parametrize("selector", WITH_LABELS, ids=names)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_matrix, pd.DataFrame])
def test_groups_are_selected_whole(selector, container):
    data = container(X)
    grouped = with_groups(selector, LABELS)
    grouped.fit(data, y)
    expected = [np.flatnonzero(label == LABELS) for label in grouped.selected_groups_]
    assert_array_equal(grouped.selected_, np.concatenate(expected))
    assert len(grouped.weights_) == len(grouped.selected_groups_)
    assert grouped.n_selected_ == grouped.get_support().sum() == len(grouped.selected_)
    spread = np.repeat(grouped.weights_, [len(members) for members in expected])
    assert_array_equal(grouped.feature_weights_, spread)
    rescale = getattr(grouped, "rescale", False)
    weighted = np.zeros(D)
    weighted[grouped.selected_] = np.sqrt(spread) if rescale else 1
    Z = grouped.transform(data)
    Z = Z.toarray() if sp.issparse(Z) else np.asarray(Z)
    assert_allclose(Z, (X * weighted)[:, grouped.get_support()])
    back = grouped.inverse_transform(grouped.transform(X))
    assert_allclose(back, X * grouped.get_support(), atol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 3.0])
@pytest.mark.parametrize("sampling", ["iid", "bernoulli", "top"])
def test_certificate_spreads_the_weights(sampling, alpha):
    selector = LeverageSelector(8, sampling=sampling, alpha=alpha, random_state=1, groups=LABELS)
    selector.fit(X)
    expected = by_eigenvalues(X, selector.selected_, selector.feature_weights_, alpha)
    found = selector.certificate_
    assert_allclose([found.lower, found.upper], expected, rtol=1e-6, atol=1e-9)
    verified = certify(X, selector)
    assert_allclose([verified.lower, verified.upper], expected, rtol=1e-6, atol=1e-9)
    assert (verified.promised_lower, verified.alpha) == (found.promised_lower, alpha)
    if sampling != "top" and alpha == 0:
        promised = leverage_promise(selector.rank_, 8, selector.delta)
        assert (found.promised_lower, found.promised_upper) == promised


def test_scores_of_groups_are_sums():
    """p_g = tr B_g / k: here the group of the weakest features is the strongest group."""
    data = np.diag([3.0, 2.0, 1.0, 1.0, 1.0])
    data = np.hstack([data, data[:, :2]])
    selector = LeverageSelector(1, sampling="top", groups=["a", "b", "c", "c", "c", "a", "b"])
    assert selector.fit(data).selected_groups_.tolist() == ["c"]
    assert selector.leverage_scores_.shape == (7,)


@pytest.mark.parametrize("sampling", ["iid", "bernoulli"])
def test_weights_are_one_on_average(sampling):
    random_state = np.random.RandomState(0)
    selector = LeverageSelector(8, sampling=sampling, groups=LABELS, random_state=random_state)
    runs, total = 300, np.zeros(D)
    for _ in range(runs):
        selector.fit(X)
        total[selector.selected_] += selector.feature_weights_
    groups = resolve_groups(LABELS, D)
    p = groups.sums(selector.leverage_scores_)[groups.index] / selector.rank_
    assert np.all(np.abs(total / runs - 1) < 4 / np.sqrt(8 * p * runs))


def test_promise_of_sampled_groups_holds():
    """At delta = 0.1, with groups whose scores differ and whose ranks are below their sizes."""
    data = np.hstack([X, X[:, :20], X[:, :20]])
    groups = np.concatenate([np.arange(D) // 3, np.arange(20) // 3, np.arange(20) // 3])
    failures = 0
    for seed in range(100):
        selector = LeverageSelector(epsilon=0.9, random_state=seed, groups=groups).fit(data)
        found = selector.certificate_
        failures += not (found.promised_lower <= found.lower <= found.upper <= found.promised_upper)
    assert failures <= 10


@pytest.mark.parametrize(
    "selector",
    [LeverageSelector(sampling="top"), RandomSelector(), BSSSelector(), SubsetSelector()],
    ids=names,
)
class TestNumbers:
    def test_more_than_there_are(self, selector):
        with pytest.raises(ValueError, match="counts groups: got 13, and there are 12 groups"):
            clone(selector).set_params(n_features_to_select=13, groups=5).fit(X)
        kept = clone(selector).set_params(n_features_to_select=12, groups=5).fit(X)
        assert kept.n_selected_ == D

    def test_share_of_the_groups(self, selector):
        found = clone(selector).set_params(n_features_to_select=0.25, groups=5).fit(X)
        assert (len(found.selected_groups_), found.n_selected_) == (3, 15)

    def test_default(self, selector):
        found = clone(selector).set_params(groups=5).fit(X)
        count = len(found.selected_groups_)
        if isinstance(selector, SubsetSelector):
            assert found.objective_path_[-1] >= 0.95 > found.objective_path_[-2]
            assert count <= 12
        else:
            most = 12 if isinstance(selector, LeverageSelector) else 6
            assert most - 2 < count <= most  # BSS may draw a group again


class TestBSS:
    def test_promise_counts_groups(self):
        """r > rank draws of groups promise what r draws of features do."""
        data = np.random.default_rng(1).standard_normal((8, 300))
        selector = BSSSelector(20, groups=5).fit(data)
        s = np.sqrt(8 / 20)
        found = selector.certificate_
        assert found.promised_lower == pytest.approx((1 - s) ** 2)
        lower, upper = by_eigenvalues(data, selector.selected_, selector.feature_weights_)
        assert_allclose([found.lower, found.upper], [lower, upper], rtol=1e-9)
        assert found.promised_lower <= lower <= upper <= found.promised_upper
        assert certify(data, selector).verified

    def test_polish_keeps_one_weight_a_group(self):
        data = np.random.default_rng(1).standard_normal((8, 300))
        plain = BSSSelector(20, groups=5).fit(data)
        polished = BSSSelector(20, groups=5, polish=True).fit(data)
        assert_array_equal(polished.selected_, plain.selected_)
        assert polished.weights_.shape == (20,)
        assert polished.certificate_.epsilon < plain.certificate_.epsilon

    def test_epsilon(self):
        data = np.random.default_rng(1).standard_normal((8, 600))
        selector = BSSSelector(epsilon=0.4, groups=3).fit(data)
        assert selector.certificate_.epsilon <= 0.4
        assert len(selector.selected_groups_) < 100

    def test_groups_of_zeros_are_not_selected(self):
        data = np.random.default_rng(1).standard_normal((8, 60))
        data[:, 30:] = 0
        with pytest.warns(
            FewerFeaturesWarning, match="10 groups .* asked for: the others are zero"
        ):
            selector = BSSSelector(12, groups=3).fit(data)
        assert selector.selected_groups_.max() < 10

    def test_too_few(self):
        with pytest.raises(ValueError, match="BSS needs more groups than the rank of X, 12: got 6"):
            BSSSelector(6, alpha=0, groups=5).fit(X)


class TestSubset:
    def test_include_exclude_and_costs_name_groups(self):
        labels = [f"pathway {j % 12}" for j in range(D)]
        selector = SubsetSelector(
            4, groups=labels, include=["pathway 7"], exclude=["pathway 0"], bound=[2]
        ).fit(X)
        assert selector.selected_groups_[0] == "pathway 7"
        assert "pathway 0" not in selector.selected_groups_
        assert (selector.n_selected_, len(selector.objective_path_)) == (20, 4)
        assert sorted(selector.gap_path_) == [2, 4]
        assert selector.optimality_.sentence.startswith("No other 4 of the 12 groups would")
        costs = np.arange(1, 13)
        bought = SubsetSelector(groups=labels, costs=costs, budget=10).fit(X)
        numbers = [int(label.split()[1]) for label in bought.selected_groups_]
        assert costs[numbers].sum() <= 10
        assert bought.optimality_.sentence.startswith("Of the 12 groups, no other groups within")

    def test_labels_of_any_kind(self):
        selector = SubsetSelector(3, groups=np.arange(D) % 12 * 10, include=[110, 30]).fit(X)
        assert selector.selected_groups_[:2].tolist() == [110, 30]
        labels = [(j % 12, "x") for j in range(D)]
        selector = SubsetSelector(3, groups=labels, exclude=[(0, "x")]).fit(X)
        assert (0, "x") not in selector.selected_groups_.tolist()

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"include": ["q"]}, "include: there is no group 'q'"),
            ({"exclude": ["a", "a"]}, "exclude has a group twice"),
            ({"include": "a"}, "include must be a sequence of the groups' labels; got 'a'"),
            ({"include": ["a"], "exclude": ["a"]}, "overlap: group 'a' is in both"),
            ({"costs": np.ones(D), "budget": 3}, r"each of 10 groups; got shape \(60,\)"),
            ({"costs": np.ones(10), "budget": 0.5}, "buys no group"),
            ({"n_features_to_select": 11}, "counts groups: got 11, and there are 10"),
        ],
    )
    def test_errors(self, settings, message):
        with pytest.raises(ValueError, match=message):
            SubsetSelector(groups=LABELS, **settings).fit(X)

    def test_upper_is_one(self):
        selector = SubsetSelector(4, groups=LABELS).fit(X)
        found = selector.certificate_
        lower, upper = by_eigenvalues(X, selector.selected_, np.ones(1), selector.alpha_)
        assert found.upper == pytest.approx(1.0)
        assert found.lower == pytest.approx(lower)
        assert found.promised_lower <= lower <= upper <= 1 + 1e-9


def test_fitted_again_without_groups():
    selector = RandomSelector(3, random_state=0, groups=5).fit(X)
    assert selector.n_selected_ == 15
    selector.set_params(groups=None).fit(X)
    assert selector.n_selected_ == len(selector.feature_weights_) == 3
    assert not hasattr(selector, "selected_groups_")


def test_repr_and_names():
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(D)])
    selector = LeverageSelector(4, sampling="top", groups=LABELS).set_output(transform="pandas")
    Z = selector.fit_transform(frame)
    listed = ", ".join(selector.selected_groups_[:3])
    assert f"4 of 10 groups, {selector.n_selected_} of 60 features: {listed}, ..." in repr(selector)
    assert list(Z.columns) == [f"gene {j}" for j in np.sort(selector.selected_)]
    assert list(selector.get_feature_names_out()) == list(Z.columns)


def test_pipeline_and_clone():
    model = make_pipeline(LeverageSelector(5, random_state=0, groups=LABELS), Ridge())
    assert clone(model).fit(X, y).score(X, y) > 0


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int8])
def test_labels_of_an_integer_array_are_those_of_a_list(dtype):
    labels = np.random.default_rng(0).integers(0, 50, 300).astype(dtype)
    fast, plain = resolve_groups(labels, 300), resolve_groups(labels.tolist(), 300)
    np.testing.assert_array_equal(fast.index, plain.index)
    np.testing.assert_array_equal(fast.labels, plain.labels)
    assert fast.labels.dtype == plain.labels.dtype
