# SPDX-License-Identifier: BSD-3-Clause
"""The page of a comparison: it answers first."""

from collections.abc import Callable, Sequence

from markupsafe import Markup

from ridgewise.datasets.readers import Table
from ridgewise.evaluation import (
    ALL_FEATURES,
    Comparison,
    Standing,
    agreed_features,
    best_standing,
    standings,
)
from ridgewise.report._comparison_figures import (
    draw_alphas,
    draw_errors,
    draw_seconds,
    draw_stability,
)
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.report._svg import Picture
from ridgewise.report._words import plain_number
from ridgewise.selectors import label_of


def comparison_page(comparison: Comparison, table: Table, *, title: str) -> str:
    """Make the page of a comparison.

    Parameters
    ----------
    comparison : Comparison
        What was found.
    table : Table
        What the methods selected from.
    title : str
        What the data is called.

    Returns
    -------
    str
        A whole HTML document.
    """
    found = standings(comparison)
    best = best_standing(found)
    return render_page(
        "comparison.html.j2",
        title=title,
        table=table,
        comparison=comparison,
        headline=headline(comparison, best),
        answer=answer(comparison, found),
        kind="good" if best.is_as_good else "fair",
        facts=_facts(comparison, table),
        errors=_error_pictures(comparison, found, best.row.n_features),
        others=_other_pictures(found),
        standings=_standings_table(comparison, found, best),
        everything=_everything(comparison),
        agreed=_agreed_table(comparison, best.row.n_features),
        n_features=best.row.n_features,
    )


def headline(comparison: Comparison, best: Standing) -> str:
    """Say in a line which method, how many features, and how they do.

    Parameters
    ----------
    comparison : Comparison
        What was found.
    best : Standing
        The best.

    Returns
    -------
    str
    """
    who = f"{best.row.n_features:,} features by {label_of(best.row.method)}"
    whole = f"all {comparison.n_features_in:,}"
    if best.is_better:
        return f"{who} do better than {whole}"
    return f"{who} {'do as well as' if best.is_as_good else 'come closest to'} {whole}"


def answer(comparison: Comparison, found: Sequence[Standing]) -> str:
    """Say how much worse than all features the best is, and whether that can be chance.

    Parameters
    ----------
    comparison : Comparison
        What was found.
    found : sequence of Standing
        How the methods stand.

    Returns
    -------
    str
    """
    best, reference = best_standing(list(found)), found[0]
    error = error_format(comparison)
    with_best, with_all = error(best.row.error_mean), error(reference.row.error_mean)
    if comparison.classify:
        start = f"On samples it has not seen, a model is wrong about {with_best} of them"
    else:
        start = f"On samples it has not seen, a model has a mean squared error of {with_best}"
    who = f"with the {best.row.n_features:,} features of {label_of(best.row.method)}"
    both = f"{start} {who}, and {with_all} with all {comparison.n_features_in:,}."
    return f"{both} {_chance(comparison, best)}"


def _chance(comparison: Comparison, best: Standing) -> str:
    difference = abs(best.test.difference)
    if difference == 0:
        return "There is no difference."
    if comparison.classify:
        amount = f"{100 * difference:.2g} percentage points"
    else:
        amount = f"{plain_number(difference)}"
    worse = "more" if best.test.difference > 0 else "less"
    chance = "is hardly chance" if best.is_worse or best.is_better else "may be chance"
    p = p_value(best.test.p_value)
    return f"That is {amount} {worse}, which {chance} (paired test, {p})."


def p_value(value: float) -> str:
    """Write a p-value as sentences have it.

    Parameters
    ----------
    value : float
        The value.

    Returns
    -------
    str
    """
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def error_format(comparison: Comparison) -> Callable[[float], str]:
    """Choose how errors are written: shares in percent, squares as they are.

    Parameters
    ----------
    comparison : Comparison
        What was found.

    Returns
    -------
    callable
        From an error to a word.
    """
    return "{:.1%}".format if comparison.classify else plain_number


def _facts(comparison: Comparison, table: Table) -> list[tuple[str, str]]:
    return [
        ("samples", f"{comparison.n_samples:,}"),
        ("features", f"{comparison.n_features_in:,}"),
        ("target", str(table.target_name or "labels")),
        ("task", "classification" if comparison.classify else "regression"),
        ("cross-validation", f"{comparison.n_repeats} x {comparison.n_splits} folds"),
        ("methods", f"{len(comparison.methods) - 1}"),
    ]


def _error_pictures(
    comparison: Comparison, found: Sequence[Standing], n_features: int
) -> list[Picture]:
    error = error_format(comparison)
    summary = "; ".join(
        f"{label_of(one.row.method)} with {one.row.n_features}: {error(one.row.error_mean)}"
        for one in found
    )
    pictures = [
        Picture(
            draw_errors(comparison, found),
            f"Error against number of features, one line a method. {summary}.",
            "Mean error on samples that were left out, lower is better; the bars are a standard "
            f"deviation over the {comparison.n_repeats} repeats.",
        )
    ]
    if len(comparison.alphas) > 1:
        pictures.append(
            Picture(
                draw_alphas(comparison, n_features),
                f"Error against alpha with {n_features} features, one line a method.",
                "Alpha is how strongly the model is held back. A method that does well over many "
                "alphas needs less tuning.",
            )
        )
    return pictures


def _other_pictures(found: Sequence[Standing]) -> list[Picture]:
    return [
        Picture(
            draw_stability(found),
            "Stability against number of features, one line a method.",
            "How far a method selects the same features when some samples are exchanged "
            "(Nogueira's measure; 0 is as good as random).",
        ),
        Picture(
            draw_seconds(found),
            "Seconds to select against number of features, one line a method.",
            "Mean time of one selection, on one thread; what methods share, such as the spectrum, "
            "is charged to each.",
        ),
    ]


def _standings_table(
    comparison: Comparison, found: Sequence[Standing], best: Standing
) -> DataTable:
    shown = "{:.1%}" if comparison.classify else "{:.4g}"
    change = "{:+.1%}" if comparison.classify else "{:+.4g}"
    columns = [
        Column("method"),
        Column("features", "{:,}", "How many were asked for"),
        Column("error", shown, "Mean over all folds"),
        Column("±", shown, "Standard deviation over the repeats"),
        Column("against all", change, "Error minus that of all features"),
        Column("p", "{:.2g}", "Paired test: how often chance makes such a difference"),
        Column("alpha", "{:.4g}", "The one of the smallest error"),
        Column("stability", "{:z.2f}", "1: always the same features"),
        Column("seconds", "{:.3g}", "To select, mean"),
        Column("kept", "{:,.0f}", "Distinct features, mean: some methods draw one twice"),
    ]
    return DataTable(
        columns,
        [_standing_cells(one, is_best=one == best) for one in found],
        file_name="best.csv",
        marked={place for place, one in enumerate(found) if one == best},
    )


def _standing_cells(one: Standing, *, is_best: bool) -> tuple[object, ...]:
    row = one.row
    name = label_of(row.method)
    whole = row.method == ALL_FEATURES
    return (
        Markup('{} <span class="mark">best</span>').format(name) if is_best else name,
        row.n_features,
        row.error_mean,
        row.error_std,
        None if whole else one.test.difference,
        None if whole else one.test.p_value,
        row.alpha,
        None if whole else row.stability,
        None if whole else row.seconds_mean,
        row.n_selected,
    )


def _everything(comparison: Comparison) -> DataTable:
    shown = "{:.2%}" if comparison.classify else "{:.5g}"
    columns = [
        Column("method"),
        Column("n_features", "{}"),
        Column("alpha", "{:.4g}"),
        Column("error_mean", shown),
        Column("error_std", shown),
        Column("seconds_mean", "{:.3g}"),
        Column("stability", "{:z.3f}"),
    ]
    rows = [tuple(getattr(row, column.title) for column in columns) for row in comparison.rows]
    return DataTable(columns, rows, file_name="results.csv")


def _agreed_table(comparison: Comparison, n_features: int) -> DataTable | None:
    agreed = agreed_features(comparison, n_features)
    if not agreed:
        return None
    methods = list(agreed[0].shares)
    columns = [
        Column("feature"),
        Column("index", "{}", "Its place in the data, from 0"),
        *(Column(label_of(method), "{:.0%}", "Share of its selections") for method in methods),
        Column("least", "{:.0%}", "The smallest of these shares"),
    ]
    rows = [
        (one.feature, one.index, *one.shares.values(), min(one.shares.values())) for one in agreed
    ]
    return DataTable(columns, rows, file_name="agreed.csv")
