# tests/python/test_selection.py: facts about devices, choosing one by name or by aspects, and what `python -m pardo` says.
from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys

import pardo as pp
import pytest
from pardo import _core

pytestmark = pytest.mark.once

NOTHING_LOADED = "; m = open('/proc/self/maps').read(); assert 'libOpenCL' not in m and 'libcuda' not in m"


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments], capture_output=True, text=True, timeout=300, env={**os.environ, **environment}
    )


def test_facts_are_there_or_none():
    cpu = pp.Device("cpu")
    for name in _core._device_info_names():
        value = getattr(cpu, name)
        assert value is None or isinstance(value, (str, int, bool, tuple)), name
        assert value != "", name
    assert cpu.max_work_item_dimensions == len(cpu.max_work_item_sizes) == 3
    assert cpu.address_bits == 64
    assert cpu.is_endian_little == (sys.byteorder == "little")
    assert cpu.native_vector_width_float == 2 * cpu.native_vector_width_double == cpu.native_vector_bytes // 4
    assert "fma" in cpu.double_fp_config
    assert re.fullmatch(r"[\w-]+", cpu.architecture)
    assert "seq_cst" in cpu.atomic_memory_order_capabilities
    assert cpu.local_mem_type == "global"
    assert cpu.pci_address is None
    assert cpu.extensions is None
    assert 0 < cpu.free_memory <= cpu.global_mem_size
    assert cpu.partition_max_sub_devices >= 1
    assert cpu.partition_type_property is None
    assert cpu.parent is None


def test_unknown_facts_are_none():
    null = pp.Device("null")
    assert null.max_clock_frequency is None
    assert null.global_mem_cache_size is None
    assert null.native_vector_width_float is None
    assert null.single_fp_config is None
    assert null.architecture is None
    assert null.error_correction_support is None
    assert null.free_memory is None


def test_aspects():
    cpu = pp.Device("cpu")
    assert {"cpu", "fp64", "fp16", "atomic64", "online_compiler", "queue_profiling", "usm_shared_allocations"} <= set(cpu.aspects)
    assert cpu.has_aspect("fp64")
    assert not cpu.has_aspect("gpu")
    assert cpu.has_aspect("partitionable") == bool(cpu.partition_properties)
    with pytest.raises(ValueError, match=r'has_aspect: "fp65" is not an aspect; there are cpu, gpu'):
        cpu.has_aspect("fp65")


def test_select_device():
    assert pp.select_device(required=["cpu", "fp64"]).has_aspect("cpu")
    assert pp.select_device(required="cpu", excluded="gpu").type == "cpu"
    best = pp.select_device()
    assert best in pp.get_devices()
    assert best.type == "gpu" or pp.get_num_devices(device_type="gpu") == 0
    with pytest.raises(pp.DeviceNotFoundError, match=r"no device will do: .*cpu:0 \(.*\) has cpu"):
        pp.select_device(excluded=["cpu", "gpu", "accelerator"])
    with pytest.raises(ValueError, match=r'select_device: "tpu" is not an aspect'):
        pp.select_device(required="tpu")
    with pytest.raises(TypeError, match="required"):
        pp.select_device(required=[3])


def test_lists():
    cpu = pp.Device("cpu:0")
    assert cpu in pp.get_devices() == pp.get_devices("all", "all") == pp.get_devices(None)
    assert pp.get_devices("cpu") == [cpu]
    assert cpu in pp.get_devices(device_type="cpu")
    assert cpu not in pp.get_devices(device_type="gpu")
    assert pp.get_num_devices() == len(pp.get_devices())
    assert pp.get_num_devices("cpu", "gpu") == 0
    platforms = pp.get_platforms()
    assert sorted(d.id for p in platforms for d in p.devices) == sorted(d.id for d in pp.get_devices())
    (p,) = pp.get_platforms("cpu")
    assert (p.backend, p.name, p.devices) == ("cpu", "pardo CPU", (cpu,))
    assert p.vendor == "pardo"
    assert p.version == pp.__version__
    for wrong in (lambda: pp.get_devices("vulkan"), lambda: pp.get_platforms("vulkan"), lambda: pp.get_devices(device_type="npu")):
        with pytest.raises(ValueError):
            wrong()


def test_default_device():
    before = pp.Device()
    info = pp.__array_namespace_info__()
    pp.set_default_device("null")
    try:
        assert pp.Device() == pp.Device("null") == info.default_device()
        assert pp.empty(3).device.backend == "null"
    finally:
        pp.set_default_device(None)
    assert pp.Device() == before
    with pytest.raises(pp.DeviceNotFoundError, match="no device matches"):
        pp.set_default_device("nonsense")


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"PARDO_DEVICE": "cpu"}, "assert pp.Device().id == 'cpu:0'"),
        ({"PARDO_DEVICE": "cuda:gpu:55,cpu"}, "assert pp.Device().id == 'cpu:0'"),
        ({"PARDO_DEVICE": "null"}, "assert pp.Device().backend == 'null' and pp.zeros(3).device.id == 'null:0'"),
        ({"PARDO_DEVICES": "cpu"}, "assert [d.id for d in pp.get_devices()] == ['cpu:0']"),
        ({"PARDO_DEVICES": "!opencl,!cuda"}, "assert [d.id for d in pp.get_devices()] == ['cpu:0']"),
        ({"PARDO_DEVICES": "cpu:0"}, "assert pp.Device('cpu:0') == pp.Device('cpu')"),
        ({"PARDO_DEVICES": "cpu"}, "pp.Device('cpu'); pp.zeros(3).wait(); pp.wait(); pp.get_devices()" + NOTHING_LOADED),
        ({}, "pp.Device('cpu'); pp.zeros(3).wait(); pp.wait(); pp.get_devices('cpu')" + NOTHING_LOADED),
    ],
)  # fmt: skip
def test_environment(environment, code):
    inherited = {"PARDO_DEVICE": "", "PARDO_DEVICES": ""}
    done = run("-c", f"import pardo as pp; {code}", **{**inherited, **environment})
    assert done.returncode == 0, done.stderr


def test_no_visible_device():
    done = run("-c", "import pardo as pp; pp.zeros(3)", PARDO_DEVICES="!cpu,!opencl,!cuda")
    assert "leaves no device visible" in done.stderr
    done = run("-c", "import pardo as pp; pp.zeros(3)", PARDO_DEVICES="cpx")
    assert 'PARDO_DEVICES=cpx: "cpx" is not a selection string' in done.stderr


def test_pickle():
    assert pickle.loads(pickle.dumps(pp.Device("cpu"))) == pp.Device("cpu")
    assert pickle.loads(pickle.dumps(pp.get_platforms("cpu"))) == pp.get_platforms("cpu")


def test_command_list():
    done = run("-m", "pardo", "--list", "-v", PARDO_DEVICES="cpu", PARDO_DEVICE="")
    assert done.returncode == 0, done.stderr
    for word in ("Devices", "* ", "cpu:0", "partition_properties", "usm_shared_allocations"):
        assert word in done.stdout
    assert "None" not in done.stdout
    assert "Self-test" not in done.stdout


def test_command_json():
    done = run("-m", "pardo", "--json", PARDO_DEVICES="cpu", PARDO_DEVICE="")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["default_device"] == "cpu:0"
    assert report["pardo"] == pp.__version__
    (device,) = next(b for b in report["backends"] if b["name"] == "cpu")["devices"]
    assert set(_core._device_info_names()) | {"id", "type", "free_memory", "aspects"} == set(device)
    assert device["pci_address"] is None
    assert "fp64" in device["aspects"]
    for other in report["backends"]:
        if other["name"] != "cpu":
            assert other["unavailable"] == "hidden by PARDO_DEVICES"


def test_command_self_test_and_bandwidth():
    done = run("-m", "pardo", "--self-test", PARDO_DEVICES="cpu", PARDO_DEVICE="")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cpu:0: PASSED" in done.stdout
    done = run("-m", "pardo", "--self-test", PARDO_DEVICES="cpu", PARDO_DEVICE="", PARDO_CPU_FP64="0")
    assert "cpu:0: PASSED" in done.stdout
    code = (
        "import sys, pardo, pardo.__main__ as m; pardo.sort = lambda x, axis: x\n"
        "sys.exit(m.main(['--self-test']))"
    )  # fmt: skip
    done = run("-c", code, PARDO_DEVICES="cpu", PARDO_DEVICE="")
    assert done.returncode == 1
    assert "cpu:0: FAILED: sort: other results than NumPy's" in done.stdout
    done = run("-m", "pardo", "--bandwidth", PARDO_DEVICES="cpu", PARDO_DEVICE="", PARDO_MEMORY="64MiB")
    assert done.returncode == 0, done.stdout + done.stderr
    for word in ("GB/s", "host to device", "device to host", "add"):
        assert word in done.stdout


@pytest.mark.parametrize("variable", ["PARDO_DEVICE", "PARDO_DEVICES"])
@pytest.mark.parametrize("option", ["--list", "--json", "--self-test"])
def test_command_with_a_nonsense_environment(variable, option):
    done = run("-m", "pardo", option, **{"PARDO_DEVICES": "cpu", "PARDO_DEVICE": "", variable: "nonsense"})
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert f"{variable}=nonsense" in done.stderr + done.stdout
