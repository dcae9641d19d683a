# SPDX-License-Identifier: BSD-3-Clause
"""The demo's figures, on a small corpus of which the answers are known."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils import Bunch

from ridgewise.evaluation import ALL_WORDS, _demo, run_demo

N_DOCUMENTS, N_WORDS = 40, 200


@pytest.fixture(autouse=True)
def corpus(monkeypatch):
    """Two topics, of which words 0 and 1 tell; the others are noise."""
    random = np.random.RandomState(0)
    counts = random.poisson(1.0, (N_DOCUMENTS, N_WORDS)).astype(float)
    target = np.repeat([0, 1], [15, 25])
    for topic in (0, 1):
        counts[:, topic] = 20.0 * (target == topic) * (random.rand(N_DOCUMENTS) < 0.8)
    text = Bunch(
        data=csr_array(counts),
        target=target,
        target_names=["left", "right"],
        feature_names=np.array([f"word{number}" for number in range(N_WORDS)]),
    )
    monkeypatch.setattr(_demo, "load_stdlib_text", lambda: text)


def test_default_is_twice_the_rank():
    found = run_demo()
    assert found.rank == N_DOCUMENTS - 1  # centred
    assert found.n_features == 2 * found.rank
    assert found.n_words == N_WORDS
    assert found.topics == {"left": 15, "right": 25}


def test_telling_words_tell():
    found = run_demo()
    assert found.telling["left"][0] == "word0"
    assert found.telling["right"][0] == "word1"
    assert {len(words) for words in found.telling.values()} == {_demo.N_TELLING}


def test_every_method_is_there():
    steps = []
    found = run_demo(90, seed=3, on_step=steps.append)
    assert [row.method for row in found.rows] == [ALL_WORDS, *found.kept]
    assert len(found.kept) == 6
    assert "best subset" in found.kept
    assert [row.method for row in found.rows if row.n_selected > 90] == [ALL_WORDS]
    assert steps[-1] == "classifying held-out documents: 10 of 10"


def test_certificate_keeps_its_promise_and_agrees_with_what_is_drawn():
    found = run_demo(90)
    certificate, kept = found.certificate, found.kept["BSS"]
    assert certificate.promised_lower <= certificate.lower == pytest.approx(kept[-1])
    assert certificate.promised_upper >= certificate.upper == pytest.approx(kept[0])


def test_seed_decides_everything_but_time():
    def errors(seed):
        return [(row.method, row.error_mean, row.n_selected) for row in run_demo(seed=seed).rows]

    assert errors(0) == errors(0)
    assert errors(0) != errors(1)


@pytest.mark.parametrize(
    ("n_features", "message"),
    [
        (N_DOCUMENTS - 1, "cannot select 39 words: the demo needs more than the rank of its data"),
        (N_WORDS + 1, "cannot select 201 words: the data has 200"),
    ],
)
def test_impossible_numbers(n_features, message):
    with pytest.raises(ValueError, match=message):
        run_demo(n_features)


def test_all_words_may_be_selected():
    found = run_demo(N_WORDS)
    everything, bss = found.rows[:2]
    assert bss.error_mean == everything.error_mean
    assert (found.certificate.lower, found.certificate.upper) == (1, 1)
