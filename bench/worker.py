# bench/worker.py: one library in a process of its own: does what session.py asks, a line of JSON each way.
import gc
import importlib
import json
import os
import sys
from pathlib import Path

import numpy as np
from harness import Timer, touch_memory, versions
from workloads import arrays, devices


def same(mine, reference, workload):
    pairs = list(zip(mine, reference, strict=True)) if isinstance(reference, tuple) else [(mine, reference)]
    return all(np.allclose(a, b, rtol=workload.rtol, atol=workload.atol) and np.shape(a) == np.shape(b) for a, b in pairs)


class Worker:
    def __init__(self, peer: str) -> None:
        touch_memory(1024)
        self.peer = importlib.import_module(f"peers.{peer}")
        self.reference = importlib.import_module("peers.numpy")

    def versions(self) -> dict:
        return versions(self.peer.PACKAGES)

    def sample(self, budget: float) -> dict:
        return self.timer.sample(budget)

    def drop(self) -> None:
        """Lets the inputs go."""
        self.timer = None
        gc.collect()

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
        return {"first": self.timer.first, "loops": self.timer.loops, "right": right}


class Devices(Worker):
    """Work is handed over back to back, and the last result is waited for: what the device does, not the way there and back."""

    def device(self) -> dict:
        return self.peer.device()

    def prepare(self, name: str, whole: bool, folder: str) -> dict | None:
        """As that of Arrays; NumPy's value, in float64, is computed by the first library that asks and kept in `folder`."""
        workload = devices.WORKLOADS[name]
        inputs = workload.inputs(np.random.default_rng(1), whole)
        function = self.peer.prepare(workload.program, inputs)
        if function is None:
            return None
        right = bool(same(self._values(self.peer.wait(function())), self._expected(name, inputs, Path(folder)), workload))
        del inputs
        self.timer = self._timer(function)
        return {"first": self.timer.first, "loops": self.timer.loops, "right": right}

    def _timer(self, function) -> Timer:
        start = getattr(self.peer, "start", lambda result: result)  # of libraries that record
        return Timer(lambda: start(function()), self.peer.wait, shortest=1e-2)

    def _expected(self, name: str, inputs, folder: Path):
        workload = devices.WORKLOADS[name]
        file = folder / f"{name}.npz"
        if not file.exists():
            made = self.reference.prepare(workload.program, [values.astype("float64") for values in inputs])()
            made = [np.asarray(part) for part in (made if isinstance(made, tuple) else (made,))]
            narrow = [part.astype("float32") if workload.dtype == "float32" and part.dtype.kind == "f" else part for part in made]
            partial = file.with_suffix(".part.npz")
            np.savez(partial, *narrow)
            os.replace(partial, file)
        with np.load(file) as parts:
            values = tuple(parts[key] for key in parts.files)
        return values if len(values) > 1 else values[0]

    def prepare_cost(self, name: str, whole: bool) -> dict | None:
        """A host cost; None when the library has no such thing."""
        made = getattr(self.peer, "cost", lambda *_: None)(name, whole)
        if made is None:
            return None
        function, settle = made
        # Without a bound, what is handed over and not waited for would fill queues, and then their limits would be timed.
        self.timer = Timer(function, settle, outside=settle is not None, most_loops=2000)
        return {"first": self.timer.first, "loops": self.timer.loops}


SETS = {"arrays": Arrays, "devices": Devices}


def main() -> None:
    worker = SETS[sys.argv[2]](sys.argv[1])
    for line in sys.stdin:
        method, *arguments = json.loads(line)
        try:
            reply = {"value": getattr(worker, method)(*arguments)}
        except Exception as error:  # one row less; the reason is in the report
            reply = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
