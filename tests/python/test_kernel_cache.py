# tests/python/test_kernel_cache.py: programs of kernels on disk: what makes a new one, and what does not.
import marshal
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal
from pardo._compiler import translation_cache

pytestmark = pytest.mark.once

HELPER = "def scaled(v):\n    return v * {factor}{comment}\n"
PROGRAM = """{comment}
import pardo as pp
from helper import scaled


@pp.kernel
def grow(item: pp.Item, x):
    {inner}
    i = item.get_id(0)
    x[i] = scaled(x[i]) + 1


x = pp.ones(100)
before = pp.counters()
grow[pp.Range(100)](x).wait()
after = pp.counters()
print(after["compiled"] - before["compiled"], after["from_disk"] - before["from_disk"], float(x[0]))
"""


def run(folder, factor=3, comment="", inner="pass"):
    (folder / "helper.py").write_text(HELPER.format(factor=factor, comment=comment))
    (folder / "program.py").write_text(PROGRAM.format(comment=comment, inner=inner))
    environment = {**os.environ, "PARDO_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("PARDO_CACHE", None)
    done = subprocess.run(
        [sys.executable, "-B", str(folder / "program.py")], capture_output=True, text=True, env=environment, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    compiled, from_disk, value = done.stdout.split()
    return int(compiled), int(from_disk), float(value)


def test_comments_change_nothing_and_functions_do(tmp_path):
    compiled, from_disk, value = run(tmp_path)
    assert (compiled > 0, from_disk, value) == (True, 0, 4)
    assert run(tmp_path) == (0, compiled, 4)
    again = run(tmp_path, comment="  # a comment", inner='"""What it does."""')
    assert again == (0, compiled, 4)
    changed = run(tmp_path, factor=5)
    assert (changed[0] > 0, sum(changed[:2]), changed[2]) == (True, compiled, 6)
    assert run(tmp_path, factor=5) == (0, compiled, 6)


def test_compiled_from_several_threads():
    @pp.kernel
    def fill(item: pp.Item, x, value: pp.Const):
        x[item.get_id(0)] = value

    arrays = [pp.zeros(10, dtype="int64") for _ in range(8)]
    errors = []

    def work(k):
        try:
            for value in range(4):
                fill[pp.Range(10)](arrays[k], value).wait()
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    for x in arrays:
        assert_array_equal(pp.asnumpy(x), np.full(10, 3))
    assert fill._made[1][True].specialisations == 4


def test_constant_slices_have_a_place_in_the_cache():
    """Compilers from Python 3.14 on make constants of slices, which not every format of marshal writes."""

    def moved(x, y):
        def inner():
            pass

        x[1:3] = y[:]

    def with_constants(code, *values):
        inner = tuple(with_constants(c, *values) if hasattr(c, "co_consts") else c for c in code.co_consts)
        return code.replace(co_consts=(*inner, *values))

    def place(*values):
        code = with_constants(moved.__code__, *values)
        return marshal.dumps(translation_cache._without_slices(code), 2)  # a part of the place; before 3.12 such code has no hash

    assert place(slice(1, 3, None), (slice(None), 1)) == place(slice(1, 3, None), (slice(None), 1))
    assert place(slice(1, 3, None)) != place(slice(1, 4, None))
    assert place((slice(1, 3, None), 0)) != place((slice(1, 3, 2), 0))


def test_programs_of_constants_are_kept_up_to_a_number(tmp_path):
    """Each value of a constant is a program; those that have not been used for long go, and are made again when they are needed."""

    @pp.kernel
    def fill(item: pp.Item, x, n: pp.Const):
        x[item.get_id(0)] = n

    x = pp.empty(2, dtype="int64")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda n: fill[2](x, n).wait(), range(1100)))
    assert 700 < fill._made[1][True].specialisations <= 1024
    for n in (0, 1099):
        fill[2](x, n).wait()
        assert_array_equal(pp.asnumpy(x), [n, n])
