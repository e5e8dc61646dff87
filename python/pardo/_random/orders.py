# python/pardo/_random/orders.py: random orders, and samples of what there is.
from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import Any

import numpy as np
from pardo._array.contexts import public
from pardo._array.interop import asnumpy
from pardo._array.manipulation import moveaxis
from pardo._array.ranges import arange
from pardo._array.searching import searchsorted, take, take_along_axis
from pardo._array.sorting import argsort, sort
from pardo._base.arguments import DeviceLike, axis_index, default_queue, in_memory, store
from pardo._core import Array, Queue, _empty_in
from pardo._language.index_space import Range
from pardo._random import kernels
from pardo._random.arguments import array_at, extents_of, place_of, pool_of, probabilities
from pardo._random.multivariate import Multivariate

SORTED = 2**12


class Orders(Multivariate):
    """Draws of orders and samples."""

    def _order(self, n: int, target: Queue, op_name: str, count: int | None = None) -> Array:
        """The first of the numbers below n in random order.

        Few are sorted by random words. Of more, each place is computed by itself, by a network that one block chooses.
        """
        wanted = n if count is None else count
        if n <= SORTED:
            order = self._orders([n], target, op_name)
            return order if wanted == n else order[:wanted].copy()
        out = _empty_in([wanted], np.int64, target, "device", op_name)
        if wanted:
            first, stream = self._bits._take(1)
            kernels.random_order[Range(wanted)](np.uint64(first), stream, self.key, np.uint64(n), (n - 1).bit_length(), out)
        return out

    def _orders(self, shape: list[int], target: Queue, op_name: str) -> Array:
        """For each line along the last axis, of at most SORTED elements, their numbers in random order.

        They are the last bits of what is sorted, the others are random: two are equal with a probability below n**2 / 2**53.
        """
        words = self._fill(kernels.long_words, _empty_in(shape, np.uint64, target, "device", op_name))
        numbers = arange(shape[-1], dtype=np.uint64, queue=target)
        return (sort((words & np.uint64(2**64 - SORTED)) | numbers) & np.uint64(SORTED - 1))._astype(np.dtype(np.int64), False)

    @public
    def permutation(
        self, x: Any, axis: int = 0, *, device: DeviceLike = None, queue: Queue | None = None, usm_type: str | None = None
    ) -> Array:
        """Randomly permute a sequence, or return a permuted range.

        Parameters
        ----------
        x : int or Array
            The array; a number n stands for ``arange(n)``.
        axis : int, optional
            The axis along which it is permuted; what is along the others stays together. Default: 0.
        device : Device or str, optional
            Default: that of `x` if it is an array, else the default device.
        {queue_and_memory}

        Returns
        -------
        Array
            Of the same shape and dtype; of int64 for a number.

        Raises
        ------
        AxisError
            `x` has no such axis.
        ValueError
            `x` is a negative number.
        TypeError
            `x` is neither an integer nor an array.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.permutation(5)
        array([4, 1, 0, 2, 3])
        """
        target = place_of("permutation", [x], device, queue)
        if isinstance(x, (int, np.integer)):
            if x < 0:
                raise ValueError(f"permutation: x must not be negative, but is {x}")
            return in_memory(self._order(int(x), target, "permutation"), usm_type, "permutation")
        a = array_at(x, target, "permutation", "x", "an integer, ")
        along = axis_index(axis, a.ndim, "permutation")
        return in_memory(take(a, self._order(a.shape[along], target, "permutation"), along), usm_type, "permutation")

    @public
    def permuted(
        self,
        x: Any,
        axis: int | None = None,
        out: Array | None = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Randomly permute `x` along axis `axis`: each line along it in an order of its own.

        Parameters
        ----------
        x : Array or list
            The array.
        axis : int, optional
            The axis; None permutes all elements as one line.
        out : Array, optional
            Where the result is stored; of the shape of `x`, and of a dtype that it can be cast to within the same kind. It may be `x`.
        device : Device or str, optional
            Default: that of `x` if it is an array, else the default device.
        {queue_and_memory}

        Returns
        -------
        Array
            Of the same shape and dtype.

        Raises
        ------
        AxisError
            `x` has no such axis.
        ValueError
            The shape of `out` does not fit.
        TypeError
            `x` is neither an array nor a list, or `out` is not an Array or of a dtype of another kind.

        See Also
        --------
        permutation, shuffle

        Notes
        -----
        Along an axis each line is sorted by random words. All elements as one line are ordered as by `permutation`.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.permuted(pp.arange(8).reshape(2, 4), axis=1)
        array([[1, 0, 2, 3],
               [4, 7, 6, 5]])
        """
        target = place_of("permuted", [x, out], device, queue)
        a = array_at(x, target, "permuted", "x")
        if axis is None or a.ndim == 1:
            if axis is not None:
                axis_index(axis, a.ndim, "permuted")
            result = take(a.reshape(-1), self._order(a.size, target, "permuted"), 0).reshape(a.shape)
        else:
            along = axis_index(axis, a.ndim, "permuted")
            lines = moveaxis(a, along, -1)
            if lines.shape[-1] <= SORTED:
                order = self._orders(list(lines.shape), target, "permuted")
            else:
                order = argsort(self._fill(kernels.long_words, _empty_in(list(lines.shape), np.uint64, target, "device", "permuted")))
            result = moveaxis(take_along_axis(lines, order, -1), -1, along)
        return in_memory(store(result, out, "permuted"), usm_type if out is None else None, "permuted")

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Modify an array or list in-place by shuffling its contents.

        Parameters
        ----------
        x : Array, numpy.ndarray or MutableSequence
            What is changed.
        axis : int, optional
            The axis along which it is permuted; what is along the others stays together. Default: 0.

        Raises
        ------
        AxisError
            `x` has no such axis.
        TypeError
            `x` is of another type, or has no dimension.
        NotImplementedError
            `axis` is given for a list.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> x = pp.arange(5)
        >>> rng.shuffle(x)
        >>> pp.sort(x)
        array([0, 1, 2, 3, 4])
        """
        if isinstance(x, (Array, np.ndarray)):
            if x.ndim == 0:
                raise TypeError("shuffle: x has no dimension; there is nothing to shuffle")
            along = axis_index(axis, x.ndim, "shuffle")
            order = self._order(x.shape[along], default_queue() if isinstance(x, np.ndarray) else x.queue, "shuffle")
            x[...] = x.take(asnumpy(order) if isinstance(x, np.ndarray) else order, along)
        elif isinstance(x, MutableSequence):
            if axis != 0:
                raise NotImplementedError(f"shuffle: axis is {axis}, but a {type(x).__name__} has only axis 0; use an array")
            items = list(x)
            for place, i in enumerate(asnumpy(self._order(len(items), default_queue(), "shuffle")).tolist()):
                x[place] = items[i]
        else:
            raise TypeError(f"shuffle: x must be an array or a list, which can be changed, not {type(x).__name__}")

    @public
    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Generate a random sample from a given array.

        Parameters
        ----------
        a : int or Array
            The array; a number n stands for ``arange(n)``.
        size : int or sequence of int, optional
            The shape; it takes the place of the axis. Default: one element, without that axis.
        replace : bool, optional
            Whether an element may be drawn more than once. Default: True.
        p : Array or list of float, optional
            The probability of each element. Default: all are equal.
        axis : int, optional
            The axis along which is drawn. Default: 0.
        shuffle : bool, optional
            Whether the order of what is drawn without replacement is random too; here it always is.
        device : Device or str, optional
            Default: that of `a` or `p` if one is an array, else the default device.
        {queue_and_memory}

        Returns
        -------
        Array
            The elements.

        Raises
        ------
        ValueError
            There is nothing to draw from, or too little without replacement; `p` is of another length than `a`, negative, nan, or its
            sum is not 1. They are looked at, and waited for.
        AxisError
            `a` has no such axis.
        TypeError
            `a` or `p` is of another type, or `size` is neither an integer nor a sequence of integers.

        Notes
        -----
        With probabilities and replacement: the first element up to which the sum of the probabilities exceeds what `random` draws.
        With probabilities and without replacement: those with the least ``e / p``, where e is what `standard_exponential` draws [1]_.

        References
        ----------
        .. [1] P. S. Efraimidis, P. G. Spirakis, "Weighted random sampling with a reservoir", Information Processing Letters 97, 2006.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.choice(pp.asarray([10, 20, 30]), 4)
        array([30, 30, 10, 10])
        """
        target = place_of("choice", [a, p], device, queue)
        pool, along, n = pool_of(a, axis, target)
        extents = extents_of(size, "choice")
        k = math.prod(extents)
        if n <= 0 and k > 0:
            raise ValueError("choice: a is empty; it must be a positive number or an array with elements")
        if not replace and k > n:
            raise ValueError(f"choice: {k} elements cannot be drawn from {n} without replacement; draw fewer, or say replace=True")
        if p is None:
            index = self.integers(0, max(n, 1), extents, queue=target) if replace else self._order(n, target, "choice", k)
        else:
            q = probabilities(p, n, k, bool(replace), target)
            if replace:
                total = q.cumsum()
                index = searchsorted(total / total[-1], self.random(extents, q.dtype, queue=target), side="right")
            else:
                index = argsort(self.standard_exponential(n, q.dtype, queue=target) / q)[:k].copy()
        if not replace:
            index = index.reshape(extents)
        return in_memory(index if pool is None else take(pool, index, along), usm_type, "choice")
