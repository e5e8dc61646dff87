# python/pardo/_compiler/instead.py: what kernels have in place of functions and classes that they do not know.
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo import _core
from pardo._base import face

# What kernels have in place of functions that they do not know.
_ADVICE: list[tuple[Callable[..., Any], str]] = [
    (np.ndarray, "np.empty(shape, dtype) makes an array of the item's own"),
    (np.array, "np.empty(shape, dtype) makes an array of the item's own; then set its elements"),
    (np.asarray, "np.empty(shape, dtype) makes an array of the item's own; then set its elements"),
    (sorted, "sort the array outside"),
    (range, "it stands after `for … in`, also inside of zip, enumerate and reversed"),
    (map, "write a loop, or a comprehension"),
    (filter, "write a loop, or a comprehension with `if`"),
    (reversed, "write `for … in reversed(…)`"),
    (isinstance, "compare dtypes: x.dtype == np.float32"),
    (str, "kernels make no texts; print(x) shows a value"),
    (repr, "kernels make no texts; print(x) shows a value"),
    (format, "kernels make no texts; print(x) shows a value"),
    (open, "read and write files outside"),
    (input, "ask outside, and give what came as an argument"),
]


# Functions of `math` that kernels do not know: NumPy's and pardo's of such a name are others, or there are none.
_OF_MATH = {
    "remainder": "write x - y * np.rint(x / y); np.remainder is the operator %",
    "isclose": "write abs(a - b) <= 1e-9 * max(abs(a), abs(b))",
    "ldexp": "write x * 2.0**n",
    "factorial": "write math.gamma(n + 1.0)",
    "isqrt": "write int(math.sqrt(n)), for n below 2**52",
    "fsum": "write a loop that adds up in float64",
    "prod": "write a loop that multiplies",
    "dist": "write math.hypot(x - u, y - v)",
}


# What names of CUDA's and numba.cuda's are in a kernel.
_OF_CUDA = {
    "cuda.grid": "item.get_id(0) of an Item, item.get_global_id(0) of an NdItem",
    "cuda.gridsize": "item.get_range(0) of an Item, item.get_global_range(0) of an NdItem",
    "threadIdx": "item.get_local_id(0) of an NdItem",
    "blockIdx": "item.get_group_id(0) of an NdItem",
    "blockDim": "item.get_local_range(0) of an NdItem",
    "gridDim": "item.get_group_range(0) of an NdItem",
    "syncthreads": "pardo.group_barrier(item.get_group())",
    "cuda.shared": "pardo.local_array(shape, dtype)",
    "cuda.local": "pardo.private_array(shape, dtype)",
    "cuda.atomic": "pardo.atomic, as in pardo.atomic.add(x, i, v)",
}


def of_cuda(path: tuple[str, ...]) -> str:
    """What stands for a dotted name of CUDA's; nothing for other names."""
    name = ".".join(path[:2])
    bare = name.removeprefix("cuda.").partition(".")[0].strip("_")
    text = _OF_CUDA.get(name) or _OF_CUDA.get(bare, "")
    return f"; CUDA's {bare} is {text}" if text else ""


def is_of_scipy(called: Any) -> bool:
    """True for functions and classes of SciPy's, written in Python or not."""
    if isinstance(called, np.ufunc):
        return getattr(sys.modules.get("scipy.special"), called.__name__, None) is called  # it has no module
    return str(getattr(called, "__module__", "") or "").partition(".")[0] == "scipy" or type(called).__module__.startswith("scipy.")


def _of_scipy(called: Any) -> str:
    """What there is in place of a function of SciPy's."""
    name = str(getattr(called, "__name__", ""))
    if hasattr(_core, f"_{name}") or name in _special_names():
        return f"pardo.special.{name} can"
    return "it is SciPy's, which runs on the host: call it outside, and give its result as an argument"


def _special_names() -> set[str]:
    return set(face.public("special").__all__)


_MADE_OUTSIDE = ("default_rng", "Generator", "RandomState")  # of numpy.random and pardo.random


def advice(called: Any) -> str:
    """What to write in place of a call that kernels do not know; nothing where there is nothing to say."""
    if getattr(called, "__name__", "") in _MADE_OUTSIDE:
        return "; make it in front of the loop: each iteration draws numbers of its own from it"
    if is_of_scipy(called):
        return f"; {_of_scipy(called)}"
    if isinstance(called, type) and called.__module__ not in ("builtins", "numpy"):
        return "; a class of which kernels make objects is decorated with pardo.struct, a dataclass, or a named tuple"
    of_methods = getattr(getattr(called, "__self__", None), "_in_kernels", "")  # of an object whose class has some
    otherwise = of_methods or _of_arrays(called)
    return next((f"; {text}" for known_one, text in _ADVICE if called is known_one), f"; {otherwise}" if otherwise else "")


def _of_arrays(called: Any) -> str:
    """What there is in place of a function of NumPy's or of `math`."""
    module, name = getattr(called, "__module__", None), str(getattr(called, "__name__", ""))
    if isinstance(called, (type, np.random.Generator)) or not (isinstance(called, np.ufunc) or module in ("numpy", "math")):
        return ""
    if module == "math" and name in _OF_MATH:
        return _OF_MATH[name]
    if name in face.namespace().__dir__():
        return f"pardo.{name} takes whole arrays, outside of kernels"
    return "write it with operators, loops and functions that kernels have"
