# docs/make_course.py: the pages of course/ as notebooks: makes them for readers, runs them, and puts what cells show into the pages.
"""usage: python docs/make_course.py [NAME…]

Runs the notebooks of the course, or those named, and keeps them with their outputs in build/docs/course, where Sphinx finds them. Ends
with 1 where a cell fails, and says which notebook, which cell and which line. conf.py writes the notebooks that readers download.
"""

import base64
import json
import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "course"
DOWNLOADS = HERE / "api" / "generated" / "course"
RUN = HERE.parent / "build" / "docs" / "course"
NAMES = ("devices", "arrays", "loops", "kernels", "errors")

CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGE_ALONE = re.compile(r"^(\{download\}.*|</?details>.*)\n", re.MULTILINE)  # lines that notebooks do not have
LINK = re.compile(r"\]\(\.\./([\w/-]+)\.md(#[\w-]+)?\)")
ANSI = re.compile(r"\x1b\[[0-9;]*m")
CELL_FILE = re.compile(r"/[\w./-]{0,200}ipykernel_\d+/\d+\.py")  # what a kernel calls the file of a cell; bounded: pictures are long words
PATIENCE = 300  # seconds for a cell


def address():
    """Where the site is: pyproject.toml says it."""
    return tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]["urls"]["Documentation"]


def cells_of(text):
    """Kind, text and line of each cell: a block of Python is one, and so is the text between two blocks or headings."""
    found = []

    def add_text(begin, end):
        for piece in re.finditer(r"(?:^#+ .*\n|\A)(?:(?!#+ ).*\n?)*", text[begin:end], re.MULTILINE):
            shown = PAGE_ALONE.sub("", piece[0]).strip()
            if shown:
                found.append(("markdown", shown, text.count("\n", 0, begin + piece.start()) + 1))

    last = 0
    for block in CODE.finditer(text):
        add_text(last, block.start())
        found.append(("code", block[1].rstrip(), text.count("\n", 0, block.start(1)) + 1))
        last = block.end()
    add_text(last, len(text))
    return found


def notebook(name):
    """A page as a notebook of format 4.5, without outputs. What is below a heading "Solution" is folded."""
    site = address()
    cells = []
    for number, (kind, text, line) in enumerate(cells_of((FOLDER / f"{name}.md").read_text()), 1):
        cell = {"cell_type": kind, "id": f"{name}-{number}", "metadata": {}, "source": text}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": [], "metadata": {"pardo": {"line": line}}}
        else:
            cell["source"] = LINK.sub(lambda link: f"]({site}/{link[1]}.html{link[2] or ''})", text)
            if text.startswith("### Solution"):
                cell["metadata"] = {"heading_collapsed": True, "jp-MarkdownHeadingCollapsed": True}
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}


def write():
    """The notebooks that readers download."""
    DOWNLOADS.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        (DOWNLOADS / f"{name}.ipynb").write_text(json.dumps(notebook(name), indent=1, ensure_ascii=False) + "\n")


def run(name, folder):
    """A notebook with its outputs, after a run from its first to its last cell in that folder. RuntimeError says which cell fails."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    book = nbformat.from_dict(notebook(name))
    nbformat.validate(book)
    client = NotebookClient(book, timeout=PATIENCE, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    begun = []
    client.on_cell_start = lambda cell, cell_index: begun.append(cell_index)
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        at = begun[-1]
        line = book.cells[at].metadata["pardo"]["line"]
        text = ANSI.sub("", str(error))
        raise RuntimeError(f"error: docs/course/{name}.md, cell {at + 1}, line {line} of the page\n{text}") from None
    return book


# --- pages with what cells show ---------------------------------------------------------------------------------------------------------


def joined(outputs):
    """Without what came in pieces: texts of one stream that follow each other are one."""
    found = []
    for output in outputs:
        if found and output["output_type"] == "stream" and (found[-1]["output_type"], found[-1].get("name")) == ("stream", output["name"]):
            found[-1] = found[-1] | {"text": found[-1]["text"] + output["text"]}
        else:
            found.append(output)
    return found


def shown(output, picture):
    """An output in the page's language. `picture` keeps bytes of a picture, and gives its address."""

    def fenced(kind, text):
        return f"`````{kind}\n{CELL_FILE.sub('notebook.py', text).rstrip()}\n`````"

    if output["output_type"] == "stream":
        return fenced("text", ANSI.sub("", output["text"]))
    data = output["data"]
    if "image/png" in data:
        return f"![What the cell shows]({picture(base64.b64decode(data['image/png']))})"
    if "text/html" in data:
        return fenced("{raw} html", f"<div>\n{data['text/html']}\n</div>")
    return fenced("text", data["text/plain"])


def show_outputs(app, docname, source):
    """Sphinx's event "source-read": what each cell has shown, if the notebooks have been run, comes below it."""
    name = docname.removeprefix("course/")
    if name not in NAMES or docname == name:
        return
    path = RUN / f"{name}.ipynb"
    if not path.exists():
        return
    app.env.note_dependency(str(path))
    outputs = {cell["source"]: cell["outputs"] for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"}
    count = 0

    def picture(data):
        nonlocal count
        count += 1
        DOWNLOADS.mkdir(parents=True, exist_ok=True)
        (DOWNLOADS / f"{name}-{count}.png").write_bytes(data)
        return f"/api/generated/course/{name}-{count}.png"

    def block(match):
        below = [shown(output, picture) for output in joined(outputs.get(match[1].rstrip(), ()))]
        return "\n\n".join([match[0], "::::{container} cell-output", *below, "::::"] if below else [match[0]])

    source[0] = CODE.sub(block, source[0])


def main():
    RUN.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in sys.argv[1:] or NAMES:
        path = RUN / f"{name}.ipynb"
        path.unlink(missing_ok=True)
        try:
            book = run(name, RUN)
        except RuntimeError as error:
            failed = True
            print(error, file=sys.stderr)
        else:
            path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n")
            print(f"{name}: {len(book.cells)} cells")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
