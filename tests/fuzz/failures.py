# tests/fuzz/failures.py: random programs with work that fails, against a model of which elements have failed.
#
# The model (docs/guide/errors.md) keeps for each element of some arrays what it holds, whether it has failed, and whether that is known
# (what has been accepted is not). A read of failed elements must raise, each time; no other read may; and no submission raises, but those that
# wait: compiled loops. So no reader sees a number that depends on failed work, and nothing raises that does not depend on it. Arrays are of one
# queue; a second one copies and fills them too. Threads work on an array each, or read one together.
from __future__ import annotations

import contextlib
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

ARRAYS, ROWS, HUGE, READERS = 3, 4, 2**46, 4
TEXT = {
    "opencl": """
        __kernel void add(__global float* x, float value) { x[get_global_id(0)] += value; }
        __kernel void sum(__global float* x, __global const float* y) { x[get_global_id(0)] = y[get_global_id(0)] + 1.0f; }
        """,
    "cuda": """
        extern "C" __global__ void add(float* x, float value) { x[blockIdx.x] += value; }
        extern "C" __global__ void sum(float* x, const float* y) { x[blockIdx.x] = y[blockIdx.x] + 1.0f; }
        """,
}


class Broken(Exception):
    """What tasks raise."""


class State:
    """Arrays of two dimensions, and the same on the host: values, failed or not, known or not."""

    def __init__(self, pp: Any, program: dict[str, Any], device: str) -> None:
        self.pp, self.width = pp, program["width"]
        self.queue, self.other = (pp.Queue(device, order=order) for order in program["orders"])
        start = [np.arange(ROWS * self.width, dtype="float32").reshape(ROWS, -1) + 100 * k for k in range(ARRAYS)]
        self.arrays = [pp.asarray(v, queue=self.queue) for v in start]
        self.values = [v.copy() for v in start]
        self.failed = [np.zeros(v.shape, bool) for v in start]
        self.known = [np.ones(v.shape, bool) for v in start]
        self.later: list[tuple[Any, Any, bool, Any]] = []  # recorded: array, values, failed, known

    def view(self, at: list[Any]) -> tuple[int, tuple[slice, slice]]:
        k, rows, columns = at
        return k, (slice(*rows), slice(*columns))

    def write(self, at: list[Any], values: Any, failed: bool, known: Any = True) -> None:
        """All elements of a view: of failed work, none is worth anything."""
        k, key = self.view(at)
        self.values[k][key] = values
        self.failed[k][key] = failed
        self.known[k][key] = np.logical_and(known, not failed)

    def update(self, at: list[Any], values: Any) -> None:
        """Work that reads what it writes."""
        k, key = self.view(at)
        failed = bool(self.failed[k][key].any())
        self.write(at, values, failed, self.known[k][key].copy())

    def write_some(self, at: list[Any], values: Any) -> None:
        """Work of which nobody knows that it writes all: what has failed stays so."""
        k, key = self.view(at)
        self.values[k][key] = np.where(self.failed[k][key], self.values[k][key], values)
        self.known[k][key] |= ~self.failed[k][key]

    def read(self, name: str, array: Any, values: Any, failed: bool, known: Any) -> str | None:
        for what, get in (("read", self.pp.asnumpy), ("sum", lambda x: float(x.sum())), ("read again", self.pp.asnumpy)):
            try:
                got = get(array)
            except Exception as error:
                if not failed:
                    return f"{name}: {what} raises {error!r}, and nothing has failed there"
                continue
            if failed:
                return f"{name}: {what} gives {np.ravel(got)[:5]}, and elements have failed there"
            if what != "sum" and not np.array_equal(got[known], values[known]):
                return f"{name}: {what} gives {got.tolist()}, not {values.tolist()}"
        return None


def kernels(pp: Any) -> dict[str, Any]:
    """Made once a process."""
    if known := kernels.__dict__.get("made"):
        return known  # type: ignore[no-any-return]

    @pp.kernel
    def set_all(item: pp.Item, x, value, beyond):  # type: ignore[no-untyped-def]
        i, j = item.get_id(0), item.get_id(1)
        x[i + beyond, j] = value

    @pp.kernel
    def add_all(item: pp.Item, x, value, beyond):  # type: ignore[no-untyped-def]
        i, j = item.get_id(0), item.get_id(1)
        x[i, j + beyond] = x[i, j] + value

    @pp.kernel
    def set_each(item: pp.Item, x, value):  # type: ignore[no-untyped-def]
        i, j = item.get_id(0), item.get_id(1)
        x[i, j] = value

    @pp.jit
    def loop(x, value, beyond):  # type: ignore[no-untyped-def]
        for i in pp.prange(x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j] = x[i, j] + value[i + beyond]

    kernels.__dict__["made"] = {"set": set_all, "each": set_each, "add": add_all, "loop": loop}
    return kernels.__dict__["made"]  # type: ignore[no-any-return]


def broken() -> None:
    raise Broken


def raised_by(call: Callable[[], object]) -> BaseException | None:
    try:
        call()
    except Exception as error:
        return error
    return None


def together(calls: list[Callable[[], str | None]]) -> str | None:
    """Each on a thread of its own; what is wrong with the first of them with which something is."""
    told: list[str | None] = [None] * len(calls)

    def run(k: int) -> None:
        try:
            told[k] = calls[k]()
        except Exception as error:
            told[k] = f"raises {error!r} at the call"

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return next((t for t in told if t is not None), None)


def step(s: State, op: list[Any], device: str) -> str | None:
    """Runs a statement and its model; what is wrong, if anything is."""
    pp, made = s.pp, kernels(s.pp)
    kind, name, at, *rest = op
    if kind == "threads":
        lists = rest[0]

        def runs(k: int) -> str | None:
            return next((f"{o[0]} {wrong}" for o in lists[k] if (wrong := step(s, o, device)) is not None), None)

        wrong = together([lambda k=k: runs(k) for k in range(len(lists))])  # type: ignore[misc]
        return None if wrong is None else f"{name}: {wrong}"
    k, key = s.view(at)
    x, now = s.arrays[k][key], s.values[k][key]
    space = pp.Range(*now.shape)
    if kind == "fill":
        s.queue.fill(x, rest[0])
        s.write(at, rest[0], False)
    elif kind == "store":
        x[...] = rest[0]
        s.write(at, rest[0], False)
    elif kind == "copy":
        other, from_key = s.view(rest[0])
        source, failed, known = s.values[other][from_key].copy(), bool(s.failed[other][from_key].any()), s.known[other][from_key].copy()
        x[...] = s.arrays[other][from_key] * 2.0
        s.write(at, source * 2, failed, known)
    elif kind == "add":
        x += rest[0]
        s.update(at, now + rest[0])
    elif kind == "kernel":
        made["set"][space](x, rest[0], 0)
        s.write_some(at, rest[0])
    elif kind == "each":
        made["each"][space](x, rest[0])
        s.write(at, rest[0], False)
    elif kind == "update":
        made["add"][space](x, rest[0], 0)
        s.update(at, now + rest[0])
    elif kind == "bad_kernel":
        made["set"][space](x, rest[0], 1)
        s.write(at, 0, True)
    elif kind == "bad_update":
        made["add"][space](x, rest[0], 1)
        s.write(at, 0, True)
    elif kind in ("loop", "bad_loop"):
        wrong = kind == "bad_loop"
        try:
            made["loop"](x, pp.full(now.shape[0], rest[0], dtype="float32", queue=s.queue), int(wrong))
            raised = None
        except Exception as error:
            raised = error
        expected = wrong or bool(s.failed[k][key].any())
        if wrong and raised is None:
            return f"{name}: the loop raises nothing"
        if raised is not None and not expected:
            return f"{name}: the loop raises {raised!r}"
        s.write(at, 0, True) if wrong else s.update(at, now + rest[0])
    elif kind == "bad_task":
        event = s.queue.host_task(broken)
        s.queue.fill(x, rest[0], depends=[event])
        s.write(at, 0, True)
    elif kind == "gated":  # another write comes before it is known whether the first one fails
        gate = pp.UserEvent()
        s.queue.fill(x, rest[0], depends=[gate])
        s.write(at, rest[0], rest[1])
        inner, inner_key = s.view(rest[2])
        s.queue.fill(s.arrays[inner][inner_key], rest[0] + 1)
        s.write(rest[2], rest[0] + 1, False)
        gate.set_failed(Broken()) if rest[1] else gate.set_complete()
    elif kind in ("other_fill", "other_copy"):  # on another queue of the device
        if kind == "other_fill":
            s.other.fill(x, rest[1])
            s.write(at, rest[1], False)
        else:
            other, from_key = s.view(rest[0])
            source, failed, known = s.values[other][from_key].copy(), bool(s.failed[other][from_key].any()), s.known[other][from_key].copy()
            s.other.copy(x, s.arrays[other][from_key])
            s.write(at, source, failed, known)
    elif kind == "moved":
        failed, known = bool(s.failed[k][key].any()), s.known[k][key].copy()
        return s.read(
            name, x.to_device(s.other.device.without_queue) if rest[0] < 0 else pp.asarray(x, queue=s.other), now.copy(), failed, known
        )
    elif kind == "other_task":  # of another queue, seen before or not
        event = s.other.host_task(broken)
        if rest[0] < 0 and not isinstance(raised_by(event.wait), Broken):
            return f"{name}: the task raises nothing"
        written = s.queue.fill(x, rest[0], depends=[event])
        s.write(at, 0, True)
        if not isinstance(raised_by(written.wait), Broken):
            return f"{name}: the wait for what did not run raises nothing"
        if (again := raised_by(written.wait)) is not None:
            return f"{name}: the second wait raises {again!r}"
    elif kind in ("text", "bad_text"):
        if (text := TEXT.get(s.queue.device.backend)) is None:
            return None
        program = pp.Program(s.queue.device, text)
        row, values = s.arrays[k][at[1][0]], [k, [at[1][0], at[1][0] + 1, 1], [0, s.width, 1]]
        _, row_key = s.view(values)
        if kind == "bad_text":
            gate = pp.UserEvent()
            gate.set_failed(Broken())
            program.add[pp.Range(s.width), None, gate](row, np.float32(rest[0]))
            s.write(values, 0, True)
        elif rest[0] < 0:
            program.add[pp.Range(s.width)](row, np.float32(rest[0]))
            s.update(values, s.values[k][row_key] + rest[0])
        else:  # the target is one that it may read
            _, from_key = s.view(source := [(k + 1) % ARRAYS, [0, 1, 1], [0, s.width, 1]])
            failed = bool(s.failed[source[0]][from_key].any() or s.failed[k][row_key].any())
            known = s.known[source[0]][from_key].copy()
            program.sum[pp.Range(s.width)](row, s.arrays[source[0]][0])
            s.write(values, s.values[source[0]][from_key] + 1, failed, known)
    elif kind == "readers":
        held, failed, known = now.copy(), bool(s.failed[k][key].any()), s.known[k][key].copy()
        return together([lambda: s.read(name, x, held, failed, known)] * READERS)
    elif kind == "take":
        flat = s.arrays[k][key].reshape(-1)
        count = now.size
        index = np.arange(count)[::-1].copy()
        index[rest[0] % count] = count + 3 if rest[1] else index[rest[0] % count]
        taken = pp.take(flat, pp.asarray(index, queue=s.queue))
        values = now.reshape(-1)[np.minimum(index, count - 1)].reshape(now.shape)
        known = s.known[k][key].reshape(-1)[np.minimum(index, count - 1)].reshape(now.shape)
        failed = rest[1] or bool(s.failed[k][key].any())
        s.arrays[k][key] = taken.reshape(now.shape)
        s.write(at, values, failed, known)
    elif kind == "inverse":
        square = s.arrays[k][:2, :2]
        known = pp.linalg.inv(pp.zeros((2, 2), dtype="float32", queue=s.queue))
        s.arrays[k][:2, :2] = known
        s.write([k, [0, 2], [0, 2]], 0, True)
        del square
    elif kind == "sort":
        held, failed, known = now.copy(), bool(s.failed[k][key].any()), s.known[k][key].copy()
        result = pp.sort(x, axis=1)
        whole = np.broadcast_to(known.all(axis=1, keepdims=True), known.shape)
        return s.read(name, result, np.sort(held, axis=1), failed, whole)
    elif kind == "memory":
        big = pp.ones((HUGE,), queue=s.queue) * s.arrays[k][0, 0]
        try:
            big.wait()
        except Exception:
            pass
        else:
            return f"{name}: there is memory for {HUGE} numbers"
        if not isinstance(big.failure(), MemoryError) and not s.failed[k][0, 0]:
            return f"{name}: the failure is {big.failure()!r}"
    elif kind == "later":
        s.later.append((x * 2.0 + 1.0, now * 2 + 1, bool(s.failed[k][key].any()), s.known[k][key].copy()))
    elif kind == "look":
        for values in s.later:
            if wrong_text := s.read(f"{name}: recorded", *values):
                return wrong_text
        s.later.clear()
    elif kind == "accept":
        if x.accept() is not x:
            return f"{name}: accept gives another array"
        s.later.clear()  # what is recorded and not computed may be computed of what has been accepted
        s.known[k][key] &= ~s.failed[k][key]
        s.failed[k][key] = False
    elif kind == "failure":
        found, failed = x.failure(), bool(s.failed[k][key].any())
        if (found is not None) != failed:
            return f"{name}: the failure is {found!r}, and elements have {'' if failed else 'not '}failed"
    elif kind == "new":  # memory that was given back brings no failures
        s.later.clear()
        s.arrays[k] = None
        s.arrays[k] = pp.empty((ROWS, s.width), dtype="float32", queue=s.queue)
        if (found := s.arrays[k].failure()) is not None:
            return f"{name}: new memory has failed: {found!r}"
        s.arrays[k][...] = rest[0]
        s.write([k, [0, ROWS], [0, s.width]], rest[0], False)
    elif kind == "shared":
        memory = np.zeros((2, 3), "float32")
        try:
            shared = pp.asarray(memory, copy=False, queue=s.queue)
        except ValueError:
            return None
        gate, fails = pp.UserEvent(), rest[0] < 0
        event = s.queue.fill(shared, 5.0, depends=gate)
        if event.done() or memory.any():
            return f"{name}: work on shared memory runs before its event"
        gate.set_failed(Broken()) if fails else gate.set_complete()
        if (error := raised_by(event.wait)) is not None and not fails:
            return f"{name}: work on shared memory raises {error!r}"
        if fails and not (isinstance(error, Broken) and isinstance(raised_by((shared + 1).wait), Broken)):
            return f"{name}: work on shared memory that did not run raises nothing"
        if memory.tolist() != [[0.0 if fails else 5.0] * 3] * 2:
            return f"{name}: shared memory holds {memory.tolist()}"
        raised = 0
        for call in (lambda: made["set"][pp.Range(2, 3)](shared, 1.0, 1).wait(), *([lambda: pp.asnumpy(shared + 1)] * 3)):
            try:
                call()
            except IndexError:
                raised += 1
        if raised != 2:
            return f"{name}: shared memory raises {raised} times"
    elif kind == "read":
        return s.read(name, x, now.copy(), bool(s.failed[k][key].any()), s.known[k][key].copy())
    elif kind == "wait":
        for queue in (s.queue, s.other):
            with contextlib.suppress(Broken, IndexError, ValueError, MemoryError):
                queue.wait()
    return None


def run(program: dict[str, Any], device: str) -> str | None:
    import pardo as pp

    told: list[Any] = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda info: told.append(info.exc_type)
    try:
        state = State(pp, program, device)
        for op in [*program["ops"], *(["read", f"end{k}", [k, [0, ROWS, 1], [0, program["width"], 1]]] for k in range(ARRAYS))]:
            try:
                wrong = step(state, op, device)
            except Exception as error:
                return f"{op[1]} {op[0]}: raises {error!r} at the call"
            if wrong:
                return f"{op[0]} {wrong}"
        for queue in (state.queue, state.other):
            with contextlib.suppress(Exception):
                queue.wait()
        del state, queue
    finally:
        sys.unraisablehook = hook
    strange = [t for t in told if not issubclass(t, Broken | IndexError | ValueError | MemoryError)]
    return f"reported: {strange}" if strange else None


def script(program: dict[str, Any], device: str) -> str:
    return "\n".join(
        [
            "import sys",
            "sys.path.insert(0, 'tests')",
            "from fuzz import failures",
            f"print(failures.run({program!r}, {device!r}))",
            "",
        ]
    )


def generate(rng: random.Random, device: str) -> dict[str, Any]:
    r = rng
    width = r.choice([5, 6, 6, 8, 30_000])
    ops: list[list[Any]] = []

    def place(k: int | None = None, shape: tuple[int, int] | None = None) -> list[Any]:
        """A view, by the limits and steps of its rows and columns."""
        out: list[Any] = [r.randrange(ARRAYS) if k is None else k]
        for axis, size in enumerate((ROWS, width)):
            if shape is not None:
                begin = r.randint(0, size - shape[axis])
                out.append([begin, begin + shape[axis], 1])
                continue
            begin = r.choice([0, 0, r.randrange(size)])
            end = r.choice([size, size, r.randint(begin + 1, size)])
            out.append([begin, end, r.choice([1, 1, 1, 2]) if size < 100 else 1])  # of long steps not all is exact
        return out

    def shape_of(at: list[Any]) -> tuple[int, int]:
        return len(range(*at[1])), len(range(*at[2]))

    kinds = {"fill": 5, "store": 6, "copy": 7, "add": 5, "kernel": 3, "each": 3, "update": 3, "bad_kernel": 5, "bad_update": 4, "loop": 1,
             "bad_loop": 2, "bad_task": 3, "gated": 3, "take": 2, "inverse": 1, "sort": 2, "memory": 1, "later": 3, "look": 2, "accept": 2, "failure": 3,
             "new": 2, "shared": 1, "read": 7, "wait": 2, "other_fill": 2, "other_copy": 3, "other_task": 2, "moved": 1, "text": 3, "bad_text": 2,
             "readers": 1, "threads": 1}  # fmt: skip
    # Of one array alone.
    alone = ["fill", "store", "add", "kernel", "each", "update", "bad_kernel", "bad_update", "loop", "bad_loop", "bad_task", "gated", "take", "sort",
             "other_fill", "other_task", "failure", "read"]  # fmt: skip

    def statement(name: str, kind: str, k: int | None = None) -> list[Any]:
        at, value = place(k), float(r.randint(-9, 9))
        if kind in ("copy", "other_copy"):
            return [kind, name, at, place(shape=shape_of(at))]
        if kind == "other_fill":
            return [kind, name, at, None, value]
        if kind == "gated":
            return [kind, name, at, value, r.random() < 0.6, place(at[0])]
        if kind == "take":
            return [kind, name, at, r.randrange(1000), r.random() < 0.5]
        return [kind, name, at, value]

    for n in range(r.randint(2, 30)):
        kind = r.choices(list(kinds), list(kinds.values()))[0]
        if kind == "threads":
            lists = [[statement(f"s{n}.{k}.{i}", r.choice(alone), k) for i in range(r.randint(1, 6))] for k in range(ARRAYS)]
            ops.append([kind, f"s{n}", None, lists])
        else:
            ops.append(statement(f"s{n}", kind))
    orders = ["in_order", "out_of_order"]
    return {"orders": [r.choice(orders), r.choice(orders)], "width": width, "ops": ops}
