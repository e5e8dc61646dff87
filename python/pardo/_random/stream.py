# python/pardo/_random/stream.py: what a random.Generator is made of: seeds, the counter of its blocks, and how its arguments are read.
from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from pardo._base.arguments import DeviceLike, queue_of
from pardo._base.arguments import index as read_index
from pardo._core import Array, Queue, _empty_in
from pardo._language.index_space import Range
from pardo._random import kernels
from pardo._random.arguments import extents_of, floating, public

WORD = 2**32
BLOCKS = 2**64  # of a stream; after the last comes the first


def digest(numbers: Iterable[int], purpose: bytes = b"") -> int:
    """96 bits: BLAKE2b of the numbers in hexadecimal, with commas between."""
    import hashlib  # not needed by programs that draw nothing

    text = ",".join(format(n, "x") for n in numbers)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=12, person=purpose).digest(), "little")


def _integer(seed: Any) -> int:
    try:
        n = operator.index(seed)
    except TypeError:
        raise TypeError(f"default_rng: seed must be None, an integer, a sequence of integers or a Generator, not {seed!r}") from None
    if n < 0:
        raise ValueError(f"default_rng: seed must not be negative, but is {n}; take its absolute value")
    return n


def words_of_seed(seed: Any) -> tuple[int, int, int]:
    """Both words of the key, and the third of the counter."""
    if seed is None:
        import secrets

        n = secrets.randbits(96)
    elif isinstance(seed, Iterable) and not isinstance(seed, (str, bytes)) and getattr(seed, "ndim", 1) != 0:
        numbers = [_integer(item) for item in seed]
        n = numbers[0] if len(numbers) == 1 else digest(numbers)
    else:
        n = _integer(seed)
    if n >= WORD**3:
        n = digest([n])
    return n % WORD, n // WORD % WORD, n // WORD**2


class Stream:
    """A place in a stream of blocks; it moves on with each draw, from whatever thread."""

    def __init__(self, seed: Any = None) -> None:
        self._words = words_of_seed(seed)
        self._block = 0
        self._children = 0
        self._lock = threading.Lock()

    @property
    def key(self) -> tuple[int, int]:
        """The key, as `pardo.random.philox` takes it."""
        return self._words[:2]

    @property
    def counter(self) -> tuple[int, int, int, int]:
        """The counter of the next block, as `pardo.random.philox` takes it."""
        block = self._block
        return (block % WORD, block // WORD, self._words[2], 0)

    def spawn(self, n_children: int) -> list[Self]:
        """Create new independent child generators.

        Parameters
        ----------
        n_children : int
            How many. Later calls go on counting, so no child is made twice.

        Returns
        -------
        list of Generator
            Their keys are 96 bits of BLAKE2b, of this stream's words and the child's number. Nothing is drawn from this one.

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
        count = read_index(n_children, "spawn: n_children")
        if count < 0:
            raise ValueError(f"spawn: n_children must not be negative, but is {count}")
        with self._lock:
            first = self._children
            self._children += count
        return [type(self)(digest((*self._words, first + i), b"spawn")) for i in range(count)]

    def __repr__(self) -> str:
        return f"Generator(key={self.key}, counter={self.counter})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._words, self._block, self._children)

    def __getattr__(self, name: str) -> Any:
        there = ", ".join(sorted(n for n in dir(type(self)) if not n.startswith("_")))
        raise AttributeError(f"a random.Generator has no {name!r}; it has {there}", name=name, obj=self)

    def _advance(self, blocks: int) -> int:
        """Takes blocks: the number of the first."""
        with self._lock:
            first = self._block
            self._block = (first + blocks) % BLOCKS
        return first

    def _launch(self, kernel: Any, out: Array, of_block: int, *arguments: Any) -> Array:
        """Fills an array by a kernel whose items write so many elements each."""
        if out.size:
            direct = out._is_contiguous()
            flat = out.reshape(-1) if direct else _empty_in([out.size], out.dtype, out.queue, "device", "random")
            blocks = -(-out.size // of_block)
            first = np.uint64(self._advance(blocks))
            kernel[Range(blocks)](first, self._words[2], self.key, *arguments, flat)
            if not direct:
                out._assign(flat.reshape(out.shape))
        return out

    def _fill(self, draw: Callable[..., Any], out: Array) -> Array:
        """Fills an array with what a function makes of a block of 16 bytes."""
        return self._launch(kernels.random_fill, out, 16 // out.dtype.itemsize, draw)

    @public
    def _standard(
        self,
        op_name: str,
        draw: Callable[..., Any],
        size: Any,
        dtype: DTypeLike | None,
        device: DeviceLike,
        queue: Queue | None,
        usm_type: str | None,
        out: Array | None,
    ) -> Array:
        """Draws of a standard distribution, in `out` or in a new array."""
        if out is None:
            target = queue_of(device, queue, None, op_name)
            kind = "device" if usm_type is None else usm_type
            return self._fill(draw, _empty_in(extents_of(size, op_name), floating(dtype, target, op_name), target, kind, op_name))
        if type(out) is not Array:
            raise TypeError(f"{op_name}: out must be a pardo.Array, not {type(out).__name__}")
        wanted = floating(dtype, out.queue, op_name)
        if out.dtype != wanted:
            raise TypeError(f"{op_name}: out has dtype {out.dtype}, but {wanted} is drawn; say dtype={out.dtype.name!r}, if that is meant")
        if size is not None and tuple(extents_of(size, op_name)) != out.shape:
            raise ValueError(f"{op_name}: size is {size}, but out has shape {out.shape}; leave one of them away")
        if queue_of(device, queue, out.queue, op_name) != out.queue or usm_type not in (None, out.usm_type):
            raise ValueError(f"{op_name}: out is '{out.usm_type}' memory on {out.queue!r}; leave device, queue and usm_type away")
        return self._fill(draw, out)


def _restored(kind: type[Stream], words: tuple[int, int, int], block: int, children: int) -> Stream:
    made = kind(0)
    made._words, made._block, made._children = words, block, children
    return made
