# tests/python/test_lists.py: lists of different lengths that a function appends to.
import itertools

import groups
import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once


def multiples(i, found, x, most):
    for k in range(x.shape[0]):
        if k < most and x[k] % (i + 1) == 0:
            found.append(x[k])


@pytest.mark.parametrize("device", groups.DEVICES, ids=str)
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_one_list_for_each_item(device, dtype):
    x = np.arange(1, 40)
    made = pp.algorithm.ListOfListsBuilder(multiples, dtype)(17, pp.asarray(x, device=device), 30)
    expected = [[v for v in x[:30] if v % (i + 1) == 0] for i in range(17)]
    starts, lists = pp.asnumpy(made.starts), pp.asnumpy(made.lists)
    assert lists.dtype == dtype
    assert made.total == len(lists) == sum(map(len, expected))
    assert [lists[a:b].tolist() for a, b in itertools.pairwise(starts)] == expected


def test_several_lists():
    def both(i, even, odd, x):
        for k in range(i):
            if x[k] % 2 == 0:
                even.append(x[k])
            else:
                odd.append(float(x[k]))

    build = pp.algorithm.ListOfListsBuilder(both, ["int64", "float32"])
    even, odd = build(4, pp.arange(4))
    assert (even.starts.tolist(), even.lists.tolist()) == ([0, 0, 1, 2, 4], [0, 0, 0, 2])
    assert (odd.starts.tolist(), odd.lists.tolist(), odd.total) == ([0, 0, 0, 1, 2], [1, 1], 2)
    assert build(0, pp.arange(4))[0].starts.tolist() == [0]


def test_bad_input():
    build = pp.algorithm.ListOfListsBuilder(multiples, "int32")
    with pytest.raises(ValueError, match="ListOfListsBuilder: n is -1; it must not be negative"):
        build(-1, pp.arange(3), 3)
    with pytest.raises(TypeError, match="ListOfListsBuilder: n"):
        build(2.5, pp.arange(3), 3)
    with pytest.raises(ValueError, match="at least one list is expected"):
        pp.algorithm.ListOfListsBuilder(multiples, [])
    with pytest.raises(TypeError, match=r"multiples gets the item, a list and 1 further argument\(s\): multiples\(\) missing"):
        build(3, pp.arange(3))
    with pytest.raises(TypeError, match="generate"):
        pp.algorithm.ListOfListsBuilder(7, "int32")


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda v: sum(i * v for i in range(3)), [3, 6, 9]),
        (lambda v: max([i * v for i in range(3)]), [2, 4, 6]),
        (lambda v: len({i % 2 for i in range(v)}), [1, 2, 2]),
        (lambda v: sum([v + 1] * 2), [4, 6, 8]),
        (lambda v: any(i > v for i in range(3)), [1, 0, 0]),
        (lambda v: sum(sum(k for k in range(i)) for i in range(v + 2)), [1, 4, 10]),
    ],
    ids=["generator", "list", "set", "repeated", "any", "nested"],
)
def test_comprehensions_in_lambdas(f, expected):
    """What they fill stands in front of what the lambda returns."""
    x = pp.arange(1, 4)
    assert pp.elementwise(f)(x).tolist() == expected
    assert pp.vectorize(f)(x).tolist() == expected

    @pp.kernel
    def each(item: pp.Item, f, x):
        x[item.get_id(0)] = f(x[item.get_id(0)])

    each[3](f, x)
    assert x.tolist() == expected
    assert pp.reduction(lambda v: sum([v, v * 0.5]), lambda a, b: a + b, 0)(pp.arange(3.0)) == 4.5
