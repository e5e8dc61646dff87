# python/pardo/_generate/vectorize.py: functions on arrays made of Python functions by NumPy's name; they are compiled.
from __future__ import annotations

import ast
import inspect
import itertools
import math
import re
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array import contexts
from pardo._array.interop import asarray
from pardo._base.arguments import SCALARS, array, dtype_of, given_count, on_queue
from pardo._base.public_names import publish_module
from pardo._compiler import texts
from pardo._compiler.source import source_of
from pardo._core import Array
from pardo._generate import templates
from pardo._generate.generators import _function, _Made, _name_of, _returned
from pardo._language.index_space import Const, Item, Range

__all__ = ["vectorize"]


def each(item: Item, f: Any, inputs: Any, whole: Any, outputs: Any, single: Const[int]) -> None:
    i = item.get_id(0)
    templates.put(outputs, i, f(*templates.take(inputs, i), *whole), single)


def each_part(item: Item, f: Any, inputs: Any, whole: Any, outputs: Any, single: Const[int]) -> None:
    i = item.get_id(0)
    result = f(*templates.take(inputs, i), *whole)
    if single:
        outputs[0][i][:] = result
    else:
        for out, value in zip(outputs, result, strict=False):
            out[i][:] = value


class vectorize(_Made):  # noqa: N801 (NumPy's name)
    """Make a function on arrays of a Python function on elements; it is compiled for the device.

    Parameters
    ----------
    pyfunc : callable
        Takes one element of each argument, and gives a number, or a tuple for several results. It is compiled as the functions of kernels
        are: it may branch, loop, and call others. Methods of objects, objects with ``__call__`` and `functools.partial` are taken too: what
        they read of their object are numbers. Left out, a decorator is made.
    otypes : str or sequence of data type, optional
        Dtypes of the results. Default: those of what the function gives.
    doc : str, optional
        The docstring. Default: that of the function.
    excluded : set of int or str, optional
        Positions and names of arguments that the function gets as they are: whole arrays, numbers.
    cache : bool, optional
        NumPy's; no call is needed to know the dtypes.
    signature : str, optional
        Dimensions that the function takes together, as ``'(n),(n)->()'``: it gets views of arrays. Results with dimensions need `otypes`,
        and are views of one dimension, whose extents are among those of the arguments.

    Raises
    ------
    TypeError
        `pyfunc` is no function that can be compiled.
    ValueError
        The number of `otypes` is not that of the results, or `signature` is none.
    CompileError
        At a call: the function uses something of Python that cannot be compiled. The message says what, and in which line. There is no
        other way to run it: to call the interpreter for each element, use `numpy.vectorize` on arrays of NumPy's.

    See Also
    --------
    elementwise, kernel, jit, ufunc

    Examples
    --------
    >>> import pardo as pp
    >>> def clipped_difference(a, b):
    ...     return a - b if a > b else a + b
    >>> f = pp.vectorize(clipped_difference)
    >>> f(pp.asarray([1, 2, 3, 4]), 2)
    array([3, 4, 1, 2])
    """

    def __init__(
        self,
        pyfunc: Any = None,
        otypes: str | Iterable[DTypeLike] | None = None,
        doc: str | None = None,
        excluded: Iterable[int | str] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        self.excluded = frozenset(excluded or ())
        self.signature = signature
        self._core_dimensions = None if signature is None else parsed_signature(signature)
        if otypes is not None and not isinstance(otypes, Iterable):
            raise ValueError(f"vectorize: otypes must be a text of type characters or a sequence of data types, not {otypes!r}")
        self._dtypes = None if otypes is None else tuple(dtype_of(t, "vectorize: otypes") for t in otypes)
        self.otypes = None if self._dtypes is None else "".join(t.char for t in self._dtypes)
        self._doc = doc
        self._options = (otypes, doc, excluded, cache, signature)
        self.pyfunc: Any = None
        if pyfunc is not None:
            self._take(pyfunc)

    def _take(self, pyfunc: Any) -> None:
        super().__init__(_name_of(pyfunc, "vectorize"), False, (pyfunc, *self._options))
        self.pyfunc, self.__wrapped__ = pyfunc, _function(pyfunc, "vectorize", "pyfunc")
        self.__doc__ = self._doc if self._doc is not None else pyfunc.__doc__
        self._ordered: dict[tuple[int, ...], Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function for all elements; as a decorator made without a function, take it."""
        if self.pyfunc is None:
            (pyfunc,) = args
            self._take(pyfunc)
            return self
        return _copying(self, *args, **kwargs)

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], list[int]]:
        """All arguments by position, and the positions of those that the function gets as they are."""
        excluded = {k for k in self.excluded if isinstance(k, int)}
        values = list(args)
        if isinstance(self.__wrapped__, types.FunctionType):
            signature = inspect.signature(self.__wrapped__)
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as e:
                raise TypeError(f"{self.__name__}: {e}") from None
            names = list(signature.parameters)
            excluded |= {names.index(k) for k in self.excluded if k in names}
            left_out = set(names) - set(bound.arguments)
            bound.apply_defaults()
            if not any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()):
                values = [bound.arguments[name] for name in names]
                excluded |= {names.index(name) for name in left_out}
        elif kwargs:
            raise TypeError(f"{self.__name__}: the function takes no keywords")
        return values, sorted(k for k in excluded if k < len(values))

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        op_name = self.__name__
        values, whole = self._arguments(args, kwargs)
        given = [k for k in range(len(values)) if k not in whole]
        if not given:
            raise ValueError(f"{op_name}: at least one argument is needed that is not excluded")
        inputs = _prepared([values[k] for k in given], op_name)
        function = self._in_order((*given, *whole))
        names, results = self._core_dimensions or ([[] for _ in given], None)
        if len(names) != len(given):
            raise TypeError(f"{op_name}: the signature {self.signature} is for {len(names)} arguments, but {given_count(len(given))}")
        shape, sizes, inputs = flattened_inputs(inputs, names, op_name)
        count = math.prod(shape)
        others = tuple(values[k] for k in whole)
        queue = next(x.queue for x in inputs if type(x) is Array)
        try:
            dtypes, single = self._result_types(function, inputs, others, results, queue)
        except (TypeError, ValueError, _core.CompileError):
            if not _gives_text(self.__wrapped__):
                raise
            raise TypeError(
                f"{op_name}: the function gives texts, and arrays hold numbers: let it give numbers, and take texts on the host, "
                "as in numpy.array(['small', 'large'])[pardo.asnumpy(f(x))]"
            ) from None
        cores = [[sizes[n] for n in part] for part in results] if results is not None else [[] for _ in dtypes]
        outputs = tuple(_core._empty([count, *core], t, queue) for t, core in zip(dtypes, cores, strict=True))
        if count and all(x.size for x in outputs):
            kernel = self._kernel(each_part if any(cores) else each)
            kernel[Range(count)](function, tuple(inputs), others, outputs, int(single))
        made = tuple(_core._reshape(x, [*shape, *core]) for x, core in zip(outputs, cores, strict=True))
        return made[0] if single else made

    def _in_order(self, positions: tuple[int, ...]) -> Any:
        """The function for arguments of which those that are excluded come last."""
        by_name = getattr(getattr(self.__wrapped__, "__code__", None), "co_kwonlyargcount", 0)
        if positions == tuple(range(len(positions))) and not by_name:
            return self.__wrapped__
        if positions not in self._ordered:
            order = tuple(positions.index(k) for k in range(len(positions)))
            self._ordered[positions] = _with_keywords(self.__wrapped__, order) if by_name else _reordered(self.__wrapped__, order)
        return self._ordered[positions]

    def _result_types(
        self, function: Any, inputs: Sequence[Any], others: tuple[Any, ...], results: list[list[str]] | None, queue: Any
    ) -> tuple[tuple[Any, ...], bool]:
        """Dtypes of the results, and whether it is one alone."""
        if results is not None and any(results):
            if not all(len(part) == 1 for part in results):
                raise ValueError(f"{self.__name__}: results have one dimension each, or none: {self.signature}")
            if self._dtypes is None:
                raise ValueError(f"{self.__name__}: results with dimensions need otypes")
            if len(self._dtypes) != len(results):
                raise ValueError(f"{self.__name__}: {len(results)} results, but {len(self._dtypes)} otypes")
            return self._dtypes, len(results) == 1
        examples = tuple(_example(x) for x in inputs) + others
        given = _returned(function, examples, queue, self.__name__)
        single = not isinstance(given, tuple)
        found = (given,) if single else tuple(given)
        if results is not None and len(results) != len(found):
            raise ValueError(f"{self.__name__}: the function gives {len(found)} results, the signature says {len(results)}")
        if self._dtypes is not None:
            if len(self._dtypes) != len(found):
                raise ValueError(f"{self.__name__}: the function gives {len(found)} results, but there are {len(self._dtypes)} otypes")
            found = self._dtypes
        return found, single

    def __repr__(self) -> str:
        return f"<vectorize {'decorator' if self.pyfunc is None else self.__name__}>"


_numbers = itertools.count()  # texts have names of their own
_copying: Callable[..., Any] = contexts.copying(vectorize._call)


def _gives_text(function: Any) -> bool:
    """Whether a value that a function returns is certainly a text."""
    if not isinstance(function, types.FunctionType):
        return False
    node = source_of(function).node
    values = [node.body] if isinstance(node, ast.Lambda) else [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
    while values:
        value = values.pop()
        if isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str)):
            return True
        if isinstance(value, ast.IfExp):
            values += [value.body, value.orelse]
        elif isinstance(value, ast.Tuple):
            values += value.elts
    return False


def _with_keywords(function: types.FunctionType, order: tuple[int, ...]) -> Callable[..., Any]:
    """As _reordered, of a function with parameters that are given by name only: a text that gives them."""
    parameters = inspect.signature(function).parameters.values()
    given = [(p.name + "=" if p.kind is p.KEYWORD_ONLY else "") + f"x{k}" for p, k in zip(parameters, order, strict=True)]
    lines = [f"def call({', '.join(f'x{k}' for k in range(len(order)))}):", f"    return function({', '.join(given)})"]
    made: Callable[..., Any] = texts.functions_of(f"vectorize {next(_numbers)}", lines, {"function": function})["call"]
    return made


def _reordered(function: Any, order: tuple[int, ...]) -> Callable[..., Any]:
    def call(*given: Any) -> Any:
        arguments: tuple[Any, ...] = ()
        for k in order:
            arguments = (*arguments, given[k])
        return function(*arguments)

    return call


def parsed_signature(signature: str, op_name: str = "vectorize") -> tuple[list[list[str]], list[list[str]]]:
    """Names of the dimensions of arguments and results."""
    part = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
    parts = rf"{part}(?:\s*,\s*{part})*"
    if not isinstance(signature, str) or not re.fullmatch(rf"\s*{parts}\s*->\s*{parts}\s*", signature):
        raise ValueError(f"{op_name}: not a valid gufunc signature: {signature}")
    arguments, results = ([re.findall(r"\w+", p) for p in re.findall(r"\(([^)]*)\)", side)] for side in signature.split("->"))
    known = {n for p in arguments for n in p}
    if missing := [n for p in results for n in p if n not in known]:
        raise ValueError(f"{op_name}: signature {signature}: {missing[0]} is no dimension of an argument")
    return arguments, results


def _prepared(values: list[Any], op_name: str) -> list[Any]:
    """Arrays, and numbers, which have dtypes of their own, as elements have: at least one is an array."""
    home = next((x for x in values if type(x) is Array), None)
    made = []
    for k, x in enumerate(values):
        if _core._is_host_data(x) or isinstance(x, (list, tuple)):
            x = on_queue(x, home.queue, op_name) if home is not None else array(x, op_name)  # which says that it is to be copied
        elif isinstance(x, SCALARS):
            x = np.asarray(x)[()]
        elif type(x) is not Array:
            raise TypeError(f"{op_name}: argument {k}: an array or a number is expected, not {type(x).__name__}")
        made.append(x)
    return made if any(type(x) is Array for x in made) else [asarray(made[0]), *made[1:]]


def flattened_inputs(inputs: list[Any], names: list[list[str]], op_name: str) -> tuple[list[int], dict[str, int], list[Any]]:
    """The shape of the results but for the signature's dimensions, the extents of these, and arrays with one dimension for the rest."""
    sizes: dict[str, int] = {}
    for k, (x, part) in enumerate(zip(inputs, names, strict=True)):
        own = list(x.shape) if type(x) is Array else []
        if len(own) < len(part):
            raise ValueError(f"{op_name}: argument {k} has {len(own)} dimensions, the signature asks for {len(part)}")
        for n, extent in zip(part, own[len(own) - len(part) :], strict=True):
            if sizes.setdefault(n, extent) != extent:
                raise ValueError(f"{op_name}: dimension {n} is {sizes[n]} and {extent}")
    outer = [x.shape[: x.ndim - len(part)] for x, part in zip(inputs, names, strict=True) if type(x) is Array]
    try:
        shape = list(np.broadcast_shapes(*outer))
    except ValueError:
        raise ValueError(f"{op_name}: arguments of shapes {', '.join(map(str, outer))} cannot be broadcast together") from None
    flat = []
    for x, part in zip(inputs, names, strict=True):
        if type(x) is Array:
            own = list(x.shape[x.ndim - len(part) :])
            x = _core._reshape(_core._broadcast_to(x, [*shape, *own]), [math.prod(shape), *own])
        flat.append(x)
    return shape, sizes, flat


def _example(x: Any) -> Any:
    """What the function gets of an argument."""
    if type(x) is not Array:
        return x
    if x.ndim == 1:
        return x.dtype.type(0)
    return x[0] if x.shape[0] else _core._empty(list(x.shape[1:]), x.dtype, x.queue)


publish_module(globals(), "pardo")
