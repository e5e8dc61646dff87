# tests/python/test_polynomials.py: pardo.polynomial against numpy.polynomial, for all six families.
from __future__ import annotations

import functools
import inspect
import pickle

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_allclose
from support import is_function

MODULES = ("polynomial", "chebyshev", "legendre", "laguerre", "hermite", "hermite_e")
SERIES = [
    [3, 1, 2],
    [1.5],
    [0],
    [0.0, 0.0, 0.0],
    [2, -1, 0, 4, 0, 0],
    [1.0, 2.0],
    np.array([1.0, -2.0, 3.0, 0.5], "f4"),
    [1 + 2j, 0.5, -1j],
    [0.5, 0.25, -1.0, 2.0, 0.125, 3.0, -4.0],
]


def both(module):
    """Our module, NumPy's, and the prefix of their functions."""
    theirs = getattr(np.polynomial, module)
    prefix = {"polynomial": "poly", "chebyshev": "cheb", "hermite": "herm", "hermite_e": "herme"}.get(module, module[:3])
    return getattr(pp.polynomial, module), theirs, prefix


def on_device(x, device):
    """With arrays of a device in place of NumPy's and of lists of numbers."""
    if isinstance(x, tuple):
        return tuple(on_device(item, device) for item in x)
    return pp.asarray(np.asarray(x), device=device) if isinstance(x, (np.ndarray, list)) else x


def same(ours, theirs, loose=1):
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            same(a, b, loose)
        return
    theirs = np.asarray(theirs)
    if np.iscomplexobj(theirs) and getattr(ours, "dtype", theirs.dtype).kind == "f" and not theirs.imag.any():
        theirs = theirs.real  # roots are complex from NumPy 2.5 on
    if isinstance(ours, pp.Array):
        narrow = {"f8": "f4", "c16": "c8"} if not ours.device.has_fp64 else {}
        assert ours.dtype == np.dtype(narrow.get(theirs.dtype.str[1:], theirs.dtype)) or theirs.dtype == "i4"  # a rank
    assert np.shape(ours) == theirs.shape
    host = pp.asnumpy(ours) if isinstance(ours, pp.Array) else np.asarray(ours)
    scale = np.max(np.abs(theirs), initial=1)
    tolerance = (1e-5 if host.dtype in ("f4", "c8") else 1e-3 if host.dtype == "f2" else 1e-11) * loose
    assert_allclose(host, theirs, rtol=tolerance, atol=tolerance * scale)


def compared(module, name, *args, device, loose=1, **keywords):
    """One call with arrays of a device, the same with NumPy's; results or types of errors."""
    ours, theirs, prefix = both(module)
    full = name.format(p=prefix) if "{" in name else prefix + name
    try:
        wanted = getattr(theirs, full)(*args, **keywords)
    except Exception as error:
        with pytest.raises(type(error)):
            getattr(ours, full)(*on_device(args, device), **keywords)
        return
    same(getattr(ours, full)(*on_device(args, device), **keywords), wanted, loose)


def test_names():
    for module in MODULES:
        ours, theirs, _ = both(module)
        (newer,) = [name for name in ours.__all__ if name.endswith("valnd")]  # of NumPy 2.5
        assert set(ours.__all__) == set(theirs.__all__) | {newer}
        for name in ours.__all__:
            value = getattr(ours, name)
            if is_function(value):
                assert value.__module__ == f"pardo.polynomial.{module}"
                assert value.__name__ == name
                expected = getattr(theirs, name, lambda pts, c: None)
                assert list(inspect.signature(value).parameters) == list(inspect.signature(expected).parameters)
                assert pickle.loads(pickle.dumps(value)) is value
            elif isinstance(value, type):
                public = {n for n in dir(getattr(theirs, name)) if not n.startswith("_")}
                assert public <= set(dir(value))
                assert pickle.loads(pickle.dumps(value)) is value
            else:
                assert np.array_equal(value, getattr(theirs, name))
    assert set(pp.polynomial.__all__) == set(np.polynomial.__all__)
    assert {name.lower() for name in MODULES} <= {name.lower() for name in pp.polynomial.__all__}
    with pytest.raises(AttributeError, match="no attribute 'legfoo'"):
        pp.polynomial.legendre.legfoo


@pytest.mark.parametrize("module", MODULES)
def test_points_of_any_dimensions(module):
    ours, theirs, prefix = both(module)
    rng = np.random.default_rng(5)
    valnd = getattr(ours, f"{prefix}valnd")
    for n in (1, 2, 3, 4):
        x, c = rng.uniform(-1, 1, (n, 6)), rng.normal(size=(3, 2, 4, 2, 3)[: n + 1])
        made = c
        for k, part in enumerate(x):
            made = getattr(theirs, f"{prefix}val")(part, made, tensor=k == 0)
        for points in (pp.asarray(x), list(x), tuple(map(pp.asarray, x))):
            same(valnd(points, pp.asarray(c)), made)
    with pytest.raises(ValueError, match=f"{prefix}valnd: ordinates are incompatible: they have shapes"):
        valnd([[1.0, 2.0], [3.0]], [[1.0]])
    with pytest.raises(ValueError, match=f"{prefix}valnd: pts is empty"):
        valnd([], [[1.0]])
    with pytest.raises(TypeError, match=f"{prefix}valnd: pts must be a sequence"):
        valnd(1.0, [[1.0]])


@pytest.mark.parametrize("module", MODULES)
def test_algebra(module):
    call = functools.partial(compared, module, device="cpu")
    for i, a in enumerate(SERIES):
        for name in ("mulx", "trim", "companion", "roots", "{p}2poly", "poly2{p}"):
            if module != "polynomial" or "{" not in name:
                loose = 1e4 if name == "roots" else 1  # of a matrix that is not symmetric
                call(name, a, loose=loose)
        b = SERIES[i - 3]
        for name in ("add", "sub", "mul", "div"):
            call(name, a, b, loose=100 if name == "div" else 1)
        call("pow", a, i % 4)
    call("trim", [1.0, 1e-3, 2e-4, 1e-5], 2e-4)
    call("trim", [1e-9, 1e-3], 1)
    call("fromroots", [-1, 0.5, 2, 3])
    call("fromroots", [1j, -1j, 2])
    call("fromroots", [])
    call("fromroots", [7])
    for off, scl in [(1, 2), (1.5, 0), (3, -0.5), (1j, 2.0)]:
        ours, theirs, p = both(module)
        same(getattr(ours, f"{p}line")(off, scl), getattr(theirs, f"{p}line")(off, scl))


@pytest.mark.parametrize("module", MODULES)
def test_values(module, rng):
    call = functools.partial(compared, module, device="cpu")
    x = rng.uniform(-1, 1, (3, 4))
    for c in SERIES:
        for points in (x, x[0, 0], 0.5, 2, x.astype("f4"), np.arange(4), [0.25, 1], 1j, x[::-2, ::3], np.ones((0, 3))):
            call("val", points, c, loose=1e6 if getattr(points, "dtype", None) == "f4" else 100)
    stack = rng.standard_normal((4, 3, 2))
    call("val", x, stack, loose=100)
    call("val", np.ones((3, 2)), stack, tensor=False, loose=100)
    call("val", np.ones(3), stack, tensor=False)
    y, z = rng.uniform(-1, 1, (2, 3, 4))
    c = rng.standard_normal((2, 3, 4, 2))
    for n in (2, 3):
        points = (x, y, z)[:n]
        for name in (f"val{n}d", f"grid{n}d"):
            call(name, *points, c, loose=100)
            call(name, *(p[0] for p in points), c[:, :, 0, 0] if n == 2 else c[..., 0], loose=100)
        call(f"val{n}d", x, y[0], *[z] * (n - 2), c)
        call(f"vander{n}d", *points, [2, 3, 1][:n])
        call(f"vander{n}d", *points, [2, 3, 1, 2][: n + 1])
    for points in (x, x.astype("f4"), np.arange(3), 0.5, x + 1j, np.ones((0, 2))):
        for degree in (0, 1, 6):
            call("vander", points, degree)
    call("vander", x, -1)
    call("vander", x, 1.5)


@pytest.mark.parametrize("module", MODULES)
def test_derivatives_and_integrals(module, rng):
    call = functools.partial(compared, module, device="cpu")
    stack = rng.standard_normal((5, 4, 3))
    for c in (*SERIES, stack, stack.astype("f4")):
        for m in (0, 1, 2, 3):
            call("der", c, m)
            call("int", c, m)
        call("der", c, 2, scl=-0.5)
        call("int", c, 2, k=[2, -1.5], lbnd=0.5, scl=3)
        call("int", c, 1, k=4, lbnd=-1)
    for axis in (1, -1, 3, 1.5):
        call("der", stack, axis=axis)
        call("int", stack, axis=axis)
    for m in (-1, 1.5):
        call("der", [1.0, 2.0], m)
        call("int", [1.0, 2.0], m)
    call("int", [1.0, 2.0], 1, k=[1, 2])
    call("int", [1.0, 2.0], 1, lbnd=[0])
    call("int", [1.0, 2.0], 1, scl=[0])


@pytest.mark.parametrize("module", MODULES)
def test_fits(module, rng):
    call = functools.partial(compared, module, device="cpu", loose=1e3)
    x = np.linspace(-1, 2, 30)
    y = np.stack([x**3 - x, np.cos(x)], 1)
    w = rng.uniform(1, 2, 30)
    for values in (y, y[:, 0], y.astype("f4")):
        call("fit", x, values, 4)
        call("fit", x, values, 3, w=w)
        call("fit", x, values, [0, 3, 1])
        call("fit", x, values, 3, full=True, rcond=1e-12)
    for wrong in [(x, y, -1), (x, y, 1.5), (x, y[1:], 1), (x[:, None], y, 1), (x[:0], y[:0], 1), (x, y[..., None], 1), (x, y, [])]:
        call("fit", *wrong)
    call("fit", x, y, 2, w=w[1:])
    ours, _, p = both(module)
    with pytest.warns(np.exceptions.RankWarning, match=f"^{p}fit: ") as seen:
        getattr(ours, f"{p}fit")(on_device(x[:2], "cpu"), on_device(y[:2], "cpu"), 4)
    assert seen[0].filename == __file__


@pytest.mark.slow
@pytest.mark.parametrize("module", ["chebyshev", "laguerre"])
@pytest.mark.parametrize("device", [d for d in DEVICES if d.backend != "cpu"], ids=str)
def test_on_other_devices(module, device, rng):
    call = functools.partial(compared, module, device=device, loose=1e3)
    x, c = rng.uniform(-1, 1, 20), rng.standard_normal(4)
    for name, args in [
        ("val", (x, c)), ("vander", (x, 3)), ("der", (c,)), ("int", (c,)), ("mul", (c, c)), ("div", (c, c[:2])), ("fit", (x, x**2, 3)),
        ("roots", (c,)), ("fromroots", (c,)), ("companion", (c,)), ("add", (c, c[:3])), ("poly2{p}", (c,)),
    ]:  # fmt: skip
        call(name, *args)
    p = getattr(pp.polynomial, module.capitalize())(pp.asarray(c, device=device), domain=[0, 2])
    assert p.coef.device == device
    assert (p(pp.asarray(x, device=device)) + p.deriv()(x)).device == device


@pytest.mark.parametrize("module", MODULES[1:])
def test_weights(module):
    for n in (1, 2, 7):
        compared(module, "gauss", n, device="cpu")
    for n in (0, -1, 1.5):
        compared(module, "gauss", n, device="cpu")
    compared(module, "weight", np.linspace(-0.9, 0.9, 5), device="cpu")
    before = pp.counters()["copies"]
    ours, _, p = both(module)
    getattr(ours, f"{p}gauss")(3)
    assert pp.counters()["copies"] == before + 2


def test_what_one_family_has():
    for n in (1, 2, 5, 0, 1.5):
        compared("chebyshev", "pts1", n, device="cpu")
        compared("chebyshev", "pts2", n, device="cpu")
    cheb, theirs = pp.polynomial.chebyshev, np.polynomial.chebyshev
    same(cheb.chebinterpolate(pp.sin, 5), theirs.chebinterpolate(np.sin, 5))
    same(cheb.chebinterpolate(lambda x, a: a * x**2, 3, (2,)), theirs.chebinterpolate(lambda x, a: a * x**2, 3, (2,)))
    for wrong in (-1, 1.5, [1]):
        compared("chebyshev", "interpolate", np.sin, wrong, device="cpu")
    x, r = np.linspace(-1, 1, 4), np.arange(6.0).reshape(3, 2)
    compared("polynomial", "valfromroots", x, r, device="cpu")
    compared("polynomial", "valfromroots", 2.0, r, device="cpu")
    compared("polynomial", "valfromroots", x[:2], r, tensor=False, device="cpu")
    compared("polynomial", "valfromroots", r, r, tensor=False, device="cpu")


def test_helpers():
    ours, theirs = pp.polynomial.polyutils, np.polynomial.polyutils
    assert set(ours.__all__) == set(theirs.__all__)
    x, c = np.array([3.0, -1.0, 2.0]), np.array([1 + 2j, -3j, 2.0])
    for host in (x, c, x.astype("f4"), np.arange(4)):
        same(ours.getdomain(pp.asarray(host)), theirs.getdomain(host))
        same(ours.mapdomain(pp.asarray(host), (-1, 1), [0, 3.0]), theirs.mapdomain(host, (-1, 1), [0, 3.0]))
        same(ours.mapdomain(host.tolist(), pp.asarray([-1, 1]), [0, 3.0]), theirs.mapdomain(host.tolist(), (-1, 1), [0, 3.0]))
    assert ours.mapdomain(2.0, (-1, 1), (0, 4)) == theirs.mapdomain(2.0, (-1, 1), (0, 4))
    assert ours.mapparms((-1, 1), pp.asarray([0.0, 4.0])) == theirs.mapparms((-1, 1), (0.0, 4.0))
    for seq in ([1, 0, 2, 0], [0, 0], [3], [0.0, 1.5]):
        same(ours.trimseq(pp.asarray(seq)), theirs.trimseq(np.asarray(seq)))
        same(ours.trimcoef(seq, 1), theirs.trimcoef(seq, 1))
        for trim in (True, False):
            same(ours.as_series([seq, [1, 2.5, 0]], trim), theirs.as_series([seq, [1, 2.5, 0]], trim))
    assert ours.trimseq(pp.zeros(0)).size == 0
    for wrong, error in [
        (lambda: ours.trimseq(3.0), TypeError),
        (lambda: ours.as_series([[]]), ValueError),
        (lambda: ours.getdomain([]), ValueError),
    ]:
        with pytest.raises(error):
            wrong()


def test_products_keep_small_coefficients():
    """By Fourier transforms they would have errors of the size of the largest ones."""
    c = np.polynomial.polynomial.polyfromroots(np.arange(1.0, 26.0))
    wanted = np.polynomial.polynomial.polymul(c, c)
    assert_allclose(pp.asnumpy(pp.polynomial.polynomial.polymul(pp.asarray(c), pp.asarray(c))), wanted, rtol=1e-12)
    assert_allclose(pp.asnumpy(pp.polymul(pp.asarray(c), pp.asarray(c))), np.polymul(c, c), rtol=1e-12)
    assert_allclose(pp.asnumpy(pp.polynomial.polynomial.polyfromroots(pp.arange(1.0, 26.0))), c, rtol=1e-9)


def test_wrong_coefficients():
    for module in MODULES:
        ours, _, p = both(module)
        add = getattr(ours, f"{p}add")
        for wrong, error in [([], ValueError), ([[1.0]], ValueError), ([True], ValueError), (["a"], TypeError), (None, TypeError)]:
            with pytest.raises(error, match=f"^{p}add: |^asarray: "):
                add(wrong, [1.0])
        with pytest.raises(ZeroDivisionError, match=f"^{p}div: "):
            getattr(ours, f"{p}div")([1.0], [0.0])
        with pytest.raises(ValueError, match=f"^{p}pow: Power is too large|^{p}pow: Power must"):
            getattr(ours, f"{p}pow")([1.0, 2.0], -1 if module == "polynomial" else 17)


# --- classes ----------------------------------------------------------------------------------------------------------------------------

KINDS = ("Polynomial", "Chebyshev", "Legendre", "Laguerre", "Hermite", "HermiteE")


def same_series(ours, theirs, loose=10):
    assert type(ours).__name__ == type(theirs).__name__
    assert ours.symbol == theirs.symbol
    same(ours.coef, theirs.coef, loose)
    assert_allclose(ours.domain, theirs.domain, rtol=1e-14)
    assert_allclose(ours.window, theirs.window, rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_series(kind):
    ours, theirs = getattr(pp.polynomial, kind), getattr(np.polynomial, kind)
    made = []
    for module, put in ((ours, lambda x: on_device(x, "cpu")), (theirs, np.asarray)):
        p = module(put(np.array([1.0, 2.0, -0.5, 3.0])), domain=[0, 2], window=[-1, 1.5], symbol="t")
        q = module(put(np.array([2, 0, 1])), [0, 2], [-1, 1.5], symbol="t")
        x = put(np.linspace(0, 2, 5))
        made.append(
            [p, -p, +p, p + q, p - q, p * q,
             p // q, p % q, *divmod(p, q), p**2, q**0, p + 1, 2 - p, 3 * p, p * put(np.array([1.0, 2.0])),
             put(np.array([1.0, 2.0])) + p, p / 2, 4 // q, 4 % q, p.copy(),
             p.cutdeg(1), p.truncate(2), (p - p).trim(), p.integ(), p.deriv(),
             p.integ(2, k=[1, 2], lbnd=0.5), p.deriv(2), p.convert(), p.convert(domain=[-2, 1], window=[0, 1]), p(q),
             module.identity(symbol="t"), module.basis(3), module.fromroots(put(np.array([0.5, 1.0]))),
             module.fromroots(put(np.array([0.5, 1.0])), domain=None), module.fit(x, x * x + 1, 3), module.fit(x, x * x + 1, 3, domain=[]),
             module.fit(x, x * x, 2, domain=[0, 4], window=[-1, 2], w=x + 1, symbol="u"), module.fit(x[:1], x[:1], 0)]
        )  # fmt: skip
        made[-1] += [p.convert(kind=getattr(pp.polynomial if module is ours else np.polynomial, other)) for other in KINDS]
        made[-1].append(module.cast(p))
        made[-1].append([p(x), p(1.5), p(2), p.roots(), *p.linspace(5), *p.linspace(3, [0, 1]), p.mapparms(), p.degree(), len(p)])
    for i, (a, b) in enumerate(zip(*made, strict=True)):
        if isinstance(b, list):
            same(a, b, 1e4)
        elif i == 21:
            assert_allclose(pp.asnumpy(a.coef), b.coef, atol=1e-6)
        else:
            same_series(a, b, 1e3)
    _, status = ours.fit(on_device(np.arange(5.0), "cpu"), on_device(np.arange(5.0), "cpu"), 1, full=True)
    assert int(status[1]) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_texts_and_comparisons(kind):
    ours, theirs = getattr(pp.polynomial, kind), getattr(np.polynomial, kind)
    for coef, keywords in [
        ([1, 2, 3], {}), ([0.5, -1e9, 1e-9], {"domain": [0, 2]}), ([1 + 2j, 3], {"symbol": "t"}), ([np.nan, np.inf, 0], {"window": [0, 3]}),
    ]:  # fmt: skip
        p, q = ours(pp.asarray(coef), **keywords), theirs(coef, **keywords)
        assert str(p) == str(q)
        assert f"{p:ascii}" == f"{q:ascii}"
        assert f"{p:unicode}" == f"{q:unicode}"
        assert repr(p) == repr(q)
        assert p._repr_latex_() == q._repr_latex_()
    with pytest.raises(ValueError, match="bogus"):
        f"{p:bogus}"
    p = ours([1.0, 2.0, 3.0])
    assert p == ours(pp.asarray([1, 2, 3]))
    assert p != ours([1.0, 2.0])
    assert p != ours([1.0, 2.0, 3.0], domain=[5, 6])
    assert p != ours([1.0, 2.0, 3.0], symbol="y")
    assert p != theirs([1.0, 2.0, 3.0])
    assert p.has_samecoef(p.copy())
    assert not p.has_samecoef(ours([1.0, 2.0, 4.0]))
    assert p.has_sametype(p)
    assert not p.has_sametype(1)
    assert pickle.loads(pickle.dumps(p)) == p
    assert [float(c) for c in p] == [1.0, 2.0, 3.0]
    q = p.copy()
    q.coef[0] = 7
    assert float(p.coef[0]) == 1
    other = pp.polynomial.Chebyshev if kind == "Polynomial" else pp.polynomial.Polynomial
    for wrong in (
        lambda: p + other([1.0]), lambda: p + ours([1.0], domain=[5, 6]), lambda: p * ours([1.0], window=[5, 6]), lambda: p + "a",
        lambda: p / p, lambda: hash(p), lambda: ours([1.0], symbol=3), lambda: None * p, lambda: p // None, lambda: p % "a",
    ):  # fmt: skip
        with pytest.raises(TypeError):
            wrong()
    for wrong in (
        lambda: p + ours([1.0], symbol="y"), lambda: ours([]), lambda: ours([[1.0]]), lambda: ours([1.0], domain=[1]),
        lambda: ours([1.0], symbol="1a"), lambda: p ** -1, lambda: p**101, lambda: p.truncate(0), lambda: ours.basis(-1),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(ZeroDivisionError):
        p // 0


def test_style_and_interpolation():
    p = pp.polynomial.Chebyshev([1.0, 2.0])
    pp.polynomial.set_default_printstyle("ascii")
    try:
        assert str(p) == "1.0 + 2.0 T_1(x)"
    finally:
        pp.polynomial.set_default_printstyle("unicode")
    assert "T₁" in str(p)
    with pytest.raises(ValueError, match=r"^set_default_printstyle: "):
        pp.polynomial.set_default_printstyle("html")
    same_series(
        pp.polynomial.Chebyshev.interpolate(pp.sin, 4, domain=[0, 2]), np.polynomial.Chebyshev.interpolate(np.sin, 4, domain=[0, 2])
    )


def test_through_numpys_functions(rng):
    """Those that ask arrays."""
    c, x = rng.standard_normal((3, 4)), rng.standard_normal(5)
    if hasattr(np.polynomial.polynomial.polyval2d, "__wrapped__"):
        same(np.polynomial.polynomial.polyval2d(pp.asarray(x), pp.asarray(x), pp.asarray(c)), np.polynomial.polynomial.polyval2d(x, x, c))


def test_nothing_is_copied(rng):
    """Values, integrals and matrices of arrays of a device are recorded: nothing is waited for, and nothing goes to the host."""
    x, c = pp.asarray(rng.standard_normal(100)), pp.asarray(rng.standard_normal(5))
    before = pp.counters()
    with pp.transfer_guard("disallow"):
        for module in MODULES:
            ours, _, p = both(module)
            for name, args in [("val", (x, c)), ("der", (c,)), ("int", (c,)), ("vander", (x, 3)), ("mul", (c, c)), ("fit", (x, x, 2))]:
                getattr(ours, p + name)(*args)
    assert pp.counters()["copies"] == before["copies"]
