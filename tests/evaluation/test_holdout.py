# SPDX-License-Identifier: BSD-3-Clause
"""Held-out error: nothing is learned from a test sample, and all selectors share the splits."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ridgewise import RandomSelector, RLSClassifier, make_ridge_synthetic
from ridgewise.evaluation import holdout


class Spy(TransformerMixin, BaseEstimator):
    """Keeps all features, and notes the first one, which numbers the samples."""

    fitted: ClassVar[list[set[float]]] = []
    transformed: ClassVar[list[set[float]]] = []
    seeds: ClassVar[list[int]] = []

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.fitted.append(set(X[:, 0]))
        self.seeds.append(self.random_state)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        self.transformed.append(set(X[:, 0]))
        return X


@pytest.fixture
def spy():
    for notes in (Spy.fitted, Spy.transformed, Spy.seeds):
        notes.clear()
    return Spy()


@pytest.fixture
def data():
    X, y = make_ridge_synthetic(n_samples=40, n_features=50, n_relevant=5, random_state=0)
    X[:, 0] = np.arange(40)
    return X, y


def test_selection_sees_training_samples_only(data, spy):
    holdout({"spy": spy}, DummyClassifier(), *data, n_splits=4, random_state=0)
    everything = set(range(40))
    tests = [seen for seen in Spy.transformed if seen not in Spy.fitted]
    assert len(Spy.fitted) == len(tests) == 4
    for train, test in zip(Spy.fitted, tests, strict=True):
        assert train | test == everything
        assert not train & test
    assert sorted(number for test in tests for number in test) == sorted(everything)


def test_selectors_share_splits(data, spy):
    holdout({"one": spy, "two": spy}, DummyClassifier(), *data, n_splits=4, random_state=0)
    assert Spy.fitted[:4] == Spy.fitted[4:]


@pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "in a pipeline"])
def test_random_selectors_draw_anew_in_each_split(data, spy, wrapped):
    selector = make_pipeline(spy) if wrapped else spy
    holdout({"spy": selector}, DummyClassifier(), *data, n_splits=4, random_state=0)
    assert len(set(Spy.seeds)) == 4


def test_same_seed_same_rows(data):
    def errors(seed):
        selectors = {"random": RandomSelector(10)}
        rows = holdout(selectors, RLSClassifier(), *data, random_state=seed)
        return [(row.error_mean, row.error_std) for row in rows]

    assert errors(0) == errors(0)
    assert errors(0) != errors(1)


def test_selectors_and_model_stay_as_they_are(data):
    selector, model = RandomSelector(10), RLSClassifier()
    holdout({"random": selector}, model, *data, random_state=0)
    assert selector.random_state is None
    assert not hasattr(selector, "selected_")
    assert not hasattr(model, "coef_")


def test_rows_say_what_happened(data):
    X, y = data
    selectors = {"best": SelectKBest(k=3), "random": RandomSelector(7)}
    steps = []
    best, random = holdout(selectors, RLSClassifier(), X, y, random_state=0, on_step=steps.append)
    assert steps == [best.method, random.method] == ["best", "random"]
    assert (best.n_selected, random.n_selected) == (3, 7)
    assert best.error_mean < random.error_mean
    assert best.seconds_mean > 0


def test_mean_and_deviation_are_those_of_the_folds():
    # The model always says "a", of which each fold of four has three.
    y = np.array(["a", "a", "a", "b"] * 5)
    (row,) = holdout(
        {"scaler": StandardScaler()},
        DummyClassifier(),
        np.arange(20.0)[:, None],
        y,
        random_state=0,
    )
    assert row.error_mean == 0.25
    assert row.error_std == 0


def test_data_frames_and_words_for_classes(data):
    X, y = data
    frame = pd.DataFrame(X).rename(columns=str)
    classes = pd.Series(np.where(y > 0, "ham", "spam"))
    selectors = {"random": RandomSelector(10)}
    (by_frame,) = holdout(selectors, RLSClassifier(), frame, classes, random_state=0)
    (by_array,) = holdout(selectors, RLSClassifier(), X, -y, random_state=0)
    assert by_frame.error_mean == by_array.error_mean
