# python/pardo/_functions/einsum.py: Einstein's sums: products of all operands, summed in the same kernel.
from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._base import promotion
from pardo._base.arguments import SCALARS, check_cast, check_casting, default_on, not_an_array, optional_dtype, store
from pardo._base.docstrings import filled
from pardo._base.orders import of_result, read_order
from pardo._core import Array
from pardo._functions.operands import cast, operands

__all__ = ["einsum", "einsum_path"]

Labels = tuple[str | int, ...]  # one for each axis
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _read(given: tuple[Any, ...], op_name: str) -> tuple[tuple[str, ...], str | None, list[Any]]:
    """Labels of each operand, those of the result (None if they are not said), and the operands."""
    if not given:
        raise ValueError(f"{op_name}: must specify the einstein sum subscripts string and at least one operand")
    if not isinstance(given[0], str):
        values, lists = list(given[0 : len(given) // 2 * 2 : 2]), list(given[1::2])
        output = _of_list(given[-1], op_name) if len(given) % 2 else None
        return tuple(_of_list(labels, op_name) for labels in lists), output, values
    terms, output = _terms_of(given[0], len(given) - 1, op_name)
    return terms, output, list(given[1:])


@functools.lru_cache(maxsize=256)
def _terms_of(subscripts: str, count: int, op_name: str) -> tuple[tuple[str, ...], str | None]:
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = tuple(inputs.split(","))
    if len(terms) != count:
        raise ValueError(f"{op_name}: there are {len(terms)} subscripts for {count} operands")
    for term in (*terms, output):
        rest = term.replace("...", "", 1)
        if any(c not in _LETTERS for c in rest):
            raise ValueError(f"{op_name}: invalid subscripts {term!r}")
    return terms, output if arrow else None


def _of_list(labels: Any, op_name: str) -> str:
    parts = []
    for label in labels:
        if label is Ellipsis:
            parts.append("...")
        elif isinstance(label, (int, np.integer)) and 0 <= label < len(_LETTERS):
            # NumPy sorts capital letters first, whose numbers are lower.
            parts.append((_LETTERS[26:] + _LETTERS[:26])[label])
        else:
            raise TypeError(f"{op_name}: each subscript must be either an integer or an ellipsis, not {label!r}")
    return "".join(parts)


def _labelled(term: str, ndim: int, op_name: str) -> Labels:
    """A label for each axis; those that an ellipsis stands for count from the last, -1 on."""
    if "..." not in term:
        if len(term) != ndim:
            raise ValueError(f"{op_name}: subscripts {term!r} do not fit an operand of {ndim} dimensions")
        return tuple(term)
    before, after = term.split("...")
    hidden = ndim - len(before) - len(after)
    if hidden < 0:
        raise ValueError(f"{op_name}: subscripts {term!r} do not fit an operand of {ndim} dimensions")
    return (*before, *range(-hidden, 0), *after)


@functools.lru_cache(maxsize=256)
def _labels_of(terms: tuple[str, ...], output: str | None, ranks: tuple[int, ...], op_name: str) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of each operand, and those of the result."""
    labels = tuple(_labelled(term, ndim, op_name) for term, ndim in zip(terms, ranks, strict=True))
    hidden = max((sum(isinstance(e, int) for e in each) for each in labels), default=0)
    named = "".join(term.replace("...", "") for term in terms)
    if output is None:
        return labels, (*range(-hidden, 0), *sorted(c for c in set(named) if named.count(c) == 1))
    letters = output.replace("...", "")
    if len(set(letters)) != len(letters) or set(letters) - set(named):
        raise ValueError(f"{op_name}: the result's subscripts {output!r} name an index twice, or one that no operand has")
    if hidden and "..." not in output:
        raise ValueError(f"{op_name}: output has dimensions that an ellipsis stands for, but no ellipsis")
    return labels, _labelled(output, len(letters) + hidden, op_name) if "..." in output else tuple(letters)


@functools.lru_cache(maxsize=256)
def _pairs_of(labels: Labels) -> tuple[tuple[tuple[int, int, str | int], ...], Labels]:
    """Pairs of axes with the same label, whose diagonals are taken one after the other, and the labels then."""
    pairs = []
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            pairs.append((i, j, label))
            labels = (*(e for d, e in enumerate(labels) if d not in (i, j)), label)
    return tuple(pairs), labels


def _diagonals(x: Array, labels: Labels, op_name: str) -> tuple[Array, Labels]:
    """Each label once: the diagonal of axes with the same."""
    if len(set(labels)) == len(labels):
        return x, labels
    pairs, labels = _pairs_of(labels)
    for i, j, label in pairs:
        if x.shape[i] != x.shape[j]:
            raise ValueError(f"{op_name}: dimensions in an operand for collapsing index {label!r} don't match")
        x = _core._diagonal(x, 0, i, j)
    return x, labels


class _Way(NamedTuple):
    """How a product of parts is made; of labels and extents alone. Orders of axes are None where they are as they are."""

    order: list[str | int]  # of the axes of the whole product: first those of the result
    extents: list[int]
    summed: list[int]
    sums: tuple[list[int], list[int], list[int] | None] | None  # two operands as matrices: the axes that are summed, the result's order
    stacks: tuple[Any, ...] | None  # as stacks of matrices: order and shape of each operand, shape and order of the result


def _order(axes: list[int]) -> list[int] | None:
    return None if axes == list(range(len(axes))) else axes


def _turned(x: Array, order: list[int] | None) -> Array:
    return x if order is None else _core._permute_dims(x, order)


@functools.lru_cache(maxsize=256)
def _way_of(labels: tuple[Labels, ...], shapes: tuple[tuple[int, ...], ...], wanted: Labels, op_name: str) -> _Way:
    extents: dict[str | int, int] = {}
    for each, shape in zip(labels, shapes, strict=True):
        for label, n in zip(each, shape, strict=True):
            if n != 1 and extents.get(label, 1) not in (1, n):
                raise ValueError(f"{op_name}: operand has a mismatch in dimension {label!r}: {extents[label]} and {n}")
            extents[label] = n if extents.get(label, 1) == 1 else extents[label]
    gone = [label for label in extents if label not in wanted]
    order = [*wanted, *gone]
    sums = stacks = None
    if len(labels) == 2:
        first, second = labels
        x, y = (dict(zip(each, shape, strict=True)) for each, shape in zip(labels, shapes, strict=True))
        shared = [label for label in gone if label in first and label in second]
        if all(x[e] == y[e] for e in shared):
            common = {*first} & {*second}
            if shared and common == {*gone}:
                left = [e for e in (*first, *second) if e not in shared]
                turn = _order([left.index(w) for w in wanted])
                sums = [first.index(s) for s in shared], [second.index(s) for s in shared], turn
            elif shared:
                stacks = _stacks_of(first, second, x, y, wanted, gone)
    return _Way(order, [extents[e] for e in order], list(range(len(wanted), len(order))), sums, stacks)


def _stacks_of(
    first: Labels, second: Labels, x: dict[str | int, int], y: dict[str | int, int], wanted: Labels, gone: list[str | int]
) -> tuple[Any, ...] | None:
    """Two operands as stacks of matrices; None where they are not: where an axis is broadcast, or one operand has no axis of its own."""
    batch = [e for e in first if e in second and e in wanted]
    shared = [e for e in first if e in second and e in gone]
    rows, columns = [e for e in first if e not in second], [e for e in second if e not in first]
    if not (batch and shared and rows and columns) or {*rows, *columns} & {*gone} or any(x[e] != y[e] for e in batch):
        return None
    stack, up, across = [x[e] for e in batch], [x[e] for e in rows], [y[e] for e in columns]
    depth = math.prod(x[e] for e in shared)
    labels = batch + rows + columns
    return (
        _order([first.index(e) for e in batch + rows + shared]), [*stack, math.prod(up), depth],
        _order([second.index(e) for e in batch + shared + columns]), [*stack, depth, math.prod(across)],
        [*stack, *up, *across], _order([labels.index(w) for w in wanted]),
    )  # fmt: skip


def _of_rows(x: Array, first: Labels, y: Array, second: Labels) -> bool:
    """Whether each row of x is multiplied with all of y: rows are read once, in order, which a kernel does as fast as memory allows."""
    n = len(second)
    return x.dtype in (np.float32, np.float64) and len(first) > n > 0 and first[-n:] == second and x._surely_row_major()


def _shaped(x: Array, shape: list[int]) -> Array:
    return x if x.ndim == len(shape) else _core._reshape(x, shape)


def _contracted(parts: list[tuple[Array, Labels]], wanted: Labels, op_name: str) -> Array:
    """The product of all parts, summed over the labels that are not wanted."""
    way = _way_of(tuple([labels for _, labels in parts]), tuple([x.shape for x, _ in parts]), wanted, op_name)
    if (way.sums or way.stacks) and parts[0][0].dtype != np.bool_:
        (x, first), (y, second) = parts
        if way.sums and not (_of_rows(x, first, y, second) or _of_rows(y, second, x, first)):
            return _turned(_core._tensordot(x, y, *way.sums[:2]), way.sums[2])
        if way.stacks:
            x_order, x_shape, y_order, y_shape, shape, order = way.stacks
            made = _core._matmul(_shaped(_turned(x, x_order), x_shape), _shaped(_turned(y, y_order), y_shape))
            return _turned(_shaped(made, shape), order)
    product: Array | None = None
    for x, labels in parts:
        turned = _core._permute_dims(x, [labels.index(e) for e in way.order if e in labels])
        spread = _core._reshape(turned, [x.shape[labels.index(e)] if e in labels else 1 for e in way.order])
        product = spread if product is None else _core.multiply(product, spread)
    assert product is not None
    full = _core._broadcast_to(product, way.extents)
    if not way.summed:
        return full
    kind = _core._ANY if full.dtype == np.bool_ else _core._SUM
    return _core._reduce(kind, full, way.summed, False, None if full.dtype == np.bool_ else full.dtype)


@functools.lru_cache(maxsize=256)
def _turn_of(subscripts: str, ndim: int, op_name: str) -> tuple[Labels, list[int], list[int] | None]:
    """Of one operand: its labels, which axes of its diagonals are summed, and the order of the others."""
    terms, output = _terms_of(subscripts, 1, op_name)
    (labels,), wanted = _labels_of(terms, output, (ndim,), op_name)
    once = _pairs_of(labels)[1]
    kept = [e for e in once if e in wanted]
    return labels, [d for d, e in enumerate(once) if e not in wanted], _order([kept.index(e) for e in wanted])


def _of_one(subscripts: str, x: Array, op_name: str) -> Array:
    """The einsum of one operand in its own dtype: a view, or sums of one."""
    labels, summed, order = _turn_of(subscripts, x.ndim, op_name)
    x, _ = _diagonals(x, labels, op_name)
    if summed:
        is_bool = x.dtype == np.bool_
        x = _core._reduce(_core._ANY if is_bool else _core._SUM, x, summed, False, None if is_bool else x.dtype)
    return x[...] if order is None and not summed else _turned(x, order)  # a view, not the array itself


def _steps(given: tuple[Any, ...], optimize: Any) -> list[tuple[int, ...]]:
    """In which order operands are contracted, as NumPy finds it from their shapes."""
    return list(np.einsum_path(*_stand_ins(given), optimize=optimize)[0][1:])


@functools.lru_cache(maxsize=256)
def _known_steps(subscripts: str, shapes: tuple[tuple[int, ...], ...], optimize: Any) -> list[tuple[int, ...]]:
    """The same for what can be asked for again: NumPy takes a tenth of a millisecond."""
    return _steps((subscripts, *(np.broadcast_to(np.zeros(()), shape) for shape in shapes)), optimize)


def _stand_ins(given: tuple[Any, ...]) -> list[Any]:
    """NumPy's arrays of the same shapes, that take no memory."""
    return [np.broadcast_to(np.zeros((), x.dtype), x.shape) if type(x) is Array else x for x in given]


def _largest(labels: Sequence[Any], wanted: tuple[Any, ...], xs: list[Array]) -> int:
    """Elements of the largest operand, or of the result."""
    extents = {e: n for x, each in zip(xs, labels, strict=True) for e, n in zip(each, x.shape, strict=True) if n != 1}
    return max(math.prod(extents.get(e, 1) for e in wanted), *(x.size for x in xs))


@filled
def einsum(
    *operands: Any,
    out: Array | None = None,
    optimize: Any = False,
    dtype: DTypeLike | None = None,
    order: str = "K",
    casting: str = "safe",
) -> Array:
    """Evaluate the Einstein summation convention on the operands.

    Parameters
    ----------
    *operands : str and Array
        The subscripts, ``"ij,jk->ik"``, and the arrays; or arrays and lists of axis numbers by turns, and a list for the result.
    {out}
    optimize : bool, 'greedy', 'optimal', or path
        In which order more than two operands are contracted; as for `einsum_path`. With the default they are pair by pair, unless what
        comes between is larger than all operands and the result.
    dtype : data type, optional
        The dtype to compute in. Default: what the operands promote to.
    order : {'K', 'C', 'F', 'A'}
        How the result lies in memory: 'K' and 'C' row by row, 'F' column by column, 'A' as 'F' if all operands lie so.
    casting : str
        Which conversions to `dtype` are allowed.

    Returns
    -------
    Array
        The sums of products.

    Raises
    ------
    TypeError
        No operand is an Array or a number, `casting` forbids the dtype, or `out` is of a dtype of another kind.
    ValueError
        The subscripts are wrong or do not fit the operands, or the shape of `out` does not fit.

    See Also
    --------
    einsum_path, matmul, tensordot, inner, outer

    Notes
    -----
    ``optimize=False`` of NumPy goes through all indices at once, which takes a thousand times as long for a chain of three matrices of
    1000². The path ``["einsum_path", (0, 1, ..., n - 1)]`` asks for that.

    Two operands that share what is summed, and have axes of their own, are multiplied as matrices or stacks of them; else products and
    sums are one kernel, and nothing between is stored.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(6).reshape(2, 3)
    >>> pp.einsum("ij->j", x), pp.einsum("ij,kj->ik", x, x)
    (array([3, 5, 7]), array([[ 5, 14],
           [14, 50]]))
    """
    op_name = "einsum"
    if len(operands) == 2 and type(operands[1]) is Array and type(operands[0]) is str and out is None and dtype is None and order == "K":
        check_casting(casting, op_name)
        return _of_one(operands[0], operands[1], op_name)
    wanted_order = read_order(order, op_name)
    check_casting(casting, op_name)
    terms, output, values = _read(operands, op_name)
    xs = _arrays(values, op_name)
    common = optional_dtype(dtype, op_name) or default_on(xs[0].queue, promotion.result_type(*(x.dtype for x in xs)))
    if dtype is not None:
        for x in xs:
            check_cast(x.dtype, common, casting, op_name)
    labels, wanted = _labels_of(terms, output, tuple([x.ndim for x in xs]), op_name)
    parts = [_diagonals(cast(x, common), each, op_name) for x, each in zip(xs, labels, strict=True)]
    if len(parts) > 2:
        subscripts = ",".join(terms) + ("" if output is None else f"->{output}")
        if isinstance(optimize, (bool, str)):
            steps = _known_steps(subscripts, tuple([x.shape for x in xs]), optimize or ("greedy", _largest(labels, wanted, xs)))
        else:
            steps = _steps((subscripts, *xs), optimize)
        for step in steps:
            chosen = [parts[i] for i in step]
            parts = [p for i, p in enumerate(parts) if i not in step]
            needed = {*wanted, *(e for _, labels in parts for e in labels)}
            kept = tuple(e for e in dict.fromkeys(e for _, labels in chosen for e in labels) if e in needed) if parts else wanted
            parts.append((_contracted(chosen, kept, op_name), kept))
    done = len(parts) == 1 < len(xs) and parts[0][1] == wanted
    result = parts[0][0] if done else _contracted(parts, wanted, op_name)
    return store(result if out is not None else of_result(result, wanted_order, xs), out, op_name)


def _arrays(values: list[Any], op_name: str) -> list[Array]:
    if not values:
        raise ValueError(f"{op_name}: no operands are given")
    if not any(type(v) is Array or isinstance(v, SCALARS) for v in values):
        raise not_an_array(values[0], op_name)
    return operands(values, op_name)


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> tuple[Any, str]:
    """Evaluate the lowest cost contraction order for an einsum expression.

    Parameters
    ----------
    *operands : str and Array
        As for `einsum`; only the shapes are looked at.
    optimize : bool, 'greedy', 'optimal', or tuple
        How the order is found, as for `numpy.einsum_path`.
    einsum_call : bool
        NumPy's, for its own use.

    Returns
    -------
    tuple
        The order, for `einsum`'s `optimize`, and a text about it.

    Raises
    ------
    TypeError, ValueError, KeyError
        As `numpy.einsum_path`.

    See Also
    --------
    einsum

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.ones((2, 2))
    >>> pp.einsum_path("ij,jk,kl->il", x, x, x, optimize="greedy")[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    options: dict[str, Any] = {"optimize": optimize, "einsum_call": einsum_call}
    path: tuple[Any, str] = np.einsum_path(*_stand_ins(operands), **options)
    return path
