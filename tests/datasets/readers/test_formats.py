# SPDX-License-Identifier: BSD-3-Clause
"""One table through every format, with the same result."""

import bz2
import gzip
import hashlib
import lzma
import sys

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from ridgewise.datasets.readers import FORMATS, read_table

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

N, D = 7, 5
X = np.random.default_rng(0).standard_normal((N, D)).round(6)  # svmlight is written with 16 digits
X[X < -0.5] = 0
Y = np.array(["ill", "well"])[np.arange(N) % 2]
FEATURES = ["TP53", "a,b", 'the "best"', "<script>alert(1)</script>", "Ünïcode 基因"]
SAMPLES = [f"patient {i}" for i in range(N)]


@pytest.fixture
def frame():
    """Samples, features and the target, as a frame of pandas."""
    return pd.DataFrame(X, columns=FEATURES, index=SAMPLES).assign(state=Y)


@pytest.fixture
def beside(tmp_path):
    """Files with the names and the target, for formats that have none."""
    (tmp_path / "features.txt").write_text("\n".join(FEATURES) + "\n", encoding="utf-8")
    (tmp_path / "samples.txt").write_text("\n".join(SAMPLES), encoding="utf-8")
    (tmp_path / "state.txt").write_text("\n".join(Y) + "\n")
    return {
        "vocabulary": tmp_path / "features.txt",
        "sample_names": tmp_path / "samples.txt",
        "target": tmp_path / "state.txt",
    }


def check(table, *, sparse=False, names=True, dtype=np.float64):
    found = table.X.toarray() if sparse else table.X
    assert sp.issparse(table.X) == sparse
    assert table.X.dtype == dtype
    np.testing.assert_array_equal(found, X.astype(dtype))
    np.testing.assert_array_equal(table.y, Y)
    if names:
        assert table.feature_names.tolist() == FEATURES
        assert table.sample_names.tolist() == SAMPLES


COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd.compress}


@pytest.mark.parametrize("ending", ["", *COMPRESS])
@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".csv", ";"), (".tsv", "\t")])
def test_delimited(tmp_path, frame, suffix, delimiter, ending):
    text = frame.to_csv(sep=delimiter).encode()
    path = tmp_path / f"x{suffix}{ending}"
    path.write_bytes(COMPRESS.get(ending, bytes)(text))
    table = read_table(path, target="state")
    check(table)
    assert table.target_name == "state"
    assert table.format == suffix[1:]
    assert table.notes == ("The first column, which has no name, was used for the sample names.",)


def test_several_frames_of_zstandard(tmp_path, frame):
    lines = frame.to_csv().encode().splitlines(keepends=True)
    path = tmp_path / "x.csv.zst"
    path.write_bytes(b"".join(map(zstd.compress, lines)))
    check(read_table(path, target="state"))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_mark(tmp_path, frame, line_end):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbf" + frame.to_csv(lineterminator=line_end).encode())
    check(read_table(path, target="state"))


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_frames(tmp_path, frame, suffix, dtype):
    path = tmp_path / f"x [*]{suffix}"
    frame = pl.from_pandas(frame.rename_axis("patient").reset_index())
    frame = frame.with_columns(
        pl.col(FEATURES).cast(pl.Float32 if dtype == np.float32 else pl.Float64)
    )
    (frame.write_parquet if suffix == ".parquet" else frame.write_ipc)(path)
    check(read_table(path, target="state"), dtype=dtype)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_frames_that_pandas_writes(tmp_path, frame, suffix):
    path = tmp_path / f"x{suffix}"
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.rename_axis("").reset_index().to_feather(path)
    check(read_table(path, target="state"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("in_rows", [False, True])
def test_npy(tmp_path, beside, dtype, in_rows):
    np.save(tmp_path / "x.npy", X.T.astype(dtype) if in_rows else X.astype(dtype))
    features_in = "rows" if in_rows else "columns"
    check(read_table(tmp_path / "x.npy", features_in=features_in, **beside), dtype=dtype)


def test_npz_with_everything_in_it(tmp_path):
    names = {"feature_names": np.array(FEATURES), "sample_names": np.array(SAMPLES)}
    np.savez(tmp_path / "x.npz", X=X, state=Y, other=X[:2], **names)
    check(read_table(tmp_path / "x.npz", target="state"))
    assert read_table(tmp_path / "x.npz", key="other").X.shape == (2, D)
    np.savez(tmp_path / "x.npz", X=X, feature_names=[name.encode() for name in FEATURES])
    assert read_table(tmp_path / "x.npz").feature_names.tolist() == FEATURES


@pytest.mark.parametrize("sparse_format", ["csr", "csc", "coo", "bsr", "dia"])
def test_npz_of_scipy(tmp_path, beside, sparse_format):
    sp.save_npz(tmp_path / "x.npz", sp.coo_matrix(X).asformat(sparse_format))
    table = read_table(tmp_path / "x.npz", **beside)
    check(table, sparse=True)
    assert table.X.format == ("csr" if sparse_format == "csr" else "csc")


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_svmlight(tmp_path, beside, zero_based, ending):
    plain, path = tmp_path / "x.svm", tmp_path / f"x.svm{ending}"
    dump_svmlight_file(X, Y == "well", str(plain), zero_based=zero_based)
    path.write_bytes(COMPRESS.get(ending, bytes)(plain.read_bytes()))
    check(read_table(path, **beside), sparse=True)
    labels = read_table(path).y
    np.testing.assert_array_equal(labels, Y == "well")
    assert labels.dtype == np.int64


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("in_rows", [False, True])
def test_matrix_market(tmp_path, beside, ending, in_rows):
    plain, path = tmp_path / "x.mtx", tmp_path / f"x.mtx{ending}"
    scipy.io.mmwrite(plain, sp.coo_array(X.T if in_rows else X), precision=17)
    path.write_bytes(COMPRESS.get(ending, bytes)(plain.read_bytes()))
    check(read_table(path, features_in="rows" if in_rows else None, **beside), sparse=True)


@pytest.mark.parametrize("features", ["features.tsv", "genes.tsv"])
@pytest.mark.parametrize("prefix", ["", "GSM123_"])
def test_layout_of_10x(tmp_path, beside, features, prefix):
    folder = tmp_path / "filtered"
    folder.mkdir()
    plain = tmp_path / "x.mtx"
    scipy.io.mmwrite(plain, sp.coo_array(X.T), precision=17)
    matrix = folder / f"{prefix}matrix.mtx.gz"
    matrix.write_bytes(gzip.compress(plain.read_bytes()))
    lines = [f"ENSG{j}\t{name}\tGene Expression" for j, name in enumerate(FEATURES)]
    (folder / f"{prefix}{features}.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    (folder / f"{prefix}barcodes.tsv.gz").write_bytes(gzip.compress("\n".join(SAMPLES).encode()))
    table = read_table(matrix if prefix else folder, target=beside["target"])
    check(table, sparse=True)
    roles = ["data", "feature names", "sample names", "target"]
    assert [source.role for source in table.sources] == roles
    assert "Features were assumed to be in rows, as in 10x files." in table.notes


@pytest.fixture
def h5ad(tmp_path, frame):
    """Writes .h5ad by AnnData's specification of the format."""

    def write(container=np.asarray, older=False):
        path = tmp_path / "x.h5ad"
        with h5py.File(path, "w") as file:
            write_matrix(file, "X", container(X))
            write_matrix(file, "layers/doubled", 2 * container(X))
            for name, index in (("obs", SAMPLES), ("var", FEATURES)):
                file.create_group(name).attrs["_index"] = "_index"
                file[name]["_index"] = np.array(index, dtype=h5py.string_dtype())
            write_columns(file["obs"], older)
        return path

    return write


def write_matrix(file, name, matrix):
    if not sp.issparse(matrix):
        file[name] = matrix
        return
    group = file.create_group(name)
    group.attrs["encoding-type"] = f"{matrix.format}_matrix"
    group.attrs["shape"] = matrix.shape
    group["data"], group["indices"], group["indptr"] = matrix.data, matrix.indices, matrix.indptr


def write_columns(obs, older):
    codes, categories = np.arange(N) % 2, np.array(["ill", "well"], dtype=h5py.string_dtype())
    if older:
        obs["state"], obs["__categories/state"] = codes, categories
    else:
        obs["state/codes"], obs["state/categories"] = codes, categories
    obs["age"] = np.arange(N) + 0.5
    obs["text"] = np.array(Y, dtype=h5py.string_dtype())
    obs["visits/values"], obs["visits/mask"] = np.arange(N), np.arange(N) == 2


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("target", ["state", "text"])
def test_h5ad(h5ad, container, older, target):
    sparse = container is not np.asarray
    check(read_table(h5ad(container, older), target=target), sparse=sparse)


def test_h5ad_columns_and_layers(h5ad):
    path = h5ad()
    np.testing.assert_array_equal(read_table(path, target="age").y, np.arange(N) + 0.5)
    np.testing.assert_array_equal(read_table(path, key="doubled").X, 2 * X)
    np.testing.assert_array_equal(read_table(path, key="layers/doubled").X, 2 * X)
    table = read_table(path, target="visits", missing="drop-samples")
    assert table.y.tolist() == [0, 1, 3, 4, 5, 6]
    with pytest.raises(ValueError, match="did you mean 'state'"):
        read_table(path, target="stat")
    with pytest.raises(ValueError, match="no matrix 'double' in it: did you mean 'layers/doubled'"):
        read_table(path, key="double")


def test_plain_hdf5(tmp_path, beside):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["some/data"] = X
    check(read_table(tmp_path / "x.h5", key="some/data", **beside))


def test_techtc_folder(tmp_path):
    (tmp_path / "features.idx").write_text("# words\n\n1 a\n2 river\n")
    (tmp_path / "vectors.dat").write_text("# documents\n+1 1:2 2:7\n-1\n")
    table = read_table(tmp_path)
    np.testing.assert_array_equal(table.X.toarray(), [[2, 7], [0, 0]])
    assert table.feature_names.tolist() == ["a", "river"]
    assert table.y.tolist() == [1, -1]
    assert table.notes == ("1 sample with only zeros kept.",)
    assert [source.role for source in table.sources] == ["data", "feature names"]


def test_what_a_result_can_be_traced_to(tmp_path, frame, beside):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(frame.drop(columns="state").to_csv().encode()))
    table = read_table(path, target=beside["target"])
    check(table)
    assert table.target_name == "state.txt"
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert table.n_bytes == path.stat().st_size
    assert [source.path for source in table.sources] == [str(path), str(beside["target"])]
    assert 0 < table.seconds < 60
    assert repr(table) == "<Table: 7 samples x 5 features, float64, target 'state.txt'>"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("bool", "f4"),
        ("i1", "f4"),
        ("u2", "f4"),
        ("f2", "f4"),
        ("i4", "f8"),
        (">f8", "f8"),
        ("i8", "f8"),
    ],
)
def test_types_are_kept_as_far_as_they_are_exact(tmp_path, given, expected):
    np.save(tmp_path / "x.npy", np.eye(3, dtype=given))
    X = read_table(tmp_path / "x.npy").X
    assert X.dtype == np.dtype(expected)
    np.testing.assert_array_equal(X, np.eye(3))


def test_types_of_a_frame(tmp_path):
    columns = {"i": pl.Int16, "b": pl.Boolean, "f": pl.Float32, "n": pl.Null}
    frame = pl.DataFrame(
        {"i": [1, None, 3], "b": [True, False, None], "f": [0.5, 1, 2], "n": [None] * 3}, columns
    ).with_columns(y=pl.Series([0.1, 0.2, 0.3]))
    frame.write_parquet(tmp_path / "x.parquet")
    table = read_table(tmp_path / "x.parquet", target="y", missing="mean")
    assert table.X.dtype == np.float32  # whatever the target's type
    np.testing.assert_array_equal(table.X, [[1, 1, 0.5], [2, 0, 1], [3, 0.5, 2]])


def test_the_format_by_name_or_given(tmp_path, frame):
    path = tmp_path / "table.dat"
    path.write_text(frame.to_csv(), encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"cannot be inferred from its name.*\.csv, \.tsv, \.parquet"
    ):
        read_table(path)
    check(read_table(path, format="csv", target="state"))
    with pytest.raises(ValueError, match=f"format must be one of {', '.join(FORMATS)}; got 'xls'"):
        read_table(path, format="xls")
