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

from numpy import e as e
from numpy import euler_gamma as euler_gamma
from numpy import inf as inf
from numpy import nan as nan
from numpy import newaxis as newaxis
from numpy import pi as pi
from pardo import (
    _core,
    _creation,
    _devices,
    _dtypes,
    _elementwise,
    _events,
    _interop,
    _joining,
    _linalg,
    _manipulation,
    _methods,
    _published,
    _queues,
    _searching,
    _sets,
    _sorting,
    _statistics,
)
from pardo import algorithm as algorithm
from pardo import random as random
from pardo import special as special
from pardo._atomics import *
from pardo._core import *
from pardo._creation import *
from pardo._devices import *
from pardo._dtypes import *
from pardo._elementwise import *
from pardo._events import *
from pardo._generators import *
from pardo._groups import *
from pardo._info import *
from pardo._interop import *
from pardo._items import *
from pardo._jit import *
from pardo._joining import *
from pardo._kernels import *
from pardo._linalg import *
from pardo._manipulation import *
from pardo._memory import *
from pardo._profile import *
from pardo._program import *
from pardo._queues import *
from pardo._races import *
from pardo._runtime import *
from pardo._searching import *
from pardo._sets import *
from pardo._sorting import *
from pardo._statistics import *
from pardo._structs import *

ndarray = _core.Array

__version__ = _core._version
__array_api_version__ = "2025.12"

_methods.attach(_methods.Methods, _core.Array)
_methods.attach(_events.EventMethods, _core.Event)
_methods.attach(_queues.QueueMethods, _core.Queue)
_devices.serve_contexts(
    globals(), [_creation, _dtypes, _elementwise, _joining, _linalg, _manipulation, _searching, _sets, _sorting, _statistics]
)
# What pickles of arrays call, by this name for ever.
_rebuild_array = _interop._rebuild
_published.publish(globals(), {"random": random, "algorithm": algorithm, "special": special})
_core._set_package_folder(_os.path.dirname(__file__))
_core._set_library_folders(_devices.package_folders())
_atexit.register(_core._report_unheard_failures)
_atexit.register(_core._close_threads)  # runs before the report: what they fail with is in it
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_core._forget_threads)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(name for name in globals() if not name.startswith("_") or name.startswith("__array"))
