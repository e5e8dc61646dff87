# tests/python/test_bfloat16.py: bfloat16 in Python: its dtype, rules, exchange, kernels, loops; test_bfloat16_values.py has values.
import copy
import io
import itertools
import pickle
import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pardo as pp
import pytest
from pardo._base import promotion

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
OTHERS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
OTHERS += ["complex64", "complex128"]


@pytest.fixture
def x():
    return pp.asarray([1.0, 2.5, -3.0], dtype="bfloat16", device="cpu")


# --- the name and the package -----------------------------------------------------------------------------------------------------------


def run(text):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)


def test_the_type_is_that_of_ml_dtypes():
    assert pp.bfloat16 is ml_dtypes.bfloat16
    for dtype in (pp.bfloat16, "bfloat16", BFLOAT16):
        assert pp.zeros(3, dtype=dtype).dtype is BFLOAT16 or pp.zeros(3, dtype=dtype).dtype == BFLOAT16
    assert "bfloat16" in dir(pp)


def test_the_package_is_imported_at_first_use():
    done = run(
        "import sys, pardo as pp; pp.zeros(3).wait(); pp.zeros(3, 'float16') + 1; assert 'ml_dtypes' not in sys.modules\n"
        "x = pp.zeros(3, dtype='bfloat16'); assert 'ml_dtypes' in sys.modules; print(x.dtype)"
    )
    assert done.stdout == "bfloat16\n", done.stderr


@pytest.mark.parametrize(
    "use",
    [
        "from pardo import bfloat16",
        "pp.zeros(3, dtype='bfloat16')",
        "pp.asarray([1.0], 'bfloat16')",
        "pp.ones(2).astype('bfloat16')",
        "pp.finfo('bfloat16')",
        "pp.can_cast('bfloat16', 'float32')",
        "pp.can_cast('float32', 'bfloat16')",
        "pp.result_type('bfloat16', 'float32')",
    ],
)
def test_without_the_package_it_says_what_to_install(use):
    done = run(f"import sys; sys.modules['ml_dtypes'] = None\nimport pardo as pp\ntry: {use}\nexcept ImportError as e: print(e)")
    assert "pip install ml_dtypes" in done.stdout, done.stderr
    find = "def find_spec(self, name, path, target=None):\n        if name == 'ml_dtypes': raise ModuleNotFoundError(name)"
    hidden = f"class Hidden:\n    {find}\n"
    done = run(f"import sys\n{hidden}sys.meta_path.insert(0, Hidden())\nimport pardo as pp\ntry: {use}\nexcept ImportError as e: print(e)")
    assert "pip install ml_dtypes" in done.stdout, done.stderr
    done = run(f"import pardo as pp\n{use}")  # which imports it
    assert done.returncode == 0, done.stderr


def test_without_the_package_the_name_is_not_there():
    """So that `hasattr`, and what goes over all names of a module, do not fail."""
    done = run(
        "import inspect, sys; sys.modules['ml_dtypes'] = None\nimport pardo as pp\nassert not hasattr(pp, 'bfloat16')\n"
        "inspect.getmembers(pp)\ntry: pp.bfloat16\nexcept AttributeError as e: print(e)"
    )
    assert "has no attribute 'bfloat16'" in done.stdout, done.stderr
    assert "pip install ml_dtypes" in done.stdout


def test_kernels_say_what_to_install(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys; sys.modules['ml_dtypes'] = None\nimport pardo as pp\n\n@pp.kernel\ndef k(item, x):\n    x[0] = pp.bfloat16(1)\n\n"
        "try: pp.call_kernel(k, pp.Range(1), pp.zeros(1))\nexcept AttributeError as e: print(e)\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert "k: `pp` has no attribute `bfloat16`: bfloat16 is a dtype of the package ml_dtypes" in done.stdout, done.stderr
    assert "pip install ml_dtypes" in done.stdout


def test_the_text_is_known_in_a_fresh_process():
    done = run(
        "import pardo as pp\nassert pp.dtype('bfloat16') == pp.dtype(pp.bfloat16) == pp.zeros(1, 'bfloat16').dtype\n"
        "import numpy\nassert pp.dtype is numpy.dtype"
    )
    assert done.returncode == 0, done.stderr
    done = run(
        "import sys; sys.modules['ml_dtypes'] = None\nimport pardo as pp\nassert pp.dtype('float32').itemsize == 4\n"
        "try: pp.dtype('bfloat16')\nexcept TypeError as e: print(e)"
    )
    assert "bfloat16" in done.stdout, done.stderr


def test_other_dtypes_of_the_package_are_refused():
    for name in ("float8_e4m3fn", "int4"):
        with pytest.raises(TypeError, match=r"is not supported; supported are .*bfloat16$"):
            pp.zeros(3, dtype=getattr(ml_dtypes, name))
        with pytest.raises(TypeError):
            pp.asarray(np.zeros(3, getattr(ml_dtypes, name)))


# Who asks NumPy itself, and why.
ASKS_NUMPY = {
    "_base/promotion.py": "it knows bfloat16",
    "_filters/linear.py": "of float64",
    "_host/npy.py": "files have no bfloat16",
    "_kernel/arguments.py": "it asks for bfloat16 after that, as each call passes here",
}


@pytest.mark.parametrize("question", [r"\.dtype\.kind\b", r"\bnp\.(result_type|promote_types|can_cast|finfo)\("])
def test_the_package_asks_functions_that_know_it(question):
    folder = Path(pp.__file__).parent
    files = [path for path in folder.rglob("*.py") if not {"compat", "_cython"} & set(path.relative_to(folder).parts)]
    asking = {path.relative_to(folder).as_posix() for path in files if re.search(question, path.read_text())}
    assert not asking - ASKS_NUMPY.keys()


# --- rules ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", OTHERS)
def test_promotion_is_that_of_float16_in_size(other):
    """As NumPy's float16, but beside float16 both become float32."""
    wanted = np.promote_types("float16", other)
    wanted = {"float16": "float32" if other == "float16" else "bfloat16"}.get(wanted.name, wanted.name)
    assert pp.promote_types("bfloat16", other) == pp.promote_types(other, "bfloat16") == np.dtype(wanted)
    assert pp.result_type(pp.bfloat16, other) == np.dtype(wanted)
    assert (pp.zeros(2, dtype="bfloat16") + pp.zeros(2, dtype=other)).dtype == np.dtype(wanted)


@pytest.mark.parametrize("other", OTHERS)
def test_promotion_agrees_with_ml_dtypes_where_it_has_any(other):
    try:
        theirs = np.promote_types(BFLOAT16, other)
    except TypeError:
        return
    assert pp.promote_types(BFLOAT16, other) == theirs


def test_python_numbers_are_weak(x):
    for number in (True, 2, 2.0):
        assert pp.result_type(x, number) == (x + number).dtype == BFLOAT16
    assert pp.result_type(x, 1j) == (x + 1j).dtype == np.complex64
    assert pp.result_type(x, np.float32(1)) == (x + np.float32(1)).dtype == np.float32
    assert pp.result_type(x, pp.bfloat16(1)) == (x + pp.bfloat16(1)).dtype == BFLOAT16
    assert pp.result_type("int8", "uint8", "bfloat16") == BFLOAT16
    assert pp.result_type(pp.zeros(2, dtype="int16"), x, 2.0) == np.float32
    assert promotion.result_type(x.dtype, 1.0, np.ones(2, "f4")) == np.float32


@pytest.mark.parametrize("other", OTHERS)
def test_casts(other):
    assert pp.can_cast(other, "bfloat16") == (other in ("bool", "int8", "uint8"))
    assert pp.can_cast("bfloat16", other) == (other in ("float32", "float64", "complex64", "complex128"))
    assert pp.can_cast(other, "bfloat16", "same_kind") == np.can_cast(other, "float32", "same_kind")
    assert pp.can_cast("bfloat16", other, "same_kind") == np.can_cast("float32", other, "same_kind")
    assert pp.can_cast("bfloat16", other, "unsafe")
    assert not pp.can_cast("bfloat16", other, "equiv")
    assert pp.can_cast("bfloat16", "bfloat16", "no")


def test_facts(x):
    info = pp.finfo(x)
    theirs = ml_dtypes.finfo(BFLOAT16)
    assert info.bits == 16
    assert (info.eps, info.max, info.min) == (2**-7, float(theirs.max), float(theirs.min))
    assert info.smallest_normal == info.tiny == 2.0**-126
    assert info.dtype == BFLOAT16
    assert pp.isdtype(x.dtype, "real floating")
    assert pp.isdtype(x.dtype, ("numeric", "bool"))
    assert pp.isdtype(x.dtype, pp.bfloat16)
    assert not pp.isdtype(x.dtype, ("integral", "complex floating", "bool", pp.float16))
    assert x._kind == promotion.kind_of(x.dtype) == "f"
    assert promotion.is_narrow(x.dtype)
    with pytest.raises(ValueError, match="nvalid integer"):
        pp.iinfo(x)


@pytest.mark.parametrize("name", OTHERS)
def test_kinds_of_other_dtypes(name):
    dtype = np.dtype(name)
    assert pp.zeros(1, dtype=name)._kind == promotion.kind_of(dtype) == dtype.kind
    assert promotion.is_narrow(dtype) == (name == "float16")


# --- values of the host -----------------------------------------------------------------------------------------------------------------


def test_conversions(x):
    assert x.tolist() == [1.0, 2.5, -3.0]
    assert x[1].item() == float(x[1]) == 2.5
    assert int(x[1]) == 2
    assert type(x[1].item()) is float
    assert repr(x) == "array([1, 2.5, -3], dtype=bfloat16)"
    assert str(x[0]) == "1"
    assert f"{x[1]:.2f}" == "2.50"
    assert bool(x[0])
    assert x.itemsize == 2


def test_numpys_arrays_come_and_go(x):
    host = np.array([[1.5, 2], [3, np.inf]], BFLOAT16)
    y = pp.asarray(host)
    assert y.dtype == BFLOAT16
    np.testing.assert_array_equal(pp.asnumpy(y), host)
    np.testing.assert_array_equal(np.asarray(y), host)
    np.testing.assert_array_equal(np.array(y.T), host.T)
    assert np.asarray(y).dtype == BFLOAT16
    assert np.asarray(y, dtype="f4").dtype == np.float32
    shared = pp.asarray(host, copy=False)
    host[0, 0] = 9
    assert float(shared[0, 0]) == 9
    assert pp.asarray([pp.bfloat16(1), pp.bfloat16(2)]).dtype == BFLOAT16
    assert pp.asarray(pp.bfloat16(1.5)).dtype == BFLOAT16
    assert pp.asarray(host.astype("f4"), dtype=pp.bfloat16).dtype == BFLOAT16
    assert pp.full(3, pp.bfloat16(1.5)).dtype == BFLOAT16
    assert pp.full(3, 1, dtype="bfloat16").tolist() == [1, 1, 1]


def test_operands_of_the_host(x):
    host = np.array([1, 2, 3], BFLOAT16)
    for got in (x + host, host + x, np.add(x, host), np.add(host, x)):
        assert type(got) is pp.Array
        assert got.dtype == BFLOAT16
        assert got.tolist() == [2, 4.5, 0]
    assert np.sqrt(pp.asarray(host)).dtype == BFLOAT16
    assert (x * pp.bfloat16(2)).tolist() == (pp.bfloat16(2) * x).tolist() == [2, 5, -6]
    assert pp.maximum(x, pp.bfloat16(2)).dtype == BFLOAT16
    assert pp.clip(x, pp.bfloat16(0), pp.bfloat16(2)).tolist() == [1, 2, 0]
    host += x
    assert host.tolist() == [2, 4.5, 0]
    x[:2] = host[:2]
    assert x.tolist() == [2, 4.5, -3]


def test_buffers_say_what_to_do(x):
    with pytest.raises(BufferError, match=r"no letter for bfloat16.*x\.view\('uint16'\)"):
        memoryview(x)
    with pytest.raises(AttributeError, match=r"bfloat16.*asnumpy"):
        _ = x.__array_interface__
    assert memoryview(x.view("uint16")).tolist() == [0x3F80, 0x4020, 0xC040]
    with pytest.raises(TypeError, match=r"Arrow has no bfloat16.*float32"):
        x.__arrow_c_array__()


def test_dlpack(x):
    y = pp.from_dlpack(x)
    assert y.dtype == BFLOAT16
    assert y.tolist() == x.tolist()
    assert pp.from_dlpack(pp.ones(3, dtype="bfloat16"), copy=True).dtype == BFLOAT16


def test_pickles_and_copies(x):
    for protocol in range(2, 6):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert y.dtype == BFLOAT16
        assert y.tolist() == x.tolist()
    assert copy.deepcopy(x).tolist() == x.tolist()


def test_pickles_import_the_package(x):
    done = run(f"import pickle, pardo; print(pickle.loads({pickle.dumps(x)!r}).tolist())")
    assert done.stdout == "[1.0, 2.5, -3.0]\n", done.stderr


def test_files(x, tmp_path):
    with pytest.raises(TypeError, match=r"no bfloat16.*float32"):
        pp.save(io.BytesIO(), x)
    with pytest.raises(TypeError, match=r"no bfloat16.*float32"):
        pp.savez(io.BytesIO(), x=x)
    assert x.tobytes() == pp.asnumpy(x).tobytes()
    assert pp.frombuffer(x.tobytes(), dtype="bfloat16").tolist() == x.tolist()
    x.tofile(tmp_path / "x")
    assert pp.fromfile(tmp_path / "x", dtype="bfloat16").tolist() == x.tolist()
    pp.save(tmp_path / "x.npy", x.view("uint16"))
    assert pp.load(tmp_path / "x.npy").view("bfloat16").tolist() == x.tolist()


def test_views(x):
    assert x.view("uint16").view(pp.bfloat16).tolist() == x.tolist()
    assert pp.zeros(4, dtype="uint32").view("bfloat16").shape == (8,)


def test_fields_are_refused():
    with pytest.raises(TypeError, match="bfloat16"):
        pp.zeros(3, dtype=[("a", pp.bfloat16)])


# --- functions --------------------------------------------------------------------------------------------------------------------------


def test_creation():
    for made in (pp.zeros(3, "bfloat16"), pp.empty(3, "bfloat16"), pp.arange(3, dtype="bfloat16"), pp.linspace(0, 1, 3, dtype="bfloat16")):
        assert made.dtype == BFLOAT16
    assert pp.arange(5, dtype="bfloat16").tolist() == [0, 1, 2, 3, 4]
    assert pp.linspace(0, 1, 3, dtype="bfloat16").tolist() == [0, 0.5, 1]
    assert pp.eye(2, dtype="bfloat16").tolist() == [[1, 0], [0, 1]]
    assert pp.zeros_like(pp.ones(2, dtype="bfloat16")).dtype == BFLOAT16
    assert pp.asarray([True, 2, 3.5], dtype="bfloat16").tolist() == [1, 2, 3.5]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: pp.sort(x),
        lambda x: pp.where(x > 0, x, 0),
        lambda x: pp.mean(x),
        lambda x: pp.var(x),
        lambda x: pp.median(x),
        lambda x: pp.percentile(x, 50),
        lambda x: pp.nan_to_num(x),
        lambda x: pp.nanmean(x),
        lambda x: pp.pad(x, 1),
        lambda x: pp.diff(x),
        lambda x: pp.flip(x),
        lambda x: pp.unique(x),
        lambda x: pp.cumsum(x),
        lambda x: pp.convolve(x, x),
        lambda x: pp.outer(x, x),
        lambda x: pp.einsum("i,i->", x, x),
        lambda x: pp.trapezoid(x),
        lambda x: pp.select([x > 0], [x], 0),
        lambda x: pp.round(x),
        lambda x: pp.modf(x)[0],
        lambda x: pp.spacing(x),
        lambda x: pp.sinc(x),
        lambda x: pp.ldexp(x, 2),
        lambda x: pp.repeat(x, 2),
        lambda x: pp.add.reduce(x),
        lambda x: pp.multiply.accumulate(x),
        lambda x: pp.special.erf(x),
        lambda x: pp.special.logsumexp(x),
        lambda x: pp.gradient(x),
        lambda x: pp.stack([x, x]),
        lambda x: pp.tril(pp.outer(x, x)),
        lambda x: x**2,
        lambda x: x.real,
        lambda x: x @ x,
        lambda x: pp.ptp(x),
        lambda x: pp.ndimage.gaussian_filter(x, 1.0),
        lambda x: pp.ndimage.median_filter(x, 3),
    ],
    ids=itertools.count(),
)
def test_functions_give_it_and_are_close_to_float32(function, x):
    got, exact = function(x), function(x.astype("float32"))
    assert got.dtype == BFLOAT16
    if got.shape == exact.shape:
        np.testing.assert_allclose(pp.asnumpy(got).astype("f4"), pp.asnumpy(exact), rtol=0.03, atol=0.03)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: pp.isclose(x, x),
        lambda x: pp.allclose(x, x),
        lambda x: pp.array_equal(x, x),
        lambda x: pp.isreal(x),
        lambda x: pp.argsort(x),
        lambda x: pp.histogram(x, bins=3)[0],
        lambda x: pp.digitize(x, [0.0, 2.0]),
        lambda x: pp.searchsorted(pp.sort(x), x),
        lambda x: pp.isin(x, x),
        lambda x: pp.frexp(x)[1],
        lambda x: pp.signbit(x),
        lambda x: pp.count_nonzero(x),
        lambda x: pp.nonzero(x)[0],
    ],
    ids=itertools.count(),
)
def test_functions_of_other_dtypes(function, x):
    np.testing.assert_array_equal(np.asarray(function(x)), np.asarray(function(x.astype("float32"))))


def test_transforms_and_linear_algebra(x):
    assert pp.fft.fft(x).dtype == np.complex64
    assert pp.fft.rfft(x).dtype == np.complex64
    np.testing.assert_allclose(pp.asnumpy(pp.fft.fft(x)), np.fft.fft([1, 2.5, -3]), rtol=1e-5)
    assert pp.linalg.norm(x.astype("float32")) > 0
    with pytest.raises(TypeError, match="bfloat16"):
        pp.linalg.inv(pp.eye(2, dtype="bfloat16"))
    assert (pp.eye(2, dtype="bfloat16") @ pp.ones((2, 3), dtype="bfloat16")).tolist() == [[1, 1, 1], [1, 1, 1]]


def test_out_and_casting(x):
    out = pp.empty(3, dtype="bfloat16")
    assert pp.add(x, 1, out=out) is out
    assert pp.add(x.astype("float32"), 1, out=out).tolist() == [2, 3.5, -2]
    with pytest.raises(TypeError, match="bfloat16"):
        pp.add(x, 1, out=pp.empty(3, dtype="int32"))
    with pytest.raises(TypeError, match="bfloat16"):
        pp.add(x, 1, out=pp.empty(3, dtype="float32"), dtype="int8")
    assert pp.add(x, x, dtype="float32").dtype == np.float32
    assert pp.sum(x, dtype="float32").dtype == np.float32
    x += 1
    assert x.dtype == BFLOAT16
    with pytest.raises(TypeError, match="complex"):
        pp.astype(pp.ones(2, dtype="complex64"), "bfloat16")


def test_random():
    rng = pp.random.default_rng(1)
    with pytest.raises(TypeError, match="bfloat16"):
        rng.random(3, dtype="bfloat16")


def test_sparse(x):
    dense = pp.asarray([[1.0, 0], [0, 2.5]], dtype="bfloat16")
    a = pp.sparse.csr_array(dense)
    assert a.dtype == BFLOAT16
    assert (a @ dense).tolist() == [[1, 0], [0, 6.25]]
    assert a.sum().dtype == BFLOAT16


# --- kernels and loops ------------------------------------------------------------------------------------------------------------------


@pp.kernel
def scaled(item, x, y, out):
    i = item.get_id(0)
    out[i] = x[i] * pp.bfloat16(2) + y


@pp.kernel
def in_float32(item, x, out):
    i = item.get_id(0)
    t = np.float32(x[i])
    out[i] = pp.bfloat16(t * t)


@pp.kernel
def summed(item, x, total):
    pp.atomic.add(total, 0, np.float32(x[item.get_id(0)]))


def test_kernels(x):
    out = pp.empty(3, dtype="bfloat16", device="cpu")
    scaled[3](x, pp.bfloat16(0.5), out)
    assert out.tolist() == [2.5, 5.5, -5.5]
    in_float32[3](x, out)
    assert out.tolist() == [1, 6.25, 9]
    total = pp.zeros(1, dtype="float32", device="cpu")
    summed[3](x, total)
    assert total.tolist() == [0.5]


def test_kernels_as_plain_python(x, monkeypatch):
    out = pp.empty(3, dtype="bfloat16", device="cpu")
    monkeypatch.setenv("PARDO_INTERPRET", "1")
    in_float32[3](x, out)
    assert out.tolist() == [1, 6.25, 9]
    scaled[3](x, pp.bfloat16(0.5), out)
    assert out.tolist() == [2.5, 5.5, -5.5]


def test_loops(x):
    @pp.jit
    def loop(x, out, factor):
        for i in pp.prange(x.shape[0]):
            out[i] = x[i] * factor

    @pp.jit
    def total(x):
        s = np.float32(0)
        for i in pp.prange(x.shape[0]):
            s += x[i]
        return s

    out = pp.empty(3, dtype="bfloat16", device="cpu")
    loop(x, out, 2.0)
    assert out.tolist() == [2, 5, -6]
    host, result = np.array([1, 2, 3], BFLOAT16), np.zeros(3, BFLOAT16)
    loop(host, result, pp.bfloat16(3))
    assert result.tolist() == [3, 6, 9]
    assert float(total(x)) == 0.5
    assert float(total(host)) == 6


def test_generated(x):
    @pp.elementwise
    def f(a, b):
        return a * b + pp.bfloat16(1)

    assert f(x, x).dtype == BFLOAT16
    assert f(x, x).tolist() == [2, 7.25, 10]

    @pp.vectorize
    def g(a):
        return a if a > 0 else -a

    assert g(x).tolist() == [1, 2.5, 3]
    largest = pp.reduction(lambda a: a, lambda a, b: a if a > b else b, -100.0)
    assert float(largest(x)) == 2.5


def test_struct_fields():
    @pp.struct
    class Pair:
        a: pp.bfloat16
        b: "bfloat16"  # noqa: F821

    p = Pair(1.5, 2)
    assert type(p.a) is pp.bfloat16
    assert p.b == 2


@pp.kernel
def with_memory(item, x, out):
    i = item.get_global_id(0)
    own, shared = pp.private_array(1, dtype=pp.bfloat16), pp.local_array(3, dtype="bfloat16")
    own[0] = x[i] * x[i]
    shared[i] = own[0]
    pp.group_barrier(item.get_group())
    out[i] = shared[2 - i] if x.dtype == pp.bfloat16 else 0


@pytest.mark.parametrize("how", ["__call__", "interpret"])
def test_memory_of_kernels(how, x):
    out = pp.empty(3, dtype="bfloat16", device="cpu")
    getattr(with_memory[pp.NdRange(3, 3)], how)(x, out)
    assert out.tolist() == [9, 6.25, 1]


def test_atomics_are_refused(x):
    @pp.kernel
    def add(item, x, out):
        pp.atomic.add(out, 0, x[item.get_id(0)])

    with pytest.raises(TypeError, match=r"atomics are for .*`out` is bfloat16"):
        add[3](x, pp.zeros(1, dtype="bfloat16", device="cpu"))


def test_loops_make_arrays_and_lists():
    @pp.jit
    def counted(n):
        a = np.zeros(n, dtype=pp.bfloat16)
        for i in range(n):
            a[i] = i
        return a

    @pp.jit
    def listed(a, out):
        for i in range(len(a)):
            out.append(a[i])

    assert counted(3).dtype == BFLOAT16
    assert counted(3).tolist() == [0, 1, 2]
    out = []
    listed(np.array([1, 2.5], BFLOAT16), out)
    assert out == [1, 2.5]


def test_numpys_functions_are_ours(x):
    for got in (np.sum(x), np.concatenate([x, x]), np.where(x > 0, x, x), np.spacing(x), np.linalg.norm(x), np.sort(x)):
        assert type(got) is pp.Array
        assert got.dtype == BFLOAT16
    with pytest.raises(TypeError, match="bfloat16"):
        np.bitwise_and(x, x)
    with pytest.raises(IndexError, match="integer"):
        pp.ones(3)[x]


# --- what NumPy and ml_dtypes do not do by themselves -------------------------------------------------------------------------------------

NEARLY_A_TIE = 1 + 2**-8 + 2**-40  # of 1 and of the number after it; by way of float32 it would be one


@pytest.mark.parametrize(
    "made",
    [
        lambda v, t: pp.asarray(v, dtype=t),
        lambda v, t: pp.asarray([v], dtype=t),
        lambda v, t: pp.asarray(np.float64(v), dtype=t),
        lambda v, t: pp.asarray(np.array([v]), dtype=t),
        lambda v, t: pp.full(1, v, dtype=t),
        lambda v, t: pp.fromiter([v], dtype=t),
        lambda v, t: pp.fromstring(repr(v), dtype=t, sep=" "),
        lambda v, t: pp.loadtxt(io.StringIO(repr(v)), dtype=t),
        lambda v, t: pp.genfromtxt(io.StringIO(repr(v)), dtype=t),
    ],
)
def test_numbers_of_python_are_rounded_once(made):
    for sign in (1, -1):
        got = made(sign * NEARLY_A_TIE, "bfloat16")
        assert got.dtype == BFLOAT16
        assert float(got.ravel()[0]) == sign * (1 + 2**-7)


def test_lists_hold_what_those_of_float16_do():
    given = [np.nan, np.inf, -np.inf, -0.0, 1e39, -1e39, 1e-45, 2**70, "1.5", None, True]
    wanted = [np.nan, np.inf, -np.inf, -0.0, np.inf, -np.inf, 0, 2.0**70, 1.5, np.nan, 1]
    got = pp.asnumpy(pp.asarray(given, dtype="bfloat16").astype("float64"))
    np.testing.assert_array_equal(got, wanted)
    assert np.signbit(got[3])
    with pytest.raises(OverflowError, match="too large"):
        pp.asarray([10**400], dtype="bfloat16")
    with pytest.raises(TypeError, match="complex"):
        pp.asarray([1j], dtype="bfloat16")
    assert pp.fromiter(pp.ones(2, dtype="bfloat16"), dtype="bfloat16").tolist() == [1, 1]


@pytest.mark.parametrize(
    ("other", "dtype"),
    [(2, "float64"), (2.5, "float64"), (1j, "complex128"), (np.float16(2), "float32"), (np.int16(2), "float32"), (np.int32(2), "float64")],
)
def test_lists_of_numbers_of_several_dtypes(other, dtype):
    for given in ([pp.bfloat16(1.5), other], [[other], [pp.bfloat16(1.5)]]):
        got = pp.asarray(given)
        assert got.dtype == dtype
        assert sorted(got.ravel().tolist(), key=abs) == sorted([1.5, other], key=abs)
    assert pp.concatenate([[pp.bfloat16(1.5), 2], [3, 4]]).tolist() == [1.5, 2, 3, 4]
    with pytest.raises(TypeError, match=r"element \[1\] is None"):
        pp.asarray([pp.bfloat16(1.5), None])


@pytest.mark.parametrize("name", ["arctan2", "copysign", "heaviside", "hypot", "logaddexp", "logaddexp2", "nextafter"])
def test_integers_follow_the_floats_that_they_meet(name, x):
    f = getattr(pp, name)
    for other in OTHERS[:12]:
        assert f(x, pp.ones(3, dtype=other)).dtype == f(pp.ones(3, dtype=other), x).dtype == pp.result_type(x, other)
        for float_ in OTHERS[9:12]:
            a, b = np.ones(3, dtype=float_), np.ones(3, dtype=other)
            assert f(pp.asarray(a), pp.asarray(b)).dtype == getattr(np, name)(a, b).dtype


def test_dtype_of_functions_of_several_results():
    a = pp.asarray([5.5, -2.25])
    assert [r.dtype for r in pp.divmod(a, a, dtype="bfloat16")] == [r.dtype for r in pp.modf(a, dtype="bfloat16")] == [BFLOAT16] * 2
    assert pp.modf(a, dtype="bfloat16")[0].tolist() == [0.5, -0.25]
    assert pp.spacing(pp.ones(2), dtype="bfloat16").tolist() == [2**-7] * 2
    assert pp.ldexp(3, 2, dtype="bfloat16").dtype == BFLOAT16


def test_numbers_of_its_type_are_arguments(x):
    nine = pp.bfloat16(9)
    for name in ("max", "amax", "nanmax", "min", "sum", "nansum", "prod"):
        got = getattr(pp, name)(x, initial=nine)
        assert got.dtype == BFLOAT16
        assert float(got) == float(getattr(pp, name)(x, initial=9.0))
    assert pp.maximum.reduce(x, initial=nine).tolist() == 9
    assert float(pp.nanmax(x, initial=pp.bfloat16("nan"))) == 2.5
    assert pp.array2string(nine) == "9"
    assert 0 <= int(pp.random.randint(nine)) < 9
    assert pp.array_repr(nine) == "array(9, dtype=bfloat16)"


def test_common_type(x):
    assert pp.common_type(x) is pp.common_type(x, x) is pp.bfloat16
    for other, wanted in (("float16", "float32"), ("int8", "float64"), ("float32", "float32"), ("complex64", "complex64")):
        assert pp.common_type(x, pp.ones(2, dtype=other)) is np.dtype(wanted).type
    with pytest.raises(TypeError):
        pp.common_type(x, pp.ones(2, dtype=bool))


def test_files_refuse_numpys_arrays_of_it_too():
    for save in (pp.save, pp.savez, pp.savez_compressed):
        with pytest.raises(TypeError, match="NumPy's files have no bfloat16"):
            save(io.BytesIO(), np.ones(2, BFLOAT16))
