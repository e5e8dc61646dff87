# tests/python/test_layers.py: includes and imports point downward only, as docs/design/architecture.md says.
import ast
import functools
import re
from pathlib import Path

import pardo
import pytest
from pardo import _extending

ROOT = Path(__file__).resolve().parents[2]
BINDINGS = ROOT / "python" / "bind"

# Folder of src/ -> those that it may see. The build links each layer against these alone (the target `layers`, which the C++ tests need).
LAYERS = (
    {
        folder: set(below.split())
        for folder, below in re.findall(r"^layer\(([\w/]+)(.*)\)$", (ROOT / "cmake" / "layers.cmake").read_text(), re.MULTILINE)
    }
    if (ROOT / "cmake" / "layers.cmake").exists()
    else {}
)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_/]+)/', re.MULTILINE)
SOURCES = sorted(path for kind in ("*.h", "*.cpp", "*.def") for path in (ROOT / "src").rglob(kind))

pytestmark = pytest.mark.skipif(not SOURCES, reason="not in a source tree")


def layer_of(path):
    """The layer of a path below src/: the longest that it begins with."""
    return max((layer for layer in LAYERS if f"{path}/".startswith(f"{layer}/")), key=len, default=None)


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_includes_point_downward(layer):
    wrong = []
    for path in SOURCES:
        if layer_of(path.relative_to(ROOT / "src").parent) != layer:
            continue
        targets = {layer_of(folder) for folder in INCLUDE.findall(path.read_text())} - LAYERS[layer] - {layer}
        wrong.extend(f"{path.relative_to(ROOT)} includes {target}/" for target in sorted(map(str, targets)))
    assert not wrong, "\n".join(wrong)


def test_every_file_has_a_layer():
    assert all(layer_of(path.relative_to(ROOT / "src").parent) for path in SOURCES)


def test_layers_see_those_before_them():
    order = list(LAYERS)
    assert all(order.index(below) < order.index(layer) for layer, all_below in LAYERS.items() for below in all_below)


def test_pages_show_the_order_of_layers():
    page = (ROOT / "docs" / "design" / "architecture.md").read_text()
    shown = re.search(r"```text\n(base <- .*?)```", page, re.DOTALL)
    assert shown
    columns = [part.split(", ") for part in re.split(r"\s+<- ", shown[1].strip())]
    assert [layer for column in columns for layer in column] == [*LAYERS, "include/pardo", "python/bind", "python/pardo"]


def test_public_headers_and_bindings_use_public_headers_only():
    folders = [ROOT / "include", BINDINGS]
    files = [path for folder in folders for kind in ("*.h", "*.cpp") for path in folder.rglob(kind)]
    own = {path.name for path in BINDINGS.rglob("*")}
    quoted = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
    wrong = [f"{path.relative_to(ROOT)}: {name}" for path in files for name in quoted.findall(path.read_text()) if name not in own]
    assert not wrong, "\n".join(wrong)


def test_only_emitter_and_cpu_backend_know_llvm():
    wrong = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if "#include <llvm" in path.read_text() and not str(path.relative_to(ROOT / "src")).startswith(("emit/llvm/", "backend/cpu/"))
    ]
    assert not wrong, "\n".join(wrong)


def test_quirks_of_drivers_name_tests_that_are_there():
    text = (ROOT / "src" / "backend" / "opencl" / "quirks.cpp").read_text()
    named = re.findall(r'"((?:tests|bench)/[^",]+)', text)
    assert len(named) == len(re.findall(r"\{Quirk::", text))
    for name in named:
        path, _, function = name.partition("::")
        assert (ROOT / path).exists(), name
        assert f"def {function}" in (ROOT / path).read_text() if function else True, name


# --- names of back ends -----------------------------------------------------------------------------------------------------------------

BACKENDS = [path.name for path in (ROOT / "src" / "backend").glob("*/")]
NAMED = {  # who may say which back end's name, beside its folder: what is the same for all asks the device for facts
    "src/device/selection/registry.cpp": "the default device",
    "src/device/selection/aspects.cpp": "the type of a device",
    "src/emit/c/target.cpp": "names of languages",
    "python/pardo/__main__.py": "what to install",
    "python/pardo/_base/arguments.py": "the host",
    "python/pardo/_runtime/devices.py": "the type of a device; an example in a message",
    "python/pardo/compat/_attributes.py": "aspects by SYCL's names",
    "python/pardo/compat/_selectors.py": "SYCL's words",
    "python/pardo/compat/_words.py": "dpctl's words",
    "python/pardo/compat/dpctl/__init__.py": "dpctl's words",
    "python/pardo/compat/numba/__init__.py": "the host",
    "python/pardo/compat/numba/core/config.py": "the host",
    "python/pardo/compat/numba/ufuncs.py": "the host",
}


def is_back_end(parts):
    """Its folder, and that of the routines which its libraries compute."""
    return parts[:2] == ("src", "backend") or (parts[:2] == ("src", "routines") and parts[2] in BACKENDS)


def strings_of(path):
    text = path.read_text()
    if path.suffix == ".py":
        return [n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return re.findall(r'(?<!\\)"([^"\\\n]*)"', re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL))


def test_back_ends_are_named_by_their_folders_and_the_registry_alone():
    """A new back end is a folder and a row: nobody else compares names, as `device.backend == "cuda"` does."""
    selector = re.compile(rf"({'|'.join(BACKENDS)})(:\S*)?")
    files = [
        path for top in ("src", "include", "python") for path in (ROOT / top).rglob("*") if path.suffix in (".h", ".cpp", ".def", ".py")
    ]
    named = {
        str(path.relative_to(ROOT))
        for path in files
        if not is_back_end(path.relative_to(ROOT).parts) and any(map(selector.fullmatch, strings_of(path)))
    }
    assert named == set(NAMED)


def test_only_back_ends_ask_for_a_back_end():
    asked = re.compile(r"(?:\.backend|backend\(\)->name\(\))\s*(?:==|!=|in )|\bis_cpu\(")
    files = [path for top in ("src", "python") for path in (ROOT / top).rglob("*") if path.suffix in (".h", ".cpp", ".py")]
    wrong = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in files
        if path.relative_to(ROOT).parts[:2] not in (("src", "backend"), ("src", "device"))
        for line in path.read_text().splitlines()
        if asked.search(line)
    ]
    assert not wrong, "\n".join(wrong)


# --- Python ---------------------------------------------------------------------------------------------------------------------------

PACKAGE = ROOT / "python" / "pardo"
# A module imports what is in its own folder, or to the left of it; what has to call to the right is handed a function or a list.
ORDER = ["_core", "_base", "_runtime", "_notebook", "_data", "_array", "_ufunc", "_compiler", "_language", "_debug", "_kernel"]
ORDER += ["_offload", "_saving", "_generate"]
ORDER += ["_random", "_functions", "_records", "_fft", "_analysis", "_filters", "_matrices", "_polynomials", "_sparse", "_host"]
ORDER += [
    "_numpy",
    "_ipc",
    "_pictures",
    "_gl",
    "_vulkan",
    "_live",
    "_sharding",
    "_plugins",
    (
        "algorithm",
        "dask",
        "fft",
        "gl",
        "lib",
        "linalg",
        "mpi",
        "ndimage",
        "notebook",
        "plot",
        "polynomial",
        "random",
        "signal",
        "sparse",
        "special",
        "vulkan",
        "zarr",
    ),
    "scipy",
    "_names",
    "_extending",
    "__init__",
    "_cython",
    ("compat", "cython"),
    "__main__",
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in ([names] if isinstance(names, str) else names)}
WRITTEN = {"pardo._random.signatures"}  # stubs, made when the package is built
MODULES = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in sorted(PACKAGE.rglob("*.py"))}


def test_pages_show_this_order():
    page = (ROOT / "docs" / "design" / "architecture.md").read_text()
    shown = re.search(r"```text\n(_core <- .*?)```", page, re.DOTALL)
    assert shown
    columns = [part.split(", ") for part in re.split(r"\s+<- ", shown[1].strip())]
    assert columns == [[names] if isinstance(names, str) else list(names) for names in ORDER]
    tree = (ROOT / "HACKING.md").read_text()
    assert re.findall(r"^ {22}(_\w+) ", tree, re.MULTILINE) == [
        name for name in ORDER if isinstance(name, str) and re.match(r"_(?!_|core)", name)
    ]


@functools.cache
def tree_of(module):
    return ast.parse(MODULES[module].read_text())


def imported(module, types=False):
    """The modules of the package that one imports, in functions too, with the lines. `types`: what type checkers alone see, too."""
    for node in ast.walk(tree_of(module)) if types else _statements(tree_of(module)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{MODULES[module].relative_to(ROOT)}:{node.lineno}: write the whole name of what is imported"
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if _module(name) else node.module for name in inside]
        else:
            continue
        for name in names:
            if (name == "pardo" or name.startswith("pardo.")) and name not in WRITTEN:
                found = _module(name)
                assert found, f"{MODULES[module].relative_to(ROOT)}:{node.lineno}: there is no module {name}"
                yield found, node.lineno


def _module(name):
    """A module of the package as this file names it; of a folder its __init__; None if there is none."""
    inner = name.removeprefix("pardo").removeprefix(".")
    if inner == "_core" or inner in MODULES:
        return inner
    initial = f"{inner}.__init__".lstrip(".")
    return initial if name.startswith("pardo") and initial in MODULES else None


def _statements(tree):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from (inner for statement in node.orelse for inner in ast.walk(statement))
            continue
        yield node
        yield from _statements(node)


def _layer(module):
    return module.partition(".")[0]


@pytest.mark.parametrize("layer", [name for name in RANK if name != "_core"])
def test_imports_point_left(layer):
    wrong = [
        f"{MODULES[module].relative_to(ROOT)}:{line} imports {target}"
        for module in MODULES
        if _layer(module) == layer
        for target, line in imported(module)
        if _layer(target) != layer and RANK[_layer(target)] >= RANK[layer]
    ]
    assert not wrong, "\n".join(wrong)


def test_every_python_file_has_a_place():
    assert {_layer(module) for module in MODULES} == set(RANK) - {"_core"}


def test_no_modules_import_each_other():
    """Of one folder too, by however many others between them, nor for their types; but the package lists all for type checkers."""
    targets = {module: {target for target, _ in imported(module, types=module != "__init__")} - {"_core"} for module in MODULES}
    done, path = set(), []

    def visit(module):
        assert module not in path, " imports ".join([*path[path.index(module) :], module])
        if module not in done:
            path.append(module)
            for target in sorted(targets[module]):
                visit(target)
            done.add(path.pop())

    for module in MODULES:
        visit(module)


@pytest.mark.parametrize("folder", sorted(path.name for path in PACKAGE.glob("_*/")))
def test_folders_export_nothing(folder):
    """Imports name the file that has what they want: an arrow that a folder hides is not seen."""
    if list((PACKAGE / folder).glob("*.py")):
        tree = ast.parse((PACKAGE / folder / "__init__.py").read_text())
        assert ast.get_docstring(tree)
        assert len(tree.body) == 1
        assert tree.body[0].end_lineno - tree.body[0].lineno < 3


def test_names_of_python_in_bindings_are_there():
    texts = [path.read_text() for path in BINDINGS.rglob("*") if path.is_file()]
    named = {name for text in texts for name in re.findall(r"\bpardo\.(_\w+(?:\.\w+)*)", text)} - {"_C_API"}  # the table of pardo/c_api.h
    assert {_layer(name) for name in named} > {"_core", "_array"}
    wrong = [name for name in named if _layer(name) != "_core" and not any(name == m or name.startswith(f"{m}.") for m in MODULES)]
    assert not wrong, wrong


# --- what imports do not show

# Who imports modules that it is told the names of.
IMPORTERS = {
    "_base.face": "what the package has listed",
    "_base.public_names": "what the package has listed, for pickles",
    "_kernel.parallel_loops": "what the user's function imports",
    "_names": "its own table, whose names are checked as strings",
    "_extending": "its own table, whose names are checked as strings",
    "special": "its own table, whose names are checked as strings",
}
LABELS = {"publish_module", "shown", "say", "AbortError"}  # calls that take a public name: what users read, not what is imported
PREFIX = re.compile(r"(?:pardo\.)?(_\w+(?:\.\w+)*)|pardo\.(\w+(?:\.\w+)*)")


def _named(text):
    """The module that a string names, as "pardo.linalg" and "_random.in_loops" do; None for other strings."""
    found = PREFIX.fullmatch(text)
    name = found and (found[1] or found[2])
    if found and found[1] and "." not in text:
        return None  # a private name, which is no module's
    return name if name and _module(f"pardo.{name}") else None


def _parents(tree):
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def _is_label(node, parents):
    """Whether a string is what users read: a `__module__`, or given to what takes a public name."""
    while not isinstance(node, (ast.stmt, ast.Compare, ast.Call, ast.Dict)):
        node = parents[node]
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).rpartition(".")[2] in LABELS
    return isinstance(node, (ast.Assign, ast.Compare, ast.Dict)) and "__module__" in ast.unparse(node)


def _texts(tree):
    """The strings that are no docstrings; of f-strings what they begin with, up to a name that is put in."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        fixed = [part.value for part in getattr(node, "values", []) if isinstance(part, ast.Constant)]
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant) and all(re.fullmatch(r"[\w.]+", t) for t in fixed):
            yield node, node.values[0].value.rstrip(".")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (docstrings | inside):
            yield node, node.value


def _is_above(target, module):
    return _layer(target) != _layer(module) and RANK[_layer(target)] >= RANK[_layer(module)]


@pytest.mark.parametrize("layer", [name for name in RANK if name != "_core"])
def test_strings_name_no_modules_above(layer):
    """An import by name is an import: in a table, or given to a function, too."""
    wrong = []
    for module in [m for m in MODULES if _layer(m) == layer]:
        tree = tree_of(module)
        parents = _parents(tree)
        for node, text in _texts(tree):
            target = _named(text)
            if target and _is_above(target, module) and not _is_label(node, parents):
                wrong.append(f"{MODULES[module].relative_to(ROOT)}:{node.lineno} names {text}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("layer", [name for name in RANK if RANK[name] < RANK["__init__"] and name != "_core"])
def test_nothing_below_asks_for_the_package_itself(layer):
    """`sys.modules["pardo"]` and `import_module("pardo")` are imports; what is to be had of it is in _base/face.py."""
    wrong = []
    for module in [m for m in MODULES if _layer(m) == layer]:
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("sys.modules"):
                asked = node.slice
            elif isinstance(node, ast.Call) and re.search(r"(sys\.modules\.get|import_module|__import__)$", ast.unparse(node.func)):
                asked = node.args[0]
            else:
                continue
            fixed = isinstance(asked, ast.Constant) or isinstance(getattr(asked, "values", [None])[0], ast.Constant)
            imports = isinstance(node, ast.Call) and not ast.unparse(node.func).endswith("get")
            if ast.unparse(asked) == "'pardo'" or (imports and not fixed and module not in IMPORTERS):
                wrong.append(f"{MODULES[module].relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert not wrong, "\n".join(wrong)


def _imported_names(tree):
    """Names that stand for modules of the package, and for what these define; not the core's, which the package completes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "pardo" and node.module != "pardo._core":
            yield from (alias.asname or alias.name for alias in node.names if alias.name != "_core")
        elif isinstance(node, ast.Import):
            yield from (alias.asname or alias.name for alias in node.names if alias.name.partition(".")[0] == "pardo")


@pytest.mark.parametrize("layer", [name for name in RANK if name != "_core"])
def test_nothing_is_put_into_another_module(layer):
    """`Class.attribute = …` of an imported class is a call upward that no import shows: hand it over, or fill a table in by a function."""
    wrong = []
    for module in [m for m in MODULES if _layer(m) == layer]:
        tree = tree_of(module)
        imports = set(_imported_names(tree))
        for node in ast.walk(tree):
            targets = [ast.Attribute(node.args[0])] if isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr" else []
            targets += getattr(node, "targets", []) if isinstance(node, (ast.Assign, ast.Delete)) else []
            targets += [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else []
            targets = [part for target in targets for part in getattr(target, "elts", [target])]
            if any(isinstance(t, ast.Attribute) and isinstance(t.value, ast.Name) and t.value.id in imports for t in targets):
                wrong.append(f"{MODULES[module].relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert not wrong, "\n".join(wrong)


def test_hooks_of_the_core_are_one_table():
    """Each is installed by one module, once it is read; a name that the core does not know is refused, and nothing is installed then."""
    installed = [
        key.value
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "_core._install"
        for key in node.args[0].keys
    ]
    names = pardo._core._hook_names()
    assert set(installed) == set(names)
    assert len(set(names)) == len(names)
    assert {name for name in installed if installed.count(name) > 1} == {"transfer_guard"}
    with pytest.raises(ValueError, match=r"^_install: 'show' is no hook; the hooks are .*\bshow_result\b"):
        pardo._core._install({"mapped_data": 3, "show": 3})
    with pytest.raises(ValueError, match=r"^_install: 3 is no hook"):
        pardo._core._install({3: None})
    (pardo.ones(3) + 1).wait()


# --- packages over the package

OVER = [module for module in MODULES if RANK[_layer(module)] > RANK["__init__"] and module != "__main__"]


@pytest.mark.parametrize("layer", sorted({_layer(module) for module in OVER}))
def test_compat_and_cython_could_be_packages_of_their_own(layer):
    """They import public names, their own modules, and what _extending.py lists."""
    public = set(pardo.__dir__()) | {"__version__"}
    modules = [m for m in OVER if _layer(m) == layer]
    wrong = []
    for module in modules:
        for node in ast.walk(tree_of(module)):
            names = []
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "pardo":
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names if alias.name.partition(".")[0] == "pardo"]
            for name in names:
                _, first, *rest = [*name.split("."), ""]
                own = (_layer(_module(name) or _module(name.rpartition(".")[0]) or "")) in ("_cython", "compat")
                if not (own or (first == "_extending" and rest) or first in public or not first):
                    wrong.append(f"{MODULES[module].relative_to(ROOT)}:{node.lineno} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_private_names_of_the_package_are_not_reached_through_it():
    """`pardo._core`, and `pp._array` of a module that is imported by another name."""
    wrong = []
    for module in OVER:
        known = {a.asname or a.name for n in ast.walk(tree_of(module)) if isinstance(n, ast.Import) for a in n.names if a.name == "pardo"}
        wrong += [
            f"{MODULES[module].relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
            for node in ast.walk(tree_of(module))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known
            if node.attr.startswith("_") and not node.attr.startswith("__")
        ]
    assert not wrong, "\n".join(wrong)


def test_what_packages_stand_on_is_listed_told_and_used():
    names = [*_extending._FILE_OF, *_extending._MODULE_OF]
    used = {
        alias.name
        for module in OVER
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.ImportFrom) and node.module == "pardo._extending"
        for alias in node.names
    }
    assert used == set(names)
    typed = [
        (node.module, alias.name)
        for node in ast.walk(tree_of("_extending"))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("pardo.")
        for alias in node.names
    ]
    assert sorted(typed) == sorted(
        [(f"pardo.{file}", name) for name, file in _extending._FILE_OF.items()]
        + [(f"pardo.{file.rpartition('.')[0]}", name) for name, file in _extending._MODULE_OF.items()]
    )
    told = set(re.findall(r"``(\w+)``", _extending.__doc__))
    assert told >= {name for name in names if not name.startswith("_")}
    assert all(getattr(_extending, name) is not None for name in names)
