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
import importlib as _importlib
import os as _os
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from pardo import _core  # first: it says in its own words that a subinterpreter will not do
from pardo._base import numpy_threads as _numpy_threads  # before all that imports NumPy

# isort: split
from numpy import e as e
from numpy import euler_gamma as euler_gamma
from numpy import inf as inf
from numpy import nan as nan
from numpy import newaxis as newaxis
from numpy import pi as pi
from pardo import _names
from pardo import special as special
from pardo._array import broadcasting as _broadcasting
from pardo._array import contexts as _contexts
from pardo._array import conversion as _conversion
from pardo._array import creation as _creation
from pardo._array import cumulative as _cumulative
from pardo._array import elementwise as _elementwise
from pardo._array import interop as _interop
from pardo._array import joining as _joining
from pardo._array import manipulation as _manipulation
from pardo._array import methods as _methods
from pardo._array import products as _products
from pardo._array import ranges as _ranges
from pardo._array import reductions as _reductions
from pardo._array import searching as _searching
from pardo._array import sets as _sets
from pardo._array import sorting as _sorting
from pardo._array.broadcasting import *
from pardo._array.contexts import *
from pardo._array.creation import *
from pardo._array.cumulative import *
from pardo._array.elementwise import *
from pardo._array.inspection import *
from pardo._array.interop import *
from pardo._array.joining import *
from pardo._array.manipulation import *
from pardo._array.products import *
from pardo._array.ranges import *
from pardo._array.reductions import *
from pardo._array.searching import *
from pardo._array.sets import *
from pardo._array.sorting import *
from pardo._base import dtypes as _dtypes
from pardo._base import examples as _examples
from pardo._base import face as _face
from pardo._base import memory as _array_memory
from pardo._base import package as _package
from pardo._base import public_names as _public_names
from pardo._base import undisturbed as _undisturbed
from pardo._base.dtypes import *
from pardo._compiler import intrinsics as _intrinsics
from pardo._core import *
from pardo._notebook import cells as _cells
from pardo._numpy import protocols as _protocols
from pardo._plugins import dask_tokens as _dask_tokens
from pardo._plugins import hooks as _hooks
from pardo._runtime import devices as _devices
from pardo._runtime import events as _events
from pardo._runtime import queues as _queues
from pardo._runtime import transfers as _transfers
from pardo._runtime.config import *
from pardo._runtime.devices import *
from pardo._runtime.events import *
from pardo._runtime.queues import *
from pardo._runtime.transfers import *
from pardo._ufunc import methods as _ufunc_methods

_face.fill(_sys.modules[__name__], _names.ASKED_FOR)
ndarray = _core.Array
_C_API = _core.__dict__["_C_API"]  # pardo/c_api.h, for PyCapsule_Import("pardo._C_API", 0)

__version__ = _core._version
__array_api_version__ = "2025.12"

_methods.attach(_array_memory.Memory, _core.Array)
_methods.attach(_conversion.Conversions, _core.Array)
_methods.attach(_methods.Methods, _core.Array)
_methods.attach(_protocols.Protocols, _core.Array)
_methods.attach(_dask_tokens.Tokens, _core.Array)
_methods.attach_names_of_others(_core.Array)
_methods.attach(_ufunc_methods.Methods, _core.ufunc)
_methods.attach(_events.EventMethods, _core.Event)
_methods.attach(_queues.QueueMethods, _core.Queue)
_methods.attach(_devices.DeviceMethods, _core.Device)
_contexts.serve_methods(_core.ufunc, ["reduce", "accumulate", "reduceat", "outer", "at"])
_contexts.serve_contexts(
    globals(),
    [
        _broadcasting,
        _creation,
        _cumulative,
        _dtypes,
        _elementwise,
        _joining,
        _manipulation,
        _products,
        _ranges,
        _reductions,
        _searching,
        _sets,
        _sorting,
    ],
)
# What pickles of arrays call, by this name for ever.
_rebuild_array = _interop._rebuild
_public_names.publish(globals(), _names.SHOWN)
_examples.complete(globals())
_protocols.begin(globals())
_transfers.begin()
_hooks.begin()
_intrinsics.serve(_sys.modules[__name__], special)
_names.answer_to_former_names()
_core._install({"package_folder": _package.FOLDER, "library_folders": _devices.package_folders()})
_atexit.register(_core._report_unseen_failures, True)
_cells.begin()
_atexit.register(_core._close_threads)  # runs before the report: what they fail with is in it
_atexit.register(_core._finish_prints)  # and this before it
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_core._forget_threads)


def _prepare_later(namespace: dict[str, _Any], module: _Any) -> None:
    """Make the functions of a file that has just been read public."""
    made_here = ("pardo._analysis.", "pardo._functions.", "pardo._filters.sequences")
    _contexts.serve_contexts(namespace, [module] if module.__name__.startswith(made_here) else [])
    _public_names.show_classes(module.__name__)
    for name in module.__all__:
        namespace[name] = _public_names.say(namespace.get(name, getattr(module, name)), name, "pardo")


def __getattr__(name: str) -> _Any:
    """Read the file that has a name; say what to do for a name of NumPy's that is not there."""
    if name in _names.MODULES or name in _names.ON_OTHERS:
        return _importlib.import_module(f"pardo.{name}")
    if name in _names.OF_IPYTHON:
        return getattr(_importlib.import_module("pardo._notebook.magics"), _names.OF_IPYTHON[name])
    try:
        found = _names.find(name, globals(), _prepare_later)
    except ImportError as error:
        if name != "bfloat16":  # the type of a package that may not be there
            raise
        from pardo._base import absent

        raise absent.unknown("pardo", name, str(error), True) from None
    if found is not None:
        return found
    from pardo._base import absent

    raise absent.missing("pardo", name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(
        {name for name in list(globals()) if not name.startswith("_") or name.startswith("__array")}.union(_names.names(), _names.MODULES)
    )


_public_names.answer(globals())
_undisturbed.begin()

if _TYPE_CHECKING:
    from pardo import algorithm as algorithm
    from pardo import cython as cython
    from pardo import fft as fft
    from pardo import gl as gl
    from pardo import lib as lib
    from pardo import linalg as linalg
    from pardo import ndimage as ndimage
    from pardo import notebook as notebook
    from pardo import plot as plot
    from pardo import polynomial as polynomial
    from pardo import random as random
    from pardo import scipy as scipy
    from pardo import signal as signal
    from pardo import sparse as sparse
    from pardo import vulkan as vulkan
    from pardo._analysis.averages import *
    from pardo._analysis.counting import *
    from pardo._analysis.differences import *
    from pardo._analysis.histograms import *
    from pardo._analysis.nan_functions import *
    from pardo._analysis.poly1d import *
    from pardo._analysis.polynomials import *
    from pardo._analysis.quantiles import *
    from pardo._analysis.roots import *
    from pardo._analysis.sets import *
    from pardo._analysis.windows import *
    from pardo._compiler.classes import *
    from pardo._data.contexts import *
    from pardo._debug.races import *
    from pardo._filters.sequences import *
    from pardo._functions.arithmetic import *
    from pardo._functions.assignment import *
    from pardo._functions.bits import *
    from pardo._functions.choosing import *
    from pardo._functions.closeness import *
    from pardo._functions.copies import *
    from pardo._functions.editing import *
    from pardo._functions.einsum import *
    from pardo._functions.flat import *
    from pardo._functions.grids import *
    from pardo._functions.index_tricks import *
    from pardo._functions.kinds import *
    from pardo._functions.padding import *
    from pardo._functions.products import *
    from pardo._functions.rearranging import *
    from pardo._functions.sharing import *
    from pardo._functions.triangles import *
    from pardo._generate.generators import *
    from pardo._generate.vectorize import *
    from pardo._host.dtype_class import *
    from pardo._host.files import *
    from pardo._host.narrow_floats import *
    from pardo._host.scalar_types import *
    from pardo._host.texts import *
    from pardo._ipc.handle import *
    from pardo._ipc.sharing import *
    from pardo._kernel.jit import *
    from pardo._kernel.kernel import *
    from pardo._kernel.program import *
    from pardo._language.atomics import *
    from pardo._language.functions import *
    from pardo._language.groups import *
    from pardo._language.images import *
    from pardo._language.index_space import *
    from pardo._language.unordered import *
    from pardo._live.live import *
    from pardo._live.showing import *
    from pardo._live.view import *
    from pardo._offload.offloading import *
    from pardo._records.arrays import *
    from pardo._runtime.float_errors import *
    from pardo._runtime.memory import *
    from pardo._runtime.profile import *
    from pardo._runtime.statistics import *
    from pardo._saving.programs import *
    from pardo._sharding.creating import *
    from pardo._sharding.device import *
    from pardo._sharding.saving import *
