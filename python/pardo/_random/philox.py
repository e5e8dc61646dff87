# python/pardo/_random/philox.py: random.Philox: the words of a stream of blocks, from seeds; its state in and out; streams that follow.
from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from pardo._base.arguments import default_queue, integer
from pardo._base.arguments import index as read_index
from pardo._base.forks import renewed_lock
from pardo._base.public_names import publish_module
from pardo._base.undisturbed import Undisturbed
from pardo._core import _empty_in
from pardo._language.index_space import Range
from pardo._random import kernels
from pardo._random.arguments import extents_of

__all__ = ["Philox"]

WORD = 2**32
BLOCKS = 2**64  # of a stream; draws come from the last to the first of the same one
LENGTH = WORD * BLOCKS  # of all streams of a key, one after the other


def digest(numbers: Iterable[int], purpose: bytes = b"") -> int:
    """96 bits: BLAKE2b of the numbers in hexadecimal, with commas between."""
    with Undisturbed():
        import hashlib  # not needed by programs that draw nothing

    text = ",".join(format(n, "x") for n in numbers)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=12, person=purpose).digest(), "little")


def _integer(seed: Any) -> int:
    try:
        n = operator.index(seed)
    except TypeError:
        raise TypeError(
            f"default_rng: seed must be None, an integer, a sequence of integers, a SeedSequence, a Philox or a Generator, not {seed!r}"
        ) from None
    if n < 0:
        raise ValueError(f"default_rng: seed must not be negative, but is {n}; take its absolute value")
    return n


def words_of_seed(seed: Any) -> tuple[int, int, int]:
    """Both words of the key, and the third of the counter."""
    if seed is None:
        with Undisturbed():
            import secrets

        n = secrets.randbits(96)
    elif hasattr(seed, "generate_state"):
        first, second, third = (int(word) for word in seed.generate_state(3, np.uint32))
        return first, second, third
    elif isinstance(seed, Iterable) and not isinstance(seed, (str, bytes)) and getattr(seed, "ndim", 1) != 0:
        numbers = [_integer(item) for item in seed]
        n = numbers[0] if len(numbers) == 1 else digest(numbers)
    else:
        n = _integer(seed)
    if n >= WORD**3:
        n = digest([n])
    return n % WORD, n // WORD % WORD, n // WORD**2


def _number(given: Any, count: int, what: str) -> int:
    """An integer, or its words of 32 bits, the lowest first."""
    if isinstance(given, Iterable) and getattr(given, "ndim", 1) != 0:
        words = [integer(word, f"Philox: {what}") for word in given]
        if len(words) > count or any(not 0 <= word < WORD for word in words):
            raise ValueError(f"Philox: {what} must have up to {count} words of 32 bits, but is {words}")
        return sum(word * WORD**k for k, word in enumerate(words))
    number = integer(given, f"Philox: {what}")
    if not 0 <= number < WORD**count:
        raise ValueError(f"Philox: {what} must be from 0 to 2**{32 * count} - 1, but is {number}")
    return number


class Philox:
    """Container for the Philox (4x32) pseudo-random number generator: blocks of four words of 32 bits, by their numbers.

    A key has 2**96 blocks, numbered by the first three words of the counter: 2**32 streams of 2**64 blocks each. The last word of the
    counter is 0, and counts on where a draw needs more words than its block has. A `Generator` takes the next blocks; several may share
    one Philox.

    Parameters
    ----------
    seed : None, int, sequence of int, or SeedSequence, optional
        As for `default_rng`. Default: bits of the operating system.
    counter : int or sequence of int, optional
        The number of the first block, or its up to three words of 32 bits, the lowest first. Default: 0 in the stream of the seed.
    key : int or sequence of int, optional
        64 bits, or their two words, in place of a seed.

    Attributes
    ----------
    key : tuple of int
        The two words of the key.
    counter : tuple of int
        The four words of the counter of the next block.
    seed_seq : SeedSequence or None
        The seed, if it is a SeedSequence.
    lock : lock
        Is held while blocks are taken.

    Raises
    ------
    TypeError
        `seed`, `counter` or `key` is of another type.
    ValueError
        One of them is negative or too large, or both `seed` and `key` are given.

    See Also
    --------
    Generator, default_rng, philox

    Notes
    -----
    Ten rounds, as in Random123 [1]_. NumPy's Philox has words of 64 bits, and gives other numbers.

    References
    ----------
    .. [1] J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

    Examples
    --------
    >>> import pardo as pp
    >>> bits = pp.random.Philox(key=42)
    >>> bits.random_raw(4)
    array([2632642643, 2012563771,  314527917, 1463989207], dtype=uint32)
    >>> bits.counter
    (1, 0, 0, 0)
    >>> pp.random.Generator(bits).random(2)
    array([0.98771865, 0.51390615])
    """

    def __init__(self, seed: Any = None, counter: Any = None, key: Any = None) -> None:
        if seed is not None and key is not None:
            raise ValueError("Philox: seed and key cannot both be given; leave one of them away")
        # A handler of a signal may draw while it is held; blocks that change the state call nothing, so that none runs in their midst.
        self.lock = renewed_lock()
        self.seed_seq = seed if hasattr(seed, "generate_state") else None
        self._sequence: Any = None
        self._children = 0
        if key is None:
            first, second, stream = words_of_seed(seed)
        else:
            number = _number(key, 2, "key")
            first, second, stream = number % WORD, number // WORD, 0
        self._key = (first, second)
        self._place = stream * BLOCKS if counter is None else _number(counter, 3, "counter")

    @property
    def key(self) -> tuple[int, int]:
        """The key, as `pardo.random.philox` takes it."""
        return self._key

    @property
    def counter(self) -> tuple[int, int, int, int]:
        """The counter of the next block, as `pardo.random.philox` takes it."""
        place = self._place
        return (place % WORD, place // WORD % WORD, place // BLOCKS, 0)

    @property
    def _seed_seq(self) -> Any:
        """NumPy's older name of `seed_seq`, of which Dask spawns streams for chunks; of other seeds made of the key and the stream."""
        if self.seed_seq is not None:
            return self.seed_seq
        with self.lock:
            if self._sequence is None:
                self._sequence = np.random.SeedSequence([*self._key, self._place // BLOCKS])
            return self._sequence

    @property
    def state(self) -> dict[str, Any]:
        """The state as a dict, with arrays of NumPy for both words of the key and all four of the counter; it can be set."""
        return {
            "bit_generator": type(self).__name__,
            "state": {"counter": np.array(self.counter, np.uint32), "key": np.array(self.key, np.uint32)},
            "children": self._children,
        }

    @state.setter
    def state(self, value: Mapping[str, Any]) -> None:
        if not isinstance(value, Mapping):
            raise TypeError(f"Philox: state must be a dict, not {type(value).__name__}")
        name = type(self).__name__
        inner = value.get("state")
        if value.get("bit_generator") != name or not isinstance(inner, Mapping) or not {"counter", "key"} <= inner.keys():
            raise ValueError(f"Philox: state must be one of a {name}, with its name as 'bit_generator', and 'counter' and 'key' in 'state'")
        key, words = _number(inner["key"], 2, "key"), list(inner["counter"])
        if len(words) != 4 or words[3] != 0:
            raise ValueError(f"Philox: the counter of a state has four words, the last of which is 0, but is {words}")
        place = _number(words[:3], 3, "counter")
        children = read_index(value.get("children", 0), "Philox: children")
        with self.lock:
            self._key, self._place, self._children = (key % WORD, key // WORD), place, children

    def random_raw(self, size: Any = None, output: bool = True) -> Any:
        """Return randoms as generated by the underlying PRNG: words of 32 bits.

        Parameters
        ----------
        size : int or sequence of int, optional
            The shape. Default: one word, as a Python integer.
        output : bool
            False takes the blocks, and gives nothing.

        Returns
        -------
        Array of uint32, int or None
            The words of the next blocks, drawn on the default device. What is over of the last block is left.

        Raises
        ------
        TypeError
            `size` is neither an integer nor a sequence of integers.
        ValueError
            `size` has a negative extent.

        Examples
        --------
        >>> import pardo as pp
        >>> hex(pp.random.Philox(key=0).random_raw())
        '0x6627e8d5'
        """
        words = _empty_in(extents_of(size, "random_raw"), np.uint32, default_queue(), "device", "random_raw")
        blocks = -(-words.size // 4)
        first, stream = self._take(blocks)
        if not output:
            return None
        if blocks:
            kernels.random_fill[Range(blocks)](np.uint64(first), stream, self._key, kernels.words, words.reshape(-1))
        return words if size is not None else int(words)

    def advance(self, delta: int) -> Self:
        """Advance the underlying RNG as if `delta` blocks had been drawn.

        Parameters
        ----------
        delta : int
            How many; negative ones go back. After the last block of a stream comes the first of the next.

        Returns
        -------
        Philox
            Itself.

        Raises
        ------
        TypeError
            `delta` is not an integer.

        Examples
        --------
        >>> import pardo as pp
        >>> pp.random.Philox(key=1).advance(2**64 + 5).counter
        (5, 0, 1, 0)
        """
        count = integer(delta, "advance: delta")
        with self.lock:
            self._place = (self._place + count) % LENGTH
        return self

    def jumped(self, jumps: int = 1) -> Self:
        """Return a new bit generator with the state jumped: by 2**64 blocks each, to the same block of a later stream.

        Parameters
        ----------
        jumps : int, optional
            How many. Default: 1.

        Returns
        -------
        Philox
            A new one, with the same key.

        Raises
        ------
        TypeError
            `jumps` is not an integer.

        Examples
        --------
        >>> import pardo as pp
        >>> pp.random.Philox(key=1).jumped().counter
        (0, 0, 1, 0)
        """
        return self._copy().advance(integer(jumps, "jumped: jumps") * BLOCKS)

    def spawn(self, n_children: int) -> list[Self]:
        """Create new independent child bit generators.

        Parameters
        ----------
        n_children : int
            How many. Later calls go on counting, so no child is made twice.

        Returns
        -------
        list of Philox
            Their keys are 96 bits of BLAKE2b, of the seed's words and the child's number; or those of the children of `seed_seq`.

        Raises
        ------
        TypeError
            `n_children` is not an integer.
        ValueError
            `n_children` is negative.

        Examples
        --------
        >>> import pardo as pp
        >>> first, second = pp.random.Philox(7).spawn(2)
        >>> first.key == second.key
        False
        """
        count = read_index(n_children, "spawn: n_children")
        if count < 0:
            raise ValueError(f"spawn: n_children must not be negative, but is {count}")
        if self.seed_seq is not None:
            return [type(self)(child) for child in self.seed_seq.spawn(count)]
        with self.lock:
            first = self._children
            self._children += count
            words = (*self._key, self._place // BLOCKS)
        return [type(self)(digest((*words, first + i), b"spawn")) for i in range(count)]

    def __repr__(self) -> str:
        return f"Philox(key={self.key}, counter={self.counter})"

    def _copy(self) -> Self:
        made = type(self)(0)
        with self.lock:
            made._key, made._place, made._children, made.seed_seq = self._key, self._place, self._children, self.seed_seq
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._key, self._place, self._children, self.seed_seq)

    def _take(self, blocks: int) -> tuple[int, int]:
        """Takes blocks: the number of the first in its stream, and the stream."""
        with self.lock:
            place = self._place
            self._place = place - place % BLOCKS + (place + blocks) % BLOCKS
        return place % BLOCKS, place // BLOCKS


def _restored(kind: type[Philox], key: tuple[int, int], place: int, children: int, seed_seq: Any) -> Philox:
    made = kind(0)
    made._key, made._place, made._children, made.seed_seq = key, place, children, seed_seq
    return made


publish_module(globals(), "pardo.random")
