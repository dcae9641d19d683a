# SPDX-License-Identifier: BSD-3-Clause
"""The tables of words: what BSS and leverage sampling select most often from documents."""

import numpy as np

from ridgewise.evaluation import FeatureCount
from ridgewise.paper._outcome import NOT_REPRODUCED, REPRODUCED, Outcome, Table, Verdict
from ridgewise.paper._study import BSS, LEVERAGE, Study, TextResult
from ridgewise.spectrum import compute_spectrum

TITLE = "The most frequently selected words"
PROTOCOL = (
    "Words by how often they are among the 300 that are selected from a training set, and among "
    "equals by their leverage score in the whole set. The paper lists words that were selected in "
    "every training set; which of them, it does not say. A printed word is looked for by its "
    "beginning, since words may be stemmed."
)
PRINTED = {
    ("1092_789236", BSS): "naval shipyard submarine triton music opera libretto theatre",
    ("17899_278949", BSS): "sailing cruising boat yacht racing michigan leelanau casino",
    ("17899_48446", BSS): "vacation lodging michigan asbestos chemical analytical laboratory",
    ("14630_814096", BSS): "ireland dublin boulder colorado lucan swords school dalkey",
    ("10539_300332", BSS): "ontario fishing county elliot schererville shelbyville indiana bullet",
    ("10567_11346", BSS): "florida miami beach indiana evansville music business south",
    ("10539_194915", BSS): "texas dallas plano denton indiana schererville gallery north",
    ("1092_789236", LEVERAGE): "sturgeon seawolf skate triton frame opera finback",
    ("17899_278949", LEVERAGE): "sailing yacht laser michigan breakfast county clear",
    (
        "17899_48446",
        LEVERAGE,
    ): "analysis michigan water breakfast asbestos environmental analytical",
    ("14630_814096", LEVERAGE): "ireland dublin estate lucan dalkey colorado boulder",
    ("10539_300332", LEVERAGE): "library fishing service lodge ontario elliot indiana shelbyville",
    ("10567_11346", LEVERAGE): "evansville services health church south bullet florida",
    ("10539_194915", LEVERAGE): "dallas texas schererville indiana shelbyville plano",
}
N_LISTED = 10
SHORTEST_STEM = 4
ALWAYS = 1 - 1e-9


def run(study: Study) -> Outcome:
    """Run the experiment.

    Parameters
    ----------
    study : Study
        How, and what was computed already.

    Returns
    -------
    Outcome
    """
    listed, printed = [], []
    for result in study.text:
        documents = study.load(result.name)
        scores = compute_spectrum(documents.data).leverage_scores
        for method in (BSS, LEVERAGE):
            listed.append(_listed(result, method, scores))
            if (result.name, method) in PRINTED:
                printed.append(_looked_up(result, method, documents.feature_names))
    return Outcome(
        name="words",
        title=TITLE,
        protocol=PROTOCOL,
        data=study.data,
        verdicts=[_verdict(printed, method) for method in (BSS, LEVERAGE)] if printed else [],
        tables=[_words_table(listed), _printed_table(printed)]
        if printed
        else [_words_table(listed)],
        charts=[],
    )


Row = tuple[str, str, int, int, int, str, str]


def _listed(result: TextResult, method: str, scores: np.ndarray) -> tuple[str, str, int, str]:
    """One line: the set, the method, how many words it always selects, and the first of them."""
    words = sorted(result.words[method], key=lambda word: (-word.share, -scores[word.index]))
    always = sum(word.share >= ALWAYS for word in words)
    return result.name, method, always, ", ".join(str(word.feature) for word in words[:N_LISTED])


def _looked_up(result: TextResult, method: str, vocabulary: np.ndarray) -> Row:
    """What became of the printed words: in the data at all, and selected how often."""
    selected = result.words[method]
    printed = PRINTED[result.name, method].split()
    present = [word for word in printed if any(_matches(word, name) for name in vocabulary)]
    shares = {word: _share(word, selected) for word in present}
    always = [word for word in present if shares[word] >= ALWAYS]
    often = [f"{word} {share:.0%}" for word, share in shares.items() if share < ALWAYS]
    return (
        result.name, method, len(printed), len(present), len(always),
        ", ".join(always), ", ".join(often),
    )  # fmt: skip


def _share(word: str, selected: list[FeatureCount]) -> float:
    return max((count.share for count in selected if _matches(word, str(count.feature))), default=0)


def _matches(printed: str, stem: str) -> bool:
    """Whether a stem may be that of a printed word: it begins so, but for its last letter."""
    beginning = stem if len(stem) <= SHORTEST_STEM else stem[:-1]
    return len(beginning) >= SHORTEST_STEM and printed.startswith(beginning)


def _words_table(listed: list[tuple[str, str, int, str]]) -> Table:
    return Table(
        name="words",
        title="The words selected most often, 300 at a time",
        columns=["set", "method", "selected in every fold", "words"],
        rows=listed,
    )


def _printed_table(printed: list[Row]) -> Table:
    return Table(
        name="words-printed",
        title="The printed words",
        columns=["set", "method", "printed", "in the data", "in every fold", "these", "the others"],
        rows=printed,
        note="the others: in which share of the training sets they were selected.",
    )


def _verdict(printed: list[Row], method: str) -> Verdict:
    rows = [row for row in printed if row[1] == method]
    n_printed, present, always = (sum(row[place] for row in rows) for place in (2, 3, 4))  # type: ignore[misc]
    return Verdict(
        f"the printed words are selected by {method} in every fold",
        REPRODUCED if always == present else NOT_REPRODUCED,
        f"of {n_printed} printed words for {len(rows)} set(s), {present} are in the data at hand, "
        f"and {always} of these are selected in every fold",
    )
