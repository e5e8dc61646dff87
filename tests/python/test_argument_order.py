# tests/python/test_argument_order.py: no argument list of C++ makes two values of a kernel: compilers choose which comes first, and then
# the text of a kernel, and the key of its program, depend on who compiled pardo.
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
BUILDER = r"(?:builder_|builder|build|b|m|m_|k)"
# Of constants only the first use has a place; they are not looked for. What only looks makes nothing.
PLAIN = "i64|boolean|constant|type|constant_of|is_constant|identity|number|tuple|view"
# What makes a value: calls of a builder, and of the functions that lowering, recipes and passes have for that.
WORDS = (
    "value|cast|pure|add|sub|mul|div|compared|loaded|least|zero|size|count|select|pick|both|either|bit_or|bit_and|bit_not|is_zero|is_inf|"
    "is_nan|is_finite|with_sign|polynomial|lexicographic|less_equal"
)
MAKES = re.compile(rf"(?:\b{BUILDER}(?:\.|->)(?!(?:{PLAIN})\b)\w+|(?<![\w.>:])(?:{WORDS}))\s*\(")
# Recipes of src/graph are written with operators, whose sides come in any order too.
SIDES = re.compile(r"\)\s*(?:[-+*/%&|^]|<<|>>|[=!<>]=|[<>])\s*[-!]?\w*\(")
OPENING, CLOSING = "([{", ")]}"


# Recipes of src/ir/math are left out: they are expanded when the key is known.
FOLDERS = ["src/lang", "src/plan", "src/graph", "src/ir/passes", "src/array/generated", "src/launch"]


def argument_lists(text):
    """Each `name(…)` of a text: where it begins, and its arguments; those of lambdas and declarations are no calls of their own."""
    stack = []
    for at, c in enumerate(text):
        if c in OPENING:
            before = text[max(0, at - 40) : at]
            called = c == "(" and re.search(r"[\w>]\s*$", before) and not re.search(r"\b(?:if|for|while|switch|return)\s*$", before)
            stack.append((at, bool(called), [at + 1]))
        elif c in CLOSING and stack:
            begin, called, cuts = stack.pop()
            if called:
                ends = [*cuts[1:], at + 1]
                yield begin, [text[a : b - 1] for a, b in zip(cuts, ends, strict=True)]
        elif c == "," and stack:
            stack[-1][2].append(at + 1)


def blanked(text):
    """The text without comments and strings, each character in its place."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL)


def makes(argument):
    """True for an argument that makes a value when it is evaluated; a lambda makes nothing yet."""
    return not re.match(r"\s*\[", argument) and MAKES.search(argument) is not None


def found_in(text):
    text = blanked(text)
    return sorted({text.count("\n", 0, at) + 1 for at, arguments in argument_lists(text) if sum(map(makes, arguments)) > 1})


def test_the_search_finds_them():
    assert found_in("x = builder_.add(builder_.mul(a, n), builder_.dim(d));") == [1]
    assert found_in("x = builder_.add(\n    builder_.mul(a, n),\n    builder_.dim(d));") == [1]
    assert found_in("f([&] { return builder_.dim(0); }, [&] { return builder_.dim(1); });") == []
    assert found_in("x = both(m_.eq(a, b), is_nan(a));") == [1]
    assert found_in("x = both({m_.eq(a, b), is_nan(a)});") == []  # in braces they come in their order
    assert found_in("x = builder_.add(at, builder_.i64(1)); // builder_.add(builder_.dim(0), builder_.dim(1))") == []


def test_the_search_finds_operators():
    assert SIDES.search("x = abs(a) == abs(b);")
    assert SIDES.search("x = (a < b) & !(c < d);")
    assert not SIDES.search("x = abs(a) == infinity; y = select(c, a, b) * b;")


@pytest.mark.skipif(not (ROOT / "src" / "graph").is_dir(), reason="not in a source tree")
def test_no_operator_of_a_recipe_makes_two_values():
    text = blanked((ROOT / "src" / "graph" / "recipes.cpp").read_text())
    wrong = sorted({text.count("\n", 0, found.start()) + 1 for found in SIDES.finditer(text)})
    assert not wrong, f"name the first of these values, in lines {wrong}"


@pytest.mark.skipif(not (ROOT / "src" / "lang").is_dir(), reason="not in a source tree")
def test_no_argument_list_makes_two_values():
    files = [p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*.cpp"))]
    wrong = [f"{p.relative_to(ROOT)}:{line}" for p in files for line in found_in(p.read_text())]
    assert not wrong, "name the first of these values:\n" + "\n".join(wrong)
