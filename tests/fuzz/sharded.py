# tests/fuzz/sharded.py: random programs of arrays over several devices: shards, other splits, slices, halos, in-place writes, calls that fail;
# against NumPy, and against plain arrays of one device.
#
# A program is a list of statements of Python; each runs in three namespaces, in which `shard`, `reshard`, `stencil` and `home` mean what they
# mean for NumPy's arrays, for plain ones, and for those over several devices. Values are small integers, also those of floats: sums are exact
# in any order, so that the three sides agree in each bit. Means and their like are compared with a tolerance, and not kept.
from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np

DTYPES = ["int64", "int64", "int32", "float64", "float64", "float32", "bool", "complex128"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "equal", "less", "greater_equal", "not_equal"]
UNARY = ["abs", "negative", "square", "sign", "isnan", "logical_not"]
COMPLEX = ["negative", "square", "isnan", "logical_not"]  # of complex numbers: those that keep integers
EXACT = ["sum", "max", "min", "any", "all", "count_nonzero", "ptp", "nansum", "nanmax"]
INEXACT = ["mean", "var", "std", "nanmean", "nanstd"]
POSITIONS = ["argmin", "argmax", "nanargmin"]


class Differs(Exception):
    """What the sides do not agree on."""


def data(seed: int, shape: tuple[int, ...], dtype: str) -> Any:
    """Small integers of a dtype."""
    made = np.random.default_rng(seed).integers(0 if dtype == "bool" else -4, 2 if dtype == "bool" else 5, shape)
    values = np.asarray(made).astype(dtype)
    return np.asarray(values + 1j * np.roll(made, 1) if dtype == "complex128" else values)


def devices_of(device: str) -> list[Any]:
    """Four places: parts of the processor, one of them by two queues, and the device that is tried; or two that are, and a queue of one."""
    import pardo as pp

    parts = pp.Device("cpu").create_sub_devices(1) or [pp.Device("cpu")]
    first, _, second = device.partition("+")
    if second:
        return [pp.Device(first), pp.Queue(second), parts[0], pp.Device(second)]
    return [parts[0], pp.Queue(parts[-1]), pp.Device(first), parts[-1]]


# --- sides -----------------------------------------------------------------------------------------------------------------------------


def _padded(xp: Any, x: Any, halo: tuple[int, int], mode: str | None) -> Any:
    return x if mode is None else xp.pad(x, [halo, *[(0, 0)] * (x.ndim - 1)], mode)


def _differences(x: Any, before: int, after: int) -> Any:
    """A stencil along the first axis, shorter by the halo."""
    n = max(0, x.shape[0] - before - after)
    return x[before + after : before + after + n] * 2 - x[:n]


def numpy_side() -> dict[str, Any]:
    return {
        "xp": np,
        "data": data,
        "plain": data,
        "shard": lambda x, axis, bounds: x.copy(),
        "reshard": lambda x, axis: x.copy(),
        "home": lambda x: x.copy(),
        "stencil": lambda x, before, after, mode: _differences(_padded(np, x, (before, after), mode), before, after),
    }


def plain_side() -> dict[str, Any]:
    import pardo as pp

    return {
        **numpy_side(),
        "xp": pp,
        "shard": lambda x, axis, bounds: pp.asarray(x),
        "reshard": lambda x, axis: x.copy(),
        "plain": lambda *a: pp.asarray(data(*a)),
        "stencil": lambda x, before, after, mode: _differences(_padded(pp, x, (before, after), mode), before, after),
    }


def sharded_side(device: str) -> dict[str, Any]:
    import pardo as pp

    places = devices_of(device)

    def shard(x: Any, axis: int | None, bounds: Any) -> Any:
        return pp.shard(x, places, axis, bounds=bounds)

    def stencil(x: Any, before: int, after: int, mode: str | None) -> Any:
        along = x if x.axis == 0 else x.reshard(0)
        return along.map_shards(lambda part: _differences(part, before, after), halo=(before, after), mode=mode)

    def home(x: Any) -> Any:
        return pp.shard(x.to_device(places[2]), places, 0 if x.ndim else None)

    return {
        "xp": pp,
        "data": data,
        "plain": lambda *a: pp.asarray(data(*a), device=places[0]),
        "shard": shard,
        "reshard": lambda x, axis: x.reshard(axis),
        "home": home,
        "stencil": stencil,
    }


# --- programs --------------------------------------------------------------------------------------------------------------------------


def _bounds(rng: random.Random, n: int) -> list[int] | None:
    if rng.random() < 0.5:
        return None
    return [0, *sorted(rng.randint(0, n) for _ in range(3)), n]


def _slice(rng: random.Random, n: int, backwards: bool = True) -> str:
    ends = [str(rng.randint(-n - 1, n + 1)) if rng.random() < 0.7 else "" for _ in range(2)]
    step = rng.choice(["", "", "", "2", "3", "-1", "-2"] if backwards else ["", "", "2", "3"])
    return f"{ends[0]}:{ends[1]}:{step}"


def _key(rng: random.Random, shape: tuple[int, ...], backwards: bool = True, integers: bool = True) -> str:
    items = []
    for n in shape:
        what = rng.random()
        if integers and n and what < 0.15:
            items.append(str(rng.randint(-n, n - 1)))
        elif what < 0.7:
            items.append(_slice(rng, n, backwards))
        else:
            items.append(":")
    while items and items[-1] == ":" and rng.random() < 0.5:
        items.pop()
    if rng.random() < 0.1:
        items.insert(rng.randint(0, len(items)), "None")
    return ", ".join(items) or "..."


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self.rng, self.lines = rng, list[str]()
        self.names = numpy_side()
        self.count = 0
        self.variables: list[str] = []

    def add(self, line: str) -> None:
        self.lines.append(line)
        try:
            exec(line, self.names)
        except Exception:
            return
        name = line.partition(" = ")[0]
        if name.isidentifier() and name != "_" and name not in self.variables:
            self.variables.append(name)

    def new(self, expression: str) -> None:
        self.count += 1
        self.add(f"v{self.count} = {expression}")

    def value(self, name: str) -> Any:
        return self.names[name]

    def fresh(self) -> None:
        rng = self.rng
        shape = tuple(rng.choice([0, 1, 2, 3, 5, 8, 13]) for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3])))
        axis = rng.choice([None, *range(len(shape))]) if shape else None
        bounds = None if axis is None else _bounds(rng, shape[axis])
        self.new(f"shard(data({rng.randint(0, 999)}, {shape}, {rng.choice(DTYPES)!r}), {axis}, {bounds})")

    def partner(self, x: Any) -> str:
        """Another operand: a number, an array of the host, a plain one, or one over the devices whose shape fits, mostly."""
        rng = self.rng
        what = rng.random()
        if what < 0.25:
            return rng.choice(["2", "3.0", "True", "xp.float32(2)", "-1"])
        fitting = [v for v in self.variables if self.value(v).shape == x.shape]
        if what < 0.6 and fitting:
            return rng.choice(fitting)
        shape = tuple(rng.choice([n, n, 1]) for n in x.shape)[rng.choice([0, 0, 1]) :]
        make = rng.choice(["data", "plain"])
        if what < 0.95:
            return f"{make}({rng.randint(0, 99)}, {shape}, {rng.choice(DTYPES)!r})"
        return rng.choice(self.variables)

    def step(self) -> None:
        rng = self.rng
        v = rng.choice(self.variables)
        x = self.value(v)
        axis = rng.randrange(x.ndim) if x.ndim else 0
        kind = rng.choice([
            "fresh", "binary", "binary", "binary", "unary", "where", "reduce", "reduce", "inexact", "position", "slice", "slice", "in place",
            "in place", "store", "store", "mask", "reshard", "shape", "shape", "join", "roll", "diff", "stencil", "home", "astype", "wrong", "cut",
        ])  # fmt: skip
        if kind == "fresh":
            self.fresh()
        elif kind == "binary":
            a, b = (v, self.partner(x)) if rng.random() < 0.8 else (self.partner(x), v)
            if rng.random() < 0.3 and x.ndim and x.shape[axis] > 1:
                before = ":, " * axis
                a, b = f"{v}[{before}1:]", f"{v}[{before}:-1]"
            self.new(
                f"xp.{rng.choice(BINARY)}({a}, {b})" if rng.random() < 0.5 else f"({a}) {rng.choice(['+', '-', '*', '<', '=='])} ({b})"
            )
        elif kind == "unary":
            self.new(f"xp.{rng.choice(UNARY if x.dtype.kind != 'c' else COMPLEX)}({v})")
        elif kind == "where":
            self.new(f"xp.where({v} > 0, {v}, {self.partner(x)})" if x.dtype.kind != "c" else f"xp.clip({v}.real, -1, 2)")
        elif kind in ("reduce", "inexact"):
            over = rng.choice([None, axis, axis - x.ndim, tuple(rng.sample(range(x.ndim), rng.randint(0, x.ndim)))]) if x.ndim else None
            keep = rng.choice(["", ", keepdims=True"])
            name = rng.choice(EXACT if kind == "reduce" else INEXACT)
            text = f"xp.{name}({v}, axis={over}{keep})"
            if kind == "reduce":  # the sign of a greatest zero depends on the parts
                self.new(f"{text} + 0" if x.dtype.kind in "fc" else text)
            else:
                self.add(f"_ = {text}")
        elif kind == "position":
            self.new(f"xp.{rng.choice(POSITIONS)}({v}, axis={rng.choice([None, axis])})")
        elif kind == "slice":
            key = _key(rng, x.shape)
            forwards = "-" not in "".join(part.rpartition(":")[2] for part in key.split(", ") if part.count(":") == 2)
            views = forwards and all(":" in part or part in ("...", "None") for part in key.split(", "))
            self.new(f"{v}[{key}]" + ("" if views else ".copy()"))
        elif kind == "in place":
            target = v if rng.random() < 0.5 else f"{v}[{_key(rng, x.shape, integers=False, backwards=False)}]"
            operator = rng.choice(["+=", "-=", "*="])
            self.add(f"{target} {operator} {rng.choice(['2', '-1', self.partner(x)])}")
        elif kind == "store":
            key = _key(rng, x.shape)
            try:
                part = x[eval(f"np.s_[{key}]", {"np": np})]
            except IndexError:
                part = x
            value = rng.choice(["3", self.partner(part), f"{v}[{key}]", "-2"])
            self.add(f"{v}[{key}] = {value}")
        elif kind == "mask":
            if x.dtype.kind != "c":
                self.add(f"{v}[{v} > 0] = {rng.choice(['1', '0', '-3'])}")
        elif kind == "reshard":
            self.new(f"reshard({v}, {rng.choice([None, *range(x.ndim)]) if x.ndim else None})")
        elif kind == "shape":
            self.shape(v, x)
        elif kind == "join":
            others = [w for w in self.variables if self.value(w).ndim == x.ndim] if x.ndim else [v]
            w = rng.choice(others)
            self.new(
                rng.choice(
                    [f"xp.concat([{v}, {w}], axis={axis})", f"xp.concat([{w}, {v}], axis={axis})", f"xp.stack([{v}, {v}], axis={axis})"]
                )
            )
        elif kind == "roll":
            self.new(f"xp.roll({v}, {rng.randint(-4, 9)}, {rng.choice(['None', str(axis)])})")
        elif kind == "diff":
            self.new(f"xp.diff({v}, axis={axis})")
        elif kind == "stencil":
            if x.ndim and x.dtype.kind != "b":
                mode = rng.choice([None, "constant", "edge", "wrap"])
                if x.shape[0] or mode in (None, "constant"):
                    self.new(f"stencil({v}, {rng.randint(0, 3)}, {rng.randint(0, 3)}, {mode!r})")
        elif kind == "home":
            self.new(f"home({v})")
        elif kind == "astype":
            self.new(f"{v}.astype({rng.choice(['int32', 'float64', 'bool', 'float32'])!r})" if x.dtype.kind != "c" else f"{v}.real.copy()")
        elif kind == "wrong":
            self.add(rng.choice([
                f"_ = {v}[{x.shape[0] + 3 if x.ndim else 1}]",
                f"_ = xp.sum({v}, axis=7)",
                f"_ = {v} + data(1, (7, 11, 2), 'int64')",
                f"{v}[...] = data(1, (7, 11, 2), 'int64')",
                f"_ = {v}[{'0, ' * (x.ndim + 1)}]",
                f"_ = xp.reshape({v}, ({x.size + 1},))",
                f"_ = xp.permute_dims({v}, (0, 0))",
            ]))  # fmt: skip
        elif kind == "cut" and x.ndim:
            places = sorted(rng.randint(0, x.shape[axis]) for _ in range(2))
            self.new(f"xp.split({v}, {places}, axis={axis})[{rng.randint(0, 2)}].copy()")

    def shape(self, v: str, x: Any) -> None:
        rng = self.rng
        order = list(range(x.ndim))
        rng.shuffle(order)
        axis = rng.randrange(x.ndim) if x.ndim else 0
        flat = [n for n in (1, 2, 3, 4, 5, 6, 8) if x.size % n == 0]
        split = rng.choice(flat)
        to = rng.choice([(-1,), (split, x.size // split), (x.size // split, split), (1, *x.shape), (x.size,)])
        if 0 in x.shape:
            to = tuple(0 if n == -1 else n for n in to)
        self.new(rng.choice([
            f"xp.permute_dims({v}, {tuple(order)})",
            f"xp.reshape({v}, {to}).copy()",
            f"xp.expand_dims({v}, axis={rng.randint(0, x.ndim)})",
            f"xp.squeeze({v}).copy()",
            f"xp.flip({v}, axis={rng.choice(['None', str(axis)]) if x.ndim else None}).copy()",
            f"xp.broadcast_to({v}, {(2, *(n if n != 1 else 3 for n in x.shape))}).copy()",
            f"{v}.T.copy()",
            f"xp.swapaxes({v}, 0, -1)",
        ]))  # fmt: skip


def generate(rng: random.Random, device: str) -> dict[str, Any]:
    maker = _Maker(rng)
    with np.errstate(all="ignore"):
        maker.fresh()
        maker.fresh()
        for _ in range(rng.randint(4, 25)):
            maker.step()
    return {"lines": maker.lines}


# --- runs ------------------------------------------------------------------------------------------------------------------------------


def _on_host(x: Any) -> Any:
    import pardo as pp

    return pp.asnumpy(x) if type(x) in (pp.Array, pp.ShardedArray) else np.asarray(x)


def _known(error: Exception) -> str:
    for kind in (IndexError, TypeError, ValueError, OverflowError):  # ValueError: AxisError too
        if isinstance(error, kind):
            return "ValueError" if isinstance(error, np.exceptions.AxisError) else kind.__name__
    return f"Other: {type(error).__name__}"


def _step(line: str, side: dict[str, Any]) -> str:
    try:
        exec(line, side)
    except Exception as error:
        return f"{_known(error)}: {error}"
    return ""


def _agree(name: str, a: Any, b: Any, exact: bool) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if exact and name != "_":
        signs = a.dtype.kind != "f" or np.array_equal(np.signbit(a), np.signbit(b))
        return bool(signs and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    return bool(np.allclose(a, b, rtol=1e-5, equal_nan=True))


def run(program: dict[str, Any], device: str) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return _run(program, device)


def _run(program: dict[str, Any], device: str) -> str | None:
    theirs, one, ours = numpy_side(), plain_side(), sharded_side(device)
    with np.errstate(all="ignore"):
        for line in program["lines"]:
            expected, got = _step(line, theirs), _step(line, ours)
            plain = _step(line, one)
            if plain.partition(":")[0] != expected.partition(":")[0]:
                return None  # where plain arrays differ from NumPy on purpose, or as their own fuzzer finds: not what is tried here
            if bool(expected) != bool(got) or got.startswith("Other"):
                raise Differs(f"{line}: NumPy: {expected or 'a value'}; over several devices: {got or 'a value'}")
            for name in [n for n in theirs if n == "_" or (n.startswith("v") and n[1:].isdigit())]:
                if name == "_" and not line.startswith("_ = "):
                    continue
                wanted = np.asarray(_on_host(one[name]))
                if not _agree(name, np.asarray(theirs[name]), wanted, False):
                    return None  # arrays without dimensions, which are scalars there
                mine = _on_host(ours[name])
                if not _agree(name, wanted, mine, True):
                    raise Differs(f"{line}: {name} differs from one device:\n{mine!r}\nexpected\n{wanted!r}")
    return None


def smaller(program: dict[str, Any]) -> Any:
    """Programs with a statement less."""
    lines = program["lines"]
    return [{"lines": [*lines[:i], *lines[i + 1 :]]} for i in reversed(range(len(lines)))]


def script(program: dict[str, Any], device: str) -> str:
    lines = "\n".join(f"    {line!r}," for line in program["lines"])
    return f"from fuzz import sharded\n\nsharded.run({{'lines': [\n{lines}\n]}}, {device!r})\n"
