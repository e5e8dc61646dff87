# tests/python/test_host_functions.py: names whose files are read at first use; padding, bits, polynomials, texts and files against NumPy's.
from __future__ import annotations

import ast
import io
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from against_numpy import compare
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy_names import BEFORE_2_2
from pardo import _names
from support import DTYPES, check, samples

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FOLDER = Path(pp.__file__).parent


# --- names --------------------------------------------------------------------------------------------------------------------------


def test_files_of_later_names():
    """The table says what the files say, and knows them all."""
    found = {}
    languages = ("_compiler", "_debug", "_generate", "_kernel", "_language", "_offload", "_saving", "_sharding")
    for folder in ("_functions", "_analysis", "_data", "_filters", "_host", "_ipc", "_live", "_records", "_runtime", *languages):
        for path in sorted((FOLDER / folder).glob("*.py")):
            if folder == "_runtime" and path.stem not in ("float_errors", "memory", "profile", "statistics"):
                continue  # read with the package
            if folder == "_filters" and path.stem != "sequences":
                continue  # names of other public modules
            others = ("_analysis.log_sums", "_analysis.special", "_generate.algorithms", "_generate.lists", "_kernel.parallel_loops")
            if f"{folder}.{path.stem}" in others:
                continue  # names of other public modules, and of another file
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                    found[f"{folder}.{path.stem}"] = ast.literal_eval(node.value)
    assert {file: names.split() for file, names in _names.FILES.items()} == found
    shown = {node.module for node in ast.walk(ast.parse((FOLDER / "__init__.py").read_text())) if isinstance(node, ast.ImportFrom)}
    assert {f"pardo.{file}" for file in found} <= shown


def test_classes_are_public_however_their_files_come_to_be_read():
    program = """if 1:
        import importlib, sys
        import pardo as pp
        files = sys.argv[1].split()
        for file in files:
            importlib.import_module(f"pardo.{file}")
        for file in files:
            module = importlib.import_module(f"pardo.{file}")
            for name in module.__all__:
                thing = getattr(module, name)
                if isinstance(thing, type) and thing.__name__ == name:
                    assert thing.__module__ in ("pardo", "numpy"), (name, thing.__module__)
    """
    files = [file for file in _names.FILES if not file.startswith("_host.")]  # there are NumPy's own classes
    done = subprocess.run([sys.executable, "-c", program, " ".join(files)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_later_names_are_read_when_they_are_asked_for():
    later = ["_functions", "_analysis", "_host", "_kernel", "_generate", "_language", "_debug", "_random", "_fft"]
    later += ["random", "algorithm", "fft"]
    program = "import sys, pardo as pp\nassert {'median', 'kernel', 'random'} < set(dir(pp))\n"
    program += f"print(*[m for m in sys.modules if m.startswith('pardo.') and m.split('.')[1] in {later}])\n"
    program += "pp.median\nassert 'median' in vars(pp) and 'quantile' in vars(pp)\n"
    program += "assert pp.random.default_rng is not None and pp.kernel.__module__ == 'pardo' and 'call_kernel' in vars(pp)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
    assert pickle.loads(pickle.dumps(pp.median)) is pp.median
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pp.nothing


def test_arrays_of_numpy_in_a_context():
    host = np.array([[3.0, 1.0], [2.0, np.nan]])
    with pp.device_context("cpu"):
        np.testing.assert_array_equal(pp.nanmedian(host, axis=1), np.nanmedian(host, axis=1))
        assert isinstance(pp.pad(host, 1), np.ndarray)
    assert float(pp.nanmedian(host)) == 2.0


# --- padding and bits ---------------------------------------------------------------------------------------------------------------

MODES = ["constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap"]
OPTIONS = {
    "constant": [{}, {"constant_values": 3}, {"constant_values": (1, 2)}, {"constant_values": ((1, 2), (3, 4))}],
    "linear_ramp": [{}, {"end_values": 5}, {"end_values": ((1, 2), (3, 4))}],
    "reflect": [{}, {"reflect_type": "odd"}],
    "symmetric": [{}, {"reflect_type": "odd"}],
    **{m: [{}, {"stat_length": 2}, {"stat_length": ((1, 2), (3, 9))}] for m in ("maximum", "mean", "median", "minimum")},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["int16", "uint8", "float32", "float64", "complex128", "bool"])
def test_pad(mode, dtype, rng):
    ulp = 8 if mode in ("mean", "linear_ramp", "median") else 0
    if dtype == "bool" and (ulp or mode in ("reflect", "symmetric")):
        pytest.skip("means and differences of bools")
    for shape in ((2, 3), (1, 4)):
        host = samples(dtype, shape, rng)
        for width in (1, ((5, 0), (2, 3))):
            for options in OPTIONS.get(mode, [{}]):
                compare(lambda m, x: m.pad(x, width, mode, **options), host, ulp=ulp, label=f"{mode} {shape} {width} {options}")  # noqa: B023


@pytest.mark.parametrize(
    "wrong",
    [
        lambda m, x: m.pad(x, -1),
        lambda m, x: m.pad(x, 1.5),
        lambda m, x: m.pad(x, (1, 2, 3)),
        lambda m, x: m.pad(x, 1, "x"),
        lambda m, x: m.pad(x, 1, "edge", constant_values=1),
        lambda m, x: m.pad(x[:0], 1, "edge"),
        lambda m, x: m.pad(x, 1, "mean", stat_length=-1),
        lambda m, x: m.pad(x, 1, "maximum", stat_length=0),
    ],
)
def test_pad_refuses(wrong):
    compare(wrong, np.arange(6.0).reshape(2, 3))


@pytest.mark.skipif(BEFORE_2_2, reason="NumPy before 2.2 takes no dictionary of widths")
def test_pad_by_other_means():
    def twos(vector, widths, axis, keywords):
        vector[: widths[0]] = 2

    host = np.arange(6).reshape(2, 3)
    compare(lambda m, x: m.pad(x, 2, twos), host)
    compare(lambda m, x: m.pad(x, {-1: (1, 2)}), host)
    compare(lambda m, x: m.pad(x, {0: 1}, "edge"), host)
    compare(lambda m, x: m.pad(x[:0], ((1, 1), (0, 0))), host)
    assert pp.pad(pp.asarray(host), 1, "empty").shape == (4, 5)


@given(hnp.arrays(np.int16, hnp.array_shapes(max_dims=3, min_side=0, max_side=19), elements=st.integers(0, 2)), st.data())
def test_bits(host, data):
    order, axis = data.draw(st.sampled_from(["big", "little"])), data.draw(st.none() | st.integers(-host.ndim, host.ndim - 1))
    compare(lambda m, x: m.packbits(x, axis=axis, bitorder=order), host)
    count = data.draw(st.none() | st.integers(-3, 30)) if host.size else None  # of nothing NumPy makes what is in memory
    compare(lambda m, x: m.unpackbits(x, axis=axis, bitorder=order, count=count), host.astype(np.uint8), label=f"{axis} {order} {count}")


def test_bits_of_others():
    compare(lambda m, x: m.packbits(x), np.zeros(3))
    compare(lambda m, x: m.unpackbits(x), np.zeros(3, int))
    compare(lambda m, x: m.packbits(x, bitorder="x"), np.zeros(3, int))
    compare(lambda m, x: m.packbits(x, axis=2), np.zeros(3, int))


@pytest.mark.parametrize("order", ["big", "little"])
def test_bits_that_lie_anywhere(order, rng):
    """Eight bytes are taken as one where they lie so; those of a view are copied where they do not."""
    host = rng.integers(0, 3, (6, 80)).astype(np.uint8)
    for part in (np.s_[:], np.s_[:, 3:67], np.s_[:, 8:], np.s_[::-2, ::-1], np.s_[:, ::2], np.s_[1, :13], np.s_[:, 80:], np.s_[:0]):
        for dtype in ("bool", "int8", "uint8", "int64"):
            h = host.astype(dtype)
            x = pp.asarray(h)[part]
            for axis in (None, *range(x.ndim)):
                check(pp.packbits(x, axis, order), np.packbits(h[part], axis, order), label=f"{part} {dtype} {axis}")
        for axis in (None, *range(host[part].ndim)):
            for count in (None, 5, -3, 700) if host[part].size else (None,):  # of nothing NumPy makes what is in memory
                got = pp.unpackbits(pp.asarray(host)[part], axis, count, order)
                check(got, np.unpackbits(host[part], axis, count, order), label=f"{part} {axis} {count}")


# --- polynomials ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int16", "uint8", "float32", "float64", "complex128"])
def test_polynomials(dtype, rng):
    for n, k in ((4, 2), (2, 4), (3, 3), (1, 1)):
        p, q = samples(dtype, (n,), rng), samples(dtype, (k,), rng)
        p[0], q[0] = 3, 2
        for name in ("polyadd", "polysub", "polymul"):
            compare(lambda m, x, y: getattr(m, name)(x, y), p, q, ulp=32, label=name)  # noqa: B023
        compare(lambda m, x, y: m.polydiv(x, y), p, q, ulp=2**12)
        compare(lambda m, x, y: m.polyval(x, y), p, q, ulp=64)
        for order in (0, 1, 2, -1):
            compare(lambda m, x, y: m.polyder(x, order), p, q)  # noqa: B023
            compare(lambda m, x, y: m.polyint(x, order), p, q, ulp=2)  # noqa: B023
    compare(lambda m, x: m.polyint(x, 2, k=[1, 2]), p)
    compare(lambda m, x: m.polyint(x, 3, k=[1, 2]), p)
    compare(lambda m, x: m.polyval([1, 2, 3], x), samples(dtype, (2, 3), rng), ulp=16)
    check(pp.polymul([0, 0, 1], [0, 2, 3]), np.polymul([0, 0, 1], [0, 2, 3]))


# --- texts and dtypes -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_texts(dtype, rng):
    host = samples(dtype, (3, 4), rng)
    x = pp.asarray(host)
    assert pp.array_repr(x) == np.array_repr(host)
    assert pp.array_str(x, precision=2) == np.array_str(host, precision=2)
    options = {"precision": 2, "separator": ", ", "threshold": 5, "edgeitems": 1}
    assert pp.array2string(x, **options) == np.array2string(host, **options)
    assert pp.min_scalar_type(x) == host.dtype
    assert pp.min_scalar_type(x[0, 0]) == np.min_scalar_type(host[0, 0])
    compare(lambda m, x: m.common_type(x, m.asarray([1.0], dtype="float32")), host)
    assert pp.mintypecode([x, "f"]) == np.mintypecode([host, "f"])


def test_names_that_are_numpys():
    for name in ("base_repr", "binary_repr", "issubdtype", "isscalar", "iterable", "set_printoptions", "typename"):
        assert getattr(pp, name) is getattr(np, name)
    assert not pp.isscalar(pp.asarray(1.0))
    assert not pp.iterable(pp.asarray(1.0))
    assert pp.base_repr(pp.asarray(5)) == "101"
    with pp.printoptions(precision=2):
        assert repr(pp.asarray([1 / 3])) == "array([0.33])"


# --- files ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_files(dtype, rng, tmp_path):
    host = samples(dtype, (3, 4), rng)
    x = pp.asarray(host)
    pp.save(tmp_path / "a.npy", x.T)
    check(pp.load(tmp_path / "a.npy"), host.T)
    check(pp.asarray(np.load(tmp_path / "a.npy")), host.T)
    for save in (pp.savez, pp.savez_compressed):
        save(tmp_path / "b.npz", x, y=x[0])
        with pp.load(tmp_path / "b.npz", device="cpu") as arrays:
            assert sorted(arrays) == sorted(arrays.files) == ["arr_0", "y"]
            assert len(arrays) == 2
            check(arrays["arr_0"], host)
            check(arrays["y"], host[0])
    (tmp_path / "c").write_bytes(host.tobytes())
    check(pp.fromfile(tmp_path / "c", dtype=dtype), host.ravel())
    check(pp.frombuffer(host.tobytes(), dtype=dtype, offset=host.itemsize), host.ravel()[1:])
    check(pp.fromiter(host.ravel().tolist(), dtype), host.ravel())


def test_text_files(tmp_path):
    host = np.array([[1.5, 2.0], [3.0, 4.0]])
    pp.savetxt(tmp_path / "a.txt", pp.asarray(host), header="x y", delimiter=",")
    expected = io.StringIO()
    np.savetxt(expected, host, header="x y", delimiter=",")
    assert (tmp_path / "a.txt").read_text() == expected.getvalue()
    check(pp.loadtxt(tmp_path / "a.txt", delimiter=","), host)
    check(pp.loadtxt(tmp_path / "a.txt", dtype="float32", delimiter=",", usecols=1), np.float32([2, 4]))
    check(pp.genfromtxt(["1,2", "3,"], delimiter=",", filling_values=9), np.array([[1.0, 2], [3, 9]]))
    check(pp.fromstring("1 2", dtype=int, sep=" "), np.array([1, 2]))
    (tmp_path / "r.txt").write_text("1312 foo\n1534  bar\n444   qux")
    check(pp.fromregex(tmp_path / "r.txt", r"(\d+)\s+\w+", "int64"), np.array([1312, 1534, 444]))
    check(pp.fromregex(tmp_path / "r.txt", r"(\d+)\s+\w+", [("n", "float32")])["n"], np.float32([1312, 1534, 444]))
    check(pp.fromregex(tmp_path / "r.txt", r"(\d+)z", int), np.zeros(0, int))
    assert pp.fromregex(tmp_path / "r.txt", r"(\d)(\d)\d+\s", [("n", "i4"), ("m", "f4")]).tolist() == [(1, 3.0), (1, 5.0), (4, 4.0)]
    with pytest.raises(FileNotFoundError):
        pp.load(tmp_path / "none")
    with pytest.raises(TypeError):
        pp.loadtxt(["a b"], dtype=str)
