# python/pardo/_base/arguments.py: reads the arguments that many functions share: arrays, axes, shapes, dtypes, devices, out.
from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Iterable, Sequence
from types import FrameType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike
from pardo._base import promotion, records
from pardo._base.package import owns
from pardo._base.promotion import kind_of
from pardo._core import (
    Array,
    Device,
    ExecutionPlacementError,
    Queue,
    _can_cast_same_kind,
    _follow,
    _full,
    _host_operand,
    _in_memory,
    _is_host_data,
    _kind_among,
    _pull,
)

Axis: TypeAlias = int | tuple[int, ...] | None
Shape: TypeAlias = int | Sequence[int]
Scalar: TypeAlias = bool | int | float | complex
DeviceLike: TypeAlias = Device | str | None
HOST = "cpu"  # the device that runs the host's own code

SCALARS = (bool, int, float, complex, np.number, np.bool_)
_DTYPES = {np.dtype(t): np.dtype(t) for t in ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]}
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def array(x: Any, op_name: str) -> Array:
    """The array itself, or a 0-d one of a number. Other values of the host go where the call's arrays are: see `not_an_array`."""
    if type(x) is Array:
        return x
    if isinstance(x, SCALARS) or is_number_of_numpy(x):
        return number(x, None, default_queue(), op_name)
    raise not_an_array(x, op_name)


def is_number_of_numpy(x: Any) -> bool:
    """Whether something is an array of NumPy's without dimensions, or a number of bfloat16, which is not among `SCALARS`: a number with a
    dtype of its own, which is not copied."""
    if type(x) is not np.ndarray:
        return promotion.is_number_of_bfloat16(x)
    return x.ndim == 0 and (x.dtype in _DTYPES or promotion.is_bfloat16(x.dtype))


def not_an_array(x: Any, op_name: str) -> TypeError:
    """The error for an operand that is no array. It keeps values of the host: the call is made again with a copy of them, on the queue of
    its arrays, or on the default one (`pardo._array.contexts.copying`)."""
    if isinstance(x, records.Records):
        return TypeError(f"{op_name}: there is no such operation on records of {records.listed(x.dtype)}; take a field")  # type: ignore[attr-defined]
    error = TypeError(f"{op_name}: an array, a number or a sequence of numbers is expected, not {type(x).__name__}{_instead_of(x)}")
    if _is_host_data(x):
        error.host_operand = x, op_name  # type: ignore[attr-defined]
    return error


def _instead_of(x: Any) -> str:
    """What to give in place of an array over several devices."""
    return "; gather it on one device: s.to_device(d)" if hasattr(type(x), "map_shards") else ""


def arrays(xs: Iterable[Any], op_name: str, *, own_dtypes: bool = False) -> list[Array]:
    """Arrays and numbers; numbers take the queue of the arrays they meet, and their dtype (NEP 50), or have their own (`own_dtypes`), in
    functions that in NumPy make arrays of them first."""
    if isinstance(xs, np.ndarray) and xs.ndim > 0:
        raise not_an_array(xs, op_name)  # which is copied whole
    try:
        items = list(xs)
    except TypeError:
        if isinstance(xs, Iterable) and getattr(xs, "ndim", None) != 0:
            raise  # what it does when it is asked for its items
        what = type(xs).__name__ if type(xs) is not Array else "one without dimensions"
        raise TypeError(f"{op_name}: a sequence of arrays is expected, not {what}") from None
    first = home_among(items)
    if first is None:
        return [array(x, op_name) for x in items]
    copies: dict[int, Array] = {}  # values that are given twice are copied once
    for x in items:
        if type(x) is not Array and id(x) not in copies:
            copies[id(x)] = array_like(x, first, op_name, own_dtype=own_dtypes)
    return [x if type(x) is Array else copies[id(x)] for x in items]


def home_among(xs: Iterable[Any]) -> Array | None:
    """The array whose queue others follow: the first that does not follow others itself, as 0-d arrays of the CPU do; of these one that is
    on a queue that the user made."""
    home, most = None, -1
    for x in xs:
        if type(x) is Array:
            if x.ndim > 0:
                return x
            pull = _pull(x)
            if pull > most:
                home, most = x, pull
    return home


def following(x: Any, home: Array, op_name: str) -> Any:
    """The same, or a copy on the queue of `home` if it is an array that follows that one."""
    if type(x) is not Array or x.queue == home.queue or _pull(x) >= _pull(home):
        return x
    return _follow(x, home.queue, op_name)


def together(xs: Sequence[Array], op_name: str) -> list[Array]:
    """The arrays, of which those that follow others are on the queue of these."""
    home = home_among(xs)
    return list(xs) if home is None else [following(x, home, op_name) for x in xs]


def home_queue(*xs: Any) -> Queue | None:
    """The queue of that array, or None where there is none."""
    home = home_among(xs)
    return None if home is None else home.queue


def array_like(x: Any, other: Array, op_name: str, *, own_dtype: bool = False) -> Array:
    """As `array`, on the queue of `other`; a Python number takes its dtype where that can hold the kind of number, or has its own one."""
    if type(x) is Array:
        return x
    if is_number_of_numpy(x):
        x = x[()]
    if not isinstance(x, SCALARS):
        return on_queue(x, other.queue, op_name)
    if own_dtype:
        return number(x, None, other.queue, op_name)
    dtype = promotion.result_type(other.dtype, x)
    if not isinstance(x, np.generic):
        dtype = default_on(other.queue, dtype)
    if type(x) is int and kind_of(dtype) in "fc":
        x = float(x)  # integers of any size have a float nearby
    return number(x, dtype, other.queue, op_name)


def on_queue(x: Any, queue: Queue, op_name: str) -> Array:
    """Values of the host, copied to the queue of the arrays that they meet."""
    if is_number_of_numpy(x):
        return number(x, None, queue, op_name)
    if _is_host_data(x):
        return _host_operand(x, queue, op_name)
    raise not_an_array(x, op_name)


def number(x: Any, dtype: DTypeLike | None, queue: Queue, op_name: str) -> Array:
    """A 0-d array of a number."""
    if isinstance(x, np.ndarray):
        x = x[()]
    try:
        return _full([], x, dtype, queue)
    except OverflowError:
        raise OverflowError(f"{op_name}: Python integer {x} out of bounds for {np.dtype(dtype_or(dtype, np.int64))}") from None


def too_large(error: OverflowError, op_name: str) -> OverflowError:
    """What the core says of a number that it cannot take, with the name of the function."""
    return OverflowError(f"{op_name}: {error}") if str(error).startswith("Python integer") else error


def check_bounds(values: Any, dtype: np.dtype[Any], op_name: str) -> None:
    """What is to be stored fits a dtype: OverflowError if a Python integer, alone or in a list, is out of bounds, TypeError for complex
    numbers and real dtypes."""
    if kind_of(dtype) != "c" and any(type(v) is complex for v in (values if isinstance(values, (list, tuple)) else (values,))):
        raise TypeError(f"{op_name}: a complex number cannot be stored in an array of {dtype}; take its real part first")
    if kind_of(dtype) not in "iu" or not isinstance(values, (int, list, tuple)) or isinstance(values, bool):
        return
    if not isinstance(values, int) and any(not isinstance(v, (int, list, tuple)) for v in values):
        return  # arrays among them are cast, and floats are another matter
    host = np.asarray(values)
    if kind_of(host.dtype) not in "iu" or not host.size:
        return
    bounds = np.iinfo(dtype)
    for end in (host.min(), host.max()):
        if not bounds.min <= int(end) <= bounds.max:
            raise OverflowError(f"{op_name}: Python integer {end} out of bounds for {dtype}")


def refuse_masked(obj: Any, op_name: str) -> None:
    """Raise TypeError for masked arrays of NumPy, and lists of them: their masks would be lost."""
    masked = sys.modules.get("numpy.ma")  # there are none before that is imported
    if masked is None:
        return
    first = obj
    while isinstance(first, (list, tuple)) and first:
        first = next((e for e in first if isinstance(e, masked.MaskedArray)), first[0])
    if isinstance(first, masked.MaskedArray):
        raise TypeError(f"{op_name}: a masked array would lose its mask; use x.filled(value), or keep x.data and x.mask as two arrays")


def axes(axis: Axis, op_name: str) -> list[int] | None:
    """None for all axes, else a list of them."""
    if axis is None:
        return None
    if isinstance(axis, (tuple, list)):
        return [axis_number(a, op_name) for a in axis]
    return [axis_number(axis, op_name)]


def axis_number(axis: Any, op_name: str) -> int:
    """The axis as the caller counts it; a bool is not an axis, though Python takes it for an integer."""
    if isinstance(axis, bool):
        raise TypeError(f"{op_name}: axis must be an integer, not bool")
    return index(axis, f"{op_name}: axis")


def axis_index(axis: int, ndim: int, op_name: str) -> int:
    """The axis as a number from 0 on; AxisError if the array has no such axis."""
    axis = axis_number(axis, op_name)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim, op_name)
    return axis % ndim


def integer(x: Any, what: str) -> int:
    """An integer, or a TypeError that says what should have been one."""
    try:
        return operator.index(x)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {type(x).__name__}") from None


def index(x: Any, what: str) -> int:
    """An integer of 64 bits."""
    i = integer(x, what)
    if not -(2**63) <= i < 2**63:
        raise OverflowError(f"{what} does not fit 64 bits: {i}")
    return i


def flag(x: Any, what: str) -> bool:
    """True or False, or a TypeError that says what should have been one of them."""
    if isinstance(x, (bool, np.bool_)) or (type(x) is int and x in (0, 1)):
        return bool(x)
    raise TypeError(f"{what} must be True or False, not {x!r}")


def fast_math(x: Any, what: str) -> int:
    """How far floats may differ, as the core counts it: 0 for False, 1 for True, 2 for ``'estimates'``."""
    if isinstance(x, str) and x == "estimates":
        return 2
    try:
        return int(flag(x, what))
    except TypeError:
        raise TypeError(f"{what} must be True, False or 'estimates', not {x!r}") from None


def optional_flag(x: Any, what: str) -> bool | None:
    """None, or True or False."""
    return None if x is None else flag(x, what)


def copy_flag(copy: Any, op_name: str) -> bool | None:
    """The keyword `copy` of what makes arrays: None, True or False, or what Python takes for one of these, but no text."""
    if isinstance(copy, str):
        raise ValueError(f"{op_name}: copy must be True, False or None, not the text {copy!r}")
    return None if copy is None else bool(copy)


def keeps_dimensions(keepdims: Any, op_name: str) -> bool:
    """The keyword `keepdims`: a bool, or, as in NumPy, an integer in its place."""
    if isinstance(keepdims, (bool, np.bool_)):
        return bool(keepdims)
    return integer(keepdims, f"{op_name}: keepdims") != 0


def word(x: Any, what: str, known: Sequence[str]) -> str:
    """One of some words: a TypeError for what is no text, a ValueError for another text; both name the words."""
    if isinstance(x, str) and x in known:
        return x
    words = f"{', '.join(map(repr, known[:-1]))} or {known[-1]!r}" if len(known) > 1 else repr(known[0])
    if isinstance(x, str):
        raise ValueError(f"{what} is {x!r}; it must be {words}")
    raise TypeError(f"{what} must be a text, {words}, not {type(x).__name__}")


def optional_index(x: Any, what: str) -> int | None:
    """None, or an integer."""
    return None if x is None else index(x, what)


def integers(x: Any, what: str) -> list[int]:
    """One integer or a sequence of them, as a list."""
    if not isinstance(x, Iterable) or getattr(x, "ndim", None) == 0:
        return [index(x, what)]
    return [index(i, what) for i in x]


def extents_of(x: Any, what: str) -> list[int]:
    """The same for extents and axes, which bools are not."""
    given = list(x) if isinstance(x, Iterable) and getattr(x, "ndim", None) != 0 else [x]
    if any(isinstance(e, (bool, np.bool_)) for e in given):
        raise TypeError(f"{what} must be an integer or a sequence of integers, not {x!r}")
    return [index(e, what) for e in given]


def optional_axis(axis: Any, op_name: str) -> int | None:
    """None, or the axis as the caller counts it."""
    return None if axis is None else axis_number(axis, op_name)


def shape(s: Shape, op_name: str) -> list[int]:
    """An int or a sequence of ints as a list; negative extents are refused."""
    extents: list[Any] = [s] if not isinstance(s, Iterable) or getattr(s, "ndim", None) == 0 else list(s)
    result = []
    for e in extents:
        try:
            if isinstance(e, bool):
                raise TypeError
            extent = operator.index(e)
        except TypeError:
            raise TypeError(f"{op_name}: shape must be an integer or a sequence of integers, not {s!r}") from None
        if extent < 0:
            raise ValueError(f"{op_name}: negative dimensions are not allowed: {s!r}")
        if extent >= 2**63:
            raise ValueError(f"{op_name}: maximum allowed dimension exceeded: {s!r}")
        result.append(extent)
    return result


def default_queue() -> Queue:
    """The canonical queue of the default device."""
    return Queue.of(Device())


_RECEIVING: list[bool] = []


def receive_on_default_device() -> None:
    """From now on what is unpickled is on the default device, wherever it came from: a process that has one device of several does so."""
    _RECEIVING.append(True)


def queue_of_pickle(device: str) -> Queue | None:
    """The canonical queue of the device that something pickled came from; None if it is to be on the default device."""
    try:
        found = Device(device)
    except ValueError:
        return None
    return None if _RECEIVING and found != Device() else Queue.of(found)


def device_of(device: DeviceLike, op_name: str = "") -> Device:
    """The device itself, the one that a selection string names, or the default one for None. It may remember a queue that the user made."""
    if device is None:
        return Device()
    if not isinstance(device, (Device, str)):
        raise TypeError(
            f"{op_name}{': ' if op_name else ''}device must be a pardo.Device or a selection string, not {type(device).__name__}"
        )
    try:
        return Device(device)
    except ValueError as error:
        if not op_name:
            raise
        raise type(error)(op_name + str(error).removeprefix("Device")) from None


def queue_of(device: DeviceLike, queue: Queue | None, fallback: Queue | None = None, op_name: str = "") -> Queue:
    """Where a new array goes: the queue if given, else the one that the device stands for, else the fallback, else the default."""
    prefix = f"{op_name}: " if op_name else ""
    if queue is not None:
        if not isinstance(queue, Queue):
            raise TypeError(f"{prefix}queue must be a pardo.Queue, not {type(queue).__name__}")
        if device is not None:
            wanted = device_of(device, op_name)
            if wanted.without_queue != queue.device:
                raise ValueError(f"{prefix}queue belongs to {queue.device}, but device is {device}")
            if wanted != queue.device and Queue.of(wanted) != queue:
                raise ValueError(f"{prefix}device is that of an array on {Queue.of(wanted)!r}, but queue is {queue!r}; give one of them")
        return queue
    if device is not None:
        return Queue.of(device_of(device, op_name))
    return fallback if fallback is not None else default_queue()


def queue_for(op_name: str, device: DeviceLike, queue: Queue | None, *xs: Any) -> Queue:
    """Where an array that is made of others goes: as `queue_of`, or to the queue of the arrays among `xs`, which have one in common."""
    if device is not None or queue is not None:
        return queue_of(device, queue, None, op_name)
    home = home_among(xs)
    if home is None:
        return default_queue()
    most = _pull(home)
    for x in xs:
        if type(x) is Array and _pull(x) == most:
            same_queue(home, x, op_name)
    return home.queue


def kind_like(target: Queue, *xs: Any) -> str | None:
    """The kind of memory of what is made of arrays and stays on their device; None for 'device', and where there are no arrays."""
    home = home_among(xs)
    return None if home is None or home.queue.device != target.device else _kind_among(xs)


_NARROW: dict[str, str] = {"float64": "float32", "complex128": "complex64"}


def default_on(queue: Queue, dtype: Any) -> np.dtype[Any]:
    """The dtype, or what takes its place on a device without float64: for dtypes that were not asked for."""
    t: np.dtype[Any] = np.dtype(dtype)
    return t if queue.device.has_fp64 else np.dtype(_NARROW.get(t.name, t.name))


def same_queue(x: Array, y: Array, op_name: str) -> None:
    """ExecutionPlacementError unless both arrays are on one queue."""
    if x.queue != y.queue:
        raise ExecutionPlacementError(
            f"{op_name}: operands are on different queues: {x.queue!r} and {y.queue!r}; copy one explicitly with to_device or to_queue"
        )


def mask(where: Any, x: Array, op_name: str) -> Array | None:
    """The `where` keyword: None for everything, else an array of bools; a bool goes to the queue of `x`."""
    if where is None or where is True:
        return None
    if type(where) is Array:
        same_queue(x, where, op_name)
        m = where
    elif isinstance(where, SCALARS):  # as NumPy: what is not zero is true
        m = number(bool(where), None, x.queue, op_name)
    elif isinstance(where, (list, tuple)):
        m = _host_operand(np.asarray(where, np.bool_), x.queue, op_name)
    elif _is_host_data(where):
        m = _host_operand(where, x.queue, op_name)
    else:
        raise TypeError(f"{op_name}: where must be a bool or an array of bools, not {type(where).__name__}")
    if m.dtype != np.bool_:
        raise TypeError(f"{op_name}: where must be a bool array, not {m.dtype}")
    return m


def store_reduced(result: Array, out: Any, op_name: str) -> Array:
    """As `store`, into an `out` of any dtype, as NumPy's reductions; imaginary parts are left out with a warning."""
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if type(out) is Array and not _can_cast_same_kind(result.dtype, out.dtype):
        if result._kind == "c" and out.shape == result.shape:
            warn_of_lost_parts(op_name)
        result = result._astype(out.dtype, False)
    return store(result, out, op_name)


def store_back(result: Array, out: Any, op_name: str) -> Array:
    """As `store`, also into an `out` whose values the result's dtype could hold, as those of NumPy's functions that copy `out` and back."""
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    holds = type(out) is Array and promotion.can_cast(out.dtype, result.dtype)
    return store_reduced(result, out, op_name) if holds else store(result, out, op_name)


def loop_dtype(x: Array, dtype: Any, out: Any, op_name: str) -> np.dtype[Any] | None:
    """The dtype in which NumPy reduces elements: what was asked for, else what they and `out` promote to; None where neither was given."""
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if dtype is not None or type(out) is not Array:
        return optional_dtype(dtype, op_name)
    return default_on(x.queue, promotion.promote_types(x.dtype, out.dtype))


def store(result: Array, out: Any, op_name: str, casting: str = "same_kind") -> Array:
    """The result, or `out` with the result stored in it: same shape, cast by the rule."""
    if out is None or out is Ellipsis:
        return result
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if type(out) is not Array:
        raise TypeError(f"{op_name}: out must be a pardo.Array, not {type(out).__name__}")
    check_out(result.shape, out, op_name)
    if casting != "same_kind":
        check_cast(result.dtype, out.dtype, casting, op_name)
        result = result._astype(out.dtype, False)
    elif not _can_cast_same_kind(result.dtype, out.dtype):
        raise TypeError(f"{op_name}: cannot cast the result from {result.dtype} to {out.dtype} of out with casting rule 'same_kind'")
    out._assign(result)
    return out


def check_out(shape: tuple[int, ...], out: Array, op_name: str) -> None:
    """That `out` has the shape of the result."""
    if out.shape != shape:
        raise ValueError(f"{op_name}: out has shape {out.shape}, but the result has shape {shape}")


def single_out(out: Any, op_name: str) -> Any:
    """The keyword `out` of universal functions of one result: without the tuple that NumPy allows around it; None for what means none."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError(f"{op_name}: out must be an array or a tuple of one array, not a tuple of {len(out)}")
        out = out[0]
    return None if out is Ellipsis else out


def same_kind(source: Array, dtype: Any, op_name: str) -> Any:
    """The dtype, if the array may be cast to it within the same kind."""
    dtype = dtype_of(dtype, op_name)
    if not _can_cast_same_kind(source.dtype, dtype):
        raise TypeError(f"{op_name}: cannot cast from {source.dtype} to {dtype} with casting rule 'same_kind'")
    return dtype


def check_casting(casting: str, op_name: str) -> None:
    """ValueError unless NumPy has such a rule, TypeError if it is no text."""
    word(casting, f"{op_name}: casting", _CASTINGS)


def check_cast(source: Any, target: Any, casting: str, op_name: str) -> None:
    """TypeError unless the rule allows the cast."""
    check_casting(casting, op_name)
    if not promotion.can_cast(source, target, casting):
        raise TypeError(f"{op_name}: cannot cast from {np.dtype(source)} to {np.dtype(target)} according to the rule '{casting}'")


def in_memory(x: Array, usm_type: str | None, op_name: str) -> Array:
    """The array in memory of a kind; as it is for None."""
    return x if usm_type is None else _in_memory(x, usm_type, op_name)


def dtype_of(dtype: Any, op_name: str, *, any_order: bool = False, fields: bool = False) -> np.dtype[Any]:
    """The dtype, if pardo has it. With `any_order` that of the machine takes the place of another byte order; with `fields` structured ones
    are given too."""
    name = "Array" if type(dtype) is Array else dtype
    if dtype is not None and type(dtype) is not Array:  # NumPy takes None for float64, and anything that has a dtype for one
        try:
            name = promotion.host_dtype(dtype)
        except ImportError:
            raise
        except Exception:  # whatever the object raises
            known = None
        else:
            known = _DTYPES.get(name.newbyteorder("=") if any_order else name)
            if known is None and promotion.is_bfloat16(name):
                known = name
        if known is not None:
            return known
    structured = getattr(name, "names", None) is not None
    if fields and structured:
        return records.checked(name, op_name)  # type: ignore[arg-type]
    error = TypeError(f"{op_name}: dtype '{name}' is not supported; supported are {', '.join(t.name for t in _DTYPES)}, bfloat16")
    if structured:
        error.records = True  # type: ignore[attr-defined]
    raise error


def optional_dtype(dtype: Any, op_name: str, *, any_order: bool = False, fields: bool = False) -> np.dtype[Any] | None:
    """None, or the dtype, if pardo has it."""
    return None if dtype is None else dtype_of(dtype, op_name, any_order=any_order, fields=fields)


def dtype_or(dtype: DTypeLike | None, other: Any) -> Any:
    """`dtype`, unless it is None (which NumPy would take for float64)."""
    return other if dtype is None else dtype


def given_count(count: int) -> str:
    """ "1 was given", "3 were given"."""
    return f"{count} {'was' if count == 1 else 'were'} given"


def warn(message: str, category: type[Warning]) -> None:
    """Warns at the user's line: the first one outside of this package, and of what imports it, whose frames `stacklevel` does not count."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and (owns(frame.f_code.co_filename) or _imports(frame)):
        frame = frame.f_back
        level += not _imports(frame)
    warnings.warn(message, category, stacklevel=level)


def warn_of_lost_parts(op_name: str) -> None:
    """Where complex numbers are cast to real ones."""
    warn(f"{op_name}: the imaginary parts are discarded; take x.real to say so", np.exceptions.ComplexWarning)


def _imports(frame: FrameType) -> bool:
    return "importlib._bootstrap" in frame.f_code.co_filename
