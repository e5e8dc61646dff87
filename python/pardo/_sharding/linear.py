# python/pardo/_sharding/linear.py: linear algebra of split arrays: stacks part by part, tall matrices by TSQR, norms, traces and diagonals.
"""Stacks of matrices that are split along an axis of the stack are factored part by part. A matrix whose rows are split is factored as Q R:
each part factors its rows, the small factors R of all parts are stacked and factored again by each part, and each part multiplies its Q
by its rows of that one's. Singular values, ranks, least squares and pseudo-inverses are those of R. Of a matrix whose columns are split
its transpose is factored. What needs a square matrix at once, as `inv` or `eigh`, is not there for matrices whose rows or columns are
split.

References: J. Demmel, L. Grigori, M. Hoemmen, J. Langou, "Communication-optimal parallel and sequential QR and LU factorizations", SIAM
Journal on Scientific Computing 34, 2012, section 4 (TSQR); T. F. Chan, "An improved algorithm for computing the singular value
decomposition", ACM Transactions on Mathematical Software 8, 1982, for singular values by R.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array import manipulation as _manipulation
from pardo._array import products as _products
from pardo._base import promotion
from pardo._base.arguments import axis_index
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._matrices import factorizations, norms, solving
from pardo._matrices.results import QRResult, SVDResult, in_floats
from pardo._sharding.array import ShardedArray, replicated, sharded
from pardo._sharding.functions import implements
from pardo._sharding.gather import _permuted, aligned
from pardo._sharding.given import Operand
from pardo._sharding.layout import Layout
from pardo._sharding.moves import cut, joined
from pardo._sharding.moving import Parts, empty, resplit, same_everywhere, whole
from pardo._sharding.operands import group_of
from pardo._sharding.products import matmul

# --- stacks


def _named(kind: Any, *values: Any) -> Any:
    """The results of a function as its named tuple, whose fields are declared as plain arrays."""
    return kind(*values)


def _is_stack(x: ShardedArray) -> bool:
    """Whether each part has whole matrices."""
    return x.layout.axis is None or x.layout.axis < x.ndim - 2


def _of_stack(x: ShardedArray, routine: Callable[[Array], Any]) -> Any:
    """What a function makes of matrices that each part has whole: an array, or a tuple of arrays, with the stack in front."""
    found = {p: routine(v) for p, v in x._parts.items()}
    first = found[x.group.owned[0]]
    if not isinstance(first, tuple):
        return _put(x, found)
    results = [_put(x, {p: f[k] for p, f in found.items()}) for k in range(len(first))]
    return type(first)(*results) if hasattr(first, "_fields") else tuple(results)


def _put(x: ShardedArray, parts: Parts) -> ShardedArray:
    if x.layout.axis is None:
        return replicated(x.group, same_everywhere(x.group, parts))
    shape = list(parts[x.group.owned[0]].shape)
    shape[x.layout.axis] = x.shape[x.layout.axis]
    return sharded(x.group, x.layout.with_shape(tuple(shape)), parts)


def _by_stack(name: str, routine: Callable[..., Any]) -> None:
    def function(a: Any, /, *args: Any, **keywords: Any) -> Any:
        if not isinstance(a, ShardedArray) or any(isinstance(v, ShardedArray) for v in (*args, *keywords.values())):
            return NotImplemented
        if a.ndim < 2 or _is_stack(a):
            return _of_stack(a, lambda v: routine(v, *args, **keywords)) if a.ndim >= 2 else NotImplemented
        return NotImplemented

    implements(f"linalg.{name}", splits="stacks of matrices part by part; not where rows or columns are split")(function)


for _name in ("cholesky", "eig", "eigh", "eigvals", "eigvalsh"):
    _by_stack(_name, getattr(factorizations, _name))
for _name in ("det", "inv", "slogdet"):
    _by_stack(_name, getattr(solving, _name))


@implements("linalg.solve", splits="stacks part by part; whole coefficients with right-hand sides split by their columns")
def solve(a: Any, b: Any) -> Any:
    group = group_of([a, b], "solve")
    x, y = Operand(a, group, "solve"), Operand(b, group, "solve")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"solve: coefficients must be square matrices, but have shape {x.shape}")
    if x.layout is not None and x.layout.axis is not None and x.layout.axis >= x.ndim - 2:
        return NotImplemented
    vector = y.ndim == 1
    core = 1 if vector else 2
    if y.ndim < core:
        raise ValueError("solve: the right-hand side has no dimensions")
    stack = np.broadcast_shapes(x.shape[:-2], y.shape[:-core])
    shape = (*stack, *y.shape[-core:])
    if y.shape[-core] != x.shape[-1]:
        raise ValueError(f"solve: the right-hand side has {y.shape[-core]} rows, the coefficients {x.shape[-1]}")
    split: int | None = None  # of the result
    bounds: tuple[int, ...] = ()
    for z, own in ((x, 2), (y, core)):
        if split is None and z.layout is not None and z.layout.axis is not None and z.layout.axis < z.ndim - own:
            axis = z.layout.axis + len(stack) - (z.ndim - own)
            if z.shape[z.layout.axis] == stack[axis]:
                split, bounds = axis, z.layout.bounds
    if split is None and y.layout is not None and y.layout.axis is not None:
        if not vector and y.layout.axis == y.ndim - 1:
            split, bounds = len(shape) - 1, y.layout.bounds
        elif not vector and y.layout.axis == y.ndim - 2:
            moved = resplit(b, y.ndim - 1)
            y, split, bounds = Operand(moved, group, "solve"), len(shape) - 1, moved.layout.bounds
    if split is None:
        first = x.parts if x.layout is None else whole(a)
        second = y.parts if y.layout is None else whole(b)
        return replicated(group, same_everywhere(group, {p: solving.solve(first[p], second[p]) for p in group.owned}))
    columns = split == len(shape) - 1 and not vector
    left = x.parts if columns and x.layout is None else aligned(x, (*stack, *x.shape[-2:]), None if columns else split, bounds)
    right = aligned(y, shape, split, bounds)
    parts = {p: solving.solve(left[p], right[p]) for p in group.owned}
    return sharded(group, Layout(shape, split, bounds, group.keys), parts)


# --- tall matrices


def _tsqr(x: ShardedArray, with_q: bool) -> tuple[ShardedArray | None, Parts]:
    """Q and R of matrices whose rows are split: Q is split as they are, each part has R."""
    group, layout = x.group, x.layout
    rows, n = x.ndim - 2, x.shape[-1]
    filled = [p for p in range(group.size) if layout.length(p)] or [0]
    own: dict[int, Any] = {}
    corners: Parts = {}
    for p, v in x._parts.items():
        if p in filled:
            if with_q:
                own[p] = factorizations.qr(v)
                corners[p] = own[p].R
            else:
                corners[p] = factorizations.qr(v, mode="r")
        else:
            corners[p] = in_floats(v, "qr")
    everywhere = group.all_gather_arrays(corners)
    stacks = {p: joined([pieces[q] for q in filled], rows) for p, pieces in everywhere.items()}
    if not with_q:
        return None, same_everywhere(group, {p: factorizations.qr(v, mode="r") for p, v in stacks.items()})
    second = {p: factorizations.qr(v) for p, v in stacks.items()}
    turn = same_everywhere(group, {p: f.Q for p, f in second.items()})
    corner = same_everywhere(group, {p: f.R for p, f in second.items()})
    k = min(x.shape[-2], n)
    parts: Parts = {}
    place = dict(zip(filled, np.cumsum([0, *(min(layout.length(p), n) for p in filled)]).tolist(), strict=False))
    for p in group.owned:
        if p in own:
            first = place[p]
            parts[p] = _products.matmul(own[p].Q, cut(turn[p], rows, first, first + min(layout.length(p), n)))
        else:
            parts[p] = empty((*x.shape[:-2], 0, k), corner[p].dtype, group, p)
    return sharded(group, layout.with_shape((*x.shape[:-1], k)), parts), corner


def _adjoint(x: ShardedArray) -> ShardedArray:
    """The conjugate transposes."""
    order = [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]
    turned = _permuted(x, order)
    if kind_of(turned.dtype) != "c":
        return turned
    return sharded(turned.group, turned.layout, {p: v.conj() for p, v in turned._parts.items()})


def _corner(x: ShardedArray) -> Parts:
    """Small matrices with the singular values of matrices whose rows or columns are split."""
    return _tsqr(x if x.layout.axis == x.ndim - 2 else _adjoint(x), False)[1]


def _least(x: ShardedArray) -> float:
    """The share of the largest singular value that counts as zero by default."""
    kind = in_floats(x._parts[x.group.owned[0]], "rank").dtype
    return max(x.shape[-2:]) * float(promotion.finfo(kind).eps)


def _matrices(x: Any, op_name: str) -> None:
    if x.ndim < 2:
        raise np.linalg.LinAlgError(f"{op_name}: two or more dimensions are needed, not {x.ndim}")


@implements("linalg.qr", splits="stacks part by part; split rows by TSQR: Q is split as they are, each part has R")
def qr(a: Any, mode: str = "reduced") -> Any:
    if not isinstance(a, ShardedArray):
        return NotImplemented
    _matrices(a, "qr")
    if _is_stack(a):
        return _of_stack(a, lambda v: factorizations.qr(v, mode))
    if mode not in ("reduced", "r") or a.layout.axis != a.ndim - 2:
        return NotImplemented
    q, r = _tsqr(a, mode == "reduced")
    corner = replicated(a.group, r)
    return corner if q is None else _named(QRResult, q, corner)


@implements("linalg.svd", splits="stacks part by part; split rows by TSQR, split columns by that of the transpose; full_matrices=False")
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if not isinstance(a, ShardedArray):
        return NotImplemented
    _matrices(a, "svd")
    if _is_stack(a):
        return _of_stack(a, lambda v: factorizations.svd(v, full_matrices, compute_uv, hermitian))
    if not compute_uv:
        return svdvals(a)
    if full_matrices:
        raise TypeError("svd: a matrix whose rows or columns are split needs full_matrices=False; pass that, or use s.to_device(d)")
    group = a.group
    if a.layout.axis == a.ndim - 1:
        u, s, vh = svd(_adjoint(a), False)
        return _named(SVDResult, _adjoint(vh), s, _adjoint(u))
    q, r = _tsqr(a, True)
    assert q is not None
    found = {p: factorizations.svd(v, False) for p, v in r.items()}
    inner, s, vh = (same_everywhere(group, {p: f[k] for p, f in found.items()}) for k in range(3))
    u = sharded(group, q.layout.with_shape((*q.shape[:-1], inner[group.owned[0]].shape[-1])), _times(q._parts, inner))
    return _named(SVDResult, u, replicated(group, s), replicated(group, vh))


def _times(first: Parts, second: Parts) -> Parts:
    return {p: _products.matmul(v, second[p]) for p, v in first.items()}


@implements("linalg.svdvals", splits="as svd")
def svdvals(x: Any, /) -> Any:
    _matrices(x, "svdvals")
    if _is_stack(x):
        return _of_stack(x, factorizations.svdvals)
    return replicated(x.group, same_everywhere(x.group, {p: factorizations.svdvals(v) for p, v in _corner(x).items()}))


@implements("linalg.pinv", splits="as svd; the result is split along the other axis")
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Any:
    if not isinstance(a, ShardedArray) or isinstance(rcond, ShardedArray) or isinstance(rtol, ShardedArray):
        return NotImplemented
    _matrices(a, "pinv")
    if _is_stack(a):
        return _of_stack(a, lambda v: norms.pinv(v, rcond, hermitian, rtol=rtol))
    if a.layout.axis == a.ndim - 1:
        return _adjoint(pinv(_adjoint(a), rcond, rtol=rtol))
    share = _least(a) if rtol is None else rtol
    q, r = _tsqr(a, True)
    assert q is not None
    small = replicated(a.group, same_everywhere(a.group, {p: norms.pinv(v, rcond, rtol=share) for p, v in r.items()}))
    return matmul(small, _adjoint(q))


@implements("linalg.matrix_rank", splits="as svd")
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if not isinstance(A, ShardedArray) or isinstance(tol, ShardedArray) or isinstance(rtol, ShardedArray) or A.ndim < 2:
        return NotImplemented
    if _is_stack(A):
        return _of_stack(A, lambda v: norms.matrix_rank(v, tol, hermitian, rtol=rtol))
    share = _least(A) if tol is None and rtol is None else rtol
    found = {p: norms.matrix_rank(v, tol, rtol=share) for p, v in _corner(A).items()}
    return replicated(A.group, same_everywhere(A.group, found))


@implements("linalg.cond", splits="as svd, for p=None, 2 and -2")
def cond(x: Any, p: Any = None) -> Any:
    if not isinstance(x, ShardedArray):
        return NotImplemented
    _matrices(x, "cond")
    if _is_stack(x):
        return _of_stack(x, lambda v: norms.cond(v, p))
    if p not in (None, 2, -2):
        return NotImplemented
    return replicated(x.group, same_everywhere(x.group, {q: norms.cond(v, p) for q, v in _corner(x).items()}))


@implements("linalg.lstsq", splits="split rows by TSQR; each part has the solution")
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    group = group_of([a, b], "lstsq")
    x, y = Operand(a, group, "lstsq"), Operand(b, group, "lstsq")
    if x.ndim != 2 or y.ndim not in (1, 2):
        raise np.linalg.LinAlgError(f"lstsq: a matrix and one or two dimensions are needed, not {x.ndim} and {y.ndim}")
    if x.shape[0] != y.shape[0]:
        raise np.linalg.LinAlgError(f"lstsq: the right-hand side has {y.shape[0]} rows, the matrix {x.shape[0]}")
    if x.layout is None or x.layout.axis != 0:
        return NotImplemented
    right = sharded(group, Layout(y.shape, 0, x.layout.bounds, group.keys), dict(aligned(y, y.shape, 0, x.layout.bounds)))
    q, r = _tsqr(a, True)
    assert q is not None
    turned = matmul(_adjoint(q), right)
    share = _least(a) if rcond is None else float(rcond)
    found = {p: solving.lstsq(v, turned._parts[p], share) for p, v in r.items()}
    solution, _, rank, s = (replicated(group, same_everywhere(group, {p: f[k] for p, f in found.items()})) for k in range(4))
    m, n = x.shape
    if m > n and int(rank._parts[group.owned[0]]) == n:
        squares: Parts = {}
        for p in group.owned:
            rest = _core.subtract(right._parts[p], _products.matmul(a._parts[p], solution._parts[p]))
            squares[p] = _core._reduce(_core._SUM, norms._squares(rest), [0], y.ndim == 1)
        residuals = replicated(group, group.all_reduce(squares, _core.add))
    else:
        kind = s.dtype
        residuals = replicated(group, {p: empty((0,), kind, group, p) for p in group.owned})
    return solution, residuals, rank, s


# --- norms


def _vector(x: ShardedArray, ord: Any, axes: Sequence[int], keepdims: bool, op_name: str) -> ShardedArray:
    """A norm along axes, taken together."""
    split, group = x.layout.axis, x.group
    floats = {p: in_floats(v, op_name) for p, v in x._parts.items()}
    if split is None or split not in axes:
        found = {p: norms._vector_norm(v, ord, list(axes), keepdims, op_name) for p, v in floats.items()}
        if split is None:
            return replicated(group, same_everywhere(group, found))
        where = split if keepdims else split - sum(a < split for a in axes)
        shape = list(found[group.owned[0]].shape)
        shape[where] = x.shape[split]
        return sharded(group, Layout(tuple(shape), where, x.layout.bounds, x.layout.devices), found)
    if isinstance(ord, (str, complex)):
        norms._vector_norm(floats[group.owned[0]], ord, list(axes), keepdims, op_name)  # raises
    first, fold, start, last = _steps(ord)
    if start == math.inf and not all(x.shape[a] for a in axes):
        raise ValueError(f"{op_name}: there are no elements, of which -inf takes the least")
    combine = {_core._SUM: _core.add, _core._MAX: _core.maximum, _core._MIN: _core.minimum}[fold]
    partial = {p: norms._reduced(fold, first(v), list(axes), keepdims, start) for p, v in floats.items()}
    total = group.all_reduce(partial, combine)
    return replicated(group, same_everywhere(group, {p: last(v) for p, v in total.items()}))


def _steps(ord: Any) -> tuple[Callable[[Array], Array], int, Any, Callable[[Array], Array]]:
    """What is done with elements, how they are folded and from which number, and what is done with the result."""
    absolute = _core.absolute
    if ord is None or ord == 2:
        return norms._squares, _core._SUM, None, _core.sqrt
    if ord == math.inf:
        return absolute, _core._MAX, 0, lambda v: v
    if ord == -math.inf:
        return absolute, _core._MIN, math.inf, lambda v: v
    if ord == 0:
        return lambda v: _core.not_equal(v, 0)._astype(absolute(v).dtype, False), _core._SUM, None, lambda v: v
    if ord == 1:
        return absolute, _core._SUM, None, lambda v: v
    return lambda v: _core.power(absolute(v), ord), _core._SUM, None, lambda v: _core.power(v, 1 / ord)


def _matrix(x: ShardedArray, ord: Any, row: int, column: int, keepdims: bool, op_name: str) -> Any:
    """A norm of the matrices of two axes."""
    split, group = x.layout.axis, x.group
    if split is None or split not in (row, column):
        found = {p: norms._matrix_norm(in_floats(v, op_name), ord, row, column, keepdims, op_name) for p, v in x._parts.items()}
        if split is None:
            return replicated(group, same_everywhere(group, found))
        where = split if keepdims else split - sum(a < split for a in (row, column))
        shape = list(found[group.owned[0]].shape)
        shape[where] = x.shape[split]
        return sharded(group, Layout(tuple(shape), where, x.layout.bounds, x.layout.devices), found)
    if ord is None or (isinstance(ord, str) and ord in ("fro", "f")):
        return _vector(x, 2, [row, column], keepdims, op_name)
    if ord == "nuc" or (not isinstance(ord, str) and ord in (2, -2)):
        order = [*(k for k in range(x.ndim) if k not in (row, column)), row, column]
        found = {p: norms._matrix_norm(v, ord, x.ndim - 2, x.ndim - 1, False, op_name) for p, v in _corner(_permuted(x, order)).items()}
    elif not isinstance(ord, str) and ord in (1, -1, math.inf, -math.inf):
        summed = row if ord in (1, -1) else column
        other = row + column - summed
        fold, start = (_core._MAX, 0) if ord > 0 else (_core._MIN, math.inf)
        if ord < 0 and not x.shape[other]:
            raise ValueError(f"{op_name}: there are no elements, of which the least is taken")
        sums = {p: norms._reduced(_core._SUM, _core.absolute(in_floats(v, op_name)), [summed], True) for p, v in x._parts.items()}
        if split == summed:
            sums = group.all_reduce(sums, _core.add)
        found = {p: norms._reduced(fold, v, [other], True, start) for p, v in sums.items()}
        if split == other:
            found = group.all_reduce(found, _core.maximum if ord > 0 else _core.minimum)
    else:
        norms._matrix_norm(in_floats(x._parts[group.owned[0]], op_name), ord, row, column, keepdims, op_name)  # raises
        return NotImplemented
    kept = [1 if k in (row, column) else n for k, n in enumerate(x.shape)]
    shape = kept if keepdims else [n for k, n in enumerate(x.shape) if k not in (row, column)]
    return replicated(group, same_everywhere(group, {p: _core._reshape(v, shape) for p, v in found.items()}))


def _axes_of(axis: Any, ndim: int, op_name: str) -> list[int]:
    given = range(ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return [axis_index(k, ndim, op_name) for k in given]


@implements("linalg.norm", splits="along the split axis partial sums, in the order of the parts; those of singular values as svd")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    order = norms._order(ord, "norm")
    axes = _axes_of(axis, x.ndim, "norm")
    if axis is None and ord is None:
        return _vector(x, 2, axes, bool(keepdims), "norm")
    if len(axes) == 1:
        return _vector(x, order, axes, bool(keepdims), "norm")
    if len(axes) != 2:
        raise ValueError(f"norm: Improper number of dimensions to norm: {len(axes)}; one or two are needed")
    if axes[0] == axes[1]:
        raise ValueError("norm: Duplicate axes given; a matrix has two different ones")
    return _matrix(x, order, axes[0], axes[1], bool(keepdims), "norm")


@implements("linalg.vector_norm", splits="as norm")
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    return _vector(x, norms._order(ord, "vector_norm"), _axes_of(axis, x.ndim, "vector_norm"), bool(keepdims), "vector_norm")


@implements("linalg.matrix_norm", splits="as norm")
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    _matrices(x, "matrix_norm")
    return _matrix(x, norms._order(ord, "matrix_norm"), x.ndim - 2, x.ndim - 1, bool(keepdims), "matrix_norm")


# --- diagonals


def _two_axes(x: ShardedArray, axis1: int, axis2: int, op_name: str) -> ShardedArray:
    """The array with two axes at its end."""
    first, second = axis_index(axis1, x.ndim, op_name), axis_index(axis2, x.ndim, op_name)
    if first == second:
        raise ValueError(f"{op_name}: axis1 and axis2 cannot be the same")
    return _permuted(x, [*(k for k in range(x.ndim) if k not in (first, second)), first, second])


def _shift(x: ShardedArray, part: int) -> int:
    """By how much the diagonals of a part are shifted."""
    if x.layout.axis == x.ndim - 2:
        return x.layout.bounds[part]
    return -x.layout.bounds[part] if x.layout.axis == x.ndim - 1 else 0


@implements("diagonal", splits="by the owners")
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    if a.ndim < 2:
        raise ValueError("diagonal: two or more dimensions are needed")
    x = _two_axes(a, axis1, axis2, "diagonal")
    found = {p: _manipulated(v, offset + _shift(x, p)) for p, v in x._parts.items()}
    m, n = x.shape[-2:]
    length = max(0, min(m, n - offset) if offset >= 0 else min(m + offset, n))
    shape = (*x.shape[:-2], length)
    axis = x.layout.axis
    if axis is None:
        return replicated(x.group, found)
    if axis < x.ndim - 2:
        return sharded(x.group, x.layout.with_shape(shape), found)
    before = max(0, -offset) if axis == x.ndim - 2 else max(0, offset)
    bounds = tuple(min(length, max(0, bound - before)) for bound in x.layout.bounds)
    bounds = (0, *bounds[1:-1], length)
    return sharded(x.group, Layout(shape, len(shape) - 1, bounds, x.layout.devices), found)


def _manipulated(v: Array, offset: int) -> Array:
    m, n = v.shape[-2:]
    if offset >= n or -offset >= m:  # none
        return cut(v, v.ndim - 2, 0, 0).reshape((*v.shape[:-2], 0)) if n else _core._full([*v.shape[:-2], 0], 0, v.dtype, v.queue)
    return _manipulation.diagonal(v, offset, -2, -1)


@implements("linalg.diagonal", splits="by the owners")
def linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    _matrices(x, "diagonal")
    return diagonal(x, offset, -2, -1)


@implements("trace", splits="the parts' sums are added in their order")
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    if out is not None:
        return NotImplemented
    if a.ndim < 2:
        raise ValueError("trace: two or more dimensions are needed")
    x = _two_axes(a, axis1, axis2, "trace")
    found = {p: _products.trace(v, offset=offset + _shift(x, p), axis1=-2, axis2=-1, dtype=dtype) for p, v in x._parts.items()}
    if x.layout.axis is None:
        return replicated(x.group, same_everywhere(x.group, found))
    if x.layout.axis < x.ndim - 2:
        return sharded(x.group, x.layout.with_shape(x.shape[:-2]), found)
    return replicated(x.group, x.group.all_reduce(found, _core.add))


@implements("linalg.trace", splits="as trace")
def linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    _matrices(x, "trace")
    return trace(x, offset, -2, -1, dtype)
