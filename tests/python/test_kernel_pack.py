# tests/python/test_kernel_pack.py: kernels for CUDA that the wheel brings are taken without NVRTC, on the fake driver of the C++ tests;
# others are compiled.
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from pardo import _core
from pardo.__main__ import _print_cache

ROOT = Path(__file__).resolve().parents[2]
FAKE = os.environ.get("PARDO_TEST_FAKE_CUDA") or next(map(str, sorted(ROOT.glob("build/*/libcuda_fake.so"))), "")
PACK = _core._kernel_pack_info()

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not FAKE, reason="libcuda_fake.so is not built (target cuda_fake)"),
    pytest.mark.skipif(not any("_" in t for t in PACK["targets"]), reason="the wheel was built without NVRTC, or with PARDO_KERNELS=off"),
]


def entries_of(pack):
    """A pack's targets, and where in the file the code of each text and number of a target is."""
    data = pack.read_bytes()
    magic, _, count, entries, groups = struct.unpack_from("<8s4I", data)
    assert magic == b"pardopak"
    targets = [data[24 + 16 * i :][:16].rstrip(b"\0").decode() for i in range(count)]
    start = 24 + 16 * count
    rows = [struct.unpack_from("<2Q4I", data, start + 32 * i) for i in range(entries)]
    places = [struct.unpack_from("<Q2I", data, start + 32 * entries + 16 * i)[0] for i in range(groups)]
    return targets, {((high, low), target): places[group] for low, high, target, _, group, _ in rows}


# What computes nothing on the fake driver, and is in cmake/kernels/programs.py.
USUAL = """
import sys
import pardo as pp
zeros = lambda shape, dtype='float32': pp.zeros(shape, dtype=dtype, device='cuda').wait()
rng = pp.random.default_rng(1)
results = [
    pp.sort(zeros(10**6)), pp.sort(zeros(500, 'int64')), pp.argsort(zeros(10**6, 'float64')), pp.median(zeros(10**6)),
    pp.linalg.cholesky(zeros((10**4, 16, 16), 'float64')), rng.standard_normal(10**7, device='cuda'), pp.cumsum(zeros(10**7)),
    pp.special.gammaln(zeros(10**7, "float64")),
]
pp.wait(*results)
"""
COUNTS = "c = pp.counters(); print(c['from_pack'], c['compiled'], c['from_disk'], c['fallbacks'])\n"


def run(code, **environment):
    """Runs code on the fake driver without NVIDIA's libraries, NVRTC least of all; what it prints, and its messages."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PARDO_")}
    variables |= {"PARDO_CUDA_DRIVER": FAKE, "FAKE_CUDA_MEMORY": "8000000000", "FAKE_CUDA_NUMBER": "1", "PARDO_CACHE": "off"}
    variables |= dict.fromkeys(("PARDO_NVRTC", "PARDO_CUBLAS", "PARDO_CUFFT", "PARDO_CUSOLVER"), "/nowhere.so") | environment
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


@pytest.mark.parametrize("arch", [80, 86, 90])
def test_usual_calls_need_no_nvrtc(arch):
    counts, _ = run(USUAL + COUNTS, FAKE_CUDA_ARCH=str(arch))
    from_pack, compiled, from_disk, fallbacks = map(int, counts)
    assert from_pack > 15
    assert (compiled, from_disk, fallbacks) == (0, 0, 0)


@pytest.mark.slow
def test_every_listed_call_works_without_nvrtc():
    programs = ROOT / "cmake" / "kernels" / "programs.py"
    _, messages = run(f"import runpy, sys; sys.argv = ['programs.py', 'cuda']; runpy.run_path({str(programs)!r})", FAKE_CUDA_ARCH="90")
    assert not [line for line in messages.splitlines() if "programs.py" in line and "does not fit: /nowhere.so" not in line]


def test_other_texts_and_devices_are_compiled():
    code = """
import numpy as np
import pardo as pp
x = pp.asarray(np.ones(100), device='cuda').wait()
try:
    pp.wait(x * 3.25 - x / 7.5)
except ImportError as e:
    assert 'pip install pardo[cuda]' in str(e), e
else:
    raise AssertionError('nothing compiled it')
"""
    counts, _ = run(code + COUNTS)
    assert counts[0] == "0"
    counts, _ = run(code + COUNTS, FAKE_CUDA_ARCH="70")
    assert counts[0] == "0"


def test_packs_can_be_left_out_and_damaged(tmp_path):
    code = "import pardo as pp\ntry:\n    pp.sort(pp.zeros(10**6, device='cuda')).wait()\nexcept ImportError:\n    print('none')\n" + COUNTS
    assert run(code, PARDO_KERNEL_PACK="off")[0][:2] == ["none", "0"]
    damaged = tmp_path / "kernels.pack"
    damaged.write_bytes(b"pardopak" + bytes(5000))
    counts, messages = run(code, PARDO_KERNEL_PACK=str(damaged))
    assert counts[:2] == ["none", "0"]
    assert f"{damaged} is damaged" in messages
    # What lists the codes is whole, and they are not.
    _, places = entries_of(Path(PACK["path"]))
    whole, first = Path(PACK["path"]).read_bytes(), min(places.values())  # the codes of all targets
    damaged.write_bytes(whole[:first] + bytes(len(whole) - first))
    counts, messages = run(code, PARDO_KERNEL_PACK=str(damaged))
    assert counts[:2] == ["none", "0"]
    assert int(counts[-1]) > 0
    assert "has changed or is damaged" in messages


def test_everything_was_compiled_for_every_target():
    """No text was left out: targets that have the same texts have code for all of them."""
    targets, places = entries_of(Path(PACK["path"]))
    assert targets == PACK["targets"]
    assert len(places) == PACK["kernels"]
    texts = {t: {text for text, number in places if targets[number] == t} for t in targets if not t.startswith("x86")}
    for before in (True, False):
        groups = [found for target, found in texts.items() if (int(target.split("_")[1]) < 90) == before]
        assert all(found == groups[0] for found in groups)


def test_it_is_shown(capsys):
    _print_cache()
    assert f"{PACK['kernels']} kernels for {', '.join(PACK['targets'])}" in capsys.readouterr().out
