# tests/python/bounded_memory.py: cubed on arrays of pardo, in a process of its own: work of many GiB under a limit of 500 MB.
"""usage: bounded_memory.py GIB FOLDER: prints the work in bytes, and the most memory that the process had, in bytes."""

from __future__ import annotations

import os
import sys

os.environ["CUBED_BACKEND_ARRAY_API_MODULE"] = "pardo"

import cubed
import cubed.array_api as xp
import cubed.random
import numpy as np
import pardo
from cubed.backend_array_api import namespace
from cubed.runtime.create import create_executor
from own_memory import peak

LIMIT = 500_000_000
CHUNK = 1448  # 16 MiB


def main(gib: float, folder: str) -> None:
    assert namespace is pardo
    spec, alone = cubed.Spec(folder, allowed_mem=LIMIT, reserved_mem=peak()), create_executor("single-threaded")
    rows = max(round(gib * 2**30 / 8 / CHUNK / (4 * CHUNK)), 1) * CHUNK
    x = cubed.random.random((rows, 4 * CHUNK), chunks=(CHUNK, CHUNK), spec=spec)
    found = np.asarray(xp.sum(xp.sqrt(x * x + 1.0), axis=0).compute(executor=alone))
    assert found.shape == (4 * CHUNK,)
    np.testing.assert_allclose(found.mean() / rows, (np.sqrt(2) + np.arcsinh(1)) / 2, rtol=0.001)
    part = x[:CHUNK].rechunk((CHUNK // 4, 4 * CHUNK))  # other chunks of it, by way of the disk
    assert np.asarray(xp.argmax(part - xp.mean(part), axis=1).compute(executor=alone)).shape == (CHUNK,)
    print(rows * 4 * CHUNK * 8, peak())


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])
