# docs/topics.py: the reference by topic, as NumPy's: which names of `pardo` are on which page.
from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

# File of the page -> title, a line about it, and names. What is in no list is on the page that `HOMES` gives for its folder.
TOPICS: dict[str, tuple[str, str, str]] = {
    "arrays": (
        "The array",
        "The class of arrays, and what arrays of records are.",
        "Array ndarray StructuredArray flatiter dtype newaxis",
    ),
    "creation": (
        "Array creation",
        "From shapes, from other objects, from ranges, from texts and files of the host.",
        (
            "array asarray asanyarray asarray_chkfinite ascontiguousarray asfortranarray require copy empty empty_like ones "
            "ones_like zeros zeros_like full full_like eye identity tri vander arange linspace logspace geomspace fromfunction "
            "meshgrid mgrid ogrid frombuffer fromiter from_dlpack asnumpy indices"
        ),
    ),
    "manipulation": (
        "Array manipulation",
        "Shapes, axes, joining, splitting, repeating, adding and removing elements.",
        (
            "append array_split astype atleast_1d atleast_2d atleast_3d block broadcast broadcast_arrays broadcast_shapes "
            "broadcast_to column_stack concat concatenate copyto delete dsplit dstack expand_dims flip fliplr flipud hsplit hstack "
            "insert matrix_transpose moveaxis ndim pad permute_dims ravel repeat reshape resize roll rollaxis rot90 row_stack shape "
            "size split squeeze stack swapaxes tile transpose trim_zeros unstack vsplit vstack may_share_memory shares_memory"
        ),
    ),
    "indexing": (
        "Indexing",
        "Places of elements, elements of places, and assignment.",
        (
            "argwhere c_ choose compress diag diag_indices diag_indices_from diagflat diagonal extract fill_diagonal flatnonzero "
            "index_exp ix_ mask_indices ndenumerate ndindex nonzero place put put_along_axis putmask r_ ravel_multi_index s_ select "
            "take take_along_axis tril tril_indices tril_indices_from triu triu_indices triu_indices_from unravel_index where"
        ),
    ),
    "mathematics": (
        "Mathematical functions",
        "Elementwise: arithmetic, exponentials, trigonometric functions, rounding, complex numbers, differences.",
        (
            "abs absolute acos acosh add angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh around asin asinh atan atan2 "
            "atanh cbrt ceil clip conj conjugate convolve copysign correlate cos cosh cross deg2rad degrees diff divide divmod "
            "ediff1d exp exp2 expm1 fabs fix float_power floor floor_divide fmax fmin fmod frexp gcd gradient heaviside hypot i0 "
            "imag interp lcm ldexp log log10 log1p log2 logaddexp logaddexp2 maximum minimum mod modf multiply nan_to_num negative "
            "nextafter positive pow power rad2deg radians real real_if_close reciprocal remainder rint round sign signbit sin sinc "
            "sinh spacing sqrt square subtract tan tanh trapezoid true_divide trunc unwrap"
        ),
    ),
    "logic": (
        "Logic and comparisons",
        "Truth, tests of values, comparisons of elements and of arrays.",
        (
            "all allclose any array_equal array_equiv equal greater greater_equal iscomplex iscomplexobj isclose isfinite isfortran "
            "isinf isnan isneginf isposinf isreal isrealobj isscalar iterable less less_equal logical_and logical_not logical_or "
            "logical_xor not_equal"
        ),
    ),
    "bits": (
        "Bits",
        "Operations on the bits of integers.",
        (
            "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor "
            "invert left_shift packbits right_shift unpackbits binary_repr"
        ),
    ),
    "products": (
        "Products and sums of products",
        "Of vectors and matrices; `pardo.linalg` has the rest of linear algebra.",
        "dot einsum einsum_path inner kron matmul matvec outer tensordot trace vdot vecdot vecmat",
    ),
    "statistics": (
        "Sums, statistics and histograms",
        "Reductions, running sums, averages, quantiles, counts.",
        (
            "amax amin average bincount corrcoef count_nonzero cov cumprod cumsum cumulative_prod cumulative_sum digitize histogram "
            "histogram2d histogram_bin_edges histogramdd max mean median min nanargmax nanargmin nancumprod nancumsum nanmax "
            "nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar percentile prod ptp quantile std sum "
            "var"
        ),
    ),
    "sorting": (
        "Sorting, searching and sets",
        "Orders, places of extremes, values that are there once or in both.",
        (
            "argmax argmin argpartition argsort intersect1d isin lexsort partition searchsorted setdiff1d setxor1d sort "
            "sort_complex top_k union1d unique unique_all unique_counts unique_inverse unique_values TopK UniqueAllResult "
            "UniqueCountsResult UniqueInverseResult"
        ),
    ),
    "polynomials": (
        "Polynomials and windows",
        "Polynomials by their coefficients; `pardo.polynomial` has series and classes.",
        "bartlett blackman hamming hanning kaiser poly poly1d polyadd polyder polydiv polyfit polyint polymul polysub polyval roots",
    ),
    "functional": (
        "Functions of functions, and universal functions",
        "What applies or makes functions on arrays.",
        "apply_along_axis apply_over_axes elementwise piecewise reduction scan ufunc vectorize",
    ),
    "files": (
        "Files and texts",
        "Reading and writing files, and how arrays are printed.",
        (
            "array2string array_repr array_str base_repr format_float_positional format_float_scientific fromfile fromregex "
            "fromstring genfromtxt get_printoptions load loadtxt printoptions save savetxt savez savez_compressed set_printoptions"
        ),
    ),
    "dtypes": (
        "Data types",
        "What arrays hold, and how operations choose.",
        (
            "bfloat16 bool bool_ byte can_cast cdouble common_type complex128 complex64 complexfloating csingle double finfo float16 "
            "float32 float64 FloatInfo floating generic half iinfo inexact int16 int32 int64 int8 int_ intc integer IntegerInfo intp "
            "isdtype issubdtype long longlong min_scalar_type mintypecode number promote_types result_type short signedinteger "
            "single typename ubyte uint uint16 uint32 uint64 uint8 uintc uintp ulong ulonglong unsignedinteger ushort"
        ),
    ),
    "errors": (
        "Errors and warnings",
        "Exceptions, and floating-point errors.",
        "CompileError DeviceError DeviceNotFoundError ExecutionPlacementError RaceError errstate geterr geterrcall seterr seterrcall",
    ),
    "kernels": (
        "Loops and kernels",
        "What compiles Python functions, launches them, and what is written in them.",
        (
            "jit prange kernel call_kernel call_kernel_async func Program export load_program SavedProgram struct offload Const "
            "Range NdRange Item NdItem Group SubGroup LocalAccessor local_array private_array get_global_id get_global_size "
            "get_group_id get_local_id get_local_size get_num_groups group_barrier atomic atomic_fence AtomicRef Image SampledImage "
            "Sampler"
        ),
    ),
    "groups": (
        "Functions of groups",
        "What the items of a group or sub-group compute together, in kernels.",
        (
            "all_of_group any_of_group exclusive_scan_over_group group_broadcast inclusive_scan_over_group none_of_group "
            "permute_group_by_xor reduce_over_group select_from_group shift_group_left shift_group_right"
        ),
    ),
    "devices": (
        "Devices, queues and events",
        "Where arrays are and work runs, in which order, and waiting for it.",
        (
            "Context Device Event Platform Queue UserEvent Timer as_completed device_context get_devices get_num_devices "
            "get_platforms select_device set_default_device wait wait_all wait_any force"
        ),
    ),
    "memory": (
        "Memory and copies",
        "Memory of devices, its limits, copies between the host and devices.",
        (
            "MemoryDevice MemoryHost MemoryShared MemoryStats allow_implicit_copies data enter_data exit_data is_present "
            "memory_stats reset_memory_peak set_allocator set_memory_limit transfer_guard trim_memory update_from update_to"
        ),
    ),
    "inspection": (
        "Plans, counters, profiles and pictures",
        "What will run, what ran, how long it took, and what arrays look like.",
        "LiveView Profile counters explain get_include live profile show show_config",
    ),
    "constants": (
        "Constants",
        "Numbers.",
        "e euler_gamma inf nan pi",
    ),
}
# Of names that are in no list yet, by the folder or file that defines them.
HOMES = {
    "_functions": "manipulation",
    "_analysis": "statistics",
    "_array": "manipulation",
    "_compiler": "kernels",
    "_cython": "kernels",
    "_data": "memory",
    "_debug": "kernels",
    "_generate": "functional",
    "_host": "files",
    "_kernel": "kernels",
    "_saving": "kernels",
    "_language": "kernels",
    "_offload": "kernels",
    "_polynomials": "polynomials",
    "_pictures": "inspection",
    "_records": "arrays",
    "_runtime": "devices",
}


def home_of(name: str, value: Any) -> str:
    """The page of a name that no list has."""
    from pardo import _names

    file = _names._FILE_OF.get(name)
    if file is None:
        code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
        file = code.co_filename.rpartition("pardo/")[2] if code else ""
    return HOMES.get(file.replace("/", ".").partition(".")[0], "mathematics")


def pages() -> dict[str, list[str]]:
    """The public names of each page, in alphabetical order; every name is on one."""
    import pardo

    public = [name for name in dir(pardo) if not name.startswith("_") and not inspect.ismodule(getattr(pardo, name))]
    page_of = {name: page for page, (_, _, names) in TOPICS.items() for name in names.split()}
    found: dict[str, list[str]] = {page: [] for page in TOPICS}
    for name in sorted(public, key=str.lower):
        found[page_of.get(name) or home_of(name, getattr(pardo, name))].append(name)
    return found


def lines_of(page: str, names: list[str]) -> Iterator[str]:
    """The page's text: a table with a line for each name, which has a page of its own; other names of the same things below."""
    import pardo

    title, about, _ = TOPICS[page]
    described, plain, aliases, numpys = [], [], [], []
    for name in names:
        value = getattr(pardo, name)
        if inspect.isclass(value) and value.__module__.startswith("numpy"):
            plain.append(name)
        elif inspect.isclass(value) and value.__name__ != name:
            aliases.append(f"`{name}` is another name of `{value.__name__}`.")
        elif not callable(value):
            plain.append(name)
        elif value.__module__ == "numpy" and inspect.isfunction(value):
            numpys.append(name)
        else:
            described.append(name)
    yield from (f"# {title}", "", about, "")
    if described:
        yield from ("```{eval-rst}", ".. currentmodule:: pardo", "", ".. autosummary::", "   :toctree: .", "")
        yield from (f"   {name}" for name in described)
        yield from ("```", "")
    if plain:
        yield from (", ".join(f"`{name}`" for name in plain) + ("" if described else " are NumPy's, or numbers") + ".", "")
    if aliases:
        yield from (" ".join(aliases), "")
    if numpys:
        links = [f"[`{name}`](https://numpy.org/doc/stable/reference/generated/numpy.{name}.html)" for name in numpys]
        yield from (f"Functions that are NumPy's own, as they have to do with dtypes and text only: {', '.join(links)}.", "")


def described(names: list[str]) -> set[str]:
    """Those that get a page of their own."""
    import pardo

    return {
        name
        for name in names
        if callable(value := getattr(pardo, name))
        and not (inspect.isclass(value) and (value.__module__.startswith("numpy") or value.__name__ != name))
        and not (value.__module__ == "numpy" and inspect.isfunction(value))
    }
