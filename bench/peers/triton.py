# bench/peers/triton.py: Triton's kernels on arrays of torch.
from __future__ import annotations

import torch

PACKAGES = ["triton", "torch"]


def array(value):
    return torch.from_numpy(value).to("cuda")


def wait(result):
    torch.cuda.synchronize()
    return result


def to_numpy(result):
    return result.cpu().numpy()


def trim():
    torch.cuda.empty_cache()
