# SPDX-License-Identifier: BSD-3-Clause
"""Every bad input gives one clear line."""

import bz2
import contextlib
import gzip
import lzma
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp

from ridgewise.datasets.readers import read_table

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CSV = "who,a,b\n" + "".join(f"p{i},{i}.5,{i * i}\n" for i in range(500))
COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd.compress}


def refuse(path, match, kind=ValueError, **options):
    """Check that a file is refused with this message, on one line, that names the file."""
    with pytest.raises(kind, match=match) as error:
        read_table(path, **options)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_absent(tmp_path):
    (tmp_path / "golub.csv").write_text(CSV)
    refuse(tmp_path / "golob.csv", "does not exist: did you mean 'golub.csv'", FileNotFoundError)
    refuse(tmp_path / "zzz", "does not exist in", FileNotFoundError)
    refuse(tmp_path / "no" / "x.csv", "there is no folder", FileNotFoundError)
    refuse(tmp_path, "is a folder.*such as 'golub.csv'", IsADirectoryError)
    options = {"vocabulary": tmp_path / "names.txt"}
    with pytest.raises(FileNotFoundError, match=r"names\.txt does not exist"):
        read_table(tmp_path / "golub.csv", **options)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "x.csv")
    refuse(tmp_path / "x.csv", "not a regular file", OSError)


@contextlib.contextmanager
def not_as_root():
    """Root may read all: where the tests are root's, be nobody for a while."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are POSIX's")
def test_no_permission():
    with tempfile.TemporaryDirectory() as folder:  # tmp_path lies in a folder of its user alone
        os.chmod(folder, 0o755)
        path = Path(folder, "x.csv")
        path.write_text(CSV)
        read_table(path)
        path.chmod(0)
        with not_as_root():
            refuse(path, "Permission denied", PermissionError)


@pytest.mark.parametrize(
    "suffix", [".csv", ".parquet", ".feather", ".npy", ".npz", ".svm", ".mtx", ".h5ad"]
)
def test_empty_or_of_another_format(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(b"")
    refuse(path, "is empty")
    path.write_bytes(b"\x93nothing that is known\xff\n" * 20)
    refuse(
        path,
        "not UTF-8"
        if suffix == ".csv"
        else "damaged|not a NumPy file|expected lines|not a Matrix Market",
    )


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("\n\n", "it has only blank lines"),
        ("a,b,c\n", "a header and no rows"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cell and there are 2 columns"),
        ("a,b\n1,2\n\n3,4,5\n", "line 4 has 3 cells and there are 2 columns"),
        ('a,b\n1,2\n"3,4\n5,6\n', "quotes on line 3 do not match"),
        ("a,b\n1,inf\n1,2\n", "X has 1 infinite value, the first in sample 1, feature 'b'"),
        ("a,b\n1,2\n1e999,2\n", "X has 1 infinite value, the first in sample 2, feature 'a'"),
        ("a,b,c\n1,x,2\n3,y,4\n", "1 column is not numeric: 'b', with 'x'"),
        ("a,b\nx,1\ny,n.d.\n", "1 column is not numeric: 'b', with 'n.d.'"),
        ("who,b\nx,y\nz,u\n", "1 column is not numeric: 'b', with 'y'"),
    ],
)
def test_text(tmp_path, text, match):
    path = tmp_path / "x.csv"
    path.write_text(text)
    refuse(path, match)


def test_many_columns_of_text_are_counted_and_a_few_named(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(",".join(f"c{j}" for j in range(90)) + "\n" + ("a," * 90)[:-1] + "\n" * 2)
    refuse(path, "89 columns are not numeric: 'c1', 'c2', 'c3' and 86 more, with 'a'. Name the")
    refuse(path, "1 sample and 0 numeric features", categorical="drop")


def test_not_utf8(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("gène,b\n1,2\n".encode("latin-1"))
    refuse(path, "not UTF-8 text .it has the byte 0xe8.: give its encoding, such as .*latin-1")
    path.write_text("a,b\n1,2\n", encoding="utf-16")
    refuse(path, "such as encoding='utf-16'")
    path.write_bytes("a,b\n1,2\n".encode("utf-16"))
    refuse(path, "not UTF-8 text")


@pytest.mark.parametrize("ending", COMPRESS)
def test_compressed_and_damaged(tmp_path, ending):
    path = tmp_path / f"x.csv{ending}"
    content = COMPRESS[ending](CSV.encode())
    path.write_bytes(content[: len(content) // 2])
    refuse(path, "is damaged or cut off")
    path.write_bytes(content[:40] + bytes(60) + content[100:])
    refuse(path, "is damaged or cut off")
    path.write_bytes(CSV.encode())
    refuse(path, "is damaged or cut off")


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".npy", ".npz", ".mtx", ".h5ad"])
def test_cut_off(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    X = np.random.default_rng(0).standard_normal((50, 20))
    if suffix in (".parquet", ".feather"):
        frame = pl.DataFrame(X, [f"g{j}" for j in range(20)])
        (frame.write_parquet if suffix == ".parquet" else frame.write_ipc)(path)
    elif suffix == ".h5ad":
        with h5py.File(path, "w") as file:
            file["X"] = X
    elif suffix == ".mtx":
        scipy.io.mmwrite(path, sp.coo_array(X))
    else:
        (np.save if suffix == ".npy" else np.savez)(path, X)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    refuse(path, "damaged|not a NumPy file|is it cut off")


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (self.folder,)


def test_nothing_is_unpickled(tmp_path):
    trap = Trap(str(tmp_path / "trapped"))
    array, npy, npz = np.array([[trap]], dtype=object), tmp_path / "x.npy", tmp_path / "x.npz"
    np.save(npy, array)
    refuse(npy, "never unpickled")
    np.savez(npz, array)
    refuse(npz, "never unpickled")
    np.savez(npz, X=np.eye(1), y=array[0])
    refuse(npz, "array 'y' .*never unpickled", target="y")
    np.save(tmp_path / "y.npy", array[0])
    refuse(npz, r"y\.npy .*never unpickled", target=tmp_path / "y.npy")
    for path in (npy, npz):
        path.write_bytes(pickle.dumps(trap))
        refuse(path, "never unpickled")
    assert not (tmp_path / "trapped").exists()
    pickle.loads(npy.read_bytes())
    assert (tmp_path / "trapped").exists()  # the trap works


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (np.zeros(3), r"shape \(3,\); expected samples x features"),
        (np.zeros((2, 3, 4)), r"shape \(2, 3, 4\)"),
        (np.zeros((0, 3)), "0 samples and 3 numeric features"),
        (np.array([["a", "b"]]), "must be real numbers; they are of type <U1"),
        (np.eye(2) * 1j, "must be real numbers; they are of type complex128"),
    ],
)
def test_arrays(tmp_path, array, match):
    np.save(tmp_path / "x.npy", array)
    refuse(tmp_path / "x.npy", match)


def test_archives(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, a=np.eye(2), b=np.eye(2))
    refuse(path, r"2 arrays \('a', 'b'\): give the key of the data")
    refuse(path, "no array 'aa': it has 'a', 'b': did you mean 'a'", key="aa")
    np.savez(path, format=b"csr", shape=(2, 2), data=[1.0], indices=[7], indptr=[0, 1, 1])
    refuse(path, "no sparse matrix of SciPy|indices|index")  # one is beyond the shape


def test_wrong_sizes_of_matrix_and_names(tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("a\nb\nc\nd\n")
    scipy.io.mmwrite(tmp_path / "x.mtx", sp.eye_array(3))
    np.save(tmp_path / "x.npy", np.eye(3))
    for path in (tmp_path / "x.mtx", tmp_path / "x.npy"):
        refuse(path, r"names\.txt has 4 names, and there are 3 features", vocabulary=names)
        refuse(path, r"names\.txt has 4 names, and there are 3 samples", sample_names=names)


def test_sizes_that_cannot_be_meant(tmp_path, peak_memory):
    """A few bytes that ask for gigabytes: refused at once, and with no memory taken."""

    def refused(path, match, **options):
        with pytest.raises(ValueError, match=match):
            read_table(path, **options)

    (tmp_path / "x.svm").write_text("1 1:1\n-1 2000000000:1\n")
    whole = "more than half of the .* of memory. Is an index or the header wrong"
    assert peak_memory(lambda: refused(tmp_path / "x.svm", whole, memory=10**11)) < 1e8
    (tmp_path / "y.svm").write_text("1 1:1\n-1 50000000:1\n")
    refused(tmp_path / "y.svm", "more than half of the 1 GB of memory", memory=10**9)
    refused(tmp_path / "y.svm", "1,000 times the 20 bytes of the file", memory=10**12)
    sp.save_npz(tmp_path / "x.npz", sp.csr_array((2, 2 * 10**9)))
    refused(tmp_path / "x.npz", whole, memory=10**11)
    with h5py.File(tmp_path / "x.h5", "w") as file:  # chunks that were never written
        file.create_dataset("X", (10**5, 10**5), dtype="f8", chunks=(100, 100))
    refused(tmp_path / "x.h5", "100,000 x 100,000 values, which take 80 GB")


def test_svmlight(tmp_path):
    path, names = tmp_path / "x.svm", tmp_path / "names.txt"
    names.write_text("a\nb\nc\nd\n")
    path.write_text("1 1:2 5:1\n-1 2:3\n")
    refuse(path, r"names\.txt has 4 names, and there are 5 features", vocabulary=names)
    path.write_text("1 1:2 3:1\n-1 2:3\n")
    table = read_table(path, vocabulary=names)  # a word that no document has
    assert table.X.shape == (2, 4)
    assert "1 feature at the end of names.txt without values: added as zeros." in table.notes
    assert read_table(path, zero_based=True, vocabulary=names).X[0, 1] == 2
    path.write_text("1 0:2 3:1\n-1 2:3\n")
    refuse(path, "a feature with index 0, and zero_based=False", zero_based=False)
    path.write_text("spam 1:2\n")
    refuse(path, "expected lines such as '1 3:0.5 17:2'")
    path.write_text("1\n-1\n")
    refuse(path, "no values in it")


def test_layout_of_10x_with_wrong_names(tmp_path):
    scipy.io.mmwrite(tmp_path / "matrix.mtx", sp.random_array((5, 3), density=0.5))
    (tmp_path / "features.tsv").write_text("a\nb\nc\n")
    refuse(tmp_path / "matrix.mtx", r"features\.tsv has 3 names, and there are 5 features")


@pytest.mark.parametrize("option", ["features_in", "missing", "categorical"])
def test_options(tmp_path, option):
    with pytest.raises(ValueError, match=f"{option} must be one of .*; got 'both'"):
        read_table(tmp_path / "x.csv", **{option: "both"})


def test_a_frame_of_other_types(tmp_path):
    frame = pl.DataFrame({"a": [1, 2], "day": [None, "2020-01-01"], "list": [[1], [2]]})
    frame = frame.with_columns(pl.col("day").str.to_date())
    path = tmp_path / "x.parquet"
    frame.write_parquet(path)
    refuse(path, "2 columns are not numeric: 'day', 'list', with '2020-01-01'")
    assert read_table(path, categorical="drop").X.tolist() == [[1], [2]]
    frame.clear().write_parquet(path)
    refuse(path, "no rows below")


@pytest.mark.parametrize(
    ("suffix", "module", "extra"),
    [
        (".csv", "polars", "cli"),
        (".parquet", "polars", "cli"),
        (".h5ad", "h5py", "anndata"),
        (".csv.zst", zstd.__name__, "cli"),
    ],
)
def test_absent_dependencies_of_formats(tmp_path, monkeypatch, suffix, module, extra):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(zstd.compress(CSV.encode()) if suffix == ".csv.zst" else CSV.encode())
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"needs {module}: pip install 'ridgewise\[{extra}\]'"):
        read_table(path)


def test_the_library_does_without_the_readers_dependencies():
    code = (
        "import sys, ridgewise.datasets.readers;"
        "print({'polars', 'h5py', 'backports.zstd'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
