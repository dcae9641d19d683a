# SPDX-License-Identifier: BSD-3-Clause
"""Matrix Market against SciPy's reader, and files that crash it."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ridgewise.datasets.readers import read_table
from ridgewise.datasets.readers._matrix import load_matrix_market

HEAD = "%%MatrixMarket matrix coordinate real general\n"


@given(
    X=arrays(
        st.sampled_from([np.float64, np.int64]),
        array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.integers(-3, 3),
    ),
    sparse=st.booleans(),
    mirror=st.sampled_from([0, 1, -1]),
    comment=st.sampled_from(["", "one", "one\ntwo 1 2 3"]),
)
@settings(deadline=None)
def test_what_scipy_writes(tmp_path_factory, X, sparse, mirror, comment):
    if mirror and X.shape[0] == X.shape[1]:
        X = X + mirror * X.T
    path = tmp_path_factory.mktemp("mtx") / "x.mtx"
    scipy.io.mmwrite(path, sp.coo_array(X) if sparse else X, comment=comment, precision=17)
    found = load_matrix_market(path)
    assert sp.issparse(found) == sparse
    np.testing.assert_array_equal(found.toarray() if sparse else found, X)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n", [[0, 1], [1, 0]]),
        (HEAD + "% a comment\n\n 2\t2 1 \r\n 1  2\t.5e1", [[0, 5], [0, 0]]),
        (HEAD + "2 2 0\n", [[0, 0], [0, 0]]),
        (HEAD + "1 1 2\n1 1 3\n1 1 4\n", [[7]]),
    ],
)
def test_by_hand(tmp_path, text, expected):
    (tmp_path / "x.mtx").write_text(text)
    np.testing.assert_array_equal(read_table(tmp_path / "x.mtx").X.toarray(), expected)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (HEAD + "2 2 2\n1 1 1.5\n2 2 6.8E", "line 4 is '2 2 6.8E', expected numbers"),  # crashes
        (HEAD + "2 2 2\n1 1 1.5\n2 2 ", "damaged: Line 4: Invalid floating-point value"),
        (HEAD + "2 2 2\n1 1 1.5\n", "damaged: Truncated file. Expected another 1 lines"),
        (HEAD + "2 2 1\n1 1 x\n", "line 3 is '1 1 x', expected numbers"),
        (HEAD + "2 2 1\n3 1 5\n", "Row index out of bounds"),
        (HEAD + "2 2 1\n0 1 5\n", "Row index out of bounds"),
        (HEAD + "2 2 1\n1.5 1 5\n", "damaged"),
        (HEAD + "2 2 1\nnan 1 5\n", "damaged"),
        (HEAD + "2 2\n1 1 1\n", "damaged"),
        (HEAD + "-2 2 1\n1 1 1\n", "damaged"),
        (HEAD + "2 2 999999999999999\n1 1 1\n", "declares 999,999,999,999,999 entries"),
        (HEAD + "1000000000 1000000000 1\n1 1 1\n", "ask for 1,000,000,000 x 1,000,000,000"),
        (HEAD.replace("coordinate", "array") + "70000 70000\n1\n", "declares 4,900,000,000 ent"),
        (HEAD, "damaged"),
        (HEAD.replace("general", "odd") + "2 2 0\n", "damaged.*header element: odd"),
        (HEAD.replace("real", "complex") + "1 1 1\n1 1 1 1\n", "must be real numbers"),
        ("1 2 3\n", "it is not a Matrix Market file, which starts with %%MatrixMarket"),
    ],
)
def test_damaged(tmp_path, text, match):
    (tmp_path / "x.mtx").write_text(text)
    with pytest.raises(ValueError, match=match) as error:
        read_table(tmp_path / "x.mtx")
    assert "\n" not in str(error.value)
