# python/pardo/_kernel/program.py: kernels that are written as text, in OpenCL C or CUDA C++.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array import contexts
from pardo._base.public_names import publish_module
from pardo._core import Device, Event
from pardo._data import present
from pardo._kernel import copies
from pardo._kernel.kernel import Launchable, Place, place_of

__all__ = ["Program"]


class Program:
    """Text in a device's own language, compiled for it.

    Parameters
    ----------
    device : Device or str
        An OpenCL or CUDA device, or a selection string such as ``'opencl'``.
    source : str or bytes
        OpenCL C, or CUDA C++ whose kernels are declared ``extern "C" __global__``; as bytes a module of SPIR-V, for OpenCL devices of
        version 2.1 or later that take it. Drivers tell no types of its parameters, so numbers are NumPy scalars.
    language : {'opencl', 'cuda', 'spirv'}, optional
        What the source is written in. By default, what the device takes.
    options : str or sequence of str, optional
        For the device's compiler: ``'-D N=16'``, ``['-I', folder]``.

    Attributes
    ----------
    device : Device
        Where it runs.
    language : str
        'opencl', 'cuda' or 'spirv'.
    kernels : tuple of str
        Names of the kernels. Each is an attribute, and an item: ``program.add`` and ``program['add']``.

    Raises
    ------
    CompileError
        The compiler refuses the text; the message holds the line, and what the compiler says.
    DeviceError
        The device compiles no text, as the CPU device.
    ValueError
        The device takes text in another language.

    See Also
    --------
    kernel : Kernels in Python, for all devices.

    Notes
    -----
    Kernels are launched as those in Python are: ``program.add[range](*arguments)``, ``program.add[range, queue, depends](*arguments)``,
    `call_kernel`. Dimension `d` of the range is ``get_global_id(d)`` in OpenCL C, and x, y or z in CUDA C++: in both the first one is
    usually the one whose neighbours are adjacent in memory, other than in kernels in Python.

    Programs are kept in memory and on disk, unless their text or options have to do with including files.

    Examples
    --------
    >>> import pardo as pp
    >>> for device in pp.get_devices("opencl"):
    ...     program = pp.Program(device, "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }")
    ...     x = pp.ones(10, dtype="float32", device=device)
    ...     event = program.twice[pp.Range(10)](x)
    """

    __slots__ = ("_kernels", "_program")

    def __init__(
        self, device: Device | str | None, source: str | bytes, language: str | None = None, options: str | Sequence[str] = ()
    ) -> None:
        if not isinstance(source, (str, bytes)):
            raise TypeError(f"Program: the source is a str, or bytes of SPIR-V, not {type(source).__name__}")
        language = language or ("spirv" if isinstance(source, bytes) else "")
        words = _words(options) if isinstance(options, str) else [*options]
        self._program = _core._Program(device, source, language, words)
        self._kernels = {name: ProgramKernel(self._program, name) for name in self._program.kernels}

    @property
    def device(self) -> Device:
        """Where it runs."""
        return self._program.device

    @property
    def language(self) -> str:
        """'opencl', 'cuda' or 'spirv'."""
        return self._program.language

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels."""
        return tuple(self._kernels)

    def _missing(self, name: object) -> str:
        text = f"Program: there is no kernel {name!r}; there are {', '.join(self._kernels)}"
        if any(kernel.startswith("_Z") for kernel in self._kernels):
            text += ' (C++ has decorated the names: declare the kernels extern "C")'
        return text

    def __getitem__(self, name: str) -> ProgramKernel:
        """Give a kernel by its name."""
        try:
            return self._kernels[name]
        except KeyError:
            raise KeyError(self._missing(name)) from None

    def __getattr__(self, name: str) -> ProgramKernel:
        if name.startswith("__") or name in Program.__slots__:
            raise AttributeError(f"Program: there is no attribute {name!r}")
        try:
            return self._kernels[name]
        except KeyError:
            raise AttributeError(self._missing(name)) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._kernels]

    def __repr__(self) -> str:
        return f"<Program on {self.device.id}: {', '.join(self._kernels)}>"


def _words(options: str) -> list[str]:
    import shlex  # few write programs as text: the others need not wait for it

    return shlex.split(options)


class ProgramKernel(Launchable):
    """A kernel of a `Program`: launch it with ``k[range](*arguments)``."""

    __slots__ = ("__name__", "_program")

    def __init__(self, program: _core._Program, name: str) -> None:
        self._program, self.__name__ = program, name

    def __getitem__(self, place: Place) -> ProgramLauncher:
        """Say over which items it runs: ``k[range]``, ``k[range, queue]``, ``k[range, queue, depends]``."""
        return ProgramLauncher(self, place)

    def __repr__(self) -> str:
        return f"<kernel {self._program.signature(self.__name__)} on {self._program.device.id}>"


class ProgramLauncher:
    """A kernel of a `Program` with its range, as ``k[range]`` gives it: call it with the arguments."""

    __slots__ = ("_depends", "_kernel", "_queue", "_space")

    def __init__(self, kernel: ProgramKernel, place: Place) -> None:
        self._kernel = kernel
        global_range, local_range, self._queue, self._depends = place_of(place, kernel.__name__)
        self._space = _core._Space(global_range, local_range)

    def __call__(self, *arguments: Any) -> Event:
        """Launch.

        Parameters
        ----------
        *arguments
            For pointers arrays of the program's device, C-contiguous, or None for a null pointer; for numbers NumPy scalars of the kernel's
            types, or Python's numbers where the driver tells the types (else TypeError); for structures NumPy scalars of structured dtypes;
            for memory of groups `LocalAccessor` (in CUDA C++ it is not a parameter, but the size of ``extern __shared__``). Inside
            `device_context` also NumPy arrays: they are copied in, and those that the kernel may write are copied back before this returns.

        Returns
        -------
        Event
            Completes when all items have run; what fails while they run is raised by the next wait.
        """
        program, name = self._kernel._program, self._kernel.__name__
        if present.in_use:
            arguments, parts = copies.on_device(arguments, self._queue or _core.Queue.of(program.device))
            if parts:
                return copies.launched(
                    lambda: program.launch(name, arguments, self._space, self._queue, self._depends),
                    parts,
                    lambda: zip(arguments, program.uses(name, arguments), strict=True),
                )
        if contexts.current.get() is None or not any(isinstance(a, np.ndarray) for a in arguments):
            return program.launch(name, arguments, self._space, self._queue, self._depends)
        target = self._queue or _core.Queue.of(program.device)
        made: dict[int, Any] = {}
        given = tuple(contexts.copied_in(a, target, made) for a in arguments)
        event = program.launch(name, given, self._space, self._queue, self._depends)
        for a, use in zip(arguments, program.uses(name, given), strict=True):
            if isinstance(a, np.ndarray) and use >= copies.WRITES:
                np.copyto(a, contexts.on_host(made[id(a)]))
        return event


publish_module(globals(), "pardo")
