# bench/peers/warp.py: NVIDIA Warp's kernels on the CPU, where items run one after the other.
from __future__ import annotations

import warp as wp

PACKAGES = ["warp-lang"]
wp.config.quiet = True
wp.init()


def array(value):
    return wp.array(value, device="cpu")


def wait(result):
    return result


def to_numpy(result):
    return result.numpy()
