# python/pardo/_sharding/mpi_channel.py: how the processes of a communicator agree before each of their collective calls, and when one ends.
"""A collective call of MPI's ends when all processes have made it. So before each of them all say which call they make, and whether they
can: an error of one is raised by all. A process that ends says so too, and those that wait for it raise."""

from __future__ import annotations

import atexit
import functools
import os
import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI

T = TypeVar("T")
_ENDED = "end of the program"
_channels: list[Channel] = []


class Channel:
    """A communicator of pardo's own over the processes of a communicator; threads take turns, by `turn`."""

    comm: Any  # its Dup() is typed as any communicator
    number: int  # the same in all processes, and its own

    def __init__(self, comm: MPI.Intracomm) -> None:
        self.comm = comm.Dup()
        self.rank, self.size = int(comm.rank), int(comm.size)
        together = comm.Split_type(MPI.COMM_TYPE_SHARED)
        self.local_rank = int(together.rank)  # among the processes of the machine
        together.Free()
        self.number = int(self.comm.allreduce(1 + max((c.number for c in _channels), default=0), MPI.MAX))
        self.turn = threading.RLock()
        self.wires: dict[Any, Any] = {}  # communicators of NCCL among the same processes, by their GPUs
        self._calls = 0
        self.over: str | None = None  # why there are no more calls
        self._process = os.getpid()
        _channels.append(self)

    @property
    def is_own(self) -> bool:
        """Whether this is the process that made it, and no child of it."""
        return self._process == os.getpid()

    def agree(self, call: str, make: Callable[[], T], describe: Callable[[T], Any] = lambda made: None) -> tuple[T, list[Any]]:
        """What `make` gives, and what all processes have to say of theirs. If it fails in one of them, all raise: that one its own error,
        the others one of the same type that names the rank."""
        if not self.is_own:
            raise RuntimeError(f"{call}: a child of fork is none of the processes that MPI has started")
        if self.over:
            raise RuntimeError(f"{call}: {self.over}")
        with self.turn:
            return self._agree(call, make, describe)

    def _agree(self, call: str, make: Callable[[], T], describe: Callable[[T], Any]) -> tuple[T, list[Any]]:
        error: Exception | None = None
        said: Any = None
        made: list[T] = []
        try:
            made.append(make())
            said = describe(made[0])
        except Exception as caught:
            error = caught
        self._calls += 1
        message = pickle.dumps((self._calls, call, None if error is None else _told(error), said))
        everywhere = [pickle.loads(text) for text in self._all_say(message)]
        ended = [(rank, why) for rank, (_, what, why, _) in enumerate(everywhere) if what == _ENDED]
        if ended:
            rank, why = ended[0]
            self.over = f"rank {rank} has ended" + (f", by {why[1]}" if why else " before this call, which all ranks make or none")
            raise error or RuntimeError(f"{call}: {self.over}")
        calls = {(number, what) for number, what, _, _ in everywhere}
        if len(calls) > 1:
            self.over = "the ranks have made different calls: " + ", ".join(
                f"rank {r}: {what}" for r, (_, what, _, _) in enumerate(everywhere)
            )
            raise error or RuntimeError(f"{call}: {self.over}; all ranks make the same calls on arrays that they share, in the same order")
        if error:
            raise error
        for rank, (_, _, failed, _) in enumerate(everywhere):
            if failed:
                raise _again(rank, *failed)
        return made[0], [what for _, _, _, what in everywhere]

    def _all_say(self, message: bytes) -> list[bytes]:
        """The messages of all processes."""
        lengths, request = self.announce(message)
        request.Wait()
        return self.texts(message, lengths)

    def announce(self, message: bytes) -> tuple[Any, MPI.Request]:
        """Say how long the message is, and hear it of all; when the request is complete, `texts` is to be called."""
        lengths = np.empty(self.size, np.int64)
        return lengths, self.comm.Iallgather(np.array([len(message)], np.int64), lengths)

    def texts(self, message: bytes, lengths: Any) -> list[bytes]:
        ends = np.cumsum(lengths)
        text = bytearray(int(ends[-1]))
        self.comm.Allgatherv([message, MPI.BYTE], [text, (lengths.tolist(), (ends - lengths).tolist()), MPI.BYTE])
        return [bytes(text[end - length : end]) for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)]

    def last_message(self) -> bytes:
        """What the others hear when this process ends."""
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        return pickle.dumps((0, _ENDED, _told(error) if isinstance(error, Exception) else None, None))


def channel_of(comm: MPI.Intracomm) -> Channel:
    """The channel of a communicator, which keeps it; a collective call where there is none yet."""
    channel: Any = comm.Get_attr(_kept())
    if channel is None:
        channel = Channel(comm)
        comm.Set_attr(_kept(), channel)
    return channel  # type: ignore[no-any-return]


@functools.cache
def _kept() -> int:
    return int(MPI.Comm.Create_keyval())


@atexit.register
def _end() -> None:
    """Tell those that wait. The channels are served in the order in which the others come to them."""
    if MPI.Is_finalized():
        return
    open_ = [channel for channel in _channels if not channel.over and channel.is_own]
    said = [channel.last_message() for channel in open_]
    announced = [channel.announce(message) for channel, message in zip(open_, said, strict=True)]
    requests = [request for _, request in announced]
    for _ in requests:
        i = MPI.Request.Waitany(requests)
        open_[i].texts(said[i], announced[i][0])


def _told(error: Exception) -> tuple[bytes | None, str]:
    """The type of an error, if others can read it, and its text."""
    kind = type(error)
    try:
        return pickle.dumps(kind), f"{kind.__name__}: {error}"
    except Exception:
        return None, f"{kind.__name__}: {error}"


def _again(rank: int, kind: bytes | None, text: str) -> Exception:
    """The error of another process."""
    try:
        made = pickle.loads(kind)(f"rank {rank}: {text.partition(': ')[2]}")  # type: ignore[arg-type]
        if isinstance(made, Exception):
            return made
    except Exception:
        pass  # a type of other arguments, or one that is not known here
    return RuntimeError(f"rank {rank}: {text}")
