# tests/fuzz/placements.py: random programs over several queues and devices, with values of the host and 0-d arrays in between, against a
# model of where each result must be, which calls must be refused, and which copies count.
#
# A program is a list of [kind, name, ...]; operands are names of earlier values, or values of the host that are written out. The model
# (docs/guide/host-values.md) knows of each value what NumPy has for it and the queue it is on. Those that are gone are left out.
from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np

SIZE = 5
HOST = -1  # where NumPy's arrays are

# What computes element by element: its name and how many operands it takes.
ELEMENTWISE = {"add": 2, "subtract": 2, "multiply": 2, "maximum": 2, "minimum": 2, "greater": 2, "where": 3, "clip": 3}
# One array, to one of the same shape or to a 0-d one.
ONE = ["negative", "sort", "cumsum", "sum", "max", "mean", "median"]
# Several arrays of one dimension.
JOINS = ["concatenate", "hstack", "append"]


class Value:
    """What NumPy has, and the queue: its number, or HOST."""

    def __init__(self, expected: Any, place: int, real: Any) -> None:
        self.expected, self.place, self.real = expected, place, real


class Wrong(Exception):
    """What differs from the model."""


class Model:
    """The queues of a program, and its values so far."""

    def __init__(self, device: str) -> None:
        import pardo as pp

        self.pp, self.device = pp, device
        # 0 is the default one; the last ones are on the device that is tried.
        self.queues = [pp.Queue.of("cpu"), pp.Queue("cpu"), pp.Queue("cpu", order="out_of_order"), pp.Queue(device)]
        if pp.Device(device) != pp.Device("cpu"):
            self.queues.append(pp.Queue.of(device))
        self.values: dict[str, Value] = {}

    def number(self, queue: Any) -> int:
        return next((k for k, q in enumerate(self.queues) if q == queue), -2)

    def follows(self, v: Value) -> bool:
        return v.place != HOST and np.ndim(v.expected) == 0 and self.queues[v.place].device.backend == "cpu"

    def pull(self, v: Value) -> int:
        """What decides where a result is: arrays that do not follow, else those on queues of one's own, else those on canonical ones."""
        return 2 if not self.follows(v) else int(self.queues[v.place] != self.pp.Queue.of(self.queues[v.place].device))

    def place(self, operands: list[Value]) -> int | None:
        """Where a result must be; None where the call must be refused."""
        arrays = [v for v in operands if v.place != HOST]
        most = max(map(self.pull, arrays), default=0)
        places = {v.place for v in arrays if self.pull(v) == most} or {0}
        return places.pop() if len(places) == 1 else None

    def copies(self, operands: list[Value], place: int) -> tuple[int, int]:
        """How many arrays are copied, at least and at most: the host's once each, and 0-d arrays of the CPU where they are elsewhere."""
        host = {id(v.real) for v in operands if v.place == HOST and np.ndim(v.real) > 0}
        followers = {id(v.real) for v in operands if v.place not in (HOST, place)}
        return len(host), len(host) + len(followers)

    def operand(self, what: list[Any]) -> Value | None:
        kind, value = what
        if kind == "name":
            return self.values.get(value)
        if kind == "numpy":
            return Value(np.array(value), HOST, np.array(value))
        real = {"list": list, "tuple": tuple, "number": lambda v: v}[kind](value)
        return Value(real, HOST, real)


def check(m: Model, name: str, v: Value) -> None:
    """Where a value is, and what it is."""
    if v.place == HOST:
        if isinstance(v.real, m.pp.Array):
            raise Wrong(f"{name} is on {v.real.queue!r}, not on the host")
        if not np.allclose(v.real, v.expected, rtol=1e-9, atol=1e-9):
            raise Wrong(f"{name} is {v.real!r}, not {v.expected!r}")
        return
    if not isinstance(v.real, m.pp.Array):
        raise Wrong(f"{name} is {type(v.real).__name__}, not an array on queue {v.place}")
    if m.number(v.real.queue) != v.place:
        raise Wrong(f"{name} is on queue {m.number(v.real.queue)}, not on queue {v.place}")
    if m.pp.Queue.of(v.real.device) != v.real.queue:
        raise Wrong(f"the device of {name} does not remember its queue")
    got = m.pp.asnumpy(v.real)
    if got.shape != np.shape(v.expected) or not np.allclose(got, v.expected, rtol=1e-9, atol=1e-9):
        raise Wrong(f"{name} is {got.tolist()}, not {np.asarray(v.expected).tolist()}")


def call(m: Model, name: str, operands: list[Value], run: Any, expected: Any, place: int | None, count: tuple[int, int] | None) -> None:
    """Runs a call: it is refused where the operands have no common queue; else its result and its copies are as the model says."""
    pp = m.pp
    if place is None:
        try:
            run()
        except pp.ExecutionPlacementError:
            return
        raise Wrong(f"{name}: operands on queues {[v.place for v in operands]} were not refused")
    before = pp.counters()["copies"]
    real = run()
    made = pp.counters()["copies"] - before
    if count is not None and not count[0] <= made <= count[1]:
        raise Wrong(f"{name}: {made} arrays were copied, not {count[0]} to {count[1]}")
    m.values[name] = Value(expected, place, real)
    check(m, name, m.values[name])


def move(m: Model, name: str, x: Value, device: Any, place: int) -> None:
    """A copy of a value that is not computed: only where it is is looked at, so that later statements meet it pending."""
    real = x.real.copy().to_device(device)
    if not real.pending or m.number(real.queue) != place:
        raise Wrong(f"{name} is {'pending' if real.pending else 'computed'} on queue {m.number(real.queue)}, not pending on queue {place}")
    m.values[name] = Value(x.expected, place, real)


def guarded(m: Model, name: str, count: int, run: Any) -> None:
    """A guard refuses what copies values of the host, and 0-d arrays of the CPU to the others, and nothing else."""
    pp = m.pp
    try:
        with pp.transfer_guard("disallow"):
            run()
    except pp.ExecutionPlacementError as e:
        if not count:
            raise Wrong(f"{name}: the guard refused what copies nothing: {e}") from e
        return
    if count:
        raise Wrong(f"{name}: the guard saw none of {count} copies")


def on_numpy(f: str, xs: list[Any]) -> Any:
    if f == "append":
        return np.append(xs[0], xs[1])
    return getattr(np, f)(xs) if f in ("concatenate", "hstack") else getattr(np, f)(*xs)


def on_ours(pp: Any, f: str, xs: list[Any]) -> Any:
    if f == "append":
        return pp.append(xs[0], xs[1])
    return getattr(pp, f)(xs) if f in ("concatenate", "hstack") else getattr(pp, f)(*xs)


def step(m: Model, op: list[Any]) -> None:
    """One statement, in the model and in the library."""
    kind, name, *rest = op
    pp = m.pp
    given = [m.operand(o) for o in rest[-1]]
    if any(v is None for v in given):
        return
    xs: list[Value] = given  # type: ignore[assignment]
    real, expected = [v.real for v in xs], [v.expected for v in xs]
    if kind == "new":  # an array on a queue, or of the host
        place, value = rest[0], np.array(rest[1], dtype="float64")
        made = value.copy() if place == HOST else pp.asarray(value, queue=m.queues[place % len(m.queues)])
        m.values[name] = Value(value, HOST if place == HOST else place % len(m.queues), made)
    elif kind == "like":  # by the device of another, which remembers its queue
        if xs[0].place == HOST:
            return
        call(m, name, xs, lambda: pp.full(SIZE, 3.0, device=real[0].device), np.full(SIZE, 3.0), xs[0].place, (0, 0))
    elif kind in ("elementwise", "join", "one"):
        f = rest[0]
        if any(np.ndim(e) != 1 for e in expected) and (kind == "join" or f in ("sort", "cumsum")):
            return
        try:
            with np.errstate(all="ignore"):
                wanted = on_numpy(f, expected)
        except (TypeError, ValueError):  # no such loop, or shapes that do not fit
            return
        place = m.place(xs)
        count = m.copies(xs, place) if place is not None and kind == "elementwise" else None
        if place is not None and count is not None and rest[1]:
            guarded(m, name, count[1], lambda: on_ours(pp, f, real))
        if count is not None:  # a copy that had been asked for before is made now
            count = (count[0], count[1] + len({id(x) for x in real if isinstance(x, pp.Array) and x.pending}))
        wanted = np.asarray(wanted)[..., :SIZE] if np.ndim(wanted) else wanted
        call(m, name, xs, lambda: cut(on_ours(pp, f, real)), wanted, place, count)
    elif kind == "maker":  # arrays that are made of numbers which are arrays
        f = rest[0]
        if any(np.ndim(e) != 0 for e in expected):
            return
        made = {
            "linspace": (lambda: pp.linspace(*real[:2], SIZE), lambda: np.linspace(*expected[:2], SIZE), 2),
            "array": (lambda: pp.array([*real[:2], 1.0, 2.0, 3.0]), lambda: np.array([*expected[:2], 1.0, 2.0, 3.0]), 2),
            "full": (lambda: pp.full(SIZE, real[0]), lambda: np.full(SIZE, expected[0]), 1),
            "arange": (
                lambda: pp.arange(real[0], real[0] + SIZE),
                lambda: np.arange(expected[0], expected[0] + SIZE),
                1,
            ),
            "nested": (lambda: pp.asarray([[real[0], 4.0], [1.0, 2.0]])[0], lambda: np.array([expected[0], 4.0]), 1),
        }[f]
        call(m, name, xs[: made[2]], made[0], made[1](), m.place(xs[: made[2]]), None)
    elif kind == "store":
        target, value = xs
        if (
            target.place == HOST
            or np.shape(target.expected) != (SIZE,)
            or target.expected.dtype != np.float64
            or np.shape(value.expected) not in ((), (SIZE,))
        ):
            return
        if rest[0] in ("kernel", "loop") and value.place == HOST and np.ndim(value.expected):
            return  # kernels take no arrays of the host
        before = pp.asnumpy(target.real)
        fits = value.place in (HOST, target.place) or m.follows(value)
        try:
            store(rest[0], target.real, value.real)
        except pp.ExecutionPlacementError as e:
            if fits:
                raise Wrong(f"{name}: {e}") from e
            if not np.array_equal(pp.asnumpy(target.real), before):
                raise Wrong(f"{name} was refused, and has written") from e
            return
        if not fits:
            raise Wrong(f"{name}: a value on queue {value.place} was stored on queue {target.place}")
        target.expected = np.array(target.expected)
        store(rest[0], target.expected, value.expected)
        for n, v in m.values.items():
            if v is not target:
                check(m, n, v)
        check(m, name, target)
    elif kind == "move":
        x, to = xs
        if HOST in (x.place, to.place):
            return
        if x.place == to.place:  # it is there
            m.values[name] = x
            return
        move(m, name, x, to.real.device, to.place)
    elif kind == "canonical":
        x = xs[0]
        if x.place == HOST:
            return
        device = m.queues[x.place].device
        place = m.number(pp.Queue.of(device))
        if place == x.place:
            m.values[name] = x
            return
        move(m, name, x, device.id, place)
    elif kind == "putmask":  # what is on the host stays there, and takes the values
        host = np.arange(float(SIZE))
        value = xs[0]
        if np.ndim(value.expected) == 0 and value.place == HOST:
            return
        wanted = host.copy()
        np.putmask(wanted, wanted > 1, value.expected)
        np.putmask(host, host > 1, value.real)
        if not np.allclose(host, wanted, rtol=1e-9, atol=1e-9):
            raise Wrong(f"{name}: {host.tolist()}, not {wanted.tolist()}")
    elif kind == "context":  # values of the host alone: NumPy's arrays come back, lists become arrays there
        host = [v for v in xs if v.place == HOST and np.ndim(v.expected) == 1]
        if len(host) != len(xs):
            return
        numpys = any(isinstance(v.real, np.ndarray) for v in xs)
        with pp.device_context(m.device):
            made = cut(on_ours(pp, rest[0], real))
        place = HOST if numpys else m.number(pp.Queue.of(m.device))
        m.values[name] = Value(cut(on_numpy(rest[0], expected)), place, made)
        if place == -2:
            raise Wrong(f"{name} is on {made.queue!r}")
        check(m, name, m.values[name])


@functools.cache
def programs() -> tuple[Any, Any]:
    """A kernel and a loop that add a number or an array to a line."""
    import pardo as pp

    @pp.kernel
    def added(item: pp.Item, x: Any, y: Any) -> None:
        i = item.get_id(0)
        x[i] += y

    @pp.kernel
    def added_line(item: pp.Item, x: Any, y: Any) -> None:
        i = item.get_id(0)
        x[i] += y[i]

    @pp.jit
    def looped(x: Any, y: Any) -> None:
        for i in pp.prange(len(x)):
            x[i] += y

    @pp.jit
    def looped_line(x: Any, y: Any) -> None:
        for i in pp.prange(len(x)):
            x[i] += y[i]

    return (added, added_line), (looped, looped_line)


def store(how: str, target: Any, value: Any) -> None:
    if how in ("kernel", "loop") and not isinstance(target, np.ndarray):
        kernels, loops = programs()
        line = min(getattr(value, "ndim", 0), 1)
        if how == "kernel":
            kernels[line][SIZE](target, value)
        else:
            loops[line](target, value)
        return
    if how == "all":
        target[...] = value
    elif how == "part":
        target[1:3] = value if np.ndim(value) == 0 else value[1:3]
    else:
        target += value


def cut(x: Any) -> Any:
    return x[..., :SIZE] if getattr(x, "ndim", 0) else x


def run(program: dict[str, Any], device: str) -> str | None:
    m = Model(device)
    for op in [*program["ops"], None]:
        try:
            if op:
                step(m, op)
                continue
            for name, value in m.values.items():
                check(m, name, value)
        except Wrong as e:
            return f"{op or 'at the end'}: {e}"
        except Exception as e:
            return f"{op or 'at the end'}: {type(e).__name__}: {e}"
    return None


def script(program: dict[str, Any], device: str) -> str:
    """The statements, which `placements.run` understands."""
    lines = ["import sys", "", 'sys.path.insert(0, "tests")', "", "from fuzz import placements", "", "program = {", '    "ops": [']
    lines += [f"        {op!r}," for op in program["ops"]]
    return "\n".join([*lines, "    ]", "}", f"print(placements.run(program, {device!r}))", ""])


def generate(rng: random.Random, device: str) -> dict[str, Any]:
    r, ops, names = rng, [], []
    queues = 4 if device.startswith("cpu") else 5

    def values(count: int) -> list[float]:
        return [float(r.randint(-9, 9)) for _ in range(count)]

    def operand() -> list[Any]:
        kind = r.choices(["name", "numpy", "list", "tuple", "number", "zero"], [16, 3, 2, 1, 2, 1])[0]
        if kind == "name" and names:
            return ["name", r.choice(names[-8:])]
        if kind == "zero":
            return ["numpy", values(1)[0]]
        if kind == "number":
            return ["number", values(1)[0]]
        return [kind if kind != "name" else "numpy", values(SIZE)]

    for k in range(r.randint(3, 30)):
        kinds = {"new": 10, "elementwise": 16, "one": 8, "join": 4, "maker": 6, "store": 6, "move": 3, "canonical": 1, "like": 2, "putmask": 2,
                 "context": 3}  # fmt: skip
        kind = r.choices(list(kinds), list(kinds.values()))[0]
        name = f"x{k}"
        if kind == "new":
            ops.append([kind, name, r.choice([HOST, *range(queues)]), values(SIZE) if r.random() < 0.6 else values(1)[0], []])
        elif kind == "elementwise":
            f = r.choice(list(ELEMENTWISE))
            ops.append([kind, name, f, r.random() < 0.3, [operand() for _ in range(ELEMENTWISE[f])]])
        elif kind == "one":
            ops.append([kind, name, r.choice(ONE), False, [operand()]])
        elif kind == "join":
            ops.append([kind, name, r.choice(JOINS), False, [operand(), operand()]])
        elif kind == "maker":
            ops.append([kind, name, r.choice(["linspace", "array", "full", "arange", "nested"]), [operand(), operand()]])
        elif kind == "store":
            ops.append([kind, name, r.choice(["all", "part", "add", "kernel", "loop"]), [operand(), operand()]])
        elif kind == "context":
            ops.append([kind, name, r.choice(["add", "maximum", "concatenate"]), [operand(), operand()]])
        else:
            ops.append([kind, name, [operand() for _ in range({"move": 2}.get(kind, 1))]])
        names.append(name)
    return {"ops": ops}
