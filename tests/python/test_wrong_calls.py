# tests/python/test_wrong_calls.py: what users read when a call is wrong, word for word; calls.txt is written again with
# PARDO_TEST_REWRITE=1, and must be read then.
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pardo.__main__ import _remedy
from pardo._base.sizes import size_text, with_bytes

pytestmark = pytest.mark.once

FOLDER = Path(__file__).parent / "wrong"
GOLDEN = FOLDER / "calls.txt"

spec = importlib.util.spec_from_file_location("wrong_calls_of_functions", FOLDER / "calls.py")
calls = importlib.util.module_from_spec(spec)
spec.loader.exec_module(calls)


def message(call):
    """The exception, without what machines differ in: the file's folder, what memory is free, and devices."""
    with pytest.raises(Exception) as caught:
        call()
    text = f"{caught.type.__name__}: {caught.value}".replace(str(FOLDER) + "/", "")
    text = re.sub(r"devices here: .*?(?=\. Did you mean|$)", "devices here: …", text)
    return re.sub(r"; [\d.]+ [KMGT]iB free.*", "; … free, …", text)


def golden():
    texts = {}
    for block in GOLDEN.read_text().split("\n\n"):
        if block.strip():
            name, _, text = block.strip("\n").partition("\n")
            texts[name[1:-1]] = text
    return texts


@pytest.mark.skipif("PARDO_TEST_REWRITE" not in os.environ, reason="writes what the other tests compare with")
def test_rewrite():
    GOLDEN.write_text("\n\n".join(f"[{name}]\n{message(f)}" for name, f in calls.CALLS.items()) + "\n")


@pytest.mark.parametrize("name", calls.CALLS)
def test_message(name):
    assert message(calls.CALLS[name]) == golden()[name]


def test_messages_are_short():
    for name, text in golden().items():
        assert len(text.split("\n")) <= 6, name
        assert "/pardo/" not in text, name


# --- what has to be installed or set ------------------------------------------------------------------------------------------------------


def test_a_cache_that_cannot_be_written_names_the_variable():
    """Once, and the program goes on."""
    program = "import pardo as pp; print(float((pp.ones(9) + pp.ones(9)).sum()))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PARDO_CACHE_DIR": "/proc/nowhere"}, check=False
    )
    assert done.stdout == "18.0\n"
    assert done.stderr.count("cannot create /proc/nowhere") == 1, done.stderr
    assert "; set PARDO_CACHE_DIR to a folder of your own, or PARDO_CACHE=off to have none" in done.stderr


@pytest.mark.parametrize(
    ("versions", "remedy"),
    [
        ("", "install NVIDIA's driver, and pip install pardo[cuda], which brings NVIDIA's run-time compiler"),
        ("NVRTC 13.5", "install NVIDIA's driver"),
        ("driver CUDA 13.0", "pip install pardo[cuda], which brings NVIDIA's run-time compiler"),
        ("driver CUDA 13.0 · NVRTC 13.5", ""),
    ],
)
def test_what_cuda_lacks_is_what_is_to_be_installed(versions, remedy):
    assert _remedy({"name": "cuda", "versions": versions, "unavailable": "…"}) == remedy


def test_sizes_of_memory():
    assert [size_text(n) for n in (0, 1023, 1024, 3 << 19, 5 << 30, 1 << 62)] == [
        "0 bytes", "1023 bytes", "1.0 KiB", "1.5 MiB", "5.0 GiB", "4.0 EiB",
    ]  # fmt: skip
    assert with_bytes(8_000_000) == "8000000 bytes (7.6 MiB)"
    assert with_bytes(800) == "800 bytes"
