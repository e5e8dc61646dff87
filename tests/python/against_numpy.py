# tests/python/against_numpy.py: one expression, evaluated by NumPy and by pardo: the same results, or the same kind of failure.
from __future__ import annotations

import numpy as np
import pardo as pp
from support import check


def plain(x):
    """The values of pardo's on the host, in what holds them."""
    if isinstance(x, (tuple, list)):
        return type(x)(map(plain, x)) if not hasattr(x, "_fields") else tuple(map(plain, x))
    return x


def same(ours, theirs, ulp=0, label=""):
    if isinstance(theirs, (tuple, list)) and not isinstance(ours, pp.Array):
        assert len(ours) == len(theirs), label
        for a, b in zip(ours, theirs, strict=True):
            same(a, b, ulp, label)
    elif isinstance(ours, pp.Array):
        check(ours, np.asarray(theirs), ulp, label)
    else:
        assert ours == theirs or ours is theirs, f"{label}: {ours!r}, NumPy's is {theirs!r}"


def compare(expression, *hosts, ulp=0, label="", views=True):
    """`expression(module, *arrays)` gives what is compared, and may change the arrays, which are compared as well."""
    for layout in (lambda x: x, spread) if views else (lambda x: x,):
        copies = [h.copy() for h in hosts]
        arrays = [layout(pp.asarray(h)) if layout is not spread else spread(h) for h in hosts]
        try:
            theirs = expression(np, *copies)
        except Exception as e:
            failure = e
        else:
            same(expression(pp, *arrays), theirs, ulp, label)
            for a, b in zip(arrays, copies, strict=True):
                check(a, b, ulp, label)
            continue
        try:
            result = expression(pp, *arrays)
            for x in result if isinstance(result, (tuple, list)) else [result]:
                if isinstance(x, pp.Array):
                    x.wait()
        except Exception as e:
            alike = isinstance(e, type(failure)) or isinstance(failure, type(e)) or {type(e), type(failure)} <= LIKE
            assert alike, f"{label}: {e!r}, NumPy's is {failure!r}"  # noqa: PT017
        else:
            raise AssertionError(f"{label}: {result!r}, but NumPy raises {failure!r}")


LIKE = {TypeError, np._core._exceptions._UFuncNoLoopError, np._core._exceptions._UFuncOutputCastingError}


def spread(host):
    """The same values in a view with gaps, reversed."""
    if host.ndim == 0:
        return pp.asarray(host)
    x = pp.asarray(np.repeat(host, 2, axis=-1)[..., ::-1].copy())
    return x[..., ::-1][..., ::2]
