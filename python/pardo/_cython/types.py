# python/pardo/_cython/types.py: C's types as Cython knows them -> names of dtypes.
from __future__ import annotations

from typing import Any

_BITS = {"char": 8, "short": 16, "int": 32, "long": 64, "PY_LONG_LONG": 64}
_RANKS = ("char", "short", "int", "long", "PY_LONG_LONG")


def plain(kind: Any) -> Any:
    """The type behind the names that `ctypedef` gives."""
    while getattr(kind, "is_typedef", False):
        kind = kind.typedef_base_type
    return kind


def dtype_name(kind: Any) -> str | None:
    """The dtype of a C number; None for what is none, or has more bits than a dtype."""
    kind = plain(kind)
    if kind.is_complex:
        return {"float32": "complex64", "float64": "complex128"}.get(dtype_name(kind.real_type) or "")
    if kind.is_float:
        return {4: "float32", 8: "float64"}.get(
            {"float": 4, "double": 8}.get(str(kind).rpartition(" ")[2] if "long" not in str(kind) else "", 0)
        )
    if getattr(kind, "is_enum", False):
        return "int32"
    if type(kind).__name__ == "CBIntType":
        return "bool_"
    if kind.is_int:
        names = {"CPySSizeTType": "int64", "CSSizeTType": "int64", "CSizeTType": "uint64", "CPtrdiffTType": "int64"}
        if type(kind).__name__ in names:
            return names[type(kind).__name__]
        if not isinstance(kind.rank, int) or not 0 <= kind.rank < len(_RANKS):
            return None
        return f"{'int' if kind.signed else 'uint'}{_BITS[_RANKS[kind.rank]]}"
    return None


def fields(kind: Any) -> list[tuple[tuple[str, ...], Any]] | None:
    """The numbers in a struct: for each the names of the fields that lead to it, and its type; None where a field is of another kind."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for member in plain(kind).scope.var_entries if plain(kind).scope is not None else ():
        inner = plain(member.type)
        if inner.is_struct:
            parts = fields(inner)
            if parts is None:
                return None
            found += [((str(member.name), *path), part) for path, part in parts]
        elif dtype_name(inner) is None:
            return None
        else:
            found.append(((str(member.name),), member.type))
    return found or None


def is_signed_integer(kind: Any) -> bool:
    """Integers whose overflow C leaves undefined."""
    return (dtype_name(kind) or "").startswith("int")
