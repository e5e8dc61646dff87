# python/pardo/compat/dpctl/program.py: dpctl's names of programs that are written as text.
"""Programs by dpctl's names: `create_program_from_source`, `create_program_from_spirv`."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from pardo._base.public_names import publish_module
from pardo._core import CompileError
from pardo._kernel.program import Program, ProgramKernel
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


def argument_of(value: Any) -> Any:
    """What pardo's programs take for an argument of `SyclQueue.submit`."""
    if type(value) in _NUMBERS:
        return _NUMBERS[type(value)](value.value)
    return getattr(value, "_array", value)


class SyclKernel:
    """A kernel of a program; launch it with `SyclQueue.submit`."""

    __slots__ = ("_kernel",)

    def __init__(self, kernel: ProgramKernel) -> None:
        self._kernel = kernel

    @property
    def name(self) -> str:
        """Its name."""
        return self._kernel.__name__

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


def create_program_from_spirv(q: Any, IL: bytes, copts: str = "") -> SyclProgram:  # noqa: N803 (dpctl's name)
    """Load a module of SPIR-V for a queue's device."""
    return SyclProgram(Program(queue_of(q).device, bytes(IL), options=copts))  # type: ignore[union-attr]


create_kernel_bundle_from_source, create_kernel_bundle_from_spirv = create_program_from_source, create_program_from_spirv


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise missing(__name__, name, {"create_kernel_bundle_from_sycl_source": "SYCL in C++ needs its compiler"}, "see pardo.Program")


publish_module(globals())
