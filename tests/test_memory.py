# SPDX-License-Identifier: BSD-3-Clause
"""Work in common is done once, and charged to everyone who needs it."""

from time import sleep

import numpy as np
import pytest

from ridgewise import BSSSelector, LeverageSelector
from ridgewise._run import remembered, remembering

PAUSE = 0.02


class Counted:
    """A function that counts its calls, and takes its time."""

    def __init__(self):
        self.calls = []

    def __call__(self, subject, **settings):
        self.calls.append(settings)
        sleep(PAUSE)
        return object()


@pytest.fixture
def function():
    return Counted()


def test_outside_nothing_is_remembered(function):
    subject = object()
    assert remembered(function, subject) is not remembered(function, subject)


def test_inside_the_same_call_is_made_once(function):
    subject = object()
    with remembering():
        first = remembered(function, subject, rank=3, center=True)
        assert remembered(function, subject, center=True, rank=3) is first
    assert function.calls == [{"rank": 3, "center": True}]


def test_afterwards_all_is_forgotten(function):
    subject = object()
    for _ in range(2):
        with remembering():
            remembered(function, subject)
    remembered(function, subject)
    assert len(function.calls) == 3


def test_equal_subjects_are_not_the_same(function):
    with remembering():
        remembered(function, [1.0])
        remembered(function, [1.0])
    assert len(function.calls) == 2


def test_subjects_are_held_so_that_no_other_has_their_id(function):
    with remembering():
        results = {id(remembered(function, np.zeros(3))) for _ in range(20)}
    assert len(results) == len(function.calls) == 20


@pytest.mark.parametrize("values", [(1, 1.0), (1, True), (0, False), (None, 0), ("a", "b")])
def test_settings_of_another_type_make_another_call(function, values):
    subject = object()
    with remembering():
        for value in values:
            remembered(function, subject, rank=value)
    assert [call["rank"] for call in function.calls] == list(values)


def test_one_vector_is_not_all_energy():
    """rank=1 is one singular vector, and rank=1.0 all of them, which Python takes for equal."""
    X = np.random.RandomState(0).normal(size=(10, 50))
    with remembering():
        assert [BSSSelector(20, rank=rank).fit(X).rank_ for rank in (1, 1.0)] == [1, 10]


def test_what_cannot_be_hashed_gets_to_the_function():
    X = np.random.RandomState(0).normal(size=(10, 50))
    with remembering(), pytest.raises(ValueError, match="rank must be None, an int"):
        BSSSelector(20, rank=[1]).fit(X)


def test_time_saved_is_that_of_the_calls_recalled(function):
    subject = object()
    with remembering() as memory:
        remembered(function, subject)
        assert memory.seconds_saved == 0
        remembered(function, subject)
        once = memory.seconds_saved
        remembered(function, subject)
    assert once >= PAUSE
    assert memory.seconds_saved == pytest.approx(2 * once)


def test_calls_within_calls_are_charged_in_full(function):
    """The outer call recalls the inner one: whoever recalls the outer saves the time of both."""
    subject = object()

    def outer(subject):
        sleep(PAUSE)
        return remembered(function, subject)

    with remembering() as memory:
        remembered(function, subject)
        remembered(outer, subject)
        before = memory.seconds_saved
        remembered(outer, subject)
    assert memory.seconds_saved - before >= 2 * PAUSE


def test_a_failed_call_is_made_again():
    calls = []

    def fails_first(subject):
        calls.append(subject)
        if len(calls) == 1:
            raise ValueError("not yet")
        return "done"

    with remembering():
        with pytest.raises(ValueError, match="not yet"):
            remembered(fails_first, None)
        assert remembered(fails_first, None) == "done"


def test_within_another_one_is_on_its_own(function):
    subject = object()
    with remembering():
        first = remembered(function, subject)
        with remembering():
            assert remembered(function, subject) is not first
        assert remembered(function, subject) is first


def test_selections_are_the_same_as_without():
    X = np.random.RandomState(0).normal(size=(20, 100))
    selectors = [
        BSSSelector(40),
        BSSSelector(40, rule="slack", polish=True),
        LeverageSelector(40, random_state=0),
        BSSSelector(40, center=True),
    ]

    def weights():
        return [selector.fit(X).weights_.copy() for selector in selectors]

    alone = weights()
    with remembering():
        together, again = weights(), weights()
    for expected, *found in zip(alone, together, again, strict=True):
        for one in found:
            np.testing.assert_array_equal(one, expected)
