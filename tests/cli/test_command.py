# SPDX-License-Identifier: BSD-3-Clause
"""The command's manners: help, version, exit codes, and one line for whatever goes wrong."""

import os
import subprocess
import sys
from time import perf_counter

import numpy as np
import pytest

import ridgewise
from ridgewise import cli, make_ridge_synthetic
from ridgewise.evaluation import _demo

WITHOUT = """
import sys
sys.argv[1:] = ["demo"]
sys.modules[{module!r}] = None
from ridgewise.__main__ import main
sys.exit(main())
"""


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    """Run the command in this process; return its exit code and what it printed."""

    def run(*arguments):
        code = cli.run(list(arguments))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]], ids=str)
def test_help(run, arguments):
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert "ridgewise demo   " in out
    assert "ridgewise demo --json   " in out


def test_demo_help(run):
    code, out, err = run("demo", "--help")
    assert (code, err) == (0, "")
    lines = [line.strip() for line in out.splitlines()]
    assert "ridgewise demo --n-features 800 --output words.svg" in lines
    for option in ("--output", "--n-features", "--seed", "--json", "--quiet", "--force"):
        assert option in out


def test_version(run):
    assert run("--version") == (0, f"ridgewise {ridgewise.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demon"], "No such command 'demon'"),
        (["demo", "--colour"], "No such option"),
        (["demo", "extra"], "unexpected extra argument"),
        (["demo", "-n", "0"], "'--n-features'"),
        (["demo", "-n", "many"], "'--n-features'"),
        (["demo", "--seed", "-1"], "'--seed'"),
        (["demo", "-o", "nowhere/plot.png"], "there is no folder nowhere"),
        (["demo", "-o", "plot.gif"], "must end in one of .png, .svg, .pdf"),
    ],
    ids=" ".join,
)
def test_errors_are_one_line(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("ridgewise: ")
    assert message.lower() in err.lower()
    assert err.count("\n") == 1


def test_named_file_is_not_overwritten(run, tmp_path):
    (tmp_path / "plot.png").write_bytes(b"of somebody")
    code, _, err = run("demo", "-o", "plot.png")
    assert code == 2
    assert err == "ridgewise: plot.png exists already: --force overwrites it\n"
    assert (tmp_path / "plot.png").read_bytes() == b"of somebody"


@pytest.mark.parametrize(
    ("n_features", "message"),
    [
        ("3", "cannot select 3 words: the demo needs more than the rank"),
        ("100000", "cannot select 100000 words"),
    ],
)
def test_impossible_numbers(run, tmp_path, n_features, message):
    code, out, err = run("demo", "-n", n_features)
    assert (code, out) == (2, "")
    assert err.startswith(f"ridgewise: {message}")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (FileNotFoundError("this Python has\ntoo little"), "this Python has too little"),
        (MemoryError(), "MemoryError"),
        (
            TypeError("a bug"),
            "unexpected TypeError: a bug (python -X dev -m ridgewise shows where)",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_traceback(run, monkeypatch, error, message):
    def fail():
        raise error

    monkeypatch.setattr(_demo, "load_stdlib_text", fail)
    assert run("demo") == (2, "", f"ridgewise: {message}\n")


def test_interrupted(run, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(_demo, "load_stdlib_text", interrupt)
    code, out, err = run("demo")
    assert (code, out) == (130, "")
    assert err.strip() == "ridgewise: interrupted"


@pytest.mark.parametrize("module", ["typer", "rich", "matplotlib"])
def test_missing_extra(module):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(module=module)], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == ("ridgewise: the command needs its extra: pip install 'ridgewise[cli]'\n")


def test_the_help_and_the_version_import_little():
    """They took 3.5 s with scikit-learn and all commands."""
    script = (
        "import sys; from ridgewise.__main__ import main; main(); "
        "print([m for m in ('numpy', 'sklearn', 'polars') if m in sys.modules])"
    )
    for option in ("--version", "--help"):
        command = [sys.executable, "-c", script, option]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_help_and_the_version_are_fast(option):
    """0.4 s on a machine at rest; twice that here, in the best of five."""
    seconds = []
    for _ in range(5):
        start = perf_counter()
        subprocess.run([sys.executable, "-m", "ridgewise", option], capture_output=True, check=True)
        seconds.append(perf_counter() - start)
    assert min(seconds) < 0.8


@pytest.mark.slow
@pytest.mark.exhaustive  # needs a machine at rest
def test_a_small_selection_takes_less_than_two_seconds():
    """Of processor time, which other work on the machine changes little."""
    X, y = make_ridge_synthetic(62, 2000, random_state=0)
    table = np.column_stack([X, y])
    names = ",".join([*(f"x{place}" for place in range(2000)), "y"])
    np.savetxt("x.csv", table, delimiter=",", header=names, comments="", fmt="%.6g")
    command = [sys.executable, "-m", "ridgewise", "select", "x.csv", "-t", "y", "-n", "50", "-fq"]
    seconds = []
    for _ in range(3):
        before = os.times()
        subprocess.run(command, check=True)
        after = os.times()
        seconds.append(after.children_user + after.children_system)
        seconds[-1] -= before.children_user + before.children_system
    assert min(seconds) < 2


LATE = """
import sys
from ridgewise.cli import run
run(["select", "x.csv", "-n", "3", "-q"])
print([m for m in ("pandas", "scipy.stats", "matplotlib") if m in sys.modules])
import numpy as np, pandas
from scipy.stats import rankdata
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.preprocessing import QuantileTransformer
assert rankdata([3, 1]).tolist() == [2, 1]
X = np.arange(9.0)[:, None]
assert QuantileTransformer(n_quantiles=9, output_distribution="normal").fit_transform(X)[4] == 0
print(label_ranking_average_precision_score(np.array([[1, 0]]), np.array([[0.2, 0.1]])))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "x.csv", "-t", "a", "-n", "2", "-m", "bss", "--folds", "2"],
        pytest.param(["demo", "--output", "demo.png"], marks=pytest.mark.slow),
    ],
)
def test_matplotlib_is_loaded_where_it_is_used(arguments):
    rows = np.random.default_rng(0).normal(size=(12, 8))
    np.savetxt("x.csv", rows, delimiter=",", header=",".join("abcdefgh"), comments="")
    command = [sys.executable, "-m", "ridgewise", *arguments, "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_selection_loads_no_module_that_it_does_not_use(tmp_path):
    """Half of the time of a small selection went to imports of scipy.stats and pandas."""
    rows = np.random.default_rng(0).normal(size=(8, 12))
    np.savetxt("x.csv", rows, delimiter=",", header=",".join("abcdefghijkl"), comments="")
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "1.0"]


def test_summaries_are_those_of_the_commands(run):
    for name, summary in cli.COMMANDS.items():
        code, out, _ = run(name, "--help")
        assert code == 0
        assert " ".join(summary.split()).rstrip(".") in " ".join(out.split())


def test_every_public_name_is_found():
    for name in ridgewise.__all__:
        assert getattr(ridgewise, name).__name__ == name
    assert set(ridgewise.__all__) <= set(dir(ridgewise))
    with pytest.raises(AttributeError, match="no attribute 'Bss'"):
        _ = ridgewise.Bss
