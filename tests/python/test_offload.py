# tests/python/test_offload.py: offload: functions on the host's arrays: which maps are inferred, what is copied, and what fails.
import numpy as np
import pardo as pp
import pytest
from mapped import OWN, copied, floats

pytestmark = pytest.mark.once


def scale(x, y):
    for i in pp.prange(len(x)):
        y[i] = x[i] * 2


def table(X, D):
    m = X.shape[0]
    for i in pp.prange(m):
        for j in pp.prange(m):
            D[i, j] = X[i] - X[j]


def in_place(x):
    for i in pp.prange(x.shape[0]):
        x[i] += 1


def maybe(x, y):
    for i in pp.prange(len(x)):
        if x[i] > 2:
            y[i] = x[i]


def total(x):
    s = np.float32(0)
    for i in pp.prange(len(x)):
        s += x[i]
    return s


# --- inferred maps


def kinds(function):
    return {
        line.split(":")[0].strip(): line.split(":")[1].split(",")[0].strip()
        for line in function.explain().splitlines()[1:]
        if "line " in line and "copied" not in line and not line.strip().startswith("line")
    }


@pytest.mark.parametrize(
    ("function", "shapes", "expected", "copies"),
    [
        (scale, [(4,), (4,)], {"x": "to", "y": "from"}, 2),
        (scale, [(4,), (6,)], {"x": "to", "y": "tofrom"}, 3),
        (table, [(3,), (3, 3)], {"X": "to", "D": "from"}, 2),
        (in_place, [(4,)], {"x": "tofrom"}, 2),
        (maybe, [(4,), (4,)], {"x": "to", "y": "tofrom"}, 3),
        (total, [(4,)], {"x": "to"}, 1),
    ],
)
def test_inferred(function, shapes, expected, copies):
    arrays = [floats(*shape) for shape in shapes]
    plain = [a.copy() for a in arrays]
    offloaded = pp.offload(function, on=OWN)
    with copied() as c:
        got = offloaded(*arrays)
    assert got == function(*plain)
    assert all(map(np.array_equal, arrays, plain))
    assert kinds(offloaded) == expected
    assert c.times == copies
    moved = sum(a.nbytes * {"to": 1, "from": 1, "tofrom": 2}[k] for a, k in zip(arrays, expected.values(), strict=True))
    assert c.bytes == moved


def swapped(x, y):
    x, y = y, x
    for i in pp.prange(len(y)):
        y[i] = x[i] + 1


def one_of_two(x, y):
    z = x if len(x) > 3 else y
    for i in pp.prange(len(z)):
        z[i] = 1


def assigned_later(x, y):
    for i in pp.prange(len(x)):
        x[i] = 1
    x = y
    for i in pp.prange(len(x)):
        x[i] = 2


def rows_of_a_loop(x, y):
    for part in (x, y):
        for i in pp.prange(len(part)):
            part[i] += 1


def unpacked(x, y):
    a, *b = x, y
    b[0][0] = 7
    for i in pp.prange(len(y)):
        a[i] = y[i]


def given_back(x):
    return x


def of_functions(x, y):
    z, w = given_back(np.ravel(y)), x.reshape(-1)
    for i in pp.prange(len(z)):
        z[i] = w[i]


def out_by_name(x, y):
    np.multiply(x[1:], 2, out=y[1:])


def out_in_a_tuple(x, y):
    np.add(x, 1, out=(y,))


def out_by_place(x, y):
    np.add(x, 1, y)
    np.clip(y, 0, 3, y)


@pytest.mark.parametrize(
    "function",
    [swapped, one_of_two, assigned_later, rows_of_a_loop, unpacked, of_functions, out_by_name, out_in_a_tuple, out_by_place],
    ids=lambda f: f.__name__,
)
def test_whatever_is_written_comes_back(function):
    plain, arrays = ([floats(5), floats(5) + 100] for _ in range(2))
    function(*plain)
    pp.offload(function, on=OWN)(*arrays)
    assert all(map(np.array_equal, arrays, plain))


def test_no_elements_are_used():
    @pp.offload(on=OWN)
    def sizes(x, y):
        for i in pp.prange(len(x)):
            y[i] = x.shape[0]

    with copied() as c:
        y = floats(3)
        sizes(floats(3), y)
    assert y.tolist() == [3, 3, 3]
    assert c.times == 1
    assert "x: alloc" in sizes.explain()


def helper(row, v):
    row[0] = v[1]


def test_what_functions_do_with_their_arguments(device):
    @pp.offload(on=device)
    def outer(x, y):
        for i in pp.prange(len(x)):
            helper(y[i], x[i])

    x, y = floats(3, 2), floats(3, 2)
    outer(x, y)
    assert y.tolist() == [[1, 1], [3, 3], [5, 5]]
    if device == OWN:
        assert kinds(outer) == {"x": "to", "y": "tofrom"}


def test_rows_under_names(device):
    @pp.offload(on=device)
    def rows(x, y):
        for i in pp.prange(x.shape[0]):
            row = y[i]
            for j in range(x.shape[1]):
                row[j] = x[i, j] + 1

    x, y = floats(3, 2), np.zeros((3, 2), "float32")
    rows(x, y)
    assert np.array_equal(y, x + 1)


# --- what is given


def test_given_maps_win():
    x, y = floats(4), floats(4)
    with copied() as c:
        pp.offload(scale, device={"x": "to", "y": "tofrom"}, on=OWN)(x, y)
    assert c.times == 3
    with copied() as c:
        pp.offload(scale, device={"y": "to"}, on=OWN)(x, floats(4))
    assert c.times == 2
    with pytest.raises(ValueError, match=r"scale: `x`, float32 of shape \(4,\), is not present on null:1"):
        pp.offload(scale, device={"x": "present"}, on=OWN)(x, y)


def test_arrays_that_the_function_makes(device):
    @pp.offload(on=device)
    def both(x):
        y = np.empty(len(x), np.float32)
        for i in pp.prange(len(x)):
            y[i] = x[i] + 1
        s = np.float32(0)
        for i in pp.prange(len(y)):
            s += y[i]
        return y, s

    with copied() as c:
        y, s = both(floats(4))
    assert type(y) is np.ndarray
    assert y.tolist() == [1, 2, 3, 4]
    assert s == 10
    if device == OWN:
        assert c.times == 3  # x and y to the device, y back
        assert "around the loop at line" in both.explain()


OUTSIDE = floats(4)


def test_arrays_from_outside(device):
    @pp.offload(on=device)
    def closed(x):
        for i in pp.prange(4):
            x[i] = OUTSIDE[i] * 3

    x = floats(4)
    closed(x)
    assert x.tolist() == [0, 3, 6, 9]


def test_results_are_the_hosts(device):
    @pp.offload(on=device)
    def gives(x, y):
        for i in pp.prange(len(x)):
            y[i] = x[i]
        return y, x + 1, 3

    x, y = floats(3), floats(3)
    same, more, three = gives(x, y=y)
    assert same is y
    assert type(more) is np.ndarray
    assert more.tolist() == [1, 2, 3]
    assert three == 3


def test_inside_of_a_context():
    x, y = floats(4), floats(4)
    offloaded = pp.offload(scale)
    with pp.data(to=(x,), from_=(y,), device=OWN):
        with copied() as c:
            offloaded(x, y)
            offloaded(x[::2], y[1::2])
        assert c.times == 0
    assert y.tolist() == [0, 0, 4, 4]


def test_the_default_device():
    with pp.device_context(OWN):
        offloaded = pp.offload(scale)
        offloaded(floats(3), floats(3))
    assert "last call on null:1" in offloaded.explain()


def test_switched_off(monkeypatch):
    monkeypatch.setenv("PARDO_OFFLOAD", "off")
    x, y = floats(3), floats(3)
    with copied() as c, pp.data(to=(x,), device=OWN):
        pp.offload(scale, on=OWN)(x, y)
        assert pp.is_present(x, OWN)
    assert c.times == 0
    assert y.tolist() == [0, 2, 4]
    monkeypatch.setenv("PARDO_OFFLOAD", "maybe")
    with pytest.raises(ValueError, match="PARDO_OFFLOAD=maybe"):
        pp.offload(scale)(x, y)


# --- arrays of all kinds


@pytest.mark.parametrize("cut", [np.s_[::2], np.s_[::-1], np.s_[3:3], np.s_[1:7:3]])
@pytest.mark.parametrize("dtype", ["float32", "int16", "complex64"])
def test_views(device, cut, dtype):
    x = np.arange(8).astype(dtype)
    y = np.zeros(8, dtype)
    with copied() as c:
        pp.offload(scale, on=device)(x[cut], y[cut])
    expected = np.zeros(8, dtype)
    expected[cut] = x[cut] * 2
    assert np.array_equal(y, expected)
    if device == OWN:
        assert c.bytes == 2 * x[cut].nbytes


def test_read_only_arrays(device):
    x = floats(3)
    x.flags.writeable = False
    y = floats(3)
    pp.offload(scale, on=device)(x, y)
    assert y.tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="read-only"):
        pp.offload(scale, on=device)(y, x)


def test_records(device):
    r = np.zeros(3, np.dtype([("a", "i4"), ("b", "f4")]))
    r["a"] = [1, 2, 3]

    @pp.offload(on=device)
    def fill(r):
        for i in pp.prange(len(r)):
            r[i]["b"] = r[i]["a"] * 2

    fill(r)
    assert r["b"].tolist() == [2, 4, 6]


def test_the_same_array_twice(device):
    x = floats(5)
    pp.offload(scale, on=device)(x, x)
    assert x.tolist() == [0, 2, 4, 6, 8]
    pp.offload(scale, on=device)(x[:2], x[2:4])
    assert x.tolist() == [0, 2, 0, 4, 8]


def test_functions_of_numba(device):
    numba = pytest.importorskip("numba")

    @numba.njit(parallel=True)
    def sums(x, y):
        for i in numba.prange(x.shape[0]):
            y[i] = x[i].sum() if x.ndim == 3 else x[i, 0] + x[i, 1]

    y = np.zeros(3, "float32")
    pp.offload(sums, on=device)(floats(3, 2), y)
    assert y.tolist() == [1, 5, 9]


# --- what is wrong


def test_wrong_arguments():
    with pytest.raises(ValueError, match=r"scale: device: the function has no array `z`"):
        pp.offload(scale, device={"z": "to"})
    with pytest.raises(ValueError, match=r"scale: device: 'x': 'to', 'from', .* are known, not 'in'"):
        pp.offload(scale, device={"x": "in"})
    with pytest.raises(TypeError, match="device must be a dict"):
        pp.offload(scale, device=["x"])
    with pytest.raises(TypeError, match="decorates a function, not int"):
        pp.offload(3)
    with pytest.raises(ValueError, match="no device"):
        pp.offload(scale, on="cuda:99")
    with pytest.raises(TypeError, match="masked"):
        pp.offload(scale, on=OWN)(np.ma.masked_array([1.0]), floats(1))


def test_a_failure_leaves_the_host_as_it_was():
    @pp.offload(on=OWN)
    def fails(x, y):
        for i in pp.prange(len(x)):
            y[i] = 7
        for i in pp.prange(len(x)):
            y[i + 1] = x[i]

    x, y = floats(3), floats(3)
    with pytest.raises(IndexError, match="fails: index 3 ") as raised:
        fails(x, y)
    assert y.tolist() == [0, 1, 2]
    assert raised.value.__notes__ == ["fails: `y`, float32 of shape (3,), stays as it was on the host"]


def test_float64_on_a_device_without_it():
    with pytest.raises(TypeError, match="float64 is not supported by device null:1"):
        pp.offload(scale, on=OWN)(np.zeros(3), np.zeros(3))


def test_it_is_pickled_by_name():
    import copy
    import pickle

    assert copy.copy(PICKLED) is PICKLED
    assert pickle.loads(pickle.dumps(PICKLED)) is PICKLED


@pp.offload
def PICKLED(x):  # noqa: N802
    for i in pp.prange(len(x)):
        x[i] = 1


def test_on_the_host_what_another_device_has_is_the_hosts():
    """`on="cpu"` means the host's memory, inside of a context of another device too."""
    x = floats(3)
    host = pp.offload(in_place, on="cpu")
    with pp.data(to=(x,), device=OWN):
        host(x)
        assert x.tolist() == [1, 2, 3]
        pp.offload(in_place)(x)  # on the context's device, which has not seen that
        assert x.tolist() == [1, 2, 3]
        pp.update_from(x)
    assert x.tolist() == [1, 2, 3]
