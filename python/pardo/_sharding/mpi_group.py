# python/pardo/_sharding/mpi_group.py: parts in several processes: what goes between them, by MPI.
from __future__ import annotations

import contextlib
import ctypes
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from pardo import _core
from pardo._array.interop import _host_queue as host_queue
from pardo._array.interop import host_view, writable_buffers
from pardo._core import Array, Device, DeviceError, Queue, _empty, _empty_in
from pardo._sharding import nccl
from pardo._sharding.failures import name_part
from pardo._sharding.group import FEW, Combine, Described, Group, LocalGroup, Pair, T, facts_of
from pardo._sharding.mpi_channel import Channel

Tuples = Mapping[int, tuple[Array, ...]]
PIECE = 1 << 30  # bytes of a message: MPI before version 4 counts them in int
_BYTE = np.dtype("u1")
_CUDA = 2  # of DLPack


class Place(tuple[int, str, int]):
    """Where a part is: the rank of its process, the id of its device there, and the number of the communicator."""

    __slots__ = ()

    @property
    def rank(self) -> int:
        return self[0]

    @property
    def id(self) -> str:
        return self[1]

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        return f"{self.id} of rank {self.rank}"


class MpiGroup(Group):
    """The parts of the processes of a communicator, in the order of the ranks. Making one is a collective call, as are its methods.

    Parameters
    ----------
    channel : Channel
        That of the communicator.
    queues, weights : callable
        Give the queues of the parts of this process, at least one, and the weights of all parts or None.
    op_name : str
        What errors begin with.
    """

    def __init__(
        self, channel: Channel, queues: Callable[[], Sequence[Queue]], weights: Callable[[], tuple[float, ...] | None], op_name: str
    ) -> None:
        self.channel = channel
        (self._local, self.weights), everywhere = channel.agree(
            op_name,
            lambda: (LocalGroup(queues()), weights()),
            lambda made: ([(str(k.id), facts_of(k)) for k in made[0].keys], made[1], nccl.gpu_of(made[0].queues)),
        )
        self.keys = tuple(Place((rank, name, channel.number)) for rank, (names, *_) in enumerate(everywhere) for name, _ in names)
        self._alike = len({facts for names, *_ in everywhere for _, facts in names}) == 1
        self.size = len(self.keys)
        self.owned = tuple(p for p, place in enumerate(self.keys) if place.rank == channel.rank)
        if any(given != self.weights for _, given, _ in everywhere):
            raise ValueError(f"{op_name}: all ranks give the same weights, not {[given for _, given, _ in everywhere]}")
        if self.weights is not None and len(self.weights) != self.size:
            raise ValueError(f"{op_name}: weights has {len(self.weights)} numbers for {self.size} parts")
        self._wires = self._wired([gpu for _, _, gpu in everywhere], op_name)

    def _wired(self, gpus: Sequence[str | None], op_name: str) -> nccl.Wires | None:
        """NCCL's communicator, if each process has one part, on a GPU of its own; all processes of a channel have one for the same GPUs."""
        if len(gpus) == 1 or None in gpus or len(set(gpus)) < len(gpus):
            return None
        known, (queue,) = self.channel.wires, self._local.queues
        key = (*gpus, queue)
        if any(self.all_gather(dict.fromkeys(self.owned, key not in known))):
            _, (unique_id, *_) = self.channel.agree(op_name, lambda: nccl.new_id() if self.channel.rank == 0 else None, lambda made: made)
            known[key], _ = self.channel.agree(op_name, lambda: nccl.Wires(queue, len(gpus), self.channel.rank, unique_id))
        made: nccl.Wires = known[key]
        return made

    def _by_wires(self, described: Described) -> bool:
        """Whether NCCL carries an array of this shape and dtype: both ends say the same."""
        return self._wires is not None and math.prod(described[0]) * np.dtype(described[1]).itemsize >= nccl.LEAST

    @property
    def comm(self) -> Any:
        """The communicator of these messages, which no other library uses."""
        return self.channel.comm

    def queue(self, part: int) -> Queue:
        return self._local.queue(part - self.owned[0])

    def device(self, part: int) -> Device:
        return self._local.device(part - self.owned[0])

    def name(self, part: int) -> str:
        return str(self.keys[part])

    def rank(self, part: int) -> int:
        """The rank of the process that owns a part."""
        return int(self.keys[part].rank)

    # --- collective calls -----------------------------------------------------------------------------------------------------------

    def exchange(self, pieces: Mapping[Pair, Array], shapes: Mapping[Pair, Described]) -> dict[Pair, Array]:
        me = self.channel.rank
        going = sorted(pair for pair in pieces if self.rank(pair[1]) != me)
        coming = sorted(pair for pair in shapes if self.rank(pair[1]) == me and self.rank(pair[0]) != me)
        with self.channel.turn, contextlib.ExitStack() as stack:

            def make() -> tuple[list[Leaving], list[Arriving]]:
                leaving = [self._leaving(pieces[pair], pair[0]) for pair in going]
                return leaving, [self._arriving(shapes[pair], self.queue(pair[1]), stack) for pair in coming]

            (leaving, arriving), everywhere = self.channel.agree(
                "exchange",
                make,
                lambda made: (
                    {pair: x.nbytes for pair, x in zip(going, made[0], strict=True)},
                    {pair: x.nbytes for pair, x in zip(coming, made[1], strict=True)},
                ),
            )
            sent = {pair: size for sizes, _ in everywhere for pair, size in sizes.items()}
            expected = {pair: size for _, sizes in everywhere for pair, size in sizes.items()}
            if sent != expected:
                raise RuntimeError(f"exchange: the ranks send {sent} bytes, and expect {expected}")
            requests: list[MPI.Request] = []
            for pair, to in zip(coming, arriving, strict=True):
                requests += [self.comm.Irecv(piece, source=self.rank(pair[0])) for piece in to.pieces]
            for pair, of in zip(going, leaving, strict=True):
                requests += [self.comm.Isend(piece, dest=self.rank(pair[1])) for piece in of.pieces]
            self._move(
                [(of.direct, self.rank(pair[1])) for pair, of in zip(going, leaving, strict=True)],
                [(to.direct, self.rank(pair[0])) for pair, to in zip(coming, arriving, strict=True)],
            )
            MPI.Request.Waitall(requests)
        staying = {pair: self._on(x, pair[1]) for pair, x in pieces.items() if self.rank(pair[1]) == me}
        return staying | {pair: x.taken() for pair, x in zip(coming, arriving, strict=True)}

    def together(self, name: str, make: Callable[[], T]) -> T:
        return self.channel.agree(name, make)[0]

    def all_gather(self, values: Mapping[int, Any]) -> list[Any]:
        with self.channel.turn:
            _, everywhere = self.channel.agree("all_gather", lambda: [values[p] for p in self.owned], lambda made: made)
        return [value for of_rank in everywhere for value in of_rank]

    def all_gather_arrays(self, parts: Mapping[int, Array]) -> dict[int, list[Array]]:
        found = self._gathered("all_gather_arrays", {p: (x,) for p, x in parts.items()}, self.queue(self.owned[0]))
        return {p: [self._on(found[q][0], p) for q in range(self.size)] for p in self.owned}

    def gather(self, parts: Mapping[int, Array], queue: Queue) -> list[Array] | None:
        found = self._gathered("gather", {p: (x,) for p, x in parts.items()}, queue, wires=False)  # the host may have room for all of it
        return [x if x.queue == queue else x._to_queue(queue) for (x,) in (found[p] for p in range(self.size))]

    def all_reduce(self, parts: Mapping[int, Array], combine: Combine) -> dict[int, Array]:
        total = self.fold({p: (x,) for p, x in parts.items()}, lambda a, b: (combine(a[0], b[0]),), range(self.size))
        return {p: x for p, (x,) in total.items()}

    def fold(self, parts: Tuples, combine: Callable[[Any, Any], Any], among: Sequence[int]) -> dict[int, tuple[Array, ...]]:
        """The process of the first of `among` combines them, in their order: all have the same bits, also where devices differ. A few that
        are alike each do so: what comes from others comes once."""
        if self.size <= FEW and self.alike:
            with self.channel.turn:
                found = self._gathered("all_reduce", {p: parts[p] for p in among if p in parts}, self.queue(self.owned[0]))
                total, _ = self.channel.agree("all_reduce", lambda: self._combined(found, combine, among, self.owned[0]))
            return {p: tuple(self._on(x, p) for x in total) for p in self.owned}
        root = among[0]
        with self.channel.turn:
            given = {p: parts[p] for p in among if p in parts}
            queue = self.queue(root) if root in self.owned else self.queue(self.owned[0])
            found = self._gathered("all_reduce", given, queue, self.rank(root))

            def combined() -> Tuples:
                return {root: self._combined(found, combine, among, root)} if root in self.owned else {}

            total = self._gathered("all_reduce", combined, self.queue(self.owned[0]))[root]
        return {p: tuple(self._on(x, p) for x in total) for p in self.owned}

    def broadcast(self, value: Array | None, root: int, described: Described) -> dict[int, Array]:
        (x,) = self._gathered("broadcast", {} if value is None else {root: (value,)}, self.queue(self.owned[0]))[root]
        return {p: self._on(x, p) for p in self.owned}

    # --- how they are made ----------------------------------------------------------------------------------------------------------

    def _gathered(
        self, call: str, values: Tuples | Callable[[], Tuples], queue: Queue, to: int | None = None, wires: bool = True
    ) -> Tuples:
        """Arrays of parts, those of other processes on a queue of this one: in the process of rank `to`, or in all. `wires`: that queue is
        one of a part, for which NCCL may carry them."""
        own: Tuples = {}

        def leave() -> dict[int, list[Leaving]]:
            nonlocal own
            own = values() if callable(values) else values
            return {p: [self._leaving(x, p, wires) for x in xs] for p, xs in own.items()}

        with self.channel.turn, contextlib.ExitStack() as stack:
            leaving, everywhere = self.channel.agree(
                call, leave, lambda made: {p: [(x.shape, x.dtype, x._is_scalar_value()) for x in own[p]] for p in made}
            )
            described = {p: xs for of_rank in everywhere for p, xs in sorted(of_rank.items())}
            takes = to in (None, self.channel.rank)
            far = {p: xs for p, xs in described.items() if p not in own and takes}
            arriving, _ = self.channel.agree(
                call, lambda: {p: [self._arriving(x[:2], queue, stack, x[2], wires) for x in xs] for p, xs in far.items()}
            )
            requests = []
            for p in described:
                held: list[Any] = [*leaving.get(p, []), *arriving.get(p, [])]
                for piece in [piece for x in held for piece in x.pieces]:
                    if to is None:
                        requests.append(self.comm.Ibcast(piece, root=self.rank(p)))
                    elif p in arriving:
                        requests.append(self.comm.Irecv(piece, source=self.rank(p)))
                    elif to != self.channel.rank:
                        requests.append(self.comm.Isend(piece, dest=to))
            others = [r for r in range(self.channel.size) if r != self.channel.rank] if to is None else [to]
            self._move(
                [(x.direct, r) for p in sorted(leaving) if to != self.channel.rank for x in leaving[p] for r in others],
                [(x.direct, self.rank(p)) for p in sorted(arriving) for x in arriving[p]],
            )
            MPI.Request.Waitall(requests)
        return {**own, **{p: tuple(x.taken() for x in xs) for p, xs in arriving.items()}}

    def _move(self, sends: Sequence[tuple[Array | None, int]], receives: Sequence[tuple[Array | None, int]]) -> None:
        """What goes by NCCL."""
        if self._wires is not None:
            self._wires.move([(x, r) for x, r in sends if x is not None], [(x, r) for x, r in receives if x is not None])

    def _arriving(
        self, described: Described, queue: Queue, stack: contextlib.ExitStack, value: bool = False, wires: bool = True
    ) -> Arriving:
        return Arriving(described, queue, stack, value, wires and self._by_wires(described))

    def _leaving(self, x: Array, part: int, wires: bool = True) -> Leaving:
        try:
            return Leaving(x, wires and self._by_wires((x.shape, x.dtype)))
        except Exception as error:
            name_part(error, self, part, x)
            raise


class Leaving:
    """The bytes of an array, which is computed: for MPI to read, or `direct`, by NCCL."""

    def __init__(self, x: Array, direct: bool) -> None:
        x = x if x._is_contiguous() else x._copy()
        self.direct = x if direct else None
        if x.nbytes and not direct and not _reached(x):
            pinned = _pinned(x)
            x.queue._copy(pinned, x, [])
            x = pinned
        x.wait()
        self.nbytes = x.nbytes
        self.pieces = [] if direct else _pieces(x)


class Arriving:
    """Memory that MPI is to write, or `direct`, NCCL; `taken` gives the array of it when that is done."""

    def __init__(self, described: Described, queue: Queue, stack: contextlib.ExitStack, value: bool, direct: bool) -> None:
        shape, dtype = described
        self._is_value = value  # a result without dimensions, which no assignment changes
        self.direct: Array | None = None
        self.pieces: list[Any] = []
        if direct:
            self._array = self._written = self.direct = _core._full(list(shape), 0, dtype, queue)
            self.nbytes = self._array.nbytes
            self._array.wait()  # its memory is no other's any more
            return
        self._array = self._written = _empty(list(shape), dtype, queue)
        self.nbytes = self._array.nbytes
        if self.nbytes and not _reached(self._array):
            self._written = _pinned(self._array)
        if self.nbytes and _core._is_on_host(self._written):
            stack.enter_context(writable_buffers(self._written))
        self.pieces = _pieces(self._written)

    def taken(self) -> Array:
        if self._written is not self._array:
            self._array.queue._copy(self._array, self._written, [])
        return _core._reshape(self._array, [1])[0] if self._is_value else self._array


def _reached(x: Array) -> bool:
    """Whether MPI reads and writes the memory where it is."""
    return _core._is_on_host(x) or (takes_memory_of_cuda() and x.__dlpack_device__()[0] == _CUDA)


def _pinned(x: Array) -> Array:
    """Memory for as much that the host sees too: pinned, where the device has such."""
    for kind in ("host", "shared"):
        try:
            made = _empty_in(list(x.shape), x.dtype, x.queue, kind, "shard")
        except (ValueError, DeviceError):
            continue
        if _core._is_on_host(made):
            return made
    return _empty(list(x.shape), x.dtype, host_queue())


def _pieces(x: Array) -> list[Any]:
    """The bytes of an array as MPI takes them."""
    if not x.nbytes:
        return []
    host = host_view(x) if _core._is_on_host(x) else None
    flat = _core._reshape(x, [-1])._view_as(_BYTE) if host is None else host.reshape(-1).view(_BYTE)
    return [[flat[i : i + PIECE], MPI.BYTE] for i in range(0, x.nbytes, PIECE)]


@functools.cache
def takes_memory_of_cuda() -> bool:
    """Whether MPI says that it reads memory of CUDA: Open MPI and MPICH have a function for that."""
    try:
        return bool(ctypes.CDLL(MPI.__file__).MPIX_Query_cuda_support())
    except (AttributeError, OSError):
        return False
