# cmake/tidy.py: runs clang-tidy on our sources in parallel; not again on a file that was clean while nothing that it includes has changed.
import argparse
import concurrent.futures
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def digest(paths: list[Path]) -> str:
    sha = hashlib.sha256()
    for path in paths:
        sha.update(path.read_bytes())
    return sha.hexdigest()


def dependencies(build: Path) -> dict[Path, list[Path]]:
    """Our headers that each source includes, as ninja has noted them; nothing of sources that were not compiled yet."""
    found: dict[Path, list[Path]] = {}
    done = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=False)
    for block in done.stdout.split("\n\n"):
        _, *lines = block.splitlines() or [""]
        paths = [(build / line.strip()).resolve() for line in lines]
        ours = sorted({path for path in paths if path.is_relative_to(ROOT) and path.exists()})
        found |= {path: ours for path in ours if path.suffix == ".cpp"}
    return found


def changed() -> set[Path]:
    """What the last commit and the working tree have changed."""
    done = subprocess.run(["git", "-C", str(ROOT), "diff", "--name-only", "HEAD~1"], capture_output=True, text=True, check=False)
    return {ROOT / line for line in done.stdout.splitlines()}


def position(seed: str, path: Path) -> float:
    """A number in [0, 1) that the seed and the file's name decide."""
    digest = hashlib.blake2b(f"{seed} {path.relative_to(ROOT)}".encode(), digest_size=7).digest()
    return int.from_bytes(digest) / 2**56


INCLUDED = re.compile(r'#include "(.+\.cpp)"')
PRECOMPILED = re.compile(r"-Winvalid-pch -include \S+/cmake_pch\.hxx ")


def each_by_itself(entries: list[dict[str, str]]) -> list[dict[str, str]]:
    """The commands with each file by itself and nothing precompiled, so that what it forgets to include is found."""
    single = []
    for entry in entries:
        path, command = entry["file"], PRECOMPILED.sub("", entry["command"])
        together = INCLUDED.findall(Path(path).read_text()) if Path(path).name.startswith("unity_") else [path]
        single += [entry | {"file": file, "command": command.replace(path, file)} for file in together]
    return single


def run(source: Path, commands: Path) -> tuple[int, str]:
    command = ["clang-tidy", "--quiet", "-p", str(commands), "--extra-arg=-Wno-unknown-warning-option"]
    command += ["--extra-arg=-Wexit-time-destructors", str(source)]  # daemon threads may use what main destroys
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout if done.returncode == 0 else done.stdout + done.stderr


def main(build: Path, jobs: int, share: float, seed: str) -> int:
    entries = each_by_itself(json.loads((build / "compile_commands.json").read_text()))
    compiled = {Path(entry["file"]) for entry in entries}
    # Compiled twice around the sources of ducc0, with flags of GCC's.
    compiled.discard(ROOT / "src/routines/cpu/fft/ducc.cpp")
    # Around 39,000 lines of another project.
    compiled.discard(ROOT / "src/routines/opencl/vkfft.cpp")
    sources = sorted(path for path in compiled if any(path.is_relative_to(ROOT / folder) for folder in ("src", "python/bind")))
    headers = sorted(
        path for folder in ("include", "src", "python/bind") for kind in ("*.h", "*.def") for path in (ROOT / folder).rglob(kind)
    )
    included, touched = dependencies(build), changed()
    wanted = [path for path in sources if path in touched or position(seed, path) < share]
    rules = digest([ROOT / ".clang-tidy", ROOT / "python/bind/.clang-tidy", Path(__file__)])
    clean = build.parent / "tidy"
    clean.mkdir(parents=True, exist_ok=True)
    (clean / "compile_commands.json").write_text(json.dumps(entries))
    stamps = {path: clean / hashlib.sha256((rules + digest([path, *included.get(path, headers)])).encode()).hexdigest() for path in wanted}
    todo = [path for path in wanted if not stamps[path].exists()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for path, (status, text) in zip(todo, pool.map(lambda source: run(source, clean), todo), strict=True):
            if status == 0 and not text.strip():
                stamps[path].touch()
            else:
                failed += 1
                print(text, flush=True)
    left = f"; {len(sources) - len(wanted)} left out by the seed {seed}" if len(wanted) < len(sources) else ""
    print(f"clang-tidy: {len(sources)} files, {len(todo)} run, {failed} with findings{left}")
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--share", type=float, default=1.0, help="of the files that the last commit left alone")
    parser.add_argument("--seed", default="")
    options = parser.parse_args()
    sys.exit(main(options.build.resolve(), options.jobs, options.share, options.seed))
