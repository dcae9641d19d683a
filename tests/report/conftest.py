# SPDX-License-Identifier: BSD-3-Clause
"""What the demo might have found."""

import numpy as np
import pytest

from ridgewise.evaluation import ALL_WORDS, Demo, HoldoutRow
from ridgewise.guarantees import Certificate


@pytest.fixture
def demo() -> Demo:
    methods = ["BSS", "leverage sampling", "RRQR", "information gain", "random"]
    rows = [
        HoldoutRow(method, 80.0 - 10 * place, 0.05 + place / 100, 0.0123, place / 7)
        for place, method in enumerate(methods, start=1)
    ]
    kept = {
        method: np.linspace(1.5, 0.5 / place, 20) for place, method in enumerate(methods, start=1)
    }
    kept["random"][-3:] = 0
    return Demo(
        python_version="3.99.1",
        topics={"left": 15, "right": 25},
        n_words=200,
        n_features=80,
        rank=20,
        seed=7,
        n_splits=5,
        alpha=31.6,
        telling={"left": ["sinister", "port"], "right": ["dexterous", "starboard"]},
        certificate=Certificate(0.5, 1.5, 0.25, 2.25),
        kept=kept,
        rows=[HoldoutRow(ALL_WORDS, 200.0, 0.0512, 0.0123, 0.0), *rows],
    )
