# python/pardo/_plugins/numba_arrays.py: arrays as arguments of functions that Numba compiles, without a copy, and written in place.
from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._array.interop import asnumpy, shared_view
from pardo._core import Array

_FROZEN: list[NDArray[Any]] = []  # copies of global arrays: compiled functions hold addresses of the large ones


def _shown(x: Any) -> NDArray[Any]:
    """NumPy's view of an argument. What a function with a written signature is given may be anything."""
    if type(x) is Array:
        return shared_view(x)
    records = getattr(type(x), "_host_view", None)
    if records is None:
        raise TypeError(f"numba: an array is expected, not {type(x).__name__}")
    host: NDArray[Any] | None = records(x)
    if host is None:
        raise TypeError(
            f"numba: a function of the host cannot read records of {x.dtype} on {x.device} where they are: pass pardo.asnumpy(x), or "
            "compile it with pardo.jit"
        )
    return host


def register() -> None:
    """Register a type of arrays with Numba, which its functions take for NumPy's."""
    core: Any = importlib.import_module("numba.core.types")
    models: Any = importlib.import_module("numba.core.datamodel")
    boxing: Any = importlib.import_module("numba.core.boxing")
    utilities: Any = importlib.import_module("numba.core.cgutils")
    unboxers: Any = importlib.import_module("numba.core.pythonapi")._unboxers
    promotion: Any = importlib.import_module("numba.core.typeconv").Conversion.promote
    lowering: Any = importlib.import_module("numba.core.imputils")
    extending: Any = importlib.import_module("numba.extending")
    from_dtype: Any = importlib.import_module("numba.np.numpy_support").from_dtype
    plain_type: Any = core.Array

    class PardoArray(plain_type):  # type: ignore[misc]
        """What an argument is; what functions give back are arrays of NumPy."""

        def __init__(self, dtype: Any, ndim: int, layout: str, readonly: bool = False, aligned: bool = True) -> None:
            super().__init__(
                dtype, ndim, layout, readonly=readonly, name=f"pardo.Array({dtype}, {ndim}d, {layout}{', readonly' * readonly})"
            )

        def copy(self, dtype: Any = None, ndim: Any = None, layout: Any = None, readonly: Any = None) -> Any:
            """What else is made of it is NumPy's; a global array stays what it is, which cannot be written."""
            if readonly and dtype is None and ndim is None and layout is None:
                return PardoArray(self.dtype, self.ndim, self.layout, readonly=True)
            return super().copy(dtype, ndim, layout, readonly)

        def can_convert_to(self, context: Any, other: Any) -> Any:
            plain = plain_type(self.dtype, self.ndim, self.layout, readonly=not self.mutable)
            conversion = context.can_convert(plain, other) if type(other) is not PardoArray else None
            return None if conversion is None else max(conversion, promotion)  # two types are never exactly one

    models.register_default(PardoArray)(models.models.ArrayModel)

    @extending.lower_cast(PardoArray, plain_type)  # type: ignore[untyped-decorator]
    def as_array(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
        return value  # both have one layout in memory

    @lowering.lower_constant(PardoArray)  # type: ignore[untyped-decorator]
    def constant(context: Any, builder: Any, ty: Any, x: Any) -> Any:
        _FROZEN.append(np.array(asnumpy(x), order="F" if ty.layout == "F" else "C"))
        return context.make_constant_array(builder, ty, _FROZEN[-1])

    @extending.typeof_impl.register(Array)  # type: ignore[untyped-decorator]
    def typeof(x: Any, c: Any) -> PardoArray:
        if type(x) is not Array:  # records
            view = _shown(x)
            layout = "C" if view.flags.c_contiguous else "F" if view.flags.f_contiguous else "A"
            return PardoArray(from_dtype(view.dtype), view.ndim, layout, readonly=not view.flags.writeable)
        if not _core._is_on_host(x):
            raise TypeError(
                f"numba: a function of the host cannot read the memory of an array on {x.device}: pass pardo.asnumpy(x), or compile it "
                "with pardo.jit"
            )
        rows, columns, _, _ = x._memory_flags()
        layout = "C" if rows else "F" if columns else "A"
        return PardoArray(from_dtype(x.dtype), x.ndim, layout, readonly=not x.writeable)

    numpys = unboxers.functions[plain_type]

    @extending.unbox(PardoArray)  # type: ignore[untyped-decorator]
    def unboxed(typ: Any, x: Any, c: Any) -> Any:
        view = c.pyapi.call_function_objargs(c.pyapi.unserialize(c.pyapi.serialize_object(_shown)), (x,))
        value = utilities.alloca_once(c.builder, c.context.get_value_type(typ))
        failed = utilities.alloca_once_value(c.builder, utilities.true_bit)
        with c.builder.if_then(utilities.is_not_null(c.builder, view)):  # else there is an exception: a failed value, an interruption
            native = numpys(typ, view, c)  # keeps it
            c.builder.store(native.value, value)
            c.builder.store(native.is_error, failed)
            c.pyapi.decref(view)
        return boxing.NativeValue(c.builder.load(value), is_error=c.builder.load(failed))

    def either(typ: Any, x: Any, c: Any) -> Any:
        """Numba's own for its arrays. Functions with written signatures name NumPy's type, and are given arrays of both libraries."""
        native = numpys(typ, x, c)
        value = utilities.alloca_once_value(c.builder, native.value)
        failed = utilities.alloca_once_value(c.builder, native.is_error)
        with c.builder.if_then(native.is_error, likely=False):
            c.pyapi.err_clear()
            again = unboxed(typ, x, c)
            c.builder.store(again.value, value)
            c.builder.store(again.is_error, failed)
        return boxing.NativeValue(c.builder.load(value), is_error=c.builder.load(failed))

    unboxers.functions[plain_type] = either
