# tests/conftest.py: leaves out what a short run does not take, and says how much that was (tests/sampling.py chooses).
from __future__ import annotations

import os
import re
from collections import defaultdict

os.environ.setdefault(
    "PARDO_OPENCL_ROUTINES", "kernels"
)  # what GPUs do is tested on processors: the host's own routines are tested on the CPU

import numpy_names  # noqa: F401
import pytest
import sampling

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
LEFT_OUT = pytest.StashKey[tuple[int, int]]()


def classes_of(item: pytest.Item) -> list[str]:
    """The back end that a test runs on, and those of its markers that have a share."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    device = parameters.get("device")
    backend = getattr(device, "backend", str(device or "cpu").partition(":")[0])
    return [backend, *(name for name in ("once", "slow") if item.get_closest_marker(name))]


def text_of(value: object) -> str:
    """The same text in every process: without the addresses of objects. Python writes no integer of thousands of digits."""
    return hex(value) if isinstance(value, int) else ADDRESS.sub("", repr(value))


def stratum_of(item: pytest.Item) -> tuple[object, ...]:
    """Tests that differ only in what a sample may choose over, the driver of OpenCL too. Of slow ones a whole function is one stratum."""
    classes = classes_of(item)
    varied = sampling.VARIED.union(*(marker.args for marker in item.iter_markers("varied")))
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    fixed = {name: value for name, value in parameters.items() if name == "device" or not ("slow" in classes or name in varied)}
    if classes[0] == "opencl":
        fixed.pop("device", None)
    return (item.nodeid.partition("[")[0], *classes, *(f"{name}={text_of(value)}" for name, value in sorted(fixed.items())))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not sampling.SEED:
        return
    strata: dict[tuple[object, ...], list[str]] = defaultdict(list)
    shares: dict[tuple[object, ...], float] = {}
    least: dict[tuple[object, ...], float] = {}
    for item in items:
        stratum, classes = stratum_of(item), classes_of(item)
        strata[stratum].append(item.nodeid)
        shares[stratum] = sampling.share_of(classes)
        least[stratum] = sampling.least_of(classes)
    taken = sampling.choose(strata, shares, sampling.SEED, least)
    left = [item for item in items if item.nodeid not in taken]
    config.stash[LEFT_OUT] = (len(items) - len(left), len(left))
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = config.stash[LEFT_OUT]
    items[:] = [item for item in items if item.nodeid in taken]
    config.hook.pytest_deselected(items=left)


class Controller:
    """With processes of pytest-xdist: hears from one of them what all have left out."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        if found := getattr(node, "workeroutput", {}).get("left_out"):
            node.config.stash[LEFT_OUT] = tuple(found)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Controller())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if found := config.stash.get(LEFT_OUT, None):
        taken, left = found
        terminalreporter.write_line(f"sample: {taken} of {taken + left} tests, seed {sampling.SEED}, shares {sampling.KEEP or '1'}")
