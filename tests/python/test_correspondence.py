# tests/python/test_correspondence.py: the tables of other libraries' names say what is there.
from __future__ import annotations

import importlib.util
import inspect
import re
import runpy
import tomllib
from pathlib import Path

import pardo as pp
import pytest
from pardo._base import absent

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "correspondence.py"
pytestmark = [pytest.mark.once, pytest.mark.skipif(not FILE.exists(), reason="not in a source tree")]


@pytest.fixture(scope="module")
def correspondence():
    spec = importlib.util.spec_from_file_location("correspondence", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["cupy", "dpnp", "numba_dpex"])
def test_names_of_tables(correspondence, name):
    for _, names, others in correspondence.read(name):
        assert len(set(names)) == len(names)
        for n in names:
            assert hasattr(pp, n) or absent.reason(n), n
        for theirs, _, ours in others:
            for dotted in re.findall(r"\bpp((?:\.\w+)+)", ours):
                value = pp
                for part in dotted[1:].split("."):
                    assert hasattr(value, part), f"{theirs}: pp{dotted}"
                    value = getattr(value, part)
            for kind, attribute in re.findall(r"\b(x|queue|event|device)\.(\w+)", ours):
                kinds = {"x": pp.Array, "queue": pp.Queue, "event": pp.Event, "device": pp.Device}
                assert hasattr(kinds[kind], attribute), f"{theirs}: {kind}.{attribute}"


@pytest.mark.parametrize("name", ["cupy", "dpnp", "numba_dpex"])
def test_tables(correspondence, name):
    text = correspondence.tables(name, "Theirs")
    assert "| Theirs | here |" in text
    assert name == "numba_dpex" or re.search(r"Of \d+ functions \d+ are here under the same name: `abs", text)
    assert all(line.count("|") - line.count("\\\\|") == 3 for line in text.splitlines() if line.startswith("|"))


def test_of_numpy(correspondence):
    text = correspondence.of_numpy()
    assert "| `emath` | use" in text
    assert "`shares_memory`" in text


@pytest.mark.parametrize("module", ["numba_dpex", "numba", "dpctl", "pyopencl.array"])
def test_of_compat(correspondence, module):
    rows = [line.split(" | ") for line in correspondence.of_compat(module).splitlines()[2:]]
    assert len(rows) > 10
    assert all(len(row) == 2 and len(row[1]) > 6 for row in rows), rows


@pytest.mark.parametrize("name", ["numba_dpex_refused", "numba_parallel"])
def test_of_refused_tests(correspondence, name):
    rows = correspondence.of_refused_tests(name).splitlines()[2:]
    assert rows
    assert all(row.count("|") == 3 for row in rows)


def test_reference_has_every_name_on_one_page():
    topics = runpy.run_path(str(ROOT / "docs" / "topics.py"))
    listed = [name for _, _, names in topics["TOPICS"].values() for name in names.split()]
    assert len(listed) == len(set(listed))
    assert [name for name in listed if not hasattr(pp, name)] == []
    public = {name for name in dir(pp) if not name.startswith("_") and not inspect.ismodule(getattr(pp, name))}
    pages = topics["pages"]()
    assert sorted(name for names in pages.values() for name in names) == sorted(public)
    assert set(topics["HOMES"].values()) <= set(pages)


def test_addresses_of_the_project_are_those_of_one_place():
    """`./dev address` writes it into pyproject.toml and README.md; the site takes it from there."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= set(urls)
    assert all(url.startswith(urls["Source"]) for url in urls.values())
    assert urls["Issues"] in (ROOT / "README.md").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        assert urls["Source"] not in page.read_text(), page
