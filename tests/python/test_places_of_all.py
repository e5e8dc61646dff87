# tests/python/test_places_of_all.py: every public function of arrays, by calls that it takes: results are on the queue of the operands, in
# memory of their kind; values of the host alone go to the default device, and guards see them.
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES

LINE, WHOLE, MASK = np.array([3.0, 1.0, 2.0, 4.0]), np.array([2, 0, 3, 1]), np.array([True, False, True, True])
SQUARE = np.array([[4.0, 1.0, 0.0, 0.0], [1.0, 5.0, 1.0, 0.0], [0.0, 1.0, 6.0, 1.0], [0.0, 0.0, 1.0, 7.0]])
IMAGE = np.arange(30.0).reshape(5, 6)
# What functions are tried with: a list stands for several arrays in one argument.
CALLS: list[tuple[Any, ...]] = [
    (LINE,),
    (SQUARE,),
    (WHOLE,),
    (MASK,),
    ([LINE, LINE],),
    (LINE, LINE),
    (SQUARE, SQUARE),
    (SQUARE, LINE),
    (WHOLE, WHOLE),
    (LINE, WHOLE),
    (LINE, 2),
    (LINE, 0.5),
    (WHOLE, 2),
    (IMAGE, 2.0),
    (LINE, LINE, LINE),
    (SQUARE, 1, LINE),
    (LINE, 1, 2),
    (LINE, (2, 2)),
    (MASK, LINE, LINE),
    (LINE, WHOLE, 0),
    (LINE, [0.5, 2.5]),
    ([MASK], [LINE]),
    ("ij,jk", SQUARE, SQUARE),
]
MODULES = {"": pp, "linalg": pp.linalg, "fft": pp.fft, "ndimage": pp.ndimage, "signal": pp.signal}
# These are not functions of arrays, or their results are elsewhere on purpose.
OTHERS = {
    "asarray", "array", "asanyarray",  # take usm_type= and queue=, and keep what they are given: test_memory_kinds.py
    "set_default_device", "set_allocator", "set_memory_limit", "device_context", "transfer_guard", "allow_implicit_copies",
    "test", "wait", "wait_all", "wait_any", "as_completed", "jit", "kernel", "func", "elementwise", "reduction", "scan", "vectorize",
    # Makers, of which numbers are sizes or values of other kinds: test_placement.py
    "empty", "zeros", "ones", "full", "eye", "identity", "indices", "tri", "fromiter", "frombuffer", "fromstring", "fromfunction",
    "ipc_empty",
    "save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "genfromtxt", "fromfile", "offload", "data",
}  # fmt: skip


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module, where in MODULES.items():
        for name in sorted(dir(where)):
            f = getattr(where, name)
            if name.startswith("_") or name in OTHERS or isinstance(f, (type, pp.ufunc)) or not callable(f):
                continue
            if (inspect.getmodule(f) or pp).__name__.startswith(("pardo._host", "pardo._runtime", "pardo._kernel", "pardo._language")):
                continue
            yield f"{module}.{name}".lstrip("."), f


@pytest.fixture(params=[pytest.param(d, marks=pytest.mark.varied(*["name"][: d.backend != "cpu"])) for d in DEVICES], ids=str, autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[pp.Device]:
    """The device of what is made from the host's values alone."""
    before = pp.Device()
    pp.set_default_device(request.param)
    yield request.param
    pp.set_default_device(before)


def mapped(x: Any, make: Callable[[Any], Any]) -> Any:
    if isinstance(x, list) and x and isinstance(x[0], np.ndarray):
        return [make(part) for part in x]
    return make(x) if isinstance(x, np.ndarray) else x


def arrays_in(x: Any) -> Iterator[pp.Array]:
    if isinstance(x, pp.Array):
        yield x
    elif isinstance(x, (list, tuple)):
        for part in x:
            yield from arrays_in(part)


def taken(f: Callable[..., Any]) -> Iterator[tuple[Any, ...]]:
    """The first calls that a function takes."""
    count = 0
    for arguments in CALLS:
        try:
            result = f(*(mapped(x, lambda h: pp.asarray(h)) for x in arguments))
            found = list(arrays_in(result))
            pp.wait(*found)
        except Exception:
            continue
        if found:
            yield arguments
            count += 1
        if count == 3:
            return


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, _ in functions()])
def test_results_are_where_operands_are(name, device):
    f = dict(functions())[name]
    for arguments in taken(f):
        for kind in ("host", "shared"):
            queue = pp.Queue(device)
            result = f(*(mapped(x, lambda h, q=queue, k=kind: pp.asarray(h, queue=q, usm_type=k)) for x in arguments))
            for x in arrays_in(result):
                assert x.queue == queue, f"{name}{arguments}: a result is on {x.queue}"
                assert x.usm_type == kind, f"{name}{arguments}: a result has memory of the kind {x.usm_type}, not {kind}"
        with pp.device_context(device):
            result = f(*(mapped(x, lambda h: pp.asarray(h, usm_type="shared")) for x in arguments))
        assert {x.usm_type for x in arrays_in(result)} == {"shared"}, f"{name}{arguments}: inside of a context"


# Where functions take other ways than the calls above show: by places that are known on the host, and by weights.
WAYS: dict[str, Callable[[Any], Any]] = {
    "quantile of an integer": lambda x: pp.quantile(x, 0),
    "quantile of an element": lambda x: pp.quantile(x, 0.5, method="lower"),
    "percentiles of elements": lambda x: pp.percentile(x, [20, 50], method="nearest"),
    "quantile with weights": lambda x: pp.quantile(x, 0.5, weights=x, method="inverted_cdf"),
    "nanquantile of an element": lambda x: pp.nanquantile(x, 0.5, method="higher"),
    "quantiles of columns": lambda x: pp.quantile(pp.stack([x, x]), 1, axis=0),
    "edges of a histogram": lambda x: pp.histogram(x, 3)[1],
    "edges": lambda x: pp.histogram_bin_edges(x, 3),
}


@pytest.mark.parametrize("kind", ["host", "shared"])
@pytest.mark.parametrize("name", WAYS)
def test_numbers_of_the_library_leave_the_kind_of_memory(name, kind, device):
    queue = pp.Queue(device)
    x = WAYS[name](pp.asarray(LINE, queue=queue, usm_type=kind))
    assert (x.queue, x.usm_type) == (queue, kind)


# Their other arguments are not operands; or each result is that of one operand; or coefficients decide what is computed on the host.
NO_OPERANDS = {
    "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "hsplit", "linalg.matrix_rank", "meshgrid", "nan_to_num",
    "ndimage.convolve", "ndimage.correlate", "real_if_close", "split", "trapezoid", "delete",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, _ in functions() if name not in NO_OPERANDS])
def test_values_of_the_host_leave_the_kind_of_memory(name):
    f = dict(functions())[name]
    for arguments in taken(f):
        for only in (k for k, x in enumerate(arguments) if isinstance(x, np.ndarray)):
            for make in (lambda h: h, lambda h: h.tolist()):
                given = [pp.asarray(x, usm_type="shared") if k == only else mapped(x, make) for k, x in enumerate(arguments)]
                try:
                    found = list(arrays_in(f(*given)))
                except (TypeError, ValueError):  # an argument has to be an array
                    continue
                for x in found:
                    assert x.usm_type == "shared", f"{name}{arguments}: of argument {only}, memory of the kind {x.usm_type}"


# These are asked for a copy by name, or take a list of numbers for as many operands, or their third argument is `out`.
BY_NAME = {"unordered", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "copy", "from_dlpack", "require", "choose"}
JOINS = {"block", "column_stack", "dstack", "hstack", "lexsort", "row_stack", "stack", "vstack"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, _ in functions() if name not in BY_NAME])
def test_values_of_the_host_alone(name, device):
    f = dict(functions())[name]
    for arguments in taken(f):
        if name in JOINS and not isinstance(arguments[0], list):
            continue
        if any(isinstance(x, list) and x and not isinstance(x[0], np.ndarray) for x in arguments):
            continue
        for make in (lambda h: h, lambda h: h.tolist()):
            given = [mapped(x, make) for x in arguments]
            before = pp.counters()["copies"]
            result = f(*given)
            found = list(arrays_in(result))
            assert found, f"{name}{arguments}: {type(result).__name__} came back"
            assert pp.counters()["copies"] > before, f"{name}{arguments}: no copy was counted"
            for x in found:
                assert x.queue == pp.Queue.of(device)
            with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match="would copy"):
                f(*given)
