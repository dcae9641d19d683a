# SPDX-License-Identifier: BSD-3-Clause
"""The tables of words."""

import pytest

from ridgewise.paper import NOT_REPRODUCED, REPRODUCED
from ridgewise.paper._study import BSS, LEVERAGE, TextResult
from ridgewise.paper._words import _listed, _looked_up, _matches, _verdict

NAME = "14630_814096"


@pytest.mark.parametrize(
    ("printed", "stem"),
    [("ireland", "ireland"), ("library", "librari"), ("swords", "sword"), ("dublin", "dublin")],
)
def test_a_printed_word_is_known_by_its_stem(printed, stem):
    assert _matches(printed, stem)


@pytest.mark.parametrize(("printed", "stem"), [("ireland", "iceland"), ("library", "lib")])
def test_other_words_are_not(printed, stem):
    assert not _matches(printed, stem)


def result_with(shares):
    from ridgewise.evaluation import FeatureCount

    counts = [FeatureCount(word, place, share) for place, (word, share) in enumerate(shares)]
    return TextResult(NAME, {}, {BSS: counts, LEVERAGE: counts}, 100, 9000)


def test_printed_words_are_looked_up():
    vocabulary = ["ireland", "dublin", "boulder", "school", "other"]
    result = result_with([("ireland", 1.0), ("dublin", 1.0), ("boulder", 0.5), ("other", 1.0)])
    row = _looked_up(result, BSS, vocabulary)
    assert row[2:5] == (8, 4, 2)
    assert row[5] == "ireland, dublin"
    assert row[6] == "boulder 50%, school 0%"
    assert _verdict([row], BSS).status == NOT_REPRODUCED


def test_all_found_is_reproduced():
    result = result_with([("ireland", 1.0), ("dublin", 1.0)])
    row = _looked_up(result, BSS, ["ireland", "dublin"])
    assert _verdict([row], BSS).status == REPRODUCED


def test_ties_are_listed_by_leverage_score():
    result = result_with([("first", 1.0), ("second", 1.0), ("third", 0.9)])
    assert _listed(result, BSS, [0.1, 0.5, 0.9]) == (NAME, BSS, 2, "second, first, third")
