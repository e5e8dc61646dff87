# docs/make_capi.py: the reference of pardo/c_api.h: its comments and declarations, as they stand there.
import re
from collections.abc import Iterator

SUBJECT = re.compile(r"(?:(\w+(?: of \w+)?)[.]\s*)?(.*)", re.DOTALL)  # "Devices. A selector is …"


def _paragraphs(comment: str) -> str:
    """A comment as text: its lines joined, its paragraphs kept."""
    lines = [line.strip() for line in comment.strip().splitlines()]
    text = re.sub(r"[ \n]*\n\n+", "\n\n", "\n".join(lines))
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text).replace("<", "&lt;").replace("*", r"\*")


def _blocks(code: str) -> Iterator[tuple[str, str]]:
    """Comments that stand before declarations, each with the lines up to the next one."""
    comment, lines, inside = "", [], []
    for line in code.splitlines():
        start = line.strip()
        if inside or start.startswith("/*"):
            if not inside and any(x.strip() for x in lines):
                yield comment, "\n".join(lines)
                lines = []
            elif not inside and comment and not any(x.strip() for x in lines):
                yield comment, ""
            inside.append(line)
            if "*/" in line:
                comment, inside = "\n".join(inside).strip().removeprefix("/*").removesuffix("*/"), []
            continue
        lines.append(line)
    yield comment, "\n".join(lines)


def _code(text: str, indent: str) -> list[str]:
    lines = [line.removeprefix(indent) for line in text.strip("\n").splitlines()]
    return ["```c", *lines, "```", ""]


def page(header: str) -> str:
    """The page, in Markdown, of the header's text."""
    opening, rest = header.split("*/", 1)
    purpose, facts = opening.removeprefix("/*").strip().split("\n\n", 1)
    purpose = purpose.split(": ", 1)[1]
    out = ["# pardo/c_api.h", "", _paragraphs(purpose[0].upper() + purpose[1:]), "", _paragraphs(facts), ""]
    out += [
        "[Native extensions](../../guide/extensions.md) says how it is used, [Native code of others](../../design/native.md) why it is so.",
        "",
    ]
    rest = rest[rest.index("#define PARDO_ABI_MAJOR") :].split("#ifdef __cplusplus\n}")[0]
    rest = re.sub(r"/\* clang-format \w+ \*/\n", "", rest)
    sections = re.split(r"^/\* --- (.*?) -+ \*/$", rest, flags=re.MULTILINE)
    out += _code(sections[0].strip(), "")
    for title, body in zip(sections[1::2], sections[2::2], strict=True):
        out += [f"## {title[0].upper()}{title[1:]}", ""]
        declarations, _, table = body.partition("typedef struct pardo_api {")
        for comment, code in _blocks(declarations):
            out += [_paragraphs(comment), ""] if comment else []
            out += _code(code, "") if code.strip() else []
        if table:
            out += ["### struct pardo_api", ""]
            for comment, code in _blocks(table.split("} pardo_api;")[0]):
                subject, text = SUBJECT.fullmatch(comment.strip()).groups()
                out += [f"#### {subject}", ""] if subject else []
                out += [_paragraphs(text), ""] if text else []
                out += _code(code, "    ") if code.strip() else []
    return "\n".join(out) + "\n"
