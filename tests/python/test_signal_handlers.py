# tests/python/test_signal_handlers.py: handlers of signals that compute, whatever they come upon.
from __future__ import annotations

import concurrent.futures
import functools
import importlib
import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pardo as pp
import pytest
from pardo._base.undisturbed import Undisturbed

pytestmark = [pytest.mark.once, pytest.mark.skipif(os.name != "posix", reason="needs timers of POSIX")]

PROGRAM = """
    import faulthandler, signal, sys
    import numpy as np
    import pardo as pp

    @pp.kernel
    def add(item: pp.Item, x): x[item.get_id(0)] += 1

    @pp.jit
    def total(x):
        s = 0.0
        for i in pp.prange(x.shape[0]): s += x[i]
        return s

    @pp.struct
    class Pair:
        a: np.float64
        b: np.float64
        def sum(self): return self.a + self.b

    @pp.kernel
    def sums(item: pp.Item, p, out): out[item.get_id(0)] = p[item.get_id(0)].sum()

    generator = pp.random.default_rng(3)
    KINDS = {
        "operations": lambda: float((pp.arange(10.0) + 1).sum()),
        "kernels": lambda: add[10](pp.zeros(10)).wait(),
        "loops": lambda: total(pp.ones(10)),
        "structs": lambda: sums[3](Pair(pp.ones(3), pp.ones(3)), pp.zeros(3)).wait(),
        "printing": lambda: repr(pp.arange(10.0) * 2),
        "random numbers": lambda: (pp.random.rand(3).tolist(), generator.normal(size=5).tolist(), generator.spawn(1)),
        "linear algebra": lambda: pp.linalg.inv(pp.eye(3)).wait(),
        "futures": lambda: (pp.arange(10.0) + 1).as_future().result(),
        "host tasks": lambda: pp.Queue("cpu").host_task(lambda: 1).as_future().result(),
        "Fourier transforms": lambda: pp.fft.fft(pp.ones(8)).wait(),
        "special functions": lambda: pp.special.erf(pp.ones(8)).wait(),
        "sparse arrays": lambda: (pp.sparse.csr_array(pp.eye(3)) @ pp.ones(3)).wait(),
        "filters": lambda: pp.signal.fftconvolve(pp.ones(8), pp.ones(3)).wait(),
        "statistics": lambda: (pp.histogram(pp.ones(8)), pp.percentile(pp.ones(8), 30)),
        "polynomials": lambda: pp.polynomial.polynomial.polyval(pp.ones(3), pp.ones(3)).wait(),
        "vectorized functions": lambda: pp.vectorize(lambda a: a + 1)(pp.ones(4)).wait(),
        "plans": lambda: (pp.explain(pp.ones(3) + 1), pp.counters(), add.types()),
        "failures": lambda: add[10](pp.zeros(3))._failure(False),
    }
    names = sys.argv[2].split(",") if sys.argv[2] else list(KINDS)
    if sys.argv[1] == "warm":
        for name in names: KINDS[name]()
    came = depth = 0

    def handler(number, frame):
        global came, depth
        came += 1
        if depth < 5:
            depth += 1
            KINDS[names[came % len(names)]]()
            depth -= 1

    faulthandler.dump_traceback_later(100, exit=True)
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    while came < 60:
        for name in names: KINDS[name]()
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert depth == 0
    print("ends")
"""


def computes(start: str, kinds: str, folder: Path) -> None:
    file = folder / "program.py"
    file.write_text(textwrap.dedent(PROGRAM))
    environment = {**os.environ, "PARDO_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, str(file), start, kinds], capture_output=True, text=True, timeout=200, env=environment, check=False
    )
    assert (done.returncode, done.stdout) == (0, "ends\n"), done.stderr[-3000:]


@pytest.mark.parametrize("start", ["cold", "warm"])
def test_handlers_that_compute(start, tmp_path):
    computes(start, "", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("start", ["cold", "warm"])
@pytest.mark.parametrize("kind", [line.split('"')[1] for line in PROGRAM.splitlines() if '": lambda' in line])
def test_handlers_that_compute_the_same(kind, start, tmp_path):
    computes(start, kind, tmp_path)


# --- what is held back


@pytest.fixture
def came():
    """The signals that a handler was called for."""
    numbers: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: numbers.append(number))
    yield numbers
    signal.signal(signal.SIGUSR1, before)


def test_handlers_run_at_the_end_of_a_block(came):
    with Undisturbed():
        with Undisturbed():
            signal.raise_signal(signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR1)
        assert came == []
    assert came == [signal.SIGUSR1]
    signal.raise_signal(signal.SIGUSR1)
    assert came == [signal.SIGUSR1] * 2


def test_what_a_handler_raises_leaves_the_block(request):
    request.addfinalizer(functools.partial(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT)))
    before = signal.default_int_handler
    signal.signal(signal.SIGINT, before)  # a shell lets what runs in the background ignore it
    reached = []

    def block():
        with Undisturbed():
            signal.raise_signal(signal.SIGINT)
            reached.append(1)

    with pytest.raises(KeyboardInterrupt):
        block()
    assert reached == [1]
    assert signal.getsignal(signal.SIGINT) is before


def test_handlers_that_are_set_in_a_block_stay(came):
    def other(number, frame):
        came.append("other")

    with Undisturbed():
        signal.signal(signal.SIGUSR1, other)
    assert signal.getsignal(signal.SIGUSR1) is other


def test_other_threads_hold_nothing_back(came):
    inside, leave = threading.Event(), threading.Event()

    def block():
        with Undisturbed():
            inside.set()
            leave.wait(100)

    thread = threading.Thread(target=block)
    thread.start()
    inside.wait(100)
    signal.raise_signal(signal.SIGUSR1)
    assert came == [signal.SIGUSR1]
    leave.set()
    thread.join()


def test_modules_are_made_as_python_makes_them():
    name = "pardo.compat.numba.decorators" if importlib.util.find_spec("pardo.compat.numba.decorators") else "pardo.polynomial.polynomial"
    module = importlib.import_module(name)
    assert module.__spec__.loader.get_source(name)
    assert module.__spec__.origin == module.__file__
    assert importlib.util.find_spec(name) is module.__spec__
    assert importlib.reload(module) is module
    with pytest.raises(ModuleNotFoundError, match=r"pardo\.nothing"):
        importlib.import_module("pardo.nothing")


def test_modules_that_raise_are_not_there(tmp_path, monkeypatch):
    (tmp_path / "raising.py").write_text("raise KeyError('made so')\n")
    monkeypatch.setattr(pp, "__path__", [*pp.__path__, str(tmp_path)])
    for _ in range(2):
        with pytest.raises(KeyError, match="made so"):
            importlib.import_module("pardo.raising")
        assert "pardo.raising" not in sys.modules
    (tmp_path / "raising.py").write_text("value = 1  # now it does not\n")
    importlib.invalidate_caches()
    assert importlib.import_module("pardo.raising").value == 1
    del sys.modules["pardo.raising"], pp.raising


# --- futures


def test_a_future_does_not_need_the_helper_thread():
    """It may wait for the lock of another future that a handler has come upon."""
    first, second = pp.UserEvent(), pp.UserEvent()
    held, other = first.as_future(), second.as_future()
    with held._condition:
        first.set_complete(1)  # the helper thread waits
        second.set_complete(2)
        assert other.result(100) == 2
        assert held.result(100) == 1
    with pytest.raises(concurrent.futures.TimeoutError):
        pp.UserEvent().as_future().result(0.01)


def test_a_cancelled_future_ends_the_wait_of_others():
    event = pp.UserEvent()
    future = event.as_future()
    told = []

    def wait():
        try:
            future.result()
        except concurrent.futures.CancelledError as error:
            told.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    assert future.cancel()
    thread.join(100)
    assert len(told) == 1
    event.set_complete()
