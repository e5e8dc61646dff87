# tests/python/test_sharded_processes.py: algorithms on split arrays where no process has all parts: two threads that have one part each.
from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pardo as pp
import pytest
from pardo._core import Array
from pardo._sharding import sorting, transforms
from pardo._sharding.array import sharded
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout, balanced_bounds

pytestmark = pytest.mark.once
SIZE = 3


class Board:
    """Where threads put what the others are to see."""

    def __init__(self) -> None:
        self.barrier = threading.Barrier(SIZE, timeout=60)
        self.slots: dict[int, Any] = {}

    def all(self, rank: int, value: Any) -> list[Any]:
        self.slots[rank] = value
        self.barrier.wait()
        found = [self.slots[r] for r in range(SIZE)]
        self.barrier.wait()
        return found


class OfThread(Group):
    """The group as one thread sees it, which has one part. What others say of what they send is checked."""

    def __init__(self, rank: int, board: Board) -> None:
        self.rank, self.board = rank, board
        self.size, self.owned, self.weights = SIZE, (rank,), None
        self.keys = tuple(f"place {p}" for p in range(SIZE))
        self.own = pp.Queue("cpu")

    def queue(self, part: int) -> pp.Queue:
        assert part == self.rank, "of a part that is not owned"
        return self.own

    def device(self, part: int) -> Any:
        return pp.zeros(0, queue=self.queue(part)).device

    def name(self, part: int) -> str:
        return f"place {part}"

    def here(self, x: Array) -> Array:
        return x if x.queue == self.own else x._to_queue(self.own)

    def exchange(self, pieces: Mapping[Any, Array], shapes: Mapping[Any, Any]) -> dict[Any, Array]:
        assert all(p == self.rank for p, _ in pieces)
        for x in pieces.values():
            x.wait()
        sent = {pair: x for found in self.board.all(self.rank, dict(pieces)) for pair, x in found.items() if pair[1] == self.rank}
        expected = {pair: said for pair, said in shapes.items() if pair[1] == self.rank}
        assert {pair: (x.shape, x.dtype) for pair, x in sent.items()} == {
            pair: (tuple(s), np.dtype(d)) for pair, (s, d) in expected.items()
        }
        return {pair: self.here(x) for pair, x in sent.items()}

    def all_gather(self, values: Mapping[int, Any]) -> list[Any]:
        assert set(values) == {self.rank}
        return self.board.all(self.rank, values[self.rank])

    def all_gather_arrays(self, parts: Mapping[int, Array]) -> dict[int, list[Array]]:
        return {self.rank: [self.here(x) for x in self.board.all(self.rank, parts[self.rank].wait())]}

    def all_reduce(self, parts: Mapping[int, Array], combine: Any) -> dict[int, Array]:
        first, *others = self.all_gather_arrays(parts)[self.rank]
        for x in others:
            first = combine(first, x)
        return {self.rank: first}

    def broadcast(self, value: Array | None, root: int, described: Any) -> dict[int, Array]:
        assert (value is not None) == (root == self.rank)
        found = self.board.all(self.rank, None if value is None else value.wait())[root]
        assert (found.shape, found.dtype) == (tuple(described[0]), np.dtype(described[1]))
        return {self.rank: self.here(found)}


def split(x: np.ndarray[Any, Any], group: Group, axis: int) -> pp.ShardedArray:
    bounds = balanced_bounds(x.shape[axis], [1] * SIZE)
    layout = Layout(x.shape, axis, bounds, group.keys)
    p = group.owned[0]
    where = (*(slice(None),) * axis, slice(bounds[p], bounds[p + 1]))
    return sharded(group, layout, {p: pp.asarray(np.ascontiguousarray(x[where]), queue=group.queue(p))})


def in_threads(program: Callable[[Callable[..., pp.ShardedArray]], Any]) -> np.ndarray[Any, Any]:
    """The result of a program that each thread runs on its parts."""
    board, results, errors = Board(), dict[int, Any](), list[BaseException]()

    def run(rank: int) -> None:
        try:
            group = OfThread(rank, board)
            made = program(lambda x, axis=0: split(x, group, axis))
            results[rank] = made.layout, pp.asnumpy(made.shards[0])
        except BaseException as error:  # the others wait for this one
            errors.append(error)
            board.barrier.abort()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(SIZE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [error for error in errors if not isinstance(error, threading.BrokenBarrierError)]
    if told:
        raise told[0]
    layout, first = results[0]
    assert all(found == layout for found, _ in results.values())
    if layout.axis is None:
        assert all(part.tobytes() == first.tobytes() for _, part in results.values())
        return first
    return np.concatenate([results[rank][1] for rank in range(SIZE)], axis=layout.axis)


X = np.random.default_rng(5).integers(0, 9, (7, 4)).astype("float64")
ROW = np.random.default_rng(6).integers(0, 30, 50).astype("float64")
PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "rows by rows": (lambda s: s(X) @ s(X.T.copy()), X @ X.T),
    "rows by columns": (lambda s: s(X) @ s(X.T.copy(), 1), X @ X.T),
    "gram": (lambda s: s(X.T.copy(), 1) @ s(X), X.T @ X),
    "einsum": (lambda s: pp.einsum("ij,kj->ik", s(X), s(X, 1)), X @ X.T),
    "sort": (lambda s: pp.sort(s(ROW)), np.sort(ROW)),
    "argsort": (lambda s: pp.argsort(s(ROW)), np.argsort(ROW, stable=True)),
    "sort rows": (lambda s: pp.sort(s(X), axis=0), np.sort(X, axis=0)),
    "unique": (lambda s: pp.unique(s(ROW), return_counts=True)[1], np.unique(ROW, return_counts=True)[1]),
    "inverse": (lambda s: pp.unique_inverse(s(ROW)).inverse_indices, np.unique(ROW, return_inverse=True)[1]),
    "searchsorted": (lambda s: pp.searchsorted(s(np.sort(ROW)), np.arange(5.0)), np.searchsorted(np.sort(ROW), np.arange(5.0))),
    "median": (lambda s: pp.median(s(ROW)), np.median(ROW)),
    "top_k": (lambda s: pp.top_k(s(ROW), 4).values, np.sort(ROW)[::-1][:4]),
    "cumsum": (lambda s: pp.cumsum(s(X), axis=0), np.cumsum(X, axis=0)),
    "reduce": (lambda s: pp.maximum.reduce(s(X)), np.maximum.reduce(X)),
    "take": (lambda s: pp.take(s(X), [6, 0, -2, 3], axis=0), X[[6, 0, -2, 3]]),
    "take split": (lambda s: pp.take(s(ROW), pp.argsort(s(ROW))), np.sort(ROW)),
    "take_along_axis": (lambda s: pp.take_along_axis(s(X), pp.argsort(s(X), axis=0), axis=0), np.sort(X, axis=0)),
    "mask": (lambda s: s(X)[s(X) > 3], X[X > 3]),
    "nonzero": (lambda s: pp.nonzero(s(X))[1], np.nonzero(X)[1]),
    "bincount": (lambda s: pp.bincount(s(ROW.astype(int))), np.bincount(ROW.astype(int))),
    "histogram": (lambda s: pp.histogram(s(ROW), 5)[0], np.histogram(ROW, 5)[0]),
    "fft": (lambda s: pp.fft.fft(s(X), axis=0), np.fft.fft(X, axis=0)),
    "fft of a row": (lambda s: pp.fft.fft(s(ROW)), np.fft.fft(ROW)),
    "fft of a prime": (lambda s: pp.fft.rfft(s(ROW[:47].copy())), np.fft.rfft(ROW[:47])),
    "qr": (lambda s: (lambda f: f.Q @ f.R)(pp.linalg.qr(s(X))), X),
    "svdvals": (lambda s: pp.linalg.svdvals(s(X)), np.linalg.svd(X, compute_uv=False)),
    "pinv": (lambda s: pp.linalg.pinv(s(X)), np.linalg.pinv(X)),
    "lstsq": (lambda s: pp.linalg.lstsq(s(X), s(X[:, 0].copy()))[0], np.asarray([1.0, 0, 0, 0])),
    "norm": (lambda s: pp.linalg.norm(s(X)), np.linalg.norm(X)),
    "trace": (lambda s: pp.trace(s(X)), np.trace(X)),
    "diagonal": (lambda s: pp.diagonal(s(X), 1), np.diagonal(X, 1)),
    "normal": (
        lambda s: pp.random.default_rng(3).normal(size=(7, 3), device=s(X).device),
        pp.asnumpy(pp.random.default_rng(3).normal(size=(7, 3))),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_process_touches_its_parts_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "SMALL", 0)
    monkeypatch.setattr(transforms, "SMALL", 0)
    program, expected = PROGRAMS[name]
    np.testing.assert_allclose(in_threads(program), expected, rtol=1e-9, atol=1e-9)


def test_stores_by_owners() -> None:
    def program(s: Any) -> Any:
        x = s(X.copy())
        x[[0, 6, 3]] = np.ones((3, 4))
        pp.put(x, [1, 2], [5.0, 6.0])
        x[x > 7] = 0.0
        return x

    expected = X.copy()
    expected[[0, 6, 3]] = 1
    np.put(expected, [1, 2], [5.0, 6.0])
    expected[expected > 7] = 0
    np.testing.assert_array_equal(in_threads(program), expected)


def test_errors_are_raised_in_all_processes() -> None:
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        in_threads(lambda s: pp.take(s(X), s(np.asarray([1, 2, 9])), axis=0))
