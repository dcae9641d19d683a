# SPDX-License-Identifier: BSD-3-Clause
"""The page of a selection."""

from typing import Any

from ridgewise.datasets.readers import Table
from ridgewise.evaluation import SelectionRun
from ridgewise.guarantees import Certificate
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.report._selection_figures import (
    draw_certificate,
    draw_correlations,
    draw_leverage,
    draw_parts,
    draw_singular_values,
)
from ridgewise.report._svg import Picture
from ridgewise.report._words import plain_number
from ridgewise.selectors import METHODS, label_of, method_of

GOOD, FAIR = 0.25, 0.05  # of lower: a contrast is kept at half, or at a fifth, of its length
FEWEST_CORRELATED = 3


def selection_page(run: SelectionRun, table: Table, *, title: str) -> str:
    """Make the page of a selection.

    Parameters
    ----------
    run : SelectionRun
        What was selected.
    table : Table
        What it was selected from.
    title : str
        What the data is called.

    Returns
    -------
    str
        A whole HTML document.
    """
    certificate = run.certificate
    low, high = f"{certificate.lower:.3g}", f"{certificate.upper:.3g}"
    return render_page(
        "selection.html.j2",
        title=title,
        run=run,
        table=table,
        method=label_of(method_of(run.selector)),
        does=METHODS[method_of(run.selector)].does,
        facts=_facts(run),
        kind=_kind(certificate),
        explanation=explain_certificate(run),
        features=_features(run),
        certificate_picture=Picture(
            draw_certificate(certificate),
            f"Measured between {low} and {high} on a scale on which 0 is lost and 1 is perfect.",
        ),
        pictures=_pictures(run),
        strongest=_strongest(run),
        parameters=sorted(run.selector.get_params().items()),
    )


def explain_certificate(run: SelectionRun) -> str:
    """Say in two sentences what a certificate means, to who has never seen one.

    Parameters
    ----------
    run : SelectionRun
        What was selected.

    Returns
    -------
    str
    """
    certificate = run.certificate
    features = f"the {run.selector.n_selected_:,} selected features"
    if certificate.lower <= 0:
        meaning = (
            f"With {features} alone, some contrast between your samples cannot be seen any more: "
            f"nothing is certified about a model that needs it."
        )
        return f"{meaning} {certificate.note or _more(certificate)}"
    added = ""
    if certificate.alpha > 0:
        added = (
            f", with the penalty of a ridge model, alpha {plain_number(certificate.alpha)} or more"
        )
    meaning = (
        "Take any contrast between your samples, such as patients against controls: with "
        f"{features} it is between {certificate.lower:.3g} and {certificate.upper:.3g} times as "
        f"large (in squares{added}) as with all {run.n_features:,}, where 1 would mean that "
        "nothing is lost"
    )
    return f"{meaning}. {_promise(run)}"


def _promise(run: SelectionRun) -> str:
    certificate, method = run.certificate, label_of(method_of(run.selector))
    if certificate.promised_lower is None:
        return f"Nothing was promised beforehand: {method} guarantees nothing here."
    sure = "" if certificate.confidence == 1 else f", with probability {certificate.confidence:g},"
    return (
        f"Before it began, {method} promised{sure} {certificate.promised_lower:.3g} to "
        f"{certificate.promised_upper:.3g}; the narrower the measured interval, and the nearer to "
        "1, the less a model notices that features are gone."
    )


def _more(certificate: Certificate) -> str:
    return f"More features{', or a larger alpha,' if certificate.alpha > 0 else ''} would help."


def _kind(certificate: Certificate) -> str:
    if certificate.lower >= GOOD:
        return "good"
    return "fair" if certificate.lower >= FAIR else "poor"


def _facts(run: SelectionRun) -> list[tuple[str, Any]]:
    facts: list[tuple[str, Any]] = [
        ("samples", f"{run.n_samples:,}"),
        ("features", f"{run.n_features:,}"),
        ("rank of the data", f"{run.rank:,}"),
        ("selected", f"{run.selector.n_selected_:,}"),
        ("kept of any contrast", f"{run.certificate.lower:.3g} to {run.certificate.upper:.3g}"),
        ("certificate", "verified" if run.certificate.verified else "measured"),
    ]
    return facts


def _features(run: SelectionRun) -> DataTable:
    return DataTable(
        [
            Column("feature"),
            Column("index", "{}", "Its place in the data, from 0"),
            Column("order", "{}", "When it was selected"),
            Column("weight", "{:.4g}", "How many features it stands for, so to speak"),
            Column("leverage", "{:.4g}", "How much it has to itself: 0 nothing, 1 a direction"),
        ],
        run.rows,
        file_name="selected.csv",
    )


def _pictures(run: SelectionRun) -> list[Picture]:
    top = run.leverage_scores[run.selector.selected_]
    return [
        Picture(
            draw_leverage(run),
            "Leverage scores of all features in descending order, with the selected ones marked; "
            f"theirs are between {top.min():.3g} and {top.max():.3g}.",
            "A feature has a large leverage score if it holds something that few others hold. "
            "Each blue stroke is a selected feature.",
        ),
        Picture(
            draw_singular_values(run),
            f"{run.rank} singular values, from {run.singular_values[0]:.3g} down to "
            f"{run.singular_values[-1]:.3g}.",
            f"The samples differ from each other in {run.rank:,} independent directions; a steep "
            "fall means that a few of them hold nearly all there is.",
        ),
    ]


def _strongest(run: SelectionRun) -> list[Picture]:
    """The features that count most and their heat map, where there are enough to speak of."""
    count = len(run.correlated)
    if count < FEWEST_CORRELATED:
        return []
    return [
        Picture(
            draw_parts(run),
            f"The {count} selected features of the most weight times leverage score.",
            f"The {count} selected features with the largest part in what the selection keeps.",
        ),
        Picture(
            draw_correlations(run),
            f"Correlations among the {count} selected features of the most weight.",
            "Correlations among the same features: blue go up together, orange against each "
            "other, the stronger the more.",
        ),
    ]
