# tests/python/test_ipc.py: memory that several processes use: handles, what they name, and who keeps it.
from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pardo as pp
import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE = os.environ.get("PARDO_TEST_FAKE_CUDA") or next(map(str, sorted(ROOT.glob("build/*/libcuda_fake.so"))), "")
OTHERS = [d for d in pp.get_devices() if d.backend not in ("cpu", "cuda")]

HELPER = """
import sys
import numpy as np
import pardo as pp

for line in sys.stdin:
    code, _, data = line.rstrip("\\n").partition("|")
    try:
        scope = {"pp": pp, "np": np, "h": pp.IpcHandle.from_bytes(bytes.fromhex(data))} if data else {"pp": pp, "np": np}
        scope["kept"] = globals().setdefault("kept", {})
        print(repr(eval(code, scope)), flush=True)
    except Exception as error:
        print(type(error).__name__ + ": " + str(error), flush=True)
"""


class Other:
    """Another process, which evaluates expressions with a handle `h` and keeps what they put into `kept`."""

    def __init__(self, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HELPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )

    def __enter__(self) -> Other:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()

    def ask(self, code: str, handle: Any = None) -> str:
        assert self.process.stdin
        assert self.process.stdout
        print(f"{code}|{'' if handle is None else bytes(handle).hex()}", file=self.process.stdin, flush=True)
        return self.process.stdout.readline().rstrip("\n")


def filled(*shape: int, dtype: Any = np.float64) -> pp.Array:
    x = pp.ipc_empty(shape, dtype)
    x[...] = np.arange(x.size).reshape(shape).astype(dtype)
    return x


def test_what_one_process_writes_the_other_reads() -> None:
    x = filled(3, 4)
    with Other() as other:
        assert other.ask("kept.setdefault('y', pp.from_ipc(h)).tolist()", x.ipc_handle()) == repr(x.tolist())
        x[1, 2] = 50
        assert other.ask("float(kept['y'][1, 2])") == "50.0"
        assert other.ask("kept['y'].fill(7)") == "None"
        np.testing.assert_array_equal(x, np.full((3, 4), 7.0))
        assert other.ask("float((kept['y'] * 2).sum())") == "168.0"


@pytest.mark.parametrize(
    "view", ["x[1:]", "x[:, ::-2]", "x.T", "x[2, 3:4]", "x[::-1, 1:3]", "x[1:1]", "x[:, None, 1]", "x[0, 0:1].reshape(())"]
)
def test_views_are_the_same_places(view: str) -> None:
    x = filled(3, 4, dtype=np.int16)
    shown = eval(view, {"x": x})
    with Other() as other:
        handle = shown.ipc_handle()
        assert handle.shape == shown.shape
        assert (handle.dtype, handle.memory, handle.writable) == (np.dtype(np.int16), "host", True)
        assert other.ask("pp.from_ipc(h).tolist()", handle) == repr(np.asarray(shown).tolist())
        assert other.ask("pp.from_ipc(h).fill(-1)", handle) == "None"
        np.testing.assert_array_equal(shown, np.full(shown.shape, -1))
        assert int((x == -1).sum()) == shown.size


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "c8", "c16", "bfloat16", [("a", "<f4"), ("b", "<i4", (2,))]], ids=str)
def test_dtypes(dtype: Any) -> None:
    element = pp.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    x = pp.ipc_empty(5, element)
    with Other() as other:
        assert x.ipc_handle().dtype == x.dtype
        assert other.ask("str(pp.from_ipc(h).dtype), pp.from_ipc(h).shape", x.ipc_handle()) == repr((str(x.dtype), (5,)))


def test_a_read_only_array_is_read_only_there() -> None:
    x = filled(4)
    x.flags.writeable = False
    with Other() as other:
        assert other.ask("pp.from_ipc(h).flags.writeable", x.ipc_handle()) == "False"
        assert "read-only" in other.ask("pp.from_ipc(h).fill(1)", x.ipc_handle())


def test_a_reader_sees_what_is_written_beside_it() -> None:
    x = filled(10)
    view = x[:]
    view.flags.writeable = False
    r = pp.from_ipc(view.ipc_handle())
    assert pp.shares_memory(x, r)
    assert not r.flags.writeable
    x[1:] = r[:-1]
    np.testing.assert_array_equal(x, [0, *range(9)])
    x[...] = r[::-1]
    np.testing.assert_array_equal(x, [*range(8, -1, -1), 0])
    with Other() as other:
        code = "kept.setdefault('r', pp.from_ipc(h)).flags.writeable"
        assert other.ask(code, view.ipc_handle()) == "False"
        assert other.ask(
            "(lambda w: (w.fill(3), kept['r'].tolist(), pp.shares_memory(w, kept['r'])))(pp.from_ipc(h))", x.ipc_handle()
        ) == repr((None, [3.0] * 10, True))


def test_handles_of_records_are_equal() -> None:
    x = pp.ipc_empty(3, [("a", "f4"), ("b", "i4")])
    h = x.ipc_handle()
    assert pickle.loads(pickle.dumps(h)) == h == pp.IpcHandle.from_bytes(bytes(h))


def test_handles_are_plain_data() -> None:
    x = filled(2)
    h = x.ipc_handle()
    assert pickle.loads(pickle.dumps(h)) == h == pp.IpcHandle.from_bytes(bytearray(bytes(h)))
    assert hash(h) == hash(x.ipc_handle())
    assert h != x[:1].ipc_handle()
    assert repr(h) == f"<IpcHandle float64 (2,) in memory of the host, of process {os.getpid()}>"
    assert len(bytes(h)) < 500
    with pytest.raises(TypeError, match=r"x\.ipc_handle\(\) makes one"):
        pp.IpcHandle()


def test_the_same_process_gets_the_same_memory() -> None:
    x = filled(6)
    y = pp.from_ipc(x[2:].ipc_handle())
    y[0] = 100
    assert float(x[2]) == 100
    assert pp.shares_memory(x, y)
    z = pp.from_ipc(y.ipc_handle(), device="cpu")
    del x, y
    assert float(z[0]) == 100


def test_opened_twice_it_is_one_memory() -> None:
    x = filled(6)
    with Other() as other:
        code = "(lambda a, b: (b.fill(3), a.tolist(), pp.shares_memory(a, b)))(pp.from_ipc(h), pp.from_ipc(h))"
        assert other.ask(code, x.ipc_handle()) == repr((None, [3.0] * 6, True))


def test_memory_lives_as_long_as_a_process_has_it() -> None:
    x = filled(5)
    with Other() as other:
        assert other.ask("kept.setdefault('y', pp.from_ipc(h)).shape", x.ipc_handle()) == "(5,)"
        handle = x.ipc_handle()
        del x
        assert other.ask("kept['y'].tolist()") == "[0.0, 1.0, 2.0, 3.0, 4.0]"
        with Other() as third:
            assert third.ask("pp.from_ipc(h)", handle).startswith("FileNotFoundError")
            # Who has opened it can hand it on.
            passed = pp.IpcHandle.from_bytes(bytes.fromhex(other.ask("bytes(kept['y'].ipc_handle()).hex()")[1:-1]))
            assert third.ask("pp.from_ipc(h).tolist()", passed) == "[0.0, 1.0, 2.0, 3.0, 4.0]"


def test_an_owner_that_ends_leaves_nothing_behind(tmp_path: Path) -> None:
    def shared() -> set[str]:  # other programs of the machine share memory too
        return {name for name in os.listdir("/dev/shm") if "pardo" in name} if os.path.isdir("/dev/shm") else set()

    names = shared()
    for end in ("close", "kill"):
        owner = Other(TMPDIR=str(tmp_path))
        text = owner.ask("bytes(kept.setdefault('x', pp.ipc_empty(1000)).ipc_handle()).hex()")
        handle = pp.IpcHandle.from_bytes(bytes.fromhex(text[1:-1]))
        y = pp.from_ipc(handle)
        y[...] = 4
        if end == "kill":
            owner.process.send_signal(signal.SIGKILL)
        owner.__exit__()
        assert float((y + 1).sum()) == 5000
        del y
        with pytest.raises(FileNotFoundError, match=f"process {handle.process}, which made the handle, has ended"):
            pp.from_ipc(handle)
    assert shared() <= names
    assert list(tmp_path.iterdir()) == []


def test_a_forked_child_has_the_memory() -> None:
    code = """
import os
import pardo as pp
x = pp.ipc_empty(3)
x[...] = 1
h = x.ipc_handle()
child = os.fork()
if child == 0:
    x[0] = 10
    pp.from_ipc(h)[1] = 20
    pp.from_ipc(x[2:].ipc_handle())[0] = 30
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert x.tolist() == [10, 20, 30], x
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_submitted_is_complete() -> None:
    x = pp.ipc_empty(200_000)
    with Other() as other:
        for i in range(5):
            x[...] = pp.arange(200_000) * i
            assert other.ask("float(pp.from_ipc(h).max())", x.ipc_handle()) == repr(199_999.0 * i)


def test_threads_open_and_drop() -> None:
    owner = Other()
    text = owner.ask("bytes(kept.setdefault('x', pp.ipc_empty(1000)).ipc_handle()).hex()")
    data = bytes.fromhex(text[1:-1])
    failures: list[BaseException] = []

    def work(k: int) -> None:
        try:
            for _ in range(50):
                y = pp.from_ipc(data)
                y[k] = k
                assert float(y[k]) == k
                del y
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        pp.from_ipc(data)
    assert len(os.listdir("/proc/self/fd")) <= files + 2
    owner.__exit__()


@pytest.mark.parametrize("shape", [0, (0, 3), (2, 0)])
def test_nothing_is_nothing(shape: Any) -> None:
    x = pp.ipc_empty(shape, np.float32)
    with Other() as other:
        assert other.ask("pp.from_ipc(h).shape", x.ipc_handle()) == repr(x.shape)
    assert pp.zeros(shape).ipc_handle().shape == x.shape  # whoever has nothing may share it


# --- bad input ----------------------------------------------------------------------------------------------------------------------


def test_private_memory_says_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"of this process alone: make an array by pp\.ipc_empty\(shape, dtype\)"):
        pp.ones(3).ipc_handle()
    with pytest.raises(ValueError, match="of this process alone"):
        (filled(3) + 1).ipc_handle()
    with pytest.raises(ValueError, match="of this process alone"):
        pp.asarray(np.ones(3), copy=False).ipc_handle()


@pytest.mark.parametrize("device", OTHERS, ids=lambda d: d.id)
def test_devices_that_share_nothing(device: pp.Device) -> None:
    for call in (lambda: pp.ones(3, device=device).ipc_handle(), lambda: pp.ipc_empty(3, device=device)):
        with pytest.raises(pp.DeviceError, match=f"processes cannot share memory of {device.id}; they share arrays of 'cpu'"):
            call()
    with pytest.raises(ValueError, match="the handle is of memory of the CPU"):
        pp.from_ipc(filled(3).ipc_handle(), device=device)


@pytest.mark.parametrize("wrong", [None, 3, "text", np.ones(3)])
def test_from_ipc_takes_handles_only(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"from_ipc: expected what x\.ipc_handle\(\) gives"):
        pp.from_ipc(wrong)


def changed(handle: pp.IpcHandle, **facts: Any) -> bytes:
    magic, _, text = bytes(handle).partition(b"\n")
    old = json.loads(text)
    for key, value in facts.items():
        (old["place"] if key in old["place"] else old)[key] = value
    return magic + b"\n" + json.dumps(old).encode()


@pytest.mark.parametrize(
    "facts",
    [
        {"shape": [1 << 20]},
        {"shape": [-1]},
        {"shape": [3.0]},
        {"shape": [3, 1]},
        {"strides": [1 << 40]},
        {"strides": [-8]},
        {"offset": 4090},
        {"offset": -8},
        {"bytes": 8},
        {"dtype": "O"},
        {"dtype": "nonsense"},
        {"dtype": "<M8[s]"},
        {"dtype": "|V8"},
        {"shape": [1] * 33, "strides": [8] * 33},
        {"dtype": [["a", "O"]]},
        {"memory": "disk"},
        {"writable": 1},
        {"place": None},
        {"process": "1"},
    ],
    ids=str,
)
def test_damaged_handles_are_refused(facts: dict[str, Any]) -> None:
    x = filled(4)
    with pytest.raises(ValueError, match="the handle is damaged"):
        pp.from_ipc(changed(x.ipc_handle(), **facts))


def test_bytes_that_are_no_handle() -> None:
    x = filled(4)
    with pytest.raises(ValueError, match="these are not the bytes of a handle"):
        pp.from_ipc(b"hello")
    for cut in (33, 40, 100, len(bytes(x.ipc_handle())) - 1):
        with pytest.raises(ValueError, match="handle is damaged"):
            pp.from_ipc(bytes(x.ipc_handle())[:cut])
    with Other() as other:
        assert other.ask("pp.from_ipc(h)", pp.IpcHandle.from_bytes(changed(x.ipc_handle(), bytes=1 << 30, shape=[1 << 20]))).startswith(
            "ValueError: from_ipc: the handle is damaged: it names 1073741824 bytes of a file that has 4096"
        )


def test_handles_of_elsewhere() -> None:
    h = filled(4).ipc_handle()
    with Other() as other:
        for facts, said in [
            ({"boot": "another"}, "ValueError: from_ipc: the handle is of another machine"),
            ({"space": 1}, "ValueError: from_ipc: the handle is of a process in another container"),
            ({"process": 1 << 30}, "has ended or let go"),
            ({"started": 1}, "has ended or let go"),
            ({"inode": 1}, "has ended or let go"),
            ({"file": 0}, "has ended or let go"),
            ({"file": 1}, "has ended or let go"),
            ({"file": 999}, "has ended or let go"),
        ]:
            assert said in other.ask("pp.from_ipc(h)", pp.IpcHandle.from_bytes(changed(h, **facts))), facts


def test_too_much_memory() -> None:
    with pytest.raises(MemoryError, match=r"ipc_empty: .* GiB are wanted"):
        pp.ipc_empty(1 << 50)
    with pytest.raises(ValueError, match="negative"):
        pp.ipc_empty(-1)
    with pytest.raises(TypeError, match="ipc_empty"):
        pp.ipc_empty(3, "O")


# --- memory of GPUs: where there is none, by a driver that has no GPU ------------------------------------------------------------------

GPUS = [d for d in pp.get_devices() if d.backend == "cuda"]
FAKED = {"PARDO_CUDA_DRIVER": FAKE, "FAKE_CUDA_DEVICES": "2", "PARDO_DEVICES": "cpu,cuda"}
WITH_GPU: dict[str, str] = {} if GPUS else FAKED
needs_gpu = pytest.mark.skipif(not GPUS and not FAKE, reason="the fake driver is not built (target cuda_fake)")


@needs_gpu
def test_blocks_of_gpus() -> None:
    make = "kept.setdefault('x', pp.asarray(np.arange(6.0).reshape(2, 3), device='cuda:0'))"
    with Other(**WITH_GPU) as owner, Other(**WITH_GPU) as other:

        def handle_of(code: str) -> pp.IpcHandle:
            return pp.IpcHandle.from_bytes(bytes.fromhex(owner.ask(f"bytes({code}.ipc_handle()).hex()")[1:-1]))

        owner.ask(make + ".shape")
        handle = handle_of("kept['x'][:, ::-1]")
        assert other.ask("pp.from_ipc(h).shape, pp.from_ipc(h).strides", handle) == "((2, 3), (24, -8))"
        handle = handle_of("kept['x'][1]")  # the view itself goes at once
        assert handle.memory == "device"
        assert other.ask("kept.setdefault('y', pp.from_ipc(h)).device.id", handle) == "'cuda:0'"
        assert other.ask("kept['y'].tolist()") == "[3.0, 4.0, 5.0]"
        assert other.ask("kept['y'].queue.copy(kept['y'], pp.asarray(np.array([8.0, 4, 5]), device='cuda:0')).wait()") == "None"
        assert owner.ask("kept['x'].tolist()") == "[[0.0, 1.0, 2.0], [8.0, 4.0, 5.0]]"
        # In the owner itself it is the same memory.
        assert owner.ask("pp.from_ipc(h).tolist()", handle) == "[8.0, 4.0, 5.0]"
        # What others have open is kept, however the program lets go of it.
        assert owner.ask("kept.pop('x').shape") == "(2, 3)"
        assert owner.ask("pp.asarray(np.full((2, 3), -1.0), device='cuda:0').shape") == "(2, 3)"
        assert other.ask("kept['y'].tolist()") == "[8.0, 4.0, 5.0]"
        assert other.ask("kept.clear()") == "None"
        # Then it goes, at the next look.
        owner.ask(make + ".shape")
        handle_of("kept['x']")
        assert "has ended or let go" in other.ask("pp.from_ipc(h)", handle)
        assert other.ask("pp.from_ipc(h, device='cpu')", handle_of("kept['x']")).startswith(
            "ValueError: from_ipc: the handle is of memory of cuda:0, not of cpu:0"
        )
        assert other.ask("pp.from_ipc(h).dtype, pp.from_ipc(h).shape", handle_of("kept['x'][:0]")) == "(dtype('float64'), (0, 3))"
        owner.ask("kept.setdefault('b', pp.asarray(np.arange(3), dtype=pp.bfloat16, device='cuda:0'))")
        assert other.ask("str(pp.from_ipc(h).dtype), pp.from_ipc(h).tolist()", handle_of("kept['b']")) == "('bfloat16', [0.0, 1.0, 2.0])"
        owner.ask("kept.setdefault('r', pp.ipc_empty(3, [('a', 'f4'), ('b', 'i4')], device='cuda:0')).shape")
        assert other.ask("pp.from_ipc(h).dtype.names, pp.from_ipc(h).shape", handle_of("kept['r']")) == "(('a', 'b'), (3,))"
        # What the owner itself has opened keeps it, too.
        assert owner.ask("kept.setdefault('z', pp.from_ipc(kept['b'].ipc_handle())).shape, kept.pop('b').shape") == "((3,), (3,))"
        assert other.ask("pp.from_ipc(h).shape", handle_of("kept['z'][:2]")) == "(2,)"
        assert "memory of kind 'host' is of this process alone" in owner.ask("pp.empty(3, device='cuda', usm_type='host').ipc_handle()")
    assert "which this process does not see; CUDA_VISIBLE_DEVICES may hide it" in _without_gpu(handle)


def _without_gpu(handle: pp.IpcHandle) -> str:
    with Other(**WITH_GPU) as third:
        return third.ask("pp.from_ipc(h)", pp.IpcHandle.from_bytes(changed(handle, uuid="00000000-0000-0000-0000-00000000ffff")))


@needs_gpu
def test_a_process_that_is_killed_lets_go() -> None:
    with Other(**WITH_GPU) as owner:
        code = "bytes(kept.setdefault('x', pp.asarray(np.ones(5), device='cuda')).ipc_handle()).hex()"
        handle = pp.IpcHandle.from_bytes(bytes.fromhex(owner.ask(code)[1:-1]))
        with Other(**WITH_GPU) as other:
            assert other.ask("kept.setdefault('y', pp.from_ipc(h)).tolist()", handle) == repr([1.0] * 5)
            other.process.kill()
        assert owner.ask("kept.clear()") == "None"
        from_pardo = "__import__('pardo._ipc.blocks')._ipc.blocks"
        assert owner.ask(f"{from_pardo}.sweep(), len({from_pardo}._named)") == "(None, 0)"
