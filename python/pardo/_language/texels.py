# python/pardo/_language/texels.py: images and samplers as kernels see them: structs whose methods read and write an array of texels.
from __future__ import annotations

import functools
from typing import Any

import numpy as np
from pardo._base.promotion import kind_of
from pardo._compiler.classes import Refusal, struct
from pardo._compiler.texts import functions_of

# As in include/pardo/memory.h.
ADDRESSING = ("none", "clamp_to_edge", "clamp", "repeat", "mirrored_repeat")
NONE, CLAMP_TO_EDGE, CLAMP, REPEAT, MIRRORED_REPEAT = range(5)

# --- places -------------------------------------------------------------------------------------------------------------------------
# Coordinates are float32, and are bounded before they become integers. What `math.fmax` is given makes 0 of NaN.


def position(u: Any, n: Any) -> Any:
    """The coordinate in texels, of one in texels."""
    return np.float32(u)


def position_normalized(u: Any, n: Any) -> Any:
    return np.float32(u) * np.float32(n)


def position_repeated(u: Any, n: Any) -> Any:
    u = np.float32(u)
    return (u - np.floor(u)) * np.float32(n)


def position_mirrored(u: Any, n: Any) -> Any:
    u = np.float32(u)
    return np.abs(u - np.float32(2) * np.rint(np.float32(0.5) * u)) * np.float32(n)


def bounded(u: Any, low: Any, high: Any) -> Any:
    return np.int64(np.fmin(np.fmax(np.floor(u), np.float32(low)), np.float32(high)))


def nearest(u: Any, n: Any) -> Any:
    """The index of a texel, and whether there is one."""
    return bounded(u, 0, n - 1), True


def nearest_repeated(u: Any, n: Any) -> Any:
    i = bounded(u, 0, n)
    return i - n if i >= n else i, True


def nearest_or_none(u: Any, n: Any) -> Any:
    return bounded(u, 0, n - 1), u >= 0 and u < np.float32(n)


def between(u: Any, n: Any) -> Any:
    """The indices of two texels, the weight of the second one, and whether they are there."""
    f = u - np.float32(0.5)
    i = bounded(f, -1, n - 1)
    return max(i, 0), min(i + 1, n - 1), f - np.floor(f), True, True


def between_repeated(u: Any, n: Any) -> Any:
    f = u - np.float32(0.5)
    i = bounded(f, -1, n - 1)
    j = i + 1
    return i + n if i < 0 else i, j - n if j >= n else j, f - np.floor(f), True, True


def between_or_none(u: Any, n: Any) -> Any:
    f = u - np.float32(0.5)
    i = bounded(f, -2, n)
    j = i + 1
    return min(max(i, 0), n - 1), min(max(j, 0), n - 1), f - np.floor(f), i >= 0 and i < n, j >= 0 and j < n


def rounded(v: Any, most: Any) -> Any:
    """The nearest of the integers that stand for 0 to 1."""
    return np.rint(np.fmin(np.fmax(np.float32(v) * np.float32(most), np.float32(0)), np.float32(most)))


def layer(k: Any, n: Any) -> Any:
    return bounded(np.float32(k) + np.float32(0.5), 0, n - 1)


@functools.cache
def sampler_struct(normalized: bool, addressing: int, linear: bool) -> type[Any]:
    """The class of what kernels see of a sampler."""
    positions = {REPEAT: position_repeated, MIRRORED_REPEAT: position_mirrored}
    names = {
        "position": positions.get(addressing, position_normalized if normalized else position),
        "nearest": {CLAMP: nearest_or_none, REPEAT: nearest_repeated}.get(addressing, nearest),
        "between": {CLAMP: between_or_none, REPEAT: between_repeated}.get(addressing, between),
    }
    lines = [
        "def one(self, u, n):",
        "    return nearest(position(u, n), n)",
        "def two(self, u, n):",
        "    return between(position(u, n), n)",
        "def of(self, image, at):",
        f"    return image._{'between' if linear else 'nearest'}(self, at)",
    ]
    made = functions_of(f"sampler {normalized} {ADDRESSING[addressing]} {linear}", lines, names)
    body = {"__annotations__": {"reserved": np.int32}, **{name: made[name] for name in ("one", "two", "of")}}
    made_struct: type[Any] = struct(type("Sampler", (), body))
    return made_struct


# --- texels -------------------------------------------------------------------------------------------------------------------------


@functools.cache
def image_struct(rank: int, layered: bool, channels: int, dtype: np.dtype[Any], normalized: bool) -> type[Any]:
    """The class of what kernels see of an image of this form."""
    names = ["x", "y", "z"][:rank]
    unpack = f"    {', '.join([*names, 'l'] if layered else names)} = at"
    floats = normalized or kind_of(dtype) == "f"

    def decoded(place: str) -> str:
        texel = f"self.texels[{place}]"
        if normalized:
            return f"np.float32({texel}) / np.float32({np.iinfo(dtype).max})"
        return f"np.float32({texel})" if floats else f"np.{'int' if kind_of(dtype) == 'i' else 'uint'}32({texel})"

    def encoded(value: str) -> str:
        if normalized:
            return f"np.{dtype.name}(rounded({value}, {np.iinfo(dtype).max}))"
        if floats:
            return f"np.{dtype.name}({value})"
        return f"np.{dtype.name}(min(max(np.int64({value}), {np.iinfo(dtype).min}), {np.iinfo(dtype).max}))"

    def place(indices: list[str], layer: str) -> str:
        return ", ".join([layer, *reversed(indices)] if layered else reversed(indices))

    def returned(values: list[str]) -> str:
        return f"    return {', '.join(values)}"

    extents = {name: f"self.texels.shape[{rank + layered - 1 - d}]" for d, name in enumerate(names)}
    lines = ["def read(self, at):", unpack, returned([decoded(f"{place(names, 'l')}, {c}") for c in range(channels)])]
    lines += ["def write(self, at, value):", unpack]
    for c in range(channels):
        lines.append(f"    self.texels[{place(names, 'l')}, {c}] = {encoded('value' if channels == 1 else f'value[{c}]')}")
    lines += ["def sample(self, sampler, at):", "    return sampler.of(self, at)"]

    start = [unpack] + ["    k = layer(l, self.texels.shape[0])"] * layered
    zero = "np.float32(0)" if floats else f"np.{'int' if kind_of(dtype) == 'i' else 'uint'}32(0)"
    lines += ["def _nearest(self, sampler, at):", *start]
    lines += [f"    i{name}, in_{name} = sampler.one({name}, {extents[name]})" for name in names]
    inside = " and ".join(f"in_{name}" for name in names)
    found = [decoded(f"{place([f'i{name}' for name in names], 'k')}, {c}") for c in range(channels)]
    lines.append(returned([f"{value} if {inside} else {zero}" for value in found]))

    nothing = Refusal(f"there is nothing between the integers of an image of {dtype}: it needs a Sampler with filter_mode='nearest'")
    if floats:
        lines += ["def _between(self, sampler, at):", *start]
        lines += [f"    {name}0, {name}1, {name}w, in_{name}0, in_{name}1 = sampler.two({name}, {extents[name]})" for name in names]
        corners = []
        for corner in range(2**rank):
            bits = [corner >> d & 1 for d in range(rank)]
            weight = " * ".join(f"{name}w" if bit else f"(np.float32(1) - {name}w)" for name, bit in zip(names, bits, strict=True))
            inside = " and ".join(f"in_{name}{bit}" for name, bit in zip(names, bits, strict=True))
            lines.append(f"    w{corner} = {weight} if {inside} else np.float32(0)")
            corners.append((f"w{corner}", [f"{name}{bit}" for name, bit in zip(names, bits, strict=True)]))
        lines.append(
            returned([" + ".join(f"{weight} * ({decoded(place(at, 'k') + f', {c}')})" for weight, at in corners) for c in range(channels)])
        )
    known = {"np": np, "layer": layer, "rounded": rounded}
    made = functions_of(f"image {rank} {layered} {channels} {dtype} {normalized}", lines, known)
    body = {name: made.get(name, nothing) for name in ("read", "write", "sample", "_nearest", "_between")}
    for axis, name in zip(names, ("width", "height", "depth"), strict=False):
        text = ["def extent(self):", f"    return {extents[axis]}"]
        body[name] = property(functions_of(f"image {name} {rank} {layered}", text, {})["extent"])
    kind: Any = struct(type("Image", (), {"__annotations__": {"texels": Any}, **body}))
    kind._dimensions = -1  # not indexed as arrays of structs are
    made_kind: type[Any] = kind
    return made_kind
