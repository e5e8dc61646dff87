# python/pardo/_cython/expressions.py: typed expressions of Cython -> expressions of pardo's loops, with C's types and conversions.
from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from Cython.Compiler import ExprNodes
from pardo._cython.errors import refuse
from pardo._cython.functions import FAILING, LIBC, LIBC_NUMPY, LIBC_OWN, LIBC_TESTS, LIBC_TO_INTEGER
from pardo._cython.types import Path, dtype_name, fields, is_signed_integer, plain, sizes

N = TypeVar("N", bound=ast.AST)
LOAD, STORE = ast.Load(), ast.Store()
_OPERATORS: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "&": ast.BitAnd,
    "|": ast.BitOr,
    "^": ast.BitXor,
    "<<": ast.LShift,
    ">>": ast.RShift,
}
_CHECKED = {"+": "_added", "-": "_subtracted", "*": "_multiplied", "<<": "_shifted"}  # with overflowcheck=True
_COMPARISONS: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq,
    "!=": ast.NotEq,
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
}
_THROUGH = ("CoerceToTempNode", "CloneNode", "ProxyNode", "NoneCheckNode", "CppOptionalTempCoercion", "ProxyExprNode")


def operator_of(sign: str) -> ast.operator:
    """The operator that `+=` and its like apply."""
    return _OPERATORS[sign]()


class Expressions:
    """Translates expressions; a subclass says what names and called functions stand for."""

    checks = 0  # of the region: 1 for indices, 2 for divisions too

    def __init__(self) -> None:
        self.directives: dict[str, Any] = {}
        self.known: dict[int, ast.expr] = {}  # what temporaries of Cython's tree stand for

    # --- for subclasses

    def name(self, node: Any) -> ast.expr:
        """A variable."""
        raise NotImplementedError

    def call(self, node: Any, function: Any, arguments: list[Any]) -> ast.expr:
        """A call of a function that is written in the file."""
        raise NotImplementedError

    def failing(self, name: str, node: Any) -> str:
        """One of functions.py that may raise, as if it were written at the place of a node: its name."""
        raise NotImplementedError

    # --- helpers

    def at(self, node: Any, made: N) -> N:
        """The same with the line and the column of a node."""
        _, line, column = node.pos
        for part in ast.walk(made):
            if isinstance(part, (ast.expr, ast.stmt, ast.keyword)) and not hasattr(part, "lineno"):
                length = len(part.id) if isinstance(part, ast.Name) else 1
                part.lineno = part.end_lineno = line
                part.col_offset, part.end_col_offset = column, column + length
        return made

    def converted(self, value: ast.expr, dtype: str) -> ast.expr:
        """A value as an element of a dtype."""
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == dtype:
            return value
        return ast.Call(ast.Attribute(ast.Name("_np", LOAD), dtype, LOAD), [value], [])

    def dtype(self, node: Any, kind: Any = None) -> str:
        """The dtype of an expression."""
        kind = node.type if kind is None else kind
        found = dtype_name(kind)
        if found is None:
            what = "a Python object" if kind.is_pyobject else f"of the C type `{kind}`"
            refuse(node, f"this is {what}, which a region on a device cannot have")
        return found

    def typed(self, node: Any, kind: Any = None) -> ast.expr:
        """A number as its C type, or as another one."""
        node = self.plain(node)
        wanted = self.dtype(node, kind)
        own = self.dtype(node)
        value = self.value(node)
        if own == wanted and not self._is_loose(node):
            return value
        if wanted == "bool_":
            zero = ast.Constant(0)
            return value if own == "bool_" else self.at(node, ast.Compare(value, [ast.NotEq()], [zero]))
        return self.at(node, self.converted(value, wanted))

    def _is_loose(self, node: Any) -> bool:
        """Literals and counters, whose values have no dtype of their own."""
        return isinstance(node, (ExprNodes.IntNode, ExprNodes.FloatNode, ExprNodes.BoolNode, ExprNodes.ImagNode)) or (
            isinstance(node, ExprNodes.NameNode) and self.is_counter(node)
        )

    def is_counter(self, node: Any) -> bool:
        """Whether a name counts the iterations of a loop."""
        return False

    def plain(self, node: Any) -> Any:
        """A node without what Cython puts around it for its own code."""
        while True:
            kind = type(node).__name__
            if kind in _THROUGH:
                node = node.arg
            elif kind == "CoerceFromPyTypeNode" and type(node.arg).__name__ == "CoerceToPyTypeNode":
                node = node.arg.arg
            elif kind == "CoerceToPyTypeNode" and not node.arg.type.is_pyobject:
                node = node.arg
            else:
                return node

    def truth(self, node: Any) -> ast.expr:
        """A condition."""
        node = self.plain(node)
        if isinstance(node, ExprNodes.CoerceToBooleanNode):
            return self.truth(node.arg)
        return self.typed(node, _BOOLEAN)

    # --- values

    def value(self, node: Any) -> ast.expr:
        """An expression with the dtype of its C type; literals and counters as they are."""
        node = self.plain(node)
        if id(node) in self.known:
            return self.known[id(node)]
        for kind in type(node).__mro__:
            method: Callable[[Any], ast.expr] | None = getattr(self, "of_" + kind.__name__, None)
            if method is not None:
                return self.at(node, method(node))
        return refuse(node, f"{_spoken(node)} cannot be in a region on a device")

    def of_IntNode(self, node: Any) -> ast.expr:
        return ast.Constant(int(node.constant_result) if node.has_constant_result() else int(node.value, 0))

    def of_CharNode(self, node: Any) -> ast.expr:
        return ast.Constant(ord(node.value))

    def of_FloatNode(self, node: Any) -> ast.expr:
        return ast.Constant(float(node.value))

    def of_BoolNode(self, node: Any) -> ast.expr:
        return ast.Constant(bool(node.value))

    def of_ImagNode(self, node: Any) -> ast.expr:
        return ast.Constant(complex(0, float(node.value)))

    def of_NameNode(self, node: Any) -> ast.expr:
        return self.name(node)

    def of_NumBinopNode(self, node: Any) -> ast.expr:
        sign = node.operator
        if sign not in _OPERATORS:
            refuse(node, f"`{sign}` cannot be in a region on a device")
        right = node.type if sign not in ("<<", ">>") else None
        if node.overflow_check:
            bits = [ast.Constant(int(self.dtype(node).lstrip("uint")))] if sign == "<<" else []
            return self._helper(_CHECKED[sign], node, self.typed(node.operand1, node.type), self.typed(node.operand2, node.type), *bits)
        return ast.BinOp(self.typed(node.operand1, node.type), operator_of(sign), self.typed(node.operand2, right))

    def of_DivNode(self, node: Any) -> ast.expr:
        left, right = self.typed(node.operand1, node.type), self.typed(node.operand2, node.type)
        kind = self.dtype(node)
        c_rules = bool(self.directives.get("cdivision")) or bool(node.cdivision)
        checked = not c_rules and not (node.operand2.has_constant_result() and node.operand2.constant_result != 0)
        if kind.startswith(("float", "complex")):
            if node.operator == "//":
                if c_rules:
                    return ast.BinOp(left, ast.Div(), right)
                return self._helper("_floor_divided", node, left, right) if checked else ast.BinOp(left, ast.FloorDiv(), right)
            return self._helper("_divided", node, left, right) if checked else ast.BinOp(left, ast.Div(), right)
        if c_rules:
            return self._helper("_c_divided", node, left, right)
        return self._helper("_integer_divided", node, left, right) if checked else ast.BinOp(left, ast.FloorDiv(), right)

    def of_ModNode(self, node: Any) -> ast.expr:
        left, right = self.typed(node.operand1, node.type), self.typed(node.operand2, node.type)
        c_rules = bool(self.directives.get("cdivision")) or bool(node.cdivision)
        if self.dtype(node).startswith("float"):
            return self._helper("_c_fmod", node, left, right) if c_rules else ast.BinOp(left, ast.Mod(), right)
        if c_rules:
            return self._helper("_c_remainder", node, left, right)
        checked = not (node.operand2.has_constant_result() and node.operand2.constant_result != 0)
        return self._helper("_remainder", node, left, right) if checked else ast.BinOp(left, ast.Mod(), right)

    def of_PowNode(self, node: Any) -> ast.expr:
        return ast.BinOp(self.typed(node.operand1, node.type), ast.Pow(), self.typed(node.operand2, node.type))

    def _helper(self, name: str, node: Any, *arguments: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(self.failing(name, node) if name in FAILING else name, LOAD), list(arguments), [])

    def of_UnaryMinusNode(self, node: Any) -> ast.expr:
        return ast.UnaryOp(ast.USub(), self.typed(node.operand, node.type))

    def of_UnaryPlusNode(self, node: Any) -> ast.expr:
        return self.typed(node.operand, node.type)

    def of_TildeNode(self, node: Any) -> ast.expr:
        return ast.UnaryOp(ast.Invert(), self.typed(node.operand, node.type))

    def of_NotNode(self, node: Any) -> ast.expr:
        return ast.UnaryOp(ast.Not(), self.truth(node.operand))

    def of_TypecastNode(self, node: Any) -> ast.expr:
        return self.typed(node.operand, node.type)

    def of_CoerceToComplexNode(self, node: Any) -> ast.expr:
        return self.typed(node.arg, node.type)

    def of_CoerceToBooleanNode(self, node: Any) -> ast.expr:
        return self.truth(node.arg)

    def of_BoolBinopNode(self, node: Any) -> ast.expr:
        first, second = node.operand1, node.operand2
        if self.dtype(node) == "bool_":
            return ast.BoolOp(ast.And() if node.operator == "and" else ast.Or(), [self.truth(first), self.truth(second)])
        test, one, two = self.truth(first), self.typed(first, node.type), self.typed(second, node.type)
        return ast.IfExp(test, two, one) if node.operator == "and" else ast.IfExp(test, one, two)

    def of_BoolBinopResultNode(self, node: Any) -> ast.expr:
        return self.typed(node.arg, node.type)

    def of_CondExprNode(self, node: Any) -> ast.expr:
        return ast.IfExp(self.truth(node.condition), self.typed(node.true_val, node.type), self.typed(node.false_val, node.type))

    def of_PrimaryCmpNode(self, node: Any) -> ast.expr:
        parts: list[ast.expr] = []
        left, step = node.operand1, node
        while step is not None:
            if step.operator not in _COMPARISONS:
                refuse(node, f"`{step.operator}` cannot be in a region on a device")
            common = self._common(left, step.operand2)
            pair = [self.typed(left, common), self.typed(step.operand2, common)]
            parts.append(self.at(node, ast.Compare(pair[0], [_COMPARISONS[step.operator]()], [pair[1]])))
            left, step = step.operand2, getattr(step, "cascade", None)
        return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)

    def _common(self, a: Any, b: Any) -> Any:
        from Cython.Compiler.PyrexTypes import widest_numeric_type

        a, b = self.plain(a), self.plain(b)
        for node in (a, b):
            self.dtype(node)
        return a.type if a.type is b.type else widest_numeric_type(plain(a.type), plain(b.type))

    def of_EvalWithTempExprNode(self, node: Any) -> ast.expr:
        reference = node.lazy_temp
        self.known[id(reference)] = self.typed(reference.expression, node.lazy_temp.type)
        return self.value(node.subexpression)

    def of_ResultRefNode(self, node: Any) -> ast.expr:
        if node.expression is None:
            refuse(node, "a temporary value of Cython cannot be in a region on a device")
        return self.typed(node.expression)

    # --- arrays

    def index(self, node: Any) -> ast.expr:
        """An index: signed integers keep all their bits, as their overflow means nothing in C."""
        node = self.plain(node)
        if isinstance(node, (ExprNodes.AddNode, ExprNodes.SubNode, ExprNodes.MulNode)) and is_signed_integer(node.type):
            return self.at(node, ast.BinOp(self.index(node.operand1), operator_of(node.operator), self.index(node.operand2)))
        if isinstance(node, ExprNodes.UnaryMinusNode) and is_signed_integer(node.type):
            return self.at(node, ast.UnaryOp(ast.USub(), self.index(node.operand)))
        if isinstance(node, ExprNodes.TypecastNode) and is_signed_integer(node.type) and is_signed_integer(node.operand.type):
            return self.index(node.operand)
        return self.value(node)

    def _position(self, node: Any) -> ast.expr:
        value = self.index(node)
        signed = is_signed_integer(self.plain(node).type)
        plain_number = isinstance(value, ast.Constant)
        if not self.directives.get("wraparound", True) and self.directives.get("boundscheck", True) and signed and not plain_number:
            return self.at(node, self.converted(value, "uint64"))  # below zero is out of bounds
        return value

    def of_MemoryViewIndexNode(self, node: Any) -> ast.expr:
        if self.directives.get("boundscheck", True):
            self.checks = max(self.checks, 1)
        return ast.Subscript(self.array(node.base), tuple_of([self._position(k) for k in node.indices]), LOAD)

    def of_MemoryViewSliceNode(self, node: Any) -> ast.expr:
        parts: list[ast.expr] = []
        typed = iter(node.indices)  # without slices: their bounds
        for k in node.original_indices:
            if k.is_slice:
                bounds = [None if b.is_none else self.index(next(typed)) for b in (k.start, k.stop, k.step)]
                parts.append(ast.Slice(*bounds))
            elif k.is_none:
                parts.append(ast.Constant(None))
                next(typed)
            else:
                parts.append(self._position(next(typed)))
        if all(isinstance(p, ast.Slice) and p.lower is p.upper is p.step is None for p in parts):
            return self.array(node.base)
        return ast.Subscript(self.array(node.base), tuple_of(parts), LOAD)

    def of_SliceIndexNode(self, node: Any) -> ast.expr:
        base = self.plain(node.base)
        if not base.type.is_array:
            refuse(node, f"a part of {_spoken(base)} cannot be in a region on a device")
        return ast.Subscript(self.array(base), ast.Slice(*(None if b is None else self.index(b) for b in (node.start, node.stop))), LOAD)

    def of_ParallelThreadIdNode(self, node: Any) -> ast.expr:
        return refuse(node, "`threadid()` means nothing in a region on a device: its iterations belong to no threads")

    def of_BufferIndexNode(self, node: Any) -> ast.expr:
        return self.of_MemoryViewIndexNode(node)

    def of_IndexNode(self, node: Any) -> ast.expr:
        base = self.plain(node.base)
        if (shaped := self._shaped(base)) is not None:
            return ast.Subscript(ast.Attribute(self.array(shaped), "shape", LOAD), self.index(node.index), LOAD)
        if base.type.is_ptr or base.type.is_array:
            return self._element(node)
        return refuse(node, f"an element of {_spoken(base)} cannot be in a region on a device")

    def _shaped(self, node: Any) -> Any:
        """The array whose shape a node is."""
        if isinstance(node, ExprNodes.AttributeNode) and node.attribute == "shape" and node.obj.type.is_memoryviewslice:
            return node.obj
        if isinstance(node, ExprNodes.SimpleCallNode) and len(node.args or ()) == 1:  # a property of numpy's .pxd
            of, name = self.plain(node.args[0]), getattr(node.function, "name", "")
            return of if of.type.is_buffer and name == "shape" else None
        return None

    def _element(self, node: Any) -> ast.expr:
        """An element of memory of C, which has one index after the other."""
        indices: list[ast.expr] = []
        while isinstance(node, ExprNodes.IndexNode):
            indices.insert(0, self.index(node.index))
            node = self.plain(node.base)
        node, indices[0] = self._moved(node, indices[0])
        return ast.Subscript(self.array(node), tuple_of(indices), LOAD)

    def _moved(self, node: Any, index: ast.expr) -> tuple[Any, ast.expr]:
        """What `p + k` points into, and the index there."""
        while isinstance(node, (ExprNodes.AddNode, ExprNodes.SubNode)) and node.type.is_ptr:
            operator = ast.Sub() if isinstance(node, ExprNodes.SubNode) else ast.Add()
            pointer, by = self.plain(node.operand1), self.plain(node.operand2)
            if by.type.is_ptr:
                pointer, by = by, pointer
            node, index = pointer, ast.BinOp(index, operator, self.index(by))
        return node, index

    def of_DereferenceNode(self, node: Any) -> ast.expr:
        base, index = self._moved(self.plain(node.operand), ast.Constant(0))
        return ast.Subscript(self.array(base), index, LOAD)

    def of_SizeofTypeNode(self, node: Any) -> ast.expr:
        return ast.Constant(np.dtype(self.dtype(node, node.arg_type).rstrip("_")).itemsize)

    def of_SizeofVarNode(self, node: Any) -> ast.expr:
        return ast.Constant(np.dtype(self.dtype(node.operand).rstrip("_")).itemsize)

    def _member(self, node: Any) -> ast.expr:
        """An array in a struct."""
        if dtype_name(sizes(node.type)[1]) is None:
            refuse(node, f"`{node.attribute}` is an array of `{sizes(node.type)[1]}` in a struct, which a region on a device cannot use")
        path: Path = ()
        while isinstance(node, ExprNodes.AttributeNode) and plain(node.obj.type).is_struct_or_union:
            self.fields_of(node.obj)
            path, node = (str(node.attribute), *path), self.plain(node.obj)
        if isinstance(node, (ExprNodes.NameNode, ExprNodes.AttributeNode)):
            return self.member_of_name(node, path)
        if isinstance(node, ExprNodes.SimpleCallNode):
            refuse(node, "an array in the result of a call cannot be in a region on a device; give the result a name")
        made = self.value(node)
        for name in path:
            made = ast.Subscript(made, ast.Constant(name), LOAD)
        return self.at(node, made)

    def array(self, node: Any) -> ast.expr:
        """An array, or a part of one."""
        node = self.plain(node)
        if isinstance(node, ExprNodes.AttributeNode) and node.type.is_array and plain(node.obj.type).is_struct_or_union:
            return self._member(node)
        if isinstance(node, (ExprNodes.NameNode, ExprNodes.AttributeNode)) or node.type.is_memoryviewslice:
            return self.value(node)
        if isinstance(node, (ExprNodes.AddNode, ExprNodes.SubNode)) and node.type.is_ptr:
            base, first = self._moved(node, ast.Constant(0))
            return ast.Subscript(self.array(base), ast.Slice(first, None, None), LOAD)
        if isinstance(node, ExprNodes.AmpersandNode) and isinstance(self.plain(node.operand), ExprNodes.MemoryViewIndexNode):
            return self._from(self.plain(node.operand))
        return refuse(node, f"{_spoken(node)} is no array that a region on a device can use")

    def _from(self, node: Any) -> ast.expr:
        """What `&x[i, 0]` points to: the elements of that row from there on."""
        *rows, first = [self._position(k) for k in node.indices]
        if node.base.type.axes[-1][1] != "contig":
            refuse(node, "an address in a region on a device is that of an element of a contiguous memoryview, such as double[::1]")
        return ast.Subscript(self.array(node.base), tuple_of([*rows, ast.Slice(first, None, None)]), LOAD)

    def of_AttributeNode(self, node: Any) -> ast.expr:
        kind = plain(node.obj.type)
        if kind.is_memoryviewslice and node.attribute == "T":
            return ast.Attribute(self.array(node.obj), "T", LOAD)
        if kind.is_complex and node.attribute in ("real", "imag"):
            return ast.Attribute(self.value(node.obj), str(node.attribute), LOAD)
        if kind.is_struct_or_union:
            return self.field(node, ())
        return self.name(node)

    # --- structs: the numbers that they consist of

    def fields_of(self, node: Any) -> list[Path]:
        """The numbers of a node that is a struct."""
        kind = plain(node.type)
        found = fields(kind) if kind.is_struct else None
        if found is None:
            refuse(node, f"`{kind}` is no struct of numbers and arrays of them, 64 in all, which a region on a device needs")
        return [path for path, _ in found]

    def field(self, node: Any, path: Path) -> ast.expr:
        """A number in a struct."""
        node = self.plain(node)
        if isinstance(node, ExprNodes.AttributeNode) and plain(node.obj.type).is_struct_or_union:
            self.fields_of(node.obj)
            return self.field(node.obj, (str(node.attribute), *path))
        if isinstance(node, (ExprNodes.NameNode, ExprNodes.AttributeNode)):
            return self.field_of_name(node, path)
        if isinstance(node, ExprNodes.DictNode):
            item = next((i for i in node.key_value_pairs if str(i.key.value) == path[0]), None)
            if item is None:
                refuse(node, f"`{path[0]}` is given no value, which a region on a device needs")
            return self.field(item.value, path[1:]) if len(path) > 1 else self.typed(item.value)
        if isinstance(node, ExprNodes.CondExprNode):
            return ast.IfExp(self.truth(node.condition), self.field(node.true_val, path), self.field(node.false_val, path))
        made = self.value(node)
        if isinstance(node, ExprNodes.SimpleCallNode):
            return ast.Subscript(made, ast.Constant(self.fields_of(node).index(path)), LOAD)
        indices = [part for part in path if isinstance(part, int)]
        for name in path[: len(path) - len(indices)]:
            made = ast.Subscript(made, ast.Constant(name), LOAD)
        return self.at(node, ast.Subscript(made, tuple_of([ast.Constant(k) for k in indices]), LOAD) if indices else made)

    def field_of_name(self, node: Any, path: Path) -> ast.expr:
        """A number in a variable that is a struct."""
        raise NotImplementedError

    def member_of_name(self, node: Any, path: Path) -> ast.expr:
        """An array in a variable that is a struct."""
        raise NotImplementedError

    # --- calls

    def of_SimpleCallNode(self, node: Any) -> ast.expr:
        function, arguments = node.function, list(node.args or [])
        name = getattr(function, "name", None) or getattr(function, "attribute", None) or getattr(function, "cname", "")
        entry = getattr(function, "entry", None)
        c_name = str(getattr(entry, "cname", None) or getattr(function, "cname", "") or name)
        if c_name in ("abs", "labs", "llabs", "fabs", "fabsf", "__Pyx_abs_int", "__Pyx_abs_long", "__Pyx_abs_longlong") or (
            name == "abs" and len(arguments) == 1
        ):
            of = self.plain(arguments[0])
            return ast.Call(ast.Name("abs", LOAD), [self.typed(of, None if plain(of.type).is_complex else node.type)], [])
        single = c_name.removesuffix("f") if c_name.endswith("f") and c_name not in LIBC | LIBC_NUMPY | LIBC_TESTS else c_name
        if single in LIBC or single in LIBC_NUMPY or single in LIBC_OWN:
            return self.typed_call(f"_c_{single}", node, arguments)
        if single in LIBC_TO_INTEGER:
            rounded = ast.Call(ast.Name(f"_c_{LIBC_TO_INTEGER[single]}", LOAD), [self.typed(arguments[0])], [])
            return self.converted(rounded, self.dtype(node))
        if c_name == "__Pyx_SoftComplexToDouble":
            return self._real_part(node, self.plain(arguments[0]))
        if name == "conjugate" and isinstance(function, ExprNodes.AttributeNode) and plain(function.obj.type).is_complex:
            return ast.Call(ast.Name("_c_conjugate", LOAD), [self.typed(function.obj)], [])
        if single in LIBC_TESTS:
            return ast.Call(ast.Name(f"_c_{single}", LOAD), [self.typed(a) for a in arguments], [])
        if name == "len" and len(arguments) == 1 and self.plain(arguments[0]).type.is_memoryviewslice:
            return ast.Call(ast.Name("len", LOAD), [self.array(arguments[0])], [])
        if entry is None or not entry.type.is_cfunction:
            refuse(node, f"`{name}` is a Python object, which a region on a device cannot call")
        return self.call(node, function, arguments)

    def _real_part(self, node: Any, whole: Any) -> ast.expr:
        """The double that Cython makes of `**`, which may give a complex number."""
        if isinstance(whole, ExprNodes.PowNode):
            base, exponent = (self.converted_real(o) for o in (whole.operand1, whole.operand2))
            return self._helper("_real_power", node, base, exponent)
        return self._helper("_real_part", node, self.typed(whole))

    def converted_real(self, node: Any) -> ast.expr:
        """An operand that Cython has made a complex number."""
        node = self.plain(node)
        while isinstance(node, ExprNodes.CoerceToComplexNode) or (node.type.is_complex and isinstance(node, ExprNodes.TypecastNode)):
            node = self.plain(node.arg if isinstance(node, ExprNodes.CoerceToComplexNode) else node.operand)
        return self.converted(self.value(node), "float64")

    def typed_call(self, name: str, node: Any, arguments: list[Any]) -> ast.expr:
        """A call of a function whose arguments have the type of its result."""
        return ast.Call(ast.Name(name, LOAD), [self.typed(a, node.type) for a in arguments], [])


class _Boolean:
    """Stands for the type of conditions."""

    is_typedef = is_complex = is_float = is_pyobject = is_enum = False
    is_int = True


_BOOLEAN = type("CBIntType", (_Boolean,), {})()


def tuple_of(parts: list[ast.expr]) -> ast.expr:
    """An index, or several."""
    return parts[0] if len(parts) == 1 else ast.Tuple(parts, LOAD)


def _spoken(node: Any) -> str:
    """What a node is called in messages."""
    kind = getattr(node, "type", None)
    if kind is not None and kind.is_pyobject:
        return "a Python object"
    if type(node).__name__ == "CoerceFromPyTypeNode":
        return "the value of a Python object"
    names = {"UnicodeNode": "a text", "BytesNode": "a text", "StringNode": "a text", "AmpersandNode": "an address"}
    return names.get(type(node).__name__, type(node).__name__.removesuffix("Node"))
