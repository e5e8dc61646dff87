# tests/python/test_vulkan.py: memory that Vulkan uses too: on the CPU with lavapipe, on GPUs by a CUDA driver that has none.
from __future__ import annotations

import ctypes
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pardo as pp
import pytest
import vulkan_calls

ROOT = Path(__file__).resolve().parents[2]
FAKE = os.environ.get("PARDO_TEST_FAKE_CUDA") or next(map(str, sorted(ROOT.glob("build/*/libcuda_fake.so"))), "")
IN_PLACE = [d for d in pp.get_devices() if "host_pointer" in pp.vulkan.capabilities(d)["make"]]
OTHERS = [d for d in pp.get_devices() if not any(pp.vulkan.capabilities(d).values())]
VERTEX = np.dtype([("at", "f4", (3,)), ("colour", "u1", (4,))])


@pytest.fixture(scope="module")
def vk() -> vulkan_calls.Vulkan:
    library = vulkan_calls.loader()
    if library is None:
        pytest.skip("Vulkan's loader (libvulkan.so.1) is not installed")
    made = vulkan_calls.Vulkan(library)
    if not made.shares_pointers:
        pytest.skip("Vulkan's driver lacks VK_EXT_external_memory_host, which the CPU device's memory needs")
    return made


@pytest.fixture(params=IN_PLACE, ids=lambda d: d.id)
def device(request: pytest.FixtureRequest) -> pp.Device:
    given: pp.Device = request.param
    return given


# --- memory of ours ---------------------------------------------------------------------------------------------------------------------


def test_vulkan_writes_what_an_array_shows(vk: vulkan_calls.Vulkan, device: pp.Device) -> None:
    x = pp.vulkan.empty((100, 4), "float32", device=device)
    x[...] = pp.arange(400, dtype="float32", device=device).reshape(100, 4)
    handle = x[2:, 1:3].external_handle("host_pointer")
    assert (handle.kind, handle.fd, handle.offset, handle.nbytes) == ("host_pointer", None, 36, 4096)
    assert (handle.shape, handle.strides, handle.dtype) == ((98, 2), (16, 4), np.dtype("f4"))
    memory = vk.import_pointer(handle.pointer, handle.nbytes)
    with vk.buffer(memory, handle.nbytes, True) as buffer:
        vk.fill(buffer, handle.offset, 8, 0x40000000)()
    assert pp.asnumpy(x[2]).tolist() == [8, 2, 2, 11]
    vk.free(memory)


def test_vulkan_reads_what_a_kernel_wrote(vk: vulkan_calls.Vulkan, device: pp.Device) -> None:
    x, y = (pp.vulkan.empty(1024, "int32", device=device) for _ in range(2))
    x[...] = 3 * pp.arange(1024, dtype="int32", device=device)
    handles = [a.external_handle("host_pointer") for a in (x, y)]
    memories = [vk.import_pointer(h.pointer, h.nbytes) for h in handles]
    with vk.buffer(memories[0], 4096, True) as source, vk.buffer(memories[1], 4096, True) as target:
        vk.copy(source, target, 4096)()
    assert pp.asnumpy(y + 1).tolist() == (3 * np.arange(1024) + 1).tolist()
    for memory in memories:
        vk.free(memory)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "c16", "bfloat16", VERTEX], ids=str)
def test_dtypes(dtype: Any) -> None:
    x = pp.vulkan.empty((3, 2), pp.bfloat16 if dtype == "bfloat16" else dtype, device="cpu")
    if dtype is VERTEX:
        x["at"], x["colour"] = 0.5, 200
        assert np.asarray(x)["colour"].tolist() == [[[200] * 4] * 2] * 3
    else:
        x[...] = 1
        assert bool((x == 1).all())
    handle = x[1:].external_handle("host_pointer")
    assert (handle.offset, handle.dtype) == (2 * x.dtype.itemsize, x.dtype)


def test_a_handle_keeps_the_memory() -> None:
    x = pp.vulkan.empty(1000, "uint8", device="cpu")
    x[...] = 7
    handle = x.external_handle("host_pointer")
    del x
    gc.collect()
    y = pp.vulkan.from_handle(handle.pointer, 1000, "uint8", kind="host_pointer", owner=handle, device="cpu")
    assert int(y.sum()) == 7000
    assert "of 4096 bytes, uint8 (1000,) at byte 0" in repr(handle)
    with pytest.raises(TypeError, match=r"of this process alone"):
        pickle.dumps(handle)


def test_nothing_is_nothing(device: pp.Device) -> None:
    x = pp.vulkan.empty((0, 3), device=device)
    assert (x.shape, x.dtype) == ((0, 3), np.dtype("f8"))
    with pytest.raises(ValueError, match="an array without elements has no memory"):
        x.external_handle("host_pointer")
    with pp.vulkan.turn(x):
        pass


# --- memory of Vulkan's -----------------------------------------------------------------------------------------------------------------


def test_mapped_memory_is_an_array(vk: vulkan_calls.Vulkan, device: pp.Device) -> None:
    memory, address = vk.allocate(4096)
    x = pp.vulkan.from_handle(address, 4096, "float32", (100, 5), kind="host_pointer", offset=64, device=device)
    x[...] = 1.5
    with vk.buffer(memory, 4096, False) as buffer:
        vk.fill(buffer, 64 + 5 * 4, 20, 0x40000000)()
    assert pp.asnumpy(x[:3]).tolist() == [[1.5] * 5, [2.0] * 5, [1.5] * 5]
    assert pp.vulkan.from_handle(address, 4096, kind="host_pointer", device=device).shape == (512,)
    vk.free(memory)


def test_the_owner_goes_with_the_last_array() -> None:
    class Owner:
        pass

    owner, memory = Owner(), np.zeros(64, np.uint8)
    gone = weakref.ref(owner)
    x = pp.vulkan.from_handle(memory.ctypes.data, 64, "uint8", kind="host_pointer", owner=owner, device="cpu")
    view = x[10:20]
    del x, owner
    gc.collect()
    assert gone() is not None
    view[...] = 3
    assert memory[10:20].tolist() == [3] * 10
    del view
    gc.collect()
    pp.wait()
    assert gone() is None


def test_the_cpu_opens_no_descriptors(vk: vulkan_calls.Vulkan) -> None:
    memory, fd = vk.allocate_exported(4096)
    with pytest.raises(pp.DeviceError, match="map the memory by vkMapMemory and give the address with kind='host_pointer'"):
        pp.vulkan.from_handle(fd, 4096, device="cpu")
    os.close(fd)
    vk.free(memory)


# --- turns ------------------------------------------------------------------------------------------------------------------------------


def test_work_is_recorded_in_a_turn_alone(device: pp.Device) -> None:
    x = pp.vulkan.empty(1000, device=device)
    x[...] = 1
    assert not (x + 1).pending
    with pp.vulkan.turn(x[10:], x):
        y = x + 1
        assert y.pending
        x[...] = y * 2
    z = x * 3
    assert not z.pending
    assert (float(y[0]), float(z[999])) == (2, 12)


def test_what_is_recorded_in_a_turn_reads_before_it_ends(vk: vulkan_calls.Vulkan, device: pp.Device) -> None:
    x = pp.vulkan.empty(1024, "uint32", device=device)
    x[...] = 5
    handle = x.external_handle("host_pointer")
    memory = vk.import_pointer(handle.pointer, handle.nbytes)
    with vk.buffer(memory, 4096, True) as buffer:
        with pp.vulkan.turn(x):
            y = x + 1
        vk.fill(buffer, 0, 4096, 9)()
    assert (int(y.sum()), int(x.sum())) == (6 * 1024, 9 * 1024)
    vk.free(memory)


def test_a_failure_is_raised_at_the_end_of_a_turn() -> None:
    x = pp.vulkan.empty(10, device="cpu")
    where = pp.asarray(np.array([3, 99]), device="cpu")

    @pp.jit
    def scatter(x, where):
        for i in pp.prange(where.shape[0]):
            x[where[i]] = 1.0

    with pytest.raises(IndexError, match="99"), pp.vulkan.turn(x):
        scatter(x, where)
    x[...] = 2
    assert float(x.sum()) == 20


def test_turns_do_not_meet(device: pp.Device) -> None:
    x = pp.vulkan.empty(10, "float64", device=device)
    block = pp.vulkan.turn(x)
    with block:
        for other in (block, pp.vulkan.turn(x[3:])):
            with pytest.raises(RuntimeError, match="an array is in another block already"):
                other.__enter__()
    with pytest.raises(RuntimeError, match="has not begun"):
        block.__exit__(None, None, None)
    with block:
        x[...] = 1
    mapped = np.zeros(8)
    one, other = (pp.vulkan.from_handle(mapped.ctypes.data, 64, kind="host_pointer", owner=mapped, device=device) for _ in range(2))
    assert pp.shares_memory(one, other)
    one[1:] = other[:-1] + 1
    assert mapped.tolist() == [0, *[1] * 7]
    with pytest.raises(ValueError, match="arrays of another call are the same memory"), pp.vulkan.turn(one):
        pass
    del other
    gc.collect()
    with pp.vulkan.turn(one):
        one[...] = 4
    assert mapped.tolist() == [4] * 8


# --- semaphores -------------------------------------------------------------------------------------------------------------------------


def test_queues_and_vulkan_take_turns(vk: vulkan_calls.Vulkan, device: pp.Device) -> None:
    x = pp.vulkan.empty(1024, "int32", device=device)
    x[...] = 100
    handle = x.external_handle("host_pointer")
    memory, timeline = vk.import_pointer(handle.pointer, handle.nbytes), vk.timeline()
    semaphore = pp.vulkan.Semaphore.of_device(vk.device, timeline)
    ends = []
    with vk.buffer(memory, 4096, True) as buffer:
        for i in range(3):
            with pp.vulkan.turn(x, wait=(semaphore, 3 * i + 1), signal=[(semaphore, 3 * i + 2)]):
                x[...] = x * 2 + i
            ends.append(vk.fill(buffer, 0, 2048, i, wait=(timeline, 3 * i + 2), signal=(timeline, 3 * i + 3)))
            assert vk.value_of(timeline) == 3 * i  # Python has not waited
            vk.set_value(timeline, 3 * i + 1)
            ends[-1]()
            assert vk.value_of(timeline) == 3 * i + 3
            assert pp.asnumpy(x).reshape(2, -1)[:, 0].tolist() == [i, [200, 401, 804][i]]
    vk.free(memory)


def test_semaphores_of_a_turn_are_for_all_queues(vk: vulkan_calls.Vulkan, device: pp.Device) -> None:
    x, timeline, other = pp.vulkan.empty(1000, "f4", device=device), vk.timeline(), pp.Queue("cpu")
    x[...] = 1
    held = np.ctypeslib.as_array((ctypes.c_float * 1000).from_address(x.external_handle("host_pointer").pointer))
    semaphore = pp.vulkan.Semaphore.of_device(vk.device, timeline)
    with pp.vulkan.turn(x, wait=(semaphore, 1), signal=(semaphore, 2)):
        y = pp.asarray(x, queue=other) if device.id == "cpu:0" else x.to_device("cpu")
        held[:] = 50
        vk.set_value(timeline, 1)
    assert pp.asnumpy(y)[:2].tolist() == [50, 50]
    gate, y = pp.UserEvent(), pp.zeros(1000, "f4", queue=other).wait()
    with pp.vulkan.turn(x, signal=(semaphore, 3)):
        other.barrier(depends=gate)
        other.copy(y, x)
    assert vk.value_of(timeline) < 3  # the other queue has not read yet
    gate.set_complete()
    semaphore.wait(3, other).wait()
    held[:] = 70
    assert pp.asnumpy(y)[:2].tolist() == [50, 50]


def test_blocks_that_are_dropped_end() -> None:
    x = pp.vulkan.empty(10, device="cpu")
    block = pp.vulkan.turn(x)
    block.__enter__()
    x[...] = 3
    del block
    gc.collect()
    with pp.vulkan.turn(x):
        assert float(x.sum()) == 30


def test_signals_of_a_turn_are_checked_before_it(vk: vulkan_calls.Vulkan) -> None:
    x, semaphore = pp.vulkan.empty(3, device="cpu"), pp.vulkan.Semaphore.of_device(vk.device, vk.timeline())
    with pytest.raises(ValueError, match="to be signalled twice, with 2 and 2; values grow"):
        pp.vulkan.turn(x, signal=[(semaphore, 2), (semaphore, 2)]).__enter__()
    with pp.vulkan.turn(x, signal=[(semaphore, 2), (semaphore, 3)]):
        x[...] = 1


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
def test_work_waits_for_a_value(vk: vulkan_calls.Vulkan, order: str, device: pp.Device) -> None:
    queue = pp.Queue(device, order=order)
    timeline = vk.timeline()
    semaphore = pp.vulkan.Semaphore.of_device(vk.device, timeline)
    before = pp.ones(1000, queue=queue) + 1
    waiting = semaphore.wait(5, queue)
    before.wait()
    after = (pp.ones(1000, queue=queue) + 2).sum()
    event, signalled = queue.submit(after), semaphore.signal(9, queue)
    vk.set_value(timeline, 4)
    assert [e.done() for e in (waiting, event, signalled)] == [False] * 3
    vk.set_value(timeline, 5)
    signalled.wait()
    assert (float(after), float(before[0]), vk.value_of(timeline)) == (3000, 2, 9)
    with pytest.raises(ValueError, match="value is 9, and 9 was signalled before; values grow"):
        semaphore.signal(9, queue)
    assert repr(semaphore) == "<vulkan.Semaphore timeline, by the host>"


def test_a_failed_kernel_is_raised_after_the_signal(vk: vulkan_calls.Vulkan) -> None:
    timeline, queue = vk.timeline(), pp.Queue("cpu")
    semaphore = pp.vulkan.Semaphore.of_device(vk.device, timeline)
    x, where = pp.vulkan.empty(10, queue=queue), pp.asarray(np.array([3, 99]), queue=queue)

    @pp.kernel
    def scatter(item: pp.Item, x, where):
        x[where[item.get_id(0)]] = 1.0

    with pp.vulkan.turn(x, wait=(semaphore, 1), signal=(semaphore, 2)):
        scatter[pp.Range(2)](x, where)
    vk.set_value(timeline, 1)
    with pytest.raises(IndexError, match="99"):
        queue.wait()
    assert vk.value_of(timeline) == 2
    x[...] = 0
    with pytest.raises(KeyError, match="own"), pp.vulkan.turn(x, signal=(semaphore, 3)):
        raise KeyError("own")
    assert vk.value_of(timeline) == 2  # an exception in the block signals nothing


def test_a_program_ends_though_a_value_is_not_reached(vk: vulkan_calls.Vulkan) -> None:
    code = f"""
    import sys
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    import pardo as pp
    import vulkan_calls
    vk = vulkan_calls.Vulkan(vulkan_calls.loader())
    semaphore = pp.vulkan.Semaphore.of_device(vk.device, vk.timeline())
    event = semaphore.wait(1, "cpu")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0
    # The wait may not have begun: then it is not told.
    assert not done.stderr or "the semaphore had not reached 1 when the program ended" in done.stderr


def test_wrong_semaphores(vk: vulkan_calls.Vulkan) -> None:
    x, semaphore = pp.vulkan.empty(3, device="cpu"), pp.vulkan.Semaphore.of_device(vk.device, vk.timeline())
    for value, kind, message in (
        (None, TypeError, "needs a value"),
        ("1", TypeError, "value must be an integer"),
        (True, TypeError, "value must be an integer"),
        (-1, ValueError, "without sign"),
        (1 << 64, ValueError, "without sign"),
    ):
        for call in (semaphore.wait, semaphore.signal):
            with pytest.raises(kind, match=message):
                call(value, "cpu")
        with pytest.raises(kind, match=message), pp.vulkan.turn(x, signal=(semaphore, value)):
            raise AssertionError
    for wrong in (3, (3, 4), [semaphore, 5], {semaphore: 1}):
        with pytest.raises(TypeError, match="must be semaphores"):
            pp.vulkan.turn(x, wait=wrong)
    with pytest.raises(pp.ExecutionPlacementError, match="a block is of one queue"):
        pp.vulkan.turn(x, pp.vulkan.empty(3, queue=pp.Queue("cpu")))
    for handles in ((0, 1), (1, 0), (1, -1), (1, 1 << 64)):
        with pytest.raises(ValueError, match="which is no handle"):
            pp.vulkan.Semaphore.of_device(*handles)
    with pytest.raises(TypeError, match="vk_device must be an integer"):
        pp.vulkan.Semaphore.of_device(None, 1)
    with pytest.raises(pp.DeviceError, match=r"cpu:0 has no driver .*; pp\.vulkan\.Semaphore\.of_device\(vk_device, vk_semaphore\)"):
        pp.vulkan.Semaphore(3, device="cpu")
    with pytest.raises(ValueError, match="kind"):
        pp.vulkan.Semaphore(3, "event", device="cpu")


# --- bad input --------------------------------------------------------------------------------------------------------------------------


def test_private_memory_says_what_to_do() -> None:
    for x in (pp.ones(3, device="cpu"), pp.vulkan.empty(3, device="cpu") + 1):
        with pytest.raises(ValueError, match=r"make one by pp\.vulkan\.empty\(shape, dtype\)"):
            x.external_handle("host_pointer")
        with pytest.raises(ValueError, match=r"make one by pp\.vulkan\.empty\(shape, dtype\)"):
            pp.vulkan.turn(x)
    with pytest.raises(ValueError, match="memory of the host has no descriptor; ask for 'host_pointer'"):
        pp.vulkan.empty(3, device="cpu").external_handle()
    with pytest.raises(ValueError, match="kind"):
        pp.vulkan.empty(3, device="cpu").external_handle("win32")
    with pytest.raises(TypeError, match="expected arrays"):
        pp.vulkan.turn()
    with pytest.raises(TypeError, match="expected arrays"):
        pp.vulkan.turn(np.ones(3))


@pytest.mark.parametrize("other", OTHERS, ids=lambda d: d.id)
def test_devices_that_share_nothing(other: pp.Device) -> None:
    for call in (
        lambda: pp.vulkan.empty(3, device=other),
        lambda: pp.vulkan.empty(0, device=other),
        lambda: pp.vulkan.from_handle(0, 8, device=other),
        lambda: pp.vulkan.from_handle(4096, 8, kind="host_pointer", device=other),
    ):
        with pytest.raises(pp.DeviceError, match=other.id):
            call()


@pytest.mark.parametrize("other", pp.get_devices("opencl"), ids=lambda d: d.id)
def test_what_opencl_lacks_is_named(other: pp.Device) -> None:
    by_host = r"pp\.vulkan\.Semaphore\.of_device"
    with pytest.raises(pp.DeviceError, match=f"{other.id} has no timeline semaphores, which OpenCL does not know; {by_host}"):
        pp.vulkan.Semaphore(0, device=other)
    lacks = "(lacks cl_khr_external_{}_opaque_fd|takes descriptors, but pardo gives them to CUDA's driver only)"
    with pytest.raises(pp.DeviceError, match=f"{other.id} {lacks.format('semaphore')}; {by_host}"):
        pp.vulkan.Semaphore(0, "binary", device=other)
    with pytest.raises(pp.DeviceError, match=f"{other.id} {lacks.format('memory')}.*; (it uses memory of the host in place|copy through)"):
        pp.vulkan.from_handle(0, 8, device=other)
    if other not in IN_PLACE:
        with pytest.raises(pp.DeviceError, match=f"{other.id} makes no memory for other drivers.*; allocate the memory in Vulkan"):
            pp.vulkan.empty(3, device=other)


@pytest.mark.parametrize(
    ("arguments", "keywords", "kind", "message"),
    [
        (("x", 8), {}, TypeError, "handle must be an integer"),
        ((True, 8), {}, TypeError, "handle must be an integer"),
        ((4096, 8.0), {}, TypeError, "nbytes"),
        ((4096, 0), {}, ValueError, "nbytes is 0"),
        ((4096, -8), {}, ValueError, "nbytes is -8"),
        ((0, 8), {}, ValueError, "0 is not an address"),
        ((1 << 60, 8), {}, ValueError, "is not an address"),
        ((4096, 8, "f8", 2), {}, ValueError, "the memory has 8 bytes"),
        ((4096, 64, "f8", 8), {"offset": 8}, ValueError, "from byte 8 on needs 72"),
        ((4096, 64), {"offset": 4}, ValueError, "offset is 4"),
        ((4096, 64), {"offset": -8}, ValueError, "offset is -8"),
        ((4096, 64, "f8", -1), {}, ValueError, "negative"),
        ((4096, 64, object), {}, TypeError, r"vulkan\.from_handle"),
        ((4096, 64), {"kind": "dma_buf"}, ValueError, "kind"),
        ((4096, 64), {"dedicated": 2}, TypeError, "dedicated"),
        ((4100, 64), {}, (ValueError, BufferError), "multiple"),
    ],
)
def test_wrong_arguments(arguments: Any, keywords: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        pp.vulkan.from_handle(*arguments, **{"kind": "host_pointer", "device": "cpu", **keywords})


def test_too_much_memory() -> None:
    for size in (1 << 50, 1 << 61):
        with pytest.raises(MemoryError, match=r"vulkan\.empty: .* GiB are wanted"):
            pp.vulkan.empty(size, "uint8", device="cpu")
    with pytest.raises(ValueError, match="negative"):
        pp.vulkan.empty(-1, device="cpu")


# --- memory of GPUs, by a driver that has no GPU ----------------------------------------------------------------------------------------

BEFORE = """
import ctypes, gc, mmap, os, subprocess, sys
import numpy as np
import pardo as pp
fake = ctypes.CDLL(os.environ["PARDO_CUDA_DRIVER"])
fake.fake_cuda_live.restype = ctypes.c_long

def live(*kinds):
    gc.collect()
    pp.wait()
    return [fake.fake_cuda_live(kind.encode()) for kind in kinds]

def of_vulkan(nbytes, name="fake CUDA memory"):
    fd = os.memfd_create(name)
    os.ftruncate(fd, nbytes)
    return fd

def shown(fd, dtype):
    return np.frombuffer(mmap.mmap(fd, os.fstat(fd).st_size), dtype)

def semaphore_of_vulkan(timeline):
    fd = of_vulkan(16, "fake CUDA semaphore")
    os.pwrite(fd, bytes([timeline]), 8)
    return fd, shown(fd, np.uint64)

def put(x, values):  # the fake driver runs copies, and no kernels
    x.queue.copy(x, pp.asarray(np.asarray(values, x.dtype), device="cuda:0")).wait()

CHILD = '''
import numpy as np, os, sys
import pardo as pp
fd, nbytes = map(int, sys.argv[1:])
y = pp.vulkan.from_handle(fd, nbytes, "int32", 4, device="cuda:0")
os.close(fd)
assert pp.asnumpy(y).tolist() == [1, 2, 3, 4]
y.queue.copy(y, pp.asarray(np.arange(5, 9, dtype=np.int32), device="cuda:0")).wait()
print("done", flush=True)
sys.stdin.readline()
assert pp.asnumpy(y).tolist() == [5, 6, 7, 8]
'''
"""


@pytest.fixture
def on_fake() -> Any:
    if not FAKE:
        pytest.skip("the fake driver is not built (target cuda_fake)")

    def run(code: str) -> None:
        environment = {**os.environ, "PARDO_CUDA_DRIVER": FAKE, "FAKE_CUDA_DEVICES": "2", "PARDO_DEVICES": "cpu,cuda"}
        program = BEFORE + textwrap.dedent(code)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False, timeout=120, env=environment
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr

    return run


def test_a_descriptor_of_ours(on_fake: Any) -> None:
    on_fake("""
        x = pp.vulkan.empty((100, 4), "float32", device="cuda:0")
        put(x, np.arange(400).reshape(100, 4))
        handle, again = x[2:].external_handle(), x.external_handle("opaque_fd")
        assert (handle.kind, handle.pointer, handle.nbytes, handle.offset) == ("opaque_fd", None, 2 << 20, 32)
        assert handle.fd != again.fd
        there = shown(handle.fd, np.float32)
        assert there[:400].tolist() == list(range(400))
        there[8:12] = 7
        assert pp.asnumpy(x[2:3]).tolist() == [[7] * 4]
        y = pp.vulkan.from_handle(again.fd, again.nbytes, "float32", 4, offset=32, device="cuda:0")
        assert pp.shares_memory(x, y) and pp.asnumpy(y).tolist() == [7] * 4
        os.close(again.fd)
        del x
        assert live("allocation", "reservation") == [1, 1]
        del y
        assert live("allocation", "reservation", "external memory") == [0, 0, 0]
        there[0] = 1  # who has opened it keeps it
        with pp.vulkan.turn(pp.vulkan.empty(3, device="cuda:1")):
            pass
        assert live("allocation") == [0]
    """)


def test_another_process_opens_it(on_fake: Any) -> None:
    on_fake("""
        x = pp.vulkan.empty(4, "int32", device="cuda:0")
        put(x, [1, 2, 3, 4])
        handle = x.external_handle()
        other = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(handle.fd), str(handle.nbytes)], pass_fds=[handle.fd], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True
        )
        assert other.stdout.readline() == "done\\n"
        assert pp.asnumpy(x).tolist() == [5, 6, 7, 8]
        del x
        assert live("allocation") == [0]
        other.stdin.close()  # it reads once more, from memory that this process has let go of
        assert other.wait(60) == 0
        other = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(handle.fd), str(handle.nbytes)], pass_fds=[handle.fd], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        other.kill()
        other.wait(60)
        y = pp.vulkan.from_handle(handle.fd, handle.nbytes, "int32", 4, device="cuda:0")
        assert pp.asnumpy(y).tolist() == [5, 6, 7, 8]
    """)


def test_memory_of_vulkans(on_fake: Any) -> None:
    on_fake("""
        fd = of_vulkan(8192)
        there = shown(fd, np.int32)
        x = pp.vulkan.from_handle(fd, 8192, "int32", (10, 3), offset=4096, device="cuda:0")
        whole = pp.vulkan.from_handle(fd, 8192, "int32", device="cuda:0")
        assert whole.shape == (2048,) and pp.shares_memory(x, whole)
        assert live("external memory") == [1]
        os.close(fd)
        put(x, np.arange(30).reshape(10, 3))
        assert there[1024:1054].tolist() == list(range(30))
        there[1024] = 50
        assert int(pp.asnumpy(x)[0, 0]) == 50 and int(pp.asnumpy(whole)[1024]) == 50
        files = len(os.listdir("/proc/self/fd"))
        del x
        assert live("external memory") == [1]
        del whole
        assert live("external memory") == [0]
        assert len(os.listdir("/proc/self/fd")) == files - 2  # the driver's, and the one that it is known by
    """)


def test_descriptors_that_are_refused(on_fake: Any) -> None:
    on_fake(r"""
        import pytest, socket
        fd = of_vulkan(8192)
        put(pp.vulkan.empty(3, device="cuda:0"), [1, 2, 3])
        before = len(os.listdir("/proc/self/fd"))

        def refused(kind, message, fd, nbytes=8192):
            with pytest.raises(kind, match=message):
                pp.vulkan.from_handle(fd, nbytes, "uint8", device="cuda:0")

        refused(ValueError, "is not an open file descriptor; Vulkan closes", 999)
        refused(ValueError, "-1 is not an open file descriptor", -1)
        refused(ValueError, "the descriptor is of 8192 bytes, and nbytes is 8193", fd, 8193)
        with open("/etc/passwd") as plain, open("/dev/null") as null, socket.socket() as connection:
            refused(ValueError, "is a plain file", plain.fileno())
            refused(ValueError, "is the device /dev/null", null.fileno())
            refused(ValueError, "is a socket", connection.fileno())
        folder = os.open("/", os.O_RDONLY)
        refused(ValueError, "is a folder", folder)
        os.close(folder)
        event = os.eventfd(0) if hasattr(os, "eventfd") else None
        if event is not None:
            refused(ValueError, "is a file of the kernel's", event)
            os.close(event)
        other = of_vulkan(8192, "llvmpipe memory fd")
        refused(pp.DeviceError, "cuda:0 does not open the descriptor .* it is of another device or driver", other)
        os.close(other)
        x = pp.vulkan.from_handle(fd, 4096, "uint8", device="cuda:0")
        refused(ValueError, "is known to have 4096 bytes", fd)
        with pytest.raises(ValueError, match="the memory is Vulkan's already"):
            x.external_handle()
        with pytest.raises(ValueError, match="has no address on the host; ask for 'opaque_fd'"):
            pp.vulkan.empty(3, device="cuda:0").external_handle("host_pointer")
        with pytest.raises(pp.DeviceError, match="does not use memory of the host in place"):
            pp.vulkan.from_handle(4096, 64, kind="host_pointer", device="cuda:0")
        with pytest.raises(TypeError, match="owner is for mapped addresses"):
            pp.vulkan.from_handle(fd, 4096, owner=x, device="cuda:0")
        with pytest.raises(MemoryError, match=r"1024\.0 GiB are wanted on cuda:0; .* are available \(cuMemCreate failed"):
            pp.vulkan.empty(1 << 40, "uint8", device="cuda:0")
        del x
        assert live("external memory", "allocation", "reservation") == [0, 0, 0]
        assert len(os.listdir("/proc/self/fd")) == before
    """)


def test_what_fails_in_between_leaves_nothing(on_fake: Any) -> None:
    on_fake("""
        import pytest
        fd = of_vulkan(4096)
        put(pp.vulkan.empty(3, device="cuda:0"), [1, 2, 3])
        before = len(os.listdir("/proc/self/fd"))
        for call in ("cuMemCreate", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"):
            fake.fake_cuda_fail_next(call.encode(), 1, 0)
            with pytest.raises(pp.DeviceError, match=call):
                pp.vulkan.empty(3, device="cuda:0")
        older = pp.ones(3, device="cuda:0").wait()
        with pytest.raises(ValueError, match="not an open file descriptor"):
            pp.vulkan.from_handle(1 << 40, 4096, device="cuda:0")
        for call, result in (("cuImportExternalMemory", 1), ("cuExternalMemoryGetMappedBuffer", 1), ("cuImportExternalMemory", 999)):
            fake.fake_cuda_fail_next(call.encode(), result, 0)
            with pytest.raises(pp.DeviceError, match=call):
                pp.vulkan.from_handle(fd, 4096, device="cuda:0")
        fake.fake_cuda_revive(0)  # a driver says "unknown" of what is not its own, and goes on
        assert pp.asnumpy(older).shape == (3,)
        x = pp.vulkan.empty(3, device="cuda:0")
        fake.fake_cuda_fail_next(b"cuMemExportToShareableHandle", 1, 0)
        with pytest.raises(pp.DeviceError, match="cuMemExportToShareableHandle"):
            x.external_handle()
        del x
        assert live("external memory", "allocation", "reservation") == [0, 0, 0]
        assert len(os.listdir("/proc/self/fd")) == before
    """)


def test_a_forked_child(on_fake: Any) -> None:
    on_fake("""
        x, h = pp.vulkan.empty(3, device="cuda:0"), pp.vulkan.empty(3, device="cpu")
        put(x, [1, 2, 3])
        h[...] = 1
        fd = x.external_handle().fd
        child = os.fork()
        if child == 0:
            code = 1
            try:
                x.external_handle()
            except (pp.DeviceError, ValueError):
                code = 0
            h[...] = 5
            del x
            gc.collect()
            os._exit(code + (float(h.sum()) != 15))
        assert os.waitpid(child, 0)[1] == 0
        assert pp.asnumpy(x).tolist() == [1, 2, 3] and h.tolist() == [1, 1, 1]
        assert shown(fd, np.float64)[:3].tolist() == [1, 2, 3]
    """)


def test_semaphores_of_gpus(on_fake: Any) -> None:
    on_fake("""
        import pytest
        fd, timeline = semaphore_of_vulkan(True)
        semaphore = pp.vulkan.Semaphore(os.dup(fd), device="cuda:0")
        assert repr(semaphore) == "<vulkan.Semaphore timeline, cuda:0>"
        for order in ("in_order", "out_of_order"):
            timeline[0] = 0
            semaphore = pp.vulkan.Semaphore(fd, device="cuda:0")
            queue = pp.Queue("cuda:0", order=order)
            x = pp.vulkan.empty(1000, "int32", queue=queue)
            source = pp.asarray(np.arange(1000, dtype=np.int32), queue=queue)
            queue.wait()
            with pp.vulkan.turn(x, wait=(semaphore, 1), signal=(semaphore, 2)):
                copied = queue.copy(x, source)
            assert (copied.done(), timeline[0]) == (False, 0)
            timeline[0] = 1
            queue.wait()
            assert timeline[0] == 2 and pp.asnumpy(x).tolist() == list(range(1000))
        other, binary = semaphore_of_vulkan(False)
        two = pp.vulkan.Semaphore(other, "binary", device="cuda:0")
        queue = pp.Queue("cuda:0")
        event = two.wait(where=queue)
        assert not event.done()
        binary[0] = 1
        event.wait()
        assert binary[0] == 0
        two.signal(None, queue).wait()
        assert binary[0] == 1
        # deferred work of the host comes first
        gate = pp.UserEvent()
        queue.barrier(depends=gate)
        late = semaphore.signal(7, queue)
        assert not late.done() and timeline[0] == 2
        gate.set_complete()
        late.wait()
        assert timeline[0] == 7
        waits = semaphore.wait(8, queue)
        del semaphore  # the driver still needs it
        gc.collect()
        timeline[0] = 8
        waits.wait()
        two = None
        assert live("external semaphore") == [0]

        for wrong, kind, message in (
            ("binary", pp.DeviceError, "as a binary semaphore .* of another device or driver, or of another kind"),
            ("event", ValueError, "kind"),
        ):
            with pytest.raises(kind, match=message):
                pp.vulkan.Semaphore(fd, wrong, device="cuda:0")
        with open("/etc/passwd") as plain, pytest.raises(ValueError, match="and not a semaphore of a Vulkan driver"):
            pp.vulkan.Semaphore(plain.fileno(), device="cuda:0")
        with pytest.raises(ValueError, match="is not an open file descriptor"):
            pp.vulkan.Semaphore(-1, device="cuda:0")
        with pytest.raises(pp.DeviceError, match="does not open the descriptor"):
            pp.vulkan.Semaphore(of_vulkan(4096), device="cuda:0")
        semaphore = pp.vulkan.Semaphore(fd, device="cuda:0")
        with pytest.raises(ValueError, match="the semaphore was opened for cuda:0, and the queue is of cuda:1"):
            semaphore.wait(1, "cuda:1")
        with pytest.raises(TypeError, match="a binary semaphore has no values"):
            pp.vulkan.Semaphore(other, "binary", device="cuda:0").wait(1)
    """)


def test_a_wait_on_a_gpu_outlives_its_program(on_fake: Any) -> None:
    on_fake("""
        fd, timeline = semaphore_of_vulkan(True)
        semaphore = pp.vulkan.Semaphore(fd, device="cuda:0")
        semaphore.wait(1)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                semaphore.signal(2)
            except pp.DeviceError:
                code = 0
            os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        timeline[0] = 1
        pp.wait()
    """)
