# SPDX-License-Identifier: BSD-3-Clause
"""Files as anndata, old scanpy, CellRanger, pandas, polars and spreadsheets write them."""

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from ridgewise import cli
from ridgewise.datasets.readers import read_table

N, D = 12, 6
X = np.random.default_rng(0).poisson(1.0, (N, D)).astype(np.float32)
Y = np.array(["B cell", "T cell", "NK"])[np.arange(N) % 3]
GENES = [f"Gène{j}" for j in range(D)]
CELLS = [f"AAAC-{i}" for i in range(N)]


def check(table, dtype=np.float32):
    found = table.X.toarray() if sp.issparse(table.X) else table.X
    np.testing.assert_array_equal(found, X.astype(dtype))
    assert table.feature_names.tolist() == GENES
    assert table.sample_names.tolist() == CELLS
    if table.y is not None:
        assert table.y.tolist() == Y.tolist()


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_anndata(tmp_path, container):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    obs = pd.DataFrame(
        {
            "kind": pd.Categorical(Y),
            "text": Y,
            "age": np.arange(N) + 0.5,
            "visits": pd.array([None, *range(N - 1)], dtype="Int64"),
            "smokes": pd.array([None, *[True, False] * (N // 2)][:N], dtype="boolean"),
        },
        index=CELLS,
    )
    data = anndata.AnnData(container(X), obs=obs, var=pd.DataFrame(index=GENES))
    data.layers["counts"] = container(2 * X)
    data.raw = data.copy()
    data = data[:, :3].copy()
    data.write_h5ad(tmp_path / "x.h5ad")
    check(read_table(tmp_path / "x.h5ad", key="raw", target="kind"))
    check(read_table(tmp_path / "x.h5ad", key="raw", target="text"))
    table = read_table(tmp_path / "x.h5ad", key="counts", target="age")
    assert table.feature_names.tolist() == GENES[:3]
    assert table.y.tolist() == obs["age"].tolist()
    table = read_table(tmp_path / "x.h5ad", target="visits", missing="drop-samples")
    assert table.y.tolist() == list(range(N - 1))
    table = read_table(tmp_path / "x.h5ad", target="smokes", missing="drop-samples")
    assert len(table.y) == N - 1


@pytest.fixture
def legacy(tmp_path):
    """As scanpy ships 10x_pbmc68k_reduced: obs and var are records, categories are in uns."""

    def write(*, sparse=False):
        path = tmp_path / "pbmc68k_reduced.h5ad"
        obs = np.zeros(N, dtype=[("index", "S20"), ("bulk_labels", "i1"), ("n_genes", "<i8")])
        obs["index"], obs["n_genes"] = [cell.encode() for cell in CELLS], np.arange(N) ** 2
        kinds = np.unique(Y)
        obs["bulk_labels"] = np.searchsorted(kinds, Y)
        var = np.zeros(D, dtype=[("index", "S20"), ("n_counts", "<f4")])
        var["index"] = [gene.encode() for gene in GENES]
        with h5py.File(path, "w") as file:
            if sparse:
                matrix = sp.csr_matrix(X)
                group = file.create_group("X")
                group.attrs["h5sparse_format"], group.attrs["h5sparse_shape"] = b"csr", X.shape
                for part in ("data", "indices", "indptr"):
                    group[part] = getattr(matrix, part)
            else:
                file["X"] = X
            file["obs"], file["var"] = obs, var
            file["uns/bulk_labels_categories"] = np.array(kinds, dtype="S10")
            file["uns/bulk_labels_colors"] = np.array(["#fff"] * 3, dtype="S10")
        return path

    return write


@pytest.mark.parametrize("sparse", [False, True])
def test_anndata_before_0_7(legacy, sparse):
    path = legacy(sparse=sparse)
    check(read_table(path, target="bulk_labels"))
    assert read_table(path, target="n_genes").y.tolist() == [i**2 for i in range(N)]
    with pytest.raises(ValueError, match="did you mean 'bulk_labels'"):
        read_table(path, target="bulk_label")


def write_cell_ranger(path, group, genes):
    matrix = sp.csc_matrix(X.T)  # features x barcodes
    with h5py.File(path, "a") as file:
        node = file.create_group(group)
        for part in ("data", "indices", "indptr"):
            node[part] = getattr(matrix, part)
        node["shape"] = np.array(matrix.shape, dtype="i4")
        node["barcodes"] = np.array(CELLS, dtype="S20")
        node[genes] = np.array([gene.encode() for gene in GENES])
        node[genes.replace("gene_names", "genes").replace("name", "id")] = np.arange(D)


def test_cell_ranger(tmp_path):
    write_cell_ranger(tmp_path / "three.h5", "matrix", "features/name")
    check(read_table(tmp_path / "three.h5"))
    write_cell_ranger(tmp_path / "two.h5", "GRCh38", "gene_names")
    check(read_table(tmp_path / "two.h5"))
    write_cell_ranger(tmp_path / "two.h5", "mm10", "gene_names")
    with pytest.raises(ValueError, match="several genomes, 'GRCh38', 'mm10': give the key"):
        read_table(tmp_path / "two.h5")
    check(read_table(tmp_path / "two.h5", key="mm10"))


@pytest.mark.parametrize("names", ["names", "columns", "genes", "feature_names"])
def test_npz_with_names(tmp_path, names):
    np.savez(tmp_path / "x.npz", counts=X, kind=Y, **{names: GENES, "samples": CELLS})
    check(read_table(tmp_path / "x.npz", target="kind"))
    matrix = sp.csr_matrix(X)
    parts = {part: getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    arrays = parts | {"format": b"csr", names: GENES, "samples": CELLS, "kind": Y}
    np.savez(tmp_path / "sparse.npz", **arrays)
    check(read_table(tmp_path / "sparse.npz", target="kind"))


def test_npz_with_names_of_another_length(tmp_path):
    np.savez(tmp_path / "x.npz", X=X, names=GENES[:-1])
    table = read_table(tmp_path / "x.npz")
    assert table.feature_names[0] == "x0"
    assert table.notes == ("Array 'names' of shape (5,) was ignored: it matches no axis of X.",)


@pytest.fixture
def frame():
    return pd.DataFrame(X.astype(float), columns=GENES, index=CELLS).assign(kind=Y)


def test_excel_of_pandas(tmp_path, frame):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "x.xlsx", engine="openpyxl") as writer:
        frame.to_excel(writer, sheet_name="first")
        (2 * frame.drop(columns="kind")).to_excel(writer, sheet_name="second")
    table = read_table(tmp_path / "x.xlsx", target="kind")
    check(table, np.float64)
    assert table.notes[0] == "Sheet 'first' was read; use the key for another: 'second'."
    second = read_table(tmp_path / "x.xlsx", key="second")
    np.testing.assert_array_equal(second.X, 2 * X)
    with pytest.raises(ValueError, match=r"no sheet 'frist': .* did you mean 'first'"):
        read_table(tmp_path / "x.xlsx", key="frist")


def test_excel_with_gaps_and_text_among_numbers(tmp_path):
    frame = pl.DataFrame({"who": ["a", "b", "c"], "x": [1.0, None, 3.5], "z": ["1", "NA", "2.5"]})
    frame.to_pandas().to_excel(tmp_path / "x.xlsx", index=False)
    table = read_table(tmp_path / "x.xlsx", missing="mean")
    np.testing.assert_allclose(table.X, [[1, 1], [2.25, 1.75], [3.5, 2.5]])
    assert table.sample_names.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8", "UTF-8-SIG"])
def test_encodings(tmp_path, frame, encoding):
    frame.to_csv(tmp_path / "x.csv", encoding=encoding)
    check(read_table(tmp_path / "x.csv", target="kind", encoding=encoding), np.float64)
    (tmp_path / "names.txt").write_text("\n".join(GENES), encoding=encoding)
    np.save(tmp_path / "x.npy", X)
    table = read_table(tmp_path / "x.npy", vocabulary=tmp_path / "names.txt", encoding=encoding)
    assert table.feature_names.tolist() == GENES


BAD = {
    "unknown.csv": (b"a,b\n1,2\n", ["--encoding", "klingon"], "no encoding 'klingon'"),
    "no-text.csv": (b"a,b\n1,2\n", ["--encoding", "rot13"], "no encoding 'rot13'"),
    "latin.csv": ("é,b\n1,2\n".encode("latin-1"), [], "such as --encoding latin-1"),
    "wrong.csv": (b"a,b\n1,2\n3", ["--encoding", "utf-16"], "is not utf-16 text"),
    "damaged.xlsx": (b"PK\x03\x04 and no more", [], "damaged, or not a file of format excel"),
    "no-zip.xlsx": (b"a,b\n1,2\n", [], "damaged, or not a file of format excel"),
    "damaged.h5ad": (b"\x89HDF\r\n\x1a\n and no more", [], "damaged, or has an unknown layout"),
    "absent.csv": (b"a,b\n1,2\n", ["--drop", "c"], "there is no column 'c'"),
    "kept.csv": (b"a,b\n1,2\n", ["--keep", "c"], "there is no column 'c'"),
    "rows.csv": (
        b"g,b\nx,2\n",
        ["--features-in", "rows", "--categorical", "onehot"],
        "--categorical onehot needs samples in rows",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence(tmp_path, capsys, name):
    content, options, message = BAD[name]
    (tmp_path / name).write_bytes(content)
    assert cli.run(["select", str(tmp_path / name), "-n", "1", *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ridgewise: ")
    assert printed.err.count("\n") == 1
    assert message in printed.err


def test_records_that_are_not_known(tmp_path):
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = X
        file["obs"], file["var"] = np.arange(3), np.zeros(D, dtype=[("odd", "i4")])
    table = read_table(tmp_path / "x.h5ad")
    assert table.feature_names[0] == "x0"
    assert table.sample_names is None


def test_excel_without_a_header(tmp_path):
    pd.DataFrame([[1.5, 2], [0.5, 1]]).to_excel(tmp_path / "x.xlsx", header=False, index=False)
    table = read_table(tmp_path / "x.xlsx", header=False)
    np.testing.assert_array_equal(table.X, [[1.5, 2], [0.5, 1]])
    assert table.feature_names.tolist() == ["x0", "x1"]
