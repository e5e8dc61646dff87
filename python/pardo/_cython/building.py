# python/pardo/_cython/building.py: files of Cython become extensions: `cythonize`, and the command `python -m pardo.cython build`.
from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["build", "cythonize"]

_MISSING = "pardo.cython needs Cython 3, which is not installed: pip install 'pardo[cython]', or pip install cython"


def _analysis() -> Any:
    try:
        import Cython
    except ImportError:
        raise ImportError(_MISSING) from None
    if int(Cython.__version__.partition(".")[0]) < 3:
        raise ImportError(f"{_MISSING} (Cython {Cython.__version__} is)")
    from pardo._cython import analysis

    return analysis


def cythonize(module_list: Any, *arguments: Any, **options: Any) -> list[Any]:
    """Compile files of Cython to C, with regions that run on devices.

    Parameters
    ----------
    module_list, *arguments, **options
        As for Cython's own ``cythonize``, with whose result that of a file without ``device=`` agrees byte by byte. ``nthreads`` is not
        used.

    Returns
    -------
    list of setuptools.Extension
        What `setup` takes as ``ext_modules``.

    Raises
    ------
    ImportError
        Cython is not installed.
    Cython.Compiler.Errors.CompileError
        A file is wrong, or a region has what cannot run on a device; what and where is printed before.

    Examples
    --------
    In a ``setup.py``::

        from setuptools import setup
        from pardo.cython import cythonize

        setup(ext_modules=cythonize("distances.pyx"))
    """
    analysis = _analysis()
    from Cython.Build import cythonize as plain

    options.pop("nthreads", None)
    with analysis.compiling():
        made: list[Any] = plain(module_list, *arguments, **options)
    return made


def build(
    files: Sequence[str],
    *,
    force: bool = False,
    folder: str | None = None,
    annotate: bool = False,
    temporary: str | None = None,
    name: str | None = None,
) -> list[str]:
    """Compile files of Cython to extensions, beside them.

    Parameters
    ----------
    files : sequence of str
        Paths of ``.pyx`` files, or of ``.py`` files in Cython's pure Python mode.
    force : bool, optional
        Compile what has not changed too. Default: False.
    folder : str, optional
        Where the extensions go. Default: beside their files.
    annotate : bool, optional
        Write Cython's page of HTML too. Default: False.
    temporary : str, optional
        Where C files and objects go. Default: C files beside their files, objects in a folder ``build`` there.
    name : str, optional
        The module's name with its packages, of a single file. Default: the file's name.

    Returns
    -------
    list of str
        Paths of the extensions.

    Raises
    ------
    ImportError
        Cython or setuptools is not installed.
    """
    try:
        from setuptools import Distribution, Extension
        from setuptools.command.build_ext import build_ext
    except ImportError:
        raise ImportError("pardo.cython: build needs setuptools, which is not installed: pip install setuptools") from None
    made = []
    for file in map(os.path.abspath, files):
        if not os.path.exists(file):
            raise FileNotFoundError(f"build: there is no file {file}")
        module = name or os.path.splitext(os.path.basename(file))[0]
        extension = Extension(module, [file])
        beside = os.getcwd()
        os.chdir(os.path.dirname(file))
        try:
            modules = cythonize([extension], force=force, quiet=True, annotate=annotate, language_level=3, build_dir=temporary)
        finally:
            os.chdir(beside)
        for made_one in modules:
            made_one.name = made_one.name.rpartition(".")[2]  # the file goes into the folder itself
        command = build_ext(Distribution({"name": module, "ext_modules": modules}))
        command.build_lib = folder or os.path.dirname(file)
        command.build_temp = temporary or os.path.join(os.path.dirname(file), "build")
        command.force = force
        command.ensure_finalized()
        command.run()
        made += [os.path.abspath(path) for path in command.get_outputs()]
    return made


def _compiled(arguments: list[str]) -> int:
    """What the command `cython` does with arguments."""
    analysis = _analysis()
    from Cython.Compiler.Main import main as cython

    before, sys.argv = sys.argv, ["cython", *arguments]
    try:
        with analysis.compiling():
            cython(command_line=1)
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0


def main(arguments: list[str]) -> int:
    """The command line."""
    import argparse

    parser = argparse.ArgumentParser("python -m pardo.cython", description="Compile files of Cython, with regions that run on devices.")
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="compile to extensions, beside the files")
    building.add_argument("files", nargs="+")
    building.add_argument("-f", "--force", action="store_true", help="also what has not changed")
    building.add_argument("-a", "--annotate", action="store_true", help="Cython's page of HTML")
    building.add_argument("-o", "--output", help="the folder of the extensions")
    commands.add_parser("compile", help="make C files; its arguments are those of the command `cython`", add_help=False)
    if arguments[:1] == ["compile"]:
        return _compiled(arguments[1:])
    given = parser.parse_args(arguments)
    try:
        for path in build(given.files, force=given.force, folder=given.output, annotate=given.annotate):
            print(path)
    except Exception as error:
        if type(error).__name__ != "CompileError" and not isinstance(error, (ImportError, FileNotFoundError)):
            raise
        print(f"pardo.cython: {error}", file=sys.stderr)
        return 1
    return 0
