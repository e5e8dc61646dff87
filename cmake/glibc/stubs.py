# cmake/glibc/stubs.py: writes link-time stand-ins for the C and C++ libraries as an older Linux has them.
"""Linkers bind each symbol to the newest version in the library they are given, so a module linked on Debian 12 asks for glibc 2.36.

The stubs hold the same symbols, but only in versions that glibc 2.28 and GCC 7 had: the linker then binds to those, and what came later is
left for compat.c and libstdc++.a, as in Red Hat's toolsets, with which most wheels are made. Nothing of a stub gets into the module.

usage: stubs.py FOLDER COMPILER [OPTION…]    writes libc.so, libm.so, libstdc++.so and libgcc_s.so there
"""

import re
import subprocess
import sys
from pathlib import Path

# The newest versions that manylinux_2_28 allows (auditwheel's policy/manylinux-policy.json).
NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
# Before 2.34 these were libraries of their own; today their symbols are in libc.so.6, in the old version and a new one.
MOVED = {
    "libpthread.so.0": r"_?_?pthread_|sem_|mtx_|cnd_|thrd_|tss_|call_once",
    "libdl.so.2": r"dl",
    "librt.so.1": r"aio_|lio_|mq_|timer_|shm_",
}

LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
SECTIONS = {"OBJECT": (".bss", "object"), "TLS": ('.section .tbss,"awT",@nobits', "tls_object")}


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def numbers(version: str) -> tuple[int, ...] | None:
    """(2, 28) of "GLIBC_2.28"; None if an older Linux lacks the version, () where it has no number."""
    family, _, rest = version.partition("_")
    if not re.fullmatch(r"[\d.]+", rest):
        return () if family == "CXXABI" else None
    number = tuple(map(int, rest.split(".")))
    return number if family in NEWEST and number <= NEWEST[family] else None


def found(compiler: list[str], name: str) -> str:
    """Where the compiler finds a library."""
    path = output(*compiler, f"-print-file-name={name}").strip()
    if path == name:
        raise SystemExit(f"{Path(sys.argv[0]).name}: {compiler[0]} has no {name}")
    return str(Path(path).resolve())


def symbols(library: str) -> dict[str, tuple[str, str, int, bool]]:
    """Of each symbol: the newest version allowed, type, size, and whether the library has replaced it since."""
    best: dict[str, tuple[tuple[int, ...], str, str, int, bool]] = {}
    for line in output("readelf", "-W", "--dyn-syms", library).splitlines():
        fields = line.split()
        if len(fields) != 8 or "@" not in fields[7] or fields[6] in ("UND", "ABS") or fields[5] != "DEFAULT":
            continue
        name, _, version = fields[7].partition("@")
        order = numbers(version.removeprefix("@"))
        if order is not None and (name not in best or order >= best[name][0]):
            best[name] = (order, version.removeprefix("@"), fields[3], int(fields[2], 0), not version.startswith("@"))
    return {name: entry[1:] for name, entry in best.items()}


def write(folder: Path, compiler: list[str], soname: str, table: dict[str, tuple[str, str, int, bool]]) -> None:
    text = []
    versions: dict[str, list[str]] = {}
    for name, (version, kind, size, _) in sorted(table.items()):
        versions.setdefault(version, []).append(name)
        section, mark = SECTIONS.get(kind, (".text", "function"))
        space = 1 if mark == "function" else max(size, 1)
        text.append(f"{section}\n.globl {name}\n.type {name},@{mark}\n.size {name},{size}\n{name}: .skip {space}")
    source = folder / f"{soname}.s"
    source.write_text("\n".join([*text, '.section .note.GNU-stack,"",@progbits', ""]))
    script = folder / f"{soname}.map"
    script.write_text("".join(f"{version} {{ global: {'; '.join(names)}; }};\n" for version, names in sorted(versions.items())))
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}"]
    subprocess.run([*compiler, *options, "-o", str(folder / soname), str(source)], check=True)


def main(folder: Path, compiler: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    libc = symbols(found(compiler, "libc.so.6"))
    for soname, pattern in MOVED.items():
        moved = {name: entry for name, entry in libc.items() if entry[3] and re.match(pattern, name)}
        write(folder, compiler, soname, moved)
        for name in moved:
            del libc[name]
    write(folder, compiler, "libc.so.6", libc)
    for soname in ("libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"):
        write(folder, compiler, soname, symbols(found(compiler, soname)))
    parts = " ".join(str(folder / soname) for soname in ("libc.so.6", *MOVED))
    loader = found(compiler, LOADERS[output(*compiler, "-dumpmachine").partition("-")[0]])
    (folder / "libc.so").write_text(f"GROUP ( {parts} {found(compiler, 'libc_nonshared.a')} AS_NEEDED ( {loader} ) )\n")
    (folder / "libm.so").write_text(f"INPUT ( {folder / 'libm.so.6'} )\n")
    (folder / "libstdc++.so").write_text(f"GROUP ( {folder / 'libstdc++.so.6'} {found(compiler, 'libstdc++.a')} )\n")
    (folder / "libgcc_s.so").write_text(f"GROUP ( {folder / 'libgcc_s.so.1'} -lgcc )\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
