# python/pardo/_generate/templates.py: the kernels behind elementwise, reduction and scan, for any functions of the user.
from __future__ import annotations

from typing import Any

from pardo._compiler import intrinsics
from pardo._compiler.structs import Struct
from pardo._kernel.jit import prange
from pardo._language.groups import reduce_tree, scan_tree
from pardo._language.index_space import Const, Item, NdItem, group_barrier, local_array, private_array


def element(x: Any, i: Any) -> Any:
    """An element of an array, or of a struct of arrays; numbers, and structs of numbers, as they are."""
    first = x
    while isinstance(first, Struct):
        first = first._values()[0]
    return x[i] if getattr(first, "ndim", 0) else x


intrinsics.mark(element, "element")


def index(k: Any, extents: Any) -> Any:
    """The index of the k-th element of arrays with these extents, the last first; of flat arrays k itself."""
    if len(extents) == 0:
        return k
    rest = k
    index: tuple[Any, ...] = ()
    for extent in extents:
        index = (rest % extent, *index)
        rest = rest // extent
    return index


def take(inputs: Any, i: Any) -> Any:
    """Elements of arrays, and numbers as they are."""
    values: tuple[Any, ...] = ()
    for x in inputs:
        values = (*values, element(x, i))
    return values


def put(outputs: Any, i: Any, result: Any, single: Any) -> None:
    if single:
        outputs[0][i] = result
    else:
        for out, value in zip(outputs, result, strict=False):
            out[i] = value


def each_1(item: Item, f: Any, inputs: Any, outputs: Any, single: Const[int]) -> None:
    i = item.get_id(0)
    put(outputs, i, f(*take(inputs, i)), single)


def each_2(item: Item, f: Any, inputs: Any, outputs: Any, single: Const[int]) -> None:
    i = (item.get_id(0), item.get_id(1))
    put(outputs, i, f(*take(inputs, i)), single)


def each_3(item: Item, f: Any, inputs: Any, outputs: Any, single: Const[int]) -> None:
    i = (item.get_id(0), item.get_id(1), item.get_id(2))
    put(outputs, i, f(*take(inputs, i)), single)


def each_more(item: Item, f: Any, inputs: Any, outputs: Any, single: Const[int], extents: Any) -> None:
    i = index(item.get_id(0), extents)
    put(outputs, i, f(*take(inputs, i)), single)


# `source`: the inputs, the extents of `index`, and how many elements there are. `steps`: the functions of a scan, `f` for each element,
# `combine` for totals, `finish` for what a total gives with the one before, `output` for that with the element.


def combined(state: Any, f: Any, combine: Any, source: Any, first: Any, stop: Any) -> None:
    """state[0] becomes the total of at least one element."""
    inputs, extents, _ = source
    state[0] = f(*take(inputs, index(first, extents)))
    for k in range(first + 1, stop):
        state[0] = combine(state[0], f(*take(inputs, index(k, extents))))


def reduce_blocks(item: Item, f: Any, combine: Any, source: Any, block: Any, like: Any, totals: Any) -> None:
    first = item.get_id(0) * block
    state = private_array(1, like)
    combined(state, f, combine, source, first, min(first + block, source[2]))
    totals[item.get_id(0)] = state[0]


def reduce_groups(item: NdItem, f: Any, combine: Any, source: Any, block: Const[int], like: Any, totals: Any) -> None:
    n = source[2]
    group = item.get_group()
    size = item.get_local_range(0)
    place = item.get_local_id(0)
    start = item.get_group_id(0) * size * block
    first = start + place * block
    active = min(size, (n - start + block - 1) // block)
    shared = local_array(size, like)
    if first < n:
        state = private_array(1, like)
        combined(state, f, combine, source, first, min(first + block, n))
        shared[place] = state[0]
    group_barrier(group)
    reduce_tree(group, shared, place, active, size, combine)
    if place == 0:
        totals[item.get_group_id(0)] = shared[0]


def finish(item: Item, combine: Any, initial: Any, totals: Any, count: Any, like: Any, result: Any) -> None:
    state = private_array(1, like)
    state[0] = initial
    for k in range(count):
        state[0] = combine(state[0], totals[k])
    result[item.get_id(0)] = state[0]


def offsets_of(item: Item, combine: Any, initial: Any, totals: Any, count: Any, like: Any, offsets: Any) -> None:
    state = private_array(1, like)
    state[0] = initial
    for k in range(item.get_id(0), count):
        offsets[k] = state[0]
        state[0] = combine(state[0], totals[k])


def prefixes(state: Any, steps: Any, source: Any, first: Any, stop: Any, outputs: Any, single: Any, plain: Any) -> None:
    """Results of the elements from first to stop; state[0] is the total of those before."""
    f, combine, finish, output = steps
    inputs, extents, _ = source
    for k in range(first, stop):
        i = index(k, extents)
        elements = take(inputs, i)
        value = f(*elements)
        before = state[0]
        after = combine(before, value)
        state[0] = after
        prefix = finish(before, value, after)
        if plain:
            put(outputs, i, prefix, single)
        else:
            put(outputs, i, output(prefix, *elements), single)


def scan_blocks(
    item: Item,
    steps: Any,
    source: Any,
    block: Any,
    like: Any,
    offsets: Any,
    outputs: Any,
    single: Const[int],
    plain: Const[int],
) -> None:
    first = item.get_id(0) * block
    state = private_array(1, like)
    state[0] = offsets[item.get_id(0)]
    prefixes(state, steps, source, first, min(first + block, source[2]), outputs, single, plain)


def scan_groups(
    item: NdItem,
    steps: Any,
    source: Any,
    block: Const[int],
    like: Any,
    offsets: Any,
    outputs: Any,
    single: Const[int],
    plain: Const[int],
) -> None:
    f, combine, _, _ = steps
    n = source[2]
    group = item.get_group()
    size = item.get_local_range(0)
    place = item.get_local_id(0)
    start = item.get_group_id(0) * size * block
    first = start + place * block
    active = min(size, (n - start + block - 1) // block)
    shared = local_array(size, like)
    state = private_array(1, like)
    if first < n:
        combined(state, f, combine, source, first, min(first + block, n))
        shared[place] = state[0]
    group_barrier(group)
    scan_tree(group, shared, place, active, size, combine)
    if first < n:
        state[0] = offsets[item.get_group_id(0)]
        if place > 0:
            state[0] = combine(offsets[item.get_group_id(0)], shared[place - 1])
        prefixes(state, steps, source, first, min(first + block, n), outputs, single, plain)


def same(x: Any) -> Any:
    return x


def after(before: Any, value: Any, after: Any) -> Any:
    return after


def before(before: Any, value: Any, after: Any) -> Any:
    return before


# Combinations whose iterations may be taken in any order: the compiler makes lanes of them.


def add_all(f: Any, inputs: Any, extents: Any, n: int, total: Any) -> Any:
    for k in prange(n):
        total += f(*take(inputs, index(k, extents)))
    return total


def multiply_all(f: Any, inputs: Any, extents: Any, n: int, total: Any) -> Any:
    for k in prange(n):
        total *= f(*take(inputs, index(k, extents)))
    return total


def least_of_all(f: Any, inputs: Any, extents: Any, n: int, total: Any) -> Any:
    for k in prange(n):
        total = min(total, f(*take(inputs, index(k, extents))))
    return total


def greatest_of_all(f: Any, inputs: Any, extents: Any, n: int, total: Any) -> Any:
    for k in prange(n):
        total = max(total, f(*take(inputs, index(k, extents))))
    return total


LOOPS = {
    "add": add_all,
    "multiply": multiply_all,
    "min": least_of_all,
    "minimum": least_of_all,
    "max": greatest_of_all,
    "maximum": greatest_of_all,
}
