# tests/python/test_mpi.py: programs that mpiexec starts: arrays in messages of mpi4py, and pardo.mpi, one array over the processes.
from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE = os.environ.get("PARDO_TEST_FAKE_CUDA") or next(map(str, sorted(ROOT.glob("build/*/libcuda_fake.so"))), "")
MPIEXEC = shutil.which("mpiexec")

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not MPIEXEC, reason="there is no mpiexec: Debian's is in openmpi-bin"),
    pytest.mark.skipif(not importlib.util.find_spec("mpi4py"), reason="mpi4py is not installed"),
]

BEGIN = """
import os, sys
import numpy as np
import pardo as pp
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size

def same(x, expected, tolerance=0):
    host = pp.asnumpy(x)
    assert host.shape == np.shape(expected) and host.dtype == np.asarray(expected).dtype, (host, expected)
    np.testing.assert_allclose(host, expected, rtol=tolerance, atol=tolerance)

def joined(arrays, axis=0):
    return np.concatenate([pp.asnumpy(x) for x in arrays], axis=axis)

def raises(kind, words, call):
    try:
        result = call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"{kind.__name__} was not raised, but {result} returned")
"""
SHARDED = """
from pardo.mpi import from_parts, shard
X = np.random.default_rng(1).standard_normal((13, 6))
"""


def start(tmp_path: Path, code: str, ranks: int = 2, **variables: str) -> subprocess.CompletedProcess[str]:
    """The program, in so many processes."""
    program = tmp_path / "program.py"
    program.write_text(BEGIN + textwrap.dedent(code))
    assert MPIEXEC
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    environment = {**os.environ, **allowed, **variables}
    return subprocess.run(
        [MPIEXEC, "-n", str(ranks), sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def run(tmp_path: Path, code: str, ranks: int = 2, **variables: str) -> str:
    done = start(tmp_path, code + "\nprint('done')", ranks, **variables)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == ranks
    return done.stdout


# --- arrays in messages -----------------------------------------------------------------------------------------------------------------


def test_messages_of_arrays(tmp_path):
    """By the buffer protocol: what is sent is computed first, and what is received is seen by operations that come after."""
    run(
        tmp_path,
        """
        x, y = pp.arange(6.0).reshape(2, 3) + rank, pp.zeros((2, 3))
        with pp.writable_buffers(y):
            comm.Sendrecv(x * 2, dest=1 - rank, recvbuf=y, source=1 - rank)
        same(y + 1, (np.arange(6.0).reshape(2, 3) + 1 - rank) * 2 + 1)
        with pp.writable_buffers(y):
            comm.Allreduce(x, y)
        same(y, np.arange(6.0).reshape(2, 3) * 2 + 1)
        with pp.writable_buffers(y):
            comm.Bcast(y if rank else x.reshape(2, 3).copy(), root=0) if rank else comm.Bcast(x, root=0)
        if rank: same(y, np.arange(6.0).reshape(2, 3))
        shared = pp.asarray(np.zeros((2, 6)), copy=False)      # writable always
        comm.Allgather(x.ravel(), shared)
        same(shared, np.arange(6.0) + np.arange(2)[:, None])
        for kind in "?", "i2", "u8", "f4", "c16":
            z = pp.zeros(5, dtype=kind)
            with pp.writable_buffers(z):
                comm.Sendrecv(pp.ones(5, dtype=kind), dest=1 - rank, recvbuf=z, source=1 - rank)
            same(z, np.ones(5, kind))
        raises((BufferError, ValueError), "", lambda: comm.Send(pp.arange(10.0)[::2], dest=1 - rank))
        raises((BufferError, ValueError), "", lambda: comm.Recv(np.broadcast_to(pp.asnumpy(x), (4, 2, 3)), source=1 - rank))
        got = comm.sendrecv([x, pp.ones(3, dtype="f4")], dest=1 - rank, source=1 - rank)    # pickled
        same(got[0], np.arange(6.0).reshape(2, 3) + 1 - rank)
        request = comm.Isend(x + 1, dest=1 - rank)             # the sum lives as long as the request
        with pp.writable_buffers(y):
            comm.Recv(y, source=1 - rank)
        request.Wait()
        same(y, np.arange(6.0).reshape(2, 3) + 2 - rank)
        """,
    )


@pytest.mark.skipif(not FAKE, reason="libcuda_fake.so is not built (target cuda_fake)")
def test_messages_of_cudas_memory(tmp_path):
    """mpi4py asks for DLPack with stream=-1: the value is complete then, and no stream waits."""
    run(
        tmp_path,
        """
        class Tensor:
            def __init__(self, x): self.x, self.streams = x, []
            def __dlpack_device__(self): return self.x.__dlpack_device__()
            def __dlpack__(self, **keywords):
                self.streams.append(keywords["stream"])
                return self.x.__dlpack__(**keywords)
        class Interface:
            def __init__(self, x): self.x = x
            __cuda_array_interface__ = property(lambda self: self.x.__cuda_array_interface__)
        host = np.arange(12.0).reshape(3, 4)
        x = pp.asarray(host + rank, device="cuda:0", usm_type="shared").to_device("cuda:1")     # recorded
        # MPI of this machine reads no memory of a device; the host's own, which it does, is sent in the same way
        for wrap in Tensor, Interface:
            sent, there = (pp.empty((3, 4), device="cuda:1", usm_type="shared") for _ in range(2))
            pp.Queue.of("cuda:1").copy(sent, x).wait()
            message = wrap(sent)
            comm.Sendrecv(message, dest=1 - rank, recvbuf=wrap(there), source=1 - rank)
            assert getattr(message, "streams", [-1]) == [-1]
            same(there, host + 1 - rank)
        """,
        PARDO_CUDA_DRIVER=FAKE,
        FAKE_CUDA_DEVICES="2",
        PARDO_DEVICES="",
    )


# --- one array over the processes --------------------------------------------------------------------------------------------------------

GROUP = """
s = shard(X, comm, device=DEVICE)
g = s.group
X, n = X, g.size
for p in g.owned:
    same(s._parts[p], X[s.layout.extent(p)])
assert s.shape == X.shape and s.bounds[-1] == 13 and len(s.shards) == len(g.owned)
assert g.all_gather({p: (p, "text") for p in g.owned}) == [(p, "text") for p in range(n)]
everywhere = g.all_gather_arrays(s._parts)
for p in g.owned:
    np.testing.assert_array_equal(joined(everywhere[p]), X)
    assert {x.queue for x in everywhere[p]} == {g.queue(p)}
queue = pp.Queue.of("cpu")
np.testing.assert_array_equal(joined(g.gather(s._parts, queue)), X)
pieces = {(p, q): s._parts[p] for p in g.owned for q in range(n) if p <= q}
shapes = {(p, q): (s.layout.local_shape(p), s.dtype) for p in range(n) for q in g.owned if p <= q}
arrived = g.exchange(pieces, shapes)
assert set(arrived) == set(shapes)
for (p, q), x in arrived.items():
    same(x, X[s.layout.extent(p)])
    assert x.queue == g.queue(q)
assert g.exchange({}, {}) == {}
for x in g.broadcast(s._parts.get(n - 1), n - 1, None).values():
    same(x, X[s.layout.extent(n - 1)])
for kind in "?", "i1", "f2", "c8":
    z = shard(X.astype(kind), comm, axis=1, device=DEVICE)
    np.testing.assert_array_equal(joined(g.gather(z._parts, queue), axis=1), X.astype(kind))
z = shard(X.astype("f4").astype(pp.bfloat16), comm, device=DEVICE)
np.testing.assert_array_equal(joined(g.gather(z._parts, queue)), X.astype("f4").astype(pp.bfloat16))
none = shard(np.zeros((0, 3)), comm, device=DEVICE)
np.testing.assert_array_equal(joined(g.gather(none._parts, queue)), np.zeros((0, 3)))
unequal = shard(X, comm, weights=[*range(1, n), 0], device=DEVICE)
assert unequal.bounds[-2] == 13 and unequal.shards[-1].shape[0] == (0 if n - 1 in g.owned else unequal.shards[-1].shape[0])
np.testing.assert_array_equal(joined(g.gather(unequal._parts, queue)), X)
"""
FOLDS = """
parts = {p: x[:2] + p for p, x in s._parts.items()}
whole = [X[s.layout.extent(p)][:2] + p for p in range(n)]
total = whole[0]
for x in whole[1:]: total = total * 0.3 + x             # the order is that of the parts
for x in g.all_reduce(parts, lambda a, b: a * 0.3 + b).values(): same(x, total, 1e-15)
among = [1, *range(2, n)]
folded = g.fold({p: (x, x[0]) for p, x in parts.items()}, lambda a, b: (a[0] + b[0], pp.maximum(a[1], b[1])), among)
for first, second in folded.values():
    same(first, sum(whole[2:], whole[1]), 1e-15)
    same(second, np.max([x[0] for x in whole[1:]], axis=0))
"""


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_groups(tmp_path, ranks):
    run(tmp_path, SHARDED + "DEVICE = 'cpu'" + GROUP + FOLDS, ranks)


@pytest.mark.slow
def test_groups_with_several_parts_a_process(tmp_path):
    run(tmp_path, SHARDED + "DEVICE = [pp.Queue('cpu') for _ in range(1 + rank)]" + GROUP + FOLDS)


@pytest.mark.skipif(not FAKE, reason="libcuda_fake.so is not built (target cuda_fake)")
def test_groups_of_devices_that_the_host_does_not_read(tmp_path):
    """Through pinned memory; a process has the device of its number on the machine."""
    code = "DEVICE = 'cuda:*'" + GROUP + "assert [str(x.device.id) for x in s.shards] == [f'cuda:{rank}']"
    run(tmp_path, SHARDED + code, PARDO_CUDA_DRIVER=FAKE, FAKE_CUDA_DEVICES="2", PARDO_DEVICES="")


def test_groups_of_opencls_devices(tmp_path):
    """Whose memory other libraries cannot have."""
    import pardo as pp

    if not pp.get_devices("opencl"):
        pytest.skip("there is no OpenCL device")
    run(tmp_path, SHARDED + "same(shard(X, comm, device='opencl').to_device('cpu'), X)")


WIRES = """
from pardo._sharding import nccl
moved = []

class Wires:
    def __init__(self, queue, size, rank, unique_id):
        assert unique_id == b"id" and size == comm.size and rank == comm.rank
        self.comm = comm.Dup()
    def move(self, sends, receives):
        moved.append((len(sends), len(receives)))
        into = [(np.empty(x.nbytes, np.uint8), r) for x, r in receives]
        requests = [self.comm.Irecv(host, source=r) for host, r in into]
        requests += [self.comm.Isend(np.ascontiguousarray(np.asarray(x)).view(np.uint8), dest=r) for x, r in sends]
        MPI.Request.Waitall(requests)
        for (x, _), (host, _) in zip(receives, into):
            x[...] = host.view(x.dtype).reshape(x.shape)

nccl.LEAST, nccl.Wires, nccl.new_id, nccl.gpu_of = 1, Wires, lambda: b"id", lambda queues: f"gpu {comm.rank}"
"""


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_groups_with_wires_of_their_own(tmp_path, ranks):
    """What NCCL carries between GPUs, between CPUs by a class of its interface."""
    once = "assert len(g.channel.wires) == 1 and sum(s for s, _ in moved) and sum(r for _, r in moved)"
    run(tmp_path, SHARDED + "DEVICE = 'cpu'" + WIRES + GROUP + FOLDS + once, ranks)


def test_wires_that_one_rank_cannot_have_are_no_ranks(tmp_path):
    code = """
class Broken(Wires):
    def __init__(self, *args):
        super().__init__(*args)
        if rank: raise pp.DeviceError("no room")

nccl.Wires = Broken
raises(pp.DeviceError, "no room" if rank else "rank 1: no room", lambda: shard(X, comm))
nccl.Wires = Wires
same(shard(X, comm).to_device("cpu"), X)
"""
    run(tmp_path, SHARDED + WIRES + code)


PROGRAM = (
    SHARDED
    + """
s, t = shard(X, comm), shard(X[::-1].copy(), comm)
same(s * 2 + t, X * 2 + X[::-1])
same(pp.exp(s) / (1 + t * t), np.exp(X) / (1 + X[::-1] ** 2), 1e-14)
same(s + X[0], X + X[0])
same(s.sum(axis=0), X.sum(axis=0), 1e-13)
same(s.mean(), np.mean(X), 1e-13)
same(s.max(axis=1), X.max(axis=1))
same(s[2:11:2], X[2:11:2])
same(s.T, X.T)
same(s.reshard(1), X)
same(s.reshard(1).sum(axis=0), X.sum(axis=0), 1e-13)
same(s.to_device("cpu"), X)
same(np.add(s, t), X + X[::-1])
same(pp.where(s > 0, s, t), np.where(X > 0, X, X[::-1]))
u = s.copy()
u[3:9] = 7
u += t
expected = X.copy()
expected[3:9] = 7
same(u, expected + X[::-1])
assert repr(s) and s.device == t.device and s.devices == t.devices
same(s.map_shards(lambda x: x * 3), X * 3)
same(pp.zeros(X.shape, device=s.device) + s, X)
sums = comm.allgather(pp.asnumpy(s.sum()).tobytes())
assert len(set(sums)) == 1
joined = from_parts(pp.full((2 + rank, 3), rank), comm)
same(joined, np.repeat(np.arange(size), [2 + r for r in range(size)])[:, None] * np.ones((1, 3), int))
same(from_parts(np.full((2, 1 + rank), float(rank)), comm, axis=-1)[:, -1], np.full(2, size - 1.0))
same(shard(X, comm, axis=None) + 1, X + 1)
same(shard(X.tolist(), comm), X)
same(shard(pp.asarray(X) + 1, comm), X + 1)
v = shard(X.ravel(), comm)
same(pp.sort(v), np.sort(X.ravel()))
same(pp.unique(pp.floor(v)), np.unique(np.floor(X)))
same(pp.cumsum(v), np.cumsum(X), 1e-12)
same(s.T @ s, X.T @ X, 1e-12)
same(pp.fft.fft(s, axis=0), np.fft.fft(X, axis=0), 1e-12)
same(pp.linalg.svdvals(s), np.linalg.svd(X, compute_uv=False), 1e-12)
same(v[v > 0], X[X > 0])
same(v[pp.asarray([50, 0, -1])], X.ravel()[[50, 0, -1]])
"""
)


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_functions(tmp_path, ranks):
    run(tmp_path, PROGRAM, ranks)


# --- failures -----------------------------------------------------------------------------------------------------------------------------


def test_errors_of_one_are_raised_by_all(tmp_path):
    run(
        tmp_path,
        SHARDED
        + """
s = shard(X, comm)
g = s.group
index = pp.asarray([20 if rank == 1 else 0])
words = "index 20 is out of bounds" if rank else "rank 1: "
raises(IndexError, words, lambda: g.all_gather_arrays({p: x[index] for p, x in s._parts.items()}))
raises(IndexError, words, lambda: g.all_reduce({p: x[index] for p, x in s._parts.items()}, lambda a, b: a + b))
def combine(a, b): raise ZeroDivisionError("of the first")
raises(ZeroDivisionError, "of the first", lambda: g.all_reduce(s._parts, combine))
def by_one(a, b): return combine(a, b) if rank == 0 else a + b
two = {p: x[:2] for p, x in s._parts.items()}
raises(ZeroDivisionError, "of the first" if rank == 0 else "rank 0: of the first", lambda: g.all_reduce(two, by_one))
raises(ValueError, "rank 0: axis 0, (13, 6) of float64; rank 1: axis 0, (3, 6) of float64", lambda: shard(X[:3] if rank else X, comm))
raises(ValueError, "rank 1: axis 1", lambda: shard(X, comm, axis=rank))
raises(ValueError, "of float32", lambda: shard(X.astype("f4") if rank else X, comm))
raises(np.exceptions.AxisError, "axis 5", lambda: shard(X, comm, axis=5))
raises(ValueError, "all ranks give the same weights", lambda: shard(X, comm, weights=[1, 1 + rank]))
raises(ValueError, "weights has 3 numbers for 2 parts", lambda: shard(X, comm, weights=[1, 1, 1]))
raises(ValueError, "weights must be numbers", lambda: shard(X, comm, weights=[-1, 1]))
raises(ValueError, "nothing", lambda: shard(X, comm, device="nothing" if rank else "cpu"))
raises(ValueError, "no visible device", lambda: shard(X, comm, device="nothing:*"))
raises(ValueError, "empty list", lambda: shard(X, comm, device=[]))
raises(TypeError, "mpi4py.MPI.Intracomm", lambda: shard(X, "comm"))
raises(TypeError, "COMM_NULL", lambda: shard(X, MPI.COMM_NULL))
raises(TypeError, "mpi.shard: not there for arrays over several devices", lambda: shard(s, comm))
raises(ValueError, "arrays of different", lambda: from_parts(np.zeros((2, 2 + rank)), comm))
raises(ValueError, "at least one dimension", lambda: from_parts(3.0, comm))
raises(ValueError, "device is one", lambda: from_parts(X, comm, device=["cpu", "cpu"]))
# arrays over other processes do not meet these, and those of equal ones do
alone = shard(X, MPI.COMM_SELF)
raises(pp.ExecutionPlacementError, "", lambda: s + alone)
same(alone + alone, 2 * X)
same(s + shard(X, comm), 2 * X)
assert g.all_gather({p: p for p in g.owned}) == [0, 1]
child = os.fork()
if child == 0:
    try:
        g.all_gather({p: p for p in g.owned})
    except RuntimeError as error:
        os._exit(0 if "child of fork" in str(error) else 1)
    os._exit(2)
assert os.waitpid(child, 0)[1] == 0
""",
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("if rank == 0: raise KeyError('lost')", "rank 0 has ended, by KeyError: 'lost'"),
        ("if rank == 0: sys.exit()", "rank 0 has ended before this call, which all ranks make or none"),
        (
            "if rank == 0: g.all_gather_arrays(s._parts)",
            "the ranks have made different calls: rank 0: all_gather_arrays, rank 1: all_gather",
        ),
    ],
    ids=["error", "end", "other call"],
)
def test_a_process_that_leaves_the_others(tmp_path, code, words):
    """They raise, and do not wait for it."""
    done = start(tmp_path, SHARDED + "s = shard(X, comm)\ng = s.group\n" + code + "\ng.all_gather({p: 1 for p in g.owned})")
    assert done.returncode not in (0, 124)
    assert words in done.stderr


def test_a_process_that_is_killed(tmp_path):
    """mpiexec ends all others."""
    kill = "import signal\nif rank == 0: os.kill(os.getpid(), signal.SIGKILL)\n"
    code = "s = shard(X, comm)\n" + kill + "s.group.all_gather({1: 1})\nprint('not reached')"
    done = start(tmp_path, SHARDED + code)
    assert done.returncode not in (0, 124)
    assert "not reached" not in done.stdout


def test_the_page(tmp_path):
    """Its program, which test_documents.py runs in one process, in two."""
    text = (ROOT / "docs" / "guide" / "processes.md").read_text()
    run(tmp_path, "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)))
