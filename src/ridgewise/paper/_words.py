# SPDX-License-Identifier: BSD-3-Clause
"""The tables of words: what BSS and leverage sampling select most often from documents."""

from typing import Any

import numpy as np

from ridgewise.paper import _outcome
from ridgewise.paper._study import BSS, LEVERAGE, Study, TextResult
from ridgewise.spectrum import compute_spectrum

PRINTED = _outcome.printed("words")
N_LISTED = 10
SHORTEST_STEM = 4
ALWAYS = 1 - 1e-9

Row = tuple[str, str, int, int, int, str, str]


def run(study: Study) -> _outcome.Outcome:
    """Run the experiment."""
    listed, looked_up = [], []
    for result in study.text:
        documents = study.load(result.name)
        scores = compute_spectrum(documents.data).leverage_scores
        for method in (BSS, LEVERAGE):
            listed.append(_listed(result, method, scores))
            if (method, result.name) in PRINTED:
                looked_up.append(_looked_up(result, method, documents.feature_names))
    tables = [_outcome.make_table("words", listed)]
    if looked_up:
        tables.append(_outcome.make_table("words-printed", looked_up))
    return _outcome.make_outcome(
        "words",
        data=study.data,
        verdicts=[_verdict(looked_up, method) for method in (BSS, LEVERAGE)] if looked_up else [],
        tables=tables,
        charts=[],
    )


def _listed(result: TextResult, method: str, scores: np.ndarray) -> tuple[str, str, int, str]:
    """One row: the set, the method, how many words it always selects, and the first words."""
    words = sorted(result.words[method], key=lambda word: (-word.share, -scores[word.index]))
    always = sum(word.share >= ALWAYS for word in words)
    return result.name, method, always, ", ".join(str(word.feature) for word in words[:N_LISTED])


def _looked_up(result: TextResult, method: str, vocabulary: np.ndarray) -> Row:
    """Which printed words are in the data, and how often these are selected."""
    selected = result.words[method]
    words = PRINTED[method, result.name].split()
    present = [word for word in words if any(_matches(word, name) for name in vocabulary)]
    shares = {
        word: max(
            (count.share for count in selected if _matches(word, str(count.feature))), default=0
        )
        for word in present
    }
    always = [word for word in present if shares[word] >= ALWAYS]
    others = [f"{word} {share:.0%}" for word, share in shares.items() if share < ALWAYS]
    return (
        result.name, method, len(words), len(present), len(always),
        ", ".join(always), ", ".join(others),
    )  # fmt: skip


def _matches(word: str, stem: str) -> bool:
    """Whether a printed word starts with a stem, whose last letter may differ."""
    prefix = stem if len(stem) <= SHORTEST_STEM else stem[:-1]
    return len(prefix) >= SHORTEST_STEM and word.startswith(prefix)


def _verdict(looked_up: list[Row], method: str) -> _outcome.Verdict:
    rows = [row for row in looked_up if row[1] == method]
    n_printed, present, always = (sum(row[place] for row in rows) for place in (2, 3, 4))  # type: ignore[misc]
    case: dict[str, Any] = {"printed": n_printed, "present": present, "always": always}
    holds = always == present
    return _outcome.judge("words", "always", holds, method=method, n_sets=len(rows), **case)
