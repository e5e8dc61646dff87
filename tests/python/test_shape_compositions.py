# tests/python/test_shape_compositions.py: indices, triangles, edits, assignments, choices and products that are made of operations.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from against_numpy import compare
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy_names import BEFORE_2_2, BEFORE_2_5
from support import DTYPES, check, samples

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")

M, V, T = (3, 4), (5,), (2, 3, 4)
# An expression, and the shapes of the arrays it takes.
CASES = {
    "diag": [(lambda m, x, k=k: m.diag(x, k), s) for k in (0, 2, -1, 9) for s in (M, V, T, ())],
    "diagflat": [(lambda m, x, k=k: m.diagflat(x, k), s) for k in (0, 2, -1) for s in (M, V, ())],
    "triangles_from": [
        (lambda m, x, f=f, k=k: getattr(m, f)(x, k), s)
        for f in ("tril_indices_from", "triu_indices_from")
        for k in (0, 1, -1)
        for s in (M, V)
    ],
    "diag_indices_from": [(lambda m, x: m.diag_indices_from(x), s) for s in ((3, 3), M, V)],
    "vander": [(lambda m, x, n=n, i=i: m.vander(x, n, i), V) for n in (None, 0, 1, 3) for i in (False, True)]
    + [(lambda m, x: m.vander(x), M)],
    "fill_diagonal": [
        (lambda m, x, v=v, w=w: m.fill_diagonal(x, v, w), s)
        for v in (1, [1, 0])
        for w in (False, True)
        for s in ((3, 3), M, (7, 3), (3, 3, 3), (2, 3, 3), V, (0, 3))
    ],
    "rot90": [
        (lambda m, x, k=k, a=a: m.rot90(x, k, a), s)
        for k in (0, 1, 2, 3, -1)
        for a in ((0, 1), (1, 0), (-1, 0), (0, 0), (0, 2))
        for s in (M, T, V)
    ],
    "rollaxis": [(lambda m, x, a=a, b=b: m.rollaxis(x, a, b), T) for a in (0, 2, -1, 3) for b in (0, 1, 3, -1, 4, -4)],
    "splits": [
        (lambda m, x, f=f, p=p: getattr(m, f)(x, p), s)
        for f in ("hsplit", "vsplit", "dsplit")
        for p in (2, 4, [1], [1, 3])
        for s in (M, T, V, ())
    ],
    "resize": [(lambda m, x, n=n: m.resize(x, n), s) for n in (7, (2, 3), (3, 9), (0, 2), (), (-1, 2)) for s in (M, V, (0,), ())],
    "block": [
        (lambda m, x, y: m.block([[x, x], [y, y]]), (2, 3), (1, 3)),
        (lambda m, x, y: m.block([x, y]), V, V),
        (lambda m, x, y: m.block(x), V, V),
        (lambda m, x, y: m.block([[x], [y, y]]), (2, 4), (1, 2)),
        (lambda m, x, y: m.block([[x, y], x]), V, V),
        (lambda m, x, y: m.block([]), V, V),
        (lambda m, x, y: m.block([x, [y]]), V, V),
        (lambda m, x, y: m.block((x, y)), V, V),
        (lambda m, x, y: m.block([x, 1]), V, V),
    ],
    "row_stack": [(lambda m, x, y: m.row_stack((x, y)), V, V)],
    "delete": [
        (lambda m, x, o=o, a=a: m.delete(x, o, a), s)
        for o in (1, -1, 9, [0, 2], [], slice(None, None, 2), slice(3, 0, -2), [True, False, True], [[0, 1]], 1.5)
        for a in (None, 0, -1, 2)
        for s in (M, (3,), T)
    ],
    "insert": [
        (lambda m, x, o=o, v=v, a=a: m.insert(x, o, v, a), s)
        for o in (1, -1, 9, [1, 3], [1, 1], [], [0], slice(0, 2))
        for v in (1, [1, 0])
        for a in (None, 0, 1, -1, 2)
        for s in ((2, 2), M, V)
    ],
    "trim_zeros": [
        (lambda m, x, t=t: m.trim_zeros(x * 0 + m.ones((), x.dtype) * 0 + x, t), s) for t in ("fb", "f", "B", "x") for s in (M, V)
    ],
    "extract": [(lambda m, x: m.extract(x > x.ravel()[0], x), s) for s in (M, V, (1,))],
    "put": [
        (lambda m, x, i=i, v=v, mode=mode: m.put(x, i, v, mode), s)
        for i in ([0, 2], 1, [-1], [9])
        for v in (1, [1, 0])
        for mode in ("wrap", "clip", "raise")
        for s in (M, V)
    ],
    "put_along_axis": [
        (lambda m, x, a=a, v=v: m.put_along_axis(x, m.argsort(x, axis=a)[:, :2] if a else m.argsort(x, axis=a)[:1], v, a), M)
        for a in (0, 1, -1)
        for v in (1, [[0]])
    ],
    "putmask": [
        (lambda m, x, v=v: m.putmask(x, x > x.ravel()[0], m.asarray(v, dtype=x.dtype)), s)
        for v in (1, [1, 0], [1, 0, 1, 1, 1, 0, 0])
        for s in (M, V)
    ],
    "place": [(lambda m, x, v=v: m.place(x, x > x.ravel()[0], v), s) for v in ([1], [1, 0], []) for s in (M, V)],
    "select": [(lambda m, x, y, d=d: m.select([x > y, y > x], [x, y], d), V, V) for d in (0, 1.5)]
    + [
        (lambda m, x, y: m.select([x > y], [x, y]), V, V),
        (lambda m, x, y: m.select([], []), V, V),
        (lambda m, x, y: m.select([x], [x]), M, V),
        (lambda m, x, y: m.select([x > y, x == x], [x, y], 1), (2, 5), V),
    ],
    "choose": [
        (lambda m, x, y, mode=mode, k=k: m.choose(m.asarray([0, 1, 2, 1, 0]) * k, [x, y, 1], mode=mode), V, V)
        for mode in ("raise", "wrap", "clip", "x")
        for k in (1, 2, -1)
    ],
    "piecewise": [(lambda m, x: m.piecewise(x, [x > x.ravel()[0], x < x.ravel()[0]], [lambda v: v + v, 1]), s) for s in (V, M)]
    + [
        (lambda m, x: m.piecewise(x, x > x.ravel()[0], [lambda v, k: v * k, lambda v, k: v], 3), V),
        (lambda m, x: m.piecewise(x, [x > x], [1, 2, 3]), V),
    ],
    "apply_along_axis": [
        (lambda m, x, a=a, f=f: m.apply_along_axis(f, a, x), s)
        for a in (0, 1, -1, 5)
        for f in (lambda v: v[0], lambda v: v[:2], lambda v: v[:, None] * v)
        for s in (M, T, (0, 2))
    ],
    "apply_over_axes": [(lambda m, x, a=a: m.apply_over_axes(m.sum, x, a), T) for a in (0, [0, 2], (-1,))],
    "inner": [(lambda m, x, y: m.inner(x, y), s, t) for s in (M, (4,), (), T, (5, 4)) for t in ((4,), M, (2, 4), (), (3,))],
    "vdot": [(lambda m, x, y: m.vdot(x, y), s, s) for s in (M, V, (), (0,))] + [(lambda m, x, y: m.vdot(x, y), V, M)],
    "kron": [(lambda m, x, y: m.kron(x, y), s, t) for s in (M, V, ()) for t in (V, (2, 2), T, ())],
    "cross": [
        (lambda m, x, y: m.cross(x, y), s, t)
        for s in ((3,), (4, 3), (2,), (4, 2), (4,))
        for t in ((3,), (4, 3), (2,), (1, 3))
        if BEFORE_2_5 or (s[-1] != 2 and t[-1] != 2)  # later NumPy takes no vectors of two components
    ]
    + [(lambda m, x, y: m.cross(x, y, axisa=0, axisc=0), (3, 4), (4, 3)), (lambda m, x, y: m.cross(x, y, axis=0), (3, 4), (3, 4))],
    "matvec": [(lambda m, x, y: m.matvec(x, y), s, t) for s in (M, T, (4,)) for t in ((4,), (2, 4), (3,))],
    "vecmat": [(lambda m, x, y: m.vecmat(x, y), s, t) for s in ((3,), (2, 3), (2,)) for t in (M, T, (3,))],
}
PRODUCTS = ("vander", "apply_along_axis", "inner", "vdot", "kron", "matvec", "vecmat", "cross", "apply_over_axes")
FEW = ["bool", "int16", "uint64", "float32", "complex128"]


@pytest.mark.parametrize("dtype", FEW)
@pytest.mark.parametrize("name", sorted(CASES.keys() - ({"matvec", "vecmat", "trim_zeros"} if BEFORE_2_2 else set())))
@pytest.mark.varied("dtype")
def test_compositions(name, dtype, rng):
    for number, (expression, *shapes) in enumerate(CASES[name]):
        hosts = [samples(dtype, s, rng) for s in shapes]
        compare(expression, *hosts, ulp=32 if name in PRODUCTS else 0, label=f"{name}[{number}] of {dtype}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_dtypes(dtype, rng):
    for name in ("diag", "delete", "insert", "block", "kron", "select", "vander", "resize", "place", "putmask"):
        expression, *shapes = CASES[name][0]
        compare(expression, *(samples(dtype, s, rng) for s in shapes), ulp=8 if name in PRODUCTS else 0, label=name)


GRIDS = [
    lambda m: m.tri(3),
    lambda m: m.tri(3, 4, 1, dtype=int),
    lambda m: m.tri(2, 5, -1, dtype="f4"),
    lambda m: m.tri(0),
    lambda m: m.tril_indices(4, -1, 3),
    lambda m: m.triu_indices(4, 1),
    lambda m: m.triu_indices(3, -9),
    lambda m: m.tril_indices(0),
    lambda m: m.diag_indices(3, 3),
    lambda m: m.mask_indices(3, m.triu, 1),
    lambda m: m.indices((2, 3)),
    lambda m: m.indices((2, 3), dtype="f4", sparse=True),
    lambda m: m.indices((2, 0)),
    lambda m: m.indices(3),
    lambda m: m.fromfunction(lambda i, j: i - 2 * j, (2, 3)),
    lambda m: m.fromfunction(lambda i, k: i * k, (4,), k=3, dtype=int),
    lambda m: m.ix_([0, 1], [2, 4]),
    lambda m: m.ix_([True, False, True]),
    lambda m: m.ix_([]),
    lambda m: m.ix_([[1]]),
    lambda m: m.ravel_multi_index((m.asarray([3, 6]), m.asarray([4, 5])), (7, 6)),
    lambda m: m.ravel_multi_index((m.asarray([3, 6]), 4), (7, 6), order="F"),
    lambda m: m.ravel_multi_index((m.asarray([3, -1]), m.asarray([4, 9])), (4, 6), mode="clip"),
    lambda m: m.ravel_multi_index((m.asarray([3, -1]), m.asarray([4, 9])), (4, 6), mode=("wrap", "clip")),
    lambda m: m.ravel_multi_index((m.asarray([3, -1]), m.asarray([4, 9])), (4, 6)),
    lambda m: m.ravel_multi_index((m.asarray([3]),), (4, 6)),
    lambda m: m.ravel_multi_index((m.asarray([3.0]), m.asarray([1])), (4, 6)),
    lambda m: m.unravel_index(m.asarray([[22, 41], [37, 0]]), (7, 6)),
    lambda m: m.unravel_index(22, (7, 6), order="F"),
    lambda m: m.unravel_index(m.asarray([42]), (7, 6)),
    lambda m: m.unravel_index(m.asarray([-1]), (7, 6)),
    lambda m: m.unravel_index(m.asarray([1.0]), (7, 6)),
    lambda m: m.unravel_index(m.asarray([1]), (7, 6), "Q"),
]


@pytest.mark.parametrize("case", range(len(GRIDS)))
def test_grids(case):
    compare(GRIDS[case])


SPACED = [
    lambda m: m.logspace(0, 3, 7),
    lambda m: m.logspace(0, 3, 7, endpoint=False, base=2),
    lambda m: m.logspace(0, 3, 0),
    lambda m: m.logspace(1, 2, 4, dtype=int),
    lambda m: m.logspace(m.asarray([0.0, 1.0]), 2, 4, axis=-1),
    lambda m: m.logspace(0, 2, 4, base=m.asarray([2.0, 3.0])),
    lambda m: m.logspace(0, 2, 4, base=[2.0, 3.0]),
    lambda m: m.logspace(m.asarray([0.0, 1.0]), 2, 4, base=[2.0, 3.0], axis=-1),
    lambda m: m.logspace(0, 2, -1),
    lambda m: m.geomspace(1, 1000, 4),
    lambda m: m.geomspace(-8, -1, 5, endpoint=False),
    lambda m: m.geomspace(1, 255, 9, dtype=int),  # no power is a whole number: its last bit would decide about 127 and 128
    lambda m: m.geomspace(m.asarray([1.0, 2.0]), m.asarray([4.0, 32.0]), 3, axis=-1),
    lambda m: m.geomspace(1j, 8j, 4),
    lambda m: m.geomspace(0, 1),
    lambda m: m.geomspace(1, 10, 1),
    lambda m: m.geomspace(1, 10, 0),
    lambda m: m.geomspace(2.5, 100, dtype="f4"),
]


@pytest.mark.parametrize("case", range(len(SPACED)))
def test_numbers_at_equal_ratios(case):
    compare(SPACED[case], ulp=64)


@pytest.mark.skipif(BEFORE_2_2, reason="NumPy before 2.2 trims one dimension only")
@given(hnp.arrays(np.int16, hnp.array_shapes(max_dims=3, min_side=0, max_side=4), elements=st.integers(0, 1)), st.data())
def test_trim_zeros(host, data):
    trim = data.draw(st.sampled_from(["fb", "f", "b"]))
    axis = data.draw(st.none() | st.integers(-host.ndim, host.ndim - 1))
    compare(lambda m, x: m.trim_zeros(x, trim, axis), host)


def test_indices_of_the_device(rng):
    host = rng.standard_normal((4, 5))
    x = pp.asarray(host)
    check(pp.delete(x, pp.asarray([0, 2]), 0), np.delete(host, [0, 2], 0))
    check(pp.insert(x, pp.asarray([0, 2]), pp.zeros(5), 0), np.insert(host, [0, 2], np.zeros(5), 0))
    check(x[pp.ix_(pp.asarray([0, 2]), pp.asarray([1]))], host[np.ix_([0, 2], [1])])
    with pytest.raises(pp.ExecutionPlacementError, match=r"^kron: "):
        pp.kron(x, x.to_queue(pp.Queue(x.device)))
    with pytest.raises(TypeError, match=r"^put: expected a pardo.Array to write to"):
        pp.put([1], [0], 1)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_delete_few_and_many(axis):
    """What lies between few places is copied as it is; of many places the others are taken."""
    host = np.arange(4 * 50 * 3).reshape(4, 50, 3)[:, ::-1]
    x, n = pp.asarray(host), host.size if axis is None else host.shape[axis]
    some = range(0, n, max(n // 20, 1))
    slices = [slice(1, n), slice(None), slice(n, 1), slice(n - 1, 0, -1), slice(None, None, 2), slice(None, None, -3)]
    bools = [np.arange(n) % 3 == 0, np.ones(n, bool), np.zeros(n, bool)]
    for obj in (0, -1, n - 1, [0, -1], [1, 1 - n], [], list(some), np.array([[0], [n - 1]]), *slices, *bools):
        check(pp.delete(x, obj, axis), np.delete(host, obj, axis), label=f"{obj} {axis}")
    got = pp.delete(x, [], axis)
    got[...] = 0
    check(x, host)


def test_put_along_no_axis():
    """NumPy from 2.4 on writes to the array; before it wrote to a copy."""
    whole = np.arange(24.0).reshape(2, 3, 4)
    for host in (whole, whole.T, whole[:, ::2, ::-1], whole[0, 0], np.asfortranarray(whole)):
        for i, v in (([0, 3, -1], [1, 2, 3]), ([3], 2.5), ([2, 2], [7, 8]), ([], 1)):
            x, y = pp.asarray(host.copy("K")), host.copy("K")
            pp.put_along_axis(x, pp.asarray(np.array(i, int)), v, None)
            y.flat[np.array(i, int)] = v
            assert np.array_equal(pp.asnumpy(x), y)
        for wrong, error in (([99], IndexError), ([-25], IndexError), ([[0]], ValueError), ([0.5], IndexError)):
            x = pp.asarray(host)
            with pytest.raises(error):
                _ = pp.put_along_axis(x, wrong, 1, None), x.wait()
    point = pp.asarray(1.0)
    pp.put_along_axis(point, [0], 5, None)
    assert float(point) == 5


@pytest.mark.parametrize("name", ["insert", "pad", "put", "place", "putmask", "fill_diagonal"])
def test_integers_that_do_not_fit(name):
    """Python's integers out of the bounds of the dtype are errors, as in NumPy, where they were wrapped; arrays of them are cast."""
    host = np.array([[1, 2], [3, 4]], "i1")
    calls = {
        "insert": lambda m, x, v: m.insert(x, 1, v),
        "pad": lambda m, x, v: m.pad(x, 1, constant_values=v),
        "put": lambda m, x, v: m.put(x, [0], v),
        "place": lambda m, x, v: m.place(x, x > 1, v if isinstance(v, list) else [v]),
        "putmask": lambda m, x, v: m.putmask(x, x > 1, v),
        "fill_diagonal": lambda m, x, v: m.fill_diagonal(x, v),
    }
    with pytest.raises(TypeError, match=f"^{name}: "):
        calls[name](pp, pp.asarray(host), 1j)
    for value in (300, [300], -129, 127, [-128]):
        ours, theirs = pp.asarray(host), host.copy()
        try:
            wanted = calls[name](np, theirs, value)
        except OverflowError:
            with pytest.raises(OverflowError, match=f"^{name}: .*Python integer"):
                calls[name](pp, ours, value)
            continue
        found = calls[name](pp, ours, value)
        assert found is None or np.array_equal(pp.asnumpy(found), wanted)
        assert np.array_equal(pp.asnumpy(ours), theirs)
