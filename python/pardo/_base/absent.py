# python/pardo/_base/absent.py: names that are not here, and what takes their place: for messages, and NumPy's for the documents.
from __future__ import annotations

import functools
import opcode
import os
import re
import sys

from pardo._base import face
from pardo._base.package import FOLDER, owns

_ABSENT = {
    "asmatrix bmat matrix": "there are no matrices apart from arrays: use arrays of two dimensions and the operator @",
    "busday_count busday_offset busdaycalendar datetime64 datetime_as_string datetime_data is_busday isnat timedelta64": (
        "there are no dates: keep them in NumPy, and compute with x.view('int64')"
    ),
    "ma": "there are no masked arrays: use where= of functions, pardo.where, or NaN and the functions that leave it out, as pardo.nanmean",
    "rec recarray record void flexible": "use structured arrays: pardo.zeros(3, dtype=[('a', 'f8'), ('b', 'i4')]), and x['a'] for a field",
    "object_ str_ bytes_ char character strings": "arrays hold numbers and bools: keep text and objects in NumPy or lists",
    "longdouble clongdouble complex256 float128": "float64 and complex128 are the widest: use these, or NumPy",
    "memmap": "use pardo.load and pardo.fromfile, or pardo.asarray of a numpy.memmap",
    "frompyfunc": "arrays have no Python objects for elements: use pardo.vectorize, which compiles the function",
    "nditer nested_iters": (
        "elements are not visited one by one: use operations on whole arrays, pardo.jit for loops, or pardo.ndenumerate for few elements"
    ),
    "info": "use help(x)",
    "test": "`python -m pardo` tests each device",
    "show_runtime": "use pardo.show_config()",
    "getbufsize setbufsize": "nothing is buffered",
    "ctypeslib f2py": "use pardo/c_api.h, whose folder is pardo.get_include(), or DLPack",
    "True_ False_": "use True and False",
    "ScalarType sctypeDict typecodes little_endian dtypes exceptions typing": "use numpy.{name}: it has nothing to do with devices",
    "emath": "use arrays of complex numbers: pardo.sqrt(x.astype('complex128'))",
    "testing": "use numpy.testing with arrays that pardo.asnumpy gives",
    "core": "use numpy.{name}, if at all: these are the inside of NumPy",
}
REASONS = {name: reason.replace("{name}", name) for names, reason in _ABSENT.items() for name in names.split()}


# What others call what is here, or has another place: names that NumPy had, and those of Numba, CuPy, PyTorch, JAX, PyOpenCL.
_OTHERS = {
    "trapz": "it is pardo.trapezoid, as in NumPy 2",
    "in1d": "it is pardo.isin, as in NumPy 2; of a flat array it gives a flat one",
    "product": "it is pardo.prod, as in NumPy 2",
    "cumproduct": "it is pardo.cumprod, as in NumPy 2",
    "sometrue": "it is pardo.any, as in NumPy 2",
    "alltrue": "it is pardo.all, as in NumPy 2",
    "imshow": "it is pardo.show(x); for axes give pardo.asnumpy(x), or pardo.plot.pixels(x), to matplotlib's imshow",
    "round_": "it is pardo.round, as in NumPy 2",
    "msort": "use pardo.sort(x, axis=0)",
    "mat": "there are no matrices apart from arrays: use arrays of two dimensions and the operator @",
    "asfarray": "use pardo.asarray(x, dtype='float64')",
    "find_common_type": "use pardo.result_type",
    "float": "use Python's float, or pardo.float64",
    "int": "use Python's int, or pardo.int64",
    "complex": "use Python's complex, or pardo.complex128",
    "float_": "it is pardo.float64, as in NumPy 2",
    "complex_": "it is pardo.complex128, as in NumPy 2",
    "singlecomplex": "it is pardo.complex64, as in NumPy 2",
    "cfloat clongfloat": "it is pardo.complex128",
    "longfloat": "float64 is the widest: use pardo.float64",
    "Inf Infinity infty PINF": "it is pardo.inf, as in NumPy 2",
    "NINF": "use -pardo.inf, as in NumPy 2",
    "NaN NAN": "it is pardo.nan, as in NumPy 2",
    "recfromcsv recfromtxt": "use pardo.genfromtxt, as in NumPy 2",
    "njit": "it is pardo.jit; programs with Numba's names run with `import pardo.compat.numba as numba`",
    "guvectorize": "use pardo.vectorize with signature=, or pardo.compat.numba.guvectorize",
    "cfunc stencil jitclass": "pardo has no such decorator; write the loop, with pardo.prange, into a function with pardo.jit",
    "typed types List Dict": "loops of pardo.jit take arrays, numbers and tuples, and keep lists of numbers; other objects stay Python",
    "objmode": "what pardo.jit cannot compile stays Python by itself",
    "set_num_threads get_num_threads threading_layer config": "PARDO_NUM_THREADS=4 in the environment sets the number of threads",
    "cuda roc": (
        "devices are chosen by name, and arrays carry theirs: pardo.asarray(x, device='cuda'); "
        "kernels for all devices are written with pardo.kernel: see the guide 'Coming from Numba'"
    ),
    "cpu gpu": "devices are chosen by name, as in pardo.asarray(x, device={name!r}); pardo.get_devices() lists them",
    "devices list_devices": "use pardo.get_devices()",
    "device": "use pardo.Device('gpu'), the keyword device= of functions that make arrays, or pardo.device_context",
    "get_default_device default_device": "it is pardo.Device(); pardo.set_default_device changes it",
    "device_count": "use pardo.get_num_devices()",
    "is_available": "use pardo.get_num_devices('gpu') > 0",
    "synchronize": "use pardo.wait(), or x.wait() and event.wait()",
    "tensor as_tensor from_numpy Tensor FloatTensor DoubleTensor": "use pardo.asarray",
    "no_grad inference_mode autograd nn": "pardo has neither derivatives nor networks; torch.from_dlpack(x) shares an array's memory",
    "manual_seed": "it is pardo.random.seed, or better pardo.random.default_rng(seed)",
    "device_put": "use pardo.asarray(x, device=…) or x.to_device(…)",
    "device_get to_numpy get": "use pardo.asnumpy(x)",
    "block_until_ready": "use x.wait()",
    "compile": "use pardo.jit for loops; operations on whole arrays are fused by themselves",
    "fuse": "operations on whole arrays are fused by themselves; pardo.explain(x) shows how",
    "vmap pmap grad value_and_grad": "pardo does not transform functions; use operations on whole arrays, or loops over pardo.prange",
    "ElementwiseKernel": "it is pardo.elementwise",
    "ReductionKernel": "it is pardo.reduction",
    "RawKernel RawModule": "it is pardo.Program, for text in the language of the device",
    "get_array_module": "use x.__array_namespace__()",
    "get_default_memory_pool get_default_pinned_memory_pool": "use pardo.memory_stats(), pardo.set_memory_limit and pardo.trim_memory",
    "scatter_add": "use pardo.add.at(x, indices, values)",
    "CommandQueue SyclQueue Stream": "it is pardo.Queue",
    "SyclDevice": "it is pardo.Device",
    "create_some_context": "it is pardo.Context, which is seldom needed: arrays and kernels ask for a device or a pardo.Queue",
    "ElementwiseFunction": "it is pardo.elementwise",
}
_OPTIONS_OF_NUMBA = (
    "it is Numba's, and not needed: loops over pardo.prange are parallel, programs are kept on disk, and what cannot be compiled stays "
    "Python, or is refused with strict=True; leave it out, or `import pardo.compat.numba as numba`, which takes it"
)
# Keywords of functions, of which others have those that are not here; "" is any function.
_KEYWORDS = {
    "jit": {"nopython parallel cache nogil forceobj looplift inline error_model locals debug boundscheck target": _OPTIONS_OF_NUMBA},
    "kernel": {
        "device": "functions that kernels call need no decorator",
        "max_registers cache debug opt lineinfo link": "it is Numba's, and not needed; leave it out",
    },
    "": {"dim": "the keyword is axis", "keepdim": "the keyword is keepdims", "stream": "the keyword is queue"},
}
# What arrays of other libraries have, and NumPy's had, and these have not.
_OF_ARRAYS = {
    "numpy copy_to_host": "use pardo.asnumpy(x)",
    "cpu cuda gpu": "use x.to_device({name!r})",
    "to": "use x.to_device(device) or x.astype(dtype)",
    "copy_to_device": "use pardo.asarray(x, device=…), or y[...] = x",
    "ptp": "use pardo.ptp(x), as in NumPy 2",
    "itemset": "write x[index] = value, as in NumPy 2",
    "newbyteorder": "arrays have the byte order of the machine",
    "block_until_ready": "use x.wait()",
    "numel": "use x.size",
    "clone": "use x.copy()",
    "permute": "use x.transpose(…)",
    "unsqueeze": "use pardo.expand_dims(x, axis)",
    "contiguous": "use pardo.ascontiguousarray(x)",
}
OF_ARRAYS = {name: text.replace("{name!r}", repr(name)) for names, text in _OF_ARRAYS.items() for name in names.split()}
# What functions of keywords alone are not, where arguments are given by their places.
BY_PLACE = {"select_device": "it takes required= and excluded=; by name it is pardo.Device('gpu')"}
_OF_SCIPY = "pardo has no such function; use scipy.{module}.{name} on pardo.asnumpy(x)"
_IN_SCIPY = "it is pardo.scipy.linalg.{name}, as it is SciPy's and not NumPy's"
# The same by modules; where a row has "*", that is said of names that no row has.
_IN_MODULES = {
    "linalg": {
        "cho_factor cho_solve expm lu lu_factor lu_solve solve_banded solve_toeplitz solve_triangular solveh_banded toeplitz": _IN_SCIPY,
        "block_diag circulant companion cosm coshm hadamard hankel hessenberg hilbert invhilbert ldl logm null_space orth polar qz "
        "rq schur signm sinhm sinm solve_sylvester sqrtm subspace_angles tanhm tanm": "pardo has no such function; use "
        "scipy.linalg.{name} on pardo.asnumpy(x)",
        "dot": "it is pardo.dot",
    },
    "scipy.linalg": {"*": "it may be in pardo.linalg, which has NumPy's names; else use scipy.linalg.{name} on pardo.asnumpy(x)"},
    "scipy": {
        "*": "pardo has no such module; use scipy.{name} on pardo.asnumpy(x)",
        "fft ndimage signal sparse special": "it is pardo.{name}",
        "stats optimize integrate interpolate spatial cluster io": "pardo has no such module; use scipy.{name} on pardo.asnumpy(x)",
    },
    "sparse": {
        "csr_matrix": "it is pardo.sparse.csr_array: SciPy's newer class, where * is element-wise and @ is the product of matrices",
        "csc_matrix": "it is pardo.sparse.csc_array: SciPy's newer class, where * is element-wise and @ is the product of matrices",
        "coo_matrix": "it is pardo.sparse.coo_array: SciPy's newer class, where * is element-wise and @ is the product of matrices",
        "bsr_array bsr_matrix dia_array dia_matrix dok_array dok_matrix lil_array lil_matrix": (
            "pardo has coo_array, csr_array and csc_array; build with coo_array((values, (rows, columns)), shape), or convert SciPy's"
        ),
        "spmatrix": "it is pardo.sparse.sparray",
        "isspmatrix": "it is pardo.sparse.issparse",
        "eye identity": "it is pardo.sparse.eye_array",
        "diags spdiags": "it is pardo.sparse.diags_array",
        "rand random": "it is pardo.sparse.random_array",
        "bmat": "it is pardo.sparse.block_array",
        "linalg csgraph": "pardo has no such module; use scipy.sparse.{name} with SciPy's matrices",
        "load_npz save_npz": "use scipy.sparse.{name} with SciPy's matrices, which pardo.sparse.csr_array takes",
    },
    "ndimage": {
        "binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss binary_opening binary_propagation black_tophat "
        "center_of_mass distance_transform_bf distance_transform_cdt distance_transform_edt extrema find_objects fourier_ellipsoid "
        "fourier_gaussian fourier_shift fourier_uniform generate_binary_structure generic_filter generic_filter1d geometric_transform "
        "grey_closing grey_dilation grey_erosion grey_opening histogram iterate_structure label labeled_comprehension "
        "morphological_gradient morphological_laplace standard_deviation sum_labels value_indices variance vectorized_filter watershed_ift "
        "white_tophat": _OF_SCIPY,
    },
    "random": {
        "PCG64 PCG64DXSM MT19937 SFC64 BitGenerator": "pardo's bit generator is pardo.random.Philox, the same on all devices",
        "PRNGKey key split fold_in": "use pardo.random.default_rng(seed), or pardo.random.philox with a counter and a key in kernels",
        "manual_seed": "it is pardo.random.seed, or better pardo.random.default_rng(seed)",
    },
    "fft": {"fht ifht": _OF_SCIPY, "set_workers get_workers": "pardo's threads are those of its device; PARDO_NUM_THREADS sets how many"},
    "polynomial": {"poly1d": "it is pardo.poly1d", "*": "numpy.polynomial has it, if at all"},
    "plot": {"*": "axes, texts and windows are those of other libraries, as matplotlib, which take pardo.asnumpy(x)"},
    "lib": {"*": "the rest of numpy.lib is the inside of NumPy"},
    "compat": {
        "*": "there are dpctl, dpnp, numba, numba_dpex and pyopencl",
        "cupy torch": "pardo's own names are NumPy's: `import pardo as cupy` may do",
    },
}
_MODULES_OF_SCIPY = {"fft", "ndimage", "signal", "sparse", "special"}
# Modules that have what is asked for elsewhere, in this order.
_SEARCHED = ("linalg", "fft", "random", "special", "signal", "ndimage", "scipy.linalg", "sparse", "algorithm")


def reason(name: str) -> str:
    """What to do in place of asking for a name that is not here; empty for a name that is not NumPy's either."""
    return REASONS.get(name, "")


def missing(module: str, name: str) -> AttributeError | ImportError:
    """The exception for a name that a public module does not have."""
    told = _told(module, name)
    reason = told or _elsewhere(module, name) or _in_general(module, name)
    whole = "__path__" not in vars(sys.modules[module])  # in a package it may be a module that is imported next
    return unknown(module, name, reason, bool(told or (reason and whole)))


def unknown(module: str, name: str, reason: str, told: bool) -> AttributeError | ImportError:
    """The exception; for an import statement, which would say nothing of the reason, the one that it raises, if the name is `told` of."""
    if told and _is_imported():
        return ImportError(f"cannot import name {name!r} from {module!r}: {reason}", name=name, path=sys.modules[module].__file__)
    what = f"module {module!r} has no attribute {name!r}" + (f": {reason}" if reason else "")
    return AttributeError(what, name=name, obj=sys.modules[module])


def keyword(function: str, name: str) -> str:
    """What to say of a keyword that a function does not take; empty for one that is not others' either."""
    rows = (*_KEYWORDS.get(function, {}).items(), *_KEYWORDS[""].items())
    return next((text for names, text in rows if name in names.split()), "")


def _told(module: str, name: str) -> str:
    """What the tables say."""
    inner = module.removeprefix("pardo").removeprefix(".")
    if not inner and (found := reason(name)):
        return found
    table = _IN_MODULES.get(inner, {}) if inner else _OTHERS
    text = next((text for names, text in table.items() if name in names.split()), "")
    return text.replace("{name!r}", repr(name)).replace("{name}", name).replace("{module}", inner)


def _in_general(module: str, name: str) -> str:
    inner = module.removeprefix("pardo").removeprefix(".")
    if name.startswith("__"):
        return ""
    if inner in _MODULES_OF_SCIPY:
        return f"dir({module}) lists what there is; what only SciPy has takes pardo.asnumpy(x)"
    return _IN_MODULES.get(inner, {}).get("*", "").replace("{name}", name)


def _elsewhere(module: str, name: str) -> str:
    """Where else the package has it."""
    if name.startswith("_"):
        return ""
    package = face.namespace()
    if module != "pardo" and name in package.__dir__():
        return f"it is pardo.{name}"
    found = next((other for other in _SEARCHED if f"pardo.{other}" != module and name in _names_of(other)), None)
    return f"it is pardo.{found}.{name}" if found else ""


@functools.cache
def _names_of(module: str) -> frozenset[str]:
    """The public names of a module, which is not imported for that."""
    with open(os.path.join(FOLDER, *module.split(".")) + ".py", encoding="utf-8") as file:
        listed = re.search(r"^__all__ = \[(.*?)\]", file.read(), re.DOTALL | re.MULTILINE)
    return frozenset(re.findall(r'"(\w+)"', listed[1] if listed else ""))


def _is_imported() -> bool:
    """Whether the user's line is ``from pardo import …``."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "_handle_fromlist" and code.co_filename.startswith("<frozen importlib"):
            return True
        if not owns(code.co_filename):
            return code.co_code[frame.f_lasti] == opcode.opmap["IMPORT_FROM"]
        frame = frame.f_back  # type: ignore[assignment]
    return False
