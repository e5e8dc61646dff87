# tests/suites/pardo_namespace.py: a plugin of pytest that makes scikit-learn's and SciPy's tests of the array API run on arrays of pardo.
"""Loaded by ``pytest -p pardo_namespace``; run.py does so. No file of theirs is changed.

- SciPy's tests ask for the fixture ``xp``, which has one parameter a namespace: it gets `pardo` as its only one.
- array-api-extra's ask for the fixture ``library``, a member of an enumeration: an object stands for ours.
- array-api-compat's are parametrised by a list of names, to which ours is added.
- scikit-learn's are parametrised by what `yield_namespace_device_dtype_combinations` yields: it yields pardo, its device, and two dtypes.

With PARDO_SUITE_PLACE the arrays that tests make without a device are elsewhere than on the default one: on the device that it names, or,
as ``own``, on a queue of one's own. What the libraries make is where they say, so a library that forgets `device=` is found out.

SciPy skips some tests for JAX, whose arrays NumPy reads and does not write; `np.asarray(x)` of an array of pardo is read-only too, so they
are skipped here. All other tests are deselected. What known_failures.txt names is expected to fail, for the reason there; if it passes, the
run fails. With a place, a test that meets ExecutionPlacementError below a function that known_places.txt names is expected to fail, too.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pardo
import pytest

READ_ONLY = {"output=array requires buffer view", "read-only backend"}  # SciPy's reasons to skip tests for JAX that hold here too
HERE = Path(__file__).parent
DEVICE = os.environ.get("PARDO_DEVICE", "cpu")
SUITE = os.environ["PARDO_SUITE"]
PLACE = os.environ.get("PARDO_SUITE_PLACE", "")
MAKERS = ["arange", "array", "asarray", "empty", "eye", "from_dlpack", "full", "linspace", "ones", "zeros"]


def known(file: str) -> dict[str, str]:
    """Patterns of the names of tests, or functions, and why these fail."""
    lines = [line.strip() for line in (HERE / file).read_text().splitlines()]
    entries = [line.split("  # ", 1) for line in lines if line and not line.startswith("#")]
    return {pattern.strip(): reason for pattern, reason in entries}


def name_of(item: pytest.Item) -> str:
    """The name of a test, from its package on: ``scipy/fft/tests/test_basic.py::TestFFT::test_fft[pardo]``."""
    parts = item.path.parts
    first = max((i for i, part in enumerate(parts) if part == "site-packages" or part.startswith("array_api_")), default=0)
    return "/".join(parts[first + 1 :]) + item.nodeid[item.nodeid.index("::") :]


# --- namespaces ----------------------------------------------------------------------------------------------------------------


def combinations(include_numpy_namespaces: bool = True) -> list[tuple[str, str, str]]:
    """What scikit-learn's tests run with: the importable name of a namespace, a device, a dtype."""
    return [("pardo", device_of_tests(), dtype) for dtype in ("float64", "float32")]


@functools.cache
def queue_of_tests() -> pardo.Queue:
    """The queue of arrays that tests make."""
    return pardo.Queue(DEVICE) if PLACE == "own" else pardo.Queue.of(PLACE or DEVICE)


def device_of_tests() -> Any:
    """The same as a device, which remembers a queue of one's own."""
    return pardo.zeros(1, queue=queue_of_tests()).device if PLACE else DEVICE


def placed(make: Any) -> Any:
    """A function that makes arrays: what files of tests call it for goes to their place."""

    @functools.wraps(make)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("device") is None and kwargs.get("queue") is None and is_test(sys._getframe(1)):
            of_ours = args and isinstance(args[0], pardo.Array)  # stays where it is
            if not of_ours:
                kwargs["device"] = device_of_tests()
        return make(*args, **kwargs)

    return wrapper


def is_test(frame: Any) -> bool:
    """Whether a call comes from a file of tests, by itself or out of a comprehension or a lambda there."""
    return "/tests/" in frame.f_code.co_filename


if PLACE:
    for maker in MAKERS:
        setattr(pardo, maker, placed(getattr(pardo, maker)))


def mixed_inputs() -> list[tuple[Any, Any, str]]:
    """What its tests of operands from two namespaces run with: where `y` and weights are, where `X` is, a name."""
    from sklearn.utils._array_api import NamespaceAndDevice

    ours, host, strict = (
        NamespaceAndDevice(*pair) for pair in (("pardo", device_of_tests()), ("numpy", None), ("array_api_strict", "CPU_DEVICE"))
    )
    return [(a, b, f"{a.xp} to {b.xp}") for a, b in ((host, ours), (ours, host), (strict, ours))]


if SUITE == "array-api-compat":
    from tests._helpers import all_libraries

    all_libraries.append("pardo")
elif SUITE == "scikit-learn":  # before any file of tests asks
    import sklearn.utils._array_api

    sklearn.utils._array_api.yield_namespace_device_dtype_combinations = combinations
    sklearn.utils._array_api.yield_mixed_namespace_input_permutations = mixed_inputs


def pytest_sessionstart(session: pytest.Session) -> None:
    if SUITE == "scipy":
        import scipy.conftest

        scipy.conftest.xp_known_backends.add("pardo")
        if queue_of_tests().device.backend != "cpu":
            scipy.conftest.xp_skip_cpu_only_backends.add("pardo")


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if SUITE == "scipy" and "xp" in metafunc.fixturenames:
        parameter = pytest.param(pardo, id="pardo", marks=pytest.mark.array_api_backends)
        metafunc.definition.add_marker(pytest.mark.parametrize("xp", [parameter], indirect=True))
        if "devices" in metafunc.fixturenames:  # SciPy's fixture adds a list to what is a tuple since version 2025.12 of the standard
            devices = pytest.param([*pardo.__array_namespace_info__().devices(), None], id="devices")
            metafunc.definition.add_marker(pytest.mark.parametrize("devices", [devices]))
    elif SUITE == "array-api-extra" and "library" in metafunc.fixturenames:
        backend = SimpleNamespace(modname="pardo", like=lambda *others: False)
        metafunc.definition.add_marker(pytest.mark.parametrize("library", [pytest.param(backend, id="pardo")], indirect=True))


def says_pardo(value: Any) -> bool:
    """Whether a parameter of a test is our namespace, or holds its name."""
    if isinstance(value, functools.partial):
        return any(map(says_pardo, value.keywords.values()))
    if isinstance(value, tuple):
        return any(map(says_pardo, value))
    return value is pardo or (type(value) is str and value == "pardo") or getattr(value, "modname", None) == "pardo"


def is_ours(item: pytest.Item) -> bool:
    return says_pardo(tuple(getattr(item, "callspec", SimpleNamespace(params={})).params.values()))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    ours = [item for item in items if is_ours(item)]
    config.hook.pytest_deselected(items=[item for item in items if not is_ours(item)])
    items[:] = ours
    failures = known("known_failures.txt")
    for item in items:
        for mark in item.iter_markers("skip_xp_backends"):
            if mark.args == ("jax.numpy",) and mark.kwargs.get("reason") in READ_ONLY:
                item.add_marker(pytest.mark.skip(reason=mark.kwargs["reason"]))
        name = name_of(item)
        for pattern, reason in failures.items():
            if fnmatch.fnmatchcase(name, pattern.removeprefix("? ").replace("[", "[[]")):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=not pattern.startswith("? ")))


PLACES = known("known_places.txt") if PLACE else {}


def reason_of(error: BaseException | None) -> str | None:
    """Why an error, or one that it came of, is a library's that makes an array on the default device; None for others."""
    while error is not None:
        if isinstance(error, pardo.ExecutionPlacementError):
            for frame, _ in traceback.walk_tb(error.__traceback__):
                code = frame.f_code
                for place, reason in PLACES.items():
                    file, _, function = place.partition("::")
                    if code.co_name == function and code.co_filename.endswith(file):
                        return reason
        error = error.__context__
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    reason = reason_of(call.excinfo.value) if report.failed and call.excinfo else None
    if reason is not None:
        report.outcome, report.wasxfail = "skipped", reason
    return report
