# python/pardo/_plugins/numba_arrays.py: arrays as arguments of functions that Numba compiles, without a copy, and written in place.
from __future__ import annotations

import importlib
from typing import Any

from pardo import _core
from pardo._array.interop import shared_view
from pardo._core import Array


def register() -> None:
    """Register a type of arrays with Numba, which its functions take for NumPy's."""
    core: Any = importlib.import_module("numba.core.types")
    models: Any = importlib.import_module("numba.core.datamodel")
    boxing: Any = importlib.import_module("numba.core.boxing")
    extending: Any = importlib.import_module("numba.extending")
    from_dtype: Any = importlib.import_module("numba.np.numpy_support").from_dtype
    plain_type: Any = core.Array

    class PardoArray(plain_type):  # type: ignore[misc]
        """What an argument is; what functions give back are arrays of NumPy."""

        def __init__(self, dtype: Any, ndim: int, layout: str, readonly: bool = False, aligned: bool = True) -> None:
            super().__init__(
                dtype, ndim, layout, readonly=readonly, name=f"pardo.Array({dtype}, {ndim}d, {layout}{', readonly' * readonly})"
            )

        def can_convert_to(self, context: Any, other: Any) -> Any:
            plain = plain_type(self.dtype, self.ndim, self.layout, readonly=not self.mutable)
            return context.can_convert(plain, other) if type(other) is not PardoArray else None

    models.register_default(PardoArray)(models.models.ArrayModel)

    @extending.lower_cast(PardoArray, plain_type)  # type: ignore[untyped-decorator]
    def as_array(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
        return value  # both have one layout in memory

    @extending.typeof_impl.register(Array)  # type: ignore[untyped-decorator]
    def typeof(x: Array, c: Any) -> PardoArray:
        if not _core._is_on_host(x):
            raise TypeError(
                f"numba: a function of the host cannot read the memory of an array on {x.device}: pass pardo.asnumpy(x), or compile it "
                "with pardo.jit"
            )
        rows, columns, _, _ = x._memory_flags()
        layout = "C" if rows else "F" if columns else "A"
        return PardoArray(from_dtype(x.dtype), x.ndim, layout, readonly=not x.writeable)

    @extending.unbox(PardoArray)  # type: ignore[untyped-decorator]
    def unboxed(typ: PardoArray, x: Any, c: Any) -> Any:
        view = c.pyapi.call_function_objargs(c.pyapi.unserialize(c.pyapi.serialize_object(shared_view)), (x,))
        native = boxing.unbox_array(typ, view, c)  # keeps it
        c.pyapi.decref(view)
        return native
