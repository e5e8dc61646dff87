# python/pardo/_random/generator.py: random.Generator: arrays of random numbers, drawn by Philox, the same bits on every device.
from __future__ import annotations

import builtins
import math
from collections.abc import MutableSequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo._array.interop import asnumpy
from pardo._array.searching import searchsorted, take
from pardo._array.sorting import argsort
from pardo._base.arguments import DeviceLike, axis_index, default_queue, dtype_of, in_memory
from pardo._base.arguments import index as read_index
from pardo._base.public_names import named_as_class, publish_module
from pardo._core import Array, Queue, _empty_in
from pardo._random import kernels
from pardo._random.arguments import Parameters, array_at, extents_of, place_of, pool_of, probabilities, public, range_of
from pardo._random.distributions import Distributions
from pardo._random.stream import WORD

__all__ = ["Generator", "default_rng"]


@named_as_class
class Generator(Distributions):
    """Draws arrays of random numbers; made by `default_rng`.

    A stream has 2**64 blocks of four words of 32 bits, made by philox4x32 with ten rounds. A draw takes the next blocks, as many as it
    needs, and leaves what is over of the last one; so its numbers depend on the seed and on the draws before it, and on no device.
    Several threads may draw from one generator.

    Parameters
    ----------
    seed : None, int or sequence of int, optional
        As for `default_rng`.

    Attributes
    ----------
    key : tuple of int
        The two words of the key.
    counter : tuple of int
        The four words of the counter of the next block: the number of the block, lower word first, the third word of the seed, and 0.

    See Also
    --------
    default_rng

    Notes
    -----
    Words of element i, in row-major order, of a draw whose first block is b; in kernels ``philox((b, b >> 32, counter[2]), key)`` gives the
    words of block b:

    - `random`, `standard_normal`, `standard_exponential` and all that is made of them: element ``i % n`` of what `pardo.random.uniform`
      or `normal` gives for block ``b + i // n``; n is 2 for float64 and 4 for float32. A uniform number of float64 comes from two
      words, one of float32 from one.
    - `integers` from up to 2**32 different ones, all numbers: word ``w = i % 4`` of block ``b + i // 4`` gives ``low + (w * count >> 32)``.
      Otherwise words ``2 (i % 2)`` and the next, of block ``b + i // 2``, are one of 64 bits, the lower first: ``low + (w * count >> 64)``.
      Where the lower half of the product is less than ``2**32 % count`` (``2**64 % count``), the same word of the same block is drawn
      again, with 1, 2, … as the last word of the counter, so that all integers are equally likely [2]_.
    - `permutation`, `shuffle` and `choice` without replacement sort by words of 64 bits.

    References
    ----------
    .. [1] J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    .. [2] D. Lemire, "Fast random integer generation in an interval", ACM Transactions on Modeling and Computer Simulation 29, 2019.

    Examples
    --------
    >>> import pardo as pp
    >>> rng = pp.random.default_rng(7)
    >>> rng.random(3)
    array([0.95459713, 0.11417736, 0.4069604 ])
    >>> rng.integers(0, 10, 5)
    array([0, 0, 8, 8, 3])
    """

    @public
    def random(
        self,
        size: Any = None,
        dtype: DTypeLike | None = None,
        out: Array | None = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Return random floats in the half-open interval [0.0, 1.0).

        Parameters
        ----------
        {size}
        {float_draw}
        {draw_out}
        {device}
        {queue_and_memory}

        Returns
        -------
        Array
            Multiples of 2**-53, or of 2**-24 for float32.

        Raises
        ------
        {standard_raises}

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.random(3)
        array([0.95459713, 0.11417736, 0.4069604 ])
        """
        return self._standard("random", kernels.uniform, size, dtype, device, queue, usm_type, out=out)

    @public
    def standard_normal(
        self,
        size: Any = None,
        dtype: DTypeLike | None = None,
        out: Array | None = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a standard normal distribution (mean=0, stdev=1).

        Parameters
        ----------
        {size}
        {float_draw}
        {draw_out}
        {device}
        {queue_and_memory}

        Returns
        -------
        Array
            The numbers; devices differ in the last bits, as their logarithm, sine and cosine do.

        Raises
        ------
        {standard_raises}

        References
        ----------
        .. [1] G. E. P. Box, M. E. Muller, "A note on the generation of random normal deviates", 1958.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.standard_normal(3)
        array([1.87387971, 1.63491122, 0.48231602])
        """
        return self._standard("standard_normal", kernels.normal, size, dtype, device, queue, usm_type, out=out)

    @public
    def standard_exponential(
        self,
        size: Any = None,
        dtype: DTypeLike | None = None,
        method: str = "zig",
        out: Array | None = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from the standard exponential distribution: ``-log1p(-u)``, where u is what `random` draws.

        Parameters
        ----------
        {size}
        {float_draw}
        method : {'zig', 'inv'}
            NumPy's choice of algorithm; both give the same result here, by inversion of the distribution function.
        {draw_out}
        {device}
        {queue_and_memory}

        Returns
        -------
        Array
            Numbers from 0 on; devices differ in the last bits, as their logarithm does.

        Raises
        ------
        {standard_raises}

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.standard_exponential(3)
        array([3.09217993, 0.12123853, 0.52249411])
        """
        if method not in ("zig", "inv"):
            raise ValueError(f"standard_exponential: method is {method!r}; it must be 'zig' or 'inv'")
        return self._standard("standard_exponential", kernels.exponential, size, dtype, device, queue, usm_type, out=out)

    @public
    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: DTypeLike = np.int64,
        endpoint: bool = False,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Return random integers from `low` (inclusive) to `high` (exclusive), all of which are equally likely.

        Parameters
        ----------
        low : int or Array
            The least one; if `high` is None, it is the end, and the least one is 0.
        high : int or Array, optional
            The end.
        size : int or sequence of int, optional
            The shape. Default: that of `low` and `high`, broadcast against each other.
        dtype : data type, optional
            Any integer dtype, or bool. The same integers come for each. Default: int64.
        endpoint : bool, optional
            Whether `high` may be drawn too. Default: False.
        device : Device or str, optional
            Default: that of `low` and `high` if they are arrays, else the default device.
        {queue_and_memory}

        Returns
        -------
        Array
            The integers.

        Raises
        ------
        ValueError
            A bound does not fit the dtype, there is no integer between them, or their shapes cannot be broadcast to `size`. Arrays are
            looked at, and waited for.
        TypeError
            The dtype is neither an integer one nor bool, a bound is neither a number nor an array, or `size` is neither an integer nor a
            sequence of them.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.integers(0, 10, 5)
        array([9, 7, 1, 0, 4])
        >>> rng.integers(1, 6, 5, endpoint=True)
        array([1, 1, 5, 6, 3])
        """
        wanted = dtype_of(dtype, "integers")
        if wanted.kind not in "iub":
            raise TypeError(f"integers: dtype {wanted} is not supported; it must be an integer dtype or bool")
        given = Parameters(
            "integers", {"low": 0, "high": low} if high is None else {"low": low, "high": high}, size, device, queue, usm_type
        )
        first, last = range_of(given, wanted, endpoint)
        out = given.empty(wanted)
        if type(last) is not int:
            self._launch(kernels.random_long_integers, out, 2, given.flat(first), given.flat(last))
        elif last < WORD:
            count = last + 1
            self._launch(kernels.random_integers, out, 4, np.uint64(first), np.uint64(count), np.uint64(WORD % count))
        else:
            self._launch(kernels.random_long_integers, out, 2, np.uint64(first), np.uint64(last))
        return given.placed(out)

    def bytes(self, length: int) -> builtins.bytes:
        """Return random bytes.

        Parameters
        ----------
        length : int
            How many.

        Returns
        -------
        bytes
            The words of the blocks, the lowest byte first; drawn on the default device.

        Raises
        ------
        TypeError
            `length` is not an integer.
        ValueError
            `length` is negative.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> len(rng.bytes(10))
        10
        """
        count = read_index(length, "bytes: length")
        if count < 0:
            raise ValueError(f"bytes: length must not be negative, but is {count}")
        words = self._fill(kernels.words, _empty_in([-(-count // 4)], np.uint32, default_queue(), "device", "bytes"))
        return asnumpy(words).astype("<u4").tobytes()[:count]

    def _order(self, n: int, target: Queue, op_name: str) -> Array:
        """The numbers below n in random order. That two of the keys are equal has a probability below n**2 / 2**65."""
        return argsort(self._fill(kernels.long_words, _empty_in([n], np.uint64, target, "device", op_name)))

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
        a = array_at(x, target, "permutation", "x")
        along = axis_index(axis, a.ndim, "permutation")
        return in_memory(take(a, self._order(a.shape[along], target, "permutation"), along), usm_type, "permutation")

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
            order = self._order(x.shape[along], x.queue if type(x) is Array else default_queue(), "shuffle")
            x[...] = take(x, order, along) if type(x) is Array else x.take(asnumpy(order), along)
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
            index = self.integers(0, max(n, 1), extents, queue=target) if replace else self._order(n, target, "choice")
        else:
            q = probabilities(p, n, k, bool(replace), target)
            if replace:
                total = q.cumsum()
                index = searchsorted(total / total[-1], self.random(extents, q.dtype, queue=target), side="right")
            else:
                index = argsort(self.standard_exponential(n, q.dtype, queue=target) / q)
        if not replace:
            index = index[:k].copy().reshape(extents)
        return in_memory(index if pool is None else take(pool, index, along), usm_type, "choice")


def default_rng(seed: Any = None) -> Generator:
    """Make a generator of random numbers.

    Parameters
    ----------
    seed : None, int, sequence of int or Generator, optional
        Of an integer below 2**96, the words of 32 bits, the lowest first, are both words of the key and the third one of the counter; of
        others, and of sequences, 96 bits of a digest are (BLAKE2b, of the numbers in hexadecimal with commas between). None takes
        bits of the operating system. A Generator is returned as it is.

    Returns
    -------
    Generator
        The generator, before its first block.

    Raises
    ------
    TypeError
        `seed` is of another type.
    ValueError
        `seed` is negative.

    Examples
    --------
    >>> import pardo as pp
    >>> rng = pp.random.default_rng(42)
    >>> rng.integers(0, 2**32, 4, dtype="uint32")
    array([2632642643, 2012563771,  314527917, 1463989207], dtype=uint32)
    >>> [int(word) for word in pp.random.philox((0,), (42,))]
    [2632642643, 2012563771, 314527917, 1463989207]
    """
    return seed if isinstance(seed, Generator) else Generator(seed)


publish_module(globals(), "pardo.random")
