# SPDX-License-Identifier: BSD-3-Clause
"""The random attack of `tests/attack.py`, on a few cases."""

import pytest
from tests.attack import attack


@pytest.mark.parametrize("seed", range(3))
def test_nothing_that_is_claimed_is_false(seed):
    counts, false = attack(20, 10 + seed)
    assert not false
    assert counts["certify: lower"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_is_claimed_of_many_cases_is_false(seed):
    counts, false = attack(500, 20 + seed)
    assert not false
    assert counts["predictions: bound"] > 500
