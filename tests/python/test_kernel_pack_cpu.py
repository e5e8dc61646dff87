# tests/python/test_kernel_pack_cpu.py: kernels for CPUs that the wheel brings are taken without LLVM, and compute the same bits as those
# that are compiled here; others are compiled.
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from pardo import _core

PACK = _core._kernel_pack_info()
LEVELS = [target for target in PACK["targets"] if target.startswith("x86")]
BYTES = {"x86-64-v3": "32", "x86-64-v4": "64"}

pytestmark = pytest.mark.once
needs_levels = pytest.mark.skipif(not LEVELS, reason="the wheel was built with PARDO_KERNELS=off, or not for x86-64")

# Draws, special functions, filters, orders and reductions of both precisions; all is in cmake/kernels.
USUAL = """
import hashlib
import numpy as np
import pardo as pp

host = np.random.default_rng(5).random(10**6)
rng = pp.random.default_rng(3)
digest = hashlib.sha256()
def add(*results):
    for x in results:
        digest.update(np.ascontiguousarray(pp.asnumpy(x)).tobytes())
for name, *arguments in (("gamma", 2), ("poisson", 10), ("binomial", 10, 0.5), ("standard_normal",), ("integers", 0, 1000), ("beta", 2, 3)):
    add(getattr(rng, name)(*arguments, size=10**6))
add(rng.standard_normal(10**6, dtype="float32"), rng.permutation(10**6))
for dtype in ("float64", "float32"):
    x = pp.asarray(host.astype(dtype)).wait()
    image = pp.asarray(host[:250000].reshape(500, 500).astype(dtype)).wait()
    of = pp.special
    add(*(f(x) for f in (of.gammaln, of.j0, of.ndtri, of.digamma, of.erfinv, pp.sin, pp.tanh, pp.exp, pp.log1p, pp.arctan)))
    add(pp.ndimage.convolve(image, np.ones((5, 5), dtype)), pp.ndimage.median_filter(image, 3), pp.ndimage.gaussian_filter(image, 1.0))
    add(pp.median(x), pp.sort(x), pp.cumsum(x), pp.std(x), pp.mean(x), pp.argmax(x), pp.histogram(x, 100)[0])
"""
COUNTS = "c = pp.counters(); print(digest.hexdigest(), c['from_pack'], c['compiled'], c['from_disk'], c['fallbacks'])\n"


def run(code=USUAL + COUNTS, **environment):
    """Runs code with an empty cache; a digest of its results, the counts, and its messages."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PARDO_")} | {"PARDO_CACHE": "off"}
    done = subprocess.run([sys.executable, "-c", code], env=variables | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    digest, *counts = done.stdout.split()
    return digest, list(map(int, counts)), done.stderr


def level_of(vector_bytes):
    """The level of this machine's code, if it is as wide."""
    code = f"import pardo as pp; import sys; print(pp.Device('cpu').native_vector_width_char == {vector_bytes}, 0)"
    return run(code, PARDO_CPU_VECTOR_BYTES=vector_bytes)[0] == "True"


@needs_levels
@pytest.mark.parametrize("level", LEVELS)
def test_usual_calls_need_no_llvm_and_give_the_same_bits(level):
    if not level_of(BYTES[level]):
        pytest.skip(f"this processor does not run {level}")
    environment = {"PARDO_CPU_VECTOR_BYTES": BYTES[level]}
    digest, counts, _ = run(**environment)
    assert counts[0] > 30
    assert counts[1:] == [0, 0, 0]
    same, counts, _ = run(PARDO_KERNEL_PACK="off", **environment)
    assert same == digest
    assert counts[0] == 0
    assert counts[1] > 30


@needs_levels
def test_short_vectors_have_no_level():
    _, counts, _ = run(PARDO_CPU_VECTOR_BYTES="16")
    assert counts[0] == 0
    assert counts[1] > 30


@needs_levels
def test_other_kernels_are_compiled():
    code = "import pardo as pp\nx = pp.arange(100.0)\nprint(float((x * 3.25 - x / 7.5 + x * x * 0.01).wait()[2]), end=' ')\n"
    _, counts, _ = run(code + "c = pp.counters(); print(c['compiled'])")
    assert counts[0] > 0


def changed(path, of_entries, of_groups):
    """The pack with other bytes: each entry and the packed codes go through a function."""
    data = bytearray(Path(PACK["path"]).read_bytes())
    _, _, targets, entries, groups = struct.unpack_from("<8s4I", data)
    start = 24 + 16 * targets
    rows = [of_entries(struct.unpack_from("<2Q4I", data, start + 32 * i)) for i in range(entries)]
    data[start : start + 32 * entries] = b"".join(struct.pack("<2Q4I", *row) for row in sorted(rows))
    codes = start + 32 * entries + 16 * groups
    data[codes:] = of_groups(data[codes:])
    path.write_bytes(data)
    return str(path)


@needs_levels
def test_what_is_damaged_is_compiled(tmp_path):
    expected, _, _ = run(PARDO_KERNEL_PACK="off")
    damaged = changed(tmp_path / "kernels.pack", lambda row: row, lambda codes: bytes(len(codes)))
    digest, counts, messages = run(PARDO_KERNEL_PACK=damaged)
    assert digest == expected
    assert counts[0] == 0
    assert counts[1] > 30
    assert counts[3] > 30  # each is a fallback
    assert messages.count("has changed or is damaged") == 1


@needs_levels
def test_what_another_build_made_is_not_taken(tmp_path):
    """Another version of LLVM, of the emitter, or another build of pardo gives other hashes."""
    other = changed(tmp_path / "kernels.pack", lambda row: (row[0] ^ 1, *row[1:]), lambda codes: codes)
    _, counts, messages = run(PARDO_KERNEL_PACK=other)
    assert counts[0] == 0
    assert counts[1] > 30
    assert counts[3] == 0
    assert not messages


@pytest.mark.parametrize("vector_bytes", ["16", "64"])
def test_kernels_are_listed_for_all_levels(tmp_path, vector_bytes):
    """Also where the processor has none of the levels."""
    code = "import pardo as pp\nx = pp.arange(100.0)\nprint(float((x * 3.25).sum()), end=' ')\nprint(pp.counters()['compiled'])\n"
    value, counts, _ = run(code, PARDO_KERNEL_LISTING=str(tmp_path), PARDO_CPU_VECTOR_BYTES=vector_bytes)
    assert value == str(sum(range(100)) * 3.25)
    assert counts[0] > 0
    listed = tmp_path / "list"
    rows = [line.split(" ", 3) for line in listed.read_text().splitlines()]
    levels = {level for _, level, _, _ in rows}
    assert levels <= set(BYTES)
    assert len({key for key, _, _, _ in rows}) == len(rows) == len(levels) * counts[0]
    assert all((tmp_path / file).read_bytes().startswith(b"\x7fELF") for _, _, file, _ in rows)


@needs_levels
@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "2"])
def test_every_listed_call_works_without_llvm(threads):
    """Texts of kernels do not depend on the number of threads. A draw may take more rounds than while the wheel was built."""
    folder = Path(__file__).resolve().parents[2] / "cmake" / "kernels"
    code = f"import runpy, sys; sys.argv = ['programs.py', 'cpu']; sys.path.insert(0, {str(folder)!r})\n"
    code += f"import pardo as pp; runpy.run_path({str(folder / 'programs.py')!r})\n"
    _, counts, messages = run(code + "c = pp.counters(); print('-', c['from_pack'], c['compiled'])", PARDO_NUM_THREADS=threads)
    assert not [line for line in messages.splitlines() if line.startswith("kernels:")]
    assert counts[0] > 1000
    assert counts[1] <= counts[0] // 100
