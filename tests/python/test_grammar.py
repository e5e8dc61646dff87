# tests/python/test_grammar.py: each construct of Python's grammar in a loop is compiled, runs as Python with a warning, or is refused with
# a remedy; and gives what Python gives wherever it runs.
import ast
import linecache
import textwrap
import warnings

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once

# A line of a loop's body for each node of the syntax tree; several where it has forms that differ. `x` is an array, `i` counts.
SNIPPETS = {
    # statements
    "FunctionDef": ["def f(v):\n    return v + 1\nx[i] = f(x[i])", "def f(v, w=1):\n    return v + w\nx[i] = f(x[i])"],
    "AsyncFunctionDef": ["async def f():\n    pass\nx[i] = 1"],
    "ClassDef": ["class C:\n    a = 1\nx[i] = C.a"],
    "Return": ["if x[i] > 2:\n    return x[i]"],
    "Delete": ["y = 1\ndel y\nx[i] = 2"],
    "Assign": ["a = b = x[i]\nx[i] = a + b", "(a, b), c = (x[i], 1), 2\nx[i] = a + b + c"],
    "AugAssign": ["x[i] += 1"],
    "AnnAssign": ["y: float = x[i]\nx[i] = y + 1"],
    "For": ["for j in range(2):\n    x[i] += j\nelse:\n    x[i] += 5"],
    "AsyncFor": [],
    "While": ["j = 0\nwhile j < 3:\n    x[i] += j\n    j += 1\nelse:\n    x[i] = 0"],
    "If": ["if x[i] > 1:\n    x[i] = 0\nelif i:\n    x[i] = 1\nelse:\n    x[i] = 2"],
    "With": ["with manager:\n    x[i] += 1"],
    "AsyncWith": [],
    "Match": ["match i:\n    case 1:\n        x[i] = 5\n    case _:\n        x[i] = 7"],
    "Raise": ["if x[i] > 1e9:\n    raise ValueError('too large')\nx[i] += 1"],
    "Try": ["try:\n    x[i] += 1\nexcept ValueError:\n    pass"],
    "TryStar": ["try:\n    x[i] += 1\nexcept* ValueError:\n    pass"],
    "Assert": ["assert x[i] < 1e9, 'too large'\nx[i] += 1"],
    "Import": ["import math\nx[i] = math.sqrt(i)"],
    "ImportFrom": ["from math import sqrt\nx[i] = sqrt(i)"],
    "Global": ["global counter\ncounter = i\nx[i] = counter"],
    "Nonlocal": [],
    "Expr": ["'a text'\nx[i] += 1"],
    "Pass": ["pass\nx[i] += 1"],
    "Break": ["if i == 2:\n    break\nx[i] += 1"],
    "Continue": ["if i == 2:\n    continue\nx[i] += 1"],
    "TypeAlias": ["type T = int\nx[i] += 1"],
    # expressions
    "BoolOp": ["if i > 0 and x[i] > 0 or i == 3:\n    x[i] = 9"],
    "NamedExpr": ["if (y := x[i]) > 1:\n    x[i] = y * 2"],
    "BinOp": ["x[i] = x[i] * 2 - 1"],
    "UnaryOp": ["x[i] = -x[i]"],
    "Lambda": ["f = lambda v: v + 1\nx[i] = f(x[i])"],
    "IfExp": ["x[i] = 1 if i else 2"],
    "Dict": ["d = {0: 1}\nx[i] = d[0]"],
    "Set": ["d = {0, i}\nx[i] = len(d)"],
    "ListComp": ["x[i] = sum([j for j in range(i)])"],
    "SetComp": ["x[i] = len({j % 2 for j in range(i)})"],
    "DictComp": ["d = {j: j for j in range(3)}\nx[i] = d[0]"],
    "GeneratorExp": ["x[i] = sum(j for j in range(i))"],
    "Await": [],
    "Yield": [],
    "YieldFrom": [],
    "Compare": ["x[i] = 0 < i <= 2"],
    "Call": ["x[i] = max(x[i], 1)"],
    "FormattedValue": ["s = f'{i}'\nx[i] = len(s)"],
    "JoinedStr": ["s = f'a'\nx[i] = len(s)"],
    "TemplateStr": [],  # Python 3.14
    "Interpolation": [],
    "Constant": ["x[i] = 1.5", "x[i] = len('text')", "x[i] = ... is None"],
    "Attribute": ["x[i] = x.size"],
    "Subscript": ["x[i] = x[i - 1]"],
    "Starred": ["a, *b = 1, 2, 3\nx[i] = a", "x[i] = max(*(i, 2))"],
    "Name": ["x[i] = i"],
    "List": ["d = [1, i]\nx[i] = d[1]"],
    "Tuple": ["d = (1, i)\nx[i] = d[1]"],
    "Slice": ["x[i] = x[1:3].sum()", "x[::2] += 1"],
    # patterns
    "MatchValue": ["match i:\n    case 1:\n        x[i] = 5"],
    "MatchSingleton": [
        "match x[i]:\n    case None:\n        x[i] = 5\n    case _:\n        x[i] = 3",
        "match i:\n    case True:\n        x[i] = 5",
    ],
    "MatchSequence": ["match (i, 2):\n    case (1, a):\n        x[i] = a"],
    "MatchMapping": ["match {}:\n    case {'a': a}:\n        x[i] = a"],
    "MatchClass": ["match i:\n    case int():\n        x[i] = 4"],
    "MatchStar": ["match (i, 2):\n    case (1, *a):\n        x[i] = 7"],
    "MatchAs": ["match i:\n    case 1 | 2 as a:\n        x[i] = a\n    case a if a > 2:\n        x[i] = -a"],
    "MatchOr": ["match i:\n    case 1 | 2:\n        x[i] = 5"],
}  # fmt: skip
OPERATORS = {
    **{name: f"x[i] = n[i] {op} (i + 1)" for name, op in (
        ("Add", "+"), ("Sub", "-"), ("Mult", "*"), ("Div", "/"), ("FloorDiv", "//"), ("Mod", "%"), ("Pow", "**"), ("LShift", "<<"),
        ("RShift", ">>"), ("BitOr", "|"), ("BitXor", "^"), ("BitAnd", "&"), ("Eq", "=="), ("NotEq", "!="), ("Lt", "<"), ("LtE", "<="),
        ("Gt", ">"), ("GtE", ">="), ("And", "and"), ("Or", "or"),
    )},
    "MatMult": "x[i] = x @ x", "Is": "x[i] = x[i] is None", "IsNot": "x[i] = x[i] is not None", "In": "x[i] = i in (1, 2)",
    "NotIn": "x[i] = i not in x", "Invert": "x[i] = ~i", "Not": "x[i] = not i", "UAdd": "x[i] = +x[i]", "USub": "x[i] = -x[i]",
}  # fmt: skip
CASES = [(name, text) for name, texts in {**SNIPPETS, **{n: [t] for n, t in OPERATORS.items()}}.items() for text in texts]


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def program(text, loop):
    """The function whose loop holds a text, in a file that can be read; None where this Python does not know the syntax."""
    source = f"def f(x, n):\n    for i in {loop}(len(x)):\n{textwrap.indent(text, ' ' * 8)}\n    return -1\n"
    file = f"<{loop} {text}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"prange": pp.prange, "manager": Manager()}
    try:
        exec(compile(source, file, "exec"), names)
    except SyntaxError:
        return None
    return names["f"]


def outcome(function, expected):
    """How a text went: 'compiled', 'Python', or what it is refused with."""
    x, n = np.arange(5.0), np.arange(5)
    before = pp.counters()["fallbacks"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            given = pp.jit(function)(x, n)
        except Exception as e:
            return e
    if expected is not None:
        assert given == expected[0]
        np.testing.assert_allclose(x, expected[1])
    counted = pp.counters()["fallbacks"] - before
    told = [w for w in caught if "runs as Python" in str(w.message)]
    assert counted == len(told)
    for w in told:
        assert "line" in str(w.message)
    return "Python" if told else "compiled"


def refused_well(error):
    text = str(error)
    assert isinstance(error, (pp.CompileError, TypeError, ValueError, NameError)), repr(error)
    assert "^" in text.splitlines()[-1], text
    assert any(word in text for word in ("; ", ": ")), text


@pytest.mark.parametrize("loop", ["range", "prange"])
@pytest.mark.parametrize(("name", "text"), CASES, ids=[f"{n}{k}" for k, (n, _) in enumerate(CASES)])
def test_each_construct(name, text, loop):
    function = program(text, loop)
    if function is None:
        pytest.skip("this Python does not have it")
    x = np.arange(5.0)
    try:
        expected = (function(x, np.arange(5)), x)
    except Exception:
        expected = None
    # Iterations that write what others read, or leave the loop, mean another thing in parallel: such are refused;
    # those of dicts are Python's.
    got = outcome(function, expected)
    if isinstance(got, Exception):
        if expected is None and not isinstance(got, pp.CompileError):
            return  # Python raises too
        refused_well(got)


def test_all_constructs_are_here():
    """A statement, expression, pattern or operator of a later Python is not passed over."""
    every = {
        name
        for name, kind in vars(ast).items()
        if isinstance(kind, type)
        and issubclass(kind, (ast.stmt, ast.expr, ast.pattern, ast.operator, ast.unaryop, ast.boolop, ast.cmpop))
        and kind.__module__ in ("ast", "_ast")
        and not kind.__subclasses__()
        and not name.startswith("_")
        and name not in ("Num", "Str", "Bytes", "NameConstant", "Ellipsis")
    }
    assert every <= SNIPPETS.keys() | OPERATORS.keys()


def test_functions_that_wait():
    """What stops a function in the middle is for functions that jit does not take, or that stay Python's."""
    names = {"pp": pp}
    exec("async def f(x):\n    async for i in x:\n        await i\n\ndef g(x):\n    for i in range(3):\n        yield x[i]\n", names)
    for name, what in (("f", "an async function"), ("g", "a generator")):
        with pytest.raises(TypeError, match=f"{what}, whose statements do not run when it is called"):
            pp.jit(names[name])
