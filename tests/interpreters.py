# tests/interpreters.py: installs the wheel for each Python of this machine that it is for, and runs arrays, a loop and a kernel there.
"""usage: interpreters.py WHEEL [PYTHON…]

Without names: the python3.11 and newer of PATH and of pyenv. Each gets a virtual environment of its own, with the newest NumPy that it has.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

OLDEST = (3, 11)

PROGRAM = """
import sys
import numpy as np
import pardo as pp

x = pp.linspace(0.0, 1.0, 1000)
assert abs((pp.sin(x) ** 2 + pp.cos(x) ** 2).sum().item() - 1000) < 1e-9
a = np.arange(12.0).reshape(3, 4)
assert np.array_equal(pp.asnumpy(pp.asarray(a) @ pp.asarray(a.T)), a @ a.T)

@pp.jit
def total(x):
    s = 0.0
    for i in pp.prange(x.shape[0]):
        s += x[i]
    return s

@pp.kernel
def square(item: pp.Item, x, y):
    i = item.get_id(0)
    y[i] = x[i] * x[i]

y = pp.empty_like(x)
square[pp.Range(x.size)](x, y).wait()
assert np.allclose(pp.asnumpy(y), np.linspace(0.0, 1.0, 1000) ** 2)
assert abs(total(pp.ones(100)) - 100) < 1e-12
print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, pardo {pp.__version__}")
"""


def version(python: str) -> tuple[int, ...]:
    code = "import sys, venv, ensurepip; print(*sys.version_info[:3])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else ()


def interpreters() -> list[str]:
    """One for each version of Python, the first that is found."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    names = [shutil.which(f"python3.{minor}") for minor in range(OLDEST[1], 30)]
    found = [*filter(None, [*names, shutil.which("python3")]), *map(str, sorted(pyenv.glob("3.*/bin/python3")))]
    by_version = {version(python)[:2]: python for python in reversed(found)}
    return [python for key, python in sorted(by_version.items()) if key >= OLDEST]


def run(python: str, wheel: str, folder: Path) -> bool:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PARDO_", "PYTHON"))}
    environment |= {"PARDO_CACHE_DIR": str(folder / "cache"), "PARDO_DEVICES": "cpu"}
    (folder / "program.py").write_text(PROGRAM)  # compiled functions need their source
    inside = str(folder / "venv" / "bin" / "python")
    steps = [
        [python, "-m", "venv", str(folder / "venv")],
        [inside, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:", wheel],
        [inside, "program.py"],
        [inside, "-m", "pardo", "--self-test"],
    ]
    for step in steps:
        done = subprocess.run(step, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0 or "FAILED" in done.stdout:
            print(f"{python}: FAILED: {' '.join(step)}\n{done.stdout}{done.stderr}", flush=True)
            return False
        if step[1] == "program.py":
            print(f"{python}: {done.stdout.strip()}: passed", flush=True)
    return True


def main(wheel: str, *names: str) -> int:
    good = 0
    chosen = list(names) or interpreters()
    for python in chosen:
        with tempfile.TemporaryDirectory() as folder:
            good += run(python, str(Path(wheel).resolve()), Path(folder))
    print(f"{good} passed, {len(chosen) - good} failed")
    return 0 if chosen and good == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
