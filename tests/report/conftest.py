# SPDX-License-Identifier: BSD-3-Clause
"""What the demo, a selection and a comparison might have found."""

import numpy as np
import pytest

from ridgewise import (
    BSSSelector,
    InformationGainSelector,
    RandomSelector,
    SubsetSelector,
    compare,
    make_ridge_synthetic,
)
from ridgewise.datasets.readers import Source, Table
from ridgewise.evaluation import ALL_WORDS, ComparisonRow, Demo, run_selection
from ridgewise.guarantees import Certificate
from ridgewise.report import comparison_page, selection_page

NASTY = (  # names as an enemy would choose them
    "<script>document.title = 'hostile'</script>",
    "<img src=x onerror=\"document.title='hostile'\">",
    "\"><svg onload=document.title='hostile'>",
    "$\\frac{$",
    'a "quoted", name\nof two lines',
    "javascript:document.title='hostile'",
    "{{ 7 * 7 }}",
    "\x1b[31m\x00\u202e\U0001f9ec",
    '=HYPERLINK("x")',
    "gene" * 60,
)


def demo_row(method, n_selected, error, seconds):
    return ComparisonRow(method, 80, 1.0, error, 0.0123, seconds, 0.5, 0.5, n_selected)


@pytest.fixture
def demo() -> Demo:
    methods = ["BSS", "leverage sampling", "RRQR", "information gain", "random"]
    rows = [
        demo_row(method, 80.0 - 10 * place, 0.05 + place / 100, place / 7)
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
        rows=[demo_row(ALL_WORDS, 200.0, 0.0512, 0.0), *rows],
    )


@pytest.fixture(scope="session")
def table() -> Table:
    X, y = make_ridge_synthetic(40, 300, n_relevant=9, random_state=0)
    names = [f"{NASTY[place % len(NASTY)]} {place}" for place in range(300)]
    return Table(
        X=X,
        y=y,
        feature_names=np.array(names, dtype=object),
        sample_names=None,
        target_name=NASTY[0],
        format="csv",
        sources=(Source("data", f"folder/{NASTY[0]}", 123, "ab" * 32),),
        notes=(f"Column {NASTY[1]} was dropped.",),
        seconds=0.1,
    )


@pytest.fixture(scope="session")
def selection_run(table):
    return run_selection(BSSSelector(40, rank=10), table.X, feature_names=table.feature_names)


@pytest.fixture(scope="session")
def selection_html(selection_run, table) -> str:
    return selection_page(selection_run, table, title=NASTY[0])


@pytest.fixture(scope="session")
def subset_html(table) -> str:
    selector = SubsetSelector(20, target="y", center=True, bound=[5])
    run = run_selection(selector, table.X, table.y, feature_names=table.feature_names)
    return selection_page(run, table, title=NASTY[0])


@pytest.fixture(scope="session")
def comparison_html(table) -> str:
    selectors = {
        "bss": BSSSelector(),
        "information-gain": InformationGainSelector(threshold="median"),
        "random": RandomSelector(),
        NASTY[0]: BSSSelector(rule="slack"),
    }
    found = compare(
        selectors,
        table.X,
        table.y,
        alphas=[1.0, 10.0],
        n_features=[20, 60],
        n_splits=4,
        n_repeats=2,
        feature_names=table.feature_names.tolist(),
    )
    return comparison_page(found, table, title="the data")
