# python/pardo/_sharding/printing.py: how arrays over several devices look: as NumPy's do. Only what is shown is gathered.
from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo._sharding.array import ShardedArray
from pardo._sharding.functions import call, implements


def shown(x: ShardedArray) -> NDArray[Any]:
    """The array on the host; of large ones the edges that NumPy prints, in memory that is never touched between."""
    options = np.get_printoptions()
    edge = int(options["edgeitems"])
    if x.size <= options["threshold"]:
        return call("asnumpy", (x,), {})  # type: ignore[no-any-return]
    host = np.zeros(x.shape, x.dtype)
    ends = [[slice(None)] if n <= 2 * edge else [slice(0, edge), slice(n - edge, n)] for n in x.shape]
    for corner in itertools.product(*ends):
        host[corner] = call("asnumpy", (x[corner],), {})
    return host


@implements("repr", "array_repr", splits="what is shown is gathered")
def array_repr(arr: ShardedArray, *args: Any, **kwargs: Any) -> str:
    text = np.array_repr(shown(arr), *args, **kwargs)
    return text.replace("array(", "ShardedArray(", 1).replace("\n      ", "\n             ")


@implements("str", "array_str", splits="what is shown is gathered")
def array_str(a: ShardedArray, *args: Any, **kwargs: Any) -> str:
    return np.array_str(shown(a), *args, **kwargs)


@implements("array2string", splits="what is shown is gathered")
def array2string(a: ShardedArray, *args: Any, **kwargs: Any) -> str:
    return np.array2string(shown(a), *args, **kwargs)
