# cmake/tidy.py: runs clang-tidy on our sources in parallel; not again on a file that was clean and has not changed since.
import concurrent.futures
import hashlib
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def digest(paths: list[Path]) -> str:
    sha = hashlib.sha256()
    for path in paths:
        sha.update(path.read_bytes())
    return sha.hexdigest()


def run(source: Path, build: Path) -> tuple[int, str]:
    command = ["clang-tidy", "--quiet", "-p", str(build), "--extra-arg=-Wno-unknown-warning-option", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout if done.returncode == 0 else done.stdout + done.stderr


def main(build: Path, jobs: int) -> int:
    compiled = {Path(entry["file"]) for entry in json.loads((build / "compile_commands.json").read_text())}
    sources = sorted(path for path in compiled if path.is_relative_to(ROOT / "src"))
    headers = sorted(path for folder in ("include", "src") for kind in ("*.h", "*.def") for path in (ROOT / folder).rglob(kind))
    rules = digest([ROOT / ".clang-tidy", Path(__file__), *headers])
    clean = build.parent / "tidy"
    clean.mkdir(parents=True, exist_ok=True)
    stamps = {path: clean / hashlib.sha256((rules + digest([path])).encode()).hexdigest() for path in sources}
    todo = [path for path in sources if not stamps[path].exists()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for path, (status, text) in zip(todo, pool.map(lambda source: run(source, build), todo), strict=True):
            if status == 0 and not text.strip():
                stamps[path].touch()
            else:
                failed += 1
                print(text, flush=True)
    print(f"clang-tidy: {len(sources)} files, {len(todo)} run, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
