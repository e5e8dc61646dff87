# tests/python/test_pickling.py: kernels and jit functions go to other processes: by their names, or whole where they have none there.
import copy
import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest

by = 3.0


@pp.kernel(bounds_check=True)
def scale(item: pp.Item, x):
    x[item.get_id(0)] *= by


@pp.jit(schedule="dynamic")
def total(x):
    s = 0.0
    for i in pp.prange(len(x)):
        s += x[i]
    return s


class Grid:
    @staticmethod
    @pp.jit
    def filled(x):
        for i in range(len(x)):
            x[i] = 7.0
        return x


def used(kernel, function, n):
    x = pp.ones(n)
    kernel[n](x).wait()
    return float(x[0]), function(np.ones(n))


def test_pickled_by_name():
    for f in (scale, total, Grid.filled):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(f, protocol)) is f
        assert copy.copy(f) is f
        assert copy.deepcopy(f) is f


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers(method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(used, (scale, total, 4)) == (3.0, 4.0)


MAIN = """
import multiprocessing
import numpy as np, pardo as pp

@pp.kernel
def scale(item: pp.Item, x):
    x[item.get_id(0)] *= 3

@pp.jit
def total(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    return s

def used(kernel, function):
    x = pp.ones(4)
    kernel[4](x).wait()
    return float(x[0]), float(function(np.ones(4)))

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(used, (scale, total)))
"""


def test_the_main_program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(MAIN)
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300)
    assert run.stdout == "(3.0, 4.0)\n", run.stderr


def test_functions_without_a_name_elsewhere():
    @pp.jit
    def local(x):
        for i in range(len(x)):
            x[i] = by

    with pytest.raises(
        pickle.PicklingError, match=r"local: a kernel or jit function is pickled by its name, and `test_.*local` of the module"
    ):
        pickle.dumps(local)


WHOLE = """
import os, pickle, subprocess, sys
import cloudpickle
import numpy as np, pardo as pp

by = 4.0
def make(k):
    @pp.jit(fastmath=True)
    def local(x):
        for i in range(len(x)):
            x[i] = by + k
        return x
    return local

@pp.kernel
def scale(item: pp.Item, x):
    x[item.get_id(0)] *= by

data = cloudpickle.dumps((make(1), scale))
code = '''
import pickle, sys
import numpy as np, pardo as pp
local, scale = pickle.loads(bytes.fromhex(sys.stdin.read()))
x = pp.ones(2)
scale[2](x).wait()
print(local(np.zeros(2))[0], float(x[1]), local._options.fastmath)
'''
print(subprocess.run([sys.executable, "-c", code], input=data.hex(), capture_output=True, text=True))
"""


def test_whole_by_cloudpickle():
    pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    run = subprocess.run([sys.executable, "-c", WHOLE], capture_output=True, text=True, timeout=300)
    assert "5.0 4.0 True" in run.stdout, run.stdout + run.stderr


def test_workers_of_joblib():
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    with joblib.parallel_config("loky", n_jobs=2):
        assert joblib.Parallel()(joblib.delayed(used)(scale, total, n) for n in (2, 3)) == [(3.0, 2.0), (3.0, 3.0)]
