# tests/conformance/test_recursive_filters.py: lfilter and sosfilt of pardo.signal against the difference equation, element by element.
import numpy as np
import pardo as pp
import pytest
from data import rng_for

signal = pp.signal
# Butterworth of order 2 at 0.1, of order 3 at 0.4 of the Nyquist frequency; one with real poles; without feedback; without a past.
FILTERS = {
    "low": ([0.0200833655642112, 0.0401667311284225, 0.0200833655642112], [1.0, -1.5610180758007182, 0.6413515380575631]),
    "wide": ([0.0985311609, 0.2955934828, 0.2955934828, 0.0985311609], [1.0, -0.5772405248, 0.4217870487, -0.0562972365]),
    "scaled": ([1.0, 2.0], [2.0, -1.0, 0.3, 0.05]),
    "sums": ([1.0], [1.0, -1.0]),
    "without feedback": ([0.5, 0.25, -0.125], [0.5]),
    "factor": ([3.0], [1.5]),
    "growing": ([1.0], [1.0, -1.1]),
}


def filtered(b, a, x, z):
    """Along the first axis, and the last states."""
    count = max(len(a), len(b)) - 1
    b, a = (np.pad(np.asarray(c, float) / a[0], (0, count + 1 - len(c))) for c in (b, a))
    z = np.concatenate([z, np.zeros((1, *z.shape[1:]), z.dtype)])
    y = np.zeros(x.shape, np.result_type(x, z))
    for i, v in enumerate(x):
        y[i] = b[0] * v + z[0]
        z[:-1] = z[1:] + np.multiply.outer(b[1:], v) - np.multiply.outer(a[1:], y[i])
    return y, z[:-1]


def data(shape, dtype, device):
    a = rng_for(shape, dtype).normal(size=shape) * 4
    if dtype.startswith("complex"):
        a = a + 1j * a[::-1]
    a = a.astype(dtype)
    return a, pp.asarray(a, device=device)


def close(got, want, device):
    got = pp.asnumpy(got)
    double = device.has_fp64 and got.dtype in (np.float64, np.complex128)
    assert got.shape == want.shape
    np.testing.assert_allclose(
        got, want, rtol=1e-9 if double else 1e-3, atol=(1e-9 if double else 1e-4) * (1 + np.abs(want).max(initial=0))
    )


def plain(c):
    """Coefficients that leave the dtype of the elements as it is."""
    return np.asarray(c, "float32")


@pytest.mark.parametrize("name", [n for n in FILTERS if n != "growing"])
@pytest.mark.parametrize("shape", [(7,), (3000,), (700, 3)], ids=str)
def test_lfilter(name, shape, device):
    b, a = FILTERS[name]
    x, on_device = data(shape, "float32", device)
    count = max(len(a), len(b)) - 1
    first = rng_for(name).normal(size=(count, *shape[1:])).astype("float32")
    want = filtered(b, a, x.astype(float), 0.0 * first.astype(float))[0]
    got = signal.lfilter(b, a, on_device, 0)
    assert got.dtype == (np.float64 if device.has_fp64 else np.float32)  # of lists of floats
    close(got, want, device)
    want, last = filtered(b, a, x.astype(float), first.astype(float))
    y, zf = signal.lfilter(plain(b), plain(a), on_device, 0, zi=first)
    assert y.dtype == zf.dtype == np.float32
    np.testing.assert_allclose(pp.asnumpy(y), want, rtol=2e-3, atol=2e-3 * (1 + np.abs(want).max()))
    assert zf.shape == last.shape


def test_last_states_go_on(device):
    """A signal in two parts gives what it gives as one."""
    b, a = FILTERS["wide"]
    _, on_device = data((2, 1000), "float32", device)
    whole = pp.asnumpy(signal.lfilter(b, a, on_device))
    z = np.zeros((1, 3), "float32")  # for all lines
    y, z = signal.lfilter(b, a, on_device[:, :600], zi=z)
    again, z = signal.lfilter(b, a, on_device[:, 600:], zi=z)
    close(pp.concat([y, again], axis=1), whole, device)
    assert z.shape == (2, 3)
    sos = np.array([[0.2, 0.3, 0.1, 1, -0.5, 0.2], [1, 0.5, 0, 1, 0.1, 0.05]])
    whole = pp.asnumpy(signal.sosfilt(sos, on_device))
    y, z = signal.sosfilt(sos, on_device[:, :600], zi=np.zeros((2, 2, 2), "float32"))
    again, z = signal.sosfilt(sos, on_device[:, 600:], zi=z)
    close(pp.concat([y, again], axis=1), whole, device)
    assert z.shape == (2, 2, 2)


@pytest.mark.parametrize("dtype", ["int16", "complex64", "bool"])
def test_dtypes(dtype, device):
    b, a = FILTERS["low"]
    x, on_device = data((5, 400), dtype, device)
    wide = x.T.astype("complex128" if dtype == "complex64" else "float64")
    want, _ = filtered(b, a, wide, np.zeros((2, 5), wide.dtype))
    close(signal.lfilter(b, a, on_device), want.T, device)
    want, _ = filtered(b, a, wide[::-1], np.zeros((2, 5), wide.dtype))
    close(signal.sosfilt([[*b, *a]], on_device[:, ::-1]), want.T, device)


def test_sections_are_filters_one_after_the_other(device):
    x, on_device = data((4, 1200), "float32", device)
    sos = np.array([[0.2, 0.3, 0.1, 1, -0.5, 0.2], [1, 0.5, 0, 1, 0.1, 0.05], [1, -1, 0.5, 1, -0.9, 0.3]])
    want = x.T.astype(float)
    for row in sos:
        want, _ = filtered(row[:3], row[3:], want, np.zeros((2, 4)))
    close(signal.sosfilt(sos, on_device), want.T, device)
    close(signal.sosfilt(sos, on_device.T, axis=0), want, device)


def test_growing_filters_stay_whole(device):
    b, a = FILTERS["growing"]
    x = np.zeros(600, "float32")
    x[500] = 1
    got = pp.asnumpy(signal.lfilter(b, a, pp.asarray(x, device=device)))
    np.testing.assert_allclose(got[500:], 1.1 ** np.arange(100), rtol=1e-4)
    assert not got[:500].any()


def test_nothing(device):
    b, a = FILTERS["low"]
    x = pp.zeros((3, 0), dtype="float32", device=device)
    assert signal.lfilter(b, a, x).shape == (3, 0)
    _, z = signal.lfilter(b, a, x, zi=np.ones((3, 2), "float32"))
    assert pp.asnumpy(z).tolist() == [[1, 1]] * 3
    assert signal.lfilter([1.0, 2.0], [1.0], x).shape == (3, 0)
    assert signal.sosfilt([[*b, *a]], x).shape == (3, 0)
