# tests/python/test_tracebacks.py: an exception shows frames of users and none of the package, wherever it comes from, whoever shows it.
import asyncio
import concurrent.futures
import importlib.util
import inspect
import operator
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from pardo._base import tracebacks

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(tracebacks.FULL, reason="all frames are kept: PARDO_TRACEBACK=full, or a debug build"),
]

CALLS_FILE = Path(__file__).parent / "wrong" / "tracebacks.py"
PACKAGE = str(Path(pp.__file__).parent)

spec = importlib.util.spec_from_file_location("wrong_calls", CALLS_FILE)
wrong = importlib.util.module_from_spec(spec)
spec.loader.exec_module(wrong)


def raised(call):
    """The exception, and the frames below the one that has called."""
    try:
        call()
    except Exception as error:
        return error, traceback.extract_tb(error.__traceback__)[1:]
    raise AssertionError("it has not raised")


def check(error, frames, count):
    shown = [f"{f.filename}:{f.lineno}: {f.name}" for f in frames]
    assert [f.filename for f in frames] == [str(CALLS_FILE)] * count, "\n".join(shown)
    seen = error
    while (seen := seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)) is not None:
        frames = traceback.extract_tb(seen.__traceback__)
        assert not any(f.filename.startswith(PACKAGE) for f in frames), repr(seen)
    assert PACKAGE not in "".join(traceback.format_exception(error))


@pytest.mark.parametrize("name", wrong.CALLS)
def test_frames(name):
    call, count = wrong.CALLS[name]
    check(*raised(call), count)


@pytest.mark.parametrize("name", wrong.CALLS)
def test_frames_in_threads(name):
    call, count = wrong.CALLS[name]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        error, frames = raised(lambda: pool.submit(call).result())
    check(error, [f for f in frames if "concurrent" not in f.filename and f.filename != __file__], count)


@pytest.mark.parametrize("name", wrong.AWAITED)
def test_frames_of_tasks(name):
    program, count = wrong.AWAITED[name]
    error, frames = raised(lambda: asyncio.run(program()))
    check(error, [f for f in frames if "asyncio" not in f.filename and f.filename != __file__], count)


def run(*arguments, **variables):
    environment = {**os.environ, **variables, "PYTHONPATH": str(CALLS_FILE.parent)}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, timeout=120, check=False)
    return done.stdout + done.stderr


SOME = ["helper of a kernel", "function", "late, wait", "callback of fromfunction"]
LINES_OF_KERNELS = {"helper of a kernel": 1, "late, wait": 1}  # that the messages show
PROGRAM = "import tracebacks\ntracebacks.CALLS[{name!r}][0]()\n"


@pytest.mark.parametrize("name", SOME)
def test_plain_python_shows_the_users_lines(tmp_path, name):
    """With the lines of the message: a call of a kernel whose helper is wrong took 197 lines."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(name=name))
    text = run(str(file))
    assert PACKAGE not in text
    assert text.count('\n  File "') == 1 + wrong.CALLS[name][1] + LINES_OF_KERNELS.get(name, 0)
    assert len(text.splitlines()) <= 16


@pytest.mark.parametrize("name", SOME)
def test_ipython_shows_the_users_cells(tmp_path, name):
    pytest.importorskip("IPython")
    program = PROGRAM.format(name=name)
    text = run("-m", "IPython", "--colors=NoColor", "--no-banner", "--quick", "-c", program, IPYTHONDIR=str(tmp_path))
    assert "Traceback" in text
    assert PACKAGE not in text
    assert "site-packages" not in text
    shown = [line for line in text.splitlines() if line.startswith(("File ", "Cell In"))]
    assert len(shown) == 1 + wrong.CALLS[name][1], text


CELLS = """
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.colors = "{colors}"
shell = InteractiveShell.instance()
shell.run_cell("import pardo as pp; from IPython.display import display")
shell.run_cell("@pp.kernel\\ndef put(item: pp.Item, x, by):\\n    i = item.get_id(0)\\n    x[i + by] = 1.0")
print("<shown>", flush=True)
shell.run_cell("event = put[pp.Range(8)](x := pp.zeros(8), 5)\\n{statement}\\n")
"""
LATE = """\
IndexError                                Traceback (most recent call last)
Cell In[1], line 2
      1 event = put[pp.Range(8)](x := pp.zeros(8), 5)
----> 2 {statement}

IndexError: put: index 8 is out of bounds for an axis of size 8 (item 3)
  File "<ipython-input-1-", line 4, in put
    x[i + by] = 1.0
      ^^^^^^
"""


@pytest.mark.parametrize("statement", ["x", "x + 1.0", "display(x)", "print(x)", "repr(x * 2.0)", "event.wait()"])
def test_cells_show_late_failures_at_their_line(tmp_path, statement):
    """And nothing of how a value that has failed raises in the display."""
    IPython = pytest.importorskip("IPython")
    colors = "nocolor" if IPython.version_info >= (9,) else "NoColor"
    text = run("-c", CELLS.format(statement=statement, colors=colors), IPYTHONDIR=str(tmp_path)).partition("<shown>\n")[2]
    shown = re.sub(r"(<ipython-input-1-)\w+>", r"\1", text)
    assert LATE.format(statement=statement) in shown, text
    assert shown.count("IndexError") == 2, text  # once
    assert "site-packages" not in shown


@pytest.mark.parametrize("name", SOME)
def test_pytest_shows_the_users_lines(tmp_path, name):
    file = tmp_path / "test_program.py"
    file.write_text(f"import tracebacks\ndef test_it():\n    tracebacks.CALLS[{name!r}][0]()\n")
    text = run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(file))
    assert "1 failed" in text
    assert PACKAGE not in text
    assert f"pardo{os.sep}_" not in text


def test_all_frames_on_demand():
    """For whoever looks for a fault of the package."""
    text = run("-c", "import pardo as pp; pp.concatenate([pp.zeros((2, 3)), pp.zeros(3)])", PARDO_TRACEBACK="full")
    assert PACKAGE in text
    assert "concatenate: " in text


def test_unhandled_errors_of_tasks_show_the_users_line():
    text = run("-c", "import asyncio, tracebacks\nasyncio.run(tracebacks.AWAITED['array'][0]())")
    assert PACKAGE not in text
    assert "IndexError: late_kernel: " in text


# --- what functions are besides -------------------------------------------------------------------------------------------------------


def test_functions_look_like_functions():
    import pickle
    import pydoc
    import weakref

    for f, name in ((pp.concatenate, "concatenate"), (pp.concat, "concat"), (pp.nanmean, "nanmean"), (pp.linalg.inv, "inv")):
        assert f.__name__ == f.__qualname__ == name
        assert pickle.loads(pickle.dumps(f)) is f
        assert weakref.ref(f)() is f
        assert inspect.isroutine(f)
        assert callable(f)
        assert f.__doc__ in (inspect.unwrap(f).__doc__, f.__wrapped__.__doc__)
        assert pydoc.render_doc(f).startswith("Python Library Documentation: ")
        assert f.__doc__.splitlines()[0] in pydoc.plain(pydoc.render_doc(f))
        assert f.__doc__.splitlines()[-1].strip() in pydoc.plain(pydoc.render_doc(f))
        assert repr(f).startswith(f"<function {name} at ")
    assert list(inspect.signature(pp.concat).parameters)[:2] == ["arrays_", "axis"]
    assert pp.concat.__module__ == "pardo"
    assert pp.linalg.inv.__module__ == "pardo.linalg"
    assert "self" not in str(inspect.signature(pp.zeros(3).mean))
    assert pp.Array.mean.__qualname__ == "Array.mean" or pp.Array.mean.__name__ == "mean"
    assert pickle.loads(pickle.dumps(pp.Array.reshape)) is pp.Array.reshape
    assert pickle.loads(pickle.dumps(pp.arange(4).reshape))((2, 2)).shape == (2, 2)
    assert pp.mean.__defaults__ == pp.mean.__wrapped__.__defaults__
    assert inspect.getsource(pp.mean).startswith("def mean(") or "def mean(" in inspect.getsource(pp.mean)


@pytest.mark.parametrize("name", ["__name__", "__qualname__"])
def test_names_are_texts(name):
    """As of Python's functions; without its name a function was shown by a null pointer."""
    for call in (lambda: delattr(pp.mean, name), lambda: setattr(pp.mean, name, 3)):
        with pytest.raises(TypeError, match=f"^{name} must be set to a string object$"):
            call()
    assert "function mean" in repr(pp.mean)


EVERY_ATTRIBUTE = """
import pardo as pp

@pp.kernel
def kernel(item: pp.Item, x): x[item.get_id(0)] += 1

@pp.jit
def loop(x):
    for i in pp.prange(x.shape[0]): x[i] += 1

x = pp.zeros(3)
spaces = (pp, pp.linalg, pp.fft, pp.random, pp.special, pp.Array, pp.random.Generator)
found = [getattr(space, name) for space in spaces for name in dir(space) if not name.startswith("_")]
functions = [f for f in found if callable(f) and not isinstance(f, type)]
for o in [*functions, kernel, loop, x, x.device, x.queue, x.event, pp.UserEvent(), pp.float32, pp.Range(3), pp.random.default_rng(1)]:
    for name in {*dir(o), "__name__", "__qualname__", "__module__", "__wrapped__", "__doc__", "__dict__", "__signature__"}:
        if name == "__class__": continue
        for change in (lambda: delattr(o, name), lambda: setattr(o, name, 3), lambda: delattr(o, name)):
            try: change()
            except Exception: pass
        for look in (lambda: getattr(o, name), lambda: repr(o), lambda: o.__reduce__(), lambda: hash(o)):
            try: look()
            except Exception: pass
print("ends")
"""


def test_attributes_that_are_deleted_or_are_no_texts():
    assert run("-c", EVERY_ATTRIBUTE).endswith("ends\n")


@pytest.mark.parametrize("name", ["sum", "median", "Array.sum", "linalg.svd", "random.normal"])
def test_functions_are_inspected_as_numpys(name):
    f, theirs = operator.attrgetter(name)(pp), operator.attrgetter(name.replace("Array", "ndarray"))(np)
    assert inspect.getsource(f).strip()
    assert inspect.getsourcefile(inspect.unwrap(f)).startswith(PACKAGE)
    if type(theirs) is type(np.sum):  # not of Python's own classes of functions either: these take what unwrap gives
        for look in (inspect.getsourcefile, inspect.getfile):
            for each in (f, theirs):
                with pytest.raises(TypeError, match="module, class, method, function"):
                    look(each)
        f.mark = theirs.mark = 1
        assert f.mark == 1
        del f.mark, theirs.mark
        assert not hasattr(f, "mark")


def test_ipython_shows_documentation_and_source():
    inspector = pytest.importorskip("IPython.core.oinspect").Inspector
    looks = inspector(**({"theme_name": "nocolor"} if "theme_name" in inspect.signature(inspector).parameters else {}))
    for f in (pp.sum, pp.linalg.svd, pp.Array.mean, pp.random.normal, pp.zeros(3).sum):
        found = looks.info(f, detail_level=1)
        assert found["docstring"] == inspect.getdoc(f)
        assert "def " in found["source"]
        assert os.path.expanduser(found["file"]).startswith(PACKAGE)  # IPython writes ~ for the home folder


def test_generators_are_generators():
    rows = iter(pp.arange(3))
    assert iter(rows) is rows
    assert [int(v) for v in rows] == [0, 1, 2]
    steps = pp.arange(3).__await__()
    with pytest.raises(StopIteration) as stopped:
        steps.send(None)
    assert stopped.value.value.tolist() == [0, 1, 2]
    other = iter(pp.arange(3))
    other.close()
    assert list(other) == []
    other = iter(pp.arange(3))
    with pytest.raises(KeyError):
        other.throw(KeyError("mine"))


def test_the_users_own_context_stays():
    """An error that was raised while users handled one of theirs says so; one that the package has handled itself is not told."""
    try:
        {}["mine"]
    except KeyError:
        with pytest.raises(ValueError, match=r"^concatenate: ") as caught:
            pp.concatenate([])
    assert isinstance(caught.value.__context__, KeyError)
    assert caught.value.__context__.__traceback__ is not None


def test_a_decorator_that_wraps_keeps_what_there_is():
    import functools

    @functools.wraps(pp.cumsum)
    def mine(*arguments):
        return pp.cumsum(*arguments)

    assert mine.__name__ == "cumsum"
    assert mine.__doc__ == pp.cumsum.__doc__
    assert functools.partial(pp.sum, axis=0)(pp.ones((2, 2))).tolist() == [2.0, 2.0]
