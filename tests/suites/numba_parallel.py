# tests/suites/numba_parallel.py: the programs of Numba's own parallel tests under pardo's decorators, compared with Python's results.
"""Takes Numba as it is installed (`pip install numba`), of which nothing is kept here:

python tests/suites/numba_parallel.py [--only test_prange0] [--traceback]
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import importlib
import inspect
import itertools
import linecache
import os
import pathlib
import sys
import textwrap
import types
import unittest
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pardo as pp
from pardo.compat import numba as names
from pardo.compat.numba import threads as settings

os.environ["SUBPROC_TEST"] = "1"  # Numba's tests skip themselves without it
KEPT = pathlib.Path(__file__).with_name("numba_parallel.txt")  # tests that are not right: their names, and why
MODULES = ("test_parfors",)
# Classes that start others, or ask about the code that Numba makes.
PASSED_OVER = ("TestParforsRunner", "TestParforsVectorizer", "TestDiagnosticEnvVar")
numbers = itertools.count()


class Anything:
    """What is said of Numba's own code: it is equal to whatever a test expects."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ge__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Compiled:
    """What stands for a result of Numba's compiler."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.entry_point = function

    def __call__(self, *arguments: Any) -> Any:
        return self.entry_point(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise unittest.SkipTest(f"it asks for what Numba's compiler has made ({name})")


class Dispatcher(Compiled):
    """What stands for a function that Numba has decorated."""

    def __init__(self, function: types.FunctionType, compiled: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = self._pardo_function = function
        super().__init__(compiled)


def njit(*given: Any, **options: Any) -> Any:
    """`numba.njit`, as `pardo.compat.numba` has it; functions that have a text in a variable of the test are found by it."""
    functions = [g for g in given if isinstance(g, types.FunctionType)]
    if not functions:
        return functools.partial(njit, **options)
    made = names.jit(functions[0], fastmath=options.get("fastmath", False), boundscheck=options.get("boundscheck"))
    return Dispatcher(functions[0], made)


class Ranges(ast.NodeTransformer):
    """Puts `prange` in the place of some calls of `range`, counted as they stand in the text."""

    def __init__(self, which: list[int] | None) -> None:
        self.which, self.count = which, 0

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == "range":
            if self.which is None or self.count in self.which:
                node.id = "prange"
            self.count += 1
        return node


def with_prange(function: types.FunctionType, which: list[int] | None) -> types.FunctionType:
    """The function with `prange`, from a text of its own."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef)
    text = "\n".join(textwrap.indent(ast.unparse(Ranges(which).visit(node)), "    ").splitlines())
    free = function.__code__.co_freevars
    text = f"def factory({', '.join(free)}):\n{text}\n    return {node.name}\n"
    file = f"<prange {next(numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {**function.__globals__, "prange": pp.prange}
    exec(compile(text, file, "exec"), names)
    made: types.FunctionType = names["factory"](*(c.cell_contents for c in function.__closure__ or ()))
    return made


def copied(value: Any) -> Any:
    return value.copy("K") if isinstance(value, np.ndarray) else type(value)(value) if isinstance(value, list) else copy.copy(value)


def plain(value: Any) -> Any:
    """A result as NumPy's functions compare it."""
    if isinstance(value, pp.Array):
        return pp.asnumpy(value)
    if isinstance(value, tuple):
        return type(value)(*map(plain, value)) if hasattr(value, "_fields") else tuple(map(plain, value))
    return [plain(v) for v in value] if isinstance(value, list) else value


class Programs:
    """What has been compared for the test that runs: a function of it and how it went."""

    found: ClassVar[dict[tuple[str, int], str]] = {}  # name and line -> what is wrong; '' if nothing is


def compare(function: types.FunctionType, parallel: types.FunctionType, arguments: tuple[Any, ...], how: dict[str, Any]) -> None:
    """A function as Python runs it, and with `jit`: of the text as it is, and with `prange`."""
    comparers = how.pop("check_arg_equality", None)
    fastmath = how.pop("check_fastmath_result", False)
    for name in ("scheduler_type", "fastmath_pcres", "check_scheduling", "check_fastmath"):
        how.pop(name, None)
    key = function.__name__, function.__code__.co_firstlineno
    Programs.found[key] = Programs.found.get(key) or "it raises what Python raises"
    given = tuple(map(copied, arguments))
    expected = plain(function(*given))
    try:
        for f, options in ((function, {}), (parallel, {}), *([(parallel, {"fastmath": True})] if fastmath else ())):
            mine = tuple(map(copied, arguments))
            got = plain(njit(f, **options)(*mine))
            if comparers is None:
                np.testing.assert_almost_equal(got, expected, **how)
                if isinstance(expected, np.ndarray) and got.dtype.kind != expected.dtype.kind:
                    raise AssertionError(f"dtype {got.dtype}, Python's {expected.dtype}")
            else:
                for a, b, check in zip(mine, given, comparers, strict=True):
                    check(plain(a), b, **how)
    except Exception as e:
        Programs.found[key] = f"{type(e).__name__}: {shortened(e)}"
        raise
    if Programs.found[key] == "it raises what Python raises":
        Programs.found[key] = ""


def shortened(e: BaseException) -> str:
    return next((line.strip() for line in str(e).splitlines() if line.strip()), "")[:250]


def check(self: Any, function: Any, *arguments: Any, **how: Any) -> None:
    compare(function, function, arguments, how)


def check_variants(self: Any, function: Any, generator: Any, **how: Any) -> None:
    for arguments in generator():
        compare(function, function, tuple(arguments), dict(how))


def prange_tester(self: Any, function: Any, *arguments: Any, **how: Any) -> Any:
    which = how.pop("patch_instance", None)
    compare(function, with_prange(function, which), arguments, how)
    return [AnyText()]


class AnyText(str):
    """A message of Numba's: it says whatever a test expects."""

    __slots__ = ()
    message = property(lambda self: self)
    exception = message

    def __str__(self) -> str:
        return self

    def __contains__(self, part: object) -> bool:
        return True


class Refusal:
    """In the place of `assertRaises`: what Numba refuses may be refused, or do what it does in Python."""

    def __init__(self, *_: Any) -> None:
        self.exception: Any = AnyText()

    def __enter__(self) -> Refusal:
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:
        for key, wrong in Programs.found.items():
            if wrong and kind is not None and not isinstance(value, AssertionError):
                Programs.found[key] = ""  # both refuse it
        return kind is not None and issubclass(kind, Exception) and not issubclass(kind, (AssertionError, unittest.SkipTest))


def instead(module: types.ModuleType) -> None:
    """Put our names in the place of Numba's."""
    numba = sys.modules["numba"]
    proxy = types.ModuleType("numba")
    threads = {n: getattr(settings, n) for n in settings.__all__}
    vars(proxy).update(vars(numba), njit=njit, jit=njit, prange=pp.prange, pndindex=np.ndindex, **threads)
    names = threads | {"numba": proxy, "njit": njit, "prange": pp.prange, "jit": njit, "register_jitable": lambda f: f}
    vars(module).update({n: v for n, v in names.items() if hasattr(module, n)})
    for name in dir(module):
        if name.startswith("count") or name == "get_init_block_size":
            setattr(module, name, lambda *_, **__: Anything())
    every = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, unittest.TestCase)]
    for kind in every:
        kind.assertRaises = kind.assertTypingError = lambda self, *kinds: Refusal(*kinds)  # type: ignore[attr-defined]
        kind.assertPreciseEqual = lambda self, a, b, **_: np.testing.assert_array_equal(plain(a), plain(b))  # type: ignore[attr-defined]
        for name, function in (("check", check), ("compile_all", None), ("check_parfors_vs_others", None)):
            if name in vars(kind):
                setattr(kind, name, function)
    base = module.TestParforsBase
    base.check_variants = check_variants
    base._compile_this = compile_this
    base.count_parfors_variants = base.assert_fastmath = base.check_scheduling = lambda *_, **__: None
    module.TestPrangeBase.prange_tester = prange_tester
    module.TestPrangeBase.generate_prange_func = lambda self, function, which: with_prange(function, which)


def compile_this(self: Any, function: types.FunctionType, signature: Any, **flags: Any) -> Compiled:
    if not function.__code__.co_argcount:
        compare(function, function, (), {})
    return Compiled(njit(function, fastmath=flags.get("fastmath", False)))


def run(test: unittest.TestCase, trace: bool) -> tuple[dict[str, str], list[str], str]:
    """The programs of a test and what is wrong with each; what ran as Python; if it has none, why it was skipped."""
    Programs.found = {}
    result = unittest.TestResult()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        test.run(result)
    title = ".".join(test.id().rsplit(".", 2)[1:])
    bad = [*result.errors, *result.failures]
    if trace and bad:
        print(bad[0][1])
    out: dict[str, str] = {}
    for (name, line), wrong in Programs.found.items():
        out[f"{title}.{name}" + (f":{line}" if f"{title}.{name}" in out else "")] = wrong
    python = sorted({str(w.message) for w in caught if "runs as Python" in str(w.message)})
    if not out and not result.skipped:  # it has no `check`, and calls what is decorated
        lines = [line for line in (bad[0][1] if bad else "").splitlines() if line[:1].isalpha() and ": " in line]
        out[title] = (lines[0] if lines else "it fails")[:250] if bad else ""
    elif bad and not any(out.values()):
        out[title] = bad[0][1].strip().splitlines()[-1][:250]
    return out, python, "" if out or not result.skipped else result.skipped[0][1]


def kept() -> dict[str, str]:
    """What is known not to be right, and why."""
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--traceback", action="store_true")
    asked = parser.parse_args()
    known, unknown, slow = kept(), 0, 0
    right = tried = tests = 0
    skipped: dict[str, list[str]] = {}
    for name in MODULES:
        module = importlib.import_module(f"numba.tests.{name}")
        instead(module)
        for suite in unittest.defaultTestLoader.loadTestsFromModule(module):
            for test in suite:
                if asked.only not in test.id() or any(part in test.id() for part in PASSED_OVER):
                    continue
                programs, python, why = run(test, asked.traceback)
                tests += 1
                if why:
                    skipped.setdefault(why, []).append(test.id().rsplit(".", 1)[1])
                for title, wrong in programs.items():
                    tried += 1
                    right += not wrong
                    unknown += bool(wrong) and title not in known
                    if wrong:
                        print(f"{'known' if title in known else 'WRONG'} {title}: {wrong}", flush=True)
                    elif title in known:
                        print(f"right, though the list says it is not: {title}")
                slow += bool(python)
                for text in python:
                    print(f"      {test.id()}: {text}", flush=True)
    for why, found in skipped.items():
        print(f"skipped, {why}: {', '.join(found)}")
    print(f"{tests} tests, {sum(map(len, skipped.values()))} of them skipped")
    print(f"{right} of {tried} programs are right; {slow} have loops that Python runs; {unknown} are wrong and not in {KEPT.name}")
    return int(unknown > 0)


if __name__ == "__main__":
    sys.exit(main())
