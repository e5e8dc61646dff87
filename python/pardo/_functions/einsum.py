# python/pardo/_functions/einsum.py: Einstein's sums: products of all operands, summed in the same kernel.
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._base.arguments import SCALARS, check_cast, check_casting, default_on, not_an_array, optional_dtype, store
from pardo._base.docstrings import filled
from pardo._base.orders import of_result, read_order
from pardo._core import Array
from pardo._functions.operands import cast, operands

__all__ = ["einsum", "einsum_path"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _read(given: tuple[Any, ...], op_name: str) -> tuple[list[str], str | None, list[Any]]:
    """Labels of each operand, those of the result (None if they are not said), and the operands."""
    if not given:
        raise ValueError(f"{op_name}: must specify the einstein sum subscripts string and at least one operand")
    if not isinstance(given[0], str):
        values, lists = list(given[0 : len(given) // 2 * 2 : 2]), list(given[1::2])
        output = _of_list(given[-1], op_name) if len(given) % 2 else None
        return [_of_list(labels, op_name) for labels in lists], output, values
    text = given[0].replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(given) - 1:
        raise ValueError(f"{op_name}: there are {len(terms)} subscripts for {len(given) - 1} operands")
    for term in [*terms, output]:
        rest = term.replace("...", "", 1)
        if any(c not in _LETTERS for c in rest):
            raise ValueError(f"{op_name}: invalid subscripts {term!r}")
    return terms, output if arrow else None, list(given[1:])


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


def _labelled(term: str, ndim: int, op_name: str) -> list[str | int]:
    """A label for each axis; those that an ellipsis stands for count from the last, -1 on."""
    if "..." not in term:
        if len(term) != ndim:
            raise ValueError(f"{op_name}: subscripts {term!r} do not fit an operand of {ndim} dimensions")
        return list(term)
    before, after = term.split("...")
    hidden = ndim - len(before) - len(after)
    if hidden < 0:
        raise ValueError(f"{op_name}: subscripts {term!r} do not fit an operand of {ndim} dimensions")
    return [*before, *range(-hidden, 0), *after]


def _diagonals(x: Array, labels: list[str | int], op_name: str) -> tuple[Array, list[str | int]]:
    """Each label once: the diagonal of axes with the same."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            if x.shape[i] != x.shape[j]:
                raise ValueError(f"{op_name}: dimensions in an operand for collapsing index {label!r} don't match")
            x = _core._diagonal(x, 0, i, j)
            labels = [e for d, e in enumerate(labels) if d not in (i, j)] + [label]
    return x, labels


def _of_stacks(
    x: Array, first: list[str | int], y: Array, second: list[str | int], wanted: list[str | int], gone: list[str | int]
) -> Array | None:
    """Two operands as stacks of matrices; None where they are not: where an axis is broadcast, or one operand has no axis of its own."""
    batch = [e for e in first if e in second and e in wanted]
    shared = [e for e in first if e in second and e in gone]
    rows, columns = [e for e in first if e not in second], [e for e in second if e not in first]
    if not (batch and shared and rows and columns) or {*rows, *columns} & {*gone}:
        return None
    if any(x.shape[first.index(e)] != y.shape[second.index(e)] for e in batch + shared):
        return None
    stack, up, across = (
        [x.shape[first.index(e)] for e in batch],
        [x.shape[first.index(e)] for e in rows],
        [y.shape[second.index(e)] for e in columns],
    )
    depth = math.prod(x.shape[first.index(e)] for e in shared)
    a = _core._reshape(_core._permute_dims(x, [first.index(e) for e in batch + rows + shared]), [*stack, math.prod(up), depth])
    b = _core._reshape(_core._permute_dims(y, [second.index(e) for e in batch + shared + columns]), [*stack, depth, math.prod(across)])
    made = _core._reshape(_core._matmul(a, b), [*stack, *up, *across])
    labels = batch + rows + columns
    return _core._permute_dims(made, [labels.index(w) for w in wanted])


def _of_rows(x: Array, first: list[str | int], y: Array, second: list[str | int]) -> bool:
    """Whether each row of x is multiplied with all of y: rows are read once, in order, which a kernel does as fast as memory allows."""
    n = len(second)
    return x.dtype in (np.float32, np.float64) and len(first) > n > 0 and first[-n:] == second and x._surely_row_major()


def _contracted(parts: list[tuple[Array, list[str | int]]], wanted: list[str | int], op_name: str) -> Array:
    """The product of all parts, summed over the labels that are not wanted."""
    extents: dict[str | int, int] = {}
    for x, labels in parts:
        for label, n in zip(labels, x.shape, strict=True):
            if n != 1 and extents.get(label, 1) not in (1, n):
                raise ValueError(f"{op_name}: operand has a mismatch in dimension {label!r}: {extents[label]} and {n}")
            extents[label] = n if extents.get(label, 1) == 1 else extents[label]
    gone = [label for label in extents if label not in wanted]
    if len(parts) == 2 and parts[0][0].dtype != np.bool_:
        (x, first), (y, second) = parts
        shared = [label for label in gone if label in first and label in second]
        simple = not (set(first) & set(second)) - set(shared) and set(gone) == set(shared)
        fits = all(x.shape[first.index(s)] == y.shape[second.index(s)] for s in shared)
        if shared and simple and fits and not (_of_rows(x, first, y, second) or _of_rows(y, second, x, first)):
            made = _core._tensordot(x, y, [first.index(s) for s in shared], [second.index(s) for s in shared])
            labels = [s for s in first if s not in shared] + [s for s in second if s not in shared]
            return _core._permute_dims(made, [labels.index(w) for w in wanted])
        product_of_stacks = _of_stacks(x, first, y, second, wanted, gone)
        if product_of_stacks is not None:
            return product_of_stacks
    order = [*wanted, *gone]
    product: Array | None = None
    for x, labels in parts:
        turned = _core._permute_dims(x, [labels.index(e) for e in order if e in labels])
        spread = _core._reshape(turned, [x.shape[labels.index(e)] if e in labels else 1 for e in order])
        product = spread if product is None else _core.multiply(product, spread)
    assert product is not None
    full = _core._broadcast_to(product, [extents[e] for e in order])
    if not gone:
        return full
    kind = _core._ANY if full.dtype == np.bool_ else _core._SUM
    return _core._reduce(kind, full, list(range(len(wanted), len(order))), False, None if full.dtype == np.bool_ else full.dtype)


def _steps(given: tuple[Any, ...], optimize: Any) -> list[tuple[int, ...]]:
    """In which order operands are contracted, as NumPy finds it from their shapes."""
    return list(np.einsum_path(*_stand_ins(given), optimize=optimize)[0][1:])


def _stand_ins(given: tuple[Any, ...]) -> list[Any]:
    """NumPy's arrays of the same shapes, that take no memory."""
    return [np.broadcast_to(np.zeros((), x.dtype), x.shape) if type(x) is Array else x for x in given]


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
        Whether more than two operands are contracted pair by pair, and in which order; as for `einsum_path`.
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
    wanted_order = read_order(order, op_name)
    check_casting(casting, op_name)
    terms, output, values = _read(operands, op_name)
    xs = _arrays(values, op_name)
    common = optional_dtype(dtype, op_name) or default_on(xs[0].queue, np.result_type(*(x.dtype for x in xs)))
    if dtype is not None:
        for x in xs:
            check_cast(x.dtype, common, casting, op_name)
    parts = [_diagonals(cast(x, common), _labelled(term, x.ndim, op_name), op_name) for x, term in zip(xs, terms, strict=True)]
    hidden = max((sum(isinstance(e, int) for e in labels) for _, labels in parts), default=0)
    named = "".join(term.replace("...", "") for term in terms)
    if output is None:
        wanted: list[str | int] = [*range(-hidden, 0), *sorted(c for c in set(named) if named.count(c) == 1)]
    else:
        letters = output.replace("...", "")
        if len(set(letters)) != len(letters) or set(letters) - set(named):
            raise ValueError(f"{op_name}: the result's subscripts {output!r} name an index twice, or one that no operand has")
        if hidden and "..." not in output:
            raise ValueError(f"{op_name}: output has dimensions that an ellipsis stands for, but no ellipsis")
        wanted = _labelled(output, len(letters) + hidden, op_name) if "..." in output else list(letters)
    if optimize is not False and len(parts) > 2:
        for step in _steps((*operands[:1], *xs) if isinstance(operands[0], str) else operands, optimize):
            chosen = [parts[i] for i in step]
            parts = [p for i, p in enumerate(parts) if i not in step]
            needed = {*wanted, *(e for _, labels in parts for e in labels)}
            kept = [e for e in dict.fromkeys(e for _, labels in chosen for e in labels) if e in needed]
            parts.append((_contracted(chosen, kept if parts else wanted, op_name), kept if parts else wanted))
    result = _contracted(parts, wanted, op_name)
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
