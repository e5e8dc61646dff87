# tests/python/test_called_names.py: a message begins with the name that was called, whatever computes inside of that function.
import contextlib
import importlib
import inspect
import re
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once

MODULES = [
    "", "algorithm", "fft", "lib.stride_tricks", "linalg", "ndimage", "polynomial", "polynomial.chebyshev", "random", "scipy.linalg",
    "signal", "sparse", "special",
]  # fmt: skip
# They take functions of users, files, or any object; or change the process.
OTHERS = {
    "call_kernel", "call_kernel_async", "cython", "fromfile", "fromregex", "genfromtxt", "jit", "load", "loadtxt", "save", "savetxt",
    "savez", "savez_compressed", "seed", "set_allocator", "set_bit_generator", "set_default_device", "set_default_printstyle",
    "set_memory_limit", "set_printoptions", "set_state", "seterr", "seterrcall", "typename", "wait",
}  # fmt: skip

x, other = pp.arange(6.0).reshape(2, 3), pp.zeros((4, 5))
POSITIONAL = [
    (), (object(),), ("text",), (x, other), ((x, other),), (x, pp.arange(4.0), other), (-3,), (x, object()), (x, "text"), (x, -99),
    (x, 1.5),
]  # fmt: skip
KEYWORDS = {
    "axis": [9, "a", (0, 0)], "dtype": ["foo", "S3"], "out": [other, 3], "keepdims": ["a"], "where": [other], "initial": ["a"], "n": [-1],
    "size": [-1], "device": ["nowhere"], "queue": [3], "mode": ["zz"], "order": ["zz"], "nonsense": [1],
}  # fmt: skip


def functions():
    for module in MODULES:
        namespace = importlib.import_module(f"pardo.{module}".rstrip("."))
        for name in dir(namespace):
            f = getattr(namespace, name)
            if name.startswith("_") or not callable(f) or isinstance(f, type) or name in OTHERS:
                continue
            if not (getattr(f, "__module__", "") or "").startswith("numpy"):  # NumPy's own are here as they are
                yield f"{module}.{name}".lstrip("."), f


FUNCTIONS = dict(functions())


def calls(f):
    yield from ((a, {}) for a in POSITIONAL)
    try:
        names = set(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        names = {"axis", "dtype", "out", "where"}
    for name, values in KEYWORDS.items():
        if name in names or name == "nonsense":
            yield from (((x,), {name: value}) for value in values)


@pytest.fixture(autouse=True)
def _late_failures_end_here():
    """Draws and the like fail when they are computed: the next wait for the queue, of another test, would raise that."""
    yield
    with contextlib.suppress(Exception):
        pp.Queue.of(pp.Device()).wait()


@pytest.mark.parametrize("full", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_messages_name_what_was_called(full):
    f, name = FUNCTIONS[full], full.rpartition(".")[2]
    # NumPy's second names of a ufunc are the same object, and so are those of other functions in C++ and of methods.
    names = {name} if type(f) is type(pp.mean) else {name, f.__name__}
    begins = re.compile(rf"(\w+\.)*({'|'.join(names)})(\(\))?[:. ]")
    wrong = []
    for positional, keywords in calls(f):
        try:
            f(*positional, **keywords)
        except (AttributeError, KeyError):  # of objects that are no arrays at all, as NumPy's
            continue
        except pp.CompileError:
            continue
        except Exception as error:
            if not begins.match(str(error)):
                wrong.append(f"{type(error).__name__}: {str(error)[:120]}")
    assert not wrong, "\n".join(wrong)


METHODS = [
    n
    for n in dir(pp.Array)
    if not n.startswith("_") and callable(getattr(pp.Array, n, None)) and n not in ("dump", "tofile", "force", "wait")
]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore")
def test_messages_name_the_method(name):
    wrong = []
    for positional, keywords in calls(getattr(pp.Array, name)):
        mine = pp.arange(6.0).reshape(2, 3)
        try:
            getattr(mine, name)(*positional[1:] if positional and positional[0] is x else positional, **keywords)
        except (AttributeError, KeyError):
            continue
        except Exception as error:
            if not re.match(rf"(Array\.)?{name}(\(\))?[:. ]", str(error)):
                wrong.append(f"{type(error).__name__}: {str(error)[:120]}")
    assert not wrong, "\n".join(wrong)


def test_methods_of_generators_name_their_class():
    rng = pp.random.default_rng(0)
    for name in ("beta", "binomial", "dirichlet", "gumbel", "shuffle", "normal"):
        with pytest.raises(TypeError, match=rf"^Generator\.{name}\(\) "):
            getattr(rng, name)(nonsense=1)
        with pytest.raises(TypeError, match=rf"^(Generator\.)?{name}\(\) "):
            getattr(pp.random, name)(nonsense=1)


def test_second_names_say_themselves():
    for name in ("concat", "concatenate", "permute_dims", "transpose", "amax", "max", "astype", "cumsum", "cumulative_sum"):
        with pytest.raises(TypeError, match=rf"^{name}(\(\))?[: ]"):
            getattr(pp, name)(nonsense=1)
    for name in ("ranf", "sample", "random_sample"):
        with pytest.raises(ValueError, match=rf"^{name}: "):
            getattr(pp.random, name)(-1)


def test_errors_of_users_stay_what_they_are():
    """Work that failed with an exception of theirs raises that one, with its words, wherever it is read."""
    mine = ValueError("mine")
    event = pp.UserEvent()
    event.set_failed(mine)
    with pytest.raises(ValueError, match=r"^mine\b"):
        event.wait()

    def callback(*values):
        raise ValueError("of the user")

    with pytest.raises(ValueError, match=r"^of the user\b"):
        pp.apply_along_axis(callback, 0, x)
    with pytest.raises(ValueError, match=r"^of the user\b"):
        pp.Queue("cpu").host_task(callback).wait()
    with pytest.raises(ValueError, match=r"^add: "):  # a call of theirs inside of ours is the one that failed
        pp.apply_along_axis(lambda row: row + pp.zeros(7), 0, x)


def test_only_late_failures_keep_their_words():
    """A later exception may lie in memory where one of a user's was."""

    class FrozenError(ValueError):
        def __setattr__(self, name, value):
            raise TypeError("frozen")

    for _ in range(200):
        for kind in (TypeError, FrozenError):
            event = pp.UserEvent()
            event.set_failed(kind("mine"))
            with pytest.raises(kind, match=r"^mine\b"):
                event.wait()
        with pytest.raises(TypeError, match=r"^lstsq: "):
            pp.linalg.lstsq(x, x, other)


def test_late_failures_name_what_has_failed():
    y, begin = pp.zeros(4), pp.UserEvent()

    @pp.kernel
    def far(item: pp.Item, x):
        x[item.get_id(0) + 9] = 1.0

    far[pp.Range(4), None, [begin]](y)
    begin.set_complete()
    with pytest.raises(IndexError, match=r"^far: "):
        pp.asnumpy(y)
    i = pp.asarray(np.arange(100_000)) + 5
    with pytest.raises(IndexError, match=r"^(take|x\[\.\.\.\]): .*at .*test_called_names"):
        pp.unique(pp.arange(100_000)[i])


def test_what_compat_uses_stays_as_it_is():
    """A module that publishes what it has imported would put its own object in that place, and its name before all messages."""
    program = """
import importlib, pkgutil, types
import pardo.compat
from pardo import _extending
for module in pkgutil.walk_packages(pardo.compat.__path__, "pardo.compat."):
    importlib.import_module(module.name)
for file, names in _extending.FILES.items():
    if file != "_core":
        values = [(name, getattr(importlib.import_module(f"pardo.{file}"), name)) for name in names.split()]
        print(*(name for name, value in values if callable(value) and not isinstance(value, (types.FunctionType, type))), end="")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stdout
