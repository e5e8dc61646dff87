# tests/python/test_plugins.py: libraries that are told of arrays when they are imported: before pardo, after it, or never.
from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from pardo._plugins import joblib_arrays

RAW = np.arange(12.0).reshape(3, 4)


def run(code):
    done = subprocess.run([sys.executable, "-W", "error::RuntimeWarning", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_nothing_is_imported_that_the_user_did_not_import():
    wanted = "{'numba', 'einops', 'dask', 'joblib', 'scipy', 'pyarrow', 'polars', 'xarray', 'zarr', 'ray'}"
    assert run(f"import sys, pardo; print(len({wanted} & set(sys.modules)))") == ["0"]


@pytest.mark.parametrize("order", ["import pardo, einops", "import einops, pardo"])
def test_the_order_of_imports_does_not_matter(order):
    pytest.importorskip("einops")
    loader = "einops._backends.__spec__.loader.exec_module.__qualname__"
    code = f"print(type(einops.rearrange(pardo.zeros((2, 3)), 'a b -> b a')).__name__, {loader})"
    assert run(f"{order}; {code}") == ["Array", "_LoaderBasics.exec_module"]


def test_a_library_that_has_changed_is_imported_all_the_same(tmp_path):
    (tmp_path / "einops").mkdir()
    (tmp_path / "einops" / "__init__.py").write_text("from . import _backends\n__version__ = '9'\n")
    (tmp_path / "einops" / "_backends.py").write_text("works = True\n")
    code = f"""
import sys, warnings
sys.path.insert(0, {str(tmp_path)!r})
import pardo
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import einops
print(einops._backends.works, str(seen[0].message).replace(" ", "_"))
"""
    works, told = run(code)
    assert works == "True"
    assert told.startswith("pardo:_einops__does_not_take_arrays_of_pardo:_AttributeError")


def test_einops():
    einops = pytest.importorskip("einops")
    x = pp.asarray(RAW)
    for got, expected in (
        (einops.rearrange(x, "a (b c) -> c (a b)", c=2), einops.rearrange(RAW, "a (b c) -> c (a b)", c=2)),
        (einops.reduce(x, "a b -> b", "max"), RAW.max(axis=0)),
        (einops.reduce(x, "a b -> 1 b", "mean"), RAW.mean(axis=0)[None]),
        (einops.repeat(x, "a b -> a b 2"), einops.repeat(RAW, "a b -> a b 2")),
        (einops.rearrange([x, x + 1], "n a b -> a n b"), np.stack([RAW, RAW + 1], axis=1)),
        (einops.einsum(x, x, "a b, c b -> a c"), RAW @ RAW.T),
        (einops.pack([x, x[:, 0]], "a *")[0], np.concatenate([RAW, RAW[:, :1]], axis=1)),
    ):
        assert type(got) is pp.Array
        np.testing.assert_allclose(pp.asnumpy(got), expected)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]
)
def test_arrow(dtype):
    arrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    host = (np.arange(21) % 2).astype(dtype) if dtype == "bool" else np.arange(21).astype(dtype)
    x = pp.asarray(host)
    for view in (slice(None), slice(None, None, 2), slice(None, None, -1), slice(3, 12), slice(0, 0)):
        made = arrow.array(x[view])
        assert made.to_pylist() == host[view].tolist()
        assert made.type == arrow.from_numpy_dtype(host.dtype)
        assert polars.Series("a", x[view]).to_list() == host[view].tolist()
    later = arrow.array(x if dtype == "bool" else x + x)
    del x
    assert later.to_pylist() == (host if dtype == "bool" else host + host).tolist()


def test_arrow_refuses():
    with pytest.raises(ValueError, match=r"__arrow_c_array__: .*shape \(3, 4\)"):
        pp.asarray(RAW).__arrow_c_array__()
    with pytest.raises(TypeError, match=r"__arrow_c_array__: Arrow has no complex64.*x\.real"):
        pp.zeros(2, dtype="complex64").__arrow_c_array__()
    far = pp.ones(3, dtype="float32", device="null:1")
    with pytest.raises(TypeError, match=r"__arrow_c_array__: .*null:1.*asnumpy"):
        far.__arrow_c_array__()
    arrow = pytest.importorskip("pyarrow")
    with pp.allow_implicit_copies():
        assert arrow.array(far).to_pylist() == [1, 1, 1]
    x = pp.arange(3.0)
    assert len(x.__arrow_c_array__()) == 2  # capsules that nobody takes let go
    x[0] = 5
    assert x.tolist() == [5, 1, 2]


def test_to_numpy():
    for x in (pp.asarray(RAW), pp.asarray(RAW)[::-1].T, pp.asarray(RAW.astype("f4"), device="null:1")):
        host = x.to_numpy()
        assert type(host) is np.ndarray
        assert host.flags.writeable
        np.testing.assert_array_equal(host, pp.asnumpy(x))


FOURIER = [f"{inverse}{kind}{axes}" for kind in ("fft", "rfft", "hfft") for inverse in ("", "i") for axes in ("", "2", "n")]
FOURIER += [f"{inverse}{kind}{axes}" for kind in ("dct", "dst") for inverse in ("", "i") for axes in ("", "n")]


@pytest.mark.parametrize("name", FOURIER)
def test_scipy_fft(name):
    fft = pytest.importorskip("scipy.fft")
    function = getattr(fft, name)
    for keywords in ({}, {"norm": "ortho"}, {"workers": 2}, {"axes": (0,)} if name.endswith(("n", "2")) else {"axis": 0}):
        got, expected = function(pp.asarray(RAW), **keywords), function(RAW, **keywords)
        assert type(got) is pp.Array
        assert type(expected) is np.ndarray  # others are SciPy's as before
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(pp.asnumpy(got), expected, atol=1e-12)


def test_what_pardo_has_not_of_scipy_fft_is_counted():
    fft = pytest.importorskip("scipy.fft")
    x, before = np.abs(RAW).ravel(), pp.counters()["fallbacks"]
    result = fft.fht(pp.asarray(x), 0.1, 0.5)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, fft.fht(x, 0.1, 0.5))
    assert pp.counters()["fallbacks"] == before + 1


def sums(x):
    return x.sum().item(), x.strides, str(x.device)


@pytest.mark.slow
def test_joblib():
    """Large arrays go to workers by files that they map, small ones by pickle; both come back."""
    joblib = pytest.importorskip("joblib")
    big = pp.ones((500, 400)).T + 0
    assert joblib.Parallel(n_jobs=2)(joblib.delayed(sums)(big) for _ in range(2)) == [(200000.0, big.strides, "cpu:0")] * 2
    results = joblib.Parallel(n_jobs=2)(joblib.delayed(pp.exp)(pp.zeros(3)) for _ in range(2))
    assert [type(r) for r in results] == [pp.Array] * 2
    assert joblib.hash(pp.arange(3.0)) == joblib.hash(pp.arange(3.0)) != joblib.hash(pp.arange(4.0))


def seen_by_worker(x, i):
    mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "joblib" in line}
    return i, float(x.sum()), x.flags.writeable, x.strides, len(mapped)


@pytest.mark.slow
def test_joblib_maps_large_arrays():
    """Workers read the file, which is written once for all tasks; what arrives is read-only, as NumPy's arrays are."""
    joblib = pytest.importorskip("joblib")
    for large in (pp.ones(200_000), pp.ones((400, 500)).T + 0, pp.ones(700_000, dtype="f2") / 1024, pp.ones((500, 800))[:, ::2] + 0):
        total = float(large.sum())
        results = joblib.Parallel(n_jobs=2)(joblib.delayed(seen_by_worker)(large, i) for i in range(4))
        assert results == [(i, total, False, large.strides, 1) for i in range(4)]
    large += 1
    assert joblib.Parallel(n_jobs=2)([joblib.delayed(seen_by_worker)(large, 0)])[0][1] == float(large.sum())
    small = joblib.Parallel(n_jobs=2)([joblib.delayed(seen_by_worker)(pp.ones(10), 0)])
    assert small == [(0, 10.0, True, (8,), 0)]
    views = joblib_arrays._views
    assert id(large) in views
    key = id(large)
    del large
    gc.collect()
    assert key not in views


def test_joblib_reduces(monkeypatch):
    """What its pickler is given, without processes: arrays of other devices and failed values too."""
    far = pp.arange(3, dtype="float32", device="null:1")
    make, arguments = joblib_arrays._reduced(far)
    made = make(*arguments)
    assert made.device == far.device
    assert made.tolist() == [0, 1, 2]
    with pytest.raises(np.linalg.LinAlgError):
        joblib_arrays._reduced(pp.linalg.inv(pp.zeros((2, 2))))


RAY = """
import numpy as np, pardo as pp, ray
ray.init(num_cpus=1, include_dashboard=False, logging_level="ERROR", object_store_memory=100 * 2**20)

@ray.remote
def seen(x):
    held = pp.memory_stats("cpu").in_use
    return float((x + 1).sum()), x.flags.writeable, x.strides, held < x.nbytes

for x in (pp.ones(1_000_000), pp.ones((500, 2000)).T + 0):
    stored = ray.put(x)
    assert ray.get(seen.remote(stored)) == (2e6, False, x.strides, True)
    first, again = ray.get(stored), ray.get(stored)
    assert np.shares_memory(np.asarray(first), np.asarray(again))  # of the store
    assert not first.flags.writeable
    assert float((first * 2).sum()) == 2e6
    changed = first.copy()
    changed[:1] = 5
assert ray.get(ray.put(pp.asarray(3.0))) == 3
ray.shutdown()
print("right")
"""


@pytest.mark.slow
def test_ray(tmp_path):
    """Arrays on the CPU lie in Ray's object store, and workers read them there."""
    pytest.importorskip("ray")
    path = tmp_path / "program.py"
    path.write_text(RAY)
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.stdout.splitlines()[-1:] == ["right"], done.stderr[-3000:]


@pytest.mark.slow
def test_numba():
    """Functions that Numba compiles take arrays without a copy, and write them."""
    numba = pytest.importorskip("numba")

    @numba.njit
    def total(x):
        s = 0.0
        for v in x.flat:
            s += v
        return s

    @numba.njit(parallel=True)
    def grow(x, y):
        for i in numba.prange(x.shape[0]):
            x[i] += y[i]
        return x

    @numba.njit
    def either(x, first):
        y = x if first else np.zeros_like(x)
        return y.sum() + np.dot(x, x)

    x = pp.arange(6.0)
    for view in (x, x[::2], x[::-1], x.reshape(2, 3).T, x[:0], x.astype("float32"), x + 1):
        assert total(view) == pp.asnumpy(view).sum()
    later = x + 1
    result = grow(x, pp.ones(6))
    assert type(result) is np.ndarray
    assert x.tolist() == later.tolist() == [1, 2, 3, 4, 5, 6]
    del result
    assert (x + 1).pending  # nobody holds the memory
    grow(x, np.ones(6))
    grow(np.ones(6), x)
    assert either(x, True) == either(pp.asnumpy(x), True)
    assert either(x, False) == either(pp.asnumpy(x), False)
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    assert total(pp.asarray(fixed, copy=False)) == 3
    with pytest.raises(numba.TypingError):
        grow(pp.asarray(fixed, copy=False), x[:3])
    with pytest.raises(TypeError, match=r"numba: .*null:0.*asnumpy"):
        total(pp.zeros(3, dtype="float32", device="null"))


@pytest.mark.slow
def test_numba_of_written_signatures_records_and_globals():
    """Both types in one function, records in place, global arrays, and arguments that cannot be read."""
    numba = pytest.importorskip("numba")

    @numba.njit(["void(f8[:], f8[:])", "void(f8[::1], f8[::1])"])
    def add(x, y):
        x += y

    for view in (slice(None), slice(None, None, 2), slice(None, None, -1)):
        x, y, host, other = pp.arange(6.0), pp.arange(6.0), np.arange(6.0), np.arange(6.0)
        add(x[view], y[view])
        add(host[view], y[view])
        add(y[view], other[view])
        expected = np.arange(6.0)
        expected[view] *= 2
        for result in (x, host, y):
            np.testing.assert_array_equal(pp.asnumpy(result), expected)
    with pytest.raises(TypeError, match="argument type"):
        add(x, 1)
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    with pytest.raises(TypeError):
        add(pp.asarray(fixed, copy=False), x[:3])

    @numba.njit
    def count(records):
        for i in range(len(records)):
            records[i].b += i
        return records["a"].sum()

    records = pp.ones(4, dtype=np.dtype([("a", "f8"), ("b", "i4")], align=True))
    assert count(records) == 4
    assert count(records[::2]) == 2
    assert records["b"].tolist() == [1, 2, 4, 4]
    with pytest.raises(TypeError, match=r"numba: .*records of .*asnumpy"):
        count(pp.ones(4, dtype="u1, f8"))

    for shared in (pp.arange(6.0), pp.arange(6.0).reshape(2, 3).T, pp.arange(24.0).reshape(4, 6)[::-2, ::2], pp.ones((500, 300))[::2].T):

        @numba.njit
        def total(shared=None, known=shared):
            return known.sum()

        @numba.njit
        def frozen():
            return shared.sum(), shared.shape  # noqa: B023

        assert frozen() == (pp.asnumpy(shared).sum(), shared.shape)
        assert total() == frozen()[0]

    far = pp.zeros(3, dtype="float32", device="null")
    failed = pp.linalg.inv(pp.zeros((2, 2)))[0]
    for argument, error in ((far, TypeError), (failed, np.linalg.LinAlgError)):
        with pytest.raises(error):
            add(argument, x)
        with pytest.raises(error):
            add(x, argument)
    with pytest.raises(np.linalg.LinAlgError):
        numba.njit(lambda x: x.sum())(failed)


@pytest.mark.slow
def test_dask_looks_up():
    da, sizeof = pytest.importorskip("dask.array"), pytest.importorskip("dask.sizeof")
    d = da.from_array(pp.arange(10.0), chunks=5, asarray=False)
    host = np.arange(10.0)
    for got, expected in (
        (da.percentile(d, [20, 50]), da.percentile(da.from_array(host, chunks=5), [20, 50]).compute()),
        (da.concatenate([d, d]), np.concatenate([host, host])),
        (da.take(d, [1, 7]), host[[1, 7]]),
        (da.einsum("i,i->", d, d), np.dot(host, host)),
        (da.tensordot(d, d, 1), np.dot(host, host)),
        (da.nanmean(d), host.mean()),
    ):
        value = got.compute()
        assert type(value) is pp.Array
        np.testing.assert_allclose(pp.asnumpy(value), expected)
    x = pp.zeros(1000)
    assert sizeof.sizeof(x) == sizeof.sizeof(x.reshape(10, 100)) == 8000
