# tests/python/test_documents.py: the code of README.md and docs/ runs as it is; docstrings have all their sections.
from __future__ import annotations

import doctest
import importlib.util
import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pardo as pp
import pytest
from native_building import COMPILER, HAS_PYTHON, pip_install
from pardo._array import conversion, cumulative, elementwise, methods, products, reductions, searching, sets, sorting
from pardo._base import memory
from pardo._runtime import profile
from support import is_function

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```python\n(?:(?!```)[^\n]*\n)*```\n\n```text\n((?:(?!```)[^\n]*\n)*)```$", re.MULTILINE)
VARYING = re.compile(r"\d [mµ]s|\.py\b|[│─]")  # times, the names and lines of files, and drawings
FILE = re.compile(r"^```\w+\n(?:#|//) (\S+\.(?:toml|txt|cpp))\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGES = {"docs/guide/extensions.md": ["nanobind", "nanobind_backend", "scikit_build_core", "cffi", "numba"]}  # pages, and what they need
WITH_MPI = {"docs/guide/processes.md"}
DOCUMENTS = {  # but the course, whose pages are notebooks: test_course.py
    str(path.relative_to(ROOT)): path.read_text()
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if path.is_file() and not {"_build", "course"} & set(path.relative_to(ROOT).parts) and BLOCK.search(path.read_text())
}


@pytest.mark.skipif(not DOCUMENTS, reason="not in a source tree")
def test_documents_are_found():
    assert {"README.md", "docs/index.md", "docs/getting-started.md", "docs/guide/errors.md"} <= set(DOCUMENTS)


def rounded(text):
    """Without the last digits, in which processors differ."""
    return re.sub(r"\d+\.\d{9,}(e[-+]\d+)?", lambda number: f"{float(number[0]):.9g}", text)


def installed(name, tmp_path):
    """The folder of the package whose files a page shows, each with its name in the first line, built as the page says."""
    for needed in PACKAGES[name]:
        pytest.importorskip(needed)
    if not COMPILER or not HAS_PYTHON:
        pytest.skip("no compiler of C++, or no headers of Python")
    source, site = tmp_path / "package", tmp_path / "site"
    source.mkdir()
    for file, content in FILE.findall(DOCUMENTS[name]):
        (source / file).write_text(content)
    pip_install(source, site)
    return site


@pytest.mark.slow  # ./dev docs runs all
@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_code_of_documents_runs(name, tmp_path):
    """From top to bottom, in a fresh process; the blocks of a file share their names. What a page shows below a block is what it prints."""
    text = DOCUMENTS[name]
    if name in WITH_MPI and not (shutil.which("mpiexec") and importlib.util.find_spec("mpi4py")):
        pytest.skip("there is no mpiexec, or mpi4py is not installed")
    environment = {**os.environ, "PYTHONPATH": str(installed(name, tmp_path))} if name in PACKAGES else None
    lines = [""] * len(text.splitlines())  # so that a traceback shows the line of the document
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(2))
        for i, line in enumerate(block[2].splitlines()):
            lines[first + i] = line if block[1] == "python" else ""
    program = tmp_path / name  # a file: kernels are made from their text
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("\n".join(lines))
    command = [sys.executable, "-W", "error", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    for shown in SHOWN.findall(text):
        if not VARYING.search(shown):
            assert rounded(shown) in rounded(done.stdout)


@pytest.mark.parametrize("name", sorted(name for name, text in DOCUMENTS.items() if "```pycon" in text))
def test_sessions_of_documents_show_what_happens(name):
    sessions = "\n".join(block[2] for block in BLOCK.finditer(DOCUMENTS[name]) if block[1] == "pycon")
    case = doctest.DocTestParser().get_doctest(sessions, {}, name, name, 0)
    report: list[str] = []
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(case, out=report.append).failed == 0, "".join(report)


@pytest.mark.skipif(not DOCUMENTS, reason="not in a source tree")
def test_pictures_are_there():
    """Those that documents show; drawings are well-formed."""
    shown = [ROOT / name for name in ("README.md", "docs/index.md", "docs/gallery.md", "docs/guide/fusion.md", "docs/guide/profiling.md")]
    pictures = [path.parent / name for path in shown for name in re.findall(r"!\[[^]]*\]\(([^)]*)\)", path.read_text())]
    assert len(pictures) > 8
    for picture in pictures:
        assert picture.stat().st_size > 0, picture
        if picture.suffix == ".svg":
            ElementTree.parse(picture)


@pytest.mark.skipif(not DOCUMENTS, reason="not in a source tree")
def test_table_of_libraries():
    """It says what registers itself: else `python docs/make_libraries.py --write`."""
    maker = runpy.run_path(str(ROOT / "docs" / "make_libraries.py"))
    assert set(maker["registered"]()) == set(maker["ROWS"]) | maker["INNER"]
    assert maker["table"]() in (ROOT / "docs" / "reference" / "libraries.md").read_text()


def test_plan_of_getting_started_is_pending():
    """The plan is shown before the value is asked for; after that there is none."""
    text = DOCUMENTS["docs/getting-started.md"]
    program = "\n".join(block[2] for block in BLOCK.finditer(text))
    shown: list[str] = []
    names = {"print": lambda *values: shown.extend(str(v) for v in values)}
    exec(compile(program.replace("1_000_000", "1000"), "getting-started", "exec"), names)
    assert any(re.match(r"[1-9]\d* groups?, ", text) for text in shown), shown


FUNCTIONS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": getattr(module, name)
    for module in (elementwise, products, profile, searching, sets, sorting, reductions, cumulative)
    for name in module.__all__
    if is_function(getattr(module, name))
}
METHODS = {
    f"Array.{name}": f
    for kind in (memory.Memory, conversion.Conversions, methods.Methods)
    for name, f in vars(kind).items()
    if inspect.isfunction(f) and f.__module__ == kind.__module__ and not name.startswith("_")
}


@pytest.mark.parametrize("name", sorted(FUNCTIONS | METHODS))
def test_sections_of_docstrings(name):
    f = (FUNCTIONS | METHODS)[name]
    text = inspect.getdoc(f)
    assert text is not None
    parameters = [p for p in inspect.signature(f).parameters.values() if p.name != "self"]
    if parameters:
        assert "\nParameters\n----------\n" in text
        assert "\nRaises\n------\n" in text or name in ("Array.tolist",)
        section = text.split("\nParameters\n", 1)[1].split("\nReturns\n", 1)[0]
        for p in parameters:
            assert re.search(rf"(?m)^[\w, *]*\b{p.name}\b[\w, ]* : ", section), f"{name}: {p.name} has no entry"
    if f.__annotations__.get("return") != "None":
        assert "\nReturns\n-------\n" in text
    assert not re.search(r"(?m)^ *\{\w+\}$", text), "a text of docstrings.py was not filled in"


def test_methods_are_named_after_their_class():
    assert pp.Array.astype.__qualname__ == "Array.astype"


def test_methods_take_and_document_themselves_as_self():
    for name, f in vars(pp.Array).items():
        if not inspect.isfunction(f) or name.startswith("_"):
            continue
        assert next(iter(inspect.signature(f).parameters)) == "self", name
        assert f.__qualname__ in (f"Array.{name}", "Array.conj")
        entries = re.findall(r"(?m)^ *([\w*][\w, *]*) : ", (inspect.getdoc(f) or "").partition("\nReturns\n")[0])
        known = set(inspect.signature(f).parameters)
        assert {word.strip(" *") for words in entries for word in words.split(",")} <= known, name


@pytest.mark.parametrize("name", ["sum", "mean", "max", "sort", "clip", "take", "argmax", "cumsum", "squeeze", "tile", "unique"])
def test_functions_take_arrays_by_numpys_names_and_say_so(name):
    theirs = next(iter(inspect.signature(getattr(np, name)).parameters))
    f = getattr(pp, name)
    first = next(iter(inspect.signature(f).parameters.values()))
    assert (first.name, first.kind) == (theirs, first.POSITIONAL_OR_KEYWORD)
    assert re.search(rf"(?m)^ *{theirs} : Array", inspect.getdoc(f))
    others = {"clip": [0, 1], "take": [pp.asarray([1])], "tile": [2]}.get(name, [])
    x = pp.asarray([[3.0, 1.0], [2.0, 0.5]])
    keywords = dict(zip(list(inspect.signature(f).parameters)[1:], others, strict=False))
    assert str(f(**{theirs: x}, **keywords)) == str(f(x, *others))


def test_annotations_are_shown_without_quotes():
    for f in (pp.sum, pp.Array.sum, pp.Array.astype, pp.linalg.svd, pp.asarray, pp.Range.__init__, pp.fft.fft, pp.scipy.linalg.qr):
        assert "'" not in re.sub(r"= '[^']*'", "", str(inspect.signature(f))), f


# --- the reference of the C++ headers -------------------------------------------------------------------------------------------


def reference_of_cpp():
    if not shutil.which("doxygen"):
        pytest.skip("doxygen is not installed")
    return runpy.run_path(str(ROOT / "docs" / "make_cpp.py"))


@pytest.mark.skipif(not DOCUMENTS, reason="not in a source tree")
def test_the_cpp_reference_has_every_operation(tmp_path):
    xml = reference_of_cpp()["read"](build=tmp_path / "cpp")
    rows = re.findall(r"^OP\((\w+), .*(elementwise|special),", (ROOT / "src" / "graph" / "ops.def").read_text(), re.MULTILINE)
    rows += [(name, "reductions") for name in ("sum", "all", "argmax", "cumsum")]
    for name, group in rows:
        members = ElementTree.parse(xml / f"group__{group}.xml").iter("memberdef")
        found = [m for m in members if m.findtext("qualifiedname") == f"pardo::{name}"]
        assert found, name
        assert any("".join(found[0].find(f"{kind}description").itertext()).strip() for kind in ("brief", "detailed")), name


@pytest.mark.skipif(not DOCUMENTS, reason="not in a source tree")
@pytest.mark.parametrize(
    ("header", "before", "line", "shown"),
    [
        ("queue.h", "    Device device() const;", "    int undocumented() const;", "Member undocumented"),
        ("ops.h", "/// An array of zeros.", "PARDO_API Array undocumented(const Array& x);", "Member undocumented"),
        ("fft.h", "}  // namespace pardo::fft", "struct Undocumented { int x; };", "Compound pardo::fft::Undocumented"),
        ("native.hpp", "}  // namespace PARDO_NATIVE_HIDDEN", "struct undocumented { int x; };", "Compound pardo::native::undocumented"),
    ],
)
def test_what_is_public_in_cpp_needs_a_comment(tmp_path, header, before, line, shown):
    reference = reference_of_cpp()
    include = tmp_path / "include"
    shutil.copytree(ROOT / "include", include)
    place = include / "pardo" / header
    assert before in place.read_text()
    place.write_text(place.read_text().replace(before, f"\n{line}\n\n{before}"))
    with pytest.raises(ValueError, match=re.escape(shown)):
        reference["read"](include, tmp_path / "cpp")


# --- where the project lives ----------------------------------------------------------------------------------------------------


def urls_of_the_project(folder=ROOT):
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]["urls"]


def test_links_of_the_readme_are_those_of_the_project():
    urls = urls_of_the_project()
    assert set(urls) == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    assert all(url.startswith(urls["Source"]) for url in urls.values())
    links = re.findall(rf"{re.escape(urls['Source'])}[^)\s]*", (ROOT / "README.md").read_text())
    assert set(links) == {urls["Documentation"], urls["Source"], urls["Issues"]}


@pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="not in a repository")
def test_no_other_file_says_where_the_project_lives():
    found = subprocess.run(["git", "grep", "-lF", urls_of_the_project()["Source"]], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["README.md", "pyproject.toml"]


def test_one_command_changes_where_the_project_lives(tmp_path):
    before = urls_of_the_project()["Source"]
    for name in ("dev", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    subprocess.run([tmp_path / "dev", "address", "https://example.org/some/where/"], check=True, capture_output=True)
    for name in ("pyproject.toml", "README.md"):
        after = (tmp_path / name).read_text()
        assert after == (ROOT / name).read_text().replace(before, "https://example.org/some/where")
    assert urls_of_the_project(tmp_path)["Issues"] == "https://example.org/some/where/issues"
    refused = subprocess.run([tmp_path / "dev", "address", "example.org"], capture_output=True, text=True)
    assert refused.returncode == 1
    assert "address: an address is needed" in refused.stderr


@pytest.mark.skipif(not DOCUMENTS, reason="not in a source tree")
def test_the_page_of_libraries():
    """Every row of the page has a test, and the version that it names is the oldest that is installed for tests."""
    page = (ROOT / "docs" / "guide" / "libraries.md").read_text()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| ")][1:]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups, needed = project["dependency-groups"], project["project"]["dependencies"]
    listed = [r for group in ("test", "demo", "engines") for r in groups[group]] + needed
    known = {re.split(r"[\[>]", r)[0].lower(): r.partition(">=")[2] for r in listed}
    tests = "".join(
        (Path(__file__).parent / f"test_{name}.py").read_text() for name in ("libraries", "plugins", "exchange", "pickling", "cubed", "mpi")
    )
    tests += (ROOT / "tests" / "python" / "test_numpy_protocols.py").read_text()
    assert len(rows) >= 18
    for name, version, *cells in rows:
        package = {"tvm-ffi": "apache-tvm-ffi"}.get(name, name).lower()
        assert known[package] == version, name
        module = {"tvm-ffi": "tvm_ffi", "scikit-learn": "sklearn", "Pillow": "PIL"}.get(name, name.lower())
        assert re.search(rf'importorskip\("{module}|import {module}|from {module} import', tests), name
        assert len(cells) == 3
        assert all(cells[:1])
