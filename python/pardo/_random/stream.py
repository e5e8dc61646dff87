# python/pardo/_random/stream.py: what a random.Generator is made of: blocks of its Philox, and the launches that fill arrays from them.
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from pardo._array.contexts import public
from pardo._base.arguments import DeviceLike, default_on, queue_of
from pardo._core import Array, Queue, _empty_in
from pardo._language.index_space import NdRange, Range
from pardo._random import kernels
from pardo._random.arguments import Parameters, extents_of, floating
from pardo._random.philox import Philox

GROUP = 128  # items, on a GPU


class Stream:
    """A place in a stream of blocks; it moves on with each draw, from whatever thread."""

    def __init__(self, seed: Any = None) -> None:
        self._bits = seed if isinstance(seed, Philox) else Philox(seed)

    @property
    def bit_generator(self) -> Philox:
        """Where the blocks come from; generators that share one take turns."""
        return self._bits

    @property
    def key(self) -> tuple[int, int]:
        """The key, as `pardo.random.philox` takes it."""
        return self._bits.key

    @property
    def counter(self) -> tuple[int, int, int, int]:
        """The counter of the next block, as `pardo.random.philox` takes it."""
        return self._bits.counter

    def __repr__(self) -> str:
        return f"{type(self).__name__}(key={self.key}, counter={self.counter})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._bits,)

    def __copy__(self) -> Self:
        return type(self)(self._bits._copy())

    def __getattr__(self, name: str) -> Any:
        there = ", ".join(sorted(n for n in dir(type(self)) if not n.startswith("_")))
        raise AttributeError(f"a random.{type(self).__name__} has no {name!r}; it has {there}", name=name, obj=self)

    def _launch(self, kernel: Any, out: Array, of_block: int, *arguments: Any, across: Any = None) -> Array:
        """Fills an array by a kernel whose items write so many elements each; `across` is one over groups that does the same on a GPU."""
        if out.size:
            direct = out._is_contiguous()
            flat = out.reshape(-1) if direct else _empty_in([out.size], out.dtype, out.queue, "device", "random")
            blocks = -(-out.size // of_block)
            first, stream = self._bits._take(blocks)
            if across is not None and out.queue.device.type == "gpu":
                launched = across[NdRange(-(-blocks // GROUP) * GROUP, GROUP)]
            else:
                launched = kernel[Range(blocks)]
            launched(np.uint64(first), stream, self.key, *arguments, flat)
            if not direct:
                out._assign(flat.reshape(out.shape))
        return out

    def _fill(self, draw: Callable[..., Any], out: Array) -> Array:
        """Fills an array with what a function makes of a block of 16 bytes."""
        return self._launch(kernels.random_fill, out, 16 // out.dtype.itemsize, draw)

    def _each(self, draw: Callable[..., Any], given: Parameters, out: Array, dtype: np.dtype[Any] | None = None) -> Array:
        """Fills an array with elements that have a block each; integers are computed in the dtype."""
        like = out.dtype if dtype is None else dtype
        return given.watch(self._launch(kernels.random_each, out, 1, draw, like.type(0), given.typed(like)))

    def _continuous(self, draw: Callable[..., Any], given: Parameters, dtype: DTypeLike | None, out: Array | None = None) -> Array:
        """Draws of floats."""
        return self._each(draw, given, given.empty(floating(dtype, given.queue, given.op_name)) if out is None else out)

    def _counts(self, draw: Callable[..., Any], given: Parameters) -> Array:
        """Draws of integers."""
        return given.placed(self._each(draw, given, given.empty(np.dtype(np.int64)), default_on(given.queue, np.float64)))

    def _rows(self, kernel: Any, op_name: str, target: Queue, shape: tuple[int, ...], *arguments: Any) -> Array:
        """Fills an array of int64 by a kernel whose items write its rows, with a block for each element."""
        out = _empty_in(list(shape), np.int64, target, "device", op_name)
        if out.size:
            rows = out.size // shape[-1]
            first, stream = self._bits._take(out.size)
            like = default_on(target, np.float64).type(0)
            kernel[Range(rows)](np.uint64(first), stream, self.key, like, *arguments, out.reshape(rows, shape[-1]))
        return out

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
        return self._fill(draw, self._checked(op_name, out, size, dtype, device, queue, usm_type))

    @staticmethod
    def _checked(
        op_name: str,
        out: Any,
        size: Any,
        dtype: DTypeLike | None,
        device: DeviceLike,
        queue: Queue | None,
        usm_type: str | None,
    ) -> Array:
        """The array that floats are to be stored in, which the other arguments describe as it is."""
        if type(out) is not Array:
            raise TypeError(f"{op_name}: out must be a pardo.Array, not {type(out).__name__}")
        wanted = floating(dtype, out.queue, op_name)
        if out.dtype != wanted:
            raise TypeError(f"{op_name}: out has dtype {out.dtype}, but {wanted} is drawn; say dtype={out.dtype.name!r}, if that is meant")
        if size is not None and tuple(extents_of(size, op_name)) != out.shape:
            raise ValueError(f"{op_name}: size is {size}, but out has shape {out.shape}; leave one of them away")
        if queue_of(device, queue, out.queue, op_name) != out.queue or usm_type not in (None, out.usm_type):
            raise ValueError(f"{op_name}: out is '{out.usm_type}' memory on {out.queue!r}; leave device, queue and usm_type away")
        return out


def _restored(kind: type[Stream], words: tuple[int, int, int], block: int, children: int) -> Stream:
    """What pickles of earlier versions call."""
    made = kind(Philox(key=words[:2], counter=(block % 2**32, block // 2**32, words[2])))
    made._bits._children = children
    return made
