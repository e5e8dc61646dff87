# python/pardo/_kernel/program.py: kernels that are written as text, in OpenCL C or CUDA C++.
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array import contexts
from pardo._base.public_names import publish_module
from pardo._base.undisturbed import Undisturbed
from pardo._core import Device, Event
from pardo._data import present
from pardo._kernel import copies
from pardo._kernel.launchers import Launchable, Place, place_of
from pardo._language.index_space import extents_of

__all__ = ["Program"]

IMAGES = (_core._Image, _core._SampledImage, _core._Sampler)


class Program:
    """Text in a device's own language, compiled for it.

    Parameters
    ----------
    device : Device or str
        An OpenCL or CUDA device, or a selection string such as ``'opencl'``.
    source : str, bytes, or sequence of str
        OpenCL C, or CUDA C++ whose kernels are declared ``extern "C" __global__``. Several texts of OpenCL C are compiled apart and linked.
        As bytes: what `binary` of a program has given, on a device of the same kind with the same driver; a module of SPIR-V, for OpenCL
        devices of version 2.1 or later that take it; a binary of the driver's own; PTX for CUDA devices. Drivers may tell no types of the
        parameters of modules and of their own binaries; numbers are then NumPy scalars.
    language : {'opencl', 'cuda', 'spirv', 'binary'}, optional
        What the source is written in. By default, what the device takes.
    options : str or sequence of str, optional
        For the device's compiler: ``'-D N=16'``, ``['-I', folder]``.
    headers : dict of str to str, optional
        Texts that the source includes, by the names that it includes them by.

    Attributes
    ----------
    device : Device
        Where it runs.
    language : str
        'opencl', 'cuda', 'spirv' or 'binary'.
    source : str, bytes or tuple of str
        What it was made of.
    build_log : str
        What the compiler said; empty if nothing.
    binary : bytes
        From which it can be made again; with facts that drivers do not keep in their own form.
    kernels : tuple of str
        Names of the kernels. Each is an attribute, and an item: ``program.add`` and ``program['add']``. A kernel has the facts that the
        driver tells, or None: `max_work_group_size`, `preferred_work_group_size_multiple`, `compile_work_group_size`, `local_mem_size`,
        `private_mem_size`, `registers`; and `with_offset`.

    Raises
    ------
    CompileError
        The compiler refuses the text; the message holds the line, and what the compiler says.
    DeviceError
        The device compiles no text, as the CPU device; or it links no texts; or, of `binary`, its driver gives none.
    ValueError
        The device takes text in another language.

    See Also
    --------
    kernel : Kernels in Python, for all devices.
    Image : Images of programs and kernels.

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
    ...     again = pp.Program(device, program.binary)
    ...     event = again.twice.with_offset(5)[pp.Range(5)](x)
    ...     assert x.tolist() == [2.0] * 5 + [4.0] * 5
    """

    __slots__ = ("_kernels", "_program", "_source")

    def __init__(
        self,
        device: Device | str | None,
        source: str | bytes | Sequence[str],
        language: str | None = None,
        options: str | Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        texts: tuple[Any, ...] = (source,) if isinstance(source, (str, bytes)) else tuple(source) if isinstance(source, Sequence) else ()
        if not texts or (len(texts) > 1 and not all(isinstance(t, str) for t in texts)):
            raise TypeError(f"Program: the source is a str, a sequence of them, or bytes of a binary, not {type(source).__name__}")
        headers = {} if headers is None else headers
        if not isinstance(headers, Mapping) or not all(isinstance(t, str) for pair in headers.items() for t in pair):
            raise TypeError("Program: headers: a dict of texts by their names is expected, as {'sizes.h': '#define N 16'}")
        if isinstance(texts[0], bytes) and not language:
            language = "spirv" if texts[0][:4] in (b"\x03\x02#\x07", b"\x07#\x02\x03") else "binary"
        words = _words(options) if isinstance(options, str) else [*options]
        self._program = _core._Program(device, texts[0], language or "", words, list(headers.items()), list(texts[1:]))
        self._source = texts[0] if len(texts) == 1 else texts
        asked = _dimensions_asked(texts) if self._program.language not in ("spirv", "binary") and not headers else 3
        self._kernels = {name: ProgramKernel(self._program, name, (), asked) for name in self._program.kernels}

    @property
    def device(self) -> Device:
        """Where it runs."""
        return self._program.device

    @property
    def language(self) -> str:
        """'opencl', 'cuda', 'spirv' or 'binary'."""
        return self._program.language

    @property
    def source(self) -> Any:
        """What it was made of."""
        return self._source

    @property
    def build_log(self) -> str:
        """What the compiler said; empty if nothing."""
        return self._program.build_log

    @property
    def binary(self) -> bytes:
        """From which it can be made again."""
        return self._program.binary

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
    with Undisturbed():
        import shlex  # few write programs as text: the others need not wait for it

    return shlex.split(options)


_PLACES = re.compile(
    r"\bget_(?:global|local|group)_id\s*\(\s*(\w*)\s*\)|\b(?:threadIdx|blockIdx)\b(?:\s*\.\s*(\w+))?|get_\w*linear_id|#\s*include"
)


def _dimensions_asked(texts: Sequence[Any]) -> int:
    """How many dimensions of a range a program's text asks places in, as far as it tells; 3 where it does not."""
    asked = 0
    for text in texts:
        if not isinstance(text, str):
            return 3
        for found in _PLACES.finditer(text):
            one = {"0": 1, "1": 2, "2": 3, "x": 1, "y": 2, "z": 3}.get(found[1] or found[2] or "", 3)
            asked = max(asked, one)
    return asked or 3


class ProgramKernel(Launchable):
    """A kernel of a `Program`: launch it with ``k[range](*arguments)``."""

    __slots__ = ("__name__", "_asked", "_offset", "_program")

    def __init__(self, program: _core._Program, name: str, offset: Sequence[int] = (), asked: int = 3) -> None:
        self._program, self.__name__, self._offset, self._asked = program, name, list(offset), asked

    def with_offset(self, *offset: int) -> ProgramKernel:
        """Give the kernel as it is launched from another first item: ``get_global_id(d)`` begins at ``offset[d]``; on OpenCL devices."""
        return ProgramKernel(self._program, self.__name__, extents_of(offset, f"{self.__name__}.with_offset", "offset"), self._asked)

    def check_dimensions(self, extents: Sequence[int]) -> None:
        """Refuse plain numbers in brackets that are more than the text asks for: in CUDA they mean groups and items."""
        if len(extents) <= self._asked:
            return
        sizes = ", ".join(map(str, extents))
        first, second, *_ = extents
        raise ValueError(
            f"{self.__name__}: range ({sizes}) has {len(extents)} dimensions, the text of `{self.__name__}` asks for {self._asked}; CUDA's "
            f"[{first}, {second}] is NdRange({first} * {second}, {second}), and a range of that many items Range({sizes})"
        )

    def _fact(self, place: int) -> int | None:
        value: int = self._program.facts(self.__name__)[place]
        return None if value < 0 else value

    @property
    def max_work_group_size(self) -> int | None:
        """How many items a group has at most."""
        return self._fact(0)

    @property
    def preferred_work_group_size_multiple(self) -> int | None:
        """What the number of a group's items is best a multiple of."""
        return self._fact(1)

    @property
    def local_mem_size(self) -> int | None:
        """Bytes that a group shares, of what the text declares."""
        return self._fact(2)

    @property
    def private_mem_size(self) -> int | None:
        """Bytes of memory that an item has for itself."""
        return self._fact(3)

    @property
    def registers(self) -> int | None:
        """Registers of an item; CUDA tells them."""
        return self._fact(4)

    @property
    def compile_work_group_size(self) -> tuple[int, ...] | None:
        """The only size of groups, where the text names one."""
        size = tuple(self._program.facts(self.__name__)[5:])
        return size if size[0] else None

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
        given = place_of(place, kernel.__name__)
        if given.bare:
            kernel.check_dimensions(given.global_range)
        self._queue, self._depends = given.queue, given.depends
        self._space = _core._Space(given.global_range, given.local_range)

    def __call__(self, *arguments: Any) -> Event:
        """Launch.

        Parameters
        ----------
        *arguments
            For pointers arrays of the program's device, C-contiguous, or None for a null pointer; for numbers NumPy scalars of the kernel's
            types, or Python's numbers where the driver tells the types (else TypeError); for structures NumPy scalars of structured dtypes;
            for memory of groups `LocalAccessor` (in CUDA C++ it is not a parameter, but the size of ``extern __shared__``); for images
            `Image`, and for samplers `Sampler` (in CUDA C++ an image with a sampler, `Image.sampled`). Inside
            `device_context` also NumPy arrays: they are copied in, and those that the kernel may write are copied back before this returns.

        Returns
        -------
        Event
            Completes when all items have run; what fails while they run is raised by the next wait.
        """
        program, name = self._kernel._program, self._kernel.__name__
        if present.in_use:
            arguments, parts = copies.on_device(arguments, self._queue or _core.Queue.of(program.device), IMAGES)
            if parts:
                return copies.launched(
                    lambda: program.launch(name, arguments, self._space, self._queue, self._depends, self._kernel._offset),
                    parts,
                    lambda: zip(arguments, program.uses(name, arguments), strict=True),
                )
        if contexts.current.get() is None or not any(isinstance(a, np.ndarray) for a in arguments):
            return program.launch(name, arguments, self._space, self._queue, self._depends, self._kernel._offset)
        target = self._queue or _core.Queue.of(program.device)
        made: dict[int, Any] = {}
        given = tuple(contexts.copied_in(a, target, made) for a in arguments)
        written = copies.written(self._kernel.__name__, arguments, program.uses(name, given))
        event = program.launch(name, given, self._space, self._queue, self._depends, self._kernel._offset)
        for a in written:
            np.copyto(a, contexts.on_host(made[id(a)]))
        return event


publish_module(globals(), "pardo")
