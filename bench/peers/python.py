# bench/peers/python.py: Python itself: loops over NumPy's arrays that nothing compiles.
from __future__ import annotations

import numpy as np

PACKAGES = ["numpy"]


def array(value):
    return value


def wait(result):
    return result


def to_numpy(result):
    return np.asarray(result)
