# python/pardo/_host/narrow_floats.py: the scalar type of bfloat16, which is that of the package ml_dtypes.
from typing import TYPE_CHECKING

from pardo._base import promotion

if TYPE_CHECKING:
    from ml_dtypes import bfloat16
else:
    bfloat16 = promotion.bfloat16().type

__all__ = ["bfloat16"]
