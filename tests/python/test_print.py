# tests/python/test_print.py: print in kernels: what it writes, and in which order.
import io
import os
import subprocess
import sys
import time

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once


def printed(capsys, launch):
    launch().wait()
    return capsys.readouterr().out


def test_values_and_texts(capsys):
    @pp.kernel
    def show(item: pp.Item, x, y):
        i = item.get_id(0)
        print("item", i, "of", item.get_range(0), x[i], y[i])
        print(f"{i:03d}: {x[i] * 2:.2f} {{braces}}", "", (i, y[i]), sep="|", end=";\n")
        print()

    x, y = pp.asarray(np.array([0.5, 1.25], "float32")), pp.asarray(np.array([True, False]))
    lines = printed(capsys, lambda: show[pp.Range(2)](x, y)).splitlines()
    assert lines == [
        "item 0 of 2 0.5 True",
        "000: 1.00 {braces}||(0, True);",
        "",
        "item 1 of 2 1.25 False",
        "001: 2.50 {braces}||(1, False);",
        "",
    ]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "complex64"])
def test_every_dtype(capsys, dtype):
    @pp.kernel
    def show(item: pp.Item, x):
        print(x[item.get_id(0)])

    x = np.array([0, 1, 100]).astype(dtype)
    if dtype == "uint64":
        x[2] = 2**64 - 1
    assert printed(capsys, lambda: show[pp.Range(3)](pp.asarray(x))) == "".join(f"{v}\n" for v in x)


def test_lines_stand_in_the_order_of_the_items(capsys):
    @pp.kernel
    def show(item: pp.NdItem, n):
        for k in range(n):
            print(item.get_global_linear_id(), k)
        pp.group_barrier(item.get_group())
        print(item.get_global_linear_id(), "end")

    out = printed(capsys, lambda: show[pp.NdRange(64, 16)](3))
    assert out == "".join(f"{i} {k}\n" for i in range(64) for k in (0, 1, 2, "end"))


def test_too_much_is_cut_and_said(capsys):
    @pp.kernel
    def show(item: pp.Item):
        print("line", item.get_id(0))

    lines = printed(capsys, lambda: show[pp.Range(100_000)]()).splitlines()
    assert lines[-1] == "[show: more was printed than there is room for, and is lost]"
    assert 10_000 < len(lines) < 100_000


def test_loops_print_too(capsys):
    @pp.jit
    def total(x):
        s = 0
        for i in pp.prange(len(x)):
            if x[i] > 2:
                print("large:", i, x[i])
            s += x[i]
        return s

    assert total(np.arange(5)) == 10
    assert capsys.readouterr().out == "large: 3 3\nlarge: 4 4\n"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("print(x)", "numbers, tuples of these and texts are expected, not a float64 array"),
        ("print(1, file=None)", "print takes sep and end as plain strings"),
        ("print(f'{x[0]!r}')", "`!r` and its like"),
        ("print(*(1, 2))", "no `\\*arguments`"),
    ],
)
def test_what_cannot_be_printed(tmp_path, line, text):
    import importlib.util

    file = tmp_path / "written.py"
    file.write_text(f"import pardo as pp\n\n\n@pp.kernel\ndef show(item: pp.Item, x):\n    {line}\n")
    specification = importlib.util.spec_from_file_location("written", file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    with pytest.raises((TypeError, pp.CompileError), match=text):
        module.show[pp.Range(1)](pp.zeros(1, dtype="float64"))


@pp.struct
class Shown:
    x: np.float32
    n: np.int16 = 3
    ok: np.bool_ = True


@pp.struct
class Outer:
    inner: Shown
    z: np.complex128

    def __str__(self):
        return f"<{self.inner.x:.2f}>"


@pytest.mark.parametrize("device", pp.get_devices(), ids=str)
def test_structs_and_records_look_as_in_python(device, capfd):
    @pp.kernel
    def tell(item: pp.Item, points, outer, r):
        i = item.get_id(0)
        p = points[i]
        print(p, p.x, (p, 1), f"{p}|{r[i]}")
        print(outer, outer.inner, sep=" / ")
        print(Outer(p, 1j), r[i]["in"], (r[i]["in"], i))

    def arguments():
        r = np.zeros(2, np.dtype([("a", "f8"), ("in", [("b", "i4"), ("c", "?")])], align=True))
        r["a"], r["in"]["b"] = 1.5, np.arange(2)
        return Shown(np.arange(2, dtype="f4"), np.arange(2, dtype="i2"), np.ones(2, bool)), Outer(Shown(0.25), 2 + 1j), r

    with pp.device_context(device):
        tell[pp.Range(2)](*arguments()).wait()
    compiled = capfd.readouterr().out
    tell[pp.Range(2)].interpret(*arguments())
    assert compiled == capfd.readouterr().out
    first = "Shown(x=np.float32(0.0), n=np.int16(0), ok=np.True_)"
    second = f"<0.25> / {first.replace('0.0', '0.25').replace('int16(0)', 'int16(3)')}"
    assert compiled.splitlines()[:2] == [f"{first} 0.0 ({first}, 1) {first}|(1.5, (0, False))", second]


def test_prints_of_records_are_those_of_numpy(capfd):
    @pp.jit
    def tell(r):
        for i in range(len(r)):
            print(r[i], r[i]["n"])
            print(f"{r[i]}")

    r = np.array([(1.5, 2), (1e-9, -3)], np.dtype([("x", "f8"), ("n", "i8")], align=True))
    tell(r)
    compiled = capfd.readouterr().out
    tell.interpret(r)
    assert compiled == capfd.readouterr().out


class _Full(io.TextIOBase):
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def test_output_that_fails_raises_its_own_exception(monkeypatch):
    @pp.kernel
    def says(item: pp.Item, x):
        print(x[item.get_id(0)])

    x = pp.ones(1)
    monkeypatch.setattr(sys, "stdout", _Full())
    with pytest.raises(OSError, match="No space left"):
        says[1](x).wait()
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stdout", closed)
    with pytest.raises(ValueError, match="closed file"):
        says[1](x).wait()


COMPUTING = [d.id for d in pp.get_devices() if d.backend != "null"]


@pytest.mark.parametrize("size", [10, 10**5])
@pytest.mark.parametrize("device", COMPUTING)
def test_output_that_computes_is_told_why_it_cannot_wait_for_its_own_queue(monkeypatch, device, size):
    @pp.kernel
    def says(item: pp.Item, x):
        if item.get_id(0) == 0:
            print(x[0])

    class Computes(io.TextIOBase):
        def write(self, text: str) -> int:
            if text.strip():
                other = pp.ones(3, queue=pp.Queue(device))
                said.append(float(other.sum() + 1))
                try:
                    said.append(float((behind + 1).sum()))
                except pp.DeviceError as e:
                    said.append(str(e))
            return len(text)

    said: list[object] = []
    x, behind = pp.ones(size, device=device), pp.ones(size, device=device)
    monkeypatch.setattr(sys, "stdout", Computes())
    says[size](x).wait()
    monkeypatch.undo()
    assert said[0] == 4.0
    # Where the host does not see what a kernel writes, the launch itself waits and prints: nothing comes after it.
    assert said[1] == size * 2.0 or str(said[1]).startswith("wait: called in a host task, or while a kernel's lines are printed")


REPLACED = """
import sys, threading
import pardo as pp

@pp.kernel
def says(item: pp.Item, x):
    print(x[0])

class Output:
    def __init__(self):
        self.text, self.entered, self.replaced = "", threading.Event(), threading.Event()

    def write(self, text):
        self.entered.set()
        self.replaced.wait(10)
        self.text += text
        if text:
            texts.append(self.text)
        return len(text)

texts, usual = [], sys.stdout
for k in range(3):
    x, sys.stdout = pp.ones(1), Output()
    output = sys.stdout
    printed = says[1](x)
    entered, replaced = output.entered, output.replaced
    entered.wait(10)
    sys.stdout = usual
    del output
    replaced.set()
    printed.wait()
print(texts)
"""


def test_output_that_is_replaced_while_a_kernel_prints_lives_until_then():
    done = subprocess.run([sys.executable, "-c", REPLACED], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout) == (0, "['1.0\\n', '1.0\\n', '1.0\\n']\n"), done.stderr


class _Slow(io.TextIOBase):
    """Counts launches that have not printed yet."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.launched = self.most = 0

    def write(self, text: str) -> int:
        time.sleep(0.0003)
        self.most = max(self.most, self.launched - sum(line.endswith("last") for line in self.lines))
        self.lines += text.splitlines()
        return len(text)


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
@pytest.mark.parametrize("device", COMPUTING)
def test_launches_print_one_after_the_other_and_few_are_behind(monkeypatch, device, order):
    """Each launch that has not printed keeps 1 MiB; and a thread for each would have to wait for its turn."""

    @pp.kernel
    def says(item: pp.Item, x, k: int):
        if item.get_id(0) == 0:
            print(k, "first")
            print(k, "last")

    queue = pp.Queue(device, order=order)
    x, slow = pp.ones(4, queue=queue), _Slow()
    monkeypatch.setattr(sys, "stdout", slow)
    says[4](x, 0).wait()
    threads, slow.launched = len(os.listdir("/proc/self/task")), 1
    for k in range(1, 400):
        says[4](x, k)
        slow.launched += 1
    queue.wait()
    monkeypatch.undo()
    assert slow.lines == [f"{k} {which}" for k in range(400) for which in ("first", "last")]
    assert slow.most <= 260
    assert len(os.listdir("/proc/self/task")) - threads < 16  # and those of the driver


END = """
import pardo as pp

@pp.kernel
def show(item: pp.Item, x, y):
    i = item.get_id(0)
    print("item", i, x[i])
    y[i] = x[i + {beyond}]

queue = pp.Queue(order="{order}")
x, y, event = pp.ones(3, queue=queue), pp.zeros(3, queue=queue), pp.UserEvent()
if {held}:
    queue.fill(x, 2.0, depends=[event])
show[pp.Range(3)](x, y)
"""


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
@pytest.mark.parametrize(("beyond", "held"), [(0, False), (2, False), (0, True)])
def test_a_program_that_ends_at_once_prints(tmp_path, beyond, held, order):
    """What a user event holds up does not run, and does not stop the end either."""
    file = tmp_path / "program.py"
    file.write_text(END.format(beyond=beyond, held=held, order=order))
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("" if held else "item 0 1.0\nitem 1 1.0\nitem 2 1.0\n")
    assert ("IndexError: show: index" in done.stderr) is bool(beyond)
