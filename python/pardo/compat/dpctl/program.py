# python/pardo/compat/dpctl/program.py: dpctl's names of programs that are written as text.
"""Programs by dpctl's names: `create_program_from_source`, `create_program_from_spirv`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import CompileError, Program
from pardo._extending import Memory, ProgramKernel, _view_bytes, publish_module
from pardo.compat._memory import ArrayMemory
from pardo.compat._names import missing, queue_of

__all__ = [
    "SyclKernel",
    "SyclProgram",
    "SyclProgramCompilationError",
    "create_kernel_bundle_from_source",
    "create_kernel_bundle_from_spirv",
    "create_program_from_source",
    "create_program_from_spirv",
]

SyclProgramCompilationError = CompileError
# A type of ctypes and NumPy's of the same bytes.
_NUMBERS = {
    getattr(ctypes, f"c_{kind}"): getattr(np, name)
    for kind, name in {
        **{f"{u}int{bits}": f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)},
        "float": "float32",
        "double": "float64",
    }.items()
}


# Elements behind a pointer, by the name of their type in OpenCL C, without a count: `float4*` points to float.
_ELEMENTS = dict(
    zip(["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double"], "bBhHiIqQefd", strict=True)
)


def arguments_of(kernel: ProgramKernel, values: Sequence[Any]) -> list[Any]:
    """What pardo's programs take for the arguments of `SyclQueue.submit`: memory becomes an array of what the pointer points to."""
    types = kernel._program.signature(kernel.__name__).partition("(")[2].removesuffix(")").split(", ")
    out = []
    for k, value in enumerate(values):
        memory = getattr(value, "_array", None) if isinstance(value, (Memory, ArrayMemory)) else None
        if memory is not None:
            pointed = types[k].removeprefix("const ").partition("*")[0].rstrip("0123456789 ") if k < len(types) else ""
            dtype = np.dtype(_ELEMENTS.get(pointed, "B"))
            out.append(_view_bytes(memory, dtype, [memory.nbytes // dtype.itemsize], 0))
        else:
            out.append(_NUMBERS[type(value)](value.value) if type(value) in _NUMBERS else value)
    return out


class SyclKernel:
    """A kernel of a program; launch it with `SyclQueue.submit`."""

    __slots__ = ("_kernel",)

    def __init__(self, kernel: ProgramKernel) -> None:
        self._kernel = kernel

    @property
    def name(self) -> str:
        """Its name."""
        return self._kernel.__name__

    @property
    def num_arguments(self) -> int:
        """How many arguments it takes."""
        inside = self._kernel._program.signature(self.name).partition("(")[2].removesuffix(")")
        return len(inside.split(", ")) if inside else 0

    @property
    def work_group_size(self) -> int | None:
        """How many items a group has at most."""
        return self._kernel.max_work_group_size

    @property
    def preferred_work_group_size_multiple(self) -> int | None:
        """What the number of a group's items is best a multiple of."""
        return self._kernel.preferred_work_group_size_multiple

    @property
    def private_mem_size(self) -> int | None:
        """Bytes of memory that an item has for itself."""
        return self._kernel.private_mem_size

    def _arguments(self, values: Sequence[Any]) -> list[Any]:
        return arguments_of(self._kernel, values)

    def __repr__(self) -> str:
        return f"<SyclKernel {self.name}>"


class SyclProgram:
    """A compiled program."""

    __slots__ = ("_program",)

    def __init__(self, program: Program) -> None:
        self._program = program

    def has_sycl_kernel(self, kernel_name: str) -> bool:
        """Tell whether there is a kernel of that name."""
        return kernel_name in self._program.kernels

    def get_sycl_kernel(self, kernel_name: str) -> SyclKernel:
        """Give the kernel of that name; KeyError if there is none."""
        return SyclKernel(self._program[kernel_name])


def create_program_from_source(q: Any, source: str, copts: str = "") -> SyclProgram:
    """Compile OpenCL C for a queue's device.

    Parameters
    ----------
    q : SyclQueue or Queue
        Whose device it is for.
    source : str
        OpenCL C; for CUDA devices CUDA C++.
    copts : str, optional
        For the compiler.

    Returns
    -------
    SyclProgram
        Its kernels are launched with `SyclQueue.submit`.

    Examples
    --------
    >>> import pardo.compat.dpctl as dpctl
    >>> for device in dpctl.get_devices("opencl"):
    ...     queue = dpctl.SyclQueue(device)
    ...     text = "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }"
    ...     program = dpctl.program.create_program_from_source(queue, text)
    ...     x = dpctl.tensor.ones(10, dtype="float32", sycl_queue=queue)
    ...     event = queue.submit(program.get_sycl_kernel("twice"), [x], [10])
    ...     assert float(x[0]) == 2
    """
    return SyclProgram(Program(queue_of(q).device, source, options=copts))  # type: ignore[union-attr]


def create_program_from_spirv(q: Any, IL: bytes, copts: str = "") -> SyclProgram:
    """Load a module of SPIR-V for a queue's device."""
    return SyclProgram(Program(queue_of(q).device, bytes(IL), options=copts))  # type: ignore[union-attr]


create_kernel_bundle_from_source, create_kernel_bundle_from_spirv = create_program_from_source, create_program_from_spirv


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise missing(__name__, name, {"create_kernel_bundle_from_sycl_source": "SYCL in C++ needs its compiler"}, "see pardo.Program")


publish_module(globals())
