# python/pardo/_host/dtype_class.py: NumPy's class of dtypes. It knows the text 'bfloat16' once ml_dtypes is imported, which this file does.
from __future__ import annotations

import contextlib

import numpy as np
from pardo._base import promotion

__all__ = ["dtype"]

with contextlib.suppress(ImportError):  # without ml_dtypes there is no such dtype
    promotion.host_dtype("bfloat16")

dtype = np.dtype
