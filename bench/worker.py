# bench/worker.py: one library in a process of its own: does what run.py asks, a line of JSON each way.
import gc
import importlib
import json
import sys

import numpy as np
from harness import Timer, touch_memory, versions
from workloads import arrays


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

    def prepare(self, name: str) -> dict | None:
        """Makes inputs, runs once, and compares the value with NumPy's; None when the library has no form of the workload."""
        workload = arrays.WORKLOADS[name]
        inputs = workload.inputs(np.random.default_rng(1))
        function = self.peer.prepare(name, inputs)
        if function is None:
            return None
        self.timer = Timer(lambda: self.peer.wait(function()))
        mine = self.peer.wait(function())
        mine = tuple(self.peer.to_numpy(part) for part in mine) if isinstance(mine, tuple) else self.peer.to_numpy(mine)
        right = bool(same(mine, self.reference.prepare(name, inputs)(), workload))
        return {"first": self.timer.first, "loops": self.timer.loops, "right": right}

    def sample(self, budget: float) -> dict:
        return self.timer.sample(budget)

    def drop(self) -> None:
        """Lets the inputs go."""
        self.timer = None
        gc.collect()


def main() -> None:
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        method, *arguments = json.loads(line)
        try:
            reply = {"value": getattr(worker, method)(*arguments)}
        except Exception as error:  # one row less; the reason is in the report
            reply = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
