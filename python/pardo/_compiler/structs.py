# python/pardo/_compiler/structs.py: structs: several values under names, in kernels and as arguments; of arrays, arrays of structs.
from __future__ import annotations

import dataclasses
import functools
import operator
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from pardo._array import creation, interop
from pardo._base import promotion
from pardo._base.arguments import given_count
from pardo._base.tracebacks import show_classes
from pardo._core import Array, _Image, _Sampler


class Struct:
    """What classes made by `struct` are derived from. Values do not change: ``p._replace(x=1)`` makes another."""

    __slots__ = ()
    _pardo_struct: ClassVar[bool] = True
    _fields: ClassVar[tuple[str, ...]] = ()
    _types: ClassVar[tuple[Any, ...]] = ()  # a dtype, a struct, or None for anything
    _defaults: ClassVar[dict[str, Any]] = {}
    _dimensions = 0  # of arrays of records
    _class: ClassVar[Any] = None  # what the compiler takes for it (classes.Compiled), if it has a name
    __array_ufunc__ = None  # numbers of NumPy leave operators to the struct's

    def __init__(self, *values: Any, **named: Any) -> None:
        name = type(self).__name__
        if len(values) > len(self._fields):
            raise TypeError(f"{name}: takes {len(self._fields)} values, but {given_count(len(values))}")
        given = dict(zip(self._fields, values, strict=False))
        for field, value in named.items():
            if field not in self._fields:
                raise TypeError(f"{name}: there is no field `{field}`; it has {', '.join(self._fields)}")
            if field in given:
                raise TypeError(f"{name}: `{field}` is given twice")
            given[field] = value
        if missing := [f for f in self._fields if f not in given and f not in self._defaults]:
            raise TypeError(f"{name}: no value for {', '.join(f'`{f}`' for f in missing)}")
        for field, kind in zip(self._fields, self._types, strict=True):
            value = given.get(field, self._defaults.get(field))
            object.__setattr__(self, field, _converted(value, kind, f"{name}: `{field}`"))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__}: fields do not change; make another with _replace({name}=…)")

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, f) for f in self._fields)

    def _replace(self, **named: Any) -> Any:
        """Make a struct that differs in the fields given."""
        return type(self)(**{**dict(zip(self._fields, self._values(), strict=True)), **named})

    def _map(self, change: Callable[[Any], Any], kind: type[Any] | None = None) -> Any:
        """Make a struct of the same class, or of one like it, whose fields are changed, as they are, without conversion."""
        made = object.__new__(kind or type(self))
        for field in self._fields:
            object.__setattr__(made, field, change(getattr(self, field)))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Values as they are, without conversion: what Python does by itself sets fields, which do not change."""
        if type(self) is record(self._fields):  # found by its fields, not by a name
            return _remade_record, (self._fields, self._values())
        return _remade, (type(self) if self._class is None else self._class.kind, self._values())

    def __eq__(self, other: object) -> Any:
        if not _alike(self, other):
            return NotImplemented
        return all(bool(np.all(a == b)) for a, b in zip(self._values(), other._values(), strict=True))  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{f}={getattr(self, f)!r}' for f in self._fields)})"

    # --- structs of arrays

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the arrays that are its fields."""
        return tuple(self._values()[0].shape)

    @property
    def ndim(self) -> int:
        """Dimensions of the arrays that are its fields."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Elements of each of the arrays that are its fields."""
        return int(np.prod(self.shape, dtype=np.int64))

    def __len__(self) -> int:
        return len(self._values()[0])

    def __iter__(self) -> Iterator[Any]:
        """Fields, as kernels unpack them; of a struct of arrays its elements."""
        fields = (leaf for leaf in leaves(self) if not isinstance(leaf, Struct))
        of_arrays = all(getattr(leaf, "ndim", 0) for leaf in fields)
        return map(self.__getitem__, range(len(self))) if of_arrays else iter(self._values())

    def __getitem__(self, index: Any) -> Any:
        return getattr(self, index) if isinstance(index, str) else self._map(operator.itemgetter(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        if not _alike(value, self):
            raise TypeError(f"an element here is a {type(self).__name__}, not {type(value).__name__}")
        for mine, other in zip(self._values(), value._values(), strict=True):
            mine[index] = other

    @classmethod
    def zeros(cls, shape: Any, **keywords: Any) -> Any:
        """Make an array of structs: a struct whose fields are arrays of zeros.

        Parameters
        ----------
        shape : int or tuple of int
            Of each field.
        **keywords
            As for `pardo.zeros`: ``device``, ``queue``, ``usm_type``.

        Returns
        -------
        Struct
            ``p[i]`` is the struct of the fields' elements.
        """
        return cls(*(k.zeros(shape, **keywords) if _is_struct(k) else creation.zeros(shape, cls._dtype(k), **keywords) for k in cls._types))

    @classmethod
    def from_numpy(cls, records: Any, **keywords: Any) -> Any:
        """Copy a structured NumPy array into an array of structs.

        Parameters
        ----------
        records : numpy.ndarray
            Of a dtype with this struct's fields.
        **keywords
            As for `pardo.asarray`: ``device``, ``queue``, ``usm_type``.

        Returns
        -------
        Struct
            Its fields are arrays.
        """
        records = np.asarray(records)
        if records.dtype.names != cls._fields:
            raise TypeError(
                f"{cls.__name__}: an array of records with the fields {', '.join(cls._fields)} is expected, not {records.dtype}"
            )
        arrays = []
        for name, kind in zip(cls._fields, cls._types, strict=True):
            if _is_struct(kind):
                arrays.append(kind.from_numpy(records[name], **keywords))
            else:
                arrays.append(interop.asarray(np.ascontiguousarray(records[name], kind), **keywords))
        return cls(*arrays)

    def to_numpy(self) -> Any:
        """Copy to a structured NumPy array, or to one record."""
        columns = [
            v.to_numpy() if isinstance(v, Struct) else interop.asnumpy(v) if type(v) is Array else np.asarray(v) for v in self._values()
        ]
        made = np.empty(columns[0].shape, [(f, c.dtype) for f, c in zip(self._fields, columns, strict=True)])
        for field, column in zip(self._fields, columns, strict=True):
            made[field] = column
        return made

    @classmethod
    def _dtype(cls, kind: Any) -> Any:
        if kind is None:
            raise TypeError(f"{cls.__name__}: a field without a dtype; make the arrays, and the struct of them")
        return kind


def _remade(kind: type[Struct], values: tuple[Any, ...]) -> Any:
    """A struct from what `__reduce__` gave."""
    made = object.__new__(kind)
    for field, value in zip(kind._fields, values, strict=True):
        object.__setattr__(made, field, value)
    return made


def _remade_record(names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return _remade(record(names), values)


def _alike(a: Any, b: Any) -> bool:
    """True for structs of one class, also where plain Python runs a kernel and one of them has its functions from there; records are alike
    where their fields are."""
    if type(a) is type(b):
        return True
    if not isinstance(a, Struct) or not isinstance(b, Struct):
        return False
    return a._class is b._class and a._fields == b._fields


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type)


def _converted(value: Any, kind: Any, op_name: str) -> Any:
    """A field's value: numbers in the field's dtype; arrays must have it."""
    if kind is None:
        return value
    if isinstance(kind, type):
        if not isinstance(value, kind) and not (isinstance(value, Struct) and value._class is getattr(kind, "_class", None) is not None):
            raise TypeError(f"{op_name} is a {kind.__name__}, not {type(value).__name__}")
        return value
    if isinstance(value, (Array, np.ndarray)):
        if value.dtype != kind:
            raise TypeError(f"{op_name} is {kind}, and the array is {value.dtype}; convert it with astype")
        return value
    # As arrays: Python's integers are checked by the dtype itself.
    if (
        not isinstance(value, int)
        and (isinstance(value, (float, complex, np.number)) or promotion.is_number_of_bfloat16(value))
        and not promotion.can_cast(np.asarray(value).dtype, kind, "same_kind")
    ):
        raise TypeError(f"{op_name} is {kind}, which cannot take {value!r} without loss; convert it: np.{kind}(…)")
    try:
        return kind.type(value)
    except (TypeError, ValueError):
        raise TypeError(f"{op_name} is {kind}, which cannot take {value!r}") from None


class Columns(Struct):
    """Arrays that are indexed as one array of tuples."""

    __slots__ = ("_parts",)
    _parts: tuple[Any, ...]

    def __init__(self, parts: tuple[Any, ...]) -> None:
        object.__setattr__(self, "_parts", parts)

    def _values(self) -> tuple[Any, ...]:
        return self._parts

    def _map(self, change: Callable[[Any], Any], kind: type[Any] | None = None) -> Columns:
        return Columns(tuple(map(change, self._parts)))

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(part[index] for part in self._parts)

    def __setitem__(self, index: Any, value: tuple[Any, ...]) -> None:
        for part, item in zip(self._parts, value, strict=True):
            part[index] = item


def numpy_record(names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """NumPy's record with these fields."""
    fields = [(n, np.asarray(v).dtype) for n, v in zip(names, values, strict=True)]
    return np.array(values, fields)[()]


@functools.cache
def record(names: tuple[str, ...]) -> type[Struct]:
    """The struct for values with these fields."""
    return type("record", (Struct,), {"__slots__": names, "_fields": names, "_types": (None,) * len(names)})


@functools.cache
def named_tuple(names: tuple[str, ...]) -> type[Struct]:
    """The struct for named tuples with these fields, which are indexed as tuples."""
    fields = {"__slots__": names, "_fields": names, "_types": (None,) * len(names), "_dimensions": -1}
    return type("named tuple", (Struct,), fields)


class Records(Struct):
    """NumPy's records as kernels see them: the fields of an array of them. An element is a view, whose fields have no dimensions."""

    __slots__ = ("_dimensions", "_parts")
    _parts: tuple[Any, ...]

    def __init__(self, parts: tuple[Any, ...], dimensions: int) -> None:
        object.__setattr__(self, "_parts", parts)
        object.__setattr__(self, "_dimensions", dimensions)

    def _values(self) -> tuple[Any, ...]:
        return self._parts

    def _map(self, change: Callable[[Any], Any], kind: type[Any] | None = None) -> Records:
        made = tuple(map(change, self._parts))
        fewer = getattr(self._parts[0], "ndim", 0) - getattr(made[0], "ndim", 0)
        return type(self)(made, self._dimensions - fewer)

    def _replace(self, **named: Any) -> Any:
        values = dict(zip(self._fields, self, strict=True))
        return record(self._fields)(**{**values, **named})

    def __getattr__(self, name: str) -> Any:
        if name not in self._fields:
            raise AttributeError(f"records of {', '.join(self._fields)} have no field `{name}`")
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._fields:
            raise AttributeError(f"records of {', '.join(self._fields)} have no field `{name}`")
        self[name] = value

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            if index not in self._fields:
                raise ValueError(f"records of {', '.join(self._fields)} have no field `{index}`")
            part = self._parts[self._fields.index(index)]
            return part[()] if getattr(part, "ndim", None) == 0 and not isinstance(part, Records) else part
        if self._dimensions == 0:
            return self[self._fields[index]]
        places = index if isinstance(index, tuple) else (index,)
        left = self._dimensions - sum(not isinstance(p, slice) for p in places)
        if len(places) > self._dimensions:
            raise IndexError(f"records of {self._dimensions} dimensions are indexed with {len(places)} indices")
        return type(self)(tuple(part[index] if isinstance(part, Records) else part[(*places, ...)] for part in self._parts), left)

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, str):
            if self._dimensions:
                self[index]._assign(value)
            else:
                self[self._fields[index]] = value
            return
        if index not in self._fields:
            raise ValueError(f"records of {', '.join(self._fields)} have no field `{index}`")
        part = self._parts[self._fields.index(index)]
        if isinstance(part, Records):
            part._assign(value)
        else:
            part[...] = value

    def _assign(self, value: Any) -> None:
        if not (type(value) is tuple or isinstance(value, Struct)) or getattr(value, "_fields", self._fields) != self._fields:
            raise TypeError(f"a record of {', '.join(self._fields)} cannot take {type(value).__name__}")
        values = value._values() if isinstance(value, Struct) else value
        for field, item in zip(self._fields, values, strict=True):
            self[field] = item

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)) if self._dimensions else self._fields)

    def __len__(self) -> int:
        return len(self._values()[0]) if self._dimensions else len(self._fields)

    def __repr__(self) -> str:
        return f"records of {', '.join(self._fields)}, of shape {self.shape}" if self._dimensions else repr(self._value())

    def __str__(self) -> str:
        return repr(self) if self._dimensions else str(self._value())

    def _value(self) -> Any:
        """NumPy's record with the values that an element has now."""
        return numpy_record(self._fields, tuple(v._value() if isinstance(v, Records) else v for v in self))

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Struct) or other._fields != self._fields:
            return NotImplemented
        return all(bool(np.all(a == b)) for a, b in zip(self._values(), other._values(), strict=True))

    __hash__ = None  # type: ignore[assignment]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._parts[0].shape)[: self._dimensions]


@functools.cache
def records_class(names: tuple[str, ...]) -> type[Records]:
    """The class of arrays of records with these fields."""
    return type("record", (Records,), {"__slots__": (), "_fields": names, "_types": (None,) * len(names)})


def of_records(array: np.ndarray[Any, Any]) -> Struct:
    """A structured NumPy array as a struct of its fields, which share its memory."""
    names = array.dtype.names or ()
    parts = tuple(of_records(array[n]) if array[n].dtype.names else np.asarray(array[n]) for n in names)
    return records_class(names)(parts, array.ndim)


_SIMPLE = frozenset([Array, np.ndarray, int, float, bool, complex, str, types.NoneType])
_AS_THEY_ARE = _SIMPLE | {tuple}


def as_struct(value: Any) -> Any:
    """A struct of the fields of a named tuple or of a dataclass, or of what kernels see of an image; all else as it is."""
    if type(value) in _AS_THEY_ARE or isinstance(value, (Struct, type)):
        return value
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        return named_tuple(tuple(names))(*value) if names else value
    if isinstance(value, (_Image, _Sampler)):
        return value._as_struct()  # type: ignore[union-attr]
    fields = getattr(value, "__dataclass_fields__", None)
    return value if fields is None else record(tuple(fields))(*(getattr(value, f) for f in fields))


@functools.cache
def dataclass_struct(kind: Any) -> type[Struct] | None:
    """What stands for calls of a dataclass: a struct of its fields; None if these do more than to set fields."""
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is None or not parameters.init or hasattr(kind, "__post_init__") or kind.__new__ is not object.__new__:
        return None
    generated = getattr(getattr(kind.__init__, "__code__", None), "co_filename", "") == "<string>"
    setter = parameters.frozen or kind.__setattr__ is object.__setattr__
    fields = dataclasses.fields(kind)
    if not (generated and setter) or len(fields) != len(kind.__dataclass_fields__):
        return None
    if any(not f.init or f.kw_only or f.default_factory is not dataclasses.MISSING for f in fields):
        return None
    names = tuple(f.name for f in fields)
    defaults = {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}
    described = {"__slots__": names, "_fields": names, "_types": (None,) * len(names), "_defaults": defaults}
    return type(kind.__name__, (Struct,), described)


def _fields_of(kind: Any) -> tuple[str, ...]:
    """The fields of a class of named tuples, or of a dataclass."""
    if not isinstance(kind, type) or issubclass(kind, Struct):
        return ()
    return tuple(getattr(kind, "_fields", ())) if issubclass(kind, tuple) else tuple(getattr(kind, "__dataclass_fields__", ()))


def classes_of(values: Iterable[Any]) -> dict[tuple[str, ...], type]:
    """The classes of named tuples and dataclasses among values from outside, by their fields. Raises TypeError where two have the same."""
    found: dict[tuple[str, ...], type] = {}
    for kind in values:
        fields = _fields_of(kind)
        if fields and found.setdefault(fields, kind) is not kind:
            what = "named tuples" if issubclass(kind, tuple) else "dataclasses"
            raise TypeError(f"two kinds of {what} have the fields {', '.join(fields)}")
    return found


@functools.cache
def may_hold_records(kind: type) -> bool:
    """Whether values of a class are, or may hold, named tuples or dataclasses."""
    return issubclass(kind, tuple) or bool(_fields_of(kind))


def records_in(values: Iterable[Any]) -> Iterator[Any]:
    """The named tuples and the values of dataclasses among arguments, and in them."""
    for value in values:
        if type(value) in _SIMPLE or isinstance(value, Struct):
            continue
        fields = _fields_of(type(value))
        if fields:
            yield value
        if fields or isinstance(value, tuple):
            yield from records_in(value if isinstance(value, tuple) else (getattr(value, f, None) for f in fields))


def with_classes(value: Any, kinds: dict[tuple[str, ...], type], given: Iterable[Any]) -> Any:
    """A result with the user's classes for the structs that stand for them. What is as a dataclass that was given is that one."""
    if type(value) is tuple:
        return tuple(with_classes(v, kinds, given) for v in value)
    if not isinstance(value, Struct) or (kind := kinds.get(tuple(value._fields))) is None:
        return value
    values = [with_classes(v, kinds, given) for v in value._values()]
    if issubclass(kind, tuple):
        return kind(*values)
    for one in given:
        if type(one) is kind and all(_is_same(getattr(one, f), v) for f, v in zip(value._fields, values, strict=True)):
            return one
    return kind(*values)


def _is_same(a: Any, b: Any) -> bool:
    return bool(a is b or a == b or (a != a and b != b))


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with `change` made to all that is neither a tuple nor a struct; records become structs first."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        value = of_records(value)
    if type(value) is tuple:
        return tuple(mapped(v, change) for v in value)
    value = as_struct(value)
    if isinstance(value, Struct):
        return value._map(lambda v: mapped(v, change))
    return change(value)


def leaves(value: Any) -> Iterator[Any]:
    """The value, and the parts that follow it in a list of arguments if it is a tuple or a struct."""
    value = as_struct(value)
    yield value
    for part in value if type(value) is tuple else value._values() if isinstance(value, Struct) else ():
        yield from leaves(part)


show_classes(__name__)
