# docs/make_cpp.py: the reference of the C++ headers: Doxygen reads their comments, Breathe shows them (conf.py). What is public and has no
# comment is an error.
from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include"
BUILD = ROOT / "build" / "docs" / "cpp"
LEFT_OUT = {"c_api.h", "run.h", "export.h"}  # the table has a page of its own (make_capi.py)
FOR_EXTENSIONS = re.compile(r"/(native|nanobind|pybind11)\b")

NO_INTERFACE = ["pardo::Array::Parts", "pardo::dtype_of_impl*", "pardo::recorded", "pardo::native::detail", "pardo_caster*", "type_caster*"]
SETTINGS = {
    "GENERATE_HTML": "NO",
    "GENERATE_LATEX": "NO",
    "GENERATE_XML": "YES",
    "XML_PROGRAMLISTING": "NO",
    "FILE_PATTERNS": "*.h *.hpp",
    "RECURSIVE": "YES",
    "SEARCH_INCLUDES": "NO",
    "EXCLUDE_SYMBOLS": " ".join([*NO_INTERFACE, "pardo::recorded::*", "pardo::native::detail::*", "PARDO_*"]),
    "QUIET": "YES",
    "MACRO_EXPANSION": "YES",
    "EXPAND_ONLY_PREDEF": "YES",
    "EXPAND_AS_DEFINED": "PARDO_OPERATOR PARDO_FUNCTION",
    "MAX_INITIALIZER_LINES": 1,
    "PREDEFINED": "PARDO_API= PARDO_NATIVE_HIDDEN= __cplusplus=202002L __cpp_lib_span=202002L __cpp_lib_mdspan=202207L",
    "WARN_FORMAT": '"$file:$line: $text"',
}
# What every class may have and needs no words: copies, moves, default constructors, equality; and macros, which are undefined again.
OF_CLASS = r"[^(]*\(function\) of (?:class|struct) (?:\w+::)*"
PLAIN = re.compile(
    rf"Member (?:(\w+)\((?:const \1 &|\1 &&)\w*\)|(\w+)\(\){OF_CLASS}\2 |\w+\(\) noexcept=default|"
    rf"operator=\((?:const )?(\w+)(?: &&?)? ?\w*\){OF_CLASS}\3(?:<[^>]*>)? |operator==\(|.*\(macro definition\))"
)

# --- headers as Doxygen understands them -----------------------------------------------------------------------------------------

OPENS = re.compile(
    r"^namespace (?:pardo(?:::\w+)?|native PARDO_NATIVE_HIDDEN) \{$(?!\n(?:///.*\n)*namespace native)",
    re.MULTILINE,
)
CLOSES = re.compile(r"(?<!HIDDEN\n)^\}  // namespace (?:PARDO_NATIVE_HIDDEN|pardo(?:::\w+)?)$", re.MULTILINE)
ROWS = "#include <pardo/dtype.def>\n"
DTYPES = "#define PARDO_DTYPE(name, text, type, bytes, kind, exponent, mantissa, computed) name,\n" + ROWS
MADE = re.compile(r"^PARDO_(?:OPERATOR|FUNCTION)\(", re.MULTILINE)
TYPE = r"(?:static constexpr |const )?(?!return|using|friend|template)[\w:]+(?:<[^;()]*?>)?"
VARIABLES = re.compile(rf"((?:^ *///.*\n)*)^( +)({TYPE}) (\w[^;()]*,[^;()]*);( +///<.*)?$", re.MULTILINE)


def headers(include: Path = INCLUDE) -> list[Path]:
    """Those that are documented."""
    found = [p for p in (include / "pardo").rglob("*.h*") if p.name not in LEFT_OUT and "binding" not in p.parts]
    return sorted(found, key=lambda p: (FOR_EXTENSIONS.search(str(p)) is not None, p))


def _key(header: Path) -> str:
    """The name of a header's group and page."""
    parts = header.with_suffix("").parts
    return "_".join(parts[parts.index("pardo") + 1 :]) if parts[-2] != "pardo" else parts[-1]


def _parts(text: str) -> list[str]:
    """Declarators, between commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<{[(") - (letter in ">}])")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _apart(found: re.Match[str]) -> str:
    """Variables of one declaration as declarations, each with its comment: Doxygen gives it to one of them only."""
    above, indent, kind, names, beside = found.groups()
    return "\n".join(f"{above}{indent}{kind} {name};{beside or ''}" for name in _parts(names))


def _grouped(text: str, key: str) -> str:
    """Makes the declarations a group of Doxygen's, unless the header has groups: Breathe shows these without the namespace around them."""
    if "@defgroup" in text:
        return text
    return CLOSES.sub(r"/// @}\n\g<0>", OPENS.sub(rf"\g<0>\n/// @addtogroup {key}\n/// @{{\n", text))


def _name(line: str) -> str | None:
    """What a declaration declares, where that may be overloaded."""
    found = re.search(r"(\boperator)\W|(\w+)\(", re.sub(r"^ *PARDO_API|^ *template <[^>]*>(?= \w)", "", line))
    return found and (found[1] or found[2])


def _shared(lines: list[str]) -> Iterator[str]:
    """A comment stands for all overloads that follow each other: Doxygen gives it to the first."""
    comment: list[str] = []
    name, ended = None, True
    for line in lines:
        if line.strip().startswith("///"):
            comment = [*comment, line] if name is None else [line]
            name = None
        elif not line.strip() or line.strip().startswith(("//", "#", "}")):
            comment, name = ([], None) if ended else (comment, name)
        elif ended and comment:
            declared = _name(line)
            if name is not None and declared == name and "///" not in line:
                yield from comment
            elif name is not None:
                comment = []
            name = declared or ""
        ended = bool(re.search(r"[;}{](?: *//.*)?$", line)) or not line.strip() or line.strip().startswith("//")
        yield line


def _copied(header: Path, dtypes: str) -> str:
    """The text that Doxygen reads in place of a header: no marks in numbers, which Breathe does not know; what is internal is private."""
    text = re.sub(r"(?<=\d)'(?=\d)", "", MADE.sub(r"/// As on arrays.\n\g<0>", header.read_text()))
    text = re.sub(r"(///<?) (?=[Ii]nternal\b)", r"\1 @private ", text)
    text = VARIABLES.sub(_apart, text.replace(DTYPES, dtypes, 1).replace(ROWS, ""))
    return "\n".join(_shared(_grouped(text, _key(header)).splitlines())) + "\n"


# --- what Doxygen has read -------------------------------------------------------------------------------------------------------


def read(include: Path = INCLUDE, build: Path = BUILD) -> Path:
    """Runs Doxygen; gives the folder of its XML. What it warns of is an error."""
    shutil.rmtree(build, ignore_errors=True)
    rows = re.findall(r"^PARDO_DTYPE\((\w+), +(\S+),", (include / "pardo" / "dtype.def").read_text(), re.MULTILINE)
    dtypes = "".join(f"    {name},  ///< {shown}\n" for name, shown in rows)
    copies = build / "include"
    for header in headers(include):
        copy = copies / header.relative_to(include)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(_copied(header, dtypes))
    where = {"INPUT": copies, "STRIP_FROM_PATH": copies, "STRIP_FROM_INC_PATH": copies, "OUTPUT_DIRECTORY": build}
    settings = "".join(f"{name} = {value}\n" for name, value in (SETTINGS | where).items())
    done = subprocess.run(["doxygen", "-"], input=settings, capture_output=True, text=True, check=True)
    wrong = sorted({line for line in done.stderr.splitlines() if line.strip() and not PLAIN.search(line)})
    if wrong:
        raise ValueError("comments of the C++ headers:\n" + "\n".join(wrong).replace(str(copies), "include"))
    return build / "xml"


def name_of(path: Path) -> str:
    """What a file of Doxygen's is about."""
    return ElementTree.parse(path).findtext(".//compoundname") or ""


def take_classes(xml: Path) -> dict[str, list[str]]:
    """The classes of each group, as directives of Breathe: they are taken out of the groups, because they come first on a page. Members of
    groups get their whole names, for Breathe knows no namespaces there; those that belong to classes are left to these."""
    classes = {name_of(path) for kind in ("class", "struct") for path in xml.glob(f"{kind}*.xml")}
    found: dict[str, list[str]] = {}
    for path in xml.glob("group__*.xml"):
        tree = ElementTree.parse(path)
        group = tree.getroot()[0]
        inner = group.findall("innerclass")
        found[name_of(path)] = [f"doxygen{re.match('class|struct', c.get('refid'))[0]}:: {c.text}" for c in inner]
        for c in inner:
            group.remove(c)
        for section in group.iter("sectiondef"):
            for member in section.findall("memberdef"):
                whole = member.findtext("qualifiedname") or ""
                if whole.rpartition("::")[0] in classes:
                    section.remove(member)
                elif whole:
                    member.find("name").text = whole
        tree.write(path, encoding="utf-8", xml_declaration=True)
    return found


# --- pages -----------------------------------------------------------------------------------------------------------------------


def _purpose(text: str) -> str:
    """The first paragraph of a header, without its name."""
    lines = itertools.takewhile(lambda line: line.startswith("// "), text.splitlines())
    said = " ".join(line.removeprefix("// ") for line in lines).split(": ", 1)[1]
    return said if said.startswith("pardo/") else said[0].upper() + said[1:]


def _without_marks(comment: str) -> str:
    return re.sub(r"^/// ?", "", comment, flags=re.MULTILINE).strip()


def _page(title: str, text: str, directives: list[str], group: str) -> str:
    """Classes and concepts of a group, then its functions and what else there is."""
    shown = [f".. {line}\n" + ("" if "concept" in line else "   :members:\n") for line in directives]
    shown.append(f".. doxygengroup:: {group}\n   :content-only:")
    return "\n".join([f"# {title}", "", text, "", "```{eval-rst}", *shown, "```", ""])


def pages(xml: Path) -> dict[str, str]:
    """Names of pages, and their Markdown: one that lists the headers, one for each of them, for that of operations one for each group."""
    made, rows, classes = {}, [], take_classes(xml)
    concepts = {name_of(path) for path in xml.glob("concept*.xml")}

    def add(key: str, header: str, title: str, said: str, more: str, group: str, code: str) -> None:
        space = re.findall(r"^namespace (pardo[\w:]*) \{$", code, re.MULTILINE)[-1:] or ["pardo"]
        names = [f"{space[0]}::{name}" for name in re.findall(r"^concept (\w+) =", code, re.MULTILINE)]
        directives = classes[group] + [f"doxygenconcept:: {name}" for name in names if name in concepts]
        made[key] = _page(header + title, f"{said}\n\n{more}".strip(), directives, group)
        rows.append(f"| [`{header}`{title}]({key}.md) | {said} |")

    for header in headers():
        text, key, name = header.read_text(), _key(header), str(header.relative_to(INCLUDE))
        groups = re.split(r"^/// @defgroup (\w+) (.*)\n((?:/// [^@].*\n)*)", text, flags=re.MULTILINE)[1:]
        for group, title, said, code in zip(*(groups[k::4] for k in range(4)), strict=True):
            add(f"cpp-{key}-{group}", name, f": {title.lower()}", _without_marks(said).replace("\n", " "), "", group, code)
        if not groups:
            of_namespace = re.findall(r"((?:^/// .*\n)+)namespace pardo::\w+ \{$", text, re.MULTILINE)
            add(f"cpp-{key}", name, "", _purpose(text), "\n\n".join(map(_without_marks, of_namespace)), key, text)
    opening = "[pardo from C++](../../guide/cpp.md) and [Write an extension](../../guide/extensions.md) say how they are used."
    tree = ["```{toctree}", ":hidden:", "", *made, "```", ""]
    made["cpp"] = "\n".join(["# The C++ headers", "", opening, "", "| header | what is in it |", "|---|---|", *rows, "", *tree])
    return made


if __name__ == "__main__":
    print(read())
