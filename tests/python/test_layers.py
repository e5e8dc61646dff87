# tests/python/test_layers.py: an include points downward only, as docs/design/architecture.md says.
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Folder -> the folders of src/ that its files may include, beside their own and include/pardo.
ALLOWED = {
    "base": set(),
    "device": {"base"},
    "ir": {"base"},
    "jit": {"base", "device", "ir"},
    "emit": {"base", "device", "ir"},
    "lang": {"base", "ir"},
    "graph": {"base", "device", "ir"},
    "plan": {"base", "device", "ir", "graph", "jit", "emit"},
    "launch": {"base", "device", "ir", "lang", "graph", "plan"},
    "backend": {"base", "device", "ir", "emit", "jit"},
    "lib": {"base", "device", "ir", "emit", "jit", "graph", "plan", "backend"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/', re.MULTILINE)
SOURCES = sorted(path for kind in ("*.h", "*.cpp", "*.def") for path in (ROOT / "src").rglob(kind))

pytestmark = pytest.mark.skipif(not SOURCES, reason="not in a source tree")


@pytest.mark.parametrize("layer", sorted(ALLOWED))
def test_includes_point_downward(layer):
    wrong = []
    for path in SOURCES:
        if path.relative_to(ROOT / "src").parts[0] != layer:
            continue
        targets = set(INCLUDE.findall(path.read_text())) - ALLOWED[layer] - {layer}
        wrong.extend(f"{path.relative_to(ROOT)} includes {target}/" for target in sorted(targets))
    assert not wrong, "\n".join(wrong)


def test_every_layer_has_a_rule():
    assert {path.relative_to(ROOT / "src").parts[0] for path in SOURCES} <= set(ALLOWED)


def test_public_headers_and_bindings_use_public_headers_only():
    folders = [ROOT / "include", ROOT / "python" / "bind"]
    files = [path for folder in folders for kind in ("*.h", "*.cpp") for path in folder.rglob(kind)]
    own = {path.name for path in (ROOT / "python" / "bind").glob("*")}
    quoted = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
    wrong = [f"{path.relative_to(ROOT)}: {name}" for path in files for name in quoted.findall(path.read_text()) if name not in own]
    assert not wrong, "\n".join(wrong)


def test_only_emitter_and_cpu_backend_know_llvm():
    wrong = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if "#include <llvm" in path.read_text() and not str(path.relative_to(ROOT / "src")).startswith(("emit/", "backend/cpu/"))
    ]
    assert not wrong, "\n".join(wrong)
