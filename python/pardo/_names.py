# python/pardo/_names.py: which file has which public name: those read at first use, so that `import pardo` is fast, and those of pickles.
from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from pardo._base.forks import held_lock
from pardo._base.undisturbed import Undisturbed

# File below python/pardo -> the public names that it defines.
FILES = {
    "_analysis.averages": "average corrcoef cov",
    "_analysis.counting": "bincount digitize",
    "_analysis.differences": "ediff1d gradient interp trapezoid unwrap",
    "_analysis.histograms": "histogram histogram2d histogram_bin_edges histogramdd",
    "_analysis.nan_functions": "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar",
    "_analysis.poly1d": "poly1d",
    "_analysis.polynomials": "polyadd polyder polydiv polyint polymul polysub polyval",
    "_analysis.quantiles": "median nanmedian nanpercentile nanquantile percentile quantile",
    "_analysis.roots": "poly polyfit roots",
    "_analysis.sets": "intersect1d lexsort setdiff1d setxor1d sort_complex union1d",
    "_analysis.windows": "bartlett blackman hamming hanning i0 kaiser",
    "_data.contexts": "data enter_data exit_data is_present update_from update_to",
    "_compiler.classes": "struct",
    "_debug.races": "RaceError",
    "_filters.sequences": "convolve correlate",
    "_functions.arithmetic": "bitwise_count divmod frexp ldexp modf sinc spacing",
    "_functions.assignment": "place put put_along_axis putmask",
    "_functions.bits": "packbits unpackbits",
    "_functions.choosing": "apply_along_axis apply_over_axes choose piecewise select",
    "_functions.closeness": "allclose array_equal array_equiv isclose",
    "_functions.copies": "asanyarray asarray_chkfinite ascontiguousarray asfortranarray copy require",
    "_functions.editing": "delete extract insert trim_zeros",
    "_functions.einsum": "einsum einsum_path",
    "_functions.flat": "flatiter",
    "_functions.grids": "fromfunction geomspace indices ix_ logspace ravel_multi_index unravel_index",
    "_functions.index_tricks": "c_ index_exp mgrid ogrid r_ s_",
    "_functions.kinds": "iscomplex iscomplexobj isfortran isreal isrealobj nan_to_num ndim real_if_close shape size",
    "_functions.padding": "pad",
    "_functions.products": "cross inner kron matvec vdot vecmat",
    "_functions.rearranging": "block dsplit hsplit resize rollaxis rot90 row_stack vsplit",
    "_functions.sharing": "broadcast may_share_memory ndenumerate shares_memory",
    "_functions.triangles": (
        "diag diag_indices diag_indices_from diagflat fill_diagonal mask_indices tri tril_indices tril_indices_from "
        "triu_indices triu_indices_from vander"
    ),
    "_generate.generators": "elementwise reduction scan",
    "_generate.vectorize": "vectorize",
    "_host.dtype_class": "dtype",
    "_host.files": "frombuffer fromfile fromiter fromregex fromstring genfromtxt load loadtxt save savetxt savez savez_compressed",
    "_host.scalar_types": (
        "byte cdouble complexfloating csingle double floating generic half inexact int_ intc integer intp long longlong ndindex number "
        "short signedinteger single ubyte uint uintc uintp ulong ulonglong unsignedinteger ushort"
    ),
    "_host.narrow_floats": "bfloat16",
    "_records.arrays": "StructuredArray",
    "_ipc.handle": "IpcHandle",
    "_ipc.sharing": "from_ipc ipc_empty",
    "_live.live": "live",
    "_live.showing": "show",
    "_live.view": "LiveView",
    "_sharding.creating": "ShardedArray shard",
    "_sharding.device": "ShardedDevice",
    "_sharding.saving": "load_sharded",
    "_runtime.memory": "MemoryDevice MemoryHost MemoryShared set_allocator",
    "_runtime.profile": "Profile profile",
    "_saving.programs": "SavedProgram export load_program",
    "_runtime.statistics": "MemoryStats counters explain force memory_stats reset_memory_peak set_memory_limit trim_memory wait",
    "_runtime.float_errors": "errstate geterr geterrcall seterr seterrcall",
    "_host.texts": (
        "array2string array_repr array_str base_repr binary_repr common_type format_float_positional format_float_scientific "
        "get_printoptions isscalar issubdtype iterable min_scalar_type mintypecode printoptions set_printoptions typename"
    ),
    "_kernel.jit": "jit prange",
    "_kernel.kernel": "call_kernel call_kernel_async kernel",
    "_kernel.program": "Program",
    "_offload.offloading": "offload",
    "_language.atomics": "AtomicRef atomic atomic_fence",
    "_language.functions": "func",
    "_language.groups": (
        "all_of_group any_of_group exclusive_scan_over_group group_broadcast inclusive_scan_over_group none_of_group "
        "permute_group_by_xor reduce_over_group select_from_group shift_group_left shift_group_right"
    ),
    "_language.images": "Image SampledImage Sampler",
    "_language.unordered": "unordered",
    "_language.index_space": (
        "Const Group Item LocalAccessor NdItem NdRange Range SubGroup get_global_id get_global_size get_group_id "
        "get_local_id get_local_size get_num_groups group_barrier local_array private_array"
    ),
}
# Public modules that are read in the same way.
MODULES = (
    "algorithm",
    "compat",
    "cython",
    "fft",
    "gl",
    "lib",
    "linalg",
    "ndimage",
    "notebook",
    "plot",
    "polynomial",
    "random",
    "scipy",
    "signal",
    "sparse",
    "vulkan",
)
# Such that need another library, and so are not among what `dir` lists, which tools read one by one.
ON_OTHERS = ("dask", "mpi", "zarr")
# What `%load_ext pardo` and `%unload_ext pardo` ask for, and nobody else.
OF_IPYTHON = {"load_ipython_extension": "load", "unload_ipython_extension": "unload"}
# Files that modules below them ask for, by a word (_base/face.py).
ASKED_FOR = {
    "arrays of Vulkan": "pardo._vulkan.sharing",
    "arrays of processes": "pardo._ipc.sharing",
    "arrays of records": "pardo._records.making",
    "functions of records": "pardo._records.table",
    "pictures in notebooks": "pardo._pictures.in_notebooks",
    "pictures of split arrays": "pardo._sharding.pictures",
    "random numbers in loops": "pardo._random.in_loops",
}
# Files whose classes users meet, public or not.
SHOWN = ("pardo._array.", "pardo._base.memory", "pardo._base.notebook", "pardo._runtime.", "pardo._ufunc.")
# The names that modules had while all was in one folder; those whose functions and classes may be in pickles.
# `a+b`: what b defines was in a.
FORMER = {
    "_array": "creation+ranges described:array_interface elementwise info:inspection interop joining linalg:products "
    "manipulation+broadcasting searching sets sorting statistics:reductions+cumulative",
    "_base": "dtypes",
    "_compiler": "structs:classes",
    "_generate": "generators",
    "_kernel": "jit kernels:kernel pickled:pickling program",
    "_language": "atomics groups items:index_space",
    "_random": "rng:generator rng_distributions:distributions rng_stream:stream",
    "_runtime": "devices events memory profile queues",
}
_FILE_OF = {name: file for file, names in FILES.items() for name in names.split()}
_lock = held_lock()  # held while a file is read, which may ask for names itself


def names() -> Iterable[str]:
    """All of them."""
    return _FILE_OF.keys()


def find(name: str, namespace: dict[str, Any], prepare: Callable[[dict[str, Any], ModuleType], None]) -> Any:
    """The function of that name, which stays in the namespace together with its file's others; None if there is no such name."""
    file = _FILE_OF.get(name)
    if file is None:
        return None
    with _lock, Undisturbed():
        if name not in namespace:
            module = importlib.import_module(f"pardo.{file}")
            if name not in namespace:  # it was not asked for while it was read
                prepare(namespace, module)
        return namespace[name]


class _Unread(ModuleType):
    """In place of a module whose file is read when a name of it is used."""

    def __init__(self, name: str, now: str) -> None:
        super().__init__(name)
        self._now = now

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self._now), name)


def answer_to_former_names() -> None:
    """Let pickles of earlier versions find what they name."""
    for package, modules in FORMER.items():
        for words in modules.split():
            old, _, new = words.partition(":")
            name, *parted = (new or old).split("+")
            former, now = f"pardo._{old.partition('+')[0]}", f"pardo.{package}.{name}"
            module = sys.modules[former] = sys.modules.get(now) or _Unread(former, now)
            for other in parted:
                later = sys.modules[f"pardo.{package}.{other}"]
                vars(module).update((public, getattr(later, public)) for public in later.__all__)
