# tests/python/test_aliasing.py: arrays that share memory, whatever they were made from: one memory, as NumPy sees it.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest

SIZE = 100_001


@pp.kernel
def shift(item: pp.Item, a, b):  # type: ignore[no-untyped-def]
    i = item.get_id(0)
    t = a[i]
    b[i] = t + 1.0


def imported(memory: np.ndarray) -> pp.Array:
    return pp.asarray(memory, copy=False)


def test_a_known_plan_is_not_taken_for_arrays_that_overlap() -> None:
    a = [np.arange(float(SIZE)) + k for k in range(26)]
    held = [pp.asarray(one[:-1].copy()) for one in a]

    def program(x: pp.Array, y: pp.Array) -> None:
        total = held[0]
        for one in held[1:]:
            total = total + one
        pp.add(total, x[:-1], out=y[1:])

    x, y = pp.asarray(a[3].copy()), pp.zeros(SIZE)
    program(x, y)  # memory apart: now the plan is known
    program(x, x)
    wanted = a[3].copy()
    total = a[0][:-1].copy()
    for one in a[1:]:
        total = total + one[:-1]
    wanted[1:] = total + wanted[:-1]
    np.testing.assert_array_equal(pp.asnumpy(x), wanted)


@pytest.mark.parametrize("name", ["shifted", "reversed", "interleaved", "same", "transposed"])
@pytest.mark.parametrize("how", ["assign", "out", "where", "in place"])
def test_two_imports_of_one_memory_are_one_memory(name: str, how: str) -> None:
    def views(memory: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        square = memory[: 300 * 300].reshape(300, 300)
        return {
            "shifted": (memory[:-1], memory[1:]),
            "reversed": (memory, memory[::-1]),
            "interleaved": (memory[:-1:2], memory[1::2]),
            "same": (memory, memory[:]),
            "transposed": (square, square.T),
        }[name]

    def program(source: np.ndarray, target: np.ndarray, xp) -> None:  # type: ignore[no-untyped-def]
        if how == "assign":
            target[...] = source
        elif how == "out":
            xp.multiply(source, 2.0, out=target)
        elif how == "where":
            target[target > 10.0] = 0.0
            target[...] = xp.where(source > 100.0, source, target)
        else:
            target += source

    wanted, memory = np.arange(float(SIZE)), np.arange(float(SIZE))
    program(*views(wanted), np)
    source, target = views(memory)
    program(imported(source), imported(target), pp)
    np.testing.assert_array_equal(memory, wanted)


def test_library_routines_see_two_imports_as_one_memory() -> None:
    memory, wanted = np.arange(1000), np.arange(1000)
    at = np.arange(999)[::-1].copy()
    wanted[1:][at] = wanted[:-1]
    imported(memory[1:])[pp.asarray(at)] = imported(memory[:-1])
    np.testing.assert_array_equal(memory, wanted)

    # The indices are what is written to.
    memory, wanted = np.arange(1000)[::-1].copy(), np.arange(1000)[::-1].copy()
    wanted[wanted.copy()] = np.arange(1000) * 3 % 1000
    imported(memory)[imported(memory[:])] = pp.asarray(np.arange(1000) * 3 % 1000)
    np.testing.assert_array_equal(memory, wanted)

    memory, wanted = np.arange(1000), np.arange(1000)
    mask = np.arange(999) % 3 != 0
    wanted[1:][mask] = wanted[:-1][mask].copy()
    imported(memory[1:])[pp.asarray(mask)] = imported(memory[:-1])[pp.asarray(mask)]
    np.testing.assert_array_equal(memory, wanted)
    wanted[1:][mask] = wanted[: mask.sum()].copy()
    imported(memory[1:])[pp.asarray(mask)] = imported(memory[: mask.sum()])
    np.testing.assert_array_equal(memory, wanted)


def test_commands_see_two_imports_as_one_memory() -> None:
    memory, wanted = np.arange(1000.0), np.arange(1000.0)
    wanted[1:] = wanted[:-1].copy()
    source, target = imported(memory[:-1]), imported(memory[1:])
    target.queue.copy(target, source).wait()
    np.testing.assert_array_equal(memory, wanted)
    with pytest.raises(ValueError, match="overlap"):
        target.queue.copy_rect(target, source, region=(64, 1, 1))


def test_kernels_see_two_imports_as_one_memory() -> None:
    memory = np.arange(1000.0)
    shift[pp.Range(1000)](imported(memory), imported(memory[:]))
    np.testing.assert_array_equal(memory, np.arange(1000.0) + 1.0)


def test_views_that_share_elements_share_memory_when_their_base_is_gone() -> None:
    for names in ("ab", "ba"):
        base = np.arange(10.0) * 2.0
        a, b = base[1:], base[:-1]
        a[...] = 0.0
        x = pp.asarray(np.arange(10.0)) * 2.0
        p, q = x[1:], x[:-1]
        del x
        pp.force(*((p, q) if names == "ab" else (q, p)))
        p[...] = 0.0
        np.testing.assert_array_equal(pp.asnumpy(q), b)


def test_a_view_of_memory_that_strangers_write_is_read_at_once() -> None:
    memory = np.arange(4.0)
    x = imported(memory)
    z = x[1:][::-1] + 1.0
    memory[...] = 9.0
    np.testing.assert_array_equal(pp.asnumpy(z), [4.0, 3.0, 2.0])

    # A view that was recorded before its base was computed, and before its memory was shared.
    x = pp.asarray(np.arange(4.0)) * 1.0
    y = x[:]
    other = np.from_dlpack(x)
    z = y + 1.0
    if other.flags.writeable:
        other[...] = 9.0
    x[...] = 7.0
    np.testing.assert_array_equal(pp.asnumpy(z), [1.0, 2.0, 3.0, 4.0])


def test_a_view_of_the_host_sees_what_was_written() -> None:
    x = pp.zeros(3_000_000)
    seen = np.asarray(x)
    elsewhere = pp.asarray(seen, copy=False, queue=pp.Queue(x.device))

    def last() -> list[float]:
        return [float(seen[-1]), float((elsewhere[-3:] + 0.0)[0])]

    x += 1.0
    assert last() == [1.0, 1.0]
    x[...] = 2.0
    assert last() == [2.0, 2.0]
    pp.multiply(x, 2.0, out=x)
    assert last() == [4.0, 4.0]
    shift[pp.Range(x.size)](x, x)
    assert last() == [5.0, 5.0]
    x.queue.fill(x, 6.0)
    assert last() == [6.0, 6.0]
    x.queue.copy(x, pp.full(x.shape, 7.0))
    assert last() == [7.0, 7.0]
    x[x > 0.0] = pp.full(x.shape, 8.0)
    assert last() == [8.0, 8.0]
    x[pp.arange(x.size)] = pp.full(x.shape, 9.0)
    assert last() == [9.0, 9.0]


def test_imports_of_one_memory_on_several_queues_are_written_and_read_in_the_program_s_order() -> None:
    memory = np.zeros(300_000)
    device = pp.Device("cpu")
    queues = [pp.Queue(device), pp.Queue(device, order="out_of_order"), pp.Queue.of(device)]
    arrays = [pp.asarray(memory, copy=False, queue=q) for q in queues]
    seen = []
    for k in range(12):
        writer, reader = arrays[k % 3], arrays[(k + 1) % 3]
        before = reader[1:] + 0.5
        writer[...] = writer + 1.0
        seen.append((before, reader[::-1] * 2.0))
    for k, (before, after) in enumerate(seen):
        np.testing.assert_array_equal(pp.asnumpy(before), np.full(memory.size - 1, k + 0.5))
        np.testing.assert_array_equal(pp.asnumpy(after), np.full(memory.size, 2.0 * (k + 1)))
