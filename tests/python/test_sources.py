# tests/python/test_sources.py: where the text of functions is found: exec'd code, odd layouts, lambdas that share a line.
import importlib.util
import linecache
import types

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once

TEXT = """
import pardo as pp

def helper(v): return v * 2

@pp.kernel
def double(item: pp.Item, x):
    x[item.get_id(0)] = helper(x[item.get_id(0)])

@pp.jit
def total(x):
    s = 0.0
    for i in pp.prange(len(x)):
        s += x[i]
    return s

shift = lambda v: v + 1

@pp.kernel
def shifted(item: pp.Item, x):
    x[item.get_id(0)] = shift(x[item.get_id(0)])
"""


def executed(text, name):
    names = {"__name__": "executed"}
    exec(compile(text, name, "exec"), names)
    return names


def ran(kernel, values, items=None):
    x = pp.asarray(np.array(values, float))
    kernel[len(values) if items is None else items](x).wait()
    return pp.asnumpy(x).tolist()


@pytest.mark.parametrize("name", ["<executed>", "executed.py", "/no/such/folder/executed.py"])
@pytest.mark.parametrize("time", [None, 0.0], ids=["by a loader", "by a file"])
def test_exec_with_its_text_in_linecache(name, time, monkeypatch):
    monkeypatch.setitem(linecache.cache, name, (len(TEXT), time, TEXT.splitlines(keepends=True), name))
    names = executed(TEXT, name)
    assert ran(names["double"], [1, 2]) == [2, 4]
    assert ran(names["shifted"], [1, 2]) == [2, 3]
    assert names["total"](np.arange(4.0)) == 6


def test_errors_of_such_functions_show_the_line(monkeypatch):
    text = "import pardo as pp\n\n@pp.kernel\ndef wrong(item: pp.Item, x):\n    x[0] = y\n"
    monkeypatch.setitem(linecache.cache, "<cell 3>", (len(text), None, text.splitlines(keepends=True), "<cell 3>"))
    with pytest.raises(NameError) as caught:
        executed(text, "<cell 3>")["wrong"][1](pp.zeros(1))
    assert str(caught.value).split("\n")[1:] == ['  File "<cell 3>", line 5, in wrong', "    x[0] = y", "           ^"]


@pytest.mark.parametrize("name", ["double", "shifted", "total"])
def test_exec_without_a_text(name):
    names = {"__name__": "executed"}
    exec(compile(TEXT.replace("x", "u"), "<nowhere>", "exec"), names)  # this text is gone when it has run
    function = names[name]
    with pytest.raises(TypeError, match=rf"{name}: the text of this function cannot be found.*linecache\.cache\['<nowhere>'\]"):
        function[1](pp.zeros(1)) if name != "total" else function(np.zeros(1))


def test_a_lambda_without_a_text():
    shift = eval("".join(["lambda v:", " v + 1"]))
    held = eval("lambda v: v + 2")

    @pp.kernel
    def use(item: pp.Item, x):
        x[0] = shift(x[0])

    @pp.kernel
    def use_held(item: pp.Item, x):
        x[0] = held(x[0])

    with pytest.raises(TypeError, match="<lambda>: the text of this function cannot be found"):
        ran(use, [1])
    assert ran(use_held, [1]) == [3]


def imported(text, tmp_path):
    """A module of a file of its own."""
    path = tmp_path / "layout.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("layout", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_layouts(tmp_path):
    module = imported(
        """
import functools
import pardo as pp

if True:
    class Holder:
        @pp.kernel(
            fastmath=False,  # (
        )
# a comment in column 0
        def odd(item: pp.Item, x):
            '''A text
that begins in column 0.
'''
# another comment
            i = item.get_id(0)
            x[i] = (x[i] +
1)
        # the last

        after = 1

    @pp.kernel
    def line(item, x): i = item.get_id(0); x[i] *= 3

def maker(n):
    @pp.kernel
    def made(item: pp.Item, x):
        x[item.get_id(0)] += n
    return made

def outer():
    def outer(item: pp.Item, x):
        x[item.get_id(0)] = 7
    return outer

called = pp.kernel(pp.func(outer()))
""",
        tmp_path,
    )
    assert ran(module.Holder.odd, [1, 2]) == [2, 3]
    assert ran(module.line, [1, 2]) == [3, 6]
    assert ran(module.maker(5), [1, 2]) == [6, 7]
    assert ran(module.called, [1, 2]) == [7, 7]


def test_columns_of_an_indented_function(tmp_path):
    module = imported("import pardo as pp\nif True:\n    @pp.kernel\n    def wrong(item: pp.Item, x):\n        x[0] = y\n", tmp_path)
    with pytest.raises(NameError) as caught:
        module.wrong[1](pp.zeros(1))
    assert str(caught.value).split("\n")[1:] == [f'  File "{module.__file__}", line 5, in wrong', "    x[0] = y", "           ^"]


def test_several_lambdas_in_a_line():
    # fmt: off
    add, sub, twice = (lambda a, b: a + b), (lambda a, b: a - b), (lambda a: (lambda b: b + b)(a))
    def use(item: pp.Item, x): x[0] = add(x[0], 1); x[1] = sub(x[1], 1); x[2] = (pick)(x[2])
    k, pick = pp.kernel(use), lambda a: a * 10 if a > 2 else a * 100
    # fmt: on
    assert ran(k, [1, 2, 3], items=1) == [2, 1, 30]
    assert twice(2) == 4


def test_lambdas_that_look_alike_on_one_line():
    # fmt: off
    one = two = None
    n = 1
    one, two = [(lambda v: v + n), (lambda v: v - n)]
    # fmt: on

    @pp.kernel
    def use(item: pp.Item, x):
        x[0], x[1] = one(x[0]), two(x[1])

    assert ran(use, [5, 5], items=1) == [6, 4]


def test_lambdas_with_defaults_and_over_several_lines():
    @pp.kernel
    def use(item: pp.Item, x):
        x[0], x[1] = power(x[0]), power(x[1], exponent=3)

    power = lambda base, exponent=2: (
        base
        ** exponent
    )  # fmt: skip
    assert ran(use, [3, 2], items=1) == [9, 8]


def test_a_wrapped_function_is_what_runs():
    import functools

    def inner(item, x):
        x[0] = 1

    @functools.wraps(inner)
    def wrapper(item: pp.Item, x):
        x[0] = 2

    assert ran(pp.kernel(wrapper), [0]) == [2]


def test_a_kernel_of_an_interactive_cell(monkeypatch):
    """As IPython compiles cells: a file that does not exist, its text in linecache alone."""
    name = "/tmp/ipykernel_1/2.py"
    text = "import pardo as pp\n@pp.kernel\ndef k(item: pp.Item, x):\n    x[item.get_id(0)] = 3\n"
    monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(keepends=True), name))
    names = executed(text, name)
    linecache.checkcache()
    assert_array_equal(ran(names["k"], [0, 0]), [3, 3])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y[i] = 1.0\n    if i > 1:\n        y[i] = 2.0\n    else:\n        pass", [1, 1, 2]),
        ("y[i] = max(\n        i,\n        1,\n    )\n    # a comment", [1, 1, 2]),
        ("f = lambda v: (\n        v +\n        1\n    )\n    y[i] = f(i)", [1, 2, 3]),
        ("y[i] = 3.0\n    return\n    y[i] = 4.0", [3, 3, 3]),
        ('"""Does nothing."""\n    pass', [0, 0, 0]),
        ("pass", [0, 0, 0]),
        ("y[i] = 5.0; \\\n    y[i] += 1.0\n    n: int", [6, 6, 6]),
    ],
)
@pytest.mark.parametrize("indent", ["", "    "])
def test_where_a_function_ends(tmp_path, body, expected, indent):
    text = f"@pp.kernel\ndef f(item: pp.Item, y):\n    i = item.get_id(0)\n    {body}\n\n\nvalue = 1\n"
    if indent:
        text = "if True:\n" + "".join(indent + line + "\n" for line in text.splitlines())
    file = tmp_path / "written.py"
    file.write_text("import pardo as pp\n" + text)
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    y = pp.zeros(3)
    names["f"][3](y).wait()
    assert y.tolist() == expected


def test_a_module_that_is_loaded_anew(tmp_path):
    module = imported("FACTOR = 2\ndef scaled(v):\n    return v * 2\n", tmp_path)

    @pp.kernel
    def grow(item: pp.Item, x):
        x[item.get_id(0)] = module.scaled(x[item.get_id(0)]) + module.FACTOR

    assert ran(grow, [1, 2]) == [4, 6]
    newer = imported("FACTOR = 1\ndef scaled(v):\n    return v * 30\n", tmp_path)
    module.scaled = newer.scaled
    assert ran(grow, [1, 2]) == [32, 62]
    module.FACTOR = newer.FACTOR
    assert ran(grow, [1, 2]) == [31, 61]


def test_settings_that_change():
    class Settings:
        kind = np.float32
        inner = types.SimpleNamespace(shift=1, power=lambda v: v * v)

    @pp.kernel
    def apply(item: pp.Item, x):
        i = item.get_id(0)
        x[i] = Settings.inner.power(x[i]) + Settings.kind(0.1) * Settings.inner.shift

    assert ran(apply, [2.0]) == [4 + float(np.float32(0.1))]
    Settings.kind = np.float64
    assert ran(apply, [2.0]) == [4.1]
    Settings.inner = types.SimpleNamespace(shift=10, power=lambda v: -v)
    assert ran(apply, [2.0]) == [-1.0]
    Settings.inner.shift = 20
    assert ran(apply, [2.0]) == [0.0]
