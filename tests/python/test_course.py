# tests/python/test_course.py: the notebooks of the course (docs/course) run, and are well-formed; `./dev docs` runs all of them.
from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

DOCS = Path(__file__).resolve().parents[2] / "docs"
if not (DOCS / "course").is_dir():
    pytest.skip("not in a source tree", allow_module_level=True)
MAKER = runpy.run_path(str(DOCS / "make_course.py"))
NAMES = MAKER["NAMES"]


@pytest.mark.varied("name")  # a short run takes one of the five
@pytest.mark.filterwarnings("ignore")  # of what runs the kernel
@pytest.mark.parametrize("name", NAMES)
def test_notebook_runs(name, tmp_path):
    for needed in ("nbclient", "nbformat", "ipykernel"):
        pytest.importorskip(needed)
    book = MAKER["run"](name, tmp_path)
    assert all(cell["execution_count"] for cell in book.cells if cell["cell_type"] == "code")


def test_pages_are_the_notebooks():
    pages = {path.stem for path in (DOCS / "course").glob("*.md")}
    assert pages == {*NAMES, "index"}
    index = (DOCS / "course" / "index.md").read_text()
    for name in NAMES:
        assert f"({name}.md)" in index
        assert f"</api/generated/course/{name}.ipynb>" in index
        assert f"</api/generated/course/{name}.ipynb>" in (DOCS / "course" / f"{name}.md").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_have_what_pages_have(name):
    book, page = MAKER["notebook"](name), (DOCS / "course" / f"{name}.md").read_text()
    cells = [(cell["cell_type"], cell["source"]) for cell in book["cells"]]
    assert 15 <= len(cells) <= 25
    assert len({cell["id"] for cell in book["cells"]}) == len(cells)
    kept = re.sub(r"\]\([^)]*\)", "", "\n".join(source for _, source in cells))
    dropped = re.compile(r"\{download\}.*|</?details>.*|```(python)?|\]\([^)]*\)")
    assert kept.split() == dropped.sub("", page).split()  # nothing is lost, and all is in its order
    assert "{download}" not in kept
    assert "details>" not in kept
    texts = [re.sub("`[^`]*`", "", source) for kind, source in cells if kind == "markdown"]
    links = [link for text in texts for link in re.findall(r"\]\(([^)]*)\)", text)]
    assert len(links) > 2
    assert all(link.startswith("https://") for link in links)
    assert cells[0][1].startswith("# ")
    assert "**Goal.**" in cells[0][1]
    assert cells[-1][1].startswith("## What you have learned")
    for line, cell in ((c["metadata"]["pardo"]["line"], c) for c in book["cells"] if c["cell_type"] == "code"):
        assert page.splitlines()[line - 1] == cell["source"].splitlines()[0]


@pytest.mark.parametrize("name", NAMES)
def test_solutions_are_folded_below_their_exercises(name):
    cells = MAKER["notebook"](name)["cells"]
    page = (DOCS / "course" / f"{name}.md").read_text()
    headings = re.findall(r"^(#+ .*)$", re.sub(r"^```python\n.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    exercises = [at for at, text in enumerate(headings) if text.startswith("## Exercise")]
    assert len(exercises) == 2
    for at in exercises:
        assert headings[at + 1] == "### Solution"
        assert headings[at + 2].startswith("## ")  # or more would be folded
    folded = [cell["source"] for cell in cells if cell["metadata"].get("jp-MarkdownHeadingCollapsed")]
    assert folded == ["### Solution"] * len(exercises)
    assert page.count("<details>") == page.count("</details>") == len(exercises)


@pytest.mark.filterwarnings("ignore")
def test_a_cell_that_fails_is_named(tmp_path):
    for needed in ("nbclient", "nbformat", "ipykernel"):
        pytest.importorskip(needed)
    (tmp_path / "wrong.md").write_text("# Title\n\ntext\n\n```python\nx = 1\n```\n\nmore\n\n```python\ny = x / 0\n```\n")
    run = MAKER["run"]
    names = run.__globals__
    before = names["FOLDER"]
    names["FOLDER"] = tmp_path
    try:
        with pytest.raises(RuntimeError, match=r"docs/course/wrong\.md, cell 4, line 12 of the page\n[^$]*ZeroDivisionError"):
            run("wrong", tmp_path)
    finally:
        names["FOLDER"] = before
