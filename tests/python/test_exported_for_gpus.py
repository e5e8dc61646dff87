# tests/python/test_exported_for_gpus.py: programs in machine code of NVIDIA's GPUs, by the fake driver: which devices they are for.
from __future__ import annotations

import glob
import os
import pathlib
import subprocess
import sys

import pardo as pp
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAKE = os.environ.get("PARDO_TEST_FAKE_CUDA") or next(map(str, sorted(ROOT.glob("build/*/libcuda_fake.so"))), "")
try:
    import nvidia

    NVRTC = next((p for folder in nvidia.__path__ for p in sorted(glob.glob(f"{folder}/c*/lib/libnvrtc.so.*"))), "")
except ImportError:
    NVRTC = ""

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not FAKE, reason="libcuda_fake.so is not built (target cuda_fake)"),
    pytest.mark.skipif(not NVRTC, reason="needs pardo[cuda]"),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("exported")
    script = (
        "import sys, pardo as pp\n"
        "f = lambda x: (x * 2 + 1, x.sum())\n"
        "print(pp.export(f, pp.zeros(10, dtype='float32'), path=sys.argv[1], targets=['sm_80', 'sm_90']))\n"
    )
    environment = os.environ | {"PARDO_NVRTC": NVRTC}
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder / "f.pardo")], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout.strip()


def run(path: str, architecture: int, code: str = "") -> subprocess.CompletedProcess[str]:
    """Loads it in a process with a GPU and without a compiler."""
    script = f"import sys, numpy as np, pardo as pp\np = pp.load_program(sys.argv[1], device='cuda:0')\nprint(p.targets, p.target)\n{code}"
    environment = os.environ | {
        "PARDO_CUDA_DRIVER": FAKE,
        "PARDO_NVRTC": "/nowhere/libnvrtc.so",
        "PARDO_KERNEL_PACK": "off",
        "PARDO_CACHE": "off",
        "FAKE_CUDA_ARCH": str(architecture),
    }
    environment.pop("PARDO_DEVICES", None)
    return subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize(("architecture", "target"), [(80, "sm_80"), (86, "sm_80"), (90, "sm_90")])
def test_a_device_takes_the_code_of_its_architecture(path: str, architecture: int, target: str) -> None:
    code = "x, total = p(pp.asarray([1.0] * 1000, dtype='float32', device='cuda:0'))\nprint(x.device, total.shape, x.shape)\n"
    code += "x, total = p(np.ones(2, 'float32'))\nprint(x.device, pp.counters()['compiled'])\n"
    done = run(path, architecture, code)
    assert done.stdout.splitlines() == [f"['sm_80', 'sm_90'] {target}", "cuda:0 () (1000,)", "cuda:0 0"], done.stderr


@pytest.mark.parametrize("architecture", [75, 100])
def test_other_architectures_are_refused(path: str, architecture: int) -> None:
    done = run(path, architecture)
    wanted = f'has code for sm_80, sm_90; cuda:0, of sm_{architecture}, runs none of these: export it with "sm_{architecture}" among'
    assert f"DeviceError: program: {wanted}" in done.stderr


def test_architectures_that_the_compiler_does_not_know(tmp_path: pathlib.Path) -> None:
    script = "import pardo as pp\npp.export(lambda x: x, pp.zeros(3), path='no.pardo', targets=['sm_12'])"
    environment = os.environ | {"PARDO_NVRTC": NVRTC}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert 'makes no code for "sm_12"; it does for sm_' in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_file_for_gpus_needs_one(path: str) -> None:
    if any(d.backend == "cuda" for d in pp.get_devices()):
        pytest.skip("there is one")
    with pytest.raises(pp.DeviceError, match="has code for sm_80, sm_90; cpu:0 runs none of these"):
        pp.load_program(path)
