# examples/k_means_cluster.py: clusters points that lie in chunks on the workers of a cluster, one worker a device.
"""Points never leave their worker. A round sends the centres to each chunk, and gets back how many points are nearest to each and their
sums. On one machine `pardo.dask.LocalCluster` starts the workers; with ``DASK_ADDRESS=tcp://…`` the program uses those of a scheduler
that runs on many machines, as in ``dask worker --nworkers`` with pardo installed there."""

import os
import time

import dask
import dask.array as da
import numpy as np
import pardo as pp
from dask.distributed import Client
from pardo.dask import LocalCluster

POINTS, FEATURES, CLUSTERS, ROUNDS, CHUNKS = 200_000, 4, 8, 10, 8


def points_of(middles, seed):
    """Points around middles, a chunk a task, drawn on the workers' devices."""
    with dask.config.set({"array.backend": "pardo"}):
        rng = da.random.default_rng(seed)
        shape, chunks = (POINTS, FEATURES), (POINTS // CHUNKS, FEATURES)
        kinds = rng.integers(0, len(middles), POINTS, chunks=chunks[0])
        return kinds.map_blocks(around, middles, chunks=chunks, new_axis=1, dtype="float64", meta=pp.empty((0, 0))) + rng.normal(
            size=shape, chunks=chunks
        )


def around(kinds, middles):
    return pp.take(pp.asarray(middles, device=kinds.device), kinds, axis=0)


def nearest(points, centres):
    """Of one chunk: the sums of the points nearest to each centre, how many they are, and the sum of their squared distances."""
    centres = pp.asarray(centres, device=points.device)
    squares = ((points[:, None, :] - centres) ** 2).sum(axis=-1)
    member = (pp.argmin(squares, axis=1)[:, None] == pp.arange(len(centres), device=points.device)).astype(points.dtype)
    return pp.asnumpy(member.T @ points), pp.asnumpy(member.sum(axis=0)), float(squares.min(axis=1).sum())


def lloyd(points, centres, rounds):
    """The centres after so many rounds, and the mean squared distance of the last one."""
    chunks = points.to_delayed().ravel()
    cost = 0.0
    for _ in range(rounds):
        found = dask.compute(*[dask.delayed(nearest)(chunk, centres) for chunk in chunks])
        counts = sum(count for _, count, _ in found)
        centres = sum(total for total, _, _ in found) / counts[:, None]
        cost = sum(distance for _, _, distance in found)
    return centres, cost / len(points)


def with_numpy(points, centres, rounds):
    cost = 0.0
    for _ in range(rounds):
        squares = ((points[:, None, :] - centres) ** 2).sum(axis=-1)
        labels, cost = squares.argmin(axis=1), squares.min(axis=1).sum()
        centres = np.stack([points[labels == k].mean(axis=0) for k in range(len(centres))])
    return centres, cost / len(points)


def workers():
    """A client of the workers: those of `DASK_ADDRESS`, one a GPU, or two on the default device."""
    if "DASK_ADDRESS" in os.environ:
        return Client(os.environ["DASK_ADDRESS"])
    here = pp.Device()
    devices = [d.id for d in pp.get_devices("cuda")] or ([here.id] * 2 if here.backend != "cpu" else 2)
    return LocalCluster(devices).get_client()


def main():
    rng = np.random.default_rng(0)
    middles = rng.uniform(-10, 10, (CLUSTERS, FEATURES))
    start = middles + rng.normal(size=middles.shape)
    with workers() as client:
        points = points_of(middles, 1).persist()
        lloyd(points, start, 1)  # compiles
        began = time.perf_counter()
        centres, cost = lloyd(points, start, ROUNDS)
        took = time.perf_counter() - began
        expected, expected_cost = with_numpy(pp.asnumpy(points.compute()), start, ROUNDS)
        np.testing.assert_allclose(centres, expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(cost, expected_cost, rtol=1e-6)
        count = len(client.scheduler_info()["workers"])
        del points
        if client.cluster:
            client.cluster.close()
    print(f"{POINTS} points in {CHUNKS} chunks on {count} workers, {ROUNDS} rounds: {took * 1e3:.0f} ms; mean squared distance {cost:.4f}")


if __name__ == "__main__":
    main()
