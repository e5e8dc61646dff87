# bench/worker.py: one library in a process of its own: does what session.py asks, a line of JSON each way.
import functools
import gc
import importlib
import json
import os
import sys
import time

import numpy as np
from harness import Timer, touch_memory, versions
from peers import routines as forms
from workloads import arrays, devices, kernels, routines, tiled


def same(mine, reference, workload):
    pairs = list(zip(mine, reference, strict=True)) if isinstance(reference, tuple) else [(mine, reference)]
    return all(np.allclose(a, b, rtol=workload.rtol, atol=workload.atol) and np.shape(a) == np.shape(b) for a, b in pairs)


class Worker:
    def __init__(self, peer: str) -> None:
        touch_memory(1024)
        self.name = peer
        self.peer = importlib.import_module(f"peers.{peer}")
        self.reference = importlib.import_module("peers.numpy")
        gc.freeze()  # what the imports made is not looked through before each sample

    def versions(self) -> dict:
        return versions(self.peer.PACKAGES)

    def sample(self, budget: float) -> dict:
        return self.timer.sample(budget)

    def drop(self) -> None:
        """Lets the inputs go."""
        self.timer = None
        gc.collect()
        getattr(self.peer, "trim", lambda: None)()

    def _values(self, result):
        """A result as NumPy has it."""
        return tuple(map(self.peer.to_numpy, result)) if isinstance(result, tuple | list) else self.peer.to_numpy(result)


class Arrays(Worker):
    """Each result is waited for."""

    def prepare(self, name: str) -> dict | None:
        """Makes inputs, runs once, and compares the value with NumPy's; None when the library has no form of the workload."""
        workload = arrays.WORKLOADS[name]
        inputs = workload.inputs(np.random.default_rng(1))
        function = self.peer.prepare(name, inputs)
        if function is None:
            return None
        self.timer = Timer(lambda: self.peer.wait(function()))
        right = bool(same(self._values(self.peer.wait(function())), self.reference.prepare(name, inputs)(), workload))
        return {"first": self.timer.first, "right": right}


class Devices(Worker):
    """Work is handed over back to back, and the last result is waited for: what the device does, not the way there and back."""

    def device(self) -> dict:
        return self.peer.device()

    def prepare(self, name: str, whole: bool) -> dict | None:
        """As that of Arrays."""
        workload = devices.WORKLOADS[name]
        blocks = workload.blocks(np.random.default_rng(1), whole)
        function = self.peer.prepare(workload.program, tuple(tiled.repeat(block, workload.shape(whole)[0]) for block in blocks))
        if function is None:
            return None
        start = getattr(self.peer, "start", lambda result: result)  # of libraries that record
        timer = Timer(lambda: start(function()), self.peer.wait, shortest=1e-2)
        results = self._values(self.peer.wait(function()))
        pairs = zip(results if isinstance(results, tuple) else (results,), tiled.expected(workload, blocks, whole), strict=True)
        right = all(tiled.agrees(np.asarray(result), parts, workload) for result, parts in pairs)
        self.timer = timer
        return {"first": timer.first, "right": right}

    def prepare_cost(self, name: str, whole: bool) -> dict | None:
        """A host cost; None when the library has no such thing."""
        made = getattr(self.peer, "cost", lambda *_: None)(name, whole)
        if made is None:
            return None
        function, settle = made
        # Without a bound, what is handed over and not waited for would fill queues, and then their limits would be timed.
        self.timer = Timer(function, settle, outside=settle is not None, most_loops=2000)
        return {"first": self.timer.first}

    def beside(self, name: str, whole: bool, budget: float) -> dict | None:
        """What runs side by side on the device; of pardo alone."""
        return self.peer.beside(name, whole, budget)


class Kernels(Worker):
    """What kernels/ has; a row says what is waited for."""

    def devices(self) -> list[dict]:
        return self.peer.all_devices()

    def prepare(self, name: str, whole: bool) -> dict | None:
        """Makes arrays, runs once, and compares what then stands in them with NumPy's; None when the library has no form of the row."""
        row = kernels.rows(whole)[name]
        module = kernels.module(row)
        form = getattr(module, f"on_{self.name}", None)
        if form is None:
            return None
        problem = module.problem(np.random.default_rng(1), **row.size)
        values = [self.peer.array(array) for array in problem.arrays]
        made = form(*values, **row.options)
        if made is None:
            return None
        function, done = made if isinstance(made, tuple) else (made, 1.0)
        wait = self.peer.wait
        start = time.perf_counter()
        result = function() if row.waited == "itself" else wait(function())
        first = time.perf_counter() - start
        written = result if getattr(self.peer, "RETURNS", False) else [values[number] for number in problem.written]
        pairs = zip(problem.written, written, strict=True)
        right = all(problem.agrees(number, self.peer.to_numpy(array), done) for number, array in pairs)
        if row.waited == "itself":
            self.timer = Timer(function)
        elif row.waited == "outside":  # bounded as in Devices.prepare_cost
            self.timer = Timer(function, wait, outside=True, most_loops=2000)
        elif row.waited == "last":
            self.timer = Timer(function, wait, shortest=1e-2)
        else:
            self.timer = Timer(lambda: wait(function()))
        return {"first": first, "right": right, "done": done}


class Routines(Worker):
    """Rows of workloads/routines.py: waited for each time on processors, back to back on GPUs."""

    def __init__(self, peer: str) -> None:
        self.names = forms.CLASSES[peer]()
        self.peer = importlib.import_module(f"peers.{'numpy' if peer == 'scipy' else peer}")
        self.packages = ["scipy"] if peer == "scipy" else self.peer.PACKAGES
        gc.freeze()

    def versions(self) -> dict:
        return versions(self.packages)

    def device(self) -> dict:
        return self.peer.device()

    def prepare(self, name: str, size: float, whole: bool, opencl: str | None) -> dict | None:
        """Makes inputs and runs once; None when the library has no such thing."""
        row = routines.ROWS[name]
        names = forms.Pardo(opencl) if row.opencl and opencl and isinstance(self.names, forms.Pardo) else self.names
        if not names.has(row.operation):
            return None
        inputs = [names.place(x) if isinstance(x, np.ndarray) else x for x in routines.inputs_of(row, size, whole)]
        function = functools.partial(names.prepared(row.operation), *inputs)
        wait = getattr(self.peer, "wait", lambda result: result)
        start = getattr(self.peer, "start", lambda result: result)
        wait(names.place(np.zeros(1)))  # the device's start is no part of the first call, of rows without arrays either
        if whole and not row.opencl:
            self.timer = Timer(lambda: start(function()), wait, shortest=1e-2)
        else:
            self.timer = Timer(lambda: wait(function()))
        return {"first": self.timer.first}


SETS = {"arrays": Arrays, "devices": Devices, "kernels": Kernels, "routines": Routines}


def main() -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no reply
    worker = SETS[sys.argv[2]](sys.argv[1])
    for line in sys.stdin:
        method, *arguments = json.loads(line)
        try:
            reply = {"value": getattr(worker, method)(*arguments)}
        except Exception as error:  # one row less; the reason is in the report
            reply = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
