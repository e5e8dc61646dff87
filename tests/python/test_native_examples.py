# tests/python/test_native_examples.py: the packages of examples/native, built by pip without a network, and run on each device.
from __future__ import annotations

import fcntl
import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from native_building import NEEDS_A_COMPILER, folder_of_all, pip_install

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "native"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "native-packages.md"
pytestmark = [
    pytest.mark.once,
    pytest.mark.slow,
    NEEDS_A_COMPILER,
    pytest.mark.skipif(not FOLDER.exists(), reason="not in a source tree"),
]
WANTED = os.environ.get("PARDO_TEST_DEVICES", "").split(",")
DEVICES = [d for d in pp.get_devices() if d.has_fp64 and (WANTED == [""] or not {d.backend, d.id}.isdisjoint(WANTED))]
NEEDS = {"gemv_c": [], "gemv_cython": ["Cython"], "gemv_pybind11": ["pybind11"]}
NANOBIND = ["nanobind", "nanobind_backend", "scikit_build_core"]


def installed(name, folder):
    """The module of a package, which is built once for all processes of a run."""
    for needed in NEEDS.get(name, NANOBIND):
        pytest.importorskip(needed)
    site = folder / f"site-{name}"
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not site.exists():
            build(name, folder, site)
    sys.path.insert(0, str(site))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(site))


def build(name, folder, site):
    # A copy: builds write beside their sources.
    source = folder / name
    subprocess.run(["cp", "-r", str(FOLDER / name), str(source)], check=True)
    pip_install(source, site, {"CFLAGS": "-O1 -Wall -Werror", "CXXFLAGS": "-O1 -Wall -Werror"})


def lines(path):
    return len([line for line in path.read_text().splitlines() if line.strip()])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return folder_of_all(tmp_path_factory)


@pytest.mark.parametrize("name", ["gemv_c", "gemv_cython", "gemv_nanobind", "gemv_pybind11"])
def test_gemv(folder, name):
    gemv = installed(name, folder).gemv
    values = np.random.default_rng(1).random((33, 50))
    for device in DEVICES:
        for order in ("in_order", "out_of_order"):
            queue = pp.Queue(device, order=order)
            a, x, y = pp.asarray(values, queue=queue), pp.ones(50, queue=queue), pp.zeros(33, queue=queue)
            gemv(queue, a, x, y).wait()  # blocking
            assert np.allclose(pp.asnumpy(y), values.sum(1))
            signal = pp.UserEvent()
            first = gemv(queue, a + 1, x, y, after=[signal])  # asynchronous, events in and out
            second = gemv(queue, a, x * 2, y, after=[first])
            assert not second.done()
            signal.set_complete()
            assert np.allclose(pp.asnumpy(y + 1), 2 * values.sum(1) + 1)
            assert isinstance(second, pp.Event)
            gemv(queue, a[:0].copy(), x, y[:0].copy()).wait()
            with pytest.raises(ValueError, match="gemv: the shapes do not fit"):
                gemv(queue, a, y, x)
        for wrong in (a.astype("float32"), "a"):
            with pytest.raises(TypeError):
                gemv(queue, wrong, x, y)
        with pytest.raises((TypeError, ValueError)):
            gemv(queue, a.wait().T, x, y)
        with pytest.raises(TypeError):
            gemv(x, a, x, y)
    failed = pp.Queue("cpu").host_task(lambda: 1 / 0)
    event = gemv(queue, a, x, y, after=[failed])
    with pytest.raises(ZeroDivisionError):
        event.wait()


@pytest.mark.skipif(not PAGE.exists(), reason="no documentation")
def test_the_page_shows_all_of_them(folder):
    text = PAGE.read_text()
    shown = set(re.findall(r"^```{literalinclude} \.\./\.\./examples/native/(\S+)$", text, re.MULTILINE))
    kept = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.*") if path.parent != FOLDER}
    assert shown == kept - {"gemv_cython/gemv.hpp", "gemv_nanobind/gemv.hpp"}
    assert installed("gemv_pybind11", folder)
    call = re.search(r"^```{code-block} python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]
    path = os.pathsep.join([str(folder / "site-gemv_pybind11"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-W", "error", "-c", call], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in call


def test_the_copies_of_gemv_are_the_same():
    texts = {path.read_text() for path in FOLDER.glob("gemv_*/gemv.hpp")}
    assert len(texts) == 1


def test_examples_are_short():
    """The native part has under 40 lines without blank ones, what binds it 25 more at most, with the text of OpenCL."""
    for name, native, binding in (
        ("gemv_nanobind", "gemv.hpp", ["gemv_nanobind.cpp"]),
        ("gemv_pybind11", "gemv.hpp", ["gemv_pybind11.cpp"]),
        ("gemv_cython", "gemv.hpp", ["gemv_cython.pyx"]),
        ("gemv_c", "gemv.c", ["gemv_c.c", "gemv_c.py"]),
    ):
        assert lines(FOLDER / name / native) < 40
        assert sum(lines(FOLDER / name / file) for file in binding) <= 25
        sources = {path.name for path in (FOLDER / name).iterdir() if path.suffix in (".c", ".h", ".hpp", ".cpp", ".pyx", ".py")}
        assert sources - {"setup.py"} == {native, *binding}
    for name in ("my_filter", "stencil", "offloading", "cuda_kernel"):
        assert lines(FOLDER / name / f"{name}.cpp") < 40


def test_a_recorded_function_is_a_node(folder):
    my_filter = installed("my_filter", folder).my_filter
    queue = pp.Queue("cpu")
    x = pp.asarray(np.random.default_rng(1).random(5000), queue=queue)
    y = my_filter(queue, x * 2) + 1
    plan = str(pp.explain(y))
    assert "my_filter" in plan
    assert plan.count("1 group, 1 kernel") == 2  # what is before the call, and what is after it
    assert "copy" not in plan
    expected, last = [], float(x[0]) * 2
    for value in pp.asnumpy(x) * 2:
        last += 0.5 * (value - last)
        expected.append(last + 1)
    x[...] = 0
    assert np.allclose(y, expected)
    with pytest.raises(ValueError, match="my_filter: the weight is to be in"):
        my_filter(queue, x, 2.0)
    with pytest.raises(TypeError, match="array argument 1: float64, 1 dimension, on the CPU is expected, not float32 of the shape"):
        my_filter(queue, x.astype("float32"))


def test_a_kernel_of_cuda(folder):
    """Compiled where there is nvcc; run where there is a GPU too."""
    if not shutil.which("nvcc") or not shutil.which("cmake"):
        pytest.skip("no nvcc, or no CMake")
    clamp = installed("cuda_kernel", folder).clamp
    for device in DEVICES:
        queue = pp.Queue(device)
        x, y = pp.arange(1000, dtype="float32", queue=queue), pp.zeros(1000, "float32", queue=queue)
        if device.backend != "cuda":
            with pytest.raises(TypeError, match="on CUDA is expected, not float32 of the shape"):
                clamp(queue, x, y, 10, 20)
            continue
        clamp(queue, x + 1, y, 10, 20)
        assert np.array_equal(pp.asnumpy(y), np.clip(np.arange(1000) + 1, 10, 20))


def test_a_stencil_on_the_cores(folder):
    heat = installed("stencil", folder).heat
    queue = pp.Queue("cpu")
    u, v = pp.zeros((300, 400), queue=queue), pp.empty((300, 400), queue=queue)
    u[150, 200] = 1
    expected = pp.asnumpy(u)
    for _ in range(5):
        heat(queue, u, v)
        u, v = v, u
        e = expected
        expected = e.copy()
        expected[1:-1, 1:-1] += 0.1 * (e[:-2, 1:-1] + e[2:, 1:-1] + e[1:-1, :-2] + e[1:-1, 2:] - 4 * e[1:-1, 1:-1])
    assert np.allclose(u, expected)
    with pytest.raises(TypeError, match="array argument 2: float64, 2 dimensions, row-major, writable, on the CPU is expected"):
        heat(queue, u, pp.broadcast_to(v[0], (300, 400)))


def test_devices_memory_and_late_errors(folder):
    module = installed("offloading", folder)
    assert [name for name, _ in module.find()] == [d.id for d in pp.get_devices()]
    queue = pp.Queue("cpu")
    shared = module.share(queue, 1000)
    module.roots(queue, shared)
    assert np.allclose(shared + 1, np.sqrt(2) + 1)
    host = np.full(3, 4.0)
    module.roots(queue, host)  # NumPy's own memory
    assert host.tolist() == [2, 2, 2]
    wrong = pp.asarray([1.0, -4.0], queue=queue)
    event = module.roots(queue, wrong)
    with pytest.raises(ValueError, match=r"roots: -4\.0+ has no real root.*test_native_examples\.py:\d+"):
        event.wait()
    with pytest.raises(ValueError, match="has no real root"):
        pp.asnumpy(wrong + 1)
