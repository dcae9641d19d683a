# SPDX-License-Identifier: BSD-3-Clause
"""certify(X, features): indices, a mask or names in place of a selector."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from ridgewise import certify

X = np.random.default_rng(0).normal(size=(4, 12))
NAMES = [f"gene{j}" for j in range(12)]
FRAME = pd.DataFrame(X, columns=NAMES)
LISTED = [7, 2, 9, 0, 11, 4]
MASK = np.isin(np.arange(12), LISTED)


@pytest.mark.parametrize(
    "features",
    [LISTED, tuple(LISTED), np.array(LISTED, np.uint8), pd.Series(LISTED), pl.Series(LISTED)],
)
@pytest.mark.parametrize("data", [X, sp.csr_array(X), FRAME, X.tolist()])
def test_indices_keep_their_order_and_have_weight_one(data, features):
    certificate = certify(data, features)
    assert certificate.selection.selected == tuple(LISTED)
    assert set(certificate.selection.weights) == {1.0}
    kept = np.linalg.svd(np.linalg.svd(X, full_matrices=False)[2][:, LISTED])[1] ** 2
    assert certificate.verified
    assert (certificate.lower, certificate.upper) == pytest.approx((kept[-1], kept[0]))


@pytest.mark.parametrize("mask", [MASK, MASK.tolist(), pd.Series(MASK), pl.Series(MASK)])
def test_a_mask_selects_in_the_order_of_the_columns(mask):
    assert certify(X, mask).selection.selected == tuple(sorted(LISTED))
    assert certify(X, mask).lower == pytest.approx(certify(X, LISTED).lower, rel=1e-9)


@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame(X, schema=NAMES)])
def test_names_are_those_of_the_columns(frame):
    names = [NAMES[j] for j in LISTED]
    for given in (names, np.array(names), np.array(names, object), pd.Index(names)):
        assert certify(frame, given).selection.selected == tuple(LISTED)


def test_no_features_keep_nothing():
    for nothing in ([], np.zeros(12, bool), np.array([], int), ()):
        certificate = certify(X, nothing)
        assert certificate.selection.selected == ()
        assert (certificate.lower, certificate.verified) == (0.0, False)


def test_settings_of_a_selector_are_defaults():
    certificate = certify(X + 5, LISTED, alpha=2.0, center=True)
    assert (certificate.alpha, certificate.selection.center) == (2.0, True)
    assert certificate.lower == pytest.approx(certify(X - X.mean(axis=0), LISTED, alpha=2.0).lower)


@pytest.mark.parametrize(
    ("data", "features", "error", "message"),
    [
        (FRAME, ["gene1", "gene12", "BRCA1"], ValueError,
         "2 of 3 features are not in X: 'gene12', 'BRCA1'"),
        (FRAME, list("abcde"), ValueError, "5 of 5 features are not in X: 'a', 'b', 'c', ..."),
        (FRAME, ["gene1", None], ValueError, "1 of 2 features are not in X: None"),
        (FRAME.set_axis(["gene1", *NAMES[1:]], axis=1), ["gene1"], ValueError,
         "2 features of X are named 'gene1': give indices"),
        (X, ["gene1"], ValueError,
         "features are given by name, and X has no names: give indices or a mask"),
        (X, [1, 2, 1], ValueError, "feature 1 is listed 2 times: give each once"),
        (FRAME, ["gene3"] * 3, ValueError, "feature gene3 is listed 3 times: give each once"),
        (X, [3, 12], ValueError, "feature indices go from 0 to 11, got 12"),
        (X, [3, -1], ValueError, "feature indices go from 0 to 11, got -1"),
        (X, [1.0, 2.0], TypeError, "expected indices, a mask or names of features, got float64"
         " numbers"),
        (X, MASK[:-1], ValueError, "the mask has 11 entries, and X has 12 features"),
        (X, [[1, 2]], ValueError, "expected a flat list of features: indices, a mask or names"),
        (X, [[1], [2, 3]], ValueError,
         "expected a flat list of features: indices, a mask or names"),
        (X, np.int64(3), ValueError, "expected a flat list of features: indices, a mask or names"),
        (X, 3, TypeError, "expected a fitted selector with get_support, or features: indices, a"
         " mask or names; got int"),
        (FRAME, "gene1", TypeError, "expected a fitted selector with get_support, or features:"
         " indices, a mask or names; got str"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_list_of_features_is_an_error_in_one_sentence(
    data, features, error, message
):
    with pytest.raises(error) as raised:
        certify(data, features)
    assert str(raised.value) == message
