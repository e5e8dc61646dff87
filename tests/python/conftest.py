# tests/python/conftest.py: settings of hypothesis, and what many tests use.
from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import numpy as np
import pardo as pp
import pytest
from hypothesis import HealthCheck, settings
from mapped import DEVICES
from pardo._data import present

settings.register_profile(
    "pardo",
    deadline=None,
    max_examples=int(os.environ.get("PARDO_TEST_EXAMPLES", "40")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("pardo")


@pytest.fixture(scope="module")
def old_objects_left_alone() -> Iterator[None]:
    """For files that collect garbage around each test: after thousands of tests a process holds so many objects that this takes seconds."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(12345)


@pytest.fixture(params=["in_order", "out_of_order"])
def queue(request: pytest.FixtureRequest) -> pp.Queue:
    return pp.Queue("cpu", order=request.param)


@pytest.fixture(params=["cpu", "null"])
def any_queue(request: pytest.FixtureRequest) -> pp.Queue:
    return pp.Queue(request.param)


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    """A device that shares the memory of the host, and one with memory of its own; many files have their own fixture of that name."""
    return request.param


@pytest.fixture(autouse=True)
def _nothing_stays_mapped() -> Iterator[None]:
    yield
    assert not present.in_use
