# cmake/kernels/pack.py: compiles kernels while the wheel is built, and packs them into one file (docs/design/first-calls.md).
#
# For CUDA the calls of programs.py run on a driver without a GPU and on listing.cpp in NVRTC's place, which writes down each text that
# would be compiled. Each text is compiled for each target, by as many processes as there are cores. For CPUs the calls run as they are,
# and the module writes what its LLVM makes for each level of its processor. What is compiled stays in a folder, by the hash of its text,
# and is not compiled again. src/jit/pack.cpp reads the file.
from __future__ import annotations

import argparse
import ctypes
import hashlib
import multiprocessing
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

MAGIC, FORMAT = b"pardopak", 1
GROUP = 1 << 18  # bytes that are packed together: half a millisecond to unpack
# What makes no other code, for NVRTC 12.9: see compile_text in src/backend/cuda/libraries/nvrtc.cpp.
MORE_OPTIONS = [b"--minimal", b"--no-cache"]
ROOT = Path(__file__).resolve().parents[2]

library: ctypes.CDLL | None = None
zstd: ctypes.CDLL | None = None


class NvrtcError(Exception):
    """What NVRTC says to a text."""


def check(result: int, what: str) -> None:
    if result != 0:
        raise NvrtcError(f"{what} failed: {result}")


def taken(program: ctypes.c_void_p, what: str) -> bytes:
    """A program's log, PTX or machine code."""
    size = ctypes.c_size_t()
    check(getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)), what)
    buffer = ctypes.create_string_buffer(size.value)
    check(getattr(library, f"nvrtcGet{what}")(program, buffer), what)
    return buffer.raw


def compiled(listed: bytes, target: str) -> bytes:
    """Machine code, or PTX, of a listed text."""
    head, text = listed.split(b"\n\n", 1)
    options = [*head.split(b"\n"), *MORE_OPTIONS, b"--gpu-architecture=" + target.encode()]
    program = ctypes.c_void_p()
    check(library.nvrtcCreateProgram(ctypes.byref(program), text, b"kernel.cu", 0, None, None), "nvrtcCreateProgram")
    try:
        if library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) != 0:
            raise NvrtcError(taken(program, "ProgramLog").decode(errors="replace"))
        return taken(program, "CUBIN" if target.startswith("sm_") else "PTX")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def load(nvrtc: str | None, packer: str) -> None:
    global library, zstd
    library, zstd = ctypes.CDLL(nvrtc) if nvrtc else None, ctypes.CDLL(packer)
    for function in (zstd.ZSTD_createCCtx, zstd.ZSTD_compressBound, zstd.ZSTD_compress2):
        function.restype = ctypes.c_size_t


def compile_one(job: tuple[Path, str, Path]) -> str:
    """Fills a file; what went wrong, if anything."""
    text, target, file = job
    try:
        code = compiled(text.read_bytes(), target)
    except NvrtcError as e:
        return f"{text.name} for {target}: {str(e)[:500]}"
    new = file.with_suffix(f".{os.getpid()}")
    new.write_bytes(code)
    new.rename(file)
    return ""


def version() -> str:
    """As 12.9."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    check(library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), "nvrtcVersion")
    return f"{major.value}.{minor.value}"


def known() -> list[int]:
    """The architectures that NVRTC makes code for."""
    count = ctypes.c_int()
    check(library.nvrtcGetNumSupportedArchs(ctypes.byref(count)), "nvrtcGetNumSupportedArchs")
    numbers = (ctypes.c_int * count.value)()
    check(library.nvrtcGetSupportedArchs(numbers), "nvrtcGetSupportedArchs")
    return list(numbers)


def on_gpu(target: str) -> bool:
    return not on_cpu(target)


def on_cpu(target: str) -> bool:
    return not target.startswith(("sm_", "compute_"))


def number_of(target: str) -> int:
    return int(target.split("_")[1])


def text_arch(target: str) -> int:
    """From 9.0 on texts differ: a launch may begin while the one before ends."""
    return 90 if number_of(target) >= 90 else 80


def stage(folder: Path, package: Path, module: Path) -> None:
    """A package of the sources and the module that was just built."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pardo").mkdir(parents=True)
    for part in package.iterdir():
        (folder / "pardo" / part.name).symlink_to(part)
    (folder / "pardo" / module.name).symlink_to(module)


def environment_for(folder: Path, arguments: argparse.Namespace) -> dict[str, str]:
    """In which programs write down their kernels."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARDO_")}
    return environment | {
        "PARDO_KERNEL_LISTING": str(folder),
        "PARDO_KERNEL_PACK": "off",
        "PARDO_CACHE": "off",
        "PARDO_NUM_THREADS": "4",  # kernels of reductions depend on it: two builds of one source give the same bytes
        "PYTHONPATH": str(arguments.work / "stage"),
    }


def run_programs(python: str, device: str, environment: dict[str, str]) -> None:
    programs = Path(__file__).with_name("programs.py")
    subprocess.run([python, "-W", "ignore", str(programs), device], env=environment, check=True)


def list_texts(folder: Path, arch: int, arguments: argparse.Namespace) -> list[Path]:
    """The texts that the programs would compile for an architecture, with NVIDIA's libraries and without."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = environment_for(folder, arguments) | {
        "PARDO_CUDA_DRIVER": str(arguments.driver),
        "PARDO_NVRTC": str(arguments.listing),
        "FAKE_CUDA_ARCH": str(arch),
        "FAKE_CUDA_NUMBER": "1",
        "FAKE_CUDA_MEMORY": str(8 << 30),
    }
    for libraries in ("none", str(arguments.listing)):
        environment |= dict.fromkeys(("PARDO_CUBLAS", "PARDO_CUSOLVER", "PARDO_CUFFT"), libraries)
        run_programs(arguments.python, "cuda", environment)
    return sorted(folder.iterdir())


class Code(NamedTuple):
    """A kernel's machine code for a target; the hash by its halves, the lower first."""

    low: int
    high: int
    target: int
    kernel: str
    code: bytes


def code_of(text: Path, target: int, file: Path) -> Code:
    kernel = re.search(r"(?:KERNEL|__launch_bounds__)\([^)]*\)\s+(\w+)\s*\(", text.read_text())
    return Code(*halves(text.name), target, kernel[1] if kernel else "", file.read_bytes())


def halves(digits: str) -> tuple[int, int]:
    """Of a hash, the lower one first."""
    return int(digits[16:], 16), int(digits[:16], 16)


def compiler_sources() -> str:
    """A hash of all that decides what LLVM is given for a kernel."""
    files = [file for part in ("ir", "emit") for file in sorted((ROOT / "src" / part).rglob("*")) if file.is_file()]
    whole = hashlib.sha256()
    for file in [*files, ROOT / "src" / "backend" / "cpu" / "compile.cpp"]:
        whole.update(file.read_bytes())
    return whole.hexdigest()[:16]


def codes_for_cpus(targets: list[str], arguments: argparse.Namespace) -> list[Code]:
    """What the module's LLVM makes of the kernels of the programs, for levels of its processor."""
    folder = arguments.kept / f"cpu-{compiler_sources()}"
    for other in arguments.kept.glob("cpu-*"):
        if other != folder:
            shutil.rmtree(other)
    folder.mkdir(parents=True, exist_ok=True)
    listed = folder / "list"
    listed.unlink(missing_ok=True)
    before, start = len(list(folder.iterdir())), time.monotonic()
    run_programs(arguments.python, "cpu", environment_for(folder, arguments))
    seconds, after = time.monotonic() - start, len(list(folder.iterdir())) - 1
    codes = []
    for line in dict.fromkeys(listed.read_text().splitlines()):  # a kernel may be made again, where memory has let go of it
        key, level, file, kernel = line.split(" ", 3)
        if level in targets:
            codes.append(Code(*halves(key), targets.index(level), kernel, (folder / file).read_bytes()))
    print(f"kernels for CPUs: {len(codes)}; {after - before} compiled now, in {seconds:.1f} s with the calls")
    return codes


def squeeze(group: bytes) -> bytes:
    """By zstd, with a checksum; small groups of codes that are alike are half as large as each code alone."""
    size = zstd.ZSTD_compressBound(len(group))
    buffer = ctypes.create_string_buffer(size)
    context = ctypes.c_void_p(zstd.ZSTD_createCCtx())
    for parameter, value in (100, 19), (201, 1):  # ZSTD_c_compressionLevel, ZSTD_c_checksumFlag
        zstd.ZSTD_CCtx_setParameter(context, parameter, value)
    made = zstd.ZSTD_compress2(context, buffer, ctypes.c_size_t(size), group, ctypes.c_size_t(len(group)))
    zstd.ZSTD_freeCCtx(context)
    if zstd.ZSTD_isError(ctypes.c_size_t(made)):
        raise NvrtcError("zstd failed")
    return buffer.raw[:made]


def packed(codes: list[Code], targets: list[str], squeezed: Callable[[list[bytes]], list[bytes]]) -> Iterator[bytes]:
    """The file's parts, as src/jit/pack.cpp reads them."""
    groups, entries = [bytearray()], []
    last = -1
    for code in sorted(codes, key=lambda c: (c.target, c.kernel, len(c.code), c.low)):
        if groups[-1] and (len(groups[-1]) > GROUP or code.target != last):
            groups.append(bytearray())
        last = code.target
        entries.append((code.low, code.high, code.target, len(code.code), len(groups) - 1, len(groups[-1])))
        groups[-1] += struct.pack("<2Q2I", code.low, code.high, code.target, len(code.code)) + code.code
    small = squeezed([bytes(group) for group in groups])
    yield struct.pack("<8s4I", MAGIC, FORMAT, len(targets), len(entries), len(groups))
    for target in targets:
        yield struct.pack("16s", target.encode())
    for entry in sorted(entries):
        yield struct.pack("<2Q4I", *entry)
    at = 24 + 16 * len(targets) + 32 * len(entries) + 16 * len(groups)
    for group, less in zip(groups, small, strict=True):
        yield struct.pack("<Q2I", at, len(less), len(group))
        at += len(less)
    yield from small


def codes_for_cuda(targets: list[str], arguments: argparse.Namespace, pool: Any) -> list[Code]:
    """What NVRTC makes of the texts of the programs."""
    lists = {arch: list_texts(arguments.work / str(arch), arch, arguments) for arch in {text_arch(t) for t in targets if on_gpu(t)}}
    jobs = []
    for target in filter(on_gpu, targets):
        folder = arguments.kept / f"{version()}-{target}"
        folder.mkdir(parents=True, exist_ok=True)
        jobs += [(text, target, folder / text.name) for text in lists[text_arch(target)]]
    missing = sorted((job for job in jobs if not job[2].exists()), key=lambda job: -job[0].stat().st_size)
    start = time.monotonic()
    for problem in filter(None, pool.imap_unordered(compile_one, missing)):
        print(f"kernels for CUDA: left out: {problem}", file=sys.stderr)
    seconds = time.monotonic() - start
    codes = [code_of(text, targets.index(target), file) for text, target, file in jobs if file.exists()]
    print(f"kernels for CUDA: {len(codes)}; {len(missing)} of them compiled now, in {seconds:.1f} s, by NVRTC {version()}")
    return codes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zstd", required=True, help="its shared library")
    for name in ("module", "package", "work", "kept", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("nvrtc", "listing", "driver"):
        parser.add_argument(f"--{name}", type=Path, help="for CUDA")
    parser.add_argument("--python", default=sys.executable, help="runs the module: another one where it is for another processor")
    parser.add_argument("--targets", required=True, help="as sm_90,compute_90,x86-64-v3")
    processes = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or len(os.sched_getaffinity(0))
    parser.add_argument("--jobs", type=int, default=int(processes))
    arguments = parser.parse_args()
    libraries = arguments.nvrtc and str(arguments.nvrtc), arguments.zstd
    load(*libraries)
    asked = arguments.targets.split(",")
    targets = [target for target in asked if not on_gpu(target) or (library and number_of(target) in known())]
    stage(arguments.work / "stage", arguments.package, arguments.module)
    new = arguments.out.with_suffix(".new")
    with multiprocessing.Pool(arguments.jobs, load, libraries) as pool:
        codes: list[Code] = []
        for kind, concerned in ("CUDA", on_gpu), ("CPUs", on_cpu):
            if any(map(concerned, targets)):
                try:
                    codes += codes_for_cuda(targets, arguments, pool) if kind == "CUDA" else codes_for_cpus(targets, arguments)
                except subprocess.CalledProcessError as e:
                    print(f"kernels for {kind}: the wheel brings none: the list of calls ended with status {e.returncode}", file=sys.stderr)
        have = sorted({code.target for code in codes})
        codes = [code._replace(target=have.index(code.target)) for code in codes]
        targets = [targets[number] for number in have]
        new.write_bytes(b"".join(packed(codes, targets, lambda groups: pool.map(squeeze, groups, 1))))
    new.rename(arguments.out)
    print(f"kernels: {len(codes)} for {', '.join(targets) or 'nothing'}, {arguments.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
