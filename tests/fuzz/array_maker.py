# tests/fuzz/array_maker.py: makes random programs of array operations, statement by statement, with NumPy running along.
from __future__ import annotations

import random
import re
from typing import Any

import numpy as np

from fuzz.sides import NumPySide, values

SIZES = [1, 2, 3, 5, 7, 8, 16, 17, 33, 64, 100]
DTYPES = (
    ["float64"] * 5
    + ["int64"] * 3
    + ["float32"] * 2
    + ["int32", "uint8", "bool", "int8", "uint64", "int16", "uint16", "uint32", "complex128", "float16", "complex64"]
)
FEW_DTYPES = ["float64", "float64", "int64", "float32", "int32", "uint8", "bool"]  # where a compiler takes 100 ms for a kernel

BINARY = ["add", "subtract", "multiply"] * 4 + [
    "divide", "floor_divide", "remainder", "maximum", "minimum", "fmax", "fmin", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "copysign",
]  # fmt: skip
OPERATORS = ["+", "-", "*"] * 4 + ["/", "//", "%", "==", "<", ">=", "&", "|", "^"]
UNARY = [
    "negative", "absolute", "square", "sign", "floor", "ceil", "trunc", "rint", "sqrt", "isnan", "isinf", "isfinite", "signbit", "logical_not",
    "invert", "conj", "positive", "reciprocal",
]  # fmt: skip
LOOSE = ["sin", "cos", "exp", "tanh", "arctan", "log1p", "cbrt", "expm1", "arcsinh"]
REDUCTIONS = ["sum"] * 4 + ["max", "min", "any", "all", "count_nonzero", "prod", "argmax", "argmin", "mean", "std"]


class Maker:
    """Makes statements, running NumPy along, so that most of them fit."""

    def __init__(self, rng: random.Random, device: str, step: Any) -> None:
        self.step = step
        self.rng, self.ops, self.count = rng, [], 0
        self.names: dict[str, Any] = {"s": NumPySide(), "xp": np, "np": np, "values": values}
        self.queue: dict[str, int] = {}  # of v, z, d
        self.focus = 0
        self.plain: set[str] = set()  # made by rows
        self.cpu = device.startswith("cpu")
        self.dtypes = DTYPES if self.cpu else FEW_DTYPES
        self.main_dtype = rng.choice(self.dtypes) if rng.random() < 0.7 else None
        size = rng.random()
        if size < 0.04 and self.cpu:
            self.dims = [rng.choice([70_000, 20_001, 300_007])]
        else:
            self.dims = [rng.choice(SIZES) if rng.random() < 0.95 else 0 for _ in range(2)]
        self.weights = {name: weight * rng.choice([0, 1, 1, 1, 2]) for name, weight in WEIGHTS.items()}

    def fill(self, length: int) -> None:
        self.make_new()
        names = list(self.weights)
        tries = 0
        while len(self.ops) < length and tries < 4 * length + 10:
            tries += 1
            kind = self.rng.choices(names, [self.weights[n] + 0.01 for n in names])[0]
            getattr(self, "make_" + kind)()
        self.say("s.check(locals())")

    # what statements are made of

    def say(self, code: str, condition: str | None = None) -> bool:
        """Takes a statement, if it runs or raises; a name that it made and that NumPy did not is forgotten."""
        raised = self.step(self.names, code, condition)
        if raised is None:
            return False
        self.ops.append([code, condition])
        return not raised

    def fresh(self, prefix: str, queue: int | None = None) -> str:
        self.count += 1
        name = f"{prefix}{self.count}"
        if queue is not None:
            self.queue[name] = queue
        return name

    def bind(self, prefix: str, expression: str, queue: int, condition: str | None = None) -> str | None:
        name = self.fresh(prefix)
        if not self.say(f"{name} = {expression}", condition):
            return None
        if name[0] in "vz" and np.size(self.names[name]) > 1_000_000:
            self.ops.pop()  # views of views by broadcasting would grow without bound
            del self.names[name]
            return None
        self.queue[name] = queue
        return name

    def value(self, expression: str) -> Any:
        try:
            return np.asarray(eval(expression, dict(self.names)))
        except Exception:
            return None

    def bounded(self, *texts: str) -> bool:
        """Whether these broadcast to less than a million elements, or not at all."""
        shapes = [np.shape(self.value(t)) for t in texts]
        try:
            return np.prod(np.broadcast_shapes(*shapes), dtype=float) < 1e6
        except ValueError:
            return True

    def pick(self, prefix: str = "v", queue: int | None = None, arrays: bool = False) -> str | None:
        """A name; later ones more often. `arrays`: that are written or indexed."""
        found = [n for n in self.queue if n[0] in prefix and n in self.names and (queue is None or self.queue[n] == queue)]
        if arrays:
            found = [n for n in found if isinstance(self.names[n], np.ndarray) and self.names[n].ndim > 0 and self.names[n].flags.writeable]
        if not found:
            return None
        near = [n for n in found if self.root(n) == self.focus]  # views of one memory meet more often than chance would have it
        if near and self.rng.random() < 0.5:
            return self.rng.choice(near)
        return found[max(self.rng.randrange(len(found)), self.rng.randrange(len(found)))]

    def any_name(self, arrays: bool = False) -> str:
        name = self.pick("v", None, arrays)
        while name is None:
            self.make_new(arrays)
            name = self.pick("v", None, arrays)
        if self.rng.random() < 0.3:
            self.focus = self.root(name)
        return name

    def root(self, name: str) -> int:
        """Which memory a name looks at."""
        array = self.names.get(name)
        while isinstance(array, np.ndarray) and array.base is not None:
            array = array.base
        return id(array)

    def related(self, name: str, shape: tuple[int, ...]) -> str | None:
        """An expression of this shape in the same memory."""
        root, found = self.root(name), []
        for other in self.queue:
            if other[0] == "v" and other in self.names and self.queue[other] == self.queue[name] and self.root(other) == root:
                forms = [
                    other,
                    f"{other}.T",
                    *(f"{other}[{s}]" for s in (":-1", "1:", "::-1", "::2", "1::2", "-2::-1", "..., ::-1", ":, 1:", "None")),
                ]
                found += [f for f in forms if np.shape(self.value(f)) == shape and self.value(f) is not None]
        return self.rng.choice(found) if found else None

    def shape(self) -> tuple[int, ...]:
        a, b = self.dims[0], self.dims[-1]
        if len(self.dims) == 1:
            return (a,)
        return self.rng.choice(
            [(a,), (a,), (a, b), (a, b), (b,), (1, b), (a, 1), (b, a), (2, a, b) if a * b < 2000 else (a, b), (3, 1, b), (a, a)]
        )

    def dtype(self) -> str:
        return self.main_dtype if self.main_dtype and self.rng.random() < 0.7 else self.rng.choice(self.dtypes)

    def slice_of(self, size: int) -> str:
        r, n = self.rng, size
        bound = lambda: r.choice([0, 1, 2, n // 2, n - 1, n, -1, -2, -n, n + 3])
        return r.choice(
            [
                ":",
                ":",
                "1:",
                ":-1",
                "::-1",
                "::2",
                "1::2",
                "::-2",
                "::3",
                f"{bound()}:{bound()}",
                f"{bound()}:{bound()}:{r.choice([1, 2, -1, -3])}",
            ]
        )

    def index_of(self, shape: tuple[int, ...]) -> str:
        """Slices, integers, None and `...` for a shape."""
        r, parts = self.rng, []
        for size in shape:
            if r.random() < 0.1:
                parts.append("None")
            if r.random() < 0.12 and size and len(shape) > 1:
                parts.append(str(r.choice([0, -1, size // 2])))
            else:
                parts.append(self.slice_of(size))
            if r.random() < 0.15:
                parts.append("...")
                break
        return ", ".join(parts) or "..."

    def view(self, name: str, writable: bool = False) -> str:
        """An expression of a view of a name."""
        array = self.names[name]
        if not isinstance(array, np.ndarray) or array.ndim == 0:
            return name
        r = self.rng
        forms = [f"{name}[{self.index_of(array.shape)}]"] * 6 + [f"{name}.T", f"{name}[...]", f"{name}[:]", f"{name}[None]"]
        if array.ndim > 1:
            forms += [
                f"xp.swapaxes({name}, 0, -1)",
                f"{name}[0]" if array.shape[0] else name,
                f"{name}[..., 0]" if array.shape[-1] and array.ndim > 1 else name,
            ]
        if not writable:
            forms += [
                f"xp.flip({name})",
                f"xp.broadcast_to({name}, {(2, *array.shape)})",
                f"xp.expand_dims({name}, -1)",
                f"xp.roll({name}, 1)",
            ]
            forms += [f"{name}.flatten()", f"xp.squeeze({name})", f"{name}.copy()"]
        return r.choice(forms)

    def operand(self, queue: int, shape: tuple[int, ...] | None = None, scalars: bool = True) -> str:
        """An expression on a queue that broadcasts with a shape, mostly."""
        r = self.rng
        if scalars and r.random() < 0.15:
            return r.choice(["2", "3", "-1", "0", "1.5", "0.5", "-0.0", "True", "-2.25"])
        for _ in range(8):
            name = self.pick("v", queue)
            if name is None:
                break
            text = self.view(name) if r.random() < 0.5 else name
            got = self.value(text)
            if got is None:
                continue
            if shape is None or r.random() < 0.02:
                return text
            try:
                if np.broadcast_shapes(got.shape, shape) == shape or (scalars and np.broadcast_shapes(got.shape, shape)):
                    return text
            except ValueError:
                continue
        made = self.bind("v", self.new_text(shape if shape is not None else self.shape(), queue), queue)
        return made or "1"

    def new_text(self, shape: tuple[int, ...], queue: int, dtype: str | None = None) -> str:
        return f"s.new(values({self.rng.randrange(1000)}, {tuple(shape)}, {dtype or self.dtype()!r}), {queue})"

    def writable(self, text: str) -> bool:
        return bool(eval(text, dict(self.names)).flags.writeable)

    def name_in(self, text: str) -> str:
        return re.search(r"v\d+", text)[0]

    def target(self) -> tuple[str, np.ndarray, int]:
        """What is written: an array, or a view of one."""
        name = self.any_name(arrays=True)
        text = self.view(name, writable=True) if self.rng.random() < 0.6 else name
        got = self.value(text)
        # pardo knows by the strides what must not be written, NumPy by a flag that views inherit: neither is a target here.
        if got is None or got.ndim == 0 or not isinstance(eval(text, dict(self.names)), np.ndarray) or not self.writable(text):
            text, got = name, self.names[name]
        return text, got, self.queue[name]

    # statements

    def make_new(self, arrays: bool = True) -> None:
        queue = 0 if self.rng.random() < 0.8 else self.rng.choice([0, 1, 2])
        shape = self.shape() if arrays or self.rng.random() < 0.95 else ()
        if name := self.bind("v", self.new_text(shape, queue), queue):
            self.plain.add(name)

    def make_like(self) -> None:
        name = self.any_name()
        self.bind("v", self.rng.choice([f"xp.zeros_like({name})", f"xp.ones_like({name})", f"xp.full_like({name}, 3)"]), self.queue[name])

    def make_binary(self) -> None:
        r, name = self.rng, self.any_name()
        queue, a = self.queue[name], self.view(name) if self.rng.random() < 0.5 else name
        got = self.value(a)
        b = self.operand(queue, got.shape if got is not None else None)
        if not self.bounded(a, b):
            return
        if r.random() < 0.5:
            op = r.choice(OPERATORS)
            a, b = (a, b) if r.random() < 0.8 else (b, a)
            self.bind("v", f"{a} {op} ({b})", queue, self.binary_condition(op, a, b))
        else:
            op = r.choice(BINARY)
            self.bind("v", f"xp.{op}({a}, {b})", queue, self.binary_condition(op, a, b))

    def binary_condition(self, op: str, a: str, b: str) -> str | None:
        if op in ("maximum", "minimum", "fmax", "fmin"):
            return f"ordered({a}, {b})"
        if op == "copysign":  # the sign of a NaN is not kept
            return f"not np.any(np.isnan({b}))"
        if op in ("//", "floor_divide"):  # of infinities, where the array API standard has another result
            return f"not np.any(np.isinf({a})) and not np.any(np.isinf({b}))"
        if op in ("*", "multiply"):
            return f"tame({a}) and tame({b})"
        if op in ("/", "divide"):  # complex quotients are rounded in other ways
            return f"np.result_type({a}, {b}).kind != 'c'"
        return None

    def make_unary(self) -> None:
        name = self.any_name()
        a = self.view(name) if self.rng.random() < 0.4 else name
        op = self.rng.choice(UNARY)
        inexact = f"np.asarray({a}).dtype.kind != 'c'" if op in ("sqrt", "reciprocal", "sign", "absolute", "square") else None
        if op == "signbit":
            inexact = f"not np.any(np.isnan({a}))"
        if op == "reciprocal":  # of integers: 1/0 is undefined in C
            inexact = f"np.asarray({a}).dtype.kind == 'f'"
        self.bind("v", f"xp.{op}({a})", self.queue[name], inexact)

    def make_loose(self) -> None:
        name = self.any_name()
        condition = f"np.asarray({name}).dtype.char in 'fd' and np.all(np.abs({name}) < 100)"
        self.bind("z", f"xp.{self.rng.choice(LOOSE)}({name})", self.queue[name], condition)

    def make_where(self) -> None:
        name = self.any_name()
        queue, shape = self.queue[name], np.shape(self.names[name])
        c, b = self.operand(queue, shape), self.operand(queue, shape)
        if b == "-1":  # NumPy's `where` wraps it into unsigned dtypes, pardo raises OverflowError (docs/guide/errors.md)
            b = "1"
        if self.bounded(c, name, b):
            self.bind("v", f"xp.where({c}, {name}, {b})", queue)

    def make_cast(self) -> None:
        name, dtype = self.any_name(), self.dtype()
        a = self.view(name) if self.rng.random() < 0.4 else name
        self.bind("v", f"{a}.astype({dtype!r})", self.queue[name], f"in_range({a}, {dtype!r})")

    def make_view(self) -> None:
        name = self.pick("vz") if self.rng.random() < 0.3 else self.any_name(arrays=True)
        if name is not None:
            self.bind(name[0], self.view(name, writable=self.rng.random() < 0.7), self.queue[name])

    def make_reshape(self) -> None:
        name = self.any_name(arrays=True)
        size = self.names[name].size
        shapes = [(size,), (-1,), (1, size), (size, 1), (2, -1), (-1, 3), (size // 2, 2), tuple(reversed(self.names[name].shape))]
        # Results are laid out in memory as suits, so which reshapes of several dimensions are views is not said.
        copy = "" if self.names[name].ndim == 1 or name in self.plain else ".copy()"
        self.bind("v", f"{name}.reshape({self.rng.choice(shapes)}){copy}", self.queue[name])

    def make_scalar(self) -> None:
        """One element: a value of its own, which later writes do not change."""
        name = self.any_name(arrays=True)
        at = ", ".join(str(self.rng.choice([0, -1, n // 2])) for n in self.names[name].shape)
        self.bind("v", f"{name}[{at}]", self.queue[name])

    def make_reduce(self) -> None:
        r, name = self.rng, self.any_name(arrays=True)
        a = self.view(name) if r.random() < 0.5 else name
        got = self.value(a)
        if got is None:
            return
        op, axis = r.choice(REDUCTIONS), r.choice(["None", "0", "-1", *(["(0, 1)", "1"] if got.ndim > 1 else [])])
        more = f", axis={axis}" if axis != "None" or r.random() < 0.5 else ""
        if op not in ("argmax", "argmin") and r.random() < 0.3:
            more += ", keepdims=True"
        prefix, condition = "v", None
        if op == "sum":
            condition = f"exact_sum({a})"
        elif op == "prod":
            condition = f"exact_sum({a}, True)"
        elif op in ("max", "min", "argmax", "argmin"):
            condition = f"ordered({a})"
        elif op in ("mean", "std"):
            prefix, condition = (
                "z",
                f"np.asarray({a}).dtype.char in 'fdilqLB' and np.asarray({a}).size and np.all(np.abs(np.asarray({a}, 'd')) < 1e4)",
            )
        self.bind(prefix, f"xp.{op}({a}{more})", self.queue[name], condition)

    def make_scan(self) -> None:
        name = self.any_name(arrays=True)
        a = self.view(name) if self.rng.random() < 0.5 else name
        axis = self.rng.choice(["0", "-1"])
        self.bind("v", f"xp.cumsum({a}, axis={axis})", self.queue[name], f"exact_sum({a})")

    def make_sort(self) -> None:
        name = self.any_name(arrays=True)
        op = self.rng.choice(
            [f"xp.sort({name}, axis=-1)", f"xp.argsort({name}, axis=0, stable=True)", f"xp.unique({name})", f"xp.flatnonzero({name})"]
        )
        self.bind("v", op, self.queue[name], None if "nonzero" in op else f"sortable({name})")

    def make_join(self) -> None:
        name = self.any_name(arrays=True)
        queue, shape = self.queue[name], self.names[name].shape
        parts = [name] + [self.operand(queue, shape, scalars=False) for _ in range(self.rng.randint(1, 2))]
        self.bind("v", f"xp.{self.rng.choice(['concatenate', 'stack'])}([{', '.join(parts)}])", queue)

    def index_array(self, size: int, queue: int, bad: float = 0.04) -> str:
        """A list, NumPy's array or ours of positions along an axis."""
        r = self.rng
        places = [r.randrange(-size, size) for _ in range(r.randint(1, 6))] if size else [0]
        if r.random() < 0.5:
            places = sorted({p % size for p in places}) if size else []
        if r.random() < bad:
            places.append(size + 1)
        if any(not -size <= p < size for p in places):
            return r.choice([f"{places}", f"np.array({places}, 'int64')"])  # ours raise at the wait: bad_put has these
        return r.choice([f"{places}", f"np.array({places}, 'int64')", f"s.new(np.array({places}, 'int64'), {queue})"])

    def make_take(self) -> None:
        name = self.any_name(arrays=True)
        index = self.index_array(self.names[name].shape[0], self.queue[name])
        text = self.rng.choice([f"{name}[{index}]", f"xp.take({name}, {index}, axis=0)", f"{name}[{name} > 0]"])
        self.bind("v", text, self.queue[name], f"np.asarray({name}).dtype.kind != 'c'" if "> 0" in text else None)

    def make_matmul(self) -> None:
        name = self.any_name(arrays=True)
        other = self.pick("v", self.queue[name], arrays=True) or name
        a, b = self.rng.choice([(name, other), (name, f"{other}.T"), (f"{name}.T", other)])
        if max(self.names[name].size, self.names[other].size) > 20_000:
            return
        product = f"{a} @ {b}"
        if np.result_type(self.names[name], self.names[other]).kind in "fc":
            product = f"({product}) + 0"  # the signs of zeros are the BLAS's own
        self.bind("v", product, self.queue[name], f"exact_matmul({a}, {b})")

    def make_many(self) -> None:
        """Sums of more operands than a plan looks at one by one, into a view."""
        r, name = self.rng, self.any_name(arrays=True)
        queue, size = self.queue[name], self.dims[0] + 1
        if self.dims[0] > 1000 and r.random() < 0.7:
            return
        count = r.choice([22, 25, 26])
        leaves = self.fresh("L")
        seed = r.randrange(100)
        self.say(f"{leaves} = [s.new(values({seed} + i, ({size - 1},), 'float64'), {queue}) for i in range({count})]")
        x = self.bind("v", self.new_text((size,), queue, "float64"), queue)
        y = x if r.random() < 0.5 else self.bind("v", self.new_text((size,), queue, "float64"), queue)
        if x is None or y is None:
            return
        cut, put = r.choice([("[:-1]", "[1:]"), ("[:-1]", "[1:]"), ("[:-1]", "[-1:0:-1]")])
        self.say(f"xp.add(sum({leaves}[1:], {leaves}[0]), {x}{cut}, out={y}{put})")

    def make_assign(self) -> None:
        r = self.rng
        text, got, queue = self.target()
        value = self.operand(queue, got.shape)
        if r.random() < 0.4:
            value = self.related(self.name_in(text), got.shape) or value
        if r.random() < 0.4:  # of what was there
            value = r.choice([f"-({value})", f"({value}) * 2", f"{text} + ({value})", f"{text}[::-1]", f"({value}) - {text}"])
        condition = f"in_range({value}, {text}.dtype)"
        if text.endswith("]"):
            self.say(f"{text} = {value}", condition)
        else:
            self.say(f"{text}[{r.choice(['...', ':'])}] = {value}", condition)

    def make_pending(self) -> None:
        """A value that was not asked for, a view of it, something that reads the view, and a write into one of the two."""
        r, name = self.rng, self.any_name(arrays=True)
        queue, dtype = self.queue[name], self.names[name].dtype
        if dtype.kind == "b" or np.iscomplexobj(self.names[name]):
            return
        x = self.bind("v", f"{name} {r.choice(['+', '*', '-'])} {r.choice(['1', '2', name])}", queue)
        if x is None or not isinstance(self.names[x], np.ndarray):
            return
        y = self.bind("v", self.view(x, writable=True), queue)
        if y is None or not isinstance(self.names[y], np.ndarray):
            return
        reader = r.choice(
            [f"{y} + 1", f"xp.max({y}, keepdims=True)" if self.names[y].size else f"{y} + 1", f"{y} * {y}", f"xp.negative({y})"]
        )
        self.bind("v", reader, queue, f"ordered({y})" if "max" in reader else None)
        into, other = r.choice([(x, y), (y, x), (x, x)])
        value = self.related(into, self.names[into].shape) if r.random() < 0.7 else other
        self.say(
            r.choice(
                [
                    f"{into}[...] = -({value or other})" if dtype.kind != "u" else f"{into}[...] = {value or other} * 3",
                    f"{into} += {value or other} * 3",
                    f"{into}[::-1] = {value or other}",
                ]
            )
        )

    def make_inplace(self) -> None:
        text, got, queue = self.target()
        if "(" in text:
            return
        if text.endswith(".T"):
            text = text[:-2] + "[...]"
        value = self.operand(queue, got.shape)
        if self.rng.random() < 0.4:
            value = self.related(self.name_in(text), got.shape) or value
        op = self.rng.choice(["+", "-", "*", "*", "+", "&", "|", "//", "/"])
        self.say(f"{text} {op}= {value}", self.binary_condition(op, text, value))

    def make_out(self) -> None:
        text, got, queue = self.target()
        a = self.related(self.name_in(text), got.shape) if self.rng.random() < 0.6 else None
        if a is None:
            a = self.operand(queue, got.shape, scalars=False)  # the queue is that of the operands
        b = self.operand(queue, got.shape)
        if not self.bounded(a, b):
            return
        self.say(f"xp.{self.rng.choice(['add', 'subtract', 'multiply', 'add'])}({a}, {b}, out={text})", f"tame({a}) and tame({b})")

    def make_put(self) -> None:
        """Writes by masks and index arrays."""
        r, name = self.rng, self.any_name(arrays=True)
        queue, array = self.queue[name], self.names[name]
        if r.random() < 0.5:
            self.say(
                f"{name}[{r.choice([f'{name} > 0', f'{name} == {name}', f'xp.logical_not({name})'])}] = {r.choice(['1', '0', '7'])}",
                f"np.asarray({name}).dtype.kind != 'c'",
            )
            return
        index = self.index_array(array.shape[0], queue)
        value = r.choice(["2", self.operand(queue, array.shape[1:])])
        if np.ndim(self.value(value)) > array.ndim:
            return
        self.say(f"{name}[{index}] = {value}", f"unique({index}, {array.shape[0]}) and in_range({value}, {name}.dtype)")

    def make_fill(self) -> None:
        name = self.any_name(arrays=True)
        queue = self.queue[name]
        self.say(
            self.rng.choice([f"{name}.fill(2)", f"xp.copyto({name}, {self.operand(queue, self.names[name].shape)})"]),
            f"{name}.dtype.kind in 'fc'",
        )

    # memory of NumPy, queues, failures, lifetimes

    def make_foreign(self) -> None:
        name = self.fresh("n")
        shape = (self.dims[0] + 1,) if self.rng.random() < 0.6 else self.shape()
        if self.cpu and self.say(f"{name} = values({self.rng.randrange(1000)}, {shape}, {self.dtype()!r})"):
            self.queue[name] = 0
            for _ in range(self.rng.randint(1, 3)):
                self.share_of(name)

    def share_of(self, name: str) -> None:
        part = self.rng.choice([name, f"{name}[1:]", f"{name}[::-1]", f"{name}[:-1]", f"{name}[{self.index_of(self.names[name].shape)}]"])
        if isinstance(self.value(part), np.ndarray) and self.value(part).ndim and self.value(part).size:
            self.bind("v", f"s.share({part}, {self.queue[name]})", self.queue[name])

    def make_share(self) -> None:
        name = self.pick("n")
        if name is not None:
            self.share_of(name)

    def make_foreign_write(self) -> None:
        """NumPy writes; what pardo has recorded must not see it."""
        name = self.pick("n")
        if name is not None:
            self.say("s.settle()")
            self.say(
                f"{name}[{self.slice_of(self.names[name].shape[0])}] {self.rng.choice(['=', '+='])} {self.rng.choice(['1', '3', '0'])}"
            )

    def make_move(self) -> None:
        name = self.any_name()
        queue = self.rng.choice([0, 1, 2])
        self.bind("v", f"s.move({name}, {queue})", queue)

    def make_strangers(self) -> None:
        """Operands of two queues: refused, and nothing is changed. Those without dimensions may follow (`placements` has them)."""
        a = self.any_name()
        others = (n for n in self.queue if n[0] == "v" and n in self.names and self.queue[n] != self.queue[a])
        b = next((n for n in others if self.names[n].ndim), None)
        if b is not None and self.names[a].ndim:
            self.say(f"s.refused(lambda: {a} + {b})")

    def make_doomed(self) -> None:
        name = self.any_name(arrays=True)
        if self.names[name].size and self.names[name].dtype.kind != "c":
            self.bind("d", f"s.doomed({name})", self.queue[name])

    def make_poke(self) -> None:
        name = self.pick("d")
        if name is not None:
            self.say(f"s.poke({name})")

    def make_bad_put(self) -> None:
        name = self.any_name(arrays=True)
        if self.names[name].size:
            self.say(f"s.bad_put({name})")

    def make_force(self) -> None:
        self.say(f"s.force({self.any_name()})")

    def make_check(self) -> None:
        self.say("s.check(locals())")

    def make_settle(self) -> None:
        self.say("s.settle()")

    def make_drop(self) -> None:
        name = self.pick("vzd")
        if name is not None and len(self.queue) > 3 and self.say(f"del {name}"):
            del self.queue[name]


WEIGHTS = {
    "new": 8, "like": 2, "binary": 25, "unary": 8, "loose": 2, "where": 4, "cast": 5, "view": 14, "reshape": 4, "scalar": 4, "reduce": 10,
    "scan": 3, "sort": 2, "join": 3, "take": 4, "matmul": 2, "many": 2, "assign": 12, "pending": 3, "inplace": 12, "out": 8, "put": 4, "fill": 1,
    "foreign": 3, "share": 4, "foreign_write": 3, "move": 2, "strangers": 1, "doomed": 0.3, "poke": 1, "bad_put": 0.5, "force": 4, "check": 2,
    "settle": 1, "drop": 4,
}  # fmt: skip
