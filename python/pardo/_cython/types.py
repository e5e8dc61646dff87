# python/pardo/_cython/types.py: C's types as Cython knows them -> names of dtypes.
from __future__ import annotations

import itertools
from typing import Any

_BITS = {"char": 8, "short": 16, "int": 32, "long": 64, "PY_LONG_LONG": 64}
_MOST_NUMBERS = 64
_RANKS = ("char", "short", "int", "long", "PY_LONG_LONG")


def plain(kind: Any) -> Any:
    """The type behind the names that `ctypedef` gives, and behind references."""
    while getattr(kind, "is_typedef", False) or getattr(kind, "is_reference", False):
        kind = kind.typedef_base_type if kind.is_typedef else kind.ref_base_type
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


Path = tuple[str | int, ...]  # names of fields that lead to a number in a struct, and its indices if the last one is an array


def fields(kind: Any) -> list[tuple[Path, Any]] | None:
    """The numbers in a struct, those of arrays among them: for each what leads to it, and its type.

    None where a field is of another kind, or where there are too many.
    """
    found: list[tuple[Path, Any]] = []
    for member in plain(kind).scope.var_entries if plain(kind).scope is not None else ():
        inner = plain(member.type)
        if inner.is_struct:
            parts = fields(inner)
            if parts is None:
                return None
            found += [((str(member.name), *path), part) for path, part in parts]
            continue
        shape, of = sizes(inner)
        if dtype_name(of) is None:
            return None
        found += [((str(member.name), *place), of) for place in itertools.product(*map(range, shape))]
    return found if 0 < len(found) <= _MOST_NUMBERS else None


def sizes(kind: Any) -> tuple[list[int], Any]:
    """The sizes of an array of C, and the type of its elements; no sizes for another type."""
    shape, kind = [], plain(kind)
    while kind.is_array:
        shape.append(int(kind.size))
        kind = plain(kind.base_type)
    return shape, kind


def spelled(path: Path) -> str:
    """What follows the name of a variable, as the file would write it."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def is_signed_integer(kind: Any) -> bool:
    """Integers whose overflow C leaves undefined."""
    return (dtype_name(kind) or "").startswith("int")
