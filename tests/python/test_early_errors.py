# tests/python/test_early_errors.py: calls with wrong shapes, masks and casts raise once and name what was called; nothing fails later.
from __future__ import annotations

import gc
import re

import numpy as np
import pardo as pp
import pytest


def in_place(x, y):
    x **= y


BASE, NEGATIVE, TWO = [1, 2, 3], [-1, 2, 3], [-1, -2]

CALLS = [
    (lambda a, n, b: pp.power(a, b), ValueError),
    (lambda a, n, b: a**b, ValueError),
    (lambda a, n, b: in_place(a, b), ValueError),
    (lambda a, n, b: pp.power(a, n, where=[True] * 5), ValueError),
    (lambda a, n, b: pp.power(a, n, where=[True] * 5, casting="no"), ValueError),
    (lambda a, n, b: pp.power(a, n, out=pp.zeros(4, "i8")), ValueError),
    (lambda a, n, b: pp.power(a, n, out=pp.zeros(4, "i8"), casting="no"), ValueError),
    (lambda a, n, b: pp.power(a, n, out=pp.zeros(3, "i1"), casting="no"), TypeError),
    (lambda a, n, b: pp.power(a, b, casting="no"), ValueError),
    (lambda a, n, b: pp.power(a, n, out=pp.broadcast_to(pp.zeros((), "i8"), (3,))), ValueError),
]


@pytest.mark.parametrize("k", range(len(CALLS)))
def test_nothing_fails_beside_what_is_raised(k):
    call, error = CALLS[k]
    queue = pp.Queue("cpu")
    given = [pp.asarray(v, queue=queue) for v in (BASE, NEGATIVE, TWO)]
    with pytest.raises(error, match=r"^power: "):
        call(*given)
    gc.collect()
    queue.wait()  # would raise what was submitted


def test_a_mask_leaves_negative_exponents_out():
    queue = pp.Queue("cpu")
    a, n = (pp.asarray(v, queue=queue) for v in (BASE, NEGATIVE))
    assert pp.power(a, n, where=pp.asarray([False, True, True], queue=queue))[1:].tolist() == [4, 27]
    assert pp.power(a, n, where=False).dtype == np.int64
    gc.collect()
    queue.wait()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pp.add(pp.ones(2), pp.ones(2), where=[True, False, True]), "add: … shapes (2,) (2,) and where of shape (3,)"),
        (lambda: pp.heaviside(pp.ones(2), pp.ones(2), where=[True] * 3), "heaviside: … shapes (2,) (2,) and where of shape (3,)"),
        (lambda: pp.add(pp.ones(2), 1, where=[True] * 3, casting="no"), "add: … shapes (2,) and where of shape (3,)"),
        (lambda: pp.elementwise(lambda x, y: x + y)(pp.ones(3), pp.ones((2, 4))), "elementwise: … shapes (3,) (2, 4)"),
        (lambda: pp.select([pp.ones(3) > 0], [pp.ones(2)]), "select: … shapes (3,) (2,) ()"),
        (lambda: pp.choose(pp.asarray([0, 0, 0]), [pp.ones(2)]), "choose: … shapes (3,) (2,)"),
        (lambda: pp.linspace(pp.ones(2), pp.ones(3)), "linspace: … shapes (2,) (3,)"),
        (lambda: pp.broadcast_arrays(pp.ones(2), pp.ones(3)), "broadcast_arrays: … shapes (2,) (3,)"),
    ],
)
def test_shapes_that_do_not_fit(call, message):
    text = re.escape(message).replace("…", "operands could not be broadcast together with")
    with pytest.raises(ValueError, match=f"^{text}$"):
        call()
