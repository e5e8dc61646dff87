# tests/python/conftest.py: settings of hypothesis, and what many tests use.
from __future__ import annotations

import os

import numpy as np
import pardo as pp
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "pardo",
    deadline=None,
    max_examples=int(os.environ.get("PARDO_TEST_EXAMPLES", "40")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("pardo")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(12345)


@pytest.fixture(params=["in_order", "out_of_order"])
def queue(request: pytest.FixtureRequest) -> pp.Queue:
    return pp.Queue("cpu", order=request.param)


@pytest.fixture(params=["cpu", "null"])
def any_queue(request: pytest.FixtureRequest) -> pp.Queue:
    return pp.Queue(request.param)
