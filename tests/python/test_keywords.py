# tests/python/test_keywords.py: arguments by name in kernels, options that are refused, and loops over enumerate and zip in each other.
import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_array_equal


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_atomics(device):
    @pp.kernel
    def count(item: pp.Item, b):
        i = item.get_id(dimension=0)
        pp.atomic.add(b, index=0, value=1)
        pp.atomic.max(array=b, value=i, index=1, order="relaxed")
        pp.atomic.compare_exchange(b, 2, expected=0, desired=7, scope="device")
        ref = pp.AtomicRef(b, index=3)
        ref.fetch_add(value=2)
        pp.AtomicRef(index=(4,), array=b, order="relaxed").store(value=5)
        pp.AtomicRef(b, 5).compare_exchange(desired=9, expected=0)

    b = pp.zeros(6, dtype="int32", device=device)
    count[10](b).wait()
    assert_array_equal(pp.asnumpy(b), [10, 9, 7, 20, 5, 9])


def test_arrays_and_rounding():
    @pp.kernel
    def f(item: pp.Item, x):
        a = np.full(fill_value=2.5, shape=3)
        b = np.zeros(shape=2, dtype=np.float64)
        c = pp.private_array(dtype=np.int32, shape=(2, 2))
        c[1, 1] = 4
        x[0] = a[2] + b[1] + c[1, 1]
        x[1] = round(x[2], ndigits=1)
        x[2] = x[2].astype(dtype="int64")

    x = pp.asarray([0.0, 0.0, 1.25, 3.0])
    f[1](x).wait()
    assert_array_equal(pp.asnumpy(x), [6.5, 1.2, 1.0, 3.0])


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_what_signatures_name(device):
    @pp.kernel
    def f(item: pp.NdItem, x, y):
        i = item.get_global_id(0)
        z = complex(imag=2.0, real=x[i])
        y[i, 0] = pp.clip(x[i], max=3, min=1)
        y[i, 1] = np.clip(a=x[i], a_min=0.5, a_max=2)
        y[i, 2] = pp.where(y=-1.0, x=z.imag, condition=x[i] > 2)
        y[i, 3] = pow(exp=2, base=x[i])
        pp.group_barrier(group=item.get_group())

    y = pp.zeros((4, 4), dtype="float32", device=device)
    f[pp.NdRange((4,), (2,))](pp.arange(4, dtype="float32", device=device), y).wait()
    assert_array_equal(pp.asnumpy(y), [[1, 0.5, -1, 0], [1, 1, -1, 1], [2, 2, -1, 4], [3, 2, 2, 9]])

    @pp.kernel
    def wrong(item: pp.Item, x):
        x[0] = np.clip(x[0], 1, upper=2)

    with pytest.raises(TypeError, match="clip: the keyword `upper` is not known in a kernel; it takes x, min, max"):
        wrong[1](y[0])


def nested(x, y, out):
    for k, (a, b) in enumerate(zip(x, y, strict=False)):
        out[k] = a + 10 * b
    for a, (k, b) in zip(x, enumerate(y, 5), strict=False):
        out[0] += a * k + b
    for j, (k, (a, b)) in enumerate(enumerate(zip(x, y, strict=False), start=2)):
        out[1] += (k - j) * a * b
    for (a, b), c in zip(zip(x, y, strict=False), out, strict=False):
        out[2] += a + b + c
    for k, (n, v) in enumerate(((1, 2.5), (2, 3.5))):
        out[k] += n * v


def test_enumerate_and_zip_in_each_other():
    x, y = np.arange(5.0), np.arange(1.0, 8.0)
    expected = np.zeros(5)
    nested(x, y, expected)
    out = np.zeros(5)
    loop = pp.jit(nested)
    loop(x, y, out)
    assert_array_equal(out, expected)
    assert loop.diagnostics().count("a serial loop, compiled\n") == 5

    @pp.kernel
    def kernel(item: pp.Item, x, y, out):
        nested(x, y, out)

    device = pp.zeros(5)
    kernel[1](pp.asarray(x), pp.asarray(y), device).wait()
    assert_array_equal(pp.asnumpy(device), expected)


def test_names_of_rounds():
    @pp.jit
    def read_in_the_loop(x):
        m = 0
        for i in pp.prange(len(x)):
            m += x[i]
            if m == 2:
                x[i] = 1

    with pytest.raises(TypeError, match="`m` is reduced over all iterations of the parallel loop, and this uses it before they have ended"):
        read_in_the_loop(np.ones(3))

    @pp.jit
    def not_assigned_above(x):
        m = 0
        for i in pp.prange(len(x)):
            if x[i] > m:
                m = x[i]

    with pytest.raises(NameError, match="`m` has no value here: the parallel loop assigns it, so each iteration has its own"):
        not_assigned_above(np.ones(3))


def _nothing(item, x):
    pass


def _rounds(x, stop, step):
    for i in pp.prange(0, stop, step):
        x[i] /= 2


OPTIONS = [
    (TypeError, lambda: pp.kernel(_nothing, fastmath=2), r"^kernel: fastmath must be True, False or 'estimates', not 2$"),
    (TypeError, lambda: pp.kernel(fastmath="yes")(_nothing), r"^kernel: fastmath must be True, False or 'estimates', not 'yes'$"),
    (TypeError, lambda: pp.kernel(_nothing, bounds_check="no"), r"^kernel: bounds_check must be True or False, not 'no'$"),
    (TypeError, lambda: pp.kernel(_nothing, race_check=3), r"^kernel: race_check must be True or False, not 3$"),
    (TypeError, lambda: pp.kernel(_nothing, sub_group_size="a"), r"^kernel: sub_group_size must be an integer, not str$"),
    (ValueError, lambda: pp.kernel(_nothing, sub_group_size=2**70), r"^kernel: sub_group_size is a power of two, at most 2\*\*30, not 118"),
    (
        TypeError,
        lambda: pp.kernel(_nothing, access=["x"]),
        r"^_nothing: access: a dict such as {'read_only': \['x'\]} is expected, not list$",
    ),
    (
        TypeError,
        lambda: pp.kernel(_nothing, access={"read_only": 3}),
        r"^_nothing: access: a list of names is expected for 'read_only', not",
    ),
    (TypeError, lambda: pp.jit(_rounds, bounds_check="no"), r"^jit: bounds_check must be True or False, not 'no'$"),
    (TypeError, lambda: pp.jit(_rounds, boundscheck=1.5), r"^jit: boundscheck must be True or False, not 1.5$"),
    (TypeError, lambda: pp.jit(_rounds, fastmath={"nnan"}), r"^jit: fastmath must be True, False or 'estimates', not {'nnan'}$"),
    (TypeError, lambda: pp.jit(_rounds, race_check="x"), r"^jit: race_check must be True or False, not 'x'$"),
    (TypeError, lambda: pp.elementwise(lambda a: a, fastmath=2), r"^elementwise: fastmath must be True or False, not 2$"),
    (TypeError, lambda: pp.reduction(lambda a: a, min, 0, fastmath=[]), r"^reduction: fastmath must be True or False, not \[\]$"),
    (ValueError, lambda: pp.scan(lambda a: a, min, 0, name="a b"), r"^scan: name: a Python name is expected, not 'a b'$"),
    (TypeError, lambda: pp.prange("a"), r"^prange: stop must be an integer, not str$"),
    (TypeError, lambda: pp.prange(0, 1, 1.5), r"^prange: step must be an integer, not float$"),
    (TypeError, lambda: pp.prange(), r"^prange: one to three bounds are expected"),
    (ValueError, lambda: pp.prange(1, 2, 0), r"^prange: step must not be 0$"),
    (TypeError, lambda: pp.jit(_rounds)(np.zeros(3), 2.0, 1), r"^prange: stop must be an integer, not float$"),
    (ValueError, lambda: pp.jit(_rounds)(np.zeros(3), 2, 0), r"^prange: step must not be 0$"),
    (OverflowError, lambda: pp.jit(_rounds)(np.zeros(3), 2**63, 1), r"^prange: range\(0, 9223372036854775808\) is more than 64 bits hold$"),
]


@pytest.mark.parametrize("case", range(len(OPTIONS)))
def test_wrong_options(case):
    """Options that are refused, by the name of what refuses them, not by what it calls."""
    error, call, message = OPTIONS[case]
    with pytest.raises(error, match=message):
        call()


def test_options_that_are_numpys():
    kernel = pp.kernel(_nothing, fastmath=np.True_, bounds_check=np.False_, race_check=0, sub_group_size=np.int8(16))
    kernel[pp.Range(3)](pp.ones(3)).wait()
    assert list(pp.prange(np.int8(1), pp.asarray(4))) == [1, 2, 3]


GROUP_FUNCTIONS = [n for n in dir(pp) if "_group" in n and n not in ("get_group_id", "get_num_groups", "group_barrier")]


@pytest.mark.parametrize("name", GROUP_FUNCTIONS)
def test_functions_of_groups_outside_of_kernels(name):
    f = getattr(pp, name)
    with pytest.raises(TypeError, match=rf"^{name}: this is an operation of kernels"):
        f(object(), 2, 3, 4)

    def wrong(item, x):
        item.get_group()
        f(item, x[0], min, 0)

    if name == "exclusive_scan_over_group":
        with pytest.raises(TypeError, match=rf"^{name}: a group is expected, of item.get_group\(\) or item.get_sub_group\(\), not "):
            pp.kernel(wrong)[pp.NdRange(4, 4)].interpret(pp.ones(4))


def test_short_and_small_words():
    host = np.array([[3, 1], [2, 4]])
    x = pp.asarray(host)
    for order in "fca":
        np.testing.assert_array_equal(pp.asnumpy(x.ravel(order=order)), host.ravel(order=order))
        np.testing.assert_array_equal(pp.asnumpy(x.reshape(4, order=order)), host.reshape(4, order=order))
        np.testing.assert_array_equal(pp.asnumpy(x.flatten(order=order)), host.flatten(order=order))
    for kind in ("quick", "q", "heap", "m", "Stable", "S"):
        np.testing.assert_array_equal(pp.asnumpy(pp.sort(x, kind=kind)), np.sort(host, kind=kind))
    for kind in ("", "x", "radixsort"):
        with pytest.raises(ValueError, match="sort: kind is"):
            pp.sort(x, kind=kind)


def test_arguments_as_numpy_takes_them():
    x, host = pp.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3)
    for shift, axis in (([1, 1], None), ([1, -1], (0, 1))):
        expected = np.roll(host, np.array(shift), axis)
        for given in (np.array(shift), pp.asarray(shift)):
            np.testing.assert_array_equal(pp.asnumpy(pp.roll(x, given, axis)), expected)
    for axis in (0, -1):
        assert pp.squeeze(pp.asarray(3.0), axis=axis).shape == ()
    with pytest.raises(IndexError):
        pp.squeeze(pp.asarray(3.0), axis=1)
    assert x.astype(x.dtype, copy=False) is x
    assert x.astype(x.dtype) is not x
    y, out = pp.asarray([1.5, -2.5]), pp.zeros(1, "int64")
    assert pp.take(y, pp.asarray([1]), out=out).tolist() == [-2]
    assert pp.compress(pp.asarray([True, False]), y, out=out).tolist() == [1]
