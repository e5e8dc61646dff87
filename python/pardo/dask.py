# python/pardo/dask.py: a cluster of Dask's on the devices of this machine.
"""A cluster of Dask's with a worker for each device. ``pip install pardo[dask]`` installs what it needs."""

from __future__ import annotations

import fnmatch as _fnmatch
import itertools as _itertools
import os as _os
from pathlib import Path as _Path
from typing import Any as _Any

try:
    import dask as _dask
    import distributed as _distributed
    from distributed.system import MEMORY_LIMIT as _MEMORY
except ImportError as _error:
    raise ImportError(f"pardo.dask needs Dask: pip install 'pardo[dask]' ({_error})") from None

from pardo._base import public_names as _public_names
from pardo._base.arguments import HOST as _HOST
from pardo._base.arguments import integer as _integer
from pardo._core import Device as _Device
from pardo._plugins import dask_budgets as _budgets
from pardo._plugins import dask_spilling as _spilling
from pardo._plugins import dask_workers as _workers
from pardo._runtime.devices import get_devices as _get_devices

__all__ = ["LocalCluster", "dask_setup"]


def dask_setup(worker: _Any) -> None:
    """Prepare a worker: ``dask worker --preload pardo.dask``, which `LocalCluster` says to its own.

    What is sent to the worker goes to its default device (PARDO_DEVICE), tasks end when their results are computed, and errors of
    kernels are errors of tasks. The CPU device has as many threads as the worker, unless PARDO_NUM_THREADS says otherwise, and four
    fifths of its memory limit, unless PARDO_MEMORY does.

    Parameters
    ----------
    worker : distributed.Worker
        What Dask calls this with.
    """
    _workers.set_up(worker)


class _Places(_distributed.SpecCluster):  # type: ignore[misc]
    """Below distributed.LocalCluster in the order of classes, so that the workers that it has listed become those of the places."""

    _options: dict[int, dict[str, _Any]]

    def __init__(self, workers: dict[_Any, _Any], **keywords: _Any) -> None:
        self._specs = {name: {"cls": w["cls"], "options": {**w["options"], **self._options[name]}} for name, w in workers.items()}
        super().__init__(workers=self._specs, **keywords)

    def new_worker_spec(self) -> dict[_Any, _Any]:
        """The first place without a worker."""
        for name, spec in self._specs.items():
            if name not in self.worker_spec:
                return {name: spec}
        raise ValueError(f"scale: each of the {len(self._specs)} places has its worker; list more of them in LocalCluster(devices=…)")


class LocalCluster(_distributed.LocalCluster, _Places):  # type: ignore[misc]
    """Workers on this machine, each a process with a device of its own.

    Parameters
    ----------
    devices : 'all', str, int or sequence of str
        'all': each visible device. A pattern of identifiers, as ``'cuda:*'``, or several selection strings; one that is named twice has two
        workers. An integer: so many workers, each with its part of the cores of the CPU. Default: 'all'. The CPU has a
        worker for each of its NUMA domains.
    threads_per_worker : int
        Tasks at the same time. Default: 1; operations on arrays use all threads of the worker anyway.
    memory_limit : int or str, optional
        Of each worker, in memory of the host: Dask spills results to disk, pauses and restarts by it. Default: the worker's share.
    device_memory_limit : float
        The share of a device's memory that results may take, before those that were not used last are copied to the host.
    cache_dir : path, optional
        Where workers keep compiled kernels. Default: where this process does.
    dashboard_address : str, optional
        Default: None, no dashboard.
    **keywords
        As for ``distributed.LocalCluster``.

    Raises
    ------
    ValueError
        There is no such device, or there are fewer cores than workers.

    Notes
    -----
    All ports are on 127.0.0.1, unless `host`, `interface` or `dashboard_address` say otherwise. On the CPU four fifths of the memory limit
    are the worker's PARDO_MEMORY. The number of its cores is its PARDO_NUM_THREADS, and that of OpenBLAS, OpenMP and MKL, so that all
    workers together do not have more threads than the machine has cores.

    Examples
    --------
    >>> import dask.array as da                                     # doctest: +SKIP
    >>> from pardo.dask import LocalCluster
    >>> with LocalCluster("cuda:*") as cluster, cluster.get_client():
    ...     x = da.random.default_rng().normal(size=(100_000, 1_000))
    ...     x.std(axis=0).compute()
    """

    def __init__(
        self,
        devices: _Any = "all",
        *,
        threads_per_worker: int = 1,
        memory_limit: _Any = None,
        device_memory_limit: float = 0.8,
        cache_dir: _Any = None,
        dashboard_address: str | None = None,
        **keywords: _Any,
    ) -> None:
        places = _places(devices)
        share = _MEMORY // len(places)
        limit = share if memory_limit is None else _dask.utils.parse_bytes(memory_limit)
        self._options = {name: _options(place, places, limit, device_memory_limit, cache_dir) for name, place in enumerate(places)}
        keywords["preload"] = [*keywords.get("preload", []), "pardo.dask"]
        if dashboard_address is None:  # the scheduler answers requests by HTTP all the same
            keywords["scheduler_kwargs"] = {"dashboard_address": "127.0.0.1:0", **(keywords.get("scheduler_kwargs") or {})}
        super().__init__(
            n_workers=len(places),
            threads_per_worker=threads_per_worker,
            memory_limit=limit,
            dashboard_address=dashboard_address,
            **keywords,
        )


def _places(devices: _Any) -> list[tuple[str, list[int]]]:
    """A device and cores for each worker; no cores: those of the process."""
    cores = _cores()
    host = _Device(_HOST).id
    if not isinstance(devices, (str, list, tuple)):
        return [(host, part) for part in _parts(cores, _integer(devices, "LocalCluster: devices"))]
    identifiers = _identifiers(devices)
    shares = [_parts(domain, identifiers.count(host)) for domain in _domains(cores)] if host in identifiers else []
    taken = _itertools.count()
    places: list[tuple[str, list[int]]] = []
    for device in identifiers:
        if device == host:
            own = next(taken)
            places += [(device, share[own]) for share in shares]
        else:
            places.append((device, []))
    return places


def _identifiers(devices: _Any) -> list[str]:
    if not devices:
        raise ValueError("LocalCluster: devices is empty; 'all' is each visible device")
    found: list[str] = []
    for pattern in [devices] if isinstance(devices, str) else devices:
        if not isinstance(pattern, str):
            raise TypeError(f"LocalCluster: devices holds selection strings, not {type(pattern).__name__}")
        if pattern == "all" or "*" in pattern:
            matching = [d.id for d in _get_devices() if _fnmatch.fnmatch(d.id, "*" if pattern == "all" else pattern)]
            if not matching:
                raise ValueError(f"LocalCluster: no visible device is named {pattern!r}; there are {[d.id for d in _get_devices()]}")
            found += matching
        else:
            found.append(_Device(pattern).id)
    return found


def _cores() -> list[int]:
    """Those that the process may use, as many as the CPU device has threads."""
    cores = sorted(_os.sched_getaffinity(0))
    return cores[: _Device(_HOST).max_compute_units or None]


def _parts(cores: list[int], count: int) -> list[list[int]]:
    if not 0 < count <= len(cores):
        raise ValueError(
            f"LocalCluster: devices has {count} workers of the CPU; they must be between 1 and its cores, which are {len(cores)}"
        )
    ends = [len(cores) * i // count for i in range(count + 1)]
    return [cores[start:end] for start, end in _itertools.pairwise(ends)]


def _domains(cores: list[int]) -> list[list[int]]:
    """The cores of each NUMA domain."""
    parts = []
    for path in sorted(_Path("/sys/devices/system/node").glob("node[0-9]*/cpulist")):
        ranges = [part.partition("-") for part in path.read_text().strip().split(",") if part]
        inside = {core for first, _, last in ranges for core in range(int(first), int(last or first) + 1)}
        parts.append([core for core in cores if core in inside])
    parts = [part for part in parts if part]
    return parts if sorted(core for part in parts for core in part) == cores else [cores]


def _options(place: tuple[str, list[int]], places: list[tuple[str, list[int]]], limit: int, share: float, cache: _Any) -> dict[str, _Any]:
    """What the worker of a place has of its own."""
    device, cores = place
    workers_on_device = sum(other == device for other, _ in places)
    threads = len(cores) or max(len(_cores()) // len(places), 1)
    environment = {
        "PARDO_DEVICE": device,
        "PARDO_NUM_THREADS": threads,
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        _workers.CORES: ",".join(map(str, cores)),
    }
    if device == _Device(_HOST).id:
        environment["PARDO_MEMORY"] = int(limit * _budgets.SHARE)
    elif workers_on_device > 1:
        environment["PARDO_MEMORY"] = f"{100 // workers_on_device}%"
    if cache is not None:
        environment["PARDO_CACHE_DIR"] = _os.fspath(cache)
    on_device = int((_Device(device).global_mem_size or 0) * share / workers_on_device)
    target = _dask.config.get("distributed.worker.memory.target") or 1
    data = _spilling.Results, {"target": int(limit * target), "device_limit": on_device}
    return {"env": {name: str(value) for name, value in environment.items()}, "data": data}


_public_names.publish_module(globals())
