# tests/numpy_names.py: what some version of NumPy lacks and tests take as reference, made of what it has.
import functools

import numpy as np

BEFORE_2_1 = np.lib.NumpyVersion(np.__version__) < "2.1.0"
BEFORE_2_2 = np.lib.NumpyVersion(np.__version__) < "2.2.0"
BEFORE_2_5 = np.lib.NumpyVersion(np.__version__) < "2.5.0"


def _cumulative(scan, empty, x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    x = np.asarray(x)
    if axis is None:
        if x.ndim > 1:
            raise ValueError("axis is needed for more than one dimension")
        x, axis = np.atleast_1d(x), 0
    if not include_initial:
        return scan(x, axis=axis, dtype=dtype, out=out)
    result = scan(x, axis=axis, dtype=dtype)
    shape = list(x.shape)
    shape[axis] = 1
    joined = np.concatenate([np.full(shape, empty, result.dtype), result], axis=axis)
    if out is None:
        return joined
    out[...] = joined
    return out


def _unstack(x, /, *, axis=0):
    return tuple(np.moveaxis(x, axis, 0))


if BEFORE_2_1:
    np.cumulative_sum = functools.partial(_cumulative, np.cumsum, 0)
    np.cumulative_prod = functools.partial(_cumulative, np.cumprod, 1)
    np.unstack = _unstack
if not BEFORE_2_5:
    setattr(np, "row_stack", np.vstack)  # noqa: B010
