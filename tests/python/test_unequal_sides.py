# tests/python/test_unequal_sides.py: what is made for two sides, where these differ: what holds for equal ones only is wrong here.
from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pardo as pp
import pytest
from support import check

MODES: list[tuple[str, dict[str, Any]]] = [
    ("constant", {"constant_values": (3, 7)}), ("edge", {}), ("linear_ramp", {"end_values": (-4, 9)}), ("maximum", {"stat_length": (1, 2)}),
    ("mean", {"stat_length": (2, 1)}), ("median", {"stat_length": (1, 3)}), ("minimum", {}), ("reflect", {}), ("symmetric", {}),
    ("reflect", {"reflect_type": "odd"}), ("symmetric", {"reflect_type": "odd"}), ("wrap", {}),
]  # fmt: skip


@pytest.mark.parametrize("size", range(1, 8))
@pytest.mark.parametrize(("mode", "options"), MODES, ids=lambda v: v if isinstance(v, str) else "-".join(map(str, v)) or "plain")
def test_pad(mode: str, options: dict[str, Any], size: int) -> None:
    """Every pair of widths up to several periods of either side."""
    x = np.cumsum(np.arange(size) ** 2 % 7) + 1
    widths = range(4 * size + 3) if size < 4 else range(0, 4 * size + 3, 3)
    for before, after in itertools.product(widths, widths):
        expected = np.pad(x, (before, after), mode, **options)  # type: ignore[call-overload]
        check(pp.pad(pp.asarray(x), (before, after), mode, **options), expected, label=f"{mode} {options} {size} {before, after}")


@pytest.mark.parametrize(("mode", "options"), MODES, ids=lambda v: v if isinstance(v, str) else "-".join(map(str, v)) or "plain")
def test_pad_of_several_axes(mode: str, options: dict[str, Any]) -> None:
    x = (np.arange(12) ** 2 % 11).reshape(3, 4)
    for widths in (((1, 8), (9, 2)), ((0, 5), (11, 0)), ((7, 1), (0, 3))):
        check(pp.pad(pp.asarray(x), widths, mode, **options), np.pad(x, widths, mode, **options), label=f"{mode} {widths}")  # type: ignore[call-overload]
