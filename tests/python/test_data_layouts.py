# tests/python/test_data_layouts.py: data contexts: which memory can be mapped, and which parts of what is mapped are found.
import array

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mapped import OWN, add_one, double, floats, image

pytestmark = pytest.mark.once


LAYOUTS = [
    lambda x: x,
    lambda x: x[::2],
    lambda x: x[:, 1::3],
    lambda x: x[::-1, ::-2],
    lambda x: x.T,
    lambda x: x[1:3, 2:5],
    lambda x: x[2],
    lambda x: x[:, 4],
    lambda x: x[:0],
    lambda x: x[3, 3, ...],
    lambda x: x.reshape(2, 2, 6),
    lambda x: x[None, ::3, None],
]


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex64", "bool", "uint64"])
def test_layouts_go_and_come_back(layout, dtype):
    base = (np.arange(24).reshape(4, 6) % 7).astype(dtype)
    before, view = base.copy(), LAYOUTS[layout](base)
    with pp.data(tofrom=(view,), device=OWN):
        assert np.array_equal(image(view), view)
        values = view.copy()
        base[...] = 0
    after = np.zeros_like(before)
    LAYOUTS[layout](after)[...] = values  # these bytes alone came back
    assert np.array_equal(base, after)


def test_objects_with_buffers(device):
    for made in (bytearray(b"abcd"), array.array("i", [1, 2, 3, 4]), memoryview(bytearray(b"abcd"))):
        with pp.data(tofrom=(made,), device=device):
            assert pp.is_present(made, device)
            add_one[4](made)
        assert made[0] in (98, 2)


def test_read_only_memory(device):
    x = floats(3)
    x.flags.writeable = False
    y = np.zeros(3, "float32")
    with pp.data(to=(x, b"bytes"), from_=(y,), device=device):
        double[3](x, y)
    assert y.tolist() == [0, 2, 4]


def test_no_dimensions_and_no_elements(device):
    x, nothing = np.array(3.0, "float32"), np.zeros((0, 4), "float32")
    with pp.data(tofrom=(x, nothing), device=device):
        assert pp.is_present(x, device)
        assert pp.is_present(nothing, device)
        got = pp.ones(2, "float32", device=device) + x
    assert got.tolist() == [4, 4]


def test_records(device):
    r = np.zeros(3, np.dtype([("a", "i4"), ("b", "f4"), ("c", [("d", "f4"), ("e", "i2")])], align=True))
    r["a"], r["c"]["d"] = [1, 2, 3], 1

    @pp.jit
    def fill(r):
        for i in pp.prange(len(r)):
            q = r[i]
            q["b"] = q["a"] * 2
            q["c"]["d"] += q["b"]

    with pp.data(tofrom=(r,), device=device):
        fill(r)
        if device == OWN:
            assert not r["b"].any()
            assert image(r["a"]).tolist() == [1, 2, 3]
    assert r["b"].tolist() == [2, 4, 6]
    assert r["c"]["d"].tolist() == [3, 5, 7]


@pytest.mark.parametrize("part", [np.s_[::2], np.s_[::-2], np.s_[3:8:3], np.s_[8:2:-5]], ids=str)
def test_steps_that_end_with_the_memory(part):
    """The last one is not whole: behind its element there is nothing."""
    base = np.arange(9, dtype="int16")
    with pp.data(to=(base,), device=OWN):
        assert pp.is_present(base[part], OWN)
        with pp.data(to=(base[part],), device=OWN):
            assert np.array_equal(image(base[part]), base[part])


@given(data=st.data())
def test_any_view_of_any_view(data):
    """Of memory that is mapped by a view, any part of that is found, with any steps, in any direction."""
    shape = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    base = np.arange(np.prod(shape), dtype="int16").reshape(shape)

    def part(x):
        cuts = []
        for n in x.shape:
            first = data.draw(st.integers(0, n - 1))
            cuts.append(slice(first, data.draw(st.integers(first + 1, n)), data.draw(st.integers(1, 3))))
        x = x[tuple(cuts)]
        x = x[tuple(slice(None, None, data.draw(st.sampled_from([1, -1]))) for _ in x.shape)]
        return x.transpose(data.draw(st.permutations(range(x.ndim))))

    outer = part(base)
    inner = part(outer)
    with pp.data(to=(outer,), device=OWN):
        assert pp.is_present(inner, OWN)
        assert np.array_equal(image(inner), inner)
        assert pp.is_present(base, OWN) == (base.size == outer.size)
