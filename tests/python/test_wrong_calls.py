# tests/python/test_wrong_calls.py: what users read when a call is wrong, word for word; calls.txt is written again with
# PARDO_TEST_REWRITE=1, and must be read then.
import importlib.util
import os
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

FOLDER = Path(__file__).parent / "wrong"
GOLDEN = FOLDER / "calls.txt"

spec = importlib.util.spec_from_file_location("wrong_calls_of_functions", FOLDER / "calls.py")
calls = importlib.util.module_from_spec(spec)
spec.loader.exec_module(calls)


def message(call):
    """The exception, without what machines differ in: the file's folder, and what memory is free."""
    with pytest.raises(Exception) as caught:
        call()
    text = f"{caught.type.__name__}: {caught.value}".replace(str(FOLDER) + "/", "")
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
