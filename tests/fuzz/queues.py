# tests/fuzz/queues.py: random interleavings of queues, events, user events, host tasks, threads and failures, against a simple model.
#
# A program is a list of [kind, name, ...]; names of earlier statements stand for queues, arrays and events, and a statement whose names are
# gone is left out. The model (docs/guide/queues.md, Failures) says: which tasks run and which must not; what arrays hold; that a wait on an
# event with a failure that is not acknowledged raises just that failure; that a queue's wait raises a failure of its own, if it has one that
# is not acknowledged, and never a stranger's; and what a user event defers is not done. A hang is found by the driver.
from __future__ import annotations

import itertools
import random
import threading
from typing import Any

import numpy as np

QUEUES, ARRAYS = 3, 4
NUMBERS = itertools.count()


class Broken(Exception):
    """What a task raises: its argument says which task."""


class Event:
    """An event of the model."""

    def __init__(self, name: str, queue: int | None, needs: list[Event], after: list[Event] | None = None) -> None:
        self.name, self.queue, self.number = name, queue, next(NUMBERS)
        self.needs = needs  # `depends=`: it fails with them
        self.order: list[Event] = []  # it waits for them, whatever becomes of them
        self.after = after or []  # it comes after them, by their data or a barrier, and may fail with them
        self.readers: list[Event] = []  # it comes after what was computed from the elements that it overwrites
        self.set = True  # of a user event: whether it is
        self.fails: set[str] = set()  # failures that begin here
        self.real: Any = None

    def all(self) -> list[Event]:
        seen: dict[int, Event] = {}
        todo = [self]
        while todo:
            e = todo.pop()
            if id(e) not in seen:
                seen[id(e)] = e
                todo += [*e.needs, *e.after, *e.readers]
        return list(seen.values())


class Model:
    """The program so far, as it must be."""

    def __init__(self, device: str, orders: list[str]) -> None:
        import pardo as pp

        self.pp, self.orders = pp, orders
        self.queues = [pp.Queue(device, order=o) for o in orders]
        self.events: dict[str, Event] = {}
        self.values = [np.arange(6, dtype="int64") for _ in range(ARRAYS)]
        self.doubtful = [False] * ARRAYS  # written by what may fail
        self.arrays = [pp.asarray(v, queue=self.queues[i % QUEUES]) for i, v in enumerate(self.values)]
        self.order_of: list[list[Event]] = [[] for _ in range(QUEUES)]  # by queue: all submissions
        self.last: list[list[Event]] = [[] for _ in range(ARRAYS)]  # by array: what has touched it
        self.readers: list[list[Event]] = [[] for _ in range(ARRAYS)]  # by array: what was made of its elements has touched these
        self.ran: set[str] = set()
        self.acknowledged: set[str] = set()
        self.told: list[str] = []

    def event(self, name: str, queue: int, needs: list[Event], real: Any, after: list[Event] | None = None) -> Event:
        """A submission: an in-order queue lets it wait for all before, but not fail with them."""
        made = Event(name, queue, needs, after)
        made.order = self.before(queue)
        made.real = real
        self.events[name] = made
        self.order_of[queue].append(made)
        return made

    def held(self, queue: int, needs: list[Event]) -> bool:
        """Whether something that is submitted now would wait for a user event."""
        return any(self.stuck(e) for e in [*needs, *self.before(queue)])

    def before(self, queue: int) -> list[Event]:
        """What all later work waits for: everything in order, barriers out of order."""
        line = self.order_of[queue]
        return line[-1:] if self.orders[queue] == "in_order" else [e for e in line if e.name.startswith("r")]

    def stuck(self, event: Event, surely: bool = False) -> bool:
        """Held back, also by what is before it in its queue. Not surely: by readers, which may have been computed elsewhere, and by what
        is certain to fail, which may be over as soon as one of what it needs has failed."""
        todo, seen = [event], set()
        while todo:
            e = todo.pop()
            if id(e) in seen:
                continue
            seen.add(id(e))
            if not e.set:
                return True
            if surely and any(self.possible(n) for n in e.needs):
                continue
            todo += [*e.needs, *e.after, *e.order, *([] if surely else e.readers)]
        return False

    def failures(self, event: Event) -> set[str]:
        """What it must fail with: what it needs, or, if that is well and it runs, itself."""
        found: dict[int, set[str]] = {}
        for e in sorted(event.all(), key=lambda e: e.number):  # needs are older
            found[id(e)] = set().union(*(found[id(n)] for n in e.needs)) or e.fails
        return found[id(event)]

    def possible(self, event: Event) -> set[str]:
        """What it may fail with: also what went before it in its data."""
        return {f for e in event.all() for f in e.fails}


class Wrong(AssertionError):
    """Not what the model says."""


def failure_of(error: BaseException) -> str:
    return str(error.args[0]) if isinstance(error, Broken) else f"{type(error).__name__}: {error}"


def wait_event(m: Model, event: Event) -> None:
    if m.stuck(event):
        try:
            event.real.wait(0.002)
        except TimeoutError:
            return
        except Exception as e:
            m.acknowledged.add(failure_of(e))
        if not m.stuck(event, surely=True):
            return
        raise Wrong(f"{event.name} waits for a user event that is not set, and wait(0.002) came back")
    fails = m.failures(event)
    try:
        event.real.wait()
    except Exception as e:
        which = failure_of(e)
        if which not in m.possible(event):
            raise Wrong(f"{event.name}.wait() raised {which}, which it does not depend on") from e
        m.acknowledged.add(which)
        return
    if fails and not fails & m.acknowledged:
        raise Wrong(f"{event.name}.wait() was silent about {sorted(fails)}")
    if not event.real.done():
        raise Wrong(f"{event.name} was waited for and is not done")


def wait_queue(m: Model, queue: int) -> None:
    """All failures of its own that are not acknowledged, as one or one after the other; then silence. It may tell of inherited ones."""
    if any(m.stuck(e) for e in m.order_of[queue]):
        return
    own = {f for e in m.order_of[queue] for f in m.possible(e)}
    unacknowledged = {f for e in m.order_of[queue] if m.failures(e) == e.fails for f in e.fails} - m.acknowledged
    first = True
    for _ in range(len(own) + 2):
        try:
            m.queues[queue].wait()
        except Exception as e:
            which = failure_of(e)
            if which not in own:
                raise Wrong(f"queue {queue}: wait() raised {which}, a stranger's; its own are {sorted(own)[:5]}") from e
            m.acknowledged.add(which)
            first = False
            continue
        break
    else:
        raise Wrong(f"queue {queue}: wait() raises again and again")
    if first and unacknowledged:
        raise Wrong(f"queue {queue}: wait() was silent about {sorted(unacknowledged)[:5]}")
    m.acknowledged |= own  # what one wait raised stands for all that were there
    for e in m.order_of[queue]:
        if not e.real.done():
            raise Wrong(f"queue {queue} was waited for, and {e.name} is not done")


def read(m: Model, array: int) -> None:
    if m.held(array % QUEUES, m.last[array] + m.readers[array]):
        return
    allowed = {f for e in m.last[array] for f in m.possible(e)}
    try:
        got = m.pp.asnumpy(m.arrays[array])
    except Exception as e:
        if failure_of(e) not in allowed:
            raise Wrong(f"reading array {array} raised {failure_of(e)}, which it does not depend on") from e
        m.acknowledged.add(failure_of(e))
        return
    if not m.doubtful[array] and not np.array_equal(got, m.values[array]):
        raise Wrong(f"array {array} is {got.tolist()}, not {m.values[array].tolist()}")


def step(m: Model, op: list[Any]) -> None:
    """One statement, in the model and in the library."""
    kind, name, *rest = op
    pp = m.pp
    if kind in ("task", "bad", "fill", "barrier", "marker", "burst"):
        needs = [m.events[n] for n in rest[-1] if n in m.events]
        given = [e.real for e in needs]
        queue = rest[0]
        if kind == "task" or kind == "bad":

            def work() -> str:
                m.ran.add(name)
                if kind == "bad":
                    raise Broken(name)
                return name

            event = m.event(name, queue, needs, m.queues[queue].host_task(work, depends=given))
            if kind == "bad":
                event.fails.add(name)
        elif kind == "burst":
            for i in range(rest[1]):

                def fail(which: str = f"{name}.{i}") -> None:
                    raise Broken(which)

                event = m.event(f"{name}.{i}", queue, needs, m.queues[queue].host_task(fail, depends=given))
                event.fails.add(f"{name}.{i}")
        elif kind == "fill":
            array, value = rest[1], rest[2]
            event = m.event(name, queue, needs, None, list(m.last[array]))
            event.readers, m.readers[array] = m.readers[array], []
            event.real = m.queues[queue].fill(m.arrays[array], value, depends=given)
            m.doubtful[array] = bool(m.possible(event))
            m.last[array] = [event]
            m.values[array] = np.full(6, value)
        else:
            before = list(m.order_of[queue])
            event = m.event(name, queue, needs, None, before)
            event.real = m.queues[queue].barrier(depends=given) if kind == "barrier" else m.queues[queue].marker()
    elif kind == "user":
        event = Event(name, None, [])
        event.set, event.real = False, pp.UserEvent()
        m.events[name] = event
    elif kind in ("set", "fail"):
        event = m.events.get(rest[0])
        if event is not None and not event.set:
            event.set = True
            if kind == "fail":
                event.fails.add(rest[0])
                event.real.set_failed(Broken(rest[0]))
                for array in range(ARRAYS):
                    m.doubtful[array] |= any(rest[0] in m.possible(e) for e in m.last[array])
            else:
                event.real.set_complete()
    elif kind == "add":
        array, value = rest
        m.arrays[array] += value
        m.values[array] = m.values[array] + value
    elif kind == "store":
        target, source = rest
        if target % QUEUES == source % QUEUES:
            m.arrays[target][...] = m.arrays[source] * 2
            m.values[target] = m.values[source] * 2
            m.last[target] = [*m.last[target], *m.last[source]]
            m.readers[target] = [*m.readers[target], *m.readers[source]]
            m.readers[source] = [*m.readers[source], *m.last[target]]
            m.doubtful[target] |= m.doubtful[source]
    elif kind == "shared":
        # Foreign memory and a task that records on the same queue: no thread may hold a lock while waiting.
        queue = rest[0]
        memory = np.arange(1000.0)
        try:
            xs = pp.asarray(memory, copy=False, queue=m.queues[queue])
        except ValueError:
            return  # the device does not share the host's memory
        if not m.held(queue, []):
            a = pp.ones(10, queue=m.queues[queue])
            event = m.event(name, queue, [], m.queues[queue].host_task(lambda: (a + 1, m.ran.add(name))[0]))
            y = xs + 1
            memory[...] = 0
            if not np.array_equal(pp.asnumpy(y), np.arange(1000.0) + 1):
                raise Wrong("a recorded sum saw a later write of NumPy")
            event.real.wait()
    elif kind == "threads":
        threads_step(m, name, *rest)
    elif kind == "wait":
        if rest[0] in m.events and m.events[rest[0]].queue is not None:
            wait_event(m, m.events[rest[0]])
    elif kind == "wait_queue":
        wait_queue(m, rest[0])
    elif kind == "read":
        read(m, rest[0])


def threads_step(m: Model, name: str, queue: int, count: int) -> None:
    """Threads that work on one queue, each with an array of its own; their events end what waits for them in turn."""
    if m.held(queue, []):
        return
    wrong: list[str] = []

    def work(k: int) -> None:
        try:
            x = m.pp.asarray(np.arange(50) + k, queue=m.queues[queue])
            for i in range(8):
                x = x * 2 - k
                if i % 3 == k % 3:
                    m.queues[queue].host_task(lambda: None).wait()
            want = np.arange(50) + k
            for _ in range(8):
                want = want * 2 - k
            if not np.array_equal(m.pp.asnumpy(x), want):
                wrong.append(f"thread {k}: {m.pp.asnumpy(x).tolist()}")
        except Exception as e:
            wrong.append(f"thread {k}: {type(e).__name__}: {e}")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if wrong:
        raise Wrong(f"{name}: {wrong[0]}")


def run(program: dict[str, Any], device: str) -> str | None:
    m = Model(device, program["orders"])
    for op in [*program["ops"], *closing(program)]:
        try:
            step(m, op)
        except Wrong as e:
            return f"{op}: {e}"
        except Exception as e:
            return f"{op}: {type(e).__name__}: {e}"
    for event in m.events.values():
        if event.queue is None or not event.name.startswith(("t", "b")):
            continue
        needs = {f for e in event.needs for f in m.failures(e)}
        maybe = {f for e in event.needs for f in m.possible(e)}
        if needs and event.name in m.ran:
            return f"{event.name} ran, though {sorted(needs)} failed"
        if not maybe and event.name.startswith(("t", "b")) and event.name not in m.ran:
            return f"{event.name} has not run"
    return None


def closing(program: dict[str, Any]) -> list[list[Any]]:
    """Sets what is not set, waits for everything, reads everything."""
    users = [op[1] for op in program["ops"] if op[0] == "user"]
    return [
        *(["set", "", u] for u in users),
        *(["wait_queue", "", q] for q in range(QUEUES)),
        *(["read", "", a] for a in range(ARRAYS)),
        *(["wait_queue", "", q] for q in range(QUEUES)),
    ]


def script(program: dict[str, Any], device: str) -> str:
    """The statements as plain calls; what is raised is printed."""
    lines = ["import threading", "", "import numpy as np", "import pardo as pp", "", "", "class Broken(Exception):", "    pass", "", ""]
    lines += [
        "def broken(name):",
        "    raise Broken(name)",
        "",
        "",
        "def tell(what, call):",
        "    try:",
        "        print(what, call())",
        "    except Exception as e:",
        "        print(what, 'raises', repr(e))",
        "",
        "",
    ]
    lines.append(f"q = [pp.Queue({device!r}, order=o) for o in {program['orders']!r}]")
    lines += [f"a = [pp.asarray(np.arange(6), queue=q[i % {QUEUES}]) for i in range({ARRAYS})]", ""]
    known: set[str] = set()
    for kind, name, *rest in [*program["ops"], *closing(program)]:
        needs = f"[{', '.join(n for n in rest[-1] if n in known)}]" if rest and isinstance(rest[-1], list) else ""
        if kind in ("set", "fail", "wait") and rest[0] not in known:
            continue
        lines.append(
            {
                "task": lambda: f"{name} = q[{rest[0]}].host_task(lambda: {name!r}, depends={needs})",
                "bad": lambda: f"{name} = q[{rest[0]}].host_task(lambda: broken({name!r}), depends={needs})",
                "burst": lambda: (
                    f"{name} = [q[{rest[0]}].host_task(lambda i=i: broken(f'{name}.{{i}}'), depends={needs}) for i in range({rest[1]})]"
                ),
                "fill": lambda: f"{name} = q[{rest[0]}].fill(a[{rest[1]}], {rest[2]}, depends={needs})",
                "barrier": lambda: f"{name} = q[{rest[0]}].barrier(depends={needs})",
                "marker": lambda: f"{name} = q[{rest[0]}].marker()",
                "user": lambda: f"{name} = pp.UserEvent()",
                "set": lambda: f"if not {rest[0]}.done(): {rest[0]}.set_complete()",
                "fail": lambda: f"if not {rest[0]}.done(): {rest[0]}.set_failed(Broken({rest[0]!r}))",
                "add": lambda: f"a[{rest[0]}] += {rest[1]}",
                "store": lambda: f"a[{rest[0]}][...] = a[{rest[1]}] * 2" if rest[0] % QUEUES == rest[1] % QUEUES else "",
                "shared": lambda: (
                    f"xs = pp.asarray(np.arange(1000.0), copy=False, queue=q[{rest[0]}]); b = pp.ones(10, queue=q[{rest[0]}]); {name} = q[{rest[0]}].host_task(lambda: b + 1); print((xs + 1).sum())"
                ),
                "threads": lambda: f"# {rest[1]} threads work on q[{rest[0]}]: see threads_step in tests/fuzz/queues.py",
                "wait": lambda: f"tell('{rest[0]}.wait()', lambda: {rest[0]}.wait(1))",
                "wait_queue": lambda: f"tell('q[{rest[0]}].wait()', lambda: q[{rest[0]}].wait())",
                "read": lambda: f"tell('a[{rest[0]}]', lambda: pp.asnumpy(a[{rest[0]}]))",
            }[kind]()
        )
        known.add(name)
    return "\n".join([*lines, ""])


def generate(rng: random.Random, device: str) -> dict[str, Any]:
    r, ops = rng, []
    names: list[str] = []
    users: list[str] = []
    orders = [r.choice(["in_order", "out_of_order"]) for _ in range(QUEUES)]
    for k in range(r.randint(2, 40)):
        queue = r.randrange(QUEUES)
        needs = r.sample(names, min(len(names), r.choice([0, 0, 1, 1, 2])))
        kinds = {"task": 14, "bad": 6, "fill": 8, "barrier": 3, "marker": 2, "user": 5, "set": 6, "fail": 2, "add": 8, "store": 4, "wait": 10,
                 "wait_queue": 5, "read": 5, "shared": 1, "threads": 0.7, "burst": 0.3}  # fmt: skip
        kind = r.choices(list(kinds), list(kinds.values()))[0]
        name = f"{ {'burst': 'm', 'barrier': 'r', 'marker': 'k'}.get(kind, kind[0]) }{k}"
        if kind in ("task", "bad", "barrier"):
            ops.append([kind, name, queue, needs])
        elif kind == "marker":
            ops.append([kind, name, queue, []])
        elif kind == "fill":
            array = r.randrange(ARRAYS)
            ops.append([kind, name, array % QUEUES, array, r.randint(-9, 9), needs])
        elif kind == "burst":
            ops.append([kind, name, queue, r.choice([3, 40, 1030, 1100]), needs[:1]])
        elif kind == "user":
            users.append(name)
            ops.append([kind, name])
        elif kind in ("set", "fail"):
            if users:
                ops.append([kind, f"s{k}", r.choice(users)])
            continue
        elif kind == "add":
            ops.append([kind, name, r.randrange(ARRAYS), r.randint(-9, 9)])
            continue
        elif kind == "store":
            ops.append([kind, name, *r.choice([(0, 3), (3, 0), (0, 0), (3, 3), (1, 1)])])
            continue
        elif kind == "wait":
            if names:
                ops.append([kind, name, r.choice(names)])
            continue
        elif kind == "threads":
            ops.append([kind, name, queue, r.randint(2, 6)])
            continue
        else:
            ops.append([kind, name, r.randrange(ARRAYS) if kind == "read" else queue])
            continue
        if kind != "burst":
            names.append(name)
    return {"orders": orders, "ops": ops}
