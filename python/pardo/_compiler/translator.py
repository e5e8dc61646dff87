# python/pardo/_compiler/translator.py: a function's syntax tree as plain data for the compiler, with names and constants resolved.
from __future__ import annotations

import ast
import dataclasses
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np
from pardo import _core
from pardo._base import promotion
from pardo._base.arguments import given_count
from pardo._compiler import intrinsics, numba_cython
from pardo._compiler.forms import BINARY, CODE, COMPARISONS, DTYPES, OF_A_DTYPE, RAISED, RUNTIME_ERROR, UNARY
from pardo._compiler.instead import advice, is_of_scipy, of_cuda
from pardo._compiler.intrinsics import known
from pardo._compiler.names import Captured, Names, UnknownNameError, absent, path_of, python_function
from pardo._compiler.refusals import refusal
from pardo._compiler.source import Source, lambda_inside, problem
from pardo._compiler.statements import Statements, array_call, has_named
from pardo._compiler.structs import Struct, dataclass_struct, named_tuple
from pardo._compiler.translations import Translation

MOST_NESTED = 200
NESTED_ADVICE = "or by functions that call each other; give parts a name, write a loop, or look a value up in an array or a tuple"


def too_large(value: int) -> str:
    """Of a Python integer beyond 64 bits."""
    try:
        shown, real = str(value), repr(float(value))
    except (OverflowError, ValueError):  # beyond floats, or with more digits than Python writes
        return f"an integer of {value.bit_length()} bits does not fit an int64 or a uint64, in which Python's integers are computed here"
    return f"{shown} does not fit an int64 or a uint64, in which Python's integers are computed here; write it as a float: {real}"


class Translator(Statements):
    """Turns one function's tree into tuples; see include/pardo/binding/syntax.h for what each holds."""

    def __init__(
        self,
        function: types.FunctionType,
        source: Source,
        translate: Callable[[types.FunctionType], Translation],
        given: dict[str, Any] | None = None,
    ) -> None:
        self.function = function
        self.source = source
        self.translate = translate  # gives those of the functions that it calls
        self.callees: list[_core._Function] = []
        self.callee_index: dict[int, int] = {}
        self.classes: list[_core._Class] = []
        self.class_index: dict[type, int] = {}
        self.called: list[types.FunctionType] = []
        self.depth = 0  # of the syntax under way
        self.outside: list[_core._Outside] = []  # numbers that launches read
        self.names = Names(function, given)
        self.captured = self.names.captured
        node = source.node
        arguments = node.args
        if arguments.kwarg:
            raise problem(_core.CompileError, source, arguments.kwarg, "kernels take a fixed number of arguments, not **kwargs")
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.parameters = [a.arg for a in every]
        self.rest = arguments.vararg.arg if arguments.vararg else ""
        if arguments.vararg and arguments.kwonlyargs:
            raise problem(_core.CompileError, source, arguments.kwonlyargs[0], "parameters after *args are not accepted in a kernel")
        code = function.__code__
        self.locals = {*self.parameters, self.rest, *code.co_varnames, *code.co_cellvars}
        if any(isinstance(constant, types.CodeType) for constant in code.co_consts):  # comprehensions have names of their own
            body = node.body if isinstance(node.body, list) else [node.body]
            for statement in body:
                for n in ast.walk(statement):
                    if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
                        self.locals.add(n.id)
        self.locals -= self.names.given.keys()
        self.before = []

    # --- nodes

    def make(
        self, form: str, node: ast.AST, parts: Iterable[Any] = (), name: str = "", number: Any = None, index: int = 0
    ) -> tuple[Any, ...]:
        try:
            place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        except AttributeError:  # not all nodes have one
            place = (self.source.first_line, 0, self.source.first_line, 0)
        return (CODE[form], *place, name, number, index, list(parts))

    def refuse(self, node: ast.AST, message: str) -> NoReturn:
        raise problem(_core.CompileError, self.source, node, message)

    # --- what a name outside the function stands for

    def resolve(self, node: ast.expr) -> Any:
        """The object that is meant by a name or a dotted name from outside; `absent` for everything else."""
        path = path_of(node)
        if not path or path[0] in self.locals:
            return absent
        told = of_cuda(path)
        try:
            if told and len(path) > 1 and self.names.value(path[:1]) is sys.modules.get("numba.cuda", absent):
                self.refuse(node, f"`{'.'.join(path)}` is numba.cuda's, and no part of kernels{told}")
            return self.names.value(path)
        except UnknownNameError as unknown:
            for _ in path[unknown.part + 1 :]:
                assert isinstance(node, ast.Attribute)
                node = node.value
            raise problem(unknown.kind, self.source, node, str(unknown) + ("" if unknown.part else told)) from None

    def value(self, value: Any, node: ast.AST, cells: Any = None) -> tuple[Any, ...]:
        """An object from outside as an expression; `cells`: of one whose numbers change."""
        if isinstance(cells, _core._Outside):
            if not any(c is cells for c in self.outside):
                self.outside.append(cells)
            return self.make("Outside", node, index=next(k for k, c in enumerate(self.outside) if c is cells))
        if isinstance(cells, tuple):
            values = value if isinstance(value, tuple) else value._values()
            return self.composed(value, node, [self.value(v, node, c) for v, c in zip(values, cells[1], strict=True)])
        if (
            isinstance(value, (bool, int, float, complex, np.bool_, np.number)) and not isinstance(value, np.longdouble)
        ) or promotion.is_number_of_bfloat16(value):
            if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
                raise problem(OverflowError, self.source, node, too_large(value))
            return self.make("Number", node, number=value)
        if isinstance(value, str):
            return self.make("Text", node, name=value)
        if value is None:
            return self.make("None", node)
        if value is Ellipsis:
            return self.make("Slice", node)
        if isinstance(value, tuple):
            return self.composed(value, node, [self.value(v, node) for v in value])
        if isinstance(value, slice):
            return self.make("Slice", node, [self.value(v, node) for v in (value.start, value.stop, value.step)])
        value = numba_cython.numpy_type(value) or value
        if isinstance(value, type) and issubclass(value, (np.generic, bool, int, float, complex)):
            return self.make("DTypeName", node, index=_core._dtype_number(np.dtype(value)))
        if isinstance(value, np.dtype):
            return self.make("DTypeName", node, index=_core._dtype_number(value))
        if isinstance(value, type) and issubclass(value, Struct):
            return self.structure(value, node, [self.value(k, node) for k in value._types], [None] * len(value._types))
        if isinstance(value, _core._Sampler):
            value = value._as_struct()  # type: ignore[attr-defined]
        if isinstance(value, Struct):
            return self.composed(value, node, [self.value(v, node) for v in value._values()])
        if id(value) in known:
            return self.make("FunctionName", node, name=known[id(value)])
        if (function := python_function(value)) is not None:
            return self.make("FunctionName", node, index=self.callee(function))
        if isinstance(value, (np.ndarray, _core.Array, list)):
            raise problem(
                TypeError,
                self.source,
                node,
                "arrays and lists from outside cannot be used in a kernel; pass the array as an argument",
            )
        raise problem(TypeError, self.source, node, f"a {type(value).__name__} from outside cannot be used in a kernel")

    def composed(self, value: Any, node: ast.AST, parts: list[Any]) -> tuple[Any, ...]:
        """A tuple or a struct from outside, of its parts."""
        if isinstance(value, Struct):
            return self.structure(type(value), node, parts, list(value._types))
        if hasattr(type(value), "_fields"):
            kind = named_tuple(tuple(type(value)._fields))
            return self.structure(kind, node, parts, list(kind._types))
        return self.make("Tuple", node, parts)

    def structure(self, kind: type[Struct], node: ast.AST, values: list[Any], types: list[Any]) -> tuple[Any, ...]:
        """A struct: its values, what each is converted to, and its fields."""
        if kind not in self.class_index and kind._class is not None:
            self.classes.append(kind._class.current())
            self.class_index[kind] = len(self.classes)
            self.captured.append(Captured(kind._class, "state", kind._class.state))
        conversions = [self.value(t, node) if isinstance(t, np.dtype) else self.make("None", node) for t in types]
        return self.make(
            "Call",
            node,
            [*values, *conversions, *(self.value(f, node) for f in kind._fields)],
            name="struct",
            index=-1 if getattr(kind, "_dimensions", 0) == -1 else self.class_index.get(kind, 0),
        )

    def made(self, kind: type[Struct], node: ast.Call) -> tuple[Any, ...]:
        """A call that makes a struct."""
        if len(node.args) > len(kind._fields):
            self.refuse(node, f"{kind.__name__} takes {len(kind._fields)} values, but {given_count(len(node.args))}")
        given: dict[str, Any] = dict(zip(kind._fields, (self.expression(a) for a in node.args), strict=False))
        for keyword in node.keywords:
            if keyword.arg not in kind._fields or keyword.arg in given:
                self.refuse(keyword, f"{kind.__name__} has the fields {', '.join(kind._fields)}, each given once")
            given[keyword.arg] = self.expression(keyword.value)
        for field in kind._fields:
            if field not in given and field not in kind._defaults:
                self.refuse(node, f"{kind.__name__} needs a value for `{field}`")
        values = [given[f] if f in given else self.value(kind._defaults[f], node) for f in kind._fields]
        return self.structure(kind, node, values, list(kind._types))

    def printed(self, node: ast.Call) -> tuple[Any, ...]:
        """A call of print: one text with `{}` for each value, and the values."""
        ends = {"sep": " ", "end": "\n"}
        for keyword in node.keywords:
            if keyword.arg == "flush":
                continue
            if keyword.arg not in ends or not isinstance(keyword.value, ast.Constant) or not isinstance(keyword.value.value, str):
                self.refuse(keyword, "print takes sep and end as plain strings in a kernel")
            ends[keyword.arg] = keyword.value.value
        texts, values = [], []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                self.refuse(argument, "print takes no `*arguments` in a kernel; print the tuple")
            parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
            text = ""
            for part in parts:
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    text += _braced(part.value)
                elif isinstance(part, ast.FormattedValue):
                    text += "{:" + self.specification(part) + "}"
                    values.append(self.expression(part.value))
                else:
                    text += "{}"
                    values.append(self.expression(part))
            texts.append(text)
        format_ = _braced(ends["sep"]).join(texts) + _braced(ends["end"])
        return self.make("Call", node, [self.value(format_, node), *values], name="print")

    def specification(self, part: ast.FormattedValue) -> str:
        """How an f-string's value is to be written: `.3f`."""
        if part.conversion != -1:
            self.refuse(part.value, "`!r` and its like are not accepted in a kernel")
        if part.format_spec is None:
            return ""
        pieces = part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else [part.format_spec]
        if not all(isinstance(p, ast.Constant) for p in pieces):
            self.refuse(part.value, "how a value is written must be a plain string")
        return "".join(str(p.value) for p in pieces if isinstance(p, ast.Constant))

    def callee(self, function: types.FunctionType) -> int:
        """The number of a function of the user's that this one calls."""
        key = id(function)
        if key not in self.callee_index:
            translation = self.translate(function)
            self.captured.extend(translation.captured)
            self.callee_index[key] = len(self.callees)
            self.callees.append(translation.function)
            self.called.append(function)
        return self.callee_index[key]

    # --- statements

    def block(self, statements: Iterable[ast.stmt], node: ast.AST) -> tuple[Any, ...]:
        return self.make("Block", node, [part for s in statements for part in self.statement(s)])

    def statement(self, node: ast.stmt) -> list[tuple[Any, ...]]:
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, refusal(node))
        outer, self.before = self.before, []
        self.depth += 1
        try:
            made = self.too_deep(node) if self.depth > MOST_NESTED else method(node)
        except RecursionError:
            self.too_deep(node)
        finally:
            self.depth -= 1
        before, self.before = self.before, outer
        return [*before, *(made if isinstance(made, list) else [made])]

    def do_Pass(self, node: ast.Pass) -> list[tuple[Any, ...]]:
        return []

    def do_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Constant) or self.declares(node.value):
            return []  # a docstring; types, which the compiler finds by itself
        return self.make("Discard", node, [self.expression(node.value)])

    def declares(self, node: ast.expr) -> bool:
        """True for Cython's declarations without a value."""
        if not isinstance(node, ast.Call) or len(node.args) > 1:
            return False
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name == "declare" and numba_cython.is_declare(self.resolve(node.func))

    def do_Assign(self, node: ast.Assign) -> Any:
        if self.declares(node.value):
            return []
        rows = isinstance(node.targets[0], ast.Subscript) and isinstance(node.value, ast.List)
        value = self.of_values(array_call(node.value)) if rows else self.expression(node.value)
        if len(node.targets) == 1:
            return self.make("Assign", node, [self.target(node.targets[0]), value])
        name = f"$chain{node.lineno}_{node.col_offset}"
        first = self.make("Assign", node, [self.make("Name", node.value, name=name), value])
        return [first, *(self.make("Assign", node, [self.target(t), self.make("Name", node.value, name=name)]) for t in node.targets)]

    def do_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return []
        return self.make("Assign", node, [self.target(node.target), self.expression(node.value)])

    def do_AugAssign(self, node: ast.AugAssign) -> Any:
        if isinstance(node.op, ast.MatMult):
            self.refuse(node, "`@=` is not accepted in a kernel; write x[:] = x @ y")
        return self.make("Augment", node, [self.target(node.target), self.expression(node.value)], name=BINARY[type(node.op)])

    def do_For(self, node: ast.For) -> Any:
        target, body, otherwise = self.target(node.target), self.block(node.body, node), self.block(node.orelse, node)
        iterable = node.iter
        if isinstance(iterable, ast.Call):
            what = self.resolve(iterable.func)
            parallel = is_prange(what)
            if what is range or parallel:
                allowed = numba_cython.PRANGE_KEYWORDS if numba_cython.is_prange(what) else {"schedule", "chunk"} if parallel else ()
                if any(k.arg not in allowed for k in iterable.keywords) or not 1 <= len(iterable.args) <= 3:
                    self.refuse(iterable, f"{'prange' if parallel else 'range'} takes one to three integers")
                bounds = [self.expression(a) for a in iterable.args]
                zero, one = self.make("Number", iterable, number=0), self.make("Number", iterable, number=1)
                if len(bounds) == 1:
                    bounds.insert(0, zero)
                if len(bounds) == 2:
                    bounds.append(one)
                return self.make("For", node, [target, *bounds, body, otherwise], index=int(parallel))
        return self.make("Each", node, [target, self.iterable(iterable), body, otherwise])

    def do_With(self, node: ast.With) -> Any:
        for item in node.items:
            manager = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
            name = manager.attr if isinstance(manager, ast.Attribute) else getattr(manager, "id", "")
            passed_over = self.ignores_errors(item) or numba_cython.is_manager(self.resolve(manager), name)
            if item.optional_vars is not None or not passed_over:
                self.refuse(node, refusal(node))
        return [part for s in node.body for part in self.statement(s)]

    def do_While(self, node: ast.While) -> Any:
        if has_named(node.test):
            return self.while_named(node)
        with self.perhaps():
            test = self.expression(node.test)
        return self.make("While", node, [test, self.block(node.body, node), self.block(node.orelse, node)])

    def do_If(self, node: ast.If) -> Any:
        if has_named(node.test):
            return self.if_named(node)
        return self.make("If", node, [self.expression(node.test), self.block(node.body, node), self.block(node.orelse, node)])

    def do_Break(self, node: ast.Break) -> Any:
        return self.make("Break", node)

    def do_Continue(self, node: ast.Continue) -> Any:
        return self.make("Continue", node)

    def do_Return(self, node: ast.Return) -> Any:
        return self.make("Return", node, [] if node.value is None else [self.expression(node.value)])

    def do_Assert(self, node: ast.Assert) -> Any:
        message = ast.unparse(node.test) if node.msg is None else self.text(node.msg)
        return self.make("Assert", node, [self.expression(node.test)], name=message)

    def do_Raise(self, node: ast.Raise) -> Any:
        raised = node.exc
        arguments = raised.args if isinstance(raised, ast.Call) else []
        kind = self.resolve(raised.func if isinstance(raised, ast.Call) else raised) if raised is not None else absent
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            self.refuse(node, "a kernel raises an exception by its class: raise ValueError('…')")
        if isinstance(raised, ast.Call) and raised.keywords:
            self.refuse(raised, f"{kind.__name__} takes no keywords in a kernel")
        number = next((n for c, n in RAISED if issubclass(kind, c)), RUNTIME_ERROR)
        text, values = self.told_by(arguments)
        return self.make("Raise", node, [self.expression(v) for v in values], name=text if arguments else kind.__name__, index=number)

    def told_by(self, arguments: list[ast.expr]) -> tuple[str, list[ast.expr]]:
        """The message of an exception with these arguments, with `$0` for the first value in it, and the values."""
        values: list[ast.expr] = []

        def shown(value: ast.expr) -> str:
            values.append(value)
            if len(values) > 3:
                self.refuse(value, "the message of an exception holds up to three integers in a kernel")
            return f"${len(values) - 1}"

        if len(arguments) > 1:  # as Python shows it
            parts = [repr(a.value) if isinstance(a, ast.Constant) else shown(a) for a in arguments]
            return f"({', '.join(parts)})", values
        text = ""
        for argument in arguments:
            for part in argument.values if isinstance(argument, ast.JoinedStr) else [argument]:
                if isinstance(part, ast.FormattedValue) and part.conversion == -1 and part.format_spec is None:
                    text += shown(part.value)
                else:
                    text += self.text(part)
        return text, values

    def text(self, node: ast.expr) -> str:
        if isinstance(node, ast.JoinedStr) and all(isinstance(v, ast.Constant) for v in node.values):
            return "".join(str(v.value) for v in node.values if isinstance(v, ast.Constant))
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            self.refuse(node, "the message must be a plain string: kernels make no texts")
        return node.value

    def target(self, node: ast.expr) -> tuple[Any, ...]:
        if isinstance(node, ast.Name):
            return self.make("Name", node, name=node.id)
        if isinstance(node, (ast.Tuple, ast.List)):
            for part in node.elts:
                if isinstance(part, ast.Starred):
                    self.refuse(part, "`*name` is not accepted in a kernel; write a name for each item")
            return self.make("Tuple", node, [self.target(t) for t in node.elts])
        if not isinstance(node, ast.Subscript) and (not isinstance(node, ast.Attribute) or self.resolve(node) is not absent):
            self.refuse(node, "only names, elements of arrays, and tuples of these can be assigned in a kernel")
        return self.expression(node)

    # --- expressions

    def expression(self, node: ast.expr) -> tuple[Any, ...]:
        node = self.attribute_asked(node)
        method = getattr(self, "of_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, refusal(node))
        self.depth += 1
        try:
            made: tuple[Any, ...] = self.too_deep(node) if self.depth > MOST_NESTED else method(node)
        except RecursionError:
            self.too_deep(node)
        finally:
            self.depth -= 1
        return made

    def too_deep(self, node: ast.AST) -> NoReturn:
        """Refuse what Python's stack, or the compiler's, would not hold."""
        raise problem(_core.CompileError, self.source, node, f"this is nested too deeply, {NESTED_ADVICE}") from None

    def attribute_asked(self, node: ast.expr) -> ast.expr:
        """``x.name`` for ``getattr(x, "name")``, whose name may be a text from outside; other expressions as they are."""
        if not isinstance(node, ast.Call) or len(node.args) != 2 or self.resolve(node.func) is not getattr:
            return node
        name = node.args[1].value if isinstance(node.args[1], ast.Constant) else self.resolve(node.args[1])
        if not isinstance(name, str):
            self.refuse(node, "the name of an attribute is a plain string")
        return ast.copy_location(ast.Attribute(node.args[0], name, ast.Load()), node)

    def of_Constant(self, node: ast.Constant) -> Any:
        return self.value(node.value, node)

    def of_Name(self, node: ast.Name) -> Any:
        if node.id in self.locals:
            return self.make("Name", node, name=node.id)
        value = self.resolve(node)
        if isinstance(value, types.ModuleType):
            raise problem(TypeError, self.source, node, f"the module `{node.id}` is not a value")
        return self.value(value, node, self.names.cells.get((node.id,)))

    def of_Attribute(self, node: ast.Attribute) -> Any:
        value = self.resolve(node)
        if value is not absent:
            return self.value(value, node, self.names.cells.get(path_of(node)))
        return self.make("Attribute", node, [self.expression(node.value)], name=node.attr)

    def of_Subscript(self, node: ast.Subscript) -> Any:
        index = node.slice
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        return self.make("Subscript", node, [self.expression(node.value), *(self.expression(p) for p in parts)])

    def of_Slice(self, node: ast.Slice) -> Any:
        parts = [self.make("None", node) if p is None else self.expression(p) for p in (node.lower, node.upper, node.step)]
        return self.make("Slice", node, parts)

    def of_Tuple(self, node: ast.Tuple) -> Any:
        made = None  # (a, *b, c) is (a,) + b + (c,)
        plain: list[Any] = []

        def joined(part: Any) -> Any:
            return part if made is None else self.make("Binary", node, [made, part], name="+")

        for element in node.elts:
            if isinstance(element, ast.Starred):
                if plain:
                    made, plain = joined(self.make("Tuple", node, plain)), []
                made = joined(self.expression(element.value))
            else:
                plain.append(self.expression(element))
        return joined(self.make("Tuple", node, plain)) if plain or made is None else made

    def of_BinOp(self, node: ast.BinOp) -> Any:
        if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List) and len(node.left.elts) == 1:
            return self.repeated(node, node.left.elts[0])
        return self.make("Binary", node, [self.expression(node.left), self.expression(node.right)], name=BINARY[type(node.op)])

    def of_UnaryOp(self, node: ast.UnaryOp) -> Any:
        operand = node.operand
        if isinstance(node.op, ast.USub) and isinstance(operand, ast.Constant) and isinstance(operand.value, (int, float, complex)):
            return self.value(-operand.value, node)
        return self.make("Unary", node, [self.expression(node.operand)], name=UNARY[type(node.op)])

    def of_BoolOp(self, node: ast.BoolOp) -> Any:
        first = self.expression(node.values[0])
        with self.perhaps():
            others = [self.expression(v) for v in node.values[1:]]
        return self.make("And" if isinstance(node.op, ast.And) else "Or", node, [first, *others])

    def of_Compare(self, node: ast.Compare) -> Any:
        names = ",".join(COMPARISONS[type(op)] for op in node.ops)
        looked_through = [isinstance(op, (ast.In, ast.NotIn)) for op in node.ops]
        parts = [
            self.expression(node.left),
            self.iterable(node.comparators[0]) if looked_through[0] else self.expression(node.comparators[0]),
        ]
        with self.perhaps():
            others = zip(looked_through[1:], node.comparators[1:], strict=True)
            parts += [self.iterable(e) if inside else self.expression(e) for inside, e in others]
        return self.make("Compare", node, parts, name=names)

    def of_IfExp(self, node: ast.IfExp) -> Any:
        test = self.expression(node.test)
        with self.perhaps():
            return self.make("Choice", node, [test, self.expression(node.body), self.expression(node.orelse)])

    def arguments(self, node: ast.Call) -> list[tuple[Any, ...]]:
        made = [self.make("Star", a, [self.expression(a.value)]) if isinstance(a, ast.Starred) else self.expression(a) for a in node.args]
        for k in node.keywords:
            if k.arg is None:
                self.refuse(k.value, "`**arguments` is not accepted in a kernel; write `name=value` for each")
            made.append(self.make("Keyword", k, [self.expression(k.value)], name=k.arg))
        return made

    def with_dtypes(self, parts: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Arguments where the name of a dtype, as a text, is the dtype."""
        out = []
        for part in parts:
            if part[0] == CODE["Keyword"]:
                part = (*part[:-1], self.with_dtypes(part[-1]))
            elif part[0] == CODE["Text"] and (dtype := _dtype_of_text(part[5])) is not None:
                part = (CODE["DTypeName"], *part[1:5], "", None, _core._dtype_number(dtype), [])
            out.append(part)
        return out

    def converts(self, called: Any, node: ast.Call) -> str:
        """What of Python a call of a type of Cython, of its `declare` or its `cast`, converts the last argument to; '' for other calls."""
        if numba_cython.is_declare(called) or numba_cython.is_cast(called):
            kind, values = self.resolve(node.args[0]) if node.args else None, node.args[1:]
        elif not isinstance(called, type) and numba_cython.conversion(called):
            kind, values = called, node.args
        else:
            return ""
        to = numba_cython.conversion(kind)
        if not to or len(values) != 1:
            self.refuse(node, "a type of numbers and one value are expected")
        return to

    def of_Lambda(self, node: ast.Lambda) -> Any:
        code = lambda_inside(self.function, node)
        if code is None:
            self.refuse(node, "the code of this lambda cannot be found; define a function with a name outside of the kernel")
        if node.args.defaults or node.args.kw_defaults:
            self.refuse(node, "a lambda in a kernel has no defaults")
        cells = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True))
        for name in code.co_freevars:
            if name not in cells:
                self.refuse(node, f"a lambda in a kernel cannot use the kernel's own `{name}`; give it as an argument")
        closure = tuple(cells[name] for name in code.co_freevars)
        function = types.FunctionType(code, self.function.__globals__, "<lambda>", None, closure)
        return self.make("FunctionName", node, index=self.callee(function))

    def of_values(self, node: ast.Call) -> Any:
        """An array of the values in a list, or in a list of lists."""
        first, *others = node.args
        assert isinstance(first, (ast.List, ast.Tuple))
        rows = bool(first.elts) and all(isinstance(e, (ast.List, ast.Tuple)) for e in first.elts)
        values = [ast.Tuple(e.elts, ast.Load()) for e in first.elts if isinstance(e, (ast.List, ast.Tuple))] if rows else first.elts
        for v in values if rows else ():
            ast.copy_location(v, first)
        plain = ast.copy_location(ast.Tuple(list(values), ast.Load()), first)
        target = self.make("FunctionName", node.func, index=self.callee(intrinsics.of_values[int(rows)]))
        call = ast.copy_location(ast.Call(node.func, [plain, *others], node.keywords), node)
        return self.make("Apply", node, [target, *self.with_dtypes(self.arguments(call))])

    def of_Call(self, node: ast.Call) -> Any:
        if (function := self.attribute_asked(node.func)) is not node.func:
            node = ast.copy_location(ast.Call(function, node.args, node.keywords), node)
        called = self.resolve(node.func)
        if (plain := self.of_builtin(called, node)) is not None:
            return plain
        if called is absent:
            if isinstance(node.func, ast.Attribute):
                arguments = self.arguments(node)
                if node.func.attr == "astype":
                    arguments = self.with_dtypes(arguments)
                name = node.func.attr
                ours = intrinsics.written_methods.get(name) or intrinsics.list_methods.get("" if name == "pop" and not arguments else name)
                index = 0 if ours is None else self.callee(ours) + 1
                return self.make("Method", node, [self.expression(node.func.value), *arguments], name=node.func.attr, index=index)
            return self.make("Apply", node, [self.expression(node.func), *self.arguments(node)], name=ast.unparse(node.func))
        called = numba_cython.numpy_type(called) or called
        if called is dict:
            self.refuse(node, refusal(ast.copy_location(ast.Dict([], []), node)))
        if isinstance(called, type) and issubclass(called, tuple) and hasattr(called, "_fields"):
            called = named_tuple(tuple(called._fields))
        if isinstance(called, type) and (fields := dataclass_struct(called)) is not None:
            called = fields
        if called is dataclasses.replace and len(node.args) == 1:
            method = ast.copy_location(ast.Attribute(node.args[0], "_replace", ast.Load()), node)
            return self.expression(ast.copy_location(ast.Call(method, [], node.keywords), node))
        if isinstance(called, type) and issubclass(called, Struct):
            return self.made(called, node)
        if called is print:
            return self.printed(node)
        if id(called) in known:
            name = known[id(called)]
            if name == "prange" or called is range:
                self.refuse(node, f"{name} is accepted only after `for … in`")
            arguments = self.arguments(node)
            return self.make("Call", node, self.with_dtypes(arguments) if name in OF_A_DTYPE else arguments, name=name)
        if to := self.converts(called, node):
            return self.make("Call", node, [self.expression(node.args[-1])], name=to)
        if isinstance(called, type) and issubclass(called, np.generic):
            dtype = self.make("DTypeName", node, index=_core._dtype_number(np.dtype(called)))
            return self.make("Call", node, [*self.arguments(node), dtype], name="astype")
        if called is np.array and node.args and isinstance(node.args[0], (ast.List, ast.Tuple)):
            return self.of_values(node)
        plain = python_function(called)
        if plain is None:
            self.refuse(node, f"`{ast.unparse(node.func)}` cannot be called in a kernel{advice(called)}")
        if is_of_scipy(called):
            self.refuse(node, f"`{ast.unparse(node.func)}` cannot be called in a kernel{advice(called)}")
        target = self.make("FunctionName", node.func, index=self.callee(plain))
        return self.make("Apply", node, [target, *self.arguments(node)])


def _dtype_of_text(text: str) -> np.dtype[Any] | None:
    """The dtype that a text names as NumPy's functions take it; None for other texts."""
    try:
        dtype = promotion.host_dtype(text)
    except TypeError:
        return None
    return dtype if str(dtype) in DTYPES else None


def _braced(text: str) -> str:
    """A text that `format` leaves as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def is_prange(what: Any) -> bool:
    """True for `pardo.prange`, and for Numba's and Cython's."""
    return known.get(id(what)) == "prange" or numba_cython.is_prange(what)
