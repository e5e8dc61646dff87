# tests/python/test_opencl.py: the OpenCL back end around the life of a process: what it says, how it ends, what a fork leaves.
import os
import subprocess
import sys
from pathlib import Path

import pardo as pp
import pytest

pytestmark = pytest.mark.once

DEVICES = [str(d.id) for d in pp.get_devices("opencl")]
needs_device = pytest.mark.skipif(not DEVICES, reason="no OpenCL device")


def run(code, *arguments, **environment):
    """Runs code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"PARDO_CACHE": "off"} | environment,
        check=False,
    )


def test_a_wrong_way_to_memory_is_named():
    done = run("import pardo as pp; pp.get_devices('opencl')", PARDO_OPENCL_MEMORY="disk")
    assert "ValueError: PARDO_OPENCL_MEMORY=disk: it is usm, svm or buffer" in done.stderr


LISTING = "import pardo as pp; print(pp.get_devices('opencl')); pp.Device('opencl')"


def test_a_machine_without_drivers_is_told_what_to_install(tmp_path):
    done = run(LISTING, OCL_ICD_VENDORS=str(tmp_path), OCL_ICD_FILENAMES="")
    assert done.stdout == "[]\n"
    assert "DeviceNotFoundError: Device: no device matches" in done.stderr
    assert "pocl-opencl-icd" in done.stderr


def test_a_driver_that_does_not_load_is_named(tmp_path):
    (tmp_path / "broken.icd").write_text("libnowhere.so\n")
    (tmp_path / "empty.icd").write_text("")
    done = run(LISTING, OCL_ICD_VENDORS=str(tmp_path), OCL_ICD_FILENAMES="")
    assert done.stdout == "[]\n"
    if "no OpenCL loader" not in done.stderr:
        assert f"OCL_ICD_VENDORS={tmp_path}" in done.stderr
    assert "broken.icd names libnowhere.so, which cannot be loaded (libnowhere.so: cannot open shared object file" in done.stderr
    assert "empty.icd names no library" in done.stderr


def test_a_driver_whose_name_is_no_text_is_named(tmp_path):
    (tmp_path / "broken.icd").write_bytes(b"lib\xf3.so\n")
    code = "import runpy; runpy.run_module('pardo', run_name='__main__')"
    done = run(code, "--list", OCL_ICD_VENDORS=str(tmp_path), OCL_ICD_FILENAMES="", PARDO_DEVICES="cpu,opencl")
    assert r"broken.icd names lib\xf3.so, which cannot be loaded" in done.stdout, done.stderr
    done = run(LISTING, OCL_ICD_VENDORS=str(tmp_path), OCL_ICD_FILENAMES="")
    assert r"broken.icd names lib\xf3.so, which cannot be loaded" in done.stderr


def test_a_way_to_memory_that_is_no_text_is_named():
    done = run("import pardo as pp; pp.get_devices('opencl')", PARDO_OPENCL_MEMORY="a\udcf3b")
    assert r"ValueError: PARDO_OPENCL_MEMORY=a\xf3b: it is usm, svm or buffer" in done.stderr


@needs_device
@pytest.mark.parametrize("device", DEVICES)
def test_a_build_log_that_is_no_text_is_shown(device):
    with pytest.raises(pp.CompileError, match=r"does not compile it(.|\n)*xf3"):
        pp.Program(device, b"kernel void k(global int* x) {\n#error \xf3\n}\n", "opencl")


@needs_device
def test_a_broken_driver_beside_a_good_one_is_named(tmp_path):
    for icd in Path(os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")).glob("*.icd"):
        (tmp_path / icd.name).write_text(icd.read_text())
    (tmp_path / "broken.icd").write_text("libnowhere.so\n")
    done = run(
        "import runpy; runpy.run_module('pardo', run_name='__main__')", "--list", OCL_ICD_VENDORS=str(tmp_path), PARDO_DEVICES="opencl"
    )
    assert "opencl:0" in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if "left out" in line)
    assert "broken.icd names libnowhere.so, which cannot be loaded (libnowhere.so: cannot open shared object file" in line


def test_a_driver_of_a_wheel_that_lacks_something_is_named(tmp_path):
    """As intel-opencl-rt without the package that holds its compiler's libraries."""
    packages = tmp_path / "lib" / "python3" / "site-packages"
    packages.mkdir(parents=True)
    (tmp_path / "lib" / "libintelocl.so").write_text("no library")
    code = f"import pardo as pp; pp._core._install({{'library_folders': [{str(packages)!r}]}})\nprint(pp._core._get_backends())"
    environment = {k: v for k, v in os.environ.items() if k != "OCL_ICD_VENDORS"} | {"PARDO_DEVICES": "opencl", "PARDO_CACHE": "off"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=environment, check=False)
    if DEVICES:
        assert f"{tmp_path}/lib/libintelocl.so of the package intel-opencl-rt cannot be loaded" in done.stdout
    else:
        assert done.returncode == 0, done.stderr


@needs_device
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("path", ["svm", "buffer"])
def test_arrays_on_every_way_to_memory(device, path):
    code = """
import sys, numpy as np, pardo as pp
a = np.random.default_rng(1).random((50, 60)).astype(np.float32)
try:
    x = pp.asarray(a, device=sys.argv[1])
except pp.DeviceError as e:
    assert 'PARDO_OPENCL_MEMORY' in str(e), e
    sys.exit()
y = (pp.sqrt(x) * 2 + x[::-1]).sum(axis=1)
x[3:5] = 7
np.testing.assert_allclose(np.asarray(y.to_device('cpu')), (np.sqrt(a) * 2 + a[::-1]).sum(axis=1), rtol=1e-5)
a[3:5] = 7
np.testing.assert_array_equal(np.asarray(x.to_device('cpu')), a)

@pp.kernel
def counts(x, y):
    y[pp.get_global_id(0)] = x.shape[0] + 1

for unread in (x[0], x[0, :0], pp.ones(5, device=sys.argv[1])):
    y = pp.zeros(8, dtype=pp.int64, device=sys.argv[1])
    counts[8](unread, y)
    assert (np.asarray(y.to_device('cpu')) == unread.size + 1).all()
"""
    done = run(code, device, PARDO_OPENCL_MEMORY=path)
    assert done.returncode == 0, done.stderr


@needs_device
@pytest.mark.parametrize("device", DEVICES)
def test_a_process_may_end_with_work_in_flight(device):
    code = """
import sys, pardo as pp
x = pp.ones((1000, 1000), dtype=pp.float32, device=sys.argv[1])
for _ in range(20):
    x = pp.sin(x) + 1
    x.force()
print("bye")
"""
    done = run(code, device)
    assert (done.returncode, done.stdout) == (0, "bye\n"), done.stderr


@needs_device
@pytest.mark.parametrize("device", DEVICES)
def test_a_forked_child_hears_that_it_cannot_use_the_device(device):
    code = """
import os, sys, pardo as pp
x = pp.ones(1000, dtype=pp.float32, device=sys.argv[1])
y = x + 1
y.wait()
child = os.fork()
if child == 0:
    try:
        (y * 2).wait()
    except pp.DeviceError as e:
        sys.exit(0 if "cannot be used after fork(); start processes with \\"spawn\\"" in str(e) else 2)
    sys.exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert float((y * 2).sum().to_device("cpu")) == 4000
"""
    done = run(code, device)
    assert done.returncode == 0, done.stderr


@needs_device
@pytest.mark.parametrize("device", DEVICES)
def test_longs_become_doubles_in_loops_of_neighbours(device, tmp_path):
    # Intel's compiler of 2026.2 dies of the conversion itself on processors without AVX-512, of which the variable makes one.
    code = """
import sys, numpy as np, pardo as pp

@pp.kernel
def pairs(item: pp.Item, x, even, odd):
    i = item.get_id(0)
    a = b = 0.0
    for k in range(0, x.shape[1], 2):
        a += float(x[i, k])
        b += float(x[i, k + 1])
    even[i], odd[i] = a, b

edges = [0, 1, -1, 2**31, -2**31 - 1, 2**32 - 1, -2**32, 2**53 + 1, -2**53 - 1, 2**62 + 513, 2**63 - 1, -2**63, 2**63 - 513, -2**63 + 511]
a = np.array([edges, edges[::-1], list(range(len(edges)))])
x = pp.asarray(a, device=sys.argv[1])
np.testing.assert_array_equal(pp.asnumpy(x.astype("f8")), a.astype("f8"))
np.testing.assert_allclose(pp.asnumpy(pp.mean(x, axis=1)), a.mean(axis=1), rtol=1e-12)
even, odd = (pp.zeros(3, device=sys.argv[1]) for _ in range(2))
pairs[pp.Range(3)](x, even, odd)
sums = np.cumsum(a.astype("f8").reshape(3, -1, 2), axis=1)[:, -1]
np.testing.assert_array_equal(np.stack([pp.asnumpy(even), pp.asnumpy(odd)], axis=1), sums)
"""
    (tmp_path / "pairs.py").write_text(code)  # kernels are made from their text
    run_it = "import runpy, sys; runpy.run_path(sys.argv[2])"
    done = run(run_it, device, str(tmp_path / "pairs.py"), CL_CONFIG_CPU_TARGET_ARCH="core-avx2")
    assert done.returncode == 0, done.stderr


@needs_device
@pytest.mark.parametrize("device", DEVICES)
def test_doubles_are_counted_and_compared_in_loops(device):
    # Intel's compiler of 2026.2 dies of these on processors without AVX-512, of which the variable makes one.
    code = """
import sys, numpy as np, pardo as pp
a = np.array([1.0, np.inf, -3.0, np.nan])
for host in (a, np.tile(a, 1000), np.tile(a, (500, 3))):
    x = pp.asarray(host, device=sys.argv[1])
    with np.errstate(invalid="ignore"):
        assert bool(pp.any(pp.abs(x) > 2)) and bool(pp.any(pp.isinf(x))) and not bool(pp.all(pp.isfinite(x)))
        assert int(pp.sum(pp.sqrt(x) > 0.5)) == (np.sqrt(host) > 0.5).sum()
        assert int(pp.count_nonzero(pp.floor(x))) == np.count_nonzero(np.floor(host))
        assert pp.sum(pp.isfinite(x), axis=-1).tolist() == np.isfinite(host).sum(axis=-1).tolist()
for size in (40, 4000):  # its vectoriser fails here with AVX-512 too
    z = np.arange(4 * size, dtype="f4").view("c8").reshape(2, size)
    for part in (z, z.astype("c16")):
        x = pp.asarray(part, device=sys.argv[1])
        assert np.allclose(pp.asnumpy(pp.abs(x).sum(axis=1)), np.abs(part).sum(axis=1), rtol=1e-5)
        assert np.allclose(pp.asnumpy(pp.sum(pp.abs(x) ** 3)), (np.abs(part) ** 3).sum(), rtol=1e-5)
"""
    done = run(code, device, CL_CONFIG_CPU_TARGET_ARCH="core-avx2")
    assert done.returncode == 0, done.stderr


ROTATING = """
import sys, numpy as np, pardo as pp

@pp.kernel
def counted(item: pp.Item, n, out):
    i = item.get_id(0)
    a = 0
    b = 1
    for k in range(n[i]):
        a, b = b, a + b
    out[i] = a

@pp.kernel
def tested(item: pp.Item, n, out):
    i = item.get_id(0)
    a, b, k = 0, 1, n[i]
    while k > 0:
        a, b = b, a + b
        k -= 1
    out[i] = a

@pp.kernel
def in_groups(item: pp.NdItem, n, out):
    i = item.get_global_id(0)
    shared = pp.local_array(8, out.dtype)
    a, b, c = 0, 1, 1
    for k in range(n[i]):
        a, b, c = b, c, b + c
    shared[item.get_local_id(0)] = a
    pp.group_barrier()
    out[i] = shared[item.get_local_id(0)]

@pp.kernel
def two_dimensions(item: pp.Item, n, out):
    i, j = item.get_id(0), item.get_id(1)
    a, b = False, True
    for k in range(n[i * 8 + j]):
        a, b = b, a ^ b
    out[i * 8 + j] = a

fibonacci = np.array([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610])
for counts, dtypes in (("int32", ("float32", "int64", "float64")), ("int64", ("int32", "uint64"))):
    rounds = np.arange(40) % 16
    n = pp.asarray(rounds.astype(counts), device=sys.argv[1])
    for dtype in dtypes:
        for kernel, space in ((counted, pp.Range(40)), (tested, pp.Range(40)), (in_groups, pp.NdRange(40, 8))):
            out = pp.zeros(40, dtype=dtype, device=sys.argv[1])
            kernel[space](n, out).wait()
            np.testing.assert_array_equal(pp.asnumpy(out), fibonacci[rounds])
    out = pp.zeros(40, dtype=bool, device=sys.argv[1])
    two_dimensions[pp.Range(5, 8)](n, out).wait()
    np.testing.assert_array_equal(pp.asnumpy(out), fibonacci[rounds] % 2 == 1)
"""


DIES = pytest.mark.xfail(reason="Intel's compiler of 2026.2 dies of some of them when it compiles for AVX-512", strict=False)


@needs_device
@pytest.mark.varied("arch")
@pytest.mark.parametrize("arch", ["core-avx2", pytest.param("skx", marks=DIES), ""])
@pytest.mark.parametrize("device", DEVICES)
def test_loops_that_pass_values_from_name_to_name(device, arch, tmp_path):
    # Intel's compiler of 2026.2 dies of them where all items start with the same values and have numbers of rounds of their own.
    path = tmp_path / "rotating.py"
    path.write_text(ROTATING)
    settings = {"CL_CONFIG_CPU_TARGET_ARCH": arch} if arch else {}
    done = run("import runpy, sys; runpy.run_path(sys.argv[2])", device, str(path), **settings)
    assert done.returncode == 0, done.stderr


TWO_DEVICES = """
import numpy as np, pardo as pp
first, second = pp.get_devices('opencl')
assert first.platform == second.platform and first != second
a = np.arange(1000.0)
expected = np.sqrt(a * 3 + 1)
arrays = [pp.asarray(a, device=d) for d in (first, second)]
for _ in range(3):  # one program each, in turns
    for x in arrays:
        assert np.array_equal(pp.asnumpy(pp.sqrt(x * 3 + 1)), expected)
        assert pp.arange(1000, device=x.device).sum() == 499500
        assert np.array_equal(pp.asnumpy(pp.sort(-x)), np.sort(-a))
moved = arrays[0].to_device(second)
moved += 1
arrays[0][:] = 7
assert np.array_equal(pp.asnumpy(moved), a + 1) and np.array_equal(pp.asnumpy(moved.to_device(first)), a + 1)
try:
    arrays[0] + moved
except pp.ExecutionPlacementError:
    pass
else:
    raise AssertionError('arrays of two devices met')

@pp.kernel
def scale(item: pp.Item, x, factor):
    i = item.get_id(0)
    x[i] = x[i] * factor

for x in arrays:
    scale[pp.Range(1000)](x, 2.0)
assert np.array_equal(pp.asnumpy(arrays[0]), np.full(1000, 14.0)) and np.array_equal(pp.asnumpy(arrays[1]), a * 2)
queue = pp.Queue(second, order='out_of_order')
far = pp.asarray(a, queue=queue)
queue.copy(far, moved).wait()
assert np.array_equal(pp.asnumpy(far), a + 1)
"""


@pytest.mark.skipif(not any("Portable" in d.platform for d in pp.get_devices("opencl")), reason="needs PoCL")
@pytest.mark.varied("path")
@pytest.mark.parametrize("path", ["svm", "buffer"])
def test_two_devices_of_one_platform(path, tmp_path):
    (tmp_path / "pocl.icd").write_text("libpocl.so.2\n")
    program = tmp_path / "program.py"
    program.write_text(TWO_DEVICES)
    done = run(
        f"import runpy; runpy.run_path({str(program)!r})",
        OCL_ICD_VENDORS=str(tmp_path),
        POCL_DEVICES="pthread pthread",
        PARDO_OPENCL_MEMORY=path,
    )
    assert done.returncode == 0, done.stderr


WRONG_INDICES = """
import numpy as np, pardo as pp
a = np.arange(24.0).reshape(4, 6)
calls = {
    "x[w]": lambda x, w: x[w],
    "take": lambda x, w: pp.take(x, w, axis=0),
    "x[w] = v": lambda x, w: x.__setitem__(w, 7.0) or x,
    "put_along_axis": lambda x, w: pp.put_along_axis(x[:, 0], w, 7.0, 0) or x,
}
for name, call in calls.items():
    for first in (None, pp.UserEvent()):  # that has not been set: nothing may wait for it in the call
        x, w = pp.asarray(a), pp.asarray(np.array([0, 4]))
        if first is not None:
            x.queue.fill(x, 1.0, depends=[first])
        y = call(x, w) + 1
        if first is not None:
            first.set_complete()
        for read in (y.wait, lambda: pp.asnumpy(y)):
            try:
                read()
            except IndexError as error:
                assert "index 4 is out of bounds for axis 0 with size 4" in str(error), error
            else:
                raise AssertionError(name)
print("ended")
"""


@needs_device
@pytest.mark.parametrize("device", DEVICES)
def test_wrong_indices_fail_where_the_host_sees_no_memory(device):
    done = run(WRONG_INDICES, PARDO_OPENCL_MEMORY="buffer", PARDO_DEVICE=device)
    assert done.stdout == "ended\n", done.stderr


MANY_RANGES = """
import sys, threading, pardo as pp

@pp.kernel
def add(item: pp.Item, x, n):
    i = item.get_id(0)
    for k in range(2000):
        x[i] += n

text = "__kernel void twice(__global float *x) { for (int k = 0; k < 2000; ++k) x[get_global_id(0)] += 1; }"

def work(queue, program):
    for r in range(8):
        arrays = [pp.zeros(n, dtype="float32", queue=queue).force() for n in (1000, 2000, 3000, 40000, 50000 + r)]
        for x in arrays:
            add[x.size](x, 1.0)
        for x in arrays:
            program.twice[x.size](x)
        for x in arrays:
            assert float(x[x.size - 1]) == 4000

def at_once(devices, order):
    queues = [pp.Queue(d, order=order) for d in devices]
    failed = []
    def run(queue):
        try:
            work(queue, pp.Program(queue.device, text))
        except BaseException as error:
            failed.append(error)
    threads = [threading.Thread(target=run, args=(q,)) for q in queues]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failed, failed

at_once(sys.argv[1:], "out_of_order")
at_once(sys.argv[1:] * 3, "in_order")
print("ended")
"""


@needs_device
@pytest.mark.parametrize("device", DEVICES)
def test_one_kernel_over_many_ranges_at_a_time(device):
    done = run(MANY_RANGES, device)
    assert done.stdout == "ended\n", done.stderr
