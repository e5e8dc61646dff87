# tests/python/sharding_cases.py: arrays split over several devices, in several ways, for tests.
import functools

import numpy as np
import pardo as pp
from pardo._sharding.array import ShardedArray, replicated, sharded
from pardo._sharding.group import LocalGroup
from pardo._sharding.layout import Layout


@functools.cache
def group(kind="2"):
    """A number of queues of the CPU, or "mixed": parts of it and an OpenCL device."""
    if kind == "mixed":
        queues = [pp.Queue("cpu"), *(pp.Queue(d) for d in pp.get_devices("opencl")[-1:]), pp.Queue("cpu")]
    else:
        queues = [pp.Queue("cpu") for _ in range(int(kind))]
    return LocalGroup(queues)


def split(x, kind="2", axis=0, bounds=None):
    """An array of NumPy's, split along an axis; None: each part has the whole."""
    x = np.asarray(x)
    g = group(kind)
    if axis is None:
        return replicated(g, {p: pp.asarray(x, queue=g.queue(p)) for p in g.owned})
    axis %= x.ndim
    n = x.shape[axis]
    if bounds is None:
        bounds = [n * p // g.size for p in range(g.size + 1)]
    layout = Layout(x.shape, axis, tuple(bounds), g.keys)
    parts = {}
    for p in g.owned:
        where = (slice(None),) * axis + (slice(bounds[p], bounds[p + 1]),)
        parts[p] = pp.asarray(np.ascontiguousarray(x[where]), queue=g.queue(p))
    return sharded(g, layout, parts)


def gathered(x):
    """The whole array, as NumPy has it, after a look at its parts."""
    if isinstance(x, pp.Array):
        return pp.asnumpy(x)
    assert isinstance(x, ShardedArray), type(x)
    layout, g = x.layout, x.group
    for p in g.owned:
        assert x._parts[p].shape == layout.local_shape(p), (p, x._parts[p].shape, layout)
        assert x._parts[p].queue == g.queue(p)
        assert x._parts[p].dtype == x.dtype
    parts = [pp.asnumpy(x._parts[p]) for p in g.owned]
    if layout.axis is None:
        for other in parts[1:]:
            np.testing.assert_array_equal(other, parts[0])
        return parts[0]
    return np.concatenate(parts, axis=layout.axis)


def call(name, *args, **keywords):
    from pardo._sharding import functions

    return functions.call(name, args, keywords)
