# python/pardo/_extending.py: what packages stand on that give pardo's functions other names, or another language to call them from.
"""What `pardo.compat` and `pardo.cython` use beside the public names of pardo. It is internal: it changes with any release.

* Public modules: ``publish_module``, ``show_module`` and ``answer`` say where their objects are public and what they tell of missing names;
  ``missing`` and ``unknown`` make the exceptions for these, ``shown`` hides the frames of a function, ``attach`` adds methods to a class.
* Arguments: ``HOST``, ``SCALARS``, ``axis_index``, ``default_on``, ``default_queue``, ``device_of``, ``dtype_of``, ``index``, ``shape``,
  ``warn``, ``word``, ``operand`` and ``copying`` read and check what is given; ``mode_of`` and ``two_sequences`` do for ``convolve``, and
  ``parsed_signature`` and ``flattened_inputs`` for functions of rows, of which ``take`` is a part.
* Functions with loops: ``source``, ``Source``, ``defined``, ``functions_of``, ``Scope``, ``called``, ``imported``, ``is_prange`` and
  ``liveness`` read and write their text; ``build`` makes ``Built`` of it, with ``NestedLoops`` that give ``LEFT`` where Python has to run
  them; ``checked_iterations``, ``chunk_of``, ``counted`` and ``plainly`` say how loops run. ``JitFunction``, ``KernelFunction``,
  ``ProgramKernel`` and ``OffloadFunction``, with ``KINDS`` and ``function_tree``, are what decorators give.
* Memory: ``memory`` with its ``Memory``, ``table_of``, ``tables`` and ``mappings`` have the copies on devices of the host's
  arrays; ``held_lock`` and ``renewed_lock`` are right after a fork. ``shared`` is the generator of ``pardo.random``'s functions.
* Names with an underscore are functions and classes of the core.

Each is read from its file when it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pardo._array.contexts import copying as copying
    from pardo._array.methods import attach as attach
    from pardo._base.absent import missing as missing
    from pardo._base.absent import unknown as unknown
    from pardo._base.arguments import HOST as HOST
    from pardo._base.arguments import SCALARS as SCALARS
    from pardo._base.arguments import axis_index as axis_index
    from pardo._base.arguments import default_on as default_on
    from pardo._base.arguments import default_queue as default_queue
    from pardo._base.arguments import device_of as device_of
    from pardo._base.arguments import dtype_of as dtype_of
    from pardo._base.arguments import index as index
    from pardo._base.arguments import shape as shape
    from pardo._base.arguments import warn as warn
    from pardo._base.arguments import word as word
    from pardo._base.forks import held_lock as held_lock
    from pardo._base.forks import renewed_lock as renewed_lock
    from pardo._base.public_names import answer as answer
    from pardo._base.public_names import publish_module as publish_module
    from pardo._base.public_names import show_module as show_module
    from pardo._base.tracebacks import shown as shown
    from pardo._compiler import liveness as liveness
    from pardo._compiler import source as source
    from pardo._compiler.defining import defined as defined
    from pardo._compiler.source import Source as Source
    from pardo._compiler.texts import functions_of as functions_of
    from pardo._core import _copy_operand as _copy_operand
    from pardo._core import _empty as _empty
    from pardo._core import _host_chunk as _host_chunk
    from pardo._core import _host_queue as _host_queue
    from pardo._core import _LateResults as _LateResults
    from pardo._core import _Region as _Region
    from pardo._core import _reshape as _reshape
    from pardo._core import _set_host_chunk as _set_host_chunk
    from pardo._core import _set_host_queue as _set_host_queue
    from pardo._core import _strided as _strided
    from pardo._core import _view_bytes as _view_bytes
    from pardo._data import mappings as mappings
    from pardo._data import tables as tables
    from pardo._data.tables import table_of as table_of
    from pardo._filters.sequences import mode_of as mode_of
    from pardo._filters.sequences import two_sequences as two_sequences
    from pardo._generate.templates import take as take
    from pardo._generate.vectorize import flattened_inputs as flattened_inputs
    from pardo._generate.vectorize import parsed_signature as parsed_signature
    from pardo._kernel.environment import plainly as plainly
    from pardo._kernel.jit import JitFunction as JitFunction
    from pardo._kernel.kernel import KernelFunction as KernelFunction
    from pardo._kernel.loop_runners import LEFT as LEFT
    from pardo._kernel.parallel_loops import Scope as Scope
    from pardo._kernel.parallel_loops import called as called
    from pardo._kernel.parallel_loops import checked_iterations as checked_iterations
    from pardo._kernel.parallel_loops import chunk_of as chunk_of
    from pardo._kernel.parallel_loops import counted as counted
    from pardo._kernel.parallel_loops import imported as imported
    from pardo._kernel.parallel_loops import is_prange as is_prange
    from pardo._kernel.program import ProgramKernel as ProgramKernel
    from pardo._kernel.rewriting import Built as Built
    from pardo._kernel.rewriting import NestedLoops as NestedLoops
    from pardo._kernel.rewriting import build as build
    from pardo._offload.inference import function_tree as function_tree
    from pardo._offload.offloading import KINDS as KINDS
    from pardo._offload.offloading import OffloadFunction as OffloadFunction
    from pardo._random.legacy import shared as shared
    from pardo._runtime import memory as memory
    from pardo._runtime.memory import Memory as Memory
    from pardo._runtime.queues import operand as operand

# File -> what is taken from it.
FILES = {
    "_array.contexts": "copying",
    "_array.methods": "attach",
    "_base.absent": "missing unknown",
    "_base.arguments": "HOST SCALARS axis_index default_on default_queue device_of dtype_of index shape warn word",
    "_base.forks": "held_lock renewed_lock",
    "_base.public_names": "answer publish_module show_module",
    "_base.tracebacks": "shown",
    "_compiler.defining": "defined",
    "_compiler.source": "Source",
    "_compiler.texts": "functions_of",
    "_core": (
        "_LateResults _Region _copy_operand _empty _host_chunk _host_queue _reshape _set_host_chunk _set_host_queue _strided _view_bytes"
    ),
    "_data.tables": "table_of",
    "_filters.sequences": "mode_of two_sequences",
    "_generate.templates": "take",
    "_generate.vectorize": "flattened_inputs parsed_signature",
    "_kernel.environment": "plainly",
    "_kernel.jit": "JitFunction",
    "_kernel.kernel": "KernelFunction",
    "_kernel.parallel_loops": "Scope called checked_iterations chunk_of counted imported is_prange",
    "_kernel.program": "ProgramKernel",
    "_kernel.loop_runners": "LEFT",
    "_kernel.rewriting": "Built NestedLoops build",
    "_offload.inference": "function_tree",
    "_offload.offloading": "KINDS OffloadFunction",
    "_random.legacy": "shared",
    "_runtime.memory": "Memory",
    "_runtime.queues": "operand",
}
MODULES = ("_compiler.liveness", "_compiler.source", "_data.mappings", "_data.tables", "_runtime.memory")  # taken whole
_FILE_OF = {name: file for file, names in FILES.items() for name in names.split()}
_MODULE_OF = {file.rpartition(".")[2]: file for file in MODULES}


def __getattr__(name: str) -> Any:
    """Read the file that has a name."""
    if name in _MODULE_OF:
        return importlib.import_module(f"pardo.{_MODULE_OF[name]}")
    if name not in _FILE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"pardo.{_FILE_OF[name]}"), name)
