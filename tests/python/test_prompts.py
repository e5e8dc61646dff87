# tests/python/test_prompts.py: kernels and loops where there is no file: python -c, standard input, the prompt, exec.
import os
import pty
import select
import subprocess
import sys
import textwrap
import time

import numpy as np
import pardo as pp
import pytest

PROGRAM = """
import numpy as np, pardo as pp
scale = lambda v: v * 2

def helper(v):
    return v + 1

@pp.kernel
def double(item: pp.Item, x):
    i = item.get_id(0)
    x[i] = scale(helper(x[i]))

@pp.jit
def total(x):
    def square(v):
        return v * v
    s = 0.0
    for i in pp.prange(len(x)):
        s += square(x[i])
    return s

x = pp.ones(3)
double[3](x).wait()
print(float(x[0]), total(np.arange(4.0)))
"""


def python(*arguments, **options):
    run = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=300, **options)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_text_of_the_command_line():
    assert python("-c", PROGRAM) == ["4.0", "14.0"]
    assert python("-Ic", PROGRAM) == ["4.0", "14.0"]


@pytest.mark.parametrize("arguments", [["-"], []])
def test_standard_input_from_a_file(arguments, tmp_path):
    path = tmp_path / "program"
    path.write_text(PROGRAM)
    with open(path) as file:
        assert python(*arguments, stdin=file) == ["4.0", "14.0"]


def test_a_file_whose_name_is_not_utf8(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"n\xf3.py")
    more = "print(total.diagnostics().count('udcf3'))\n@pp.kernel\ndef wrong(x):\n    x.y = 1\nwrong[3](x)\n"
    try:
        with open(path, "w") as file:
            file.write(PROGRAM + more)
    except OSError:
        pytest.skip("this file system takes no such names")
    run = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300)
    assert run.stdout.split() == ["4.0", "14.0", "1"]
    assert run.stderr.count("n\\udcf3.py") >= 2
    assert "    x.y = 1\n    ^" in run.stderr.replace("\r", "")


def test_a_pipe_is_told_what_to_do():
    run = subprocess.run([sys.executable, "-"], input=PROGRAM, capture_output=True, text=True, timeout=300)
    assert run.returncode == 1
    assert "double: the text of this function cannot be found" in run.stderr
    assert "Python does not keep the text of a program that comes through a pipe" in run.stderr
    assert "save it into a file, and run `python file.py`" in run.stderr
    assert "linecache" not in run.stderr


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_the_prompt():
    """Lines as a user types them; each block ends with an empty line."""
    blocks = PROGRAM.strip().replace("import numpy as np, pardo as pp", "import numpy as np\nimport pardo as pp")
    typed = []
    for line in blocks.split("\n"):
        if typed and line and not line[0].isspace() and typed[-1][:1].isspace():
            typed.append("")
        if line:
            typed.append(line)
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", "PYTHON_BASIC_REPL": "1", "PYTHONSTARTUP": ""}
    process = subprocess.Popen([sys.executable, "-q"], stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True)
    os.close(slave)
    output, deadline = b"", time.monotonic() + 300

    def until(what):
        nonlocal output
        while not output.endswith(what):
            assert time.monotonic() < deadline, output.decode()
            if select.select([master], [], [], 1)[0]:
                output += os.read(master, 65536)

    try:
        until(b">>> ")
        for line in typed:
            output = b""
            os.write(master, line.encode() + b"\n")
            until((b">>> ", b"... "))
        assert b"4.0 14.0" in output, output.decode()
    finally:
        process.kill()
        process.wait()
        os.close(master)


def test_exec_of_a_text_that_somebody_holds():
    space = {}
    exec(PROGRAM, space)
    assert float(space["x"][0]) == 4
    assert space["total"](np.arange(4.0)) == 14

    def filled(by):
        text = textwrap.dedent(f"""
            import pardo as pp
            @pp.kernel
            def fill(item: pp.Item, x):
                x[item.get_id(0)] = {by}
        """)
        space = {}
        exec(compile(text, "<generated>", "exec"), space)
        return space["fill"]

    for kernel, value in [(filled(n), n) for n in range(3)]:
        x = pp.zeros(2)
        kernel[2](x).wait()
        assert float(x[1]) == value


def test_exec_of_a_text_that_nobody_holds():
    space = {}
    parts = ["import pardo as pp\n@pp.kernel\n", "def fill(item: pp.Item, x):\n", "    x[0] = 1\n"]
    exec("".join(parts), space)
    with pytest.raises(TypeError, match=r"fill: the text of this function cannot be found.*linecache.cache\['<string>'\]"):
        space["fill"][1](pp.zeros(1))


def test_a_file_that_has_changed(tmp_path):
    path = tmp_path / "program.py"
    head = "import pardo as pp\n\n@pp.kernel\n"
    path.write_text(head + "def fill(item: pp.Item, x):\n    x[0] = 1\n")
    for text in (
        "def other(item: pp.Item, x):\n    x[0] = 2\n",
        "def fill(item: pp.Item, y):\n    y[0] = 2\n",
        "x = '''\n",
        "",
        "  ) def\n",
    ):
        space = {}
        exec(compile(head + "def fill(item: pp.Item, x):\n    x[0] = 1\n", str(path), "exec"), space)
        path.write_text(head + text)
        with pytest.raises(TypeError, match=r"fill: what .*program\.py holds now is not the text that this function was made from"):
            space["fill"][1](pp.zeros(1))
