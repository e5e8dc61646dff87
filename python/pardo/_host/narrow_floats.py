# python/pardo/_host/narrow_floats.py: the scalar type of bfloat16, which is that of the package ml_dtypes.
from pardo._base.promotion import bfloat16 as _dtype

bfloat16 = _dtype().type

__all__ = ["bfloat16"]
