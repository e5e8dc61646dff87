# tests/python/test_asyncio.py: `await` on events and arrays; cancelled and timed-out waits leave everything usable.
from __future__ import annotations

import asyncio
import threading

import numpy as np
import pardo as pp
import pytest


def later(f, *args):
    threading.Timer(0.01, f, args).start()


def test_await_an_event():
    async def main():
        event = pp.UserEvent()
        later(event.set_complete, 7)
        assert await event == 7
        assert await event == 7
        assert await pp.Event() is None

    asyncio.run(main())


def test_await_an_array():
    async def main():
        x = pp.asarray(np.arange(2_000_000.0))
        y = pp.sqrt(x) * 2
        assert await y is y
        assert not y.pending
        np.testing.assert_array_equal(np.asarray(y), np.sqrt(np.arange(2_000_000.0)) * 2)
        a, b = await asyncio.gather(_await(x + 1), _await(x + 2))
        assert float(a[0]) == 1
        assert float(b[0]) == 2
        await asyncio.gather(a.event, (x + 3).event)

    asyncio.run(main())


def test_await_raises_the_failure_for_everyone():
    async def main():
        event = pp.UserEvent()

        async def wait():
            await event

        tasks = [asyncio.create_task(wait()) for _ in range(3)]
        await asyncio.sleep(0)
        event.set_failed(ValueError("late"))
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(r, ValueError) for r in results)
        event.wait()  # both have acknowledged it

    asyncio.run(main())


def test_failure_of_an_array_arrives_at_await():
    async def main():
        queue = pp.Queue("cpu")
        gate = pp.UserEvent()
        queue.barrier(depends=gate)
        x = pp.ones(10, queue=queue)
        task = queue.host_task(lambda: 1 / 0)
        y = (x + 1).force()
        gate.set_complete()
        with pytest.raises(ZeroDivisionError):
            await task
        assert float((await y)[0]) == 2  # did not depend on the task

    asyncio.run(main())


def test_cancelled_wait():
    async def main():
        event = pp.UserEvent()

        async def wait():
            return await event

        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        other = asyncio.create_task(wait())
        await asyncio.sleep(0)
        event.set_complete("still there")
        assert await other == "still there"

    asyncio.run(main())


def test_timed_out_wait():
    async def main():
        event = pp.UserEvent()
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await event
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(_await(event), 0.01)
        event.set_complete()
        await event

    asyncio.run(main())


async def _await(event):
    return await event


def test_loop_that_is_closed_before_the_event():
    event = pp.UserEvent()

    async def main():
        task = asyncio.create_task(_await(event))
        await asyncio.sleep(0)
        assert not task.done()

    asyncio.run(main())  # cancels the task
    event.set_complete()
    asyncio.run(_await(event))


def test_wrap_future():
    async def main():
        event = pp.UserEvent()
        later(event.set_complete, 5)
        assert await asyncio.wrap_future(event.as_future()) == 5

    asyncio.run(main())


def test_many_tasks_and_one_loop():
    async def main():
        queue = pp.Queue("cpu")
        events = [queue.host_task(lambda i=i: i) for i in range(200)]
        assert await asyncio.gather(*events) == list(range(200))

    asyncio.run(main())


def test_several_loops_at_once():
    event = pp.UserEvent()
    got = []

    def run():
        got.append(asyncio.run(_await(event)))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for t in threads:
        t.start()
    event.set_complete(1)
    for t in threads:
        t.join(10)
    assert got == [1] * 4


def test_only_call_soon_threadsafe_is_needed():
    """Loops written in other languages have no more in common with asyncio's than its interface."""

    class Loop(asyncio.SelectorEventLoop):
        called = 0

        def call_soon_threadsafe(self, *args, **kwargs):
            type(self).called += 1
            return super().call_soon_threadsafe(*args, **kwargs)

    loop = Loop()
    try:
        event = pp.UserEvent()
        later(event.set_complete)
        loop.run_until_complete(_await(event))
    finally:
        loop.close()
    assert Loop.called == 1


def test_without_a_loop():
    event = pp.UserEvent()
    with pytest.raises(RuntimeError, match="no running event loop"):
        event.__await__().send(None)
    event.set_complete()
    with pytest.raises(StopIteration):
        event.__await__().send(None)
