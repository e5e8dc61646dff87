# python/pardo/_base/examples.py: what docstrings of functions of arrays show, by name: See Also, Notes, a session.
# Those of elementwise functions of the core are in python/bind/array/examples.def; tests/python/test_doctests.py runs all.
from __future__ import annotations

from typing import Any

from pardo._base.method_examples import TABLE

_TABLE = """
empty: zeros, ones, full, empty_like
>>> x = pp.empty((2, 3), dtype="float32")
>>> x.shape, x.dtype
((2, 3), dtype('float32'))

full: zeros, ones, full_like
>>> pp.full((2, 3), 7.0)
array([[7., 7., 7.],
       [7., 7., 7.]])
>>> pp.full(2, pp.asarray([1, 2]))
array([1, 2])

zeros: ones, full, empty, zeros_like
>>> pp.zeros((2, 3))
array([[0., 0., 0.],
       [0., 0., 0.]])
>>> pp.zeros(4, dtype="int32")
array([0, 0, 0, 0], dtype=int32)

ones: zeros, full, empty, ones_like
>>> pp.ones((2, 2), dtype="int64")
array([[1, 1],
       [1, 1]])

empty_like: empty, zeros_like
>>> pp.empty_like(pp.zeros((2, 3))).shape
(2, 3)

full_like: full, zeros_like, ones_like
>>> pp.full_like(pp.asarray([1, 2, 3]), 9)
array([9, 9, 9])

zeros_like: zeros, ones_like
>>> pp.zeros_like(pp.asarray([[1, 2], [3, 4]]))
array([[0, 0],
       [0, 0]])

ones_like: ones, zeros_like
>>> pp.ones_like(pp.asarray([1.5, 2.5]), dtype="int64")
array([1, 1])

arange: linspace, meshgrid
>>> pp.arange(5)
array([0, 1, 2, 3, 4])
>>> pp.arange(1.0, 3.0, 0.5)
array([1. , 1.5, 2. , 2.5])

linspace: arange, meshgrid
>>> pp.linspace(0, 1, 5)
array([0.  , 0.25, 0.5 , 0.75, 1.  ])
>>> pp.linspace(0, 1, 4, endpoint=False)
array([0.  , 0.25, 0.5 , 0.75])

eye: identity, diagonal
>>> pp.eye(2, 3, k=1)
array([[0., 1., 0.],
       [0., 0., 1.]])

identity: eye
>>> pp.identity(2, dtype="int64")
array([[1, 0],
       [0, 1]])

tril: triu, diagonal
>>> pp.tril(pp.arange(9).reshape(3, 3))
array([[0, 0, 0],
       [3, 4, 0],
       [6, 7, 8]])

triu: tril, diagonal
>>> pp.triu(pp.arange(9).reshape(3, 3), k=1)
array([[0, 1, 2],
       [0, 0, 5],
       [0, 0, 0]])

meshgrid: broadcast_arrays, arange, linspace
>>> x, y = pp.meshgrid(pp.arange(3), pp.arange(2))
>>> x
array([[0, 1, 2],
       [0, 1, 2]])
>>> y
array([[0, 0, 0],
       [1, 1, 1]])

clip: minimum, maximum
>>> pp.clip(pp.asarray([-1.0, 0.5, 3.0]), 0.0, 1.0)
array([0. , 0.5, 1. ])
>>> pp.clip(pp.asarray([1, 5, 9]), max=6)
array([1, 5, 6])

round: rint, floor, ceil, trunc
>>> pp.round(pp.asarray([0.5, 1.5, 2.567]), 1)
array([0.5, 1.5, 2.6])
>>> pp.round(pp.asarray([1234, 1250]), -2)
array([1200, 1200])

where: nonzero, clip
>>> x = pp.asarray([-2.0, 0.0, 3.0])
>>> pp.where(x > 0, x, 0.0)
array([0., 0., 3.])
>>> pp.where(x > 0)
(array([2]),)

fix: trunc, floor, ceil
>>> pp.fix(pp.asarray([-1.7, 0.3, 2.9]))
array([-1.,  0.,  2.])

angle: arctan2, absolute, real, imag
>>> pp.angle(pp.asarray([1.0, 1j, -1.0]), deg=True)
array([  0.,  90., 180.])

concat: stack, hstack, vstack, split
>>> pp.concat([pp.asarray([[1, 2]]), pp.asarray([[3, 4], [5, 6]])])
array([[1, 2],
       [3, 4],
       [5, 6]])

stack: concat, unstack
>>> pp.stack([pp.arange(3), pp.arange(3, 6)], axis=1)
array([[0, 3],
       [1, 4],
       [2, 5]])

vstack: hstack, dstack, concat
>>> pp.vstack([pp.arange(3), pp.arange(3, 6)])
array([[0, 1, 2],
       [3, 4, 5]])

hstack: vstack, dstack, concat
>>> pp.hstack([pp.arange(3), pp.arange(3, 5)])
array([0, 1, 2, 3, 4])

dstack: vstack, hstack, concat
>>> pp.dstack([pp.arange(2), pp.arange(2, 4)])
array([[[0, 2],
        [1, 3]]])

column_stack: hstack, stack
>>> pp.column_stack([pp.arange(3), pp.ones(3)])
array([[0., 1.],
       [1., 1.],
       [2., 1.]])

append: concat
>>> pp.append(pp.asarray([1, 2]), pp.asarray([3]))
array([1, 2, 3])

unstack: stack, split
>>> first, second = pp.unstack(pp.asarray([[1, 2], [3, 4]]))
>>> second
array([3, 4])

split: array_split, unstack, concat
>>> pp.split(pp.arange(6), 3)
[array([0, 1]), array([2, 3]), array([4, 5])]
>>> pp.split(pp.arange(6), [1, 4])
[array([0]), array([1, 2, 3]), array([4, 5])]

array_split: split, concat
>>> pp.array_split(pp.arange(5), 2)
[array([0, 1, 2]), array([3, 4])]

repeat: tile
>>> pp.repeat(pp.asarray([1, 2]), 3)
array([1, 1, 1, 2, 2, 2])
>>> pp.repeat(pp.asarray([[1, 2], [3, 4]]), pp.asarray([1, 2]), axis=0)
array([[1, 2],
       [3, 4],
       [3, 4]])

tile: repeat, broadcast_to
>>> pp.tile(pp.asarray([1, 2]), (2, 2))
array([[1, 2, 1, 2],
       [1, 2, 1, 2]])

reshape: ravel, expand_dims, squeeze
>>> pp.reshape(pp.arange(6), (2, -1))
array([[0, 1, 2],
       [3, 4, 5]])

ravel: reshape
>>> pp.ravel(pp.asarray([[1, 2], [3, 4]]))
array([1, 2, 3, 4])

permute_dims: matrix_transpose, swapaxes, moveaxis
>>> pp.permute_dims(pp.asarray([[1, 2, 3], [4, 5, 6]]))
array([[1, 4],
       [2, 5],
       [3, 6]])
>>> pp.permute_dims(pp.zeros((2, 3, 4)), (2, 0, 1)).shape
(4, 2, 3)

matrix_transpose: permute_dims, swapaxes
>>> pp.matrix_transpose(pp.zeros((5, 2, 3))).shape
(5, 3, 2)

swapaxes: moveaxis, permute_dims
>>> pp.swapaxes(pp.zeros((2, 3, 4)), 0, 2).shape
(4, 3, 2)

moveaxis: swapaxes, permute_dims
>>> pp.moveaxis(pp.zeros((2, 3, 4)), 0, -1).shape
(3, 4, 2)

expand_dims: squeeze, reshape
>>> pp.expand_dims(pp.arange(3), (0, 2)).shape
(1, 3, 1)

squeeze: expand_dims, reshape
>>> pp.squeeze(pp.zeros((1, 3, 1))).shape
(3,)
>>> pp.squeeze(pp.zeros((1, 3, 1)), axis=0).shape
(3, 1)

flip: fliplr, flipud, roll
>>> pp.flip(pp.asarray([[1, 2], [3, 4]]), axis=1)
array([[2, 1],
       [4, 3]])

fliplr: flip, flipud
>>> pp.fliplr(pp.asarray([[1, 2], [3, 4]]))
array([[2, 1],
       [4, 3]])

flipud: flip, fliplr
>>> pp.flipud(pp.asarray([[1, 2], [3, 4]]))
array([[3, 4],
       [1, 2]])

broadcast_to: broadcast_arrays, broadcast_shapes, tile
>>> pp.broadcast_to(pp.arange(3), (2, 3))
array([[0, 1, 2],
       [0, 1, 2]])

broadcast_arrays: broadcast_to, meshgrid
>>> x, y = pp.broadcast_arrays(pp.arange(3), pp.asarray([[1], [2]]))
>>> y
array([[1, 1, 1],
       [2, 2, 2]])

broadcast_shapes: broadcast_to, broadcast_arrays
>>> pp.broadcast_shapes((3, 1), (4,))
(3, 4)

atleast_1d: atleast_2d, atleast_3d
>>> pp.atleast_1d(pp.asarray(5.0))
array([5.])

atleast_2d: atleast_1d, atleast_3d
>>> pp.atleast_2d(pp.arange(3))
array([[0, 1, 2]])

atleast_3d: atleast_1d, atleast_2d
>>> pp.atleast_3d(pp.arange(3)).shape
(1, 3, 1)

roll: flip
>>> pp.roll(pp.arange(5), 2)
array([3, 4, 0, 1, 2])

diagonal: trace, eye, tril, triu
>>> pp.diagonal(pp.arange(9).reshape(3, 3))
array([0, 4, 8])
>>> pp.diagonal(pp.arange(9).reshape(3, 3), offset=1)
array([1, 5])

copyto: where
>>> x = pp.zeros(3)
>>> pp.copyto(x, pp.asarray([1.0, 2.0, 3.0]), where=pp.asarray([True, False, True]))
>>> x
array([1., 0., 3.])

matmul: dot, vecdot, tensordot
On the CPU, OpenBLAS multiplies matrices of float32, float64, complex64 and complex128, in tiles that the device's threads share; on
CUDA devices cuBLAS does, where it is installed. Other dtypes have loops of pardo's own.
>>> pp.matmul(pp.asarray([[1.0, 2.0], [3.0, 4.0]]), pp.asarray([1.0, 1.0]))
array([3., 7.])

vecdot: dot, matmul
>>> pp.vecdot(pp.asarray([[1.0, 2.0], [3.0, 4.0]]), pp.asarray([1.0, 1.0]))
array([3., 7.])

tensordot: dot, matmul
>>> pp.tensordot(pp.ones((2, 3, 4)), pp.ones((3, 4, 5)), axes=2).shape
(2, 5)

dot: matmul, vecdot, tensordot
>>> pp.dot(pp.asarray([1.0, 2.0, 3.0]), pp.asarray([4.0, 5.0, 6.0]))
array(32.)

outer: multiply, dot
>>> pp.outer(pp.asarray([1, 2]), pp.asarray([3, 4, 5]))
array([[ 3,  4,  5],
       [ 6,  8, 10]])

trace: diagonal, sum
>>> pp.trace(pp.arange(9).reshape(3, 3))
array(12)

sum: mean, prod, cumulative_sum
>>> x = pp.asarray([[1.0, 2.0], [3.0, 4.0]])
>>> pp.sum(x)
array(10.)
>>> pp.sum(x, axis=0)
array([4., 6.])

prod: sum, cumulative_prod
>>> pp.prod(pp.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=1)
array([ 2., 12.])

max: min, argmax, maximum
>>> pp.max(pp.asarray([[1, 9], [7, 3]]), axis=0)
array([7, 9])

min: max, argmin, minimum
>>> pp.min(pp.asarray([[1, 9], [7, 3]]), axis=0)
array([1, 3])

all: any, logical_and
>>> pp.all(pp.asarray([[True, False], [True, True]]), axis=1)
array([False,  True])

any: all, logical_or
>>> pp.any(pp.asarray([[True, False], [False, False]]), axis=1)
array([ True, False])

count_nonzero: nonzero, sum
>>> pp.count_nonzero(pp.asarray([[0, 1, 2], [3, 0, 0]]), axis=1)
array([2, 1])

mean: sum, var, std
>>> pp.mean(pp.asarray([[1.0, 2.0], [3.0, 5.0]]), axis=1)
array([1.5, 4. ])

var: std, mean
Two passes: the mean, then the mean of the squared distances to it.
>>> x = pp.asarray([1.0, 2.0, 4.0, 5.0])
>>> pp.var(x)
array(2.5)
>>> pp.var(x, ddof=1)
array(3.33333333)

std: var, mean
>>> pp.std(pp.asarray([1.0, 2.0, 4.0, 5.0]))
array(1.58113883)

cumulative_sum: cumsum, cumulative_prod, sum
Blocks along the axis are computed in parallel; their size does not depend on the number of threads.
>>> pp.cumulative_sum(pp.asarray([1, 2, 3]), include_initial=True)
array([0, 1, 3, 6])

cumulative_prod: cumprod, cumulative_sum, prod
>>> pp.cumulative_prod(pp.asarray([1, 2, 3, 4]))
array([ 1,  2,  6, 24])

cumsum: cumulative_sum, cumprod
>>> pp.cumsum(pp.asarray([[1, 2], [3, 4]]))
array([ 1,  3,  6, 10])
>>> pp.cumsum(pp.asarray([[1, 2], [3, 4]]), axis=0)
array([[1, 2],
       [4, 6]])

cumprod: cumulative_prod, cumsum
>>> pp.cumprod(pp.asarray([[1, 2], [3, 4]]))
array([ 1,  2,  6, 24])

diff: subtract, cumulative_sum
>>> pp.diff(pp.asarray([1, 4, 9, 16]))
array([3, 5, 7])
>>> pp.diff(pp.asarray([1, 4, 9, 16]), n=2)
array([2, 2])

ptp: max, min
>>> pp.ptp(pp.asarray([[1, 9], [7, 3]]), axis=1)
array([8, 4])

argmax: argmin, max
>>> pp.argmax(pp.asarray([[3, 1, 4], [1, 5, 9]]), axis=1)
array([2, 2])

argmin: argmax, min
>>> pp.argmin(pp.asarray([[3, 1, 4], [1, 5, 9]]), axis=1)
array([1, 0])

nonzero: flatnonzero, argwhere, where
>>> pp.nonzero(pp.asarray([[3, 0], [0, 4]]))
(array([0, 1]), array([0, 1]))

flatnonzero: nonzero, argwhere
>>> pp.flatnonzero(pp.asarray([[3, 0], [0, 4]]))
array([0, 3])

argwhere: nonzero, flatnonzero
>>> pp.argwhere(pp.asarray([[3, 0], [0, 4]]))
array([[0, 0],
       [1, 1]])

searchsorted: sort, argsort
Binary search, for all values in parallel.
>>> x = pp.asarray([1.0, 2.0, 3.0])
>>> pp.searchsorted(x, pp.asarray([0.5, 2.0, 9.0]))
array([0, 1, 3])
>>> pp.searchsorted(x, pp.asarray([2.0]), side="right")
array([2])

take: take_along_axis, compress
>>> pp.take(pp.asarray([[1, 2, 3], [4, 5, 6]]), pp.asarray([2, 0]), axis=1)
array([[3, 1],
       [6, 4]])

take_along_axis: take, argsort
>>> x = pp.asarray([[3, 1, 2], [4, 6, 5]])
>>> pp.take_along_axis(x, pp.argsort(x, axis=1), axis=1)
array([[1, 2, 3],
       [4, 5, 6]])

compress: take, where
>>> pp.compress(pp.asarray([True, False, True]), pp.asarray([[1, 2, 3], [4, 5, 6]]), axis=1)
array([[1, 3],
       [4, 6]])

unique_all: unique, unique_values, unique_counts
>>> found = pp.unique_all(pp.asarray([3, 1, 3]))
>>> found.values, found.indices, found.inverse_indices, found.counts
(array([1, 3]), array([1, 0]), array([1, 0, 1]), array([1, 2]))

unique_counts: unique, unique_all
>>> values, counts = pp.unique_counts(pp.asarray([3, 1, 3]))
>>> values, counts
(array([1, 3]), array([1, 2]))

unique_inverse: unique, unique_all
>>> values, inverse = pp.unique_inverse(pp.asarray([3, 1, 3]))
>>> values[inverse]
array([3, 1, 3])

unique_values: unique, unique_all, isin
>>> pp.unique_values(pp.asarray([3, 1, 3]))
array([1, 3])

unique: unique_all, unique_counts, isin
The elements are sorted, and neighbours compared.
>>> pp.unique(pp.asarray([3, 1, 3]))
array([1, 3])
>>> pp.unique(pp.asarray([[1, 2], [1, 2], [0, 5]]), axis=0)
array([[0, 5],
       [1, 2]])

isin: unique, searchsorted
>>> pp.isin(pp.asarray([[1, 2], [3, 4]]), pp.asarray([2, 3, 7]))
array([[False,  True],
       [ True, False]])

sort: argsort, top_k, partition
On the CPU real elements are sorted by radix, or by a vectorised quicksort where the processor has AVX-512; complex ones by merging.
Other devices sort short lines in shared memory and long ones by radix.
>>> pp.sort(pp.asarray([[3, 1], [2, 9]]), axis=1)
array([[1, 3],
       [2, 9]])
>>> pp.sort(pp.asarray([3, 1, 2]), descending=True)
array([3, 2, 1])

argsort: sort, take_along_axis
Elements are sorted by radix together with their positions, complex ones on the CPU by merging: the sort is stable.
>>> x = pp.asarray([30, 10, 20])
>>> pp.argsort(x)
array([1, 2, 0])
>>> x[pp.argsort(x)]
array([10, 20, 30])

partition: sort, argpartition, top_k
The CPU selects without sorting everything; other devices sort.
>>> pp.partition(pp.asarray([7, 1, 5, 3]), 1)[1]
array(3)

argpartition: partition, argsort
The CPU selects without sorting everything; other devices sort.
>>> x = pp.asarray([7, 1, 5, 3])
>>> x[pp.argpartition(x, 1)][1]
array(3)

top_k: sort, max, argmax
The CPU selects without sorting everything; other devices sort.
>>> values, indices = pp.top_k(pp.asarray([3, 9, 1, 7]), 2)
>>> values, indices
(array([9, 7]), array([1, 3]))

array: asarray, empty, zeros
>>> pp.array([[1, 2], [3, 4]], dtype="float32")
array([[1., 2.],
       [3., 4.]], dtype=float32)

asarray: array, asnumpy, from_dlpack
>>> import numpy as np
>>> pp.asarray([1.5, 2.5])
array([1.5, 2.5])
>>> pp.asarray(np.eye(2), dtype="float32")
array([[1., 0.],
       [0., 1.]], dtype=float32)

asnumpy: asarray
>>> pp.asnumpy(pp.arange(3) * 2)
array([0, 2, 4])

from_dlpack: asarray
>>> import numpy as np
>>> pp.from_dlpack(np.arange(3))
array([0, 1, 2])

astype: result_type, can_cast
>>> pp.astype(pp.asarray([1.9, -1.9]), "int32")
array([ 1, -1], dtype=int32)
"""


def complete(namespace: dict[str, Any]) -> None:
    """Put See Also before Notes, and Examples at the end, into the docstrings of a namespace's functions, and of what these wrap.

    Methods of arrays that are made of these functions get their examples.
    """
    of_functions = {}
    for block in f"{_TABLE}{TABLE}".strip().split("\n\n"):
        head, session = block.split("\n", 1)
        name, related = head.split(":")
        kind, _, method = name.partition(".")
        function = getattr(namespace[kind], method) if method else namespace[name]
        if function.__doc__ is None:  # python -OO
            continue
        text = function.__doc__.rstrip()
        first = text.find("Parameters\n")
        if first < 0:
            first = text.find("Returns\n")
        indent = text[text.rfind("\n", 0, first) + 1 : first]  # none since Python 3.13
        body, notes, rest = text.partition(f"\n\n{indent}Notes\n")
        line = "\n" + indent
        remark, prompt, session = session.partition(">>> ")
        if remark:
            notes, rest = line.join(("", "", "Notes", "")), line.join(("-----", *remark.strip().split("\n")))
        related = line.join(("", "", "See Also", "--------", related.strip())) if related else ""
        session = prompt + session
        session = line.join(("", "", "Examples", "--------", ">>> import pardo as pp", *session.split("\n"), ""))
        text = f"{body}{related}{notes}{rest}{session}"
        _set_text(function, text)
        if not method:
            of_functions[name] = session
    for name, session in of_functions.items():
        function = vars(namespace["Array"]).get(name)
        if function is not None and function.__doc__ and ">>> " not in function.__doc__:
            _set_text(function, function.__doc__.rstrip() + session)


def _set_text(function: Any, text: str) -> None:
    while function is not None:
        function.__doc__ = text
        function = getattr(function, "__wrapped__", None)
