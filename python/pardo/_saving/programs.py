# python/pardo/_saving/programs.py: functions of arrays as files, and files as functions.
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.contexts import device_context
from pardo._array.interop import asarray
from pardo._base import promotion
from pardo._base.arguments import HOST, DeviceLike, device_of
from pardo._base.public_names import publish_module
from pardo._core import Array, Device, DeviceError
from pardo._runtime.devices import get_devices

__all__ = ["SavedProgram", "export", "load_program"]


def _names(function: Callable[..., Any], count: int) -> list[str]:
    """What the function calls its arguments."""
    import inspect

    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:count]
    return names + [f"x{k}" for k in range(len(names), count)]


def _path(path: str | os.PathLike[str], op_name: str) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{op_name}: path is a str or a PathLike, not {type(path).__name__}")
    return os.fsdecode(path)


def export(
    function: Callable[..., Any],
    *examples: Any,
    path: str | os.PathLike[str],
    targets: Sequence[str] | None = None,
    any_size: bool = True,
) -> str:
    """Write a function of arrays as a program that runs in other processes, without a compiler.

    The function runs on stand-ins for the examples, for many sizes; what it records is planned and compiled for each target. The file
    has the machine code or the texts of its kernels, the plans, and the arrays that the function brings along. `load_program` runs it; for
    processors so do C programs by ``pardo/run.h``, without Python.

    Parameters
    ----------
    function : callable
        Takes arrays, gives an array, or a tuple of arrays, or None if it writes into its arguments. It may use elementwise operations,
        reductions, views, assignments to parts of arrays, routines of the library (``x @ y``, ``sort``, ``fft``, ``linalg``, indexing by
        arrays; `load_program` runs these, C programs do not), and arrays that it makes or finds outside. It must not read values of
        arrays (``float(x)``, ``if x.any()``), and it does the same for all sizes.
    *examples : array_like
        One for each argument: dtypes and shapes count, values do not. Extents beyond 1 may be others in later calls; those that are equal
        in the examples are equal then. Extents of 0 and 1 stay what they are.
    path : str or PathLike
        Where the file goes. Its name gets the digest of the contents in front of the ending.
    targets : sequence of str, optional
        What it is to run on: processors, ``"x86-64-v3"`` (AVX2) and ``"x86-64-v4"`` (AVX-512), where pardo itself runs on 64-bit ARM
        ``"armv8-a"`` and ``"neoverse-n1"``; ``"opencl"``, the devices that a driver
        compiles texts for; NVIDIA's GPUs by their architecture, ``"sm_80"``, ``"sm_90"`` and others, which takes ``pardo[cuda]`` here and
        no GPU. Without it all of these processors.
    any_size : bool, optional
        False: the program is for the shapes of the examples alone.

    Returns
    -------
    str
        The path of the file.

    Raises
    ------
    ValueError
        The function cannot be exported, with the reason; there is no such target; the file cannot be written.
    TypeError
        The function gives something else than arrays.
    ImportError
        A target of NVIDIA's is asked for, and NVIDIA's run-time compiler is not there.

    See Also
    --------
    load_program

    Notes
    -----
    How numbers follow from sizes is found from some hundred runs, and holds for all of them; a function that does something else for
    single sizes between these is not found out.

    Loading a program runs machine code. The digest finds damage; it is no proof of where the file comes from.

    Examples
    --------
    >>> import tempfile
    >>> import pardo as pp
    >>> def smooth(x):
    ...     return (x[1:] + x[:-1]) / 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pp.export(smooth, pp.zeros(100), path=f"{folder}/smooth.pardo")
    ...     program = pp.load_program(path)
    >>> program.signature
    'smooth(x: float64[n]) -> float64'
    >>> program(pp.asarray([1.0, 2.0, 4.0]))
    array([1.5, 3. ])
    """
    if not callable(function):
        raise TypeError(f"export: a function is expected, not {type(function).__name__}")
    if not examples:
        raise TypeError("export: an example is needed for each argument of the function, and there is none")
    arrays = [x if isinstance(x, Array) else asarray(x) for x in examples]
    import inspect

    name = getattr(function, "__name__", type(function).__name__)

    def run(*arguments: Array) -> Any:
        with device_context(arguments[0].device):
            return function(*arguments)

    written: str = _core._export(
        run,
        arrays,
        _path(path, "export"),
        [] if targets is None else [str(target) for target in targets],
        "program" if name == "<lambda>" else name,
        inspect.getdoc(function) or "",
        _names(function, len(arrays)),
        bool(any_size),
    )
    return written


def _device_for(program: Any) -> Device:
    """The device of a program without `device=`: the CPU, else the default device, else the first one that the file is for."""
    if program.target:
        return Device(HOST)
    for device in (Device(), *get_devices()):
        try:
            program.target_on(device)
        except DeviceError:
            continue
        return device
    return Device()  # its error says what there is


class SavedProgram:
    """A program that was exported; `load_program` gives it. It is called as the function that it was.

    Attributes
    ----------
    signature : str
        Its arguments with dtypes and shapes, and the dtypes of what it gives. Extents with the same letter are equal.
    targets : list of str
        What the file has code for.
    target : str
        The one of them that runs on `device`.
    device : Device
        Where lists and NumPy's arrays go. Arrays of pardo stay where they are, and the program runs there.
    made_by : str
        What exported it.

    Examples
    --------
    >>> import tempfile
    >>> import pardo as pp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pp.export(lambda x, y: x.sum() + y, pp.zeros(10), pp.zeros(12), path=f"{folder}/add.pardo")
    ...     program = pp.load_program(path)
    >>> program.signature
    'program(x: float64[n], y: float64[m]) -> float64'
    >>> program(pp.ones(3), pp.ones(2))
    array([4., 4.])
    """

    def __init__(self, path: str, device: DeviceLike = None) -> None:
        self._program = _core._SavedProgram.load(path)
        self.device = device_of(device, "load_program") if device is not None else _device_for(self._program)
        self._dtypes = self._program.dtypes
        self.__name__ = self._program.name
        self.__doc__ = self._program.doc or type(self).__doc__
        self.signature = self._program.signature
        self.targets = self._program.targets
        self.target = self._program.target_on(self.device)
        self.made_by = self._program.made_by

    def __call__(self, *arguments: Any) -> Any:
        """Run it; results are submitted, and not waited for.

        NumPy arrays and lists are copied to `device`; they become arrays of the dtype that the program takes if that loses nothing.
        For an argument that the program writes into they raise ValueError: what is written into a copy would be lost.
        """
        dtypes = self._dtypes
        given = [x if type(x) is Array else self._taken(x, dtypes[k] if k < len(dtypes) else None) for k, x in enumerate(arguments)]
        results = self._program(given)
        if self._program.tuple:
            return tuple(results)
        return results[0] if results else None

    def _taken(self, x: Any, dtype: Any) -> Array:
        host = np.asarray(x)
        if dtype is not None and host.dtype != dtype and promotion.can_cast(host.dtype, dtype, "same_kind" if host.ndim == 0 else "safe"):
            host = host.astype(dtype)
        taken = asarray(host, device=self.device)
        taken.flags.writeable = False  # a copy: what a program writes there would be lost
        return taken

    def __repr__(self) -> str:
        return f"<program {self.signature}, {self.target}>"


def load_program(path: str | os.PathLike[str], device: DeviceLike = None) -> SavedProgram:
    """Load a program that `export` has written.

    Parameters
    ----------
    path : str or PathLike
        The file.
    device : Device or str, optional
        What it is for: where lists and NumPy's arrays go in its calls; the file has to have something for it. Arrays of pardo are used
        where they are, on this device or another one that the file is for. Without it the CPU, and where the file has no machine code of
        this processor the default device, or the first one that it is for.

    Returns
    -------
    SavedProgram
        A function of arrays. It compiles nothing; drivers of OpenCL compile its texts once a machine, and find them in pardo's cache then.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file is no program, damaged, of another major version of the format, or for other processors.
    DeviceError
        The file has nothing for the device; the message says what it has.

    See Also
    --------
    export

    Notes
    -----
    Loading a program runs machine code, as `ctypes.CDLL` does: load only what you trust.

    Examples
    --------
    >>> import tempfile
    >>> import pardo as pp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pp.export(lambda x: 2 * x, pp.zeros((10, 12)), path=f"{folder}/twice.pardo")
    ...     twice = pp.load_program(path)
    >>> twice(pp.ones((1, 3)))
    array([[2., 2., 2.]])
    """
    name = _path(path, "load_program")
    if not os.path.exists(name):
        raise FileNotFoundError(f"load_program: there is no file {name}")
    return SavedProgram(name, device)


publish_module(globals(), "pardo")
