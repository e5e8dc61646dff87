# python/pardo/_random/generator.py: random.Generator: arrays of random numbers, drawn by Philox, the same bits on every device.
from __future__ import annotations

import builtins
import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from pardo._array.contexts import public
from pardo._array.interop import asnumpy
from pardo._base.arguments import DeviceLike, dtype_of
from pardo._base.arguments import index as read_index
from pardo._base.promotion import kind_of
from pardo._base.public_names import named_as_class, publish_module
from pardo._core import Array, Queue
from pardo._random import kernels
from pardo._random.arguments import Parameters, range_of
from pardo._random.orders import Orders
from pardo._random.philox import WORD

__all__ = ["Generator", "default_rng"]


@named_as_class
class Generator(Orders):
    """Draws arrays of random numbers; made by `default_rng`.

    A stream has 2**64 blocks of four words of 32 bits, made by philox4x32 with ten rounds. A draw takes the next blocks, as many as it
    needs, and leaves what is over of the last one; so its numbers depend on the seed and on the draws before it, and on no device.
    Several threads may draw from one generator.

    Parameters
    ----------
    seed : None, int, sequence of int, SeedSequence or Philox, optional
        As for `default_rng`.

    Attributes
    ----------
    bit_generator : Philox
        Where the blocks come from.
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
      or `philox_normal` gives for block ``b + i // n``; n is 2 for float64 and 4 for float32. A uniform number of float64 comes from two
      words, one of float32 from one.
    - `integers` from up to 2**32 different ones, all numbers: word ``w = i % 4`` of block ``b + i // 4`` gives ``low + (w * count >> 32)``.
      Otherwise words ``2 (i % 2)`` and the next, of block ``b + i // 2``, are one of 64 bits, the lower first: ``low + (w * count >> 64)``.
      Where the lower half of the product is less than ``2**32 % count`` (``2**64 % count``), the same word of the same block is drawn
      again, with 1, 2, … as the last word of the counter, so that all integers are equally likely [2]_.
    - All other distributions: element i has block ``b + i``, whose words it uses in an order that is its own; if it needs more, it
      has the same block again, with other last words of the counter.
    - `permutation`, `shuffle` and `choice` without replacement sort by the upper 52 of 64 bits, up to 4096 elements. Of more, element i
      of the order is what a Feistel network makes of i; one block chooses the network [3]_.

    References
    ----------
    .. [1] J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    .. [2] D. Lemire, "Fast random integer generation in an interval", ACM Transactions on Modeling and Computer Simulation 29, 2019.
    .. [3] R. Mitchell, D. Stokes, E. Frank, G. Holmes, "Bandwidth-optimal random shuffling for GPUs", ACM Transactions on Parallel
       Computing 9, 2022: the permutation by a network, and walks to those below n.

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
            A bound does not fit the dtype, or no integer lies between them, which an Array tells late, at the next wait; or their
            shapes cannot be broadcast to `size`.
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
        if kind_of(wanted) not in "iub":
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
            self._launch(
                kernels.random_integers,
                out,
                4,
                np.uint64(first),
                np.uint64(count),
                np.uint64(WORD % count),
                across=kernels.random_integers_across,
            )
        else:
            self._launch(kernels.random_long_integers, out, 2, np.uint64(first), np.uint64(last))
        return given.placed(given.watch(out))

    def spawn(self, n_children: int) -> list[Self]:
        """Create new independent child generators.

        Parameters
        ----------
        n_children : int
            How many. Later calls go on counting, so no child is made twice.

        Returns
        -------
        list of Generator
            Their keys are 96 bits of BLAKE2b, of this stream's words and the child's number; or, if the seed was a SeedSequence, those of
            its children. Nothing is drawn from this one.

        Raises
        ------
        TypeError
            `n_children` is not an integer.
        ValueError
            `n_children` is negative.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> first, second = rng.spawn(2)
        >>> first.random(2), second.random(2)
        (array([0.87594646, 0.81871076]), array([0.22041601, 0.29613927]))
        """
        return [type(self)(bits) for bits in self._bits.spawn(n_children)]

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
        return asnumpy(self._bits.random_raw(-(-count // 4))).astype("<u4").tobytes()[:count]


def default_rng(seed: Any = None) -> Generator:
    """Make a generator of random numbers.

    Parameters
    ----------
    seed : None, int, sequence of int, SeedSequence, Philox or Generator, optional
        Of an integer below 2**96, the words of 32 bits, the lowest first, are both words of the key and the third one of the counter; of
        others, and of sequences, 96 bits of a digest are (BLAKE2b, of the numbers in hexadecimal with commas between); of a
        SeedSequence the three words that it generates. None takes bits of the operating system. A Philox goes on where it is, shared
        with others; a Generator is returned as it is.

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
    if type(seed) is Generator:
        return seed
    return Generator(seed.bit_generator if isinstance(seed, Generator) else seed)


for _part in Generator.__mro__[1:-1]:  # users know this class alone, and messages name its methods
    for _name, _method in vars(_part).items():
        if callable(_method) and not _name.startswith("_"):
            inspect.unwrap(_method).__qualname__ = f"Generator.{_name}"
publish_module(globals(), "pardo.random")
