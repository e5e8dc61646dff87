# docs/conf.py: the site: Sphinx, MyST, furo; the reference comes from the docstrings.
import sys
import tomllib
from importlib.metadata import version as installed
from pathlib import Path as _Path

_HERE = _Path(__file__).parent
sys.path.insert(0, str(_HERE))
# Where the project lives: [project.urls] of pyproject.toml is the one place.
URLS = tomllib.loads((_HERE.parent / "pyproject.toml").read_text())["project"]["urls"]

project = "pardo"
author = "The pardo developers"
copyright = "The pardo developers"
release = version = installed("pardo")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.intersphinx", "numpydoc", "breathe"]
myst_enable_extensions = ["colon_fence", "deflist", "substitution"]
myst_substitutions = {f"url_{name.lower()}": url for name, url in URLS.items()} | {
    f"link_{name.lower()}": f"[{name.lower()}]({url})" for name, url in URLS.items()
}
myst_heading_anchors = 3
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
default_role = "literal"  # `name` in docstrings is code

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
intersphinx_mapping = {}

html_theme = "furo"
html_title = f"pardo {release}"
html_static_path = ["_static"]
html_css_files = ["pardo.css"]
html_theme_options = {
    "source_view_link": URLS["Source"] + "/blob/main/docs/{filename}",
    "footer_icons": [{"name": name, "url": URLS[name], "html": name, "class": ""} for name in ("Source", "Issues", "Changelog")],
}


def titles_alone(env):
    """Of each page its title as the table of contents has it, without what is below; and the pages above each page."""
    if not hasattr(env, "pardo_titles"):
        titles = {name: toc.deepcopy() for name, toc in env.tocs.items()}
        for toc in titles.values():
            for item in toc.children:
                del item[1:]
        above = {}
        for name, children in env.toctree_includes.items():
            for child in children:
                above.setdefault(child, []).append(name)
        env.pardo_titles = titles, above
    return env.pardo_titles


def limit_navigation(app, pagename, templatename, context, doctree):
    """The sidebar lists the pages of the table of contents, not the 1,100 of single names: furo would put all of them on every page. Sphinx
    copies the whole tree for each page before it prunes it: so it is given the titles, and the rest only of the pages above this one."""
    full = context.get("toctree")
    if not full:
        return

    def toctree(**options):
        env = app.env
        titles, above = titles_alone(env)
        whole, env.tocs = env.tocs, dict(titles)
        names = [pagename]
        while names:
            name = names.pop()
            if name in whole and env.tocs[name] is not whole[name]:
                env.tocs[name] = whole[name]
                names += above.get(name, [])
        try:
            return full(**options | {"maxdepth": 1})
        finally:
            env.tocs = whole

    context["toctree"] = toctree


def setup(app):
    import make_course

    make_course.write()
    app.connect("source-read", make_course.show_outputs)
    app.connect("html-page-context", limit_navigation, priority=400)  # before furo's


def write_names():
    """The reference: a page for each topic and for each module, and one that lists them."""
    import importlib
    from pathlib import Path

    import topics
    from pardo import _names

    folder = Path(__file__).parent / "api" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    pages, known = topics.pages(), set()
    for page, names in pages.items():
        (folder / f"topic-{page}.md").write_text("\n".join(topics.lines_of(page, names)))
        known.update(f"pardo.{name}" for name in topics.described(names))
    inner = ("polynomial", "chebyshev", "legendre", "laguerre", "hermite", "hermite_e", "polyutils")
    below = {"lib.stride_tricks", "scipy.fft", "scipy.linalg", "special", *(f"polynomial.{name}" for name in inner)}
    modules = sorted({*_names.MODULES, *below} - {"compat", "lib", "scipy"})
    for module in modules:
        value = importlib.import_module(f"pardo.{module}")
        known.update(f"pardo.{module}.{name}" for name in value.__all__)
        lines = [f"# pardo.{module}", "", (value.__doc__ or "").split("\n\n")[0].replace("\n", " "), ""]
        lines += ["```{eval-rst}", f".. currentmodule:: pardo.{module}", "", ".. autosummary::", "   :toctree: .", ""]
        own = [n for n in value.__all__ if callable(f := getattr(value, n)) and not getattr(f, "__module__", "").startswith("numpy")]
        lines += [f"   {name}" for name in sorted(own, key=str.lower)] + ["```", ""]
        (folder / f"module-{module}.md").write_text("\n".join(lines))
    lines = [
        "# Functions and classes",
        "",
        "Everything in the namespace `pardo`, usually imported as `pp`, by topic. Names and results are NumPy's and the array API's.",
        "",
        "| topic | |",
        "|---|---|",
        *(f"| [{topics.TOPICS[page][0]}](topic-{page}.md) | {topics.TOPICS[page][1]} |" for page in pages),
        "",
        "## Modules",
        "",
        ", ".join(f"[`pardo.{module}`](module-{module}.md)" for module in modules) + ".",
        "",
        "```{toctree}",
        ":hidden:",
        "",
        *(f"topic-{page}" for page in pages),
        *(f"module-{module}" for module in modules),
        "```",
        "",
    ]
    for page in folder.glob("pardo.*.rst"):  # of names that are gone
        if page.stem not in known:
            page.unlink()
    (folder / "names.md").write_text("\n".join(lines))


def write_c_api():
    """The reference of the table for native code, from its header."""
    from pathlib import Path

    import make_capi
    import pardo

    header = (Path(pardo.get_include()) / "pardo" / "c_api.h").read_text()
    (Path(__file__).parent / "api" / "generated" / "c_api.md").write_text(make_capi.page(header))


def write_coverage():
    """What there is of NumPy's main namespace: each function, which keywords it lacks, and what takes the place of the absent."""
    import inspect
    from pathlib import Path

    import numpy
    import pardo
    from pardo._base import absent

    def keywords(f):
        try:
            return [p.name for p in inspect.signature(f).parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        except (TypeError, ValueError):
            return []

    def by_position(f):
        try:
            return sum(p.kind is p.POSITIONAL_ONLY for p in inspect.signature(f).parameters.values()) or 1
        except (TypeError, ValueError):
            return 1

    def takes_any(f):
        try:
            return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(f).parameters.values())
        except (TypeError, ValueError):
            return True

    functions = sorted(
        name
        for name in dir(numpy)
        if not name.startswith("_") and callable(getattr(numpy, name)) and not inspect.isclass(getattr(numpy, name))
    )
    here = [name for name in functions if hasattr(pardo, name)]
    rows = []
    for name in here:
        theirs, ours = getattr(numpy, name), getattr(pardo, name)
        spelled = set(keywords(ours))
        # Without keywords that mean nothing here, and parameters by position, whose names may differ.
        lacks = [k for k in keywords(theirs)[by_position(ours) :] if k not in spelled and k not in ("subok", "like", "order", "signature")]
        own = ours is theirs
        note = "NumPy's own" if own else "" if takes_any(ours) or not lacks else "without " + ", ".join(f"`{k}`" for k in lacks)
        rows.append(f"| `{name}` | {note} |")
    others = {name: absent.REASONS[name] for name in dir(numpy) if name in absent.REASONS and not hasattr(pardo, name)}
    lines = [
        "# What there is of NumPy",
        "",
        f"Of the {len(functions)} functions in the main namespace of NumPy {numpy.__version__}, {len(here)} are here.",
        "Signatures and results are NumPy's; what differs on purpose is said in [what differs from NumPy](../../guide/differences.md).",
        "`subok` and `like` are nowhere: there are no subclasses of arrays.",
        "",
        "## Functions that are here",
        "",
        "| function | |",
        "|---|---|",
        *rows,
        "",
        "## What is not here, and what takes its place",
        "",
        "The same is said by the error that asking for such a name raises.",
        "",
        "| name | in its place |",
        "|---|---|",
        *(f"| `{name}` | {reason} |" for name, reason in sorted(others.items())),
        "",
    ]
    (Path(__file__).parent / "api" / "generated" / "coverage.md").write_text("\n".join(lines))


def write_correspondences():
    """The tables that the pages for those who come from other libraries include."""
    from pathlib import Path

    import correspondence
    import scipy_names

    folder = Path(__file__).parent / "api" / "generated"
    for name, library in (("cupy", "CuPy"), ("dpnp", "dpnp and dpctl"), ("numba_dpex", "numba-dpex")):
        (folder / f"from_{name}.inc").write_text(correspondence.tables(name, library))
    for module in ("numba_dpex", "numba", "dpctl", "pyopencl.array"):
        (folder / f"compat_{module}.inc").write_text(correspondence.of_compat(module))
    (folder / "dpex_refused.inc").write_text(correspondence.of_refused_tests())
    (folder / "numba_refused.inc").write_text(correspondence.of_refused_tests("numba_parallel"))
    (folder / "from_numpy.inc").write_text(correspondence.of_numpy())
    (folder / "scipy.inc").write_text(scipy_names.tables())


def write_cpp():
    """The reference of the C++ headers; gives the folder of what Doxygen has read."""
    from pathlib import Path

    import make_cpp

    folder = Path(__file__).parent / "api" / "generated"
    for page in folder.glob("cpp*.md"):
        page.unlink()
    before = {path.name for path in (make_cpp.BUILD / "xml").glob("*.xml")}
    xml = make_cpp.read()
    if before - {path.name for path in xml.glob("*.xml")}:  # Breathe looks for each class that the last run knew
        (make_cpp.BUILD.parent / "doctrees" / "environment.pickle").unlink(missing_ok=True)
    for name, text in make_cpp.pages(xml).items():
        (folder / f"{name}.md").write_text(text)
    return xml


write_names()
write_coverage()
write_c_api()
breathe_projects = {"pardo": str(write_cpp())}
breathe_default_project = "pardo"
write_correspondences()
