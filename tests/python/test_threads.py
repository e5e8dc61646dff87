# tests/python/test_threads.py: many threads, forks, signals, and what happens at exit.
from __future__ import annotations

import functools
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pardo as pp
import pytest
from support import check

pytestmark = pytest.mark.once


def test_threads_share_a_queue():
    x = pp.asarray(np.arange(10_000.0))

    def work(k):
        y = x
        for _ in range(20):
            y = pp.sqrt(y * y + k) - 1
            if k % 3 == 0:
                y.force()
        return float(y.sum())

    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(work, range(16)))
    assert got == [work(k) for k in range(16)]


@pytest.mark.parametrize("fusion", ["on", "off"])
def test_threads_compile_different_programs(fusion, tmp_path):
    """In a process without a cache: each compiles its own programs on shared arrays, while others write what some of them read."""
    program = """
        import threading
        from concurrent.futures import ThreadPoolExecutor
        import numpy as np, pardo as pp

        names = ["sin", "cos", "exp", "tanh", "sqrt", "log1p", "arctan", "expm1"]
        together = threading.Barrier(8)
        data = np.linspace(0.1, 0.9, 1000)
        a, b, total = pp.asarray(data), pp.asarray(data[::-1].copy()), pp.zeros(1000).wait()
        shared = a * b + 0.25

        def run(xp, k, a, b, shared):
            f, g = getattr(xp, names[k]), getattr(xp, names[k - 1])
            out = []
            for i in range(6):
                t = f(a) * (i + 1) + shared
                for _ in range(i): t = g(abs(t) * 0.5) - b
                own = xp.zeros(1000)
                own[k:] = t[: 1000 - k] * 2
                own[1:] += own[:-1] * 0.5
                xp.multiply(own, b, out=own)
                out.append(own.sum() if i % 2 else own)
            return out

        def work(k):
            together.wait()
            step = pp.ones(1000)
            for i in range(5):
                for _ in range(k % 3): step = step * 1.0
                pp.add(total, step * 1.0 if k % 2 else 1.0 * step + 0.0, out=total)
            return run(pp, k, a, b, shared)

        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(work, range(8)))
        for k, got in enumerate(results):
            want = run(np, k, data, data[::-1], data * data[::-1] + 0.25)
            for g, w in zip(got, want, strict=True):
                np.testing.assert_allclose(pp.asnumpy(g), w, rtol=1e-9)
        assert (pp.asnumpy(total) == 40).all()
    """
    done = run(program, PARDO_FUSION=fusion, PARDO_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr


def test_queues_of_a_device_plan_once():
    def compute(queue):
        x = pp.ones(100, queue=queue)
        return (pp.sqrt(x * 3 + 1) - 0.125).wait()

    compute(pp.Queue())
    before = pp.counters()
    for _ in range(3):
        compute(pp.Queue())
    after = pp.counters()
    assert after["planned"] == before["planned"]
    assert after["compiled"] + after["from_disk"] == before["compiled"] + before["from_disk"]


def test_threads_launch_a_kernel_for_the_first_time(request):
    """Each may begin to translate it while another one does."""
    request.addfinalizer(functools.partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(1e-6)
    for _ in range(10):
        together = threading.Barrier(8)

        @pp.kernel
        def doubled(item: pp.Item, x):
            for k, w in enumerate(pp.random.philox((item.get_id(0),), (0,))):
                if k > 4:
                    x[0] = w.astype(x.dtype)
            x[item.get_id(0)] *= 2

        def work(k, together=together, doubled=doubled):
            x = pp.asarray(np.full(100, k))
            together.wait()
            doubled[100](x)
            return int(x.sum())

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(work, range(8))) == [200 * k for k in range(8)]


def test_cold_launches_own_what_they_use(tmp_path):
    """While a thread compiles and launches, without the GIL, others prepare the same launcher and the same loop for other programs."""
    program = """
        import sys, threading
        import pardo as pp

        def made(k):
            name = f"{sys.argv[1]}/functions{k}.py"
            text = f"def add(item, x, n):\\n    x[item.get_id(0)] += n + pp.special.erf({k} * x[item.get_id(0)])\\n"
            text += "def total(x):\\n    s = 0.0\\n    for i in pp.prange(x.shape[0]):\\n"
            text += f"        s += x[i] + pp.special.erf({k} * x[i])\\n    return s\\n"
            open(name, "w").write(text)
            exec(compile(text, name, "exec"), names := {"pp": pp})
            return pp.kernel(names["add"]), pp.jit(names["total"])

        def in_a_thread(f, meanwhile):
            got = []
            thread = threading.Thread(target=lambda: got.append(f()))
            thread.start()
            while thread.is_alive(): meanwhile()
            return got[0]

        for k in range(3):
            add, total = made(k)
            x = pp.zeros(1000)
            launcher = add[1000]

            def prepared():
                add._made = (None, {})  # as where another thread translates
                program, _, _ = add._program((x, 1), [])
                launcher._prepare(program, pp._core._Space([1000], []), None, None, "a name that no string keeps inside" * 2, 2, 0, [])

            prepared()
            in_a_thread(lambda: launcher(x, 1), prepared).wait()
            assert float(x[7]) == 1

            runner, = total._runners()
            loop = runner.loop
            assert float(in_a_thread(lambda: total(x), lambda: runner._prepare_call(loop, 1, 1, [], 0, False, []))) >= 1000
    """
    text = textwrap.dedent(program)
    environment = {**os.environ, "PARDO_CACHE_DIR": str(tmp_path), "MALLOC_PERTURB_": "165"}
    command = [sys.executable, "-c", text, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def test_threads_convert_and_release():
    def work(k):
        for _ in range(50):
            x = pp.asarray(np.full(1000, k), copy=False)
            assert np.asarray(x + 1)[0] == k + 1
            assert pp.nonzero(x == k)[0].size == 1000
        return True

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(6)))


def test_waiting_lets_other_threads_run():
    ran = threading.Event()
    threading.Timer(0.0, ran.set).start()
    x = pp.asarray(np.random.default_rng(0).random(2_000_000))
    for _ in range(3):
        pp.sort(x).wait()
    assert ran.wait(5)


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )


def test_fork():
    done = run(
        """
        import os, sys
        import numpy as np
        import pardo as pp
        x = pp.ones(2_000_000)
        assert (x + 1).sum().item() == 4_000_000
        child = os.fork()
        if child == 0:
            y = pp.ones(2_000_000) * 3
            ok = y.sum().item() == 6_000_000 and (x * 2).sum().item() == 4_000_000
            os._exit(0 if ok else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert (x + 2).sum().item() == 6_000_000
        """
    )
    assert done.returncode == 0, done.stderr


def test_fork_while_others_launch():
    """A child finds the locks of functions, of what is compiled, and of what is left for the main thread free."""
    done = run(
        """
        import os, signal, threading
        import pardo as pp

        @pp.kernel
        def double(item: pp.Item, x, y):
            y[item.get_id(0)] = x[item.get_id(0)] * 2

        def work():
            while not ended.is_set():
                x = pp.ones(100)
                double[len(x)](x, pp.empty(100))
                (x + 1).sum().item()

        ended = threading.Event()
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        results = []
        for n in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(10)
                y = pp.empty(8)
                double[8](pp.full(8, float(n)), y)
                os._exit(0 if y.tolist() == [2.0 * n] * 8 else 1)
            results.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        ended.set()
        assert not any(results), results
        """
    )
    assert done.returncode == 0, done.stderr


def test_interrupt():
    done = run(
        """
        import signal, threading, time, os
        import numpy as np
        import pardo as pp
        signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
        x = pp.asarray(np.random.default_rng(0).random((3000, 3000)))
        (x[:2] @ x).wait()
        start = time.perf_counter()
        y = x
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            for _ in range(60):
                y = (y @ x) / 3000
            y.wait()
        except KeyboardInterrupt:
            print("interrupted", time.perf_counter() - start, flush=True)
        os._exit(0)
        """
    )
    assert "interrupted" in done.stdout, done.stderr


def test_exit_with_work_under_way():
    done = run(
        """
        import pardo as pp
        x = pp.ones(3_000_000)
        y = (pp.sin(x) + pp.cos(x)).force()
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_failure_nobody_waited_for_is_reported():
    done = run(
        """
        import pardo as pp
        x = pp.arange(1_000_000.0)
        index = pp.full(1_000_000, 2_000_000)
        x.wait(), index.wait()
        try:
            y = x[index].force()
        except IndexError as e:  # small devices may do the work at once
            import sys; sys.stderr.write(str(e))
        import time; time.sleep(0.5)
        """
    )
    assert done.returncode == 0
    assert "out of bounds" in done.stderr


def test_damaged_cache_folder(tmp_path):
    file = tmp_path / "pardo"
    file.write_text("not a folder")
    done = run(
        """
        import warnings
        import pardo as pp
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            assert (pp.ones(1000) * 2 + 1).sum().item() == 3000
            assert (pp.ones(1000) * 3 - 1).sum().item() == 2000
            for _ in range(10): pass
        print(len([w for w in seen if issubclass(w.category, RuntimeWarning)]))
        """,
        XDG_CACHE_HOME=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "1", done.stdout


def test_callbacks_may_use_arrays():
    x, done, result = pp.ones(1000), threading.Event(), []

    def callback():
        result.append(float((x + 1).sum()))
        done.set()

    (x * 2).wait().event.add_done_callback(callback)
    assert done.wait(20)
    assert result == [2000.0]
    check(x, np.ones(1000))


@pytest.mark.parametrize("first", ["", "import pardo"])
def test_subinterpreters_are_refused(first):
    """Whether or not the main interpreter has the package, whose threads and classes are that one's; and the process ends as usual."""
    program = f"""
        {first}
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        inner = "try:\\n    import pardo\\nexcept ImportError as e:\\n    print(e, flush=True)\\n"
        interpreters.run_string(interpreters.create(), inner)
    """
    done = run(program, PYTHONWARNINGS="ignore")
    assert done.returncode == 0, done.stderr
    ours = "pardo: this is a subinterpreter, and pardo works in a process's main interpreter only"
    refused = "module {} does not support loading in subinterpreters"  # Python's own words, from 3.12 on
    assert done.stdout.startswith((ours, *map(refused.format, ("pardo._core", "nanobind_backend._nb_backend_v1"))))
