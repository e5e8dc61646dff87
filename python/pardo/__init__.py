# python/pardo/__init__.py: the namespace: NumPy's names, the array API's rules.
"""Data-parallel Python on every processor of a machine.

Arrays have NumPy's names and follow the Python array API standard, version 2025.12. Operations on them are recorded, and
fused into few kernels when a value is needed.

>>> import pardo as pp
>>> x = pp.linspace(0.0, 1.0, 5)
>>> (pp.sin(x) ** 2 + pp.cos(x) ** 2).sum()
array(5.)
"""

import atexit as _atexit
import os as _os

from numpy import e, euler_gamma, inf, nan, newaxis, pi
from pardo import _core, _methods, special
from pardo._core import *
from pardo._core import Array, CompileError, Device, DeviceError, Event, ExecutionPlacementError, Queue, get_devices
from pardo._creation import (
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    identity,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from pardo._dtypes import (
    astype,
    bool,
    bool_,
    can_cast,
    complex64,
    complex128,
    dtype,
    finfo,
    float16,
    float32,
    float64,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    promote_types,
    result_type,
    uint8,
    uint16,
    uint32,
    uint64,
)
from pardo._elementwise import (
    abs,
    acos,
    acosh,
    angle,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_not,
    bitwise_right_shift,
    clip,
    conj,
    degrees,
    fix,
    mod,
    pow,
    radians,
    round,
    true_divide,
    where,
)
from pardo._info import __array_namespace_info__
from pardo._interop import array, asarray, asnumpy, from_dlpack
from pardo._linalg import dot, matmul, outer, tensordot, trace, vecdot
from pardo._manipulation import (
    append,
    array_split,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    column_stack,
    concat,
    concatenate,
    copyto,
    diagonal,
    dstack,
    expand_dims,
    flip,
    fliplr,
    flipud,
    hstack,
    matrix_transpose,
    moveaxis,
    permute_dims,
    ravel,
    repeat,
    reshape,
    roll,
    split,
    squeeze,
    stack,
    swapaxes,
    tile,
    transpose,
    unstack,
    vstack,
)
from pardo._runtime import (
    MemoryStats,
    counters,
    explain,
    force,
    memory_stats,
    reset_memory_peak,
    set_memory_limit,
    trim_memory,
    wait,
)
from pardo._searching import (
    argmax,
    argmin,
    argwhere,
    compress,
    flatnonzero,
    nonzero,
    searchsorted,
    take,
    take_along_axis,
)
from pardo._sets import isin, unique, unique_all, unique_counts, unique_inverse, unique_values
from pardo._sorting import argpartition, argsort, partition, sort, top_k
from pardo._statistics import (
    all,
    amax,
    amin,
    any,
    count_nonzero,
    cumprod,
    cumsum,
    cumulative_prod,
    cumulative_sum,
    diff,
    max,
    mean,
    min,
    prod,
    ptp,
    std,
    sum,
    var,
)

ndarray = Array

__version__ = _core._version
__array_api_version__ = "2025.12"

_methods.attach()
_core._set_package_folder(_os.path.dirname(__file__))
_atexit.register(_core._report_unheard_failures)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(name for name in globals() if not name.startswith("_") or name.startswith("__array"))
