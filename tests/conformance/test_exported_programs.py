# tests/conformance/test_exported_programs.py: functions that are exported for a device do there what they did, for all sizes.
"""The sweep of tests/python/test_saved_programs.py on each device that a driver runs, bit by bit."""

from __future__ import annotations

import importlib.util
import operator
import pathlib
from typing import Any

import numpy as np
import pardo as pp
import pytest
from data import COMPILE_ONLY

_spec = importlib.util.spec_from_file_location(
    "saved_programs_sweep", pathlib.Path(__file__).resolve().parents[1] / "python" / "test_saved_programs.py"
)
assert _spec is not None
assert _spec.loader is not None
sweep = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sweep)

FAST = ["scale", "argmax", "indices", "half"]
LARGEST = 2**23  # bytes of arguments: texts do not differ beyond


def target_of(device: Any) -> str:
    return str(device.architecture) if device.backend == "cuda" else "opencl"


def needs_target(device: Any) -> None:
    if device.backend not in ("opencl", "cuda"):
        pytest.skip("not a device that a driver runs")


def exported(function: Any, examples: list[Any], device: Any, folder: pathlib.Path, **options: Any) -> Any:
    path = pp.export(function, *(pp.asarray(x) for x in examples), path=folder / "p.pardo", targets=[target_of(device)], **options)
    return pp.load_program(path, device=device)


def assert_same(program: Any, function: Any, given: list[Any], device: Any, sizes: object) -> None:
    got = sweep.outcome(lambda: tuple_of(program(*(pp.asarray(x, device=device) for x in given)), device))
    want = sweep.outcome(lambda: tuple_of(function(*(pp.asarray(x, device=device) for x in given)), device))
    if isinstance(want, type):
        assert isinstance(got, type), f"{sizes}: the function raises {want}, the program does not"
        return
    assert not isinstance(got, type), f"{sizes}: the program raises {got}"
    if COMPILE_ONLY:
        return
    for a, b in zip(want, got, strict=True):
        sweep.assert_same_bits(a, b, sizes)


def tuple_of(results: Any, device: Any) -> tuple[Any, ...]:
    """Results on the host; they have been on the device. What is asked for together is planned together, as in a program."""
    results = results if isinstance(results, tuple) else (results,)
    pp.force(*results)
    assert all(x.device == device for x in results)
    return tuple(pp.asnumpy(x) for x in results)


@pytest.mark.varied("name")
@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow]) for name in sweep.FUNCTIONS])
def test_programs_give_the_bits_of_their_functions(name: str, device: Any, tmp_path: pathlib.Path) -> None:
    needs_target(device)
    if not device.has_fp64:
        pytest.skip("the functions are of float64")
    function, specs = sweep.FUNCTIONS[name]
    with pp.device_context(device):
        program = exported(function, sweep.arrays_for(specs, sweep.EXAMPLES), device, tmp_path)
        assert program.target == target_of(device)
        for sizes in sweep.SIZES:
            given = sweep.arrays_for(specs, sizes, 1)
            if sum(x.nbytes for x in given) <= LARGEST:
                assert_same(program, function, given, device, sizes)


@pp.kernel
def mirrored(item: pp.NdItem, x, y):
    part = pp.local_array(64, np.float32)
    i, k = item.get_global_id(0), item.get_local_id(0)
    part[k] = x[i]
    pp.group_barrier(item.get_group())
    y[i] = part[63 - k] + pp.reduce_over_group(item.get_group(), x[i], operator.add)


def mirror(x: Any) -> Any:
    y = pp.empty_like(x)
    mirrored[pp.NdRange(x.shape[0], 64)](x, y)
    return y


def test_kernels_and_loops_are_part_of_programs(device: Any, tmp_path: pathlib.Path) -> None:
    needs_target(device)
    program = exported(sweep.both, [np.zeros(10, "float32"), np.zeros(12, "float32")], device, tmp_path)
    for n, m in ((1, 1), (2, 3), (10, 4), (1000, 7), (100_001, 5)):
        given = [np.random.default_rng(0).random(n, "float32"), np.random.default_rng(1).random(m, "float32")]
        assert_same(program, sweep.both, given, device, (n, m))


def reads(x: Any, i: Any) -> Any:
    y = pp.empty_like(x)
    gather[x.shape[0]](x, i, y)
    return y


def test_routines_run_on_the_device(device: Any, tmp_path: pathlib.Path) -> None:
    needs_target(device)

    def routines(x: Any, y: Any) -> Any:
        return pp.sort(x, axis=1) * 2 + pp.cumsum(x, axis=1), x @ y.T

    program = exported(routines, [np.zeros((10, 12), "float32"), np.zeros((14, 12), "float32")], device, tmp_path)
    for n, m, k in ((4, 5, 3), (100, 40, 9), (33, 70, 20)):
        given = [np.random.default_rng(0).random((n, m), "float32"), np.random.default_rng(1).random((k, m), "float32")]
        assert_same(program, routines, given, device, (n, m, k))


def test_groups_are_part_of_programs(device: Any, tmp_path: pathlib.Path) -> None:
    needs_target(device)
    x = np.random.default_rng(0).random(1024, "float32")
    program = exported(mirror, [x], device, tmp_path, any_size=False)
    assert_same(program, mirror, [x], device, 1024)


@pp.kernel
def gather(item, x, i, y):
    y[item.get_id(0)] = x[i[item.get_id(0)]]


@pytest.mark.skipif(COMPILE_ONLY, reason="nothing is computed")
def test_failures_come_late_and_name_kernel_and_line(device: Any, tmp_path: pathlib.Path) -> None:
    needs_target(device)
    program = exported(reads, [np.zeros(10, "float32"), np.zeros(10, "int64")], device, tmp_path)
    x = np.arange(3, dtype="float32")
    np.testing.assert_array_equal(pp.asnumpy(program(x, np.array([2, 0, -1]))), [2, 0, 2])
    with pytest.raises(IndexError, match=r"gather: .*index 5(.|\n)*\(item 1\)(.|\n)*test_exported_programs.py"):
        pp.asnumpy(program(x, np.array([2, 5, 1])))


@pytest.mark.skipif(COMPILE_ONLY, reason="nothing is computed")
def test_queues_views_and_writes(device: Any, tmp_path: pathlib.Path) -> None:
    needs_target(device)

    def update(x: Any, y: Any) -> Any:
        y[...] = x * 2 + y
        return y[1:]

    program = exported(update, [np.zeros(10, "float32"), np.zeros(10, "float32")], device, tmp_path)
    for order in ("in_order", "out_of_order"):
        queue = pp.Queue(device, order=order)
        x, y = pp.asarray(np.arange(5, dtype="float32"), queue=queue), pp.asarray(np.ones(5, "float32"), queue=queue)
        reader = y + 1  # recorded before: it keeps the values of before
        z = program(x, y)
        assert z.queue == queue
        np.testing.assert_array_equal(pp.asnumpy(z), [3, 5, 7, 9])
        np.testing.assert_array_equal(pp.asnumpy(y), [1, 3, 5, 7, 9])
        np.testing.assert_array_equal(pp.asnumpy(reader), 2)
    many = [program(x + k, y * 0) for k in range(50)]  # arguments that are recorded, not computed
    np.testing.assert_array_equal(pp.asnumpy(many[-1]), 2 * (np.arange(1, 5) + 49))


def test_one_file_for_processors_and_devices(device: Any, tmp_path: pathlib.Path) -> None:
    needs_target(device)

    def scaled(x: Any) -> Any:
        return x * 2 + pp.asarray(np.arange(2, dtype="float32"))[:, None]

    path = pp.export(scaled, pp.zeros(10, dtype="float32"), path=tmp_path / "p.pardo", targets=["x86-64-v3", target_of(device)])
    program = pp.load_program(path)
    assert (program.targets, program.target) == (["x86-64-v3", target_of(device)], "x86-64-v3")
    x, want = np.ones(4, "float32"), [[2] * 4, [3] * 4]
    np.testing.assert_array_equal(pp.asnumpy(program(pp.asarray(x, device=device))), want)
    np.testing.assert_array_equal(pp.asnumpy(program(pp.asarray(x, device="cpu"))), want)
    there = pp.load_program(path, device=device)
    assert (there.target, there.device) == (target_of(device), device)
    assert there(x).device == device
    np.testing.assert_array_equal(pp.asnumpy(there(x)), want)
