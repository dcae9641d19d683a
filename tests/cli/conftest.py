# SPDX-License-Identifier: BSD-3-Clause
"""The command, in this process and in one of its own, and files to give it."""

import contextlib
import io
import os
import subprocess
import sys

import numpy as np
import pytest

from ridgewise import cli, make_ridge_synthetic


@pytest.fixture
def run_here(capsys, tmp_path, monkeypatch):
    """Run the command in this process, in an empty folder; return its exit code and words."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = cli.run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture(scope="session")
def run_in():
    """Run the command in this process, in a folder; return what it printed. It must succeed."""

    def run(folder, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = cli.run([str(argument) for argument in arguments])
        assert (code, err.getvalue()) == (0, "")
        return out.getvalue()

    return run


@pytest.fixture(scope="session")
def start():
    """Start the command as a process of its own, on one thread."""

    def start(*arguments, **options):
        command = [sys.executable, "-m", "ridgewise", *(str(argument) for argument in arguments)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.Popen(command, env=environment, text=True, **pipes)

    return start


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A folder with a small table: 40 patients, 200 genes, an outcome and a quantity."""
    folder = tmp_path_factory.mktemp("small")
    X, y = make_ridge_synthetic(40, 200, n_relevant=5, random_state=0)
    head = ["patient", *(f"gene{place}" for place in range(200)), "outcome", "dose"]
    lines = [",".join(head)]
    for place, (row, label) in enumerate(zip(X, y, strict=True)):
        outcome = "ill" if label > 0 else "well"
        numbers = ",".join(f"{value:.6g}" for value in row)
        lines.append(f"P{place},{numbers},{outcome},{row[:5].sum():.6g}")
    (folder / "small.csv").write_text("\n".join(lines) + "\n")
    np.savez(folder / "small.npz", X=X, y=y)
    return folder


@pytest.fixture
def table(small, tmp_path):
    """A copy of it in this test's own folder."""
    path = tmp_path / "small.csv"
    path.write_bytes((small / "small.csv").read_bytes())
    return path
