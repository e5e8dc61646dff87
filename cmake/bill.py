# cmake/bill.py: the wheel's bill of materials, as CycloneDX: the rows of licenses/components.toml of which the linker used files.
"""usage: bill.py --map MAP --components TOML --product VERSION --out FILE [VARIABLE=VERSION…]"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

# Libraries of the system that runs the wheel: it does not bring them.
SYSTEM = re.compile(r"^(lib(stdc\+\+|m|gcc_s|c|pthread|dl|rt)|ld-linux-\S+)\.so(\.\d+)?$")


def linked_files(text: str) -> set[str]:
    """Archives of which objects were taken, shared libraries by their names, and start files: what a link map of GNU's linker says."""
    head, _, rest = text.partition("\nMemory Configuration")
    archives = re.findall(r"^(\S+\.a)\(\S+\)", head, re.MULTILINE)
    whole = re.findall(r"^LOAD (\S+\.o)$", rest, re.MULTILINE)
    needed = re.findall(r"^(\S+\.so\S*) +\S+", head.partition("\nAs-needed library included")[2], re.MULTILINE)
    return {*archives, *whole, *needed}


def is_ours(file: str) -> bool:
    """Of this build: its files have paths relative to its folder."""
    return not file.startswith("/") and ".so" not in file


def others_files(text: str) -> list[str]:
    """Those that are neither this build's nor the system's."""
    return sorted(file for file in linked_files(text) if not is_ours(file) and not SYSTEM.match(file))


def row_of(file: str, rows: list[dict[str, Any]], by: str = "linked") -> dict[str, Any] | None:
    """The component that a file belongs to."""
    return next((row for row in rows if by in row and re.search(row[by], file)), None)


def component(row: dict[str, Any], how: str, version: str) -> dict[str, Any]:
    made = {
        "type": "library",
        "bom-ref": row["name"],
        "name": row["name"],
        "version": version,
        "licenses": [{"expression": row["license"]}],
        "purl": f"pkg:generic/{row['name'].lower()}@{version}",
        "externalReferences": [{"type": "website", "url": row["url"]}],
        "properties": [{"name": "pardo:how", "value": how}, {"name": "pardo:license-text", "value": row["text"]}],
    }
    if "note" in row:
        made["pedigree"] = {"notes": row["note"]}
    return made


def bill(rows: list[dict[str, Any]], files: list[str], product: str, versions: dict[str, str]) -> dict[str, Any]:
    """The bill; there is no time and no number in it that differs from build to build."""
    used = {}
    for file in files:
        row = row_of(file, rows)
        if row is None:
            raise SystemExit(f"bill.py: {file} is in the module, and licenses/components.toml has no row for it")
        used[row["name"]] = "a library of the wheel" if ".so" in file else "linked into the module"
    parts = []
    for row in rows:
        how = used.get(row["name"]) or (None if "linked" in row else "compiled into the module")
        if how is None:
            print(f"bill.py: nothing of {row['name']} was linked: the bill does not name it")
        elif not versions.get(row["version"]):
            raise SystemExit(f"bill.py: the version of {row['name']} is not known: {row['version']} is empty")
        else:
            parts.append(component(row, how, versions[row["version"]]))
    whole = {"type": "library", "bom-ref": "pardo", "name": "pardo", "version": product, "purl": f"pkg:pypi/pardo@{product}"}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": whole | {"licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": parts,
        "dependencies": [{"ref": "pardo", "dependsOn": [part["bom-ref"] for part in parts]}, *({"ref": part["bom-ref"]} for part in parts)],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("map", "components", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--product", required=True)
    parser.add_argument("versions", nargs="*")
    arguments = parser.parse_args(sys.argv[1:])
    rows = tomllib.loads(arguments.components.read_text())["component"]
    versions = dict(text.split("=", 1) for text in arguments.versions)
    made = bill(rows, others_files(arguments.map.read_text(errors="replace")), arguments.product, versions)
    arguments.out.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
