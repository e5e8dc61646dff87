# bench/worker.py: runs the array workloads for one library, in a process of its own; prints JSON.
import argparse
import importlib
import json
import sys

import numpy as np
from harness import measure, touch_memory, versions
from workloads import arrays


def same(mine, reference, workload):
    pairs = list(zip(mine, reference, strict=True)) if isinstance(reference, tuple) else [(mine, reference)]
    return all(np.allclose(a, b, rtol=workload.rtol, atol=workload.atol) and np.shape(a) == np.shape(b) for a, b in pairs)


def run(peer, reference, name, budget):
    workload = arrays.WORKLOADS[name]
    inputs = workload.inputs(np.random.default_rng(1))
    function = peer.prepare(name, inputs)
    if function is None:
        return None

    def once():
        peer.wait(function())

    result = measure(once, budget)
    mine = peer.wait(function())
    mine = tuple(peer.to_numpy(part) for part in mine) if isinstance(mine, tuple) else peer.to_numpy(mine)
    expected = reference.prepare(name, inputs)()
    result["right"] = bool(same(mine, expected, workload))
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("peer")
    parser.add_argument("--workloads", default=",".join(arrays.WORKLOADS))
    parser.add_argument("--budget", type=float, default=0.8)
    options = parser.parse_args()
    touch_memory(1024)
    peer = importlib.import_module(f"peers.{options.peer}")
    reference = importlib.import_module("peers.numpy")
    report = {"versions": versions(peer.PACKAGES), "results": {}}
    for name in options.workloads.split(","):
        try:
            report["results"][name] = run(peer, reference, name, options.budget)
        except Exception as error:  # one row less; the reason is in the report
            report["results"][name] = {"error": f"{type(error).__name__}: {error}"[:500]}
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()
