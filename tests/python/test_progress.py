# tests/python/test_progress.py: no lock is held during waits: host tasks, memory of other libraries, full queues and threads all go on.
from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest


def run(body: str, seconds: float = 240) -> None:
    """Run a program that must end by itself: a watchdog shows where its threads are when it does not."""
    watchdog = f"import faulthandler\nfaulthandler.dump_traceback_later({seconds - 20}, exit=True)\n"
    program = f"{watchdog}{textwrap.dedent(body)}\nprint('done')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=seconds, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
def test_a_host_task_records_while_somebody_waits(order):
    run(f"""
        import time
        import numpy as np
        import pardo as pp
        queue = pp.Queue("cpu", order="{order}")
        a = pp.asarray(np.ones(1000), queue=queue)
        host = np.ones(1000)
        shared = pp.asarray(host, copy=False, queue=queue)
        for _ in range(20):
            results = []
            def task():
                time.sleep(0.01)
                results.append(a + 1)
                results.append(float((a * 0 + 2)[0]) if "{order}" == "out_of_order" else 2.0)
            event = queue.host_task(task)
            y = shared + 1          # waits for what is ahead of it: the task, which records on this queue
            shared += 0
            event.wait()
            assert results[1] == 2.0
            np.testing.assert_array_equal(y, 2)
            np.testing.assert_array_equal(results[0], 2)
    """)


def test_kernels_on_memory_of_strangers(tmp_path):
    (tmp_path / "kernels.py").write_text(
        "import pardo as pp\n\n@pp.kernel\ndef add_one(item: pp.Item, x):\n    i = item.get_id(0)\n    x[i] = x[i] + 1\n\n"
        "@pp.jit\ndef add_two(x):\n    for i in pp.prange(x.shape[0]):\n        x[i] = x[i] + 2\n"
    )
    run(f"""
        import sys, time
        sys.path.insert(0, {str(tmp_path)!r})
        import numpy as np
        import pardo as pp
        from kernels import add_one, add_two
        queue = pp.Queue("cpu")
        host = np.zeros(1000)
        shared = pp.asarray(host, copy=False, queue=queue)
        a = pp.asarray(np.ones(10), queue=queue)
        for round in range(10):
            tasks = [queue.host_task(lambda: (time.sleep(0.005), a + 1)) for _ in range(3)]
            add_one[pp.Range(1000)](shared)
            add_two(shared)
            assert (host == 3 * (round + 1)).all()      # over when the calls return
            queue.copy(shared, shared * 1)
            shared[shared > 1e9] = 0
            for t in tasks:
                t.wait()
        queue.wait()
    """)


def test_threads_tasks_strangers_and_full_queues():
    run("""
        import random, threading
        import numpy as np
        import pardo as pp
        queues = [pp.Queue.of("cpu"), pp.Queue("cpu"), pp.Queue("cpu", order="out_of_order")]
        hosts = [np.zeros(5000) for _ in queues]
        shared = [pp.asarray(h, copy=False, queue=q) for h, q in zip(hosts, queues)]
        own = [pp.asarray(np.ones(5000), queue=q) for q in queues]
        problems = []

        def work(number):
            rng = random.Random(number)
            try:
                for step in range(60):
                    k = rng.randrange(len(queues))
                    q, a, s = queues[k], own[k], shared[k]
                    choice = rng.randrange(8)
                    if choice == 0:
                        q.host_task(lambda: a + 1)
                    elif choice == 1:
                        assert float((s * 0 + 1)[7]) == 1
                    elif choice == 2:
                        gate = pp.UserEvent()
                        q.barrier(depends=gate)
                        threading.Timer(0.002, gate.set_complete).start()
                    elif choice == 3:
                        for _ in range(400):                   # far ahead of what runs
                            q.fill(pp.empty(50_000, queue=q), 1.0)
                    elif choice == 4:
                        q.wait()
                    elif choice == 5:
                        assert float((a + step).sum()) == 5000.0 * (1 + step)
                    elif choice == 6:
                        other = (k + 1) % len(queues)
                        np.testing.assert_array_equal(a.to_device("cpu") if q == queues[0] else np.asarray(a), 1)
                        queues[other].copy(shared[other], shared[other] * 0)
                    else:
                        s += 0
            except BaseException as e:
                problems.append(e)
                raise

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for q in queues:
            q.wait()
        assert not problems
    """)
