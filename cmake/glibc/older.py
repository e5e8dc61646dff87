# cmake/glibc/older.py: binds a library that is already linked (Debian's oneTBB, for the wheel) to versions that an older Linux has.
"""What stubs.py does for the linker, done to its result.

Each imported symbol of a version that manylinux_2_28 lacks is given the version it had before. The version's record is then named as
another one of the same library, for the loader asks for every version that is named.

usage: older.py LIBRARY OUTPUT [COMPILER [OPTION…]]    the compiler finds the libraries that are needed; without it gcc
"""

import struct
import sys
from pathlib import Path

import stubs

# Imported symbols that an older libstdc++ hides; the Python module exports them under this version (cmake/python_module.map).
OWN = {f"_ZNSt15__exception_ptr13exception_ptr{name}": "CXXABI_1.3.3" for name in ("9_M_addrefEv", "10_M_releaseEv")}
SECTION, SYMBOL, NEED, AUX = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ"), struct.Struct("<HHIII"), struct.Struct("<IHHII")
SHT_DYNSYM, SHT_VERNEED, SHT_VERSYM = 11, 0x6FFFFFFE, 0x6FFFFFFF


class Library:
    def __init__(self, path: Path) -> None:
        self.data = bytearray(path.read_bytes())
        assert self.data[:6] == b"\x7fELF\x02\x01", f"{path} is no 64-bit little-endian ELF file"
        start, size, count = *struct.unpack_from("<Q", self.data, 40), *struct.unpack_from("<HH", self.data, 58)
        sections = [SECTION.unpack_from(self.data, start + i * size) for i in range(count)]
        found = {section[1]: section for section in sections}
        self.symbols, self.versions, self.needs = (found[kind] for kind in (SHT_DYNSYM, SHT_VERSYM, SHT_VERNEED))
        self.strings = sections[self.symbols[6]]

    def text(self, offset: int) -> str:
        start = self.strings[4] + offset
        return self.data[start : self.data.index(0, start)].decode()

    def files(self) -> dict[str, dict[str, int]]:
        """Of each library needed: where the records of its versions are."""
        files: dict[str, dict[str, int]] = {}
        at = self.needs[4]
        while True:
            _, _, name, first, following = NEED.unpack_from(self.data, at)
            record, records = at + first, files.setdefault(self.text(name), {})
            while True:
                aux = AUX.unpack_from(self.data, record)
                records[self.text(aux[3])] = record
                if aux[4] == 0:
                    break
                record += aux[4]
            if following == 0:
                return files
            at += following

    def users(self, index: int) -> dict[str, int]:
        """The imported symbols of a version, and where their version's number is."""
        users = {}
        for i in range(self.symbols[5] // SYMBOL.size):
            at = self.versions[4] + 2 * i
            if struct.unpack_from("<H", self.data, at)[0] & 0x7FFF == index:
                users[self.text(SYMBOL.unpack_from(self.data, self.symbols[4] + i * SYMBOL.size)[0])] = at
        return users


def main(source: Path, target: Path, compiler: list[str]) -> None:
    library = Library(source)
    for file, records in library.files().items():
        allowed = {name for name in records if stubs.numbers(name) is not None}
        for version in records.keys() - allowed:
            number = AUX.unpack_from(library.data, records[version])[2]
            before = stubs.symbols(stubs.found(compiler, file))
            for symbol, at in library.users(number).items():
                older = before[symbol][0] if symbol in before else OWN.get(symbol)
                if older not in allowed:
                    raise SystemExit(f"older.py: {source.name} needs {symbol}@{version}, for which an older Linux has nothing")
                struct.pack_into("<H", library.data, at, AUX.unpack_from(library.data, records[older])[2])
            instead, own = (AUX.unpack_from(library.data, records[name]) for name in (min(allowed), version))
            AUX.pack_into(library.data, records[version], instead[0], own[1], own[2], instead[3], own[4])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(library.data)
    target.chmod(0o755)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3:] or ["gcc"])
