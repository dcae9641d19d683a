# SPDX-License-Identifier: BSD-3-Clause
"""The demo at a terminal, and as JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ridgewise.evaluation import ALL_WORDS, Demo
from ridgewise.report._console import BSS_STYLE, heading, plain_table, print_parts

# Everything here is ASCII, so that it can be printed whatever the encoding.
TRY_NEXT = """\
from ridgewise import BSSSelector, RLSClassifier, load_stdlib_text
text = load_stdlib_text()
X, y = text.data.log1p(), text.target
selector = BSSSelector({n_features}, center=True).fit(X)  # or your own data
print(selector.certificate_)
print(text.feature_names[selector.selected_])  # in the order of selection
model = RLSClassifier(alpha={alpha:.4g}, fit_intercept=True)
model.fit(selector.transform(X), y)
"""


def demo_record(demo: Demo, plot: Path) -> dict[str, Any]:
    """Collect what the demo found, for JSON."""
    return {
        "python_version": demo.python_version,
        "n_documents": demo.topics,
        "n_words": demo.n_words,
        "rank": demo.rank,
        "n_features": demo.n_features,
        "seed": demo.seed,
        "n_splits": demo.n_splits,
        "alpha": demo.alpha,
        "telling_words": demo.telling,
        "certificate": {**asdict(demo.certificate), "epsilon": demo.certificate.epsilon},
        "kept": {
            method: {"lower": float(kept[-1]), "upper": float(kept[0])}
            for method, kept in demo.kept.items()
        },
        "methods": [asdict(row) for row in demo.rows],
        "plot": str(plot),
    }


def print_demo(demo: Demo, plot: Path, file: IO[str] | None = None) -> None:
    """Print what the demo found."""
    code = TRY_NEXT.format(n_features=demo.n_features, alpha=demo.alpha)
    last = [
        Text(f"The figure: {plot}\n"),
        heading("Try next, in Python (and ridgewise demo --help)"),
        Text(code.rstrip()),
    ]
    print_parts([*_parts(demo), *last], file)


def _parts(demo: Demo) -> Iterator[RenderableType]:
    """Yield everything that is printed above the figure's path."""
    yield heading("The data")
    yield _describe_data(demo)
    yield heading("The words that tell most")
    yield _telling_table(demo)
    yield (
        "Of the words that BSS selected, those with the largest part in the decisions of RLSC "
        "(regularized least squares classification, that is ridge regression on labels -1 and "
        "+1): coefficient times standard deviation of the word's column.\n"
    )
    yield heading("The certificate: what the selected words keep of the data")
    yield _certificate_table(demo)
    yield (
        "K holds the centred dot products of all documents by all words, K~ those by the "
        "selected words, weighted where the method weights: lower K <= K~ <= upper K. Without any "
        "loss both would be 1; a lower of 0 is a direction lost. The promise is known before "
        f"anything is selected, from the rank of the data ({demo.rank}) and the number of draws "
        f"({demo.n_features}). Leverage sampling and random: one of many possible draws.\n"
    )
    yield heading("The held-out error: how often RLSC is wrong about a document it never saw")
    yield _error_table(demo)
    yield (
        f"Repeated {demo.n_splits}-fold cross-validation: words are selected, alpha is chosen and "
        "RLSC fitted on the training documents alone. The +/- is a standard deviation over the "
        "repeats: differences below it mean little. Leverage sampling may draw a word twice, and "
        "keeps fewer then; it and random draw anew in every fold. Information gain is the only one "
        "that looks at the topics when it selects. Times are means, on one thread.\n"
    )


def _describe_data(demo: Demo) -> str:
    topics = " and ".join(f"{topic} ({count})" for topic, count in demo.topics.items())
    return (
        f"{sum(demo.topics.values())} documents, the larger classes and functions in the standard "
        f"library of Python {demo.python_version}, on two topics: {topics}. A row for each "
        f"document, with log(1 + count) of each of {demo.n_words} words. BSS selected "
        f"{demo.n_features} of the words ({demo.n_features / demo.n_words:.0%}), without looking "
        "at the topics.\n"
    )


def _telling_table(demo: Demo) -> Table:
    table = plain_table("topic", "words, the strongest first", text_columns=2)
    for topic, words in demo.telling.items():
        table.add_row(topic, ", ".join(words))
    return table


def _certificate_table(demo: Demo) -> Table:
    table = plain_table("method", "lower", "upper")
    certificate = demo.certificate
    if certificate.promised_lower is not None and certificate.promised_upper is not None:
        promised = certificate.promised_lower, certificate.promised_upper
        table.add_row("BSS, promised", *map(_bound, promised), style=BSS_STYLE)
    for method, kept in demo.kept.items():
        style = BSS_STYLE if method == "BSS" else None
        table.add_row(f"{method}, measured", _bound(kept[-1]), _bound(kept[0]), style=style)
    return table


def _bound(value: float) -> str:
    """Write small bounds with significant digits, so that they do not look like 0."""
    return f"{value:.4f}" if value >= 0.001 else f"{value:.2g}"


def _error_table(demo: Demo) -> Table:
    table = plain_table("method", "words", "error", "+/-", "ms to select")
    for row in demo.rows:
        table.add_row(
            row.method,
            f"{row.n_selected:.0f}",
            f"{row.error_mean:.1%}",
            f"{row.error_std:.1%}",
            "-" if row.method == ALL_WORDS else f"{1000 * row.seconds_mean:.1f}",
            style=BSS_STYLE if row.method == "BSS" else None,
        )
    return table
