# tests/python/test_kept.py: translations of functions on disk: when they are used, and when they are made again.
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.once, pytest.mark.slow]

HELPER = """
FACTOR = 3
LIMITS = (1, 2)
def scaled(v):
    return v * FACTOR
def other(v):
    return v - 1
same = scaled
"""
WATCHED = """
import pardo as pp
from pardo._compiler import frontend
translated = []
before = frontend._translated
frontend._translated = lambda function, place: translated.append(function.__name__) or before(function, place)
"""
PROGRAM = (
    WATCHED
    + """
import math
import helper
from helper import scaled

@pp.kernel
def grow(item: pp.Item, x, y):
    i = item.get_id(0)
    x[i] = scaled(x[i]) + helper.same(y[i]) + helper.LIMITS[1] * min(math.floor(y[i]), 1)

x, y = pp.ones(4), pp.ones(4)
grow[pp.Range(4)](x, y).wait()
print(*sorted(translated), float(x[0]))
"""
)


def output_of(folder, program, **variables):
    environment = {**os.environ, "PARDO_CACHE": "on", "PARDO_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    if not (folder / "program.py").exists() or (folder / "program.py").read_text() != program:
        (folder / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-B", str(folder / "program.py")],
        capture_output=True,
        text=True,
        env=environment | variables,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(folder, program=PROGRAM, **variables):
    *translated, value = output_of(folder, program, **variables).split()
    return translated, float(value)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "helper.py").write_text(HELPER)
    assert run(tmp_path) == (["grow", "scaled"], 8)
    assert run(tmp_path) == ([], 8)
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "translated", "value"),
    [
        ("v * FACTOR", "v * FACTOR + 1", ["scaled"], 10),
        ("FACTOR = 3", "FACTOR = 4", ["scaled"], 10),
        ("FACTOR = 3", "FACTOR = 3.0", ["scaled"], 8),
        ("LIMITS = (1, 2)", "LIMITS = (1, 3)", ["grow", "scaled"], 9),
        ("LIMITS = (1, 2)", "LIMITS = (1, 2, 7)", ["grow", "scaled"], 8),
        ("same = scaled", "same = other", ["grow", "other", "scaled"], 5),  # one function of two names has become two
        ("same = scaled", "import operator\nsame = operator.neg", ["grow", "scaled"], 4),
        ("FACTOR = 3", "FACTOR = 3  # a comment", ["scaled"], 8),  # in the file of one of the two
    ],
)
def test_what_is_used_from_outside_has_changed(folder, old, new, translated, value):
    (folder / "helper.py").write_text(HELPER.replace(old, new))
    assert run(folder) == (translated, value)
    assert run(folder) == ([], value)


def test_a_name_of_its_own_hides_one_of_python(folder):
    program = PROGRAM.replace("import helper\n", "import helper\nmin = max\n")
    assert run(folder, program) == (["grow"], 8)
    assert run(folder, program) == ([], 8)


def test_a_function_that_calls_back_is_recursion_still(folder):
    text = HELPER.replace("return v * FACTOR", "return late(v)") + "\ndef late(v):\n    return scaled(v)\n"
    (folder / "helper.py").write_text(text)
    with pytest.raises(AssertionError, match="calls itself"):
        run(folder)


def test_defaults_and_constants_of_closures(tmp_path):
    def program(default, captured):
        text = f"""
def made(k):
    def inner(v, w={default}):
        return v * k + w
    return inner
def kernels(f):
    @pp.kernel
    def apply(item: pp.Item, x):
        x[item.get_id(0)] = f(x[item.get_id(0)])
    return apply
x = pp.ones(4)
kernels(made({captured}))[pp.Range(4)](x).wait()
print(*sorted(translated), float(x[0]))
"""
        return WATCHED + text

    assert run(tmp_path, program(1, 2)) == (["apply", "inner"], 3)
    os.utime(tmp_path / "program.py", (1, 1))
    assert run(tmp_path, program(1, 2)) == (["apply", "inner"], 3)  # the file was touched
    assert run(tmp_path, program(1, 2)) == ([], 3)
    assert run(tmp_path, program(4, 2)) == (["apply", "inner"], 6)
    assert run(tmp_path, program(4, 5)) == (["apply", "inner"], 9)


def test_functions_that_one_def_makes_are_kept_side_by_side(tmp_path):
    program = """
def made(k):
    @pp.kernel
    def add(item: pp.Item, x):
        x[item.get_id(0)] += k
    return add
x = pp.zeros(4)
for k in (1, 2, 2.5):
    made(k)[pp.Range(4)](x).wait()
print(*sorted(translated), float(x[0]))
"""
    assert run(tmp_path, WATCHED + program) == (["add"] * 3, 5.5)
    assert run(tmp_path, WATCHED + program) == ([], 5.5)


def test_what_cannot_be_compared_is_not_kept(tmp_path):
    program = """
import numpy as np
HALF = np.float32(0.5)
@pp.struct
class Pair:
    a: pp.float64
    b: pp.float64
@pp.kernel
def typed(item: pp.Item, x):
    x[item.get_id(0)] += HALF
@pp.kernel
def structured(item: pp.Item, x):
    p = Pair(x[item.get_id(0)], 2.0)
    x[item.get_id(0)] = p.a * p.b
@pp.kernel
def called(item: pp.Item, x):
    x[item.get_id(0)] = (lambda v: v + 1)(x[item.get_id(0)])
x = pp.ones(4)
for k in (typed, structured, called):
    k[pp.Range(4)](x).wait()
print(*sorted(translated), float(x[0]))
"""
    for _ in range(2):
        assert run(tmp_path, WATCHED + program) == (["<lambda>", "called", "structured", "typed"], 4)


def test_nothing_is_kept_without_the_disk(tmp_path):
    (tmp_path / "helper.py").write_text(HELPER)
    for _ in range(2):
        assert run(tmp_path, PARDO_CACHE="off") == (["grow", "scaled"], 8)


def test_damaged_files_are_made_anew(folder):
    for file in (folder / "cache").rglob("*.bin"):
        file.write_bytes(file.read_bytes()[:-3] + b"abc")
    assert run(folder) == (["grow", "scaled"], 8)
    assert run(folder) == ([], 8)


def test_messages_point_into_the_text_as_before(tmp_path):
    program = """
import pardo as pp
@pp.kernel
def reads(item: pp.Item, x, y):
    i = item.get_id(0)
    x[i] = y[i]
x = pp.ones(4)
reads[pp.Range(4)](x, pp.ones(4)).wait()
try:
    reads[pp.Range(4)](x, 1.0).wait()
except TypeError as error:
    print(error)
"""
    first, second = (output_of(tmp_path, program) for _ in range(2))
    assert "x[i] = y[i]" in first
    assert first == second
