# python/pardo/_cython/carried.py: Python's syntax trees as bytes, which an extension holds, and back.
from __future__ import annotations

import ast
import marshal
import zlib
from typing import Any

_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def _flat(value: Any) -> Any:
    if isinstance(value, ast.AST):
        place = tuple(getattr(value, name, None) for name in _PLACE)
        # Python 3.12's functions have type_params, which are not None where a tree was made without.
        fields = [_flat(getattr(value, field, [] if field == "type_params" else None)) for field in value._fields]
        return type(value).__name__, place, fields
    if isinstance(value, list):
        return [_flat(v) for v in value]
    if isinstance(value, dict):
        return {key: _flat(v) for key, v in value.items()}
    return ("", value)


def _tree(value: Any) -> Any:
    if isinstance(value, list):
        return [_tree(v) for v in value]
    if isinstance(value, dict):
        return {key: _tree(v) for key, v in value.items()}
    if value[0] == "":
        return value[1]
    name, place, fields = value
    node = getattr(ast, name)(*(_tree(f) for f in fields))
    for attribute, number in zip(_PLACE, place, strict=True):
        if number is not None:
            setattr(node, attribute, number)
    return node


def packed(*values: Any) -> bytes:
    """Trees and plain data as bytes."""
    return zlib.compress(marshal.dumps([_flat(v) for v in values], 4))


def unpacked(data: bytes) -> list[Any]:
    """What was packed."""
    return [_tree(v) for v in marshal.loads(zlib.decompress(data))]
