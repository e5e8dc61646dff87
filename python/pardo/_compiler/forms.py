# python/pardo/_compiler/forms.py: the forms of syntax that the compiler takes, and what of Python's syntax tree is which.
from __future__ import annotations

import ast

import numpy as np

# The forms of include/pardo/binding/syntax.h, in its order.
FORMS = [
    "Block",
    "Assign",
    "Augment",
    "For",
    "Each",
    "While",
    "If",
    "Break",
    "Continue",
    "Return",
    "Discard",
    "Assert",
    "Raise",
    "Number",
    "Text",
    "None",
    "DTypeName",
    "Name",
    "Tuple",
    "Attribute",
    "Subscript",
    "Slice",
    "Unary",
    "Binary",
    "And",
    "Or",
    "Compare",
    "Choice",
    "Call",
    "Keyword",
    "Method",
    "FunctionName",
    "Apply",
    "Star",
    "Named",
    "List",
    "Outside",
]
CODE = {name: number for number, name in enumerate(FORMS)}

BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.MatMult: "@",
}
COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not"}
COMPARISONS |= {ast.In: "in", ast.NotIn: "not in"}
UNARY = {ast.UAdd: "+", ast.USub: "-", ast.Not: "not", ast.Invert: "~"}

# Calls whose arguments name dtypes as texts too.
_MADE = ("empty", "zeros", "ones", "full")
OF_A_DTYPE = {"local_array", "private_array", "astype", "sum", "prod", "mean", *_MADE, *(f"{made}_like" for made in _MADE)}
DTYPES = {*(str(np.dtype(kind)) for kind in "?bhilBHILefdFD"), "bfloat16"}


# The exceptions that kernels raise, by the error codes of include/pardo/error.h; the first that fits counts.
RUNTIME_ERROR = 10
RAISED: list[tuple[type[Exception], int]] = [
    (AssertionError, 13),
    (IndexError, 2),
    (OverflowError, 3),
    (ZeroDivisionError, 14),
    (TypeError, 1),
    (ValueError, 0),
]
