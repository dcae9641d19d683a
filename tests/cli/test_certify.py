# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise certify`: features that were selected elsewhere."""

import json

import numpy as np
import polars as pl
import pytest

from ridgewise.guarantees import measured_certificate
from ridgewise.spectrum import compute_spectrum

READ = ("-t", "outcome", "--ids", "patient", "--ids", "dose")
PANEL = [7, 150, 3, 42]


@pytest.fixture
def panel(table, tmp_path):
    path = tmp_path / "panel.txt"
    path.write_text("".join(f"gene{index}\n" for index in PANEL))
    return path


def test_names_and_indices_give_the_same(run_here, table, panel, tmp_path):
    code, out, err = run_here("certify", table, *READ, "--features", panel, "--alpha", "0.2")
    assert (code, err) == (0, "")
    assert "4 of 200 features, as given" in out
    assert "random features" in out
    assert "On held-out samples (5-fold): " in out  # nothing was selected in the folds
    indices = tmp_path / "indices.txt"
    indices.write_text("\n".join(map(str, PANEL)))
    options = ("--features", indices, "--alpha", "0.2", "-o", "second", "--json")
    code, out, _ = run_here("certify", table, *READ, *options)
    second = json.loads(out)
    first = json.loads((tmp_path / "small-certified" / "certificate.json").read_text())
    assert first["certificate"] == second["certificate"]
    assert second["features"] == [f"gene{index}" for index in PANEL]

    X = pl.read_csv(table).drop("patient", "outcome", "dose").to_numpy()
    centred = X - X.mean(axis=0)
    alpha = 0.2 * (centred**2).sum() / len(X)
    expected = measured_certificate(compute_spectrum(X, center=True), PANEL, alpha=alpha)
    assert second["certificate"]["lower"] == pytest.approx(expected.lower, rel=1e-6)
    assert second["certificate"]["alpha"] == pytest.approx(alpha)
    assert second["certificate"]["verified"] is True


def test_selected_csv_keeps_its_weights(run_here, table, tmp_path):
    options = ("-n", "60", "--folds", "0", "--json")
    selected = json.loads(run_here("select", table, *READ, *options)[1])
    features = tmp_path / "small-selected" / "selected.csv"
    options = ("--features", features, "--folds", "0", "--json")
    certified = json.loads(run_here("certify", table, *READ, *options)[1])
    assert certified["features"] == selected["features"]
    for name in ("lower", "upper", "alpha"):
        assert certified["certificate"][name] == pytest.approx(selected["certificate"][name])


def test_unknown_names(run_here, table, panel):
    panel.write_text(panel.read_text() + "BRCA1\nTP53\n")
    code, out, err = run_here("certify", table, *READ, "--features", panel)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "2 of 6 listed features are not in the data: 'BRCA1', 'TP53'" in err
    options = ("--features", panel, "--skip-unknown", "--folds", "0")
    code, out, _ = run_here("certify", table, *READ, *options)
    assert code == 0
    assert "'BRCA1', 'TP53'" in out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "lists no features"),
        ("gene1\ngene1\n", "'gene1' 2 times"),
        ("7\n999\n", "not in the data: '999'"),
        (None, "No such file"),
    ],
)
def test_bad_lists(run_here, table, tmp_path, content, words):
    path = tmp_path / "list.txt"
    if content is not None:
        path.write_text(content)
    code, out, err = run_here("certify", table, *READ, "--features", path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err
    assert not (tmp_path / "small-certified").exists()


def test_a_list_of_everything_loses_nothing(run_here, tmp_path):
    np.save(tmp_path / "X.npy", np.random.default_rng(0).normal(size=(10, 4)))
    (tmp_path / "all.txt").write_text("0\n1\n2\n3\n")
    code, out, _ = run_here("certify", "X.npy", "--features", "all.txt", "--json")
    certificate = json.loads(out)["certificate"]
    assert code == 0
    assert (certificate["lower"], certificate["upper"]) == (1.0, 1.0)
