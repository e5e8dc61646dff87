# python/pardo/_base/docstrings.py: what many docstrings say in the same words, once.
from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TypeVar

_TEXTS = {
    "axes": """\
axis : int or tuple of int, optional
    The axes that are reduced. Default: all. Of an array without dimensions, 0 and -1 mean the one element.""",
    "axis": """\
axis : int or tuple of int, optional
    The axes that are reduced. Default: all.""",
    "flat_axis": """\
axis : int, optional
    The axis; None flattens the array first.""",
    "out": """\
out : Array, optional
    Where the result is stored; of the result's shape, and of a dtype that it can be cast to within the same kind.""",
    "out_back": """\
out : Array, optional
    Where the result is stored; of the result's shape, and of a dtype that it can be cast to within the same kind, or that can be cast to
    the result's without loss.""",
    "out_cast": """\
out : Array, optional
    Where the result is stored; of the result's shape. Its elements are cast to the dtype, whatever that is.""",
    "keepdims": """\
keepdims : bool
    Whether reduced axes stay, with extent 1.""",
    "matrix_axes": """\
axes : list of tuple of int, optional
    The axes of the matrices or vectors in each operand, and in the result.
axis, keepdims : optional
    NumPy's; only for products of vectors with vectors.""",
    "where": """\
where : Array of bool, optional
    The elements that take part, broadcast to `x`.""",
    "initial": """\
initial : number, optional
    Takes part as one more element.""",
    "kind": """\
kind : str, optional
    NumPy's choice of algorithm; all of them give the same result.""",
    "sequences": """\
a, v : Array
    The sequences; one may be a list or a NumPy array.""",
    "sequence_errors": """\
TypeError
    Neither sequence is an Array or a number.
ValueError
    A sequence is empty or has more than one dimension, or `mode` is something else.""",
    "order_of_fields": """\
order : str or list of str, optional
    Which fields of records are compared first; an error for numbers.""",
    "fft_n": """\
n : int, optional
    How many points are transformed: what is longer is cut off, and what is shorter is filled up with zeros. Default: all.""",
    "fft_half_n": """\
n : int, optional
    The length of the axis in the result. `a` is cut off or filled up with zeros to ``n // 2 + 1`` points. Default:
    ``2 * (m - 1)`` for `m` points.""",
    "fft_axis": """\
axis : int
    The axis.""",
    "fft_s": """\
s : sequence of int, optional
    How many points are transformed along each axis: what is longer is cut off, and what is shorter is filled up with zeros. -1 means
    all. Default: all.""",
    "fft_half_s": """\
s : sequence of int, optional
    The extents of the axes in the result; `a` is cut off or filled up with zeros to them, along the last axis to ``s[-1] // 2 + 1``. -1
    means as many as `a` has. Default: those, and ``2 * (m - 1)`` for `m` points along the last axis.""",
    "fft_axes": """\
axes : sequence of int, optional
    The axes; one that is named again is transformed again. Default: all. To give `s` without them is deprecated, as in NumPy, and means
    the last ones.""",
    "fft_two_axes": """\
axes : sequence of int
    The axes; one that is named again is transformed again.""",
    "fft_norm": """\
norm : {'backward', 'ortho', 'forward'}, optional
    Whether the inverse transform is divided by the number of points, both transforms are divided by its square root, or the forward one is
    divided by it. Default: 'backward'.""",
    "fft_raises": """\
AxisError
    `a` has no such axis; a ValueError and an IndexError.
TypeError
    `a` is neither an Array nor a number, or complex where it should be real; `n` or `axis` is not an integer, or `out` is not an Array
    or of a dtype of another kind.
ValueError
    `n` is less than one, `norm` is something else, or the shape of `out` does not fit.""",
    "fftn_raises": """\
AxisError
    `a` has no such axis; a ValueError and an IndexError.
TypeError
    `a` is neither an Array nor a number, or complex where it should be real; `s` or `axes` is not a sequence of integers, or `out` is
    not an Array or of a dtype of another kind.
ValueError
    An extent is less than one, `s` and `axes` differ in length, `norm` is something else, or the shape of `out` does not fit.""",
    "fft_notes": """\
ducc0 (M. Reinecke) computes it on the CPU, along all axes at once, in time proportional to ``n log(n)`` for any length `n`, cuFFT on
NVIDIA's GPUs, where it is installed, and VkFFT (D. Tolmachev) on others by OpenCL. The error is a few units in the last place of the
largest value. Devices without such a library get the CPU's transform on copies, which `pardo.counters()`
counts and `transfer_guard` sees.""",
    "cosine_s": """\
s : int or sequence of int, optional
    How many points are transformed along each axis: what is longer is cut off, and what is shorter is filled up with zeros. -1 means
    all. Default: all.""",
    "cosine_axes": """\
axes : int or sequence of int, optional
    The axes. Default: all, or as many of the last ones as `s` has extents.""",
    "cosine_norm": """\
norm : {'backward', 'ortho', 'forward'}, optional
    Whether the inverse transform is divided by twice the number of points (of type 1: by twice the number less or plus one), both
    transforms are divided by its square root, or the forward one is divided by it. Default: 'backward'.""",
    "orthogonalize": """\
orthogonalize : bool, optional
    Whether terms are scaled by the square root of two where that makes the transform orthogonal. Default: with ``norm='ortho'``.""",
    "cosine_raises": """\
AxisError
    `x` has no such axis; a ValueError and an IndexError.
TypeError
    `x` is neither an Array nor a number, or `type`, `n` or `axis` is not an integer.
ValueError
    `n` is less than one, or less than two for a cosine transform of type 1, or `type` or `norm` is something else.""",
    "cosine_n_raises": """\
AxisError
    `x` has no such axis; a ValueError and an IndexError.
TypeError
    `x` is neither an Array nor a number, or `type`, `s` or `axes` is not made of integers.
ValueError
    An extent is less than one, or less than two for a cosine transform of type 1, an axis is named twice, `s` and `axes` differ in
    length, or `type` or `norm` is something else.""",
    "cosine_notes": """\
ducc0 (M. Reinecke) computes it on the CPU; other devices get that on copies, which `pardo.counters()` counts and `transfer_guard` sees.
SciPy's `overwrite_x` and `workers` are not taken: the input stays as it is, and the device's threads work.""",
    "no_axis": """\
AxisError
    `x` has no such axis; a ValueError and an IndexError.""",
    "reduction_raises": """\
AxisError
    `x` has no such axis; a ValueError and an IndexError.
TypeError
    `x` is neither an Array nor a number, an axis is not an integer, `where` is not of bools, or `out` is not an Array.
ValueError
    An axis is given twice, or the shape of `out` or `where` does not fit.""",
    "cumulative_raises": """\
AxisError
    `x` has no such axis; a ValueError and an IndexError.
TypeError
    `x` is neither an Array nor a number, `axis` is not an integer, or `out` is not an Array.
ValueError
    The shape of `out` does not fit.""",
    "sort_raises": """\
AxisError
    `x` has no such axis; a ValueError and an IndexError.
TypeError
    `x` is neither an Array nor a number, or something that should be an integer is none.
ValueError
    `kind` is something else.""",
    "not_an_array": """\
TypeError
    `x` is neither an Array nor a number.""",
    "shape": """\
shape : int or sequence of int
    Extent of each dimension.""",
    "default_dtype": """\
dtype : data type, optional
    Default: float64; float32 on a device that has no float64.""",
    "by_rows": """\
order : {'C', 'F'}
    Whether the elements lie in memory in row-major or in column-major order.""",
    "device": """\
device : Device or str, optional
    Default: the default device.""",
    "queue_and_memory": """\
queue : Queue, optional
    A queue of the device, in place of `device`.
usm_type : {'device', 'shared', 'host'}, optional
    The kind of memory. Default: 'device'.""",
    "size": """\
size : int or sequence of int, optional
    The shape. Default: one number, as an array without dimensions.""",
    "float_draw": """\
dtype : {float64, float32}, optional
    Default: float64; float32 on a device that has no float64. The numbers come from 53 random bits, or from 24.""",
    "draw_out": """\
out : Array, optional
    Where the numbers are stored; of this dtype, and on this device.""",
    "drawn_by_parameters": """\
size : int or sequence of int, optional
    The shape. Default: that of the parameters, broadcast against each other.
dtype : {float64, float32}, optional
    Default: float64; float32 on a device that has no float64.
device : Device or str, optional
    Default: that of the parameters if they are arrays, else the default device.
queue : Queue, optional
    A queue of the device, in place of `device`.
usm_type : {'device', 'shared', 'host'}, optional
    The kind of memory. Default: 'device'.""",
    "counted_by_parameters": """\
size : int or sequence of int, optional
    The shape. Default: that of the parameters, broadcast against each other.
device : Device or str, optional
    Default: that of the parameters if they are arrays, else the default device.
queue : Queue, optional
    A queue of the device, in place of `device`.
usm_type : {'device', 'shared', 'host'}, optional
    The kind of memory. Default: 'device'.""",
    "counted_raises": """\
ValueError
    A parameter is out of its range, which an Array tells late, at the next wait; or it has a shape that cannot be broadcast to `size`.
TypeError
    A parameter is not a number or array of its kind, or `size` is neither an integer nor a sequence of integers.""",
    "standard_raises": """\
TypeError
    The dtype is neither float64 nor float32, `out` is not an Array or of another dtype, or `size` is neither an integer nor a
    sequence of integers.
ValueError
    `size` has a negative extent or is not the shape of `out`, `out` is on another device, or no such device exists.""",
    "drawn_raises": """\
ValueError
    A parameter is out of its range, which an Array tells late, at the next wait; or it has a shape that cannot be broadcast to `size`.
TypeError
    A parameter is neither a real number nor an array of them, the dtype is neither float64 nor float32, or `size` is neither an
    integer nor a sequence of integers.""",
    "a": """\
a : Array
    The elements.""",
    "quantile_keywords": """\
axis : int or tuple of int, optional
    The axes that are reduced. Default: all.
out : Array, optional
    Where the result is stored; of the result's shape, and of a dtype that it can be cast to within the same kind.
overwrite_input : bool
    NumPy's; the elements stay as they are.
method : str
    How a quantile between two elements is found: 'inverted_cdf', 'averaged_inverted_cdf', 'closest_observation',
    'interpolated_inverted_cdf', 'hazen', 'weibull', 'linear', 'median_unbiased', 'normal_unbiased' (of Hyndman and Fan), 'lower',
    'higher', 'midpoint', 'nearest'.
keepdims : bool
    Whether reduced axes stay, with extent 1.
weights : Array, optional
    How much each element counts, not negative; of the shape of `a`, or of the extents of the reduced axes. With 'inverted_cdf' only.""",
    "quantile_raises": """\
AxisError
    There is no such axis; a ValueError and an IndexError.
IndexError
    There are no elements.
TypeError
    `a` is neither an Array nor a number, or complex; an axis is not an integer, or `out` is of a dtype of another kind.
ValueError
    `q` is out of its range or has more than two dimensions, `method` is something else, weights are negative, all zero or do not
    fit, an axis is given twice, or the shape of `out` does not fit.""",
    "ufunc_keywords": """\
out : Array, optional
    Where the result is stored; of the result's shape, and of a dtype that it can be cast to within the same kind.
where : Array of bool or bool, optional
    The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
dtype : data type, optional
    The dtype to compute in; operands are cast to it within the same kind.
casting : str, optional
    How operands, and the result with `out`, may be cast: ``'no'``, ``'equiv'``, ``'safe'``, ``'same_kind'``
    or ``'unsafe'``.
order, signature : optional
    Keywords of all universal functions (`ufunc`): how the result lies in memory, and what is computed in, dtype by dtype.""",
    "ufunc_pair_keywords": """\
out : tuple of Array or None, optional
    Where the two results are stored; of the results' shape, and of dtypes that they can be cast to within the same kind.
where : Array of bool or bool, optional
    The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
dtype : data type, optional
    The dtype to compute in; operands are cast to it within the same kind.
casting : str, optional
    How operands, and the result with `out`, may be cast: ``'no'``, ``'equiv'``, ``'safe'``, ``'same_kind'``
    or ``'unsafe'``.
order, signature : optional
    Keywords of all universal functions (`ufunc`): how the result lies in memory, and what is computed in, dtype by dtype.""",
    "ufunc_raises": """\
TypeError
    An operand is neither an Array nor a number, or of a kind that the function is not defined for, `where` is not of bools, or a
    dtype is of another kind.
ValueError
    `casting` is something else, or shapes do not fit.
ExecutionPlacementError
    The operands are on different queues.""",
    "matrix_raises": """\
TypeError
    An operand is neither an Array nor a number, or of float16, which NumPy does not take either.
ImportError
    OpenBLAS is not installed.""",
    "matrix_notes": """\
A stack of matrices is shared out among the threads of the CPU; of one large matrix OpenBLAS does that. On OpenCL and CUDA devices
kernels compute all but `eig`, `eigvals`, banded and Toeplitz systems; where cuSOLVER is installed, it computes matrices of more than 32
rows, and `eig`. For all else operands are copied to the host and results back, which `transfer_guard` sees. An error that the values of a
matrix cause comes when the result is used, and names the line of the call and the place of the matrix in the stack.""",
    "overwrite_a": """\
overwrite_a : bool
    SciPy's; the elements stay as they are.""",
    "overwrite_b": """\
overwrite_b : bool
    SciPy's; the elements stay as they are.""",
    "check_finite": """\
check_finite : bool
    Whether elements that are infinite or NaN are an error, when the result is used.""",
    "check_finite_now": """\
check_finite : bool
    Whether elements that are infinite or NaN are an error, at the call, which waits for them.""",
    "like_keywords": """\
dtype, device, queue, shape, usm_type : optional
    What shall differ from the model.
order : {'K', 'C', 'F', 'A'}
    How the elements lie in memory: 'C' row-major, 'F' column-major, 'A' column-major if those of the model do, 'K' with
    the axes in the order of the model's.""",
    "new_raises": """\
ValueError
    The shape has a negative extent or more than 32 dimensions, the order is not supported, or no such device exists.
TypeError
    The shape is neither an integer nor a sequence of integers, or the dtype is not supported.
MemoryError
    The elements do not fit into the device's memory.""",
    "like_raises": """\
TypeError
    The model is not an array or a number, or the dtype is not supported.
ValueError
    The shape is wrong, the order is not supported, or no such device exists.""",
    "filter_input": """\
input : Array
    The elements, of any dtype and number of dimensions.""",
    "real_filter_input": """\
input : Array
    The elements: bools, integers or floats, of any number of dimensions.""",
    "filter_axis": """\
axis : int
    The axis that is filtered.""",
    "filter_output": """\
output : Array or dtype, optional
    Where the result is stored, of the shape of `input`; or the dtype of the result. May be `input` itself.""",
    "filter_mode": """\
mode : str
    How the array goes on beyond its edges: 'reflect' (``d c b a | a b c d | d c b a``), 'constant' (`cval`), 'nearest' (the last
    element again), 'mirror' (``d c b | a b c d | c b a``) or 'wrap' (``a b c d | a b c d``). 'grid-mirror', 'grid-constant' and
    'grid-wrap' are 'reflect', 'constant' and 'wrap'.""",
    "filter_modes": """\
mode : str or sequence of str
    How the array goes on beyond its edges, along all axes or each: 'reflect' (``d c b a | a b c d | d c b a``), 'constant' (`cval`),
    'nearest' (the last element again), 'mirror' (``d c b | a b c d | c b a``) or 'wrap' (``a b c d | a b c d``). 'grid-mirror',
    'grid-constant' and 'grid-wrap' are 'reflect', 'constant' and 'wrap'.""",
    "filter_cval": """\
cval : number
    What stands beyond the edges with mode 'constant'.""",
    "filter_origin": """\
origin : int
    How far the window is moved to lower indices; by default its element ``size // 2`` stands at the place of the result.""",
    "filter_origins": """\
origin : int or sequence of int
    How far the window is moved to lower indices, along all axes or each; by default its element ``size // 2`` stands at the place of the
    result.""",
    "filter_axes": """\
axes : int or tuple of int, optional
    The axes that are filtered; what is given for each axis belongs to these. Default: all.""",
    "size_and_footprint": """\
size : int or sequence of int, optional
    The extents of the window, along all axes or each.
footprint : array_like, optional
    Which elements of a window take part, in place of `size`: with a dimension for each axis; read on the host.""",
    "filter_raises": """\
TypeError
    `input` is neither an Array nor a number, or another argument is of a type that is not expected.
RuntimeError
    As in SciPy: a mode is not known, a size is less than 1, the shape of `output` or the number of entries or dimensions of an argument
    does not fit.
ValueError
    An origin leaves the window, an axis is given twice or does not exist, or `cval` is complex and `input` is not.""",
    "sums_of_filters": """\
Sums are made in float64 (in float32 on a device without float64), in SciPy's order. A result of integers is truncated towards zero, and
negative results of unsigned integers wrap, as in SciPy.""",
    "axis_after_axis": """\
One axis is filtered after the other, and what is between is stored in the dtype of the result: with integers it is truncated each time.""",
    "ranks_of_nan": """\
A window that holds NaN gives NaN. (SciPy's result depends on the order of the elements.)""",
    "selection": """\
Up to 49 elements are sorted in registers by an odd-even merge sort, as far as the result needs it. Of more elements those below the
middle of an interval of values are counted, and the interval is halved until it is one value.""",
    "convolution_mode": """\
mode : {'full', 'same', 'valid'}
    Whether all sums are returned in which the arrays overlap, as many in the middle as `in1` has, or those where one lies in the other.""",
    "convolution_method": """\
method : {'auto', 'direct', 'fft'}
    How it is computed: by sums of products, by Fourier transforms (`fftconvolve`), or for floats by what takes less time.""",
    "convolution_boundary": """\
boundary : {'fill', 'wrap', 'symm'}
    How `in1` goes on beyond its edges: by `fillvalue`, from the opposite edge, or mirrored.
fillvalue : number
    What stands beyond the edges with 'fill'.""",
    "convolution_raises": """\
ExecutionPlacementError
    The arrays are on different queues.
TypeError
    Neither of the two is an Array or a number.
ValueError
    The numbers of dimensions do not fit, `mode` or another word is something else, or neither array lies in the other with mode
    'valid'.""",
    "products_of_signals": """\
Sums of products, in the dtype of the result: integers are exact, and wrap. Sums of float16 are made in float32.""",
    "signals_by_transforms": """\
Results of Fourier transforms have errors relative to the largest one, are rounded for integers, and are NaN if any element is.""",
    "spline_output": """\
output : Array or dtype, optional
    Where the result is stored, of its shape; or the dtype of the result.""",
    "spline_keywords": """\
order : int
    The degree of the spline, from 0 (the nearest element) to 5.
mode : str
    How the array goes on beyond its edges: 'constant' (`cval`, without interpolation between it and the outermost elements),
    'grid-constant' (with it), 'nearest', 'mirror', 'reflect' or 'grid-mirror', 'grid-wrap', or 'wrap', where the first element stands
    at the place of the last one.
cval : number
    What stands beyond the edges with the modes 'constant' and 'grid-constant'.
prefilter : bool
    Whether the coefficients of the spline are computed from `input` first, for orders above 1; False if `input` has them, by
    `spline_filter`.""",
    "spline_notes": """\
Two recursions along each line for each pole of the filter, in blocks that begin so far before their elements that the difference is less
than 1e-18 (M. Unser, A. Aldroubi, M. Eden, "Fast B-spline transforms for continuous image representation and interpolation", IEEE PAMI
13, 1991).""",
    "interpolation_notes": """\
Values are computed in float64 (in float32 on a device without float64). A result of integers is rounded, half away from zero, and limited
to what the dtype holds, as in SciPy.""",
}

F = TypeVar("F", bound=Callable[..., object])


def filled(f: F, words: dict[str, str] | None = None) -> F:
    """Puts the text in place of each line of the docstring that is a name in braces; `words` wherever they are named."""
    if f.__doc__:  # python -OO has none
        for name, word in (words or {}).items():
            f.__doc__ = f.__doc__.replace(f"{{{name}}}", word)
        f.__doc__ = re.sub(r"(?m)^( *)\{(\w+)\}$", lambda line: _indented(_TEXTS[line[2]], line[1]), f.__doc__)
    return f


def _indented(text: str, pad: str) -> str:
    """The text with each line that is not empty moved in; textwrap.indent takes longer, at each import."""
    return pad + text.replace("\n", f"\n{pad}").replace(f"\n{pad}\n", "\n\n")


def document(summary: str, sections: dict[str, str], depth: int) -> str | None:
    """A docstring made of sections, those that are empty left out, for `filled`; as deep as one that stands in a function."""
    if sys.flags.optimize > 1:  # python -OO leaves out others too
        return None
    text = "\n\n".join([summary, *(f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections.items() if body)])
    pad = "" if sys.version_info >= (3, 13) else " " * depth  # since then the compiler dedents
    return f"{_indented(text, pad).lstrip()}\n{pad}"
