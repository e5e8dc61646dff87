# tests/python/test_xarray.py: xarray's guide on arrays of each device gives what it gives of NumPy's, on the device.
from __future__ import annotations

import subprocess
import sys

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES

xr = pytest.importorskip("xarray")
from xarray_cases import GUIDE, ON_HOST, TIMES  # noqa: E402

pytestmark = [
    pytest.mark.once,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
CASES = {name: case for cases in GUIDE.values() for name, case in cases.items()}
RNG = np.random.default_rng(0)
RAW = RNG.normal(size=(24, 5, 6))
HOLES = np.where(RNG.random(RAW.shape) < 0.2, np.nan, RAW)
TIME = np.arange("2000-01", "2002-01", dtype="M8[M]").astype("M8[ns]")


def labelled(data):
    coords = {"time": TIME, "y": np.arange(5.0) * 10, "x": np.arange(6.0), "lat": (("y", "x"), np.arange(30.0).reshape(5, 6))}
    return xr.DataArray(data, dims=("time", "y", "x"), coords=coords, name="t")


@pytest.fixture(params=DEVICES, ids=str)
def device(request):
    return pp.Device(request.param)


def pair(device):
    return [labelled(pp.asarray(host, device=device)) for host in (RAW, HOLES)]


@pytest.mark.parametrize("case", CASES)
def test_guide(case, device):
    if not device.has_fp64:
        pytest.skip("the coordinates are float64, which the device has not")
    pytest.importorskip("bottleneck", reason="xarray fills and ranks NumPy's arrays with it")
    expected = CASES[case](labelled(RAW.copy()), labelled(HOLES.copy()), np)
    if case in ON_HOST and device.backend != "cpu":
        with pytest.raises(TypeError, match="asnumpy"):
            CASES[case](*pair(device), pp)
        return
    made = CASES[case](*pair(device), pp)
    assert made.dims == expected.dims
    assert made.dtype == expected.dtype
    assert sorted(made.coords) == sorted(expected.coords)
    if case in ON_HOST | TIMES:
        assert type(made.data) is np.ndarray
        np.testing.assert_allclose(made.values.astype("f8"), expected.values.astype("f8"), rtol=1e-7)
        return
    assert type(made.data) is pp.Array
    assert made.data.device == device
    narrow = made.dtype == "f4" or "f4" in case
    np.testing.assert_allclose(made.to_numpy(), expected.to_numpy(), rtol=3e-6 if narrow else 1e-9, atol=1e-6 if narrow else 1e-11)


def test_on_another_device_than_the_default_one():
    """Coordinates and numbers of the host go where the data is."""
    far = pp.Queue(DEVICES[-1])
    t = labelled(pp.asarray(RAW.astype("f4"), queue=far))
    for made in (t.where(t.x > 2, drop=True), t.reindex(x=[5, 0, 9]), t.where(t > 0, -9), t.fillna(0), t * t.x.astype("f4")):
        assert made.data.queue == far


def test_conversions(device):
    """What is asked for by name, and single elements."""
    t = labelled(pp.asarray(RAW.astype("f4"), device=device))
    for made in (t.to_numpy(), t.as_numpy().data):
        assert type(made) is np.ndarray
        np.testing.assert_array_equal(made, RAW.astype("f4"))
    assert float(t[0, 0, 0]) == t[0, 0, 0].item() == np.float32(RAW[0, 0, 0])
    assert bool((t == t).all())
    assert t.equals(t.copy())
    assert not t.equals(t + 1)
    assert "xarray.DataArray" in repr(t)
    assert "<" in t._repr_html_()
    if device.backend == "cpu":
        np.testing.assert_array_equal(t.values, RAW.astype("f4"))
        assert t.isel(time=0).to_pandas().shape == (5, 6)
    else:
        for convert in (lambda: t.values, lambda: t.isel(time=0).to_pandas(), t.to_dataframe, lambda: np.asarray(t)):
            with pytest.raises(TypeError, match="asnumpy"):
                convert()
        with pp.allow_implicit_copies():
            np.testing.assert_array_equal(t.values, RAW.astype("f4"))


@pytest.mark.parametrize("dtype", ["i4", "u1", "?", "c8", "f4"])
def test_along_an_axis_of_all_dtypes(dtype):
    pytest.importorskip("bottleneck")
    host = np.random.default_rng(4).integers(0, 4, (5, 6)).astype(dtype)
    for shape in ((5, 6), (0, 6), (5, 0), (1, 6)):
        part = host[: shape[0], : shape[1]]
        ours, theirs = (xr.DataArray(data, dims=("a", "b")) for data in (pp.asarray(part), part))
        for select in (lambda t: t.ffill("b"), lambda t: t.bfill("a", limit=1)):
            if dtype not in ("c8", "?"):  # bottleneck does not know these
                np.testing.assert_array_equal(select(ours).to_numpy(), select(theirs).to_numpy())
        if dtype not in ("c8", "?"):
            np.testing.assert_array_equal(ours.rank("b").to_numpy(), theirs.rank("b").to_numpy())


def test_out_of_bounds(device):
    t = labelled(pp.asarray(RAW.astype("f4"), device=device))
    with pytest.raises(IndexError):
        t.isel(x=xr.DataArray([0, 9], dims="p"), y=xr.DataArray([0, 1], dims="p")).to_numpy()
    with pytest.raises(KeyError):
        t.sel(x=77)
    np.testing.assert_array_equal((t + 1)[0, 0].to_numpy(), RAW[0, 0].astype("f4") + 1)  # the device is as it was


@pytest.mark.slow
def test_whichever_is_imported_first():
    """xarray is told of arrays, and imported by nobody but the program."""
    for first, second in (("xarray", "pardo"), ("pardo", "xarray")):
        code = (
            f"import {first}, {second}, sys; import numpy as np\n"
            "t = xarray.DataArray(pardo.asarray(np.arange(6.0).reshape(2, 3)), dims=('a', 'b'))\n"
            "i = xarray.DataArray([0, 1], dims='p')\n"
            "assert t.isel(a=i, b=i).data.tolist() == [0, 4]"
        )
        done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    subprocess.run([sys.executable, "-c", "import pardo, sys; assert 'xarray' not in sys.modules"], check=True)
