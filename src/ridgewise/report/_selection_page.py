# SPDX-License-Identifier: BSD-3-Clause
"""The page of a selection: its tables, and when a picture is shown; the text is in the template."""

import numpy as np

from ridgewise.datasets.readers import Table
from ridgewise.evaluation import SelectionRun
from ridgewise.report import _selection_figures as figures
from ridgewise.report import _selection_words as words
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.selectors import METHODS, method_of

LEAST_SPREAD = 0.01  # of leverage scores: if all are the same, a picture says nothing


def selection_page(run: SelectionRun, table: Table, *, title: str, command: str = "") -> str:
    """Make the page of a selection."""
    method, is_wide = method_of(run.selector), run.n_samples < run.n_features
    return render_page(
        "selection.html.j2",
        title=title,
        run=run,
        table=table,
        words=words,
        figures=figures,
        does=METHODS[method].does if method in METHODS else "",
        notes=[*words.describe_count(run), *words.describe_groups(run), *run.notes],
        features=_features(run),
        groups=_groups(run) if run.groups else None,
        weighted=bool((run.selector.weights_ != 1).any()),
        selected_scores=run.leverage_scores[run.selector.selected_],
        shows_scores=is_wide and np.ptp(run.leverage_scores) > LEAST_SPREAD,
        command=command,
        parameters=sorted(words.parameters_of(run.selector).items()),
    )


def _features(run: SelectionRun) -> DataTable:
    columns = [
        Column("feature"),
        Column("index", "{}", "Its column in the data, from 0", minor=True),
        Column("order", "{}", "When it was selected", minor=True),
        Column("weight", "{:.4g}", "Factor of the square of the feature"),
        Column("leverage", "{:.4g}", "From 0 (other features can replace it) to 1 (none can)"),
        Column("stands for", "", "Left-out features that correlate with it"),
    ]
    return DataTable(columns, run.rows, file_name="selected.csv")


def _groups(run: SelectionRun) -> DataTable:
    columns = [
        Column("group"),
        Column("order", "{}", "When it was selected", minor=True),
        Column("features", "{}", "How many it has"),
        Column("weight", "{:.4g}", "That of each of its features"),
        Column("leverage", "{:.4g}", "The sum over its features"),
        Column("members", "", "Its features"),
    ]
    rows = [
        (one.label, order, len(one.members), one.weight, one.leverage, "; ".join(one.members))
        for order, one in enumerate(run.groups, start=1)
    ]
    return DataTable(columns, rows, file_name="groups.csv")
