# tests/python/test_memory_in_order.py: memory that another queue still reads, and that its own queue takes again: it waits in order.
from __future__ import annotations

import threading

import numpy as np
import pardo as pp
import pytest

DEVICES = ["cpu", *(d.id for d in pp.get_devices() if d.backend in ("opencl", "cuda"))]
N = 1 << 20  # elements, 4 MiB


@pytest.mark.parametrize("device", DEVICES)
def test_edges_that_queues_give_each_other_do_not_keep_memory(device: str) -> None:
    queues = pp.Queue(device), pp.Queue(device)
    parts = [pp.ones(N, dtype="float32", queue=q) for q in queues]
    for x in parts:
        x.wait()
    before = pp.memory_stats(device)
    for _ in range(60):
        edges = [parts[1][-1000:].to_queue(queues[0]), parts[0][:1000].to_queue(queues[1])]
        made = []
        for x, edge in zip(parts, edges, strict=True):
            y = pp.empty_like(x)
            y[...] = x * 0.5 + 0.5
            y[:1000] = edge
            made.append(y)
        parts = made
    for x in parts:
        np.testing.assert_array_equal(pp.asnumpy(x), np.ones(N, "float32"))
    after = pp.memory_stats(device)
    assert after.in_use + after.cached - before.in_use - before.cached <= 44 * 4 * N  # 240 are made


@pytest.mark.parametrize("device", DEVICES)
def test_memory_that_waits_for_the_program_is_not_taken(device: str) -> None:
    near, far = pp.Queue(device), pp.Queue(device)
    gate = pp.UserEvent()
    for _ in range(3):
        x = pp.ones(N, dtype="float32", queue=near) * 2
        x.wait()
        there = pp.empty(N, dtype="float32", queue=far)
        far.copy(there, x, depends=[gate])
        del x
    results: list[float] = []

    def work() -> None:
        for k in range(6):
            y = pp.full(N, float(k), dtype="float32", queue=near) + 1
            results.append(float(y[7]))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(120)
    finished = not thread.is_alive()
    gate.set_complete()
    thread.join()
    assert finished
    assert results == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert float(there[5]) == 2.0
