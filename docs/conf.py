# docs/conf.py: the site: Sphinx, MyST, furo; the reference comes from the docstrings.
from importlib.metadata import version as installed

project = "pardo"
author = "The pardo developers"
copyright = "The pardo developers"
release = version = installed("pardo")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.intersphinx", "numpydoc"]
myst_enable_extensions = ["colon_fence", "deflist"]
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


def write_names():
    """The reference's lists: every public name of the package, by kind."""
    import inspect
    from pathlib import Path

    import pardo

    groups = {"Classes": [], "Functions": [], "Constants and dtypes": [], "Exceptions": []}
    aliases, of_numpy = [], []
    for name in sorted((name for name in dir(pardo) if not name.startswith("_")), key=str.lower):
        value = getattr(pardo, name)
        if inspect.isclass(value) and value.__module__ == "pardo" and value.__name__ != name:
            aliases.append(f"`{name}` is another name of `{value.__name__}`.")
        elif inspect.isclass(value) and not value.__module__.startswith("numpy"):
            groups["Exceptions" if issubclass(value, BaseException) else "Classes"].append(name)
        elif callable(value) and not inspect.isclass(value):
            (of_numpy if value.__module__ == "numpy" else groups["Functions"]).append(name)
        elif not inspect.ismodule(value):
            groups["Constants and dtypes"].append(name)
    lines = [
        "# Reference",
        "",
        "Everything in the namespace `pardo`, usually imported as `pp`. Names and results are NumPy's and the array API's.",
        "",
    ]
    for title, names in groups.items():
        lines += [f"## {title}", ""]
        if title.startswith("Constants"):
            lines += [", ".join(f"`{name}`" for name in names), ""]
        else:
            lines += ["```{eval-rst}", ".. currentmodule:: pardo", "", ".. autosummary::", "   :toctree: .", ""]
            lines += [f"   {name}" for name in names] + ["```", ""]
        if title == "Classes":
            lines += [*aliases, ""]
        elif title == "Functions":
            pages = [f"[`{name}`](https://numpy.org/doc/stable/reference/generated/numpy.{name}.html)" for name in of_numpy]
            lines += [f"Functions that are NumPy's own, as they have to do with dtypes and text only: {', '.join(pages)}.", ""]
    folder = Path(__file__).parent / "api" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    for page in folder.glob("pardo.*.rst"):  # of names that are gone
        if not any(page.stem == f"pardo.{name}" for names in groups.values() for name in names):
            page.unlink()
    (folder / "names.md").write_text("\n".join(lines))


write_names()
