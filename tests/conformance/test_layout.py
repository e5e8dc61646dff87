# tests/conformance/test_layout.py: orders of axes, views of parts and of bytes, and arrays that must not be written, on each device.
import numpy as np
import pardo as pp
import pytest

HOST = np.arange(24, dtype="f4").reshape(2, 3, 4)


@pytest.mark.parametrize("order", ["C", "F", "K"])
def test_orders(device, order):
    for host in (HOST, np.asfortranarray(HOST), HOST.transpose(1, 0, 2)):
        x = pp.asarray(host, device=device)
        for y, expected in (
            (x.copy(order), host.copy(order)),
            (pp.add(x, 1, order=order), np.add(host, 1, order=order)),
            (pp.zeros_like(x, order=order) + 1, np.zeros_like(host, order=order) + 1),
            (x.sum(axis=1) if order == "K" else x, host.sum(axis=1) if order == "K" else host),
            (pp.concat([x, x], axis=1), np.concatenate([host, host], axis=1)),
        ):
            assert y.strides == expected.strides
            np.testing.assert_allclose(pp.asnumpy(y), expected)


def test_creation(device):
    x = pp.full((2, 3), 2, "i4", "F", device=device)
    assert x.strides == (4, 8)
    assert x.flags.fnc
    x[1] = 5
    np.testing.assert_array_equal(pp.asnumpy(x + x), [[4, 4, 4], [10, 10, 10]])


def test_parts_write_through(device):
    z = pp.asarray(np.asarray([[1 + 2j, 3 + 4j]], "c8"), device=device).wait()
    z.imag = [7, 8]
    z.real[0, 0] = 5
    z.T.imag += 1
    np.testing.assert_array_equal(pp.asnumpy(z), [[5 + 8j, 3 + 9j]])
    np.testing.assert_array_equal(pp.asnumpy(z.view("f4")), [[5, 8, 3, 9]])


@pytest.mark.parametrize("dtype", ["i2", "f4", "c8"])
def test_byteswap(device, dtype):
    host = HOST.astype(dtype)
    x = pp.asarray(host, device=device)
    assert pp.asnumpy(x.byteswap()).tobytes() == host.byteswap().tobytes()
    x[:, ::2].byteswap(inplace=True)
    host[:, ::2] = host[:, ::2].byteswap()
    assert pp.asnumpy(x).tobytes() == host.tobytes()


def test_views_as_other_dtypes(device):
    x = pp.asarray(HOST, device=device).wait()
    for dtype in ("i4", "u1", "i8"):
        np.testing.assert_array_equal(pp.asnumpy(x.view(dtype)), HOST.view(dtype))
    x[1].view("i4")[...] = 0
    assert not pp.asnumpy(x)[1].any()
    assert x[1, 1:].data.size == 32
    assert x[1].data.ptr - x.data.ptr == 48


def test_read_only(device):
    @pp.kernel
    def twice(item: pp.Item, x):
        x[item.get_id(0)] *= 2

    x = pp.asarray(HOST.ravel(), device=device)
    row = pp.broadcast_to(x, (2, 24))[0:1, :]
    x.flags.writeable = False
    for y in (x, x[2:], row):
        with pytest.raises(ValueError, match="read-only"):
            y[...] = 1
        with pytest.raises(ValueError, match="read-only"):
            y += 1
        with pytest.raises(ValueError, match="read-only"):
            pp.add(y, 1, out=y)
    with pytest.raises(ValueError, match="read-only"):
        twice[pp.Range(24)](x)
    np.testing.assert_array_equal(pp.asnumpy(x), HOST.ravel())


def test_resize(device):
    x = pp.asarray(HOST, device=device)
    x.resize(5, 6)
    host = HOST.copy()
    host.resize((5, 6), refcheck=False)
    np.testing.assert_array_equal(pp.asnumpy(x), host)
    x.shape = (6, 5)
    np.testing.assert_array_equal(pp.asnumpy(x), host.reshape(6, 5))
