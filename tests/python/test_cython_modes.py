# tests/python/test_cython_modes.py: pardo.cython: the pure Python mode, the import hook, cells of notebooks, a setup.py.
import subprocess
import sys
from pathlib import Path

import numpy as np
import pardo as pp
import pytest

pytest.importorskip("Cython")
pytest.importorskip("setuptools")
from cython_regions import DEVICES, NEEDS_A_COMPILER, compiled, matrix

pytestmark = [pytest.mark.once, pytest.mark.slow, pytest.mark.filterwarnings("ignore"), NEEDS_A_COMPILER]


@pytest.fixture(scope="module")
def pure(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("pure"), "pure.py")


@pytest.mark.parametrize("device", DEVICES)
def test_pure_python_mode(pure, device):
    a = matrix()
    with pp.device_context(device):
        np.testing.assert_allclose(pure.outer_sum(a), np.sqrt(1 + a @ np.exp(-a).T), rtol=1e-13)
        np.testing.assert_allclose(pure.rows(a[:, ::-1]), a @ a.T, rtol=1e-13)


TEXT = """
from cython.parallel import prange
def doubled(double[:] x):
    cdef int i
    for i in prange(x.shape[0], nogil=True, device={x: 'tofrom'}):
        x[i] *= 2
"""


def test_the_import_hook(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CFLAGS", "-O0")
    package = tmp_path / "hooked_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "hooked.pyx").write_text(TEXT)
    monkeypatch.syspath_prepend(str(tmp_path))
    from pardo.cython import install, uninstall

    install()
    install()
    try:
        from hooked_package import hooked
    finally:
        uninstall()
    x = np.arange(3.0)
    hooked.doubled(x)
    assert x.tolist() == [0, 2, 4]
    assert hooked.__name__ == "hooked_package.hooked"
    assert not list(package.glob("*.c"))


class Shell:
    """What of IPython a magic uses."""

    def __init__(self):
        self.magics, self.names = {}, {}

    def register_magic_function(self, function, kind, name):
        self.magics[kind, name] = function

    def push(self, names):
        self.names.update(names)


def test_cells(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CFLAGS", "-O0")
    from pardo.cython import load_ipython_extension

    shell = Shell()
    load_ipython_extension(shell)
    for _ in range(2):
        shell.magics["cell", "pardo_cython"]("", TEXT)
    x = np.arange(3.0)
    shell.names["doubled"](x)
    assert x.tolist() == [0, 2, 4]


def test_a_setup_file(tmp_path):
    (tmp_path / "doubling.pyx").write_text("# cython: language_level=3\n" + TEXT)
    (tmp_path / "setup.py").write_text(
        "from setuptools import setup\nfrom pardo.cython import cythonize\n"
        "setup(name='doubling', ext_modules=cythonize('doubling.pyx', quiet=True), script_args=['-q', 'build_ext', '--inplace'])\n"
    )
    subprocess.run([sys.executable, "setup.py"], cwd=tmp_path, check=True, capture_output=True)
    assert [p for p in Path(tmp_path).iterdir() if p.name.startswith("doubling.c") and p.suffix == ".so"]
