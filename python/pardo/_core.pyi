"""
The compiled part of pardo: arrays, operations, devices. Names that begin with an underscore are for the package itself.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy
from numpy.typing import DTypeLike

import pardo
import pardo._events
import pardo._methods
import pardo._queues

Operand: TypeAlias = Array | complex | numpy.generic[Any]

_version: str = "0.1.0"

class ExecutionPlacementError(ValueError):
    """
    Operands live on different queues. Compute follows data, and nothing is copied by itself: bring them together with `x.to_device(device)` or `asarray(x, queue=queue)`.
    """

class DeviceError(RuntimeError):
    """A device failed, was lost, or does not exist."""

class CompileError(RuntimeError):
    """A kernel could not be compiled."""

def _set_package_folder(folder: str) -> None:
    """Frames of files in this folder are not the user's."""

def _set_library_folders(folders: Sequence[str]) -> None:
    """
    Folders where packages lie: wheels that hold libraries are searched there.
    """

def _report_unheard_failures() -> None:
    """Sends failures nobody has waited for to sys.unraisablehook."""

def _close_threads() -> None:
    """
    Waits for Python code on the library's threads, and lets no more of it begin.
    """

def _forget_threads() -> None:
    """In a forked child: the parent's threads are not here."""

class Device:
    """
    A processor that computes.

    Parameters
    ----------
    selector : str or Device, optional
        ``backend:type:index``, every part optional, alternatives by comma: ``"cuda:gpu:1"``, ``"gpu,cpu"``, ``"cpu"``;
        ``"cpu:0/2.1"`` is part 1 of what `create_sub_devices(2)` cuts the CPU into.
        Without it, the default device: that of `device_context` or `set_default_device`, of PARDO_DEVICE, else the CPU.

    Raises
    ------
    ValueError
        No device matches; the message lists what exists.
    """

    def __init__(self, selector: Device | str | None = None) -> None: ...
    @property
    def id(self) -> str:
        """A selection string that gives this device back: 'cpu:0'."""

    def supports(self, dtype: DTypeLike) -> bool:
        """True if arrays of this dtype can be computed here."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __str__(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def backend(self, /) -> str:
        """'cpu', 'opencl', 'cuda' or 'null'."""

    @property
    def platform(self, /) -> str:
        """What the driver calls its platform."""

    @property
    def name(self, /) -> str:
        """The processor's name."""

    @property
    def vendor(self, /) -> str | None:
        """Who made it."""

    @property
    def vendor_id(self, /) -> int | None:
        """The vendor's number."""

    @property
    def driver_version(self, /) -> str | None:
        """Driver, or compiler and instruction sets for the CPU."""

    @property
    def version(self, /) -> str | None:
        """
        Version of the interface to the device: 'OpenCL 3.0 ...'; of pardo for the CPU.
        """

    @property
    def profile(self, /) -> str | None:
        """OpenCL's profile: 'FULL_PROFILE' or 'EMBEDDED_PROFILE'."""

    @property
    def extensions(self, /) -> tuple[str, ...] | None:
        """Names of the interface's extensions."""

    @property
    def pci_address(self, /) -> str | None:
        """
        Where a card is plugged in: '0000:3b:00.0'. The same card through two back ends has the same.
        """

    @property
    def uuid(self, /) -> str | None:
        """The card's own identity, the same through each back end."""

    @property
    def max_compute_units(self, /) -> int | None:
        """Cores, or multiprocessors."""

    @property
    def max_work_item_dimensions(self, /) -> int | None:
        """Dimensions of an index space."""

    @property
    def max_work_item_sizes(self, /) -> tuple[int, ...] | None:
        """Items of a work-group along each dimension, at most."""

    @property
    def max_work_group_size(self, /) -> int | None:
        """Items in the largest work-group."""

    @property
    def max_num_sub_groups(self, /) -> int | None:
        """Sub-groups in the largest work-group."""

    @property
    def sub_group_sizes(self, /) -> tuple[int, ...] | None:
        """Items that a sub-group may have."""

    @property
    def max_clock_frequency(self, /) -> int | None:
        """In MHz."""

    @property
    def address_bits(self, /) -> int | None:
        """Bits of an address."""

    @property
    def native_vector_bytes(self, /) -> int | None:
        """Bytes of a vector register: 64 with AVX-512."""

    @property
    def preferred_vector_width_char(self, /) -> int | None:
        """Elements of a good vector; 0 where the type is not supported."""

    @property
    def preferred_vector_width_short(self, /) -> int | None:
        """Elements of a good vector; 0 where the type is not supported."""

    @property
    def preferred_vector_width_int(self, /) -> int | None:
        """Elements of a good vector; 0 where the type is not supported."""

    @property
    def preferred_vector_width_long(self, /) -> int | None:
        """Elements of a good vector; 0 where the type is not supported."""

    @property
    def preferred_vector_width_float(self, /) -> int | None:
        """Elements of a good vector; 0 where the type is not supported."""

    @property
    def preferred_vector_width_double(self, /) -> int | None:
        """Elements of a good vector; 0 where the type is not supported."""

    @property
    def preferred_vector_width_half(self, /) -> int | None:
        """Elements of a good vector; 0 where the type is not supported."""

    @property
    def native_vector_width_char(self, /) -> int | None:
        """Elements of a native vector; 0 where the type is not supported."""

    @property
    def native_vector_width_short(self, /) -> int | None:
        """Elements of a native vector; 0 where the type is not supported."""

    @property
    def native_vector_width_int(self, /) -> int | None:
        """Elements of a native vector; 0 where the type is not supported."""

    @property
    def native_vector_width_long(self, /) -> int | None:
        """Elements of a native vector; 0 where the type is not supported."""

    @property
    def native_vector_width_float(self, /) -> int | None:
        """Elements of a native vector; 0 where the type is not supported."""

    @property
    def native_vector_width_double(self, /) -> int | None:
        """Elements of a native vector; 0 where the type is not supported."""

    @property
    def native_vector_width_half(self, /) -> int | None:
        """Elements of a native vector; 0 where the type is not supported."""

    @property
    def global_mem_size(self, /) -> int | None:
        """Memory in bytes."""

    @property
    def max_mem_alloc_size(self, /) -> int | None:
        """Largest block in bytes."""

    @property
    def local_mem_size(self, /) -> int | None:
        """Memory of a work-group in bytes."""

    @property
    def local_mem_type(self, /) -> str | None:
        """
        Where that is: 'local' (of its own), 'global' (in the device's memory, behind caches) or 'none'.
        """

    @property
    def global_mem_cache_type(self, /) -> str | None:
        """'read_write', 'read_only' or 'none'."""

    @property
    def global_mem_cache_size(self, /) -> int | None:
        """Last cache in bytes."""

    @property
    def global_mem_cache_line_size(self, /) -> int | None:
        """A cache line in bytes."""

    @property
    def mem_base_addr_align(self, /) -> int | None:
        """Alignment of allocations in bits."""

    @property
    def max_constant_buffer_size(self, /) -> int | None:
        """Constant memory in bytes."""

    @property
    def max_parameter_size(self, /) -> int | None:
        """Arguments of a kernel in bytes, at most."""

    @property
    def printf_buffer_size(self, /) -> int | None:
        """Buffer of a kernel's printf in bytes."""

    @property
    def error_correction_support(self, /) -> bool | None:
        """True if memory corrects errors."""

    @property
    def host_unified_memory(self, /) -> bool | None:
        """True if device and host share their memory."""

    @property
    def is_endian_little(self, /) -> bool | None:
        """True if the lowest byte comes first."""

    @property
    def is_available(self, /) -> bool | None:
        """True if the device can be used now."""

    @property
    def profiling_timer_resolution(self, /) -> int | None:
        """Of event times, in nanoseconds."""

    @property
    def half_fp_config(self, /) -> tuple[str, ...] | None:
        """
        What float16 arithmetic can do: 'denorm', 'inf_nan', 'round_to_nearest', 'fma' and so on.
        """

    @property
    def single_fp_config(self, /) -> tuple[str, ...] | None:
        """What float32 arithmetic can do."""

    @property
    def double_fp_config(self, /) -> tuple[str, ...] | None:
        """What float64 arithmetic can do; empty without float64."""

    @property
    def execution_capabilities(self, /) -> tuple[str, ...] | None:
        """'exec_kernel', 'exec_native_kernel'."""

    @property
    def atomic_memory_order_capabilities(self, /) -> tuple[str, ...] | None:
        """Memory orders of atomic operations: 'relaxed' to 'seq_cst'."""

    @property
    def atomic_fence_order_capabilities(self, /) -> tuple[str, ...] | None:
        """Memory orders of fences."""

    @property
    def atomic_memory_scope_capabilities(self, /) -> tuple[str, ...] | None:
        """Scopes of atomic operations: 'work_item' to 'system'."""

    @property
    def atomic_fence_scope_capabilities(self, /) -> tuple[str, ...] | None:
        """Scopes of fences."""

    @property
    def partition_max_sub_devices(self, /) -> int | None:
        """Parts it can be cut into, at most."""

    @property
    def partition_properties(self, /) -> tuple[str, ...] | None:
        """
        How it can be cut: 'partition_equally', 'partition_by_counts', 'partition_by_affinity_domain'.
        """

    @property
    def partition_affinity_domains(self, /) -> tuple[str, ...] | None:
        """
        Domains it can be cut by: 'numa', 'L3_cache', 'next_partitionable' and so on.
        """

    @property
    def partition_type_property(self, /) -> str | None:
        """How a sub-device was cut from its parent."""

    @property
    def partition_type_affinity_domain(self, /) -> str | None:
        """The domain it was cut by."""

    @property
    def has_fp64(self, /) -> bool:
        """True if float64 can be computed."""

    @property
    def has_fp16(self, /) -> bool:
        """True if float16 can be computed."""

    @property
    def type(self) -> str:
        """'cpu', 'gpu' or 'accelerator'."""

    @property
    def free_memory(self) -> int | None:
        """
        Bytes that could be allocated now, what others use taken into account; None where the back end cannot tell.
        """

    @property
    def parent(self) -> Device | None:
        """The device that this one was cut from; None for a whole device."""

    def create_sub_devices(self, partition: int | Sequence[int] | str) -> list[Device]:
        """
        Cut the device into parts, each with a queue of its own.

        Parameters
        ----------
        partition : int, list of int, or str
            Compute units of each part (what is left over belongs to none); or of the first, second and so on; or an affinity
            domain: ``"numa"``, ``"L4_cache"`` to ``"L1_cache"`` (``"l3"`` for short), or ``"next_partitionable"``, the widest that has
            several parts.

        Returns
        -------
        list of Device
            The parts; the same cut gives the same ones again. Their ids are selection strings: ``cpu:0/2.1``.

        Raises
        ------
        ValueError
            A count is below 1, they add up to more than there is, or there is no such domain.
        DeviceError
            The device cannot be cut so; the message says what it offers.
        """

    def has_aspect(self, aspect: str) -> bool:
        """
        True if the device has an aspect, by its SYCL name: ``"fp64"``, ``"usm_shared_allocations"``.
        """

    @property
    def aspects(self, /) -> tuple[str, ...]:
        """Names of the aspects that the device has."""

def _device_facts() -> list[str]: ...
def _get_devices(backend: str, device_type: str) -> list[Device]: ...
def _get_platforms(backend: str) -> list[tuple[Any, ...]]: ...
def _select_device(required: Sequence[str], excluded: Sequence[str]) -> Device: ...
def _set_default_device(device: Device | str | None) -> None: ...
def _set_context_variable(variable: Any) -> None: ...
def _get_devices_in_use() -> list[Device]: ...
def _get_backends() -> list[dict[str, Any]]: ...
def _memory_stats(device: Device) -> dict[str, int]: ...
def _trim_memory(device: Device) -> None: ...
def _set_memory_limit(device: Device, bytes: int) -> None: ...
def _reset_memory_peak(device: Device) -> None: ...
def _cache_info() -> dict[str, Any]: ...
def _clear_cache() -> None: ...

class Event(pardo._events.EventMethods):
    """
    Work that has been submitted.

    A failure is raised once by those who wait: the first of `wait()` on an event or queue that the work concerns. `await`
    and futures give it to everyone who asks them, and who has it from there has heard of it.
    """

    def __init__(self) -> None:
        """An event that is complete."""

    def wait(self, timeout: float | None = None) -> None:
        """
        Blocks until the work is complete; raises its failure, once.

        Parameters
        ----------
        timeout : float, optional
            Seconds, after which TimeoutError is raised; the work goes on. Default: no limit.
        """

    def done(self) -> bool:
        """True when the work is complete or has failed."""

    @property
    def status(self) -> str:
        """'queued', 'running', 'complete' or 'failed'."""

    @property
    def profiling(self) -> dict[str, int]:
        """
        Host-clock times in nanoseconds: queued, submitted, start, end. Raises ValueError unless the queue was made with profiling=True, or a profile was open.
        """

    def add_done_callback(self, f: Callable[[], object]) -> None:
        """
        Calls `f()` on the library's helper thread when the work is complete or has failed, at once if it already has.
        """

    def _notify(self, f: object, argument: object | None) -> int: ...
    def _notify_loop(self, call_soon: object, resolve: object, future: object) -> int: ...
    def _done_soon(self) -> bool: ...
    def _forget(self, id: int) -> bool: ...
    def _failure(self, hear: bool = True) -> BaseException | None: ...
    def _value(self) -> Any: ...
    def __repr__(self) -> str: ...

def _events(depends: object | None, who: str) -> list[Event]: ...
def _in_callback() -> bool:
    """True in a done-callback, on the library's helper thread."""

def _wait_any(events: list[Event], timeout: float | None, who: str) -> int: ...

class Context:
    """
    Devices of one platform that work together: queues made of it touch the memory of these devices only.

    Parameters
    ----------
    devices : Device, str, or sequence of them
        All of one platform.

    Raises
    ------
    ValueError
        There is no device, one is given twice, or they are of different platforms.
    """

    def __init__(self, devices: Device | str | Iterable[Device | str]) -> None: ...
    @property
    def devices(self) -> tuple[Device, ...]:
        """Its devices, in the order in which they were given."""

    @property
    def platform(self) -> str:
        """The name of their platform."""

    def __contains__(self, device: Device) -> bool: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

class Queue(pardo._queues.QueueMethods):
    """
    Where work for one device is submitted. Safe from any thread.

    Parameters
    ----------
    device : Device or str, optional
        Default: the default device.
    order : {'in_order', 'out_of_order'}
        Whether work runs in the order of its submission, or as soon as what it reads is there.
    profiling : bool
        Whether events have times.
    context : Context, optional
        Bounds whose memory it may touch. Default: that of all devices.

    As a context manager it waits for its work at the end of the block.
    """

    def __init__(
        self, device: Device | str | None = None, *, order: str = "in_order", profiling: bool = False, context: Context | None = None
    ) -> None: ...
    @staticmethod
    def of(device: Device | str | None) -> Queue:
        """The canonical queue of a device: the one that arrays use by default."""

    @property
    def device(self) -> Device:
        """The device that it feeds."""

    @property
    def order(self) -> str:
        """'in_order' or 'out_of_order'."""

    @property
    def profiling(self) -> bool:
        """True if its events have times."""

    @property
    def context(self) -> Context:
        """
        The devices whose memory it may touch; those of its device's platform if none was given.
        """

    def wait(self, timeout: float | None = None) -> None:
        """
        Blocks until everything submitted is complete; raises the first failure nobody has heard of, once.

        Parameters
        ----------
        timeout : float, optional
            Seconds, after which TimeoutError is raised; the work goes on. Default: no limit.
        """

    def marker(self) -> Event:
        """
        An event that completes after everything submitted so far; later work does not wait for it.
        """

    def submit_barrier(self) -> Event:
        """As marker."""

    def _barrier(self, depends: Sequence[Event]) -> Event: ...
    def _submit(self, arrays: Sequence[Array], depends: Sequence[Event]) -> Event: ...
    def _copy(self, to: Array, from_: Array, depends: Sequence[Event]) -> Event: ...
    def _copy_rect(self, to: Array, from_: Array, numbers: Sequence[int], depends: Sequence[Event]) -> Event: ...
    def _fill(self, to: Array, value: complex | numpy.generic[Any], depends: Sequence[Event]) -> Event: ...
    def _prefetch(self, x: Array, depends: Sequence[Event]) -> Event: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

class _Profile:
    """Records submissions until it is stopped."""

    def __init__(self, most_records: int) -> None: ...
    def stop(self) -> None:
        """Ends the recording; waits for nothing."""

    def wait(self) -> None:
        """
        Waits for what is recorded; raises the first failure nobody has heard of.
        """

    def records(self) -> list[dict[str, Any]]:
        """What is recorded, by start; waits for it."""

    @property
    def dropped(self) -> int:
        """How many records there was no room for."""

    @property
    def started(self) -> int:
        """Nanoseconds of the host's steady clock."""

    @property
    def stopped(self) -> int:
        """The same; now, as long as it is open."""

class Array(pardo._methods.Methods):
    """
    An n-dimensional array on a device; its value may be recorded and not yet computed.

    Arrays are made by functions such as `pardo.asarray` and `pardo.zeros`. Operations on arrays are recorded and
    run when somebody needs a value; `x.wait()` asks for it explicitly. Indexing gives views that write through.
    """

    __hash__: None  # type: ignore[assignment]

    def __lt__(self, other: Operand, /) -> Array: ...
    def __le__(self, other: Operand, /) -> Array: ...
    def __eq__(self, other: object, /) -> Array: ...  # type: ignore[override]
    def __ne__(self, other: object, /) -> Array: ...  # type: ignore[override]
    def __gt__(self, other: Operand, /) -> Array: ...
    def __ge__(self, other: Operand, /) -> Array: ...
    def __add__(self, other: Operand, /) -> Array: ...
    def __radd__(self, other: Operand, /) -> Array: ...
    def __sub__(self, other: Operand, /) -> Array: ...
    def __rsub__(self, other: Operand, /) -> Array: ...
    def __mul__(self, other: Operand, /) -> Array: ...
    def __rmul__(self, other: Operand, /) -> Array: ...
    def __mod__(self, other: Operand, /) -> Array: ...
    def __rmod__(self, other: Operand, /) -> Array: ...
    def __divmod__(self, other: Operand, /) -> tuple[Array, Array]: ...
    def __rdivmod__(self, other: Operand, /) -> tuple[Array, Array]: ...
    def __pow__(self, other: Operand, mod: None = None, /) -> Array: ...
    def __rpow__(self, other: Operand, mod: None = None, /) -> Array: ...
    def __neg__(self) -> Array: ...
    def __pos__(self) -> Array: ...
    def __abs__(self) -> Array: ...
    def __bool__(self) -> bool: ...
    def __invert__(self) -> Array: ...
    def __lshift__(self, other: Operand, /) -> Array: ...
    def __rlshift__(self, other: Operand, /) -> Array: ...
    def __rshift__(self, other: Operand, /) -> Array: ...
    def __rrshift__(self, other: Operand, /) -> Array: ...
    def __and__(self, other: Operand, /) -> Array: ...
    def __rand__(self, other: Operand, /) -> Array: ...
    def __xor__(self, other: Operand, /) -> Array: ...
    def __rxor__(self, other: Operand, /) -> Array: ...
    def __or__(self, other: Operand, /) -> Array: ...
    def __ror__(self, other: Operand, /) -> Array: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __iadd__(self, other: Operand, /) -> Array: ...
    def __isub__(self, other: Operand, /) -> Array: ...
    def __imul__(self, other: Operand, /) -> Array: ...
    def __imod__(self, other: Operand, /) -> Array: ...
    def __ipow__(self, other: Operand, mod: None = None, /) -> Array: ...
    def __ilshift__(self, other: Operand, /) -> Array: ...
    def __irshift__(self, other: Operand, /) -> Array: ...
    def __iand__(self, other: Operand, /) -> Array: ...
    def __ixor__(self, other: Operand, /) -> Array: ...
    def __ior__(self, other: Operand, /) -> Array: ...
    def __floordiv__(self, other: Operand, /) -> Array: ...
    def __rfloordiv__(self, other: Operand, /) -> Array: ...
    def __truediv__(self, other: Operand, /) -> Array: ...
    def __rtruediv__(self, other: Operand, /) -> Array: ...
    def __ifloordiv__(self, other: Operand, /) -> Array: ...
    def __itruediv__(self, other: Operand, /) -> Array: ...
    def __index__(self) -> int: ...
    def __matmul__(self, other: Array, /) -> Array: ...
    def __rmatmul__(self, other: Array, /) -> Array: ...
    def __imatmul__(self, other: Operand, /) -> Array: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Array: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
    @property
    def dtype(self) -> numpy.dtype[Any]:
        """Element type, a `numpy.dtype`."""

    @property
    def ndim(self) -> int:
        """Number of dimensions."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each dimension."""

    @property
    def size(self) -> int:
        """Number of elements."""

    @property
    def nbytes(self) -> int:
        """Bytes that the elements take up."""

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""

    @property
    def strides(self) -> tuple[int, ...]:
        """
        Bytes between neighbours along each dimension, as NumPy counts them; computes the array.
        """

    @property
    def device(self) -> Device:
        """Where the elements are."""

    @property
    def queue(self) -> Queue:
        """Where work on this array is submitted."""

    @property
    def pending(self) -> bool:
        """True while the value is recorded and not computed."""

    @property
    def writeable(self) -> bool:
        """False for memory that was shared read-only."""

    @property
    def event(self) -> Event:
        """Event of the last write to this array's memory."""

    @property
    def memory_kind(self) -> str:
        """'device', 'shared' or 'host'."""

    @property
    def usm_type(self) -> str:
        """
        The kind of its memory: 'device', 'shared' or 'host'. A result has the first of them that one of its operands has.
        """

    def force(self) -> Array:
        """
        Hands the computation over, if that has not happened, and returns the array; does not wait.
        """

    def wait(self) -> Array:
        """
        Computes the array, waits, raises late failures, and returns the array.
        """

    def _is_contiguous(self) -> bool: ...
    def _is_scalar_value(self) -> bool: ...
    def _item(self) -> Any: ...
    def _astype(self, dtype: DTypeLike | None, copy: bool = True) -> Array: ...
    def _copy(self) -> Array: ...
    def _to_queue(self, queue: Queue) -> Array: ...
    def _assign(self, value: Array) -> None: ...
    def _fill(self, value: complex | numpy.generic[Any]) -> None: ...
    def _copy_to(self, target: object) -> None: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """
        A DLPack capsule that shares this array's memory (`copy=True`: that holds a copy).

        Raises BufferError for what the protocol cannot express without a copy, and for devices that other libraries cannot reach. `stream`: where a CUDA array is used next; it waits for the array's value, the host does not.
        """

    def __dlpack_device__(self) -> tuple[int, int]:
        """
        DLPack's device type and index: (1, 0) on the CPU and for memory that an OpenCL device shares with it, (2, i) on the i-th GPU of CUDA.
        """

    @property
    def __cuda_array_interface__(self) -> object:
        """
        The array's memory for other CUDA libraries, version 3 of the protocol.

        Other devices do not have the attribute.
        """

    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __release_buffer__(self, buffer: memoryview, /) -> None: ...

def _from_dlpack(x: object, queue: Queue | None, copy: bool | None) -> Array: ...
def _from_cuda_memory(
    address: int,
    dtype: DTypeLike,
    shape: Sequence[int],
    strides: Sequence[int],
    read_only: bool,
    stream: int,
    owner: object,
    queue: Queue | None,
    copy: bool | None,
) -> Array: ...
def _copy_buffer(object: object, dtype: DTypeLike, queue: Queue, kind: str = "device") -> Array: ...
def _share_buffer(object: object, dtype: DTypeLike, queue: Queue) -> Array: ...
def _dtype_of_values(who: str, object: Any, host: Any) -> numpy.dtype[Any]: ...
def _explain(roots: Sequence[Array]) -> str: ...
def _force(roots: Sequence[Array]) -> None: ...
def _counters() -> dict[str, int]: ...

class UserEvent(Event):
    """
    An event that your own code completes; work submitted with `depends=` on it waits.

    If it is dropped before it is set, it fails, and so does what waits for it.
    """

    def __init__(self) -> None:
        """An event that is not complete."""

    def set_complete(self, value: object = None) -> None:
        """
        Completes it; futures and `await` give `value`. Raises ValueError if it is complete already.
        """

    def set_failed(self, exception: BaseException) -> None:
        """
        Lets it fail with an exception, which is raised by who waits. Raises ValueError if it is complete already.
        """

def _host_task(queue: Queue, f: object, name: str, depends: Sequence[Event]) -> Event: ...
def _set_allocator(device: Device, allocate: object | None, free: object | None) -> None: ...

class _Block:
    """Bytes of one kind of memory."""

    def __init__(self, nbytes: int, kind: str, alignment: int, queue: Queue, who: str) -> None: ...
    @property
    def _array(self) -> Array: ...
    @property
    def _pointer(self) -> int:
        """The address, as kernels of the device see it."""

def _in_memory(x: Array, kind: str, who: str) -> Array: ...
def _empty_in(shape: Sequence[int], dtype: DTypeLike | None, queue: Queue, kind: str, who: str) -> Array: ...
def _view_bytes(bytes: Array, dtype: DTypeLike, shape: Sequence[int], offset: int) -> Array: ...
def add(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Sum of the elements; of booleans: logical or.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def subtract(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Difference of the elements.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype but bool. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def multiply(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Product of the elements; of booleans: logical and.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def divide(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    True quotient of the elements; integers give float64.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype if that is floating, else float64.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def floor_divide(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Largest integer not above the quotient.

    Parameters
    ----------
    x1, x2 : Array or number
        Of a real dtype; bool counts as int8. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def remainder(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Remainder of floor division; has the sign of the divisor.

    Parameters
    ----------
    x1, x2 : Array or number
        Of a real dtype; bool counts as int8. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def fmod(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Remainder of truncated division; has the sign of the dividend, as in C.

    Parameters
    ----------
    x1, x2 : Array or number
        Of a real dtype; bool counts as int8. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def power(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    First operand raised to the second.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype; bool counts as int8. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def negative(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    The elements with their sign changed.

    Parameters
    ----------
    x : Array or number
        Of any dtype but bool.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def positive(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    The elements as they are.

    Parameters
    ----------
    x : Array or number
        Of any dtype but bool.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def absolute(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Absolute value; of complex numbers the modulus.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype; of complex64 float32, of complex128 float64.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def square(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    The elements multiplied by themselves.

    Parameters
    ----------
    x : Array or number
        Of any dtype; bool counts as int8.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def reciprocal(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    One divided by the elements; of integers truncated.

    Parameters
    ----------
    x : Array or number
        Of any dtype; bool counts as int8.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def sign(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    -1, 0 or 1 by the sign; of complex numbers z / abs(z).

    Parameters
    ----------
    x : Array or number
        Of any dtype but bool.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def maximum(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    The larger of the elements; NaN wins.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def minimum(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    The smaller of the elements; NaN wins.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def fmax(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    The larger of the elements; NaN loses.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def fmin(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    The smaller of the elements; NaN loses.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def _clip(
    x1: Operand,
    x2: Operand,
    x3: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    The elements limited to the range from the second to the third operand.

    Parameters
    ----------
    x1, x2, x3 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def sqrt(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Square root, correctly rounded.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def cbrt(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Cube root.

    Parameters
    ----------
    x : Array or number
        Of a real dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def exp(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    e raised to the elements.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def exp2(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    2 raised to the elements.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def expm1(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    exp(x) - 1, precise for small x.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def log(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Natural logarithm.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def log2(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Logarithm to base 2.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def log10(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Logarithm to base 10.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def log1p(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    log(1 + x), precise for small x.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def logaddexp(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    log(exp(x) + exp(y)), without undue overflow.

    Parameters
    ----------
    x1, x2 : Array or number
        Of a real dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def logaddexp2(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    log2(2**x + 2**y), without undue overflow.

    Parameters
    ----------
    x1, x2 : Array or number
        Of a real dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def hypot(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Square root of the sum of squares, without undue overflow.

    Parameters
    ----------
    x1, x2 : Array or number
        Of a real dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def sin(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Sine of angles in radians.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def cos(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Cosine of angles in radians.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def tan(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Tangent of angles in radians.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def arcsin(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Inverse sine: angles in radians, from -pi/2 to pi/2.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def arccos(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Inverse cosine: angles in radians, from 0 to pi.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def arctan(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Inverse tangent: angles in radians, from -pi/2 to pi/2.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def arctan2(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Angle of the point (second, first) in radians, from -pi to pi.

    Parameters
    ----------
    x1, x2 : Array or number
        Of a real dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def sinh(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Hyperbolic sine.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def cosh(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Hyperbolic cosine.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def tanh(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Hyperbolic tangent.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def arcsinh(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Inverse hyperbolic sine.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def arccosh(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Inverse hyperbolic cosine.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def arctanh(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Inverse hyperbolic tangent.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def deg2rad(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Angles in degrees as radians.

    Parameters
    ----------
    x : Array or number
        Of a real dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def rad2deg(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Angles in radians as degrees.

    Parameters
    ----------
    x : Array or number
        Of a real dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def _erf(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Error function.

    Parameters
    ----------
    x : Array or number
        Of a real dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def _erfc(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Complementary error function, 1 - erf(x).

    Parameters
    ----------
    x : Array or number
        Of a real dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def heaviside(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    0 below zero, 1 above it, the second operand at zero.

    Parameters
    ----------
    x1, x2 : Array or number
        Of a real dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def floor(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Largest integer not above the element, in the same dtype.

    Parameters
    ----------
    x : Array or number
        Of a real dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def ceil(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Smallest integer not below the element, in the same dtype.

    Parameters
    ----------
    x : Array or number
        Of a real dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def trunc(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Nearest integer towards zero, in the same dtype.

    Parameters
    ----------
    x : Array or number
        Of a real dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def rint(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Nearest integer, halves to even, as a floating-point number.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def _round(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Nearest integer, halves to even, in the same dtype.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype, float16 for bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def copysign(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Magnitude of the first operand with the sign of the second.

    Parameters
    ----------
    x1, x2 : Array or number
        Of a real dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def nextafter(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Next representable number after the first operand towards the second.

    Parameters
    ----------
    x1, x2 : Array or number
        Of a real dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype if that is floating; else float16 for bool and integers
        of 8 bits, float32 for those of 16, float64 for larger ones.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def signbit(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    True where the sign bit is set, also of -0.0.

    Parameters
    ----------
    x : Array or number
        Of a real dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def isfinite(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    True where neither infinite nor NaN.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def isinf(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    True where infinite.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def isnan(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    True where NaN.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def isposinf(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    True where positive infinity.

    Parameters
    ----------
    x : Array or number
        Of a real dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def isneginf(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    True where negative infinity.

    Parameters
    ----------
    x : Array or number
        Of a real dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def real(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Real part.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype; of complex64 float32, of complex128 float64.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def imag(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Imaginary part; zero for real dtypes.

    Parameters
    ----------
    x : Array or number
        Of any dtype.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype; of complex64 float32, of complex128 float64.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def conjugate(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    Complex conjugate.

    Parameters
    ----------
    x : Array or number
        Of any dtype; bool counts as int8.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def equal(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    True where the elements are equal.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def not_equal(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    True where the elements differ.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def less(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    True where the first operand is below the second.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def less_equal(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    True where the first operand is below or equal to the second.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def greater(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    True where the first operand is above the second.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def greater_equal(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    True where the first operand is above or equal to the second.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def logical_and(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    True where both elements are true.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype; what is not zero counts as true. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def logical_or(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    True where at least one element is true.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype; what is not zero counts as true. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def logical_xor(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    True where exactly one element is true.

    Parameters
    ----------
    x1, x2 : Array or number
        Of any dtype; what is not zero counts as true. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def logical_not(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    True where the element is false.

    Parameters
    ----------
    x : Array or number
        Of any dtype; what is not zero counts as true.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of dtype bool.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def bitwise_and(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    And of the bits.

    Parameters
    ----------
    x1, x2 : Array or number
        Of an integer dtype or bool. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def bitwise_or(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Or of the bits.

    Parameters
    ----------
    x1, x2 : Array or number
        Of an integer dtype or bool. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def bitwise_xor(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Exclusive or of the bits.

    Parameters
    ----------
    x1, x2 : Array or number
        Of an integer dtype or bool. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def invert(
    x: Operand, /, out: Array | None = None, *, where: Array | bool = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """
    The bits inverted; of booleans: logical not.

    Parameters
    ----------
    x : Array or number
        Of an integer dtype or bool.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operand's dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    """

def left_shift(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Bits moved left by the second operand; zero when moved out.

    Parameters
    ----------
    x1, x2 : Array or number
        Of an integer dtype or bool, which counts as int8. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def right_shift(
    x1: Operand,
    x2: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Bits moved right by the second operand; the sign is kept.

    Parameters
    ----------
    x1, x2 : Array or number
        Of an integer dtype or bool, which counts as int8. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the operands' promoted dtype.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def _where(
    x1: Operand,
    x2: Operand,
    x3: Operand,
    /,
    out: Array | None = None,
    *,
    where: Array | bool = True,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """
    Elements of the second operand where the first is true, of the third elsewhere.

    Parameters
    ----------
    x1, x2, x3 : Array or number
        Of any dtype; of the first, what is not zero counts as true. Operands are broadcast against each other; Python numbers
        take the dtype of the arrays they meet.
    out : Array, optional
        Where the result is stored; it must have the broadcast shape, and the result must be castable to
        its dtype within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The result, of the promoted dtype of the second and third operand.
        It is recorded, and computed when it is needed. `out` itself if that was given.

    Raises
    ------
    TypeError
        An operand is not an array or a number or has a dtype that is not accepted, or the result cannot be
        cast to the dtype of `out`.
    ValueError
        The shapes do not fit each other, or that of `out`.
    ExecutionPlacementError
        Arrays are on different queues.
    OverflowError
        A Python integer is out of bounds for the dtype of the arrays it meets.
    """

def _full(shape: Sequence[int], value: complex | numpy.generic[Any], dtype: DTypeLike | None, queue: Queue) -> Array: ...
def _empty(shape: Sequence[int], dtype: DTypeLike | None, queue: Queue) -> Array: ...
def _arange(
    start: complex | numpy.generic[Any],
    stop: complex | numpy.generic[Any],
    step: complex | numpy.generic[Any],
    dtype: DTypeLike | None,
    queue: Queue,
) -> Array: ...
def _linspace(
    start: complex | numpy.generic[Any], stop: complex | numpy.generic[Any], num: int, endpoint: bool, dtype: DTypeLike | None, queue: Queue
) -> Array: ...
def _eye(rows: int, columns: int, k: int, dtype: DTypeLike | None, queue: Queue) -> Array: ...
def _tril(x: Array, k: int) -> Array: ...
def _triu(x: Array, k: int) -> Array: ...
def _iota(shape: Sequence[int], axis: int, queue: Queue) -> Array: ...

_SUM: int = 0

_PROD: int = 1

_MIN: int = 2

_MAX: int = 3

_ANY: int = 4

_ALL: int = 5

_COUNT_NONZERO: int = 6

def _reduce(
    op: int,
    x: Array,
    axes: Sequence[int] | None,
    keepdims: bool,
    dtype: DTypeLike | None = None,
    where: Array | None = None,
    initial: object | None = None,
) -> Array: ...
def _mean(x: Array, axes: Sequence[int] | None, keepdims: bool, dtype: DTypeLike | None, where: Array | None) -> Array: ...
def _var(
    x: Array, axes: Sequence[int] | None, correction: float, keepdims: bool, dtype: DTypeLike | None, where: Array | None
) -> Array: ...
def _std(
    x: Array, axes: Sequence[int] | None, correction: float, keepdims: bool, dtype: DTypeLike | None, where: Array | None
) -> Array: ...
def _argmin(x: Array, axis: int | None, keepdims: bool) -> Array: ...
def _argmax(x: Array, axis: int | None, keepdims: bool) -> Array: ...
def _cumulative(op: int, x: Array, axis: int | None, dtype: DTypeLike | None, include_initial: bool) -> Array: ...
def _reshape(x: Array, shape: Sequence[int], copy: bool | None = None) -> Array: ...
def _permute_dims(x: Array, axes: Sequence[int]) -> Array: ...
def _broadcast_to(x: Array, shape: Sequence[int]) -> Array: ...
def _expand_dims(x: Array, axes: Sequence[int]) -> Array: ...
def _squeeze(x: Array, axes: Sequence[int] | None) -> Array: ...
def _flip(x: Array, axes: Sequence[int] | None) -> Array: ...
def _moveaxis(x: Array, source: Sequence[int], destination: Sequence[int]) -> Array: ...
def _diagonal(x: Array, offset: int, axis1: int, axis2: int) -> Array: ...
def _broadcast_arrays(arrays: Sequence[Array]) -> list[Array]: ...
def _concat(arrays: Sequence[Array], axis: int | None) -> Array: ...
def _stack(arrays: Sequence[Array], axis: int) -> Array: ...
def _roll(x: Array, shift: Sequence[int], axes: Sequence[int] | None) -> Array: ...
def _repeat(x: Array, count: int, axis: int | None) -> Array: ...
def _repeat_each(x: Array, counts: Array, axis: int | None) -> Array: ...
def _tile(x: Array, repetitions: Sequence[int]) -> Array: ...
def _diff(x: Array, n: int, axis: int, prepend: Array | None, append: Array | None) -> Array: ...
def _sort(x: Array, axis: int, descending: bool, stable: bool) -> Array: ...
def _argsort(x: Array, axis: int, descending: bool, stable: bool) -> Array: ...
def _partition(x: Array, kth: Sequence[int], axis: int) -> Array: ...
def _argpartition(x: Array, kth: Sequence[int], axis: int) -> Array: ...
def _top_k(x: Array, k: int, axis: int, largest: bool) -> tuple[Array, Array]: ...
def _searchsorted(sorted: Array, values: Array, right: bool, sorter: Array | None) -> Array: ...
def _nonzero(x: Array) -> list[Array]: ...
def _take(x: Array, indices: Array, axis: int | None) -> Array: ...
def _take_along_axis(x: Array, indices: Array, axis: int) -> Array: ...
def _matmul(a: Array, b: Array) -> Array: ...
def _vecdot(a: Array, b: Array, axis: int) -> Array: ...
def _tensordot(a: Array, b: Array, axes_a: Sequence[int], axes_b: Sequence[int]) -> Array: ...
def _unique(x: Array) -> tuple[Array, Array, Array, Array]: ...
def _set_openblas_path(path: str) -> None: ...
def _op_table() -> list[tuple[str, int, str, str, str, str]]: ...
def _promote(a: DTypeLike, b: DTypeLike) -> DTypeLike: ...
def _promote_weak(dtype: DTypeLike, scalar: complex | numpy.generic[Any]) -> DTypeLike: ...
def _can_cast_safe(source: DTypeLike, target: DTypeLike) -> bool: ...
def _can_cast_same_kind(source: DTypeLike, target: DTypeLike) -> bool: ...
