# tests/python/test_thread_numbers.py: the CPU's results are the same bits with any number of threads.
from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import hashlib
import numpy as np, pardo as pp
rng = np.random.default_rng(5)
def x(*shape, dtype="float32"): return pp.asarray(rng.standard_normal(shape).astype(dtype), device="cpu")
results = []
for shape in ((700, 3000), (9000, 600), (40000, 20), (3, 500, 900), (200000, 3), (1000000, 1)):
    a = x(*shape)
    results += [pp.cumsum(a, axis=0), pp.cumulative_sum(a, axis=-1), pp.sum(a, axis=0), pp.sum(a), pp.var(a, axis=0), pp.mean(a, axis=-1)]
for m, k, n in ((200, 300, 200), (7, 40000, 9), (1, 3000, 800), (400, 900, 1), (3000, 900, 1)):
    results.append(x(m, k) @ x(k, n))
results += [pp.special.logsumexp(x(50, 70000), axis=1)]
results += list(pp.histogram(x(300000), bins=50, weights=x(300000)))
for number, result in enumerate(results):
    print(number, result.shape, hashlib.sha256(pp.asnumpy(result).tobytes()).hexdigest())
"""


def test_results_do_not_depend_on_the_number_of_threads():
    """But those of transforms, large products and factorizations, which libraries compute (docs/guide/differences.md)."""
    outputs = {}
    for threads in ("1", "2", "3", "16"):
        environment = {**os.environ, "PARDO_NUM_THREADS": threads, "PARDO_DEVICE": "cpu"}
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        outputs[threads] = done.stdout.splitlines()
    for threads, lines in outputs.items():
        assert lines == outputs["1"], [(a, b) for a, b in zip(lines, outputs["1"], strict=True) if a != b] or threads
