# python/pardo/compat/numba_dpex/kernel_api/flag_enum.py: enumerations whose members kernels use as numbers.
"""Enumerations whose members kernels use as numbers; kernels of pardo take those of any IntEnum."""

from __future__ import annotations

import enum

from pardo._extending import publish_module

__all__ = ["FlagEnum"]


class FlagEnum(enum.IntEnum):
    """An enumeration of numbers for kernels."""

    @classmethod
    def basetype(cls) -> int:
        """Give a number of the type that members have."""
        return 0


publish_module(globals())
