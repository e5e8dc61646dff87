# tests/python/test_repr.py: arrays look as NumPy's do.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from support import DTYPES, samples


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (4,), (2, 3), (2, 0, 3), (1200,), (60, 70)])
def test_like_numpy(dtype, shape, rng):
    host = samples(dtype, shape, rng)
    x = pp.asarray(host)
    assert repr(x) == repr(host)
    assert str(x) == str(host)
    assert repr(x.T) == repr(host.T)


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=4)))
def test_any_values(host):
    assert repr(pp.asarray(host)) == repr(host)


def test_large_arrays_are_not_copied():
    x = pp.zeros((3000, 3000))
    x.wait()
    before = pp.counters()["copies"]
    assert "..." in repr(x)
    assert pp.counters()["copies"] == before


def test_print_options():
    with np.printoptions(precision=2):
        assert repr(pp.asarray([1 / 3])) == "array([0.33])"


def test_format():
    x = pp.asarray([1.25, 2.0])
    assert f"{x[0]:.1f}" == "1.2"
    assert f"{x.sum()}" == "3.25"
    assert f"{x}" == "[1.25 2.  ]"
    with pytest.raises(TypeError):
        f"{x:.1f}"


def test_html():
    text = pp.zeros((2, 3))._repr_html_()
    assert "shape (2, 3)" in text
    assert "float64" in text
    assert "array([[0., 0., 0.]," in text


def test_devices_and_queues():
    assert repr(pp.Device("cpu")).startswith("Device('cpu")
    assert "in_order" in repr(pp.Queue())
