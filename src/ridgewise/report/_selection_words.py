# SPDX-License-Identifier: BSD-3-Clause
"""What a selection's certificate says, in sentences: the same in a terminal and on the page."""

from typing import Any

from ridgewise._groups import resolve_groups
from ridgewise.evaluation import LARGEST, ModelAlpha, SelectionRun
from ridgewise.guarantees import Certificate
from ridgewise.report._style import one_line, plain_number
from ridgewise.selectors import METHODS, label_of, method_of

GOOD = 1 / 3  # of eta without any feature: at alpha = 0 that of the interval [1/4, 4]
MOST_LISTED = 12  # groups in a sentence
BETTER, SAME = 0.75, 0.9  # of random features' eta: clearly less, and about as much


def name_selection(run: SelectionRun) -> str:
    """Say how many features were selected, and by which method."""
    method = method_of(run.selector)
    how = f"selected by {label_of(method)}" if method in METHODS else "as given"
    features = f"{run.selector.n_selected_:,} of {run.n_features:,} features"
    if run.groups:
        return f"{len(run.groups):,} of {run.selector.n_groups_:,} groups ({features}), {how}"
    return f"{features}, {how}"


def parameters_of(selector: Any) -> dict[str, Any]:
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
    """Whether the features were selected for one target, so that the data's kernel says little."""
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
    without = largest / (largest + run.alpha.value)  # the change where no feature is left
    strong = certificate.eta <= min(GOOD * without, BETTER * random)
    return "good" if strong and certificate.verified else "fair"


def verdict(run: SelectionRun) -> str:
    """Say in a few words what the judgement is."""
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
        return "Much is kept, but random features keep as much."
    return "Little is kept: random features keep as much."


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
    certificate = run.certificate
    change = (
        f", whose fitted values change by at most {certificate.eta:.0%} of the target's norm "
        f"(with random features {run.random.eta:.0%})"
    )
    return (
        f"This is about {describe_alpha(run.alpha)}{change if certificate.lower > 0 else ''}."
        f"{_promise(run)}"
    )


def _promise(run: SelectionRun) -> str:
    certificate, method = run.certificate, label_of(method_of(run.selector))
    if not certificate.promised_lower:
        return ""
    sure = "" if certificate.confidence == 1 else f" with probability {certificate.confidence:g}"
    return (
        f" Beforehand, {method} promised{sure} {certificate.promised_lower:.3g} to "
        f"{certificate.promised_upper:.3g}."
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
    """Name the intervals to show, one below the other."""
    certificate = run.certificate
    name = "measured, verified" if certificate.verified else "measured"
    rows = [(name, certificate), ("random features", run.random)]
    lower, upper = certificate.promised_lower, certificate.promised_upper
    if lower and upper is not None:  # to promise a lower bound of 0 says nothing
        rows.insert(0, ("promised", Certificate(lower, upper, alpha=certificate.alpha)))
    return rows
