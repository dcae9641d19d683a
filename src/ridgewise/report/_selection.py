# SPDX-License-Identifier: BSD-3-Clause
"""What a selection found: in sentences, at a terminal, on a page, and as CSV and JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table as RichTable

from ridgewise._groups import resolve_groups
from ridgewise.datasets.readers import Table
from ridgewise.evaluation import LARGEST, ModelAlpha, SelectionRun
from ridgewise.guarantees import Certificate
from ridgewise.report import _selection_figures as figures
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.report._outputs import csv_bytes, input_record, versions
from ridgewise.report._style import one_line, plain_number
from ridgewise.report._terminal import (
    JUDGEMENT_STYLES,
    LONGEST_NAME,
    file_lines,
    heading,
    note_lines,
    plain_table,
    print_parts,
)
from ridgewise.selectors import METHODS, label_of, method_of

GOOD = 1 / 3  # eta relative to that of no features; at alpha = 0, eta of the interval [1/4, 4]
BETTER, SAME = 0.75, 0.9  # eta relative to random features': clearly less, about the same
MOST_LISTED = 12  # groups in a sentence
N_SHOWN = 10  # features at a terminal
LEAST_SPREAD = 0.01  # range of leverage scores; below it, a figure would show nothing
SELECTED_COLUMNS = ("feature", "index", "order", "weight", "leverage", "stands_for")
CERTIFICATE_FIELDS = (
    *("lower", "upper", "epsilon", "promised_lower", "promised_upper", "confidence"),
    *("alpha", "verified", "note"),
)


def print_selection(
    run: SelectionRun, table: Table, files: Sequence[Path], file: IO[str] | None = None
) -> None:
    """Print what was selected, the error, the certificate, and the first features."""
    parts: list[RenderableType] = [
        heading(name_selection(run)),
        f"{run.n_samples:,} samples, of rank {run.rank:,}.",
        *note_lines([*_notes(run), *table.notes]),
    ]
    if (optimality := getattr(run.selector, "optimality_", None)) is not None:
        parts += [heading("Could other features do better?"), f"{optimality.sentence}\n"]
    for sentence in describe_held_out(run):
        parts += [heading("The error"), f"{sentence}\n"]
    parts += [heading("The certificate"), _certificate_table(run)]
    parts += [f"{explain_certificate(run)}\n", f"{explain_models(run)}\n"]
    if run.groups:
        titles = "group", "features"
        cells = [(one.label, len(one.members), one.weight, one.leverage) for one in run.groups]
    else:
        titles = "feature", "index"
        cells = [(row[0], row[1], row[3], row[4]) for row in run.rows]
    first = "The" if len(cells) <= N_SHOWN else f"The first {N_SHOWN}"
    rows = plain_table(*titles, "weight", "leverage")
    for name, number, weight, leverage in cells[:N_SHOWN]:
        name = one_line(name, LONGEST_NAME)
        rows.add_row(name, f"{number}", f"{weight:.4g}", f"{leverage:.4g}")
    print_parts([*parts, heading(f"{first} {titles[0]}s"), rows, *file_lines(files)], file)


def _notes(run: SelectionRun) -> list[str]:
    return [*describe_count(run), *describe_groups(run), *run.notes]


def _certificate_table(run: SelectionRun) -> RichTable:
    rows = plain_table("", "lower", "upper", "fitted values change")
    for name, one in interval_rows(run):
        judged = name.startswith("measured") and not uses_target(run)
        style = JUDGEMENT_STYLES[judge(run)] if judged else None
        change = f"at most {one.eta:.0%}"
        rows.add_row(name, f"{one.lower:.4g}", f"{one.upper:.4g}", change, style=style)
    return rows


def selection_page(run: SelectionRun, table: Table, *, title: str, command: str = "") -> str:
    """Make the page of a selection."""
    method, is_wide = method_of(run.selector), run.n_samples < run.n_features
    return render_page(
        "selection.html.j2",
        title=title,
        run=run,
        table=table,
        figures=figures,
        name=name_selection(run),
        does=METHODS[method].does if method in METHODS else "",
        notes=_notes(run),
        errors=describe_held_out(run),
        explanation=explain_certificate(run),
        kind="plain" if uses_target(run) else judge(run),
        intervals=interval_rows(run),
        models=explain_models(run),
        features=_features(run),
        groups=_groups(run) if run.groups else None,
        weighted=bool((run.selector.weights_ != 1).any()),
        selected_scores=run.leverage_scores[run.selector.selected_],
        shows_scores=is_wide and np.ptp(run.leverage_scores) > LEAST_SPREAD,
        command=command,
        parameters=sorted(_parameters(run.selector).items()),
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


def selected_csv(run: SelectionRun) -> bytes:
    """Write the selected features, in the order of selection."""
    if not run.groups:
        return csv_bytes(SELECTED_COLUMNS, run.rows)
    labels = [group.label for group in run.groups for _ in group.members]
    rows = [(*row, label) for row, label in zip(run.rows, labels, strict=True)]
    return csv_bytes((*SELECTED_COLUMNS, "group"), rows)


def certificate_record(run: SelectionRun, table: Table) -> dict[str, Any]:
    """Collect what is needed to trace and to repeat a selection."""
    record = {
        "certificate": _certificate_fields(run.certificate),
        "judgement": judge(run),
        "alpha": asdict(run.alpha) | {"relative": run.alpha.relative},
        "random_features": _certificate_fields(run.random),
        "held_out": None if run.held_out is None else asdict(run.held_out),
        "method": method_of(run.selector),
        "parameters": _parameters(run.selector),
        "n_selected": int(run.selector.n_selected_),
        "rank": run.rank,
        "selected_sha256": sha256(selected_csv(run)).hexdigest(),
        "notes": list(run.notes),
        "input": input_record(table),
        "versions": versions(),
    }
    if run.groups:
        record["groups"] = [group.label for group in run.groups]
    if (found := getattr(run.selector, "optimality_", None)) is not None:
        fields = ("objective", "bound", "gap", "reached", "sentence")
        record["optimality"] = {name: getattr(found, name) for name in fields}
    return record


def _certificate_fields(certificate: Certificate) -> dict[str, Any]:
    """The fields of a certificate, and the statement that they are about."""
    statement = "lower K <= K~ <= upper K"
    if certificate.alpha > 0:
        statement = "lower (K + alpha I) <= K~ + alpha I <= upper (K + alpha I)"
    fields = {name: getattr(certificate, name) for name in CERTIFICATE_FIELDS}
    return {"statement": statement, **fields}


def name_selection(run: SelectionRun) -> str:
    """Say how many features were selected, and by which method."""
    method = method_of(run.selector)
    how = f"selected by {label_of(method)}" if method in METHODS else "as given"
    features = f"{run.selector.n_selected_:,} of {run.n_features:,} features"
    if run.groups:
        return f"{len(run.groups):,} of {run.selector.n_groups_:,} groups ({features}), {how}"
    return f"{features}, {how}"


def _parameters(selector: Any) -> dict[str, Any]:
    """A selector's settings; ``groups``, one label per feature, is replaced by their number."""
    parameters: dict[str, Any] = selector.get_params()
    if hasattr(selector, "n_groups_"):
        parameters["groups"] = f"{selector.n_groups_} groups"
    return parameters


def describe_groups(run: SelectionRun) -> list[str]:
    """Say which groups of several features were kept, and which left out; nothing without groups.

    Groups of one feature are features.
    """
    if not run.groups:
        return []
    groups = resolve_groups(run.selector.groups, run.n_features)
    several = [str(label) for label in groups.labels[groups.sizes > 1]]
    kept = {one.label for one in run.groups}
    parts = [
        f"{_listed(names)} {'was' if len(names) == 1 else 'were'} {what}"
        for what, names in (
            ("kept", [name for name in several if name in kept]),
            ("left out", [name for name in several if name not in kept]),
        )
        if names
    ]
    if not parts:
        return []
    return [
        f"{len(several):,} of the {len(groups):,} groups have several features, and are kept or "
        f"left out as a whole: {'; '.join(parts)}."
    ]


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_LISTED
    shown = ", ".join(one_line(name, 40) for name in names[:MOST_LISTED])
    return f"{shown} and {more:,} more" if more > 0 else shown


def uses_target(run: SelectionRun) -> bool:
    """Whether the method used the target; the certificate, about all targets, then says little."""
    method = method_of(run.selector)
    return method in METHODS and METHODS[method].target is not None


def judge(run: SelectionRun) -> str:
    """Judge a certificate by how far a model's fitted values can move, beside random features.

    "good": verified, strong, and clearly better than random features. "poor": nothing is certified,
    or random features keep about as much. Else "fair".
    """
    certificate, random = run.certificate, run.random.eta
    if certificate.lower <= 0 or (certificate.eta > SAME * random and random > 0):
        return "poor"
    largest = float(run.singular_values[0] ** 2)
    without = largest / (largest + run.alpha.value)  # eta of a model without features
    strong = certificate.eta <= min(GOOD * without, BETTER * random)
    return "good" if strong and certificate.verified else "fair"


def verdict(run: SelectionRun) -> str:
    """Say the judgement in a sentence."""
    kind = judge(run)
    if uses_target(run):
        return (
            "The features were selected for this target: the held-out error counts. The "
            "certificate says what they keep for other targets."
        )
    if run.certificate.lower <= 0:
        return "Nothing is certified: some contrast between the samples is lost."
    if kind == "good":
        return "Much is kept, and clearly more than by random features."
    if kind == "fair":
        return "Something is kept, more than by random features."
    if run.certificate.eta <= GOOD:
        return "Much is kept, but random features keep about as much."
    return "Little is kept, about as little as by random features."


def describe_alpha(alpha: ModelAlpha) -> str:
    """Write alpha relative to the data, and why it is that one."""
    if alpha.value == 0:
        return "every ridge model"
    why = {
        "leave-one-out": "best by leave-one-out",
        "usual": "a usual value",
        LARGEST: "leave-one-out chose a larger one, for which this holds too",
    }.get(alpha.source)
    beside = f"{plain_number(alpha.value)}{f'; {why}' if why else ''}"
    return (
        f"ridge models with alpha at least {alpha.relative:.3g} times the mean diagonal of the "
        f"kernel ({beside})"
    )


def explain_certificate(run: SelectionRun) -> str:
    """Explain a certificate to a reader who has never seen one."""
    certificate = run.certificate
    count = f"{run.selector.n_selected_:,}"
    if certificate.lower <= 0:
        more = f"More features{', or a larger alpha,' if certificate.alpha > 0 else ''} would help."
        return f"{verdict(run)} {certificate.note or more}"
    penalty = ", with the model's penalty added," if certificate.alpha > 0 else ""
    return (
        f"{verdict(run)} Take any contrast between your samples, such as patients against "
        f"controls: with the {count} selected features its square{penalty} is "
        f"{certificate.lower:.3g} to {certificate.upper:.3g} times that with all "
        f"{run.n_features:,}, and with {count} random features {run.random.lower:.3g} to "
        f"{run.random.upper:.3g} times. Exactly 1 would mean that nothing is lost."
    )


def explain_models(run: SelectionRun) -> str:
    """Say for which models a certificate holds, what it means for them, and what was promised."""
    certificate, promise = run.certificate, ""
    if certificate.promised_lower:
        method, chance = label_of(method_of(run.selector)), certificate.confidence
        sure = "" if chance == 1 else f" with probability {chance:g}"
        interval = f"{certificate.promised_lower:.3g} to {certificate.promised_upper:.3g}"
        promise = f" Beforehand, {method} promised{sure} {interval}."
    change = (
        f", whose fitted values change by at most {certificate.eta:.0%} of the target's norm "
        f"(with random features {run.random.eta:.0%})"
    )
    return (
        f"This is about {describe_alpha(run.alpha)}{change if certificate.lower > 0 else ''}."
        f"{promise}"
    )


def describe_count(run: SelectionRun) -> list[str]:
    """Say why fewer features were selected than requested, if so."""
    wanted, found = getattr(run.selector, "n_features_to_select", None), run.selector.n_selected_
    count, features = run.n_features, "features"
    if run.groups:
        found, count, features = len(run.groups), run.selector.n_groups_, "groups"
    if isinstance(wanted, float):
        wanted = max(1, int(wanted * count + 1e-9))
    if wanted is None or found >= wanted:
        return []
    if wanted > count:
        why = f"the data has {count:,} {features}"
    elif getattr(run.selector, "sampling", "") == "iid":
        why = "sampling is with replacement, and a feature drawn again only gains weight"
    else:
        why = f"the other {features} add nothing to these"
    return [f"{wanted:,} {features} were requested, {found:,} distinct ones were selected: {why}."]


def describe_held_out(run: SelectionRun) -> list[str]:
    """Say what the selection costs on held-out samples; nothing without a target."""
    held_out = run.held_out
    if held_out is None:
        return []
    write = "{:.1%}".format if held_out.classify else "{:.3g}".format
    what = "misclassified" if held_out.classify else "mean squared error"
    always = "the largest class" if held_out.classify else "the mean"
    included = ", selection included" if method_of(run.selector) in METHODS else ""
    return [
        f"On held-out samples ({held_out.n_splits}-fold{included}): "
        f"{write(held_out.selected)} {what} with {run.selector.n_selected_:,} selected features, "
        f"{write(held_out.everything)} with all {run.n_features:,}; the standard error of the "
        f"difference is {write(held_out.standard_error)}. Predicting {always} for every "
        f"sample gives {write(held_out.constant)}."
    ]


def interval_rows(run: SelectionRun) -> list[tuple[str, Certificate]]:
    """The intervals to show, with their names."""
    certificate = run.certificate
    name = "measured, verified" if certificate.verified else "measured"
    rows = [(name, certificate), ("random features", run.random)]
    lower, upper = certificate.promised_lower, certificate.promised_upper
    if lower and upper is not None:  # a promised lower bound of 0 is void
        rows.insert(0, ("promised", Certificate(lower, upper, alpha=certificate.alpha)))
    return rows
