# SPDX-License-Identifier: BSD-3-Clause
"""The page of a selection."""

import numpy as np

from ridgewise.datasets.readers import Table
from ridgewise.evaluation import SelectionRun
from ridgewise.report import _selection_figures as figures
from ridgewise.report import _selection_words as words
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.report._svg import Picture
from ridgewise.selectors import METHODS, method_of

FEWEST_CORRELATED = 3
LEAST_SPREAD = 0.01  # of leverage scores: where all are the same, they say nothing


def selection_page(run: SelectionRun, table: Table, *, title: str, command: str = "") -> str:
    """Make the page of a selection."""
    certificate, random, method = run.certificate, run.random, method_of(run.selector)
    optimality = getattr(run.selector, "optimality_", None)
    return render_page(
        "selection.html.j2",
        title=title,
        run=run,
        table=table,
        heading=words.name_selection(run),
        does=METHODS[method].does if method in METHODS else "",
        notes=[*words.describe_count(run), *words.describe_groups(run), *run.notes],
        facts=_facts(run),
        kind="plain" if words.uses_target(run) else words.judge(run),
        explanation=words.explain_certificate(run),
        models=words.explain_models(run),
        held_out=words.describe_held_out(run),
        optimality=optimality,
        path_picture=None if optimality is None else _path_picture(run),
        features=_features(run),
        groups=_groups(run) if run.groups else None,
        weighted=bool((run.selector.weights_ != 1).any()),
        certificate_picture=Picture(
            figures.draw_certificate(words.interval_rows(run)),
            f"Measured between {certificate.lower:.3g} and {certificate.upper:.3g}, random "
            f"features between {random.lower:.3g} and {random.upper:.3g}, on a scale on which 0 "
            "is lost and 1 is perfect.",
        ),
        pictures=_pictures(run),
        command=command,
        parameters=sorted(words.parameters_of(run.selector).items()),
    )


def _path_picture(run: SelectionRun) -> Picture:
    reached = run.selector.objective_path_[-1]
    return Picture(
        figures.draw_path(run.selector),
        f"With {run.selector.n_selected_} features {reached:.1%} of what all features give is "
        "reached; a mark shows what no subset of the same size can pass.",
        "How much better a model gets with each feature, from none (0 %) to all (100 %). The "
        "orange marks are proved: no subset of that size gets beyond them.",
    )


def _facts(run: SelectionRun) -> list[tuple[str, str]]:
    certificate, alpha, held_out = run.certificate, run.alpha, run.held_out
    errors: list[tuple[str, str]] = []
    if held_out is not None:
        write = "{:.1%}".format if held_out.classify else "{:.3g}".format
        errors = [
            ("held-out error, selected", write(held_out.selected)),
            ("held-out error, all features", write(held_out.everything)),
        ]
    return [
        ("samples", f"{run.n_samples:,}"),
        ("features", f"{run.n_features:,}"),
        ("rank of the data", f"{run.rank:,}"),
        ("selected", f"{run.selector.n_selected_:,}"),
        ("kept of any contrast", f"{certificate.lower:.3g} to {certificate.upper:.3g}"),
        ("by random features", f"{run.random.lower:.3g} to {run.random.upper:.3g}"),
        ("for alpha / mean diagonal", f"≥ {alpha.relative:.3g}" if alpha.value else "≥ 0 (all)"),
        ("certificate", "verified" if certificate.verified else "measured"),
        *errors,
    ]


def _features(run: SelectionRun) -> DataTable:
    return DataTable(
        [
            Column("feature"),
            Column("index", "{}", "Its column in the data, from 0", minor=True),
            Column("order", "{}", "When it was selected", minor=True),
            Column("weight", "{:.4g}", "Factor of the square of the feature"),
            Column("leverage", "{:.4g}", "From 0 (other features can replace it) to 1 (none can)"),
            Column("stands for", "", "Left-out features that correlate with it"),
        ],
        run.rows,
        file_name="selected.csv",
    )


def _groups(run: SelectionRun) -> DataTable:
    """Make the table of the selected groups, with their members."""
    return DataTable(
        [
            Column("group"),
            Column("order", "{}", "When it was selected", minor=True),
            Column("features", "{}", "How many it has"),
            Column("weight", "{:.4g}", "That of each of its features"),
            Column("leverage", "{:.4g}", "The sum over its features"),
            Column("members", "", "Its features"),
        ],
        [
            (one.label, order, len(one.members), one.weight, one.leverage, "; ".join(one.members))
            for order, one in enumerate(run.groups, start=1)
        ],
        file_name="groups.csv",
    )


def _pictures(run: SelectionRun) -> list[Picture]:
    """The pictures that say something about this data."""
    pictures = []
    top = run.leverage_scores[run.selector.selected_]
    if run.n_samples < run.n_features and np.ptp(run.leverage_scores) > LEAST_SPREAD:
        pictures.append(
            Picture(
                figures.draw_leverage(run),
                "Leverage scores of all features in descending order, with the selected ones "
                f"marked; theirs are between {top.min():.3g} and {top.max():.3g}.",
                "A feature has a large leverage score if other features cannot replace it. Each "
                "blue stroke is a selected feature.",
            )
        )
    values = run.singular_values
    if run.rank > 1:
        pictures.append(
            Picture(
                figures.draw_singular_values(run),
                f"{run.rank} singular values, from {values[0]:.3g} down to {values[-1]:.3g}.",
                f"The samples differ from each other in {run.rank:,} independent directions; a "
                "steep fall means that a few of them have nearly all of the variation.",
            )
        )
    count = len(run.strongest)
    if count < FEWEST_CORRELATED:
        return pictures
    return [
        *pictures,
        Picture(
            figures.draw_parts(run),
            f"The {count} selected features with the largest weight times leverage score.",
            f"The {count} selected features that contribute most to the certificate.",
        ),
        Picture(
            figures.draw_correlations(run),
            f"Correlations among the {count} selected features that contribute most.",
            "Correlations among the same features: blue is positive, orange negative; the darker, "
            "the stronger.",
        ),
    ]
