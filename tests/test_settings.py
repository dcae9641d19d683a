# SPDX-License-Identifier: BSD-3-Clause
"""How the tests themselves are run."""

from hypothesis import settings


def test_examples_are_the_same_on_every_run(request):
    """A test that fails must fail again. Hypothesis searches for new examples on demand only."""
    chosen = request.config.getoption("--hypothesis-profile") or "fixed"
    assert settings().derandomize == (chosen != "explore")
    assert not settings.get_profile("explore").derandomize
