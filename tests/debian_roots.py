# tests/debian_roots.py: the wheel in newer suites of Debian and in Ubuntu's, each a system of its own in a folder, with the newest NumPy.
"""usage: debian_roots.py [--seed SEED] WHEEL [SUITE…]

Makes build/roots/SUITE by debootstrap where it is not yet there, from the mirror that this machine's packages come from, or from Ubuntu's,
and runs in each, with each Python that it has: the self-test, the program of interpreters.py, README.md, and a sample of the Python tests
on the CPU; with its newest, fuzzers on the suite's PoCL.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import interpreters

ROOT = Path(__file__).resolve().parents[1]
ROOTS = ROOT / "build" / "roots"


@dataclass(frozen=True)
class Suite:
    """How one is made and what runs in it."""

    pythons: tuple[str, ...] = ()  # packages beside `python3`, as far as they exist
    fuzzers: tuple[str, ...] = ("failures", "queues")  # on its PoCL
    ubuntu: bool = False


SUITES = {
    # PoCL 6.0 ends the process on some kernels (its issue 1608): neither conformance tests there nor fuzzers of kernels.
    "trixie": Suite(),
    "forky": Suite(("python3.13-venv", "python3.14-venv", "python3.15-venv"), ("failures", "queues", "groups")),
    "noble": Suite(fuzzers=("failures", "queues", "groups", "kernels"), ubuntu=True),  # PoCL 5.0
}
UBUNTU = "http://archive.ubuntu.com/ubuntu"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
# Libraries that some tests need; one that has no wheel for a Python is left out, and its tests with it.
LIBRARIES = ("scipy", "scipy-openblas32", "cloudpickle", "nvidia-cuda-nvrtc")
KEEP = "cpu=0.1,slow=0,once=0.3,least=0"
OPENCL = ("pocl-opencl-icd", "ocl-icd-libopencl1")

# Runs in a namespace of its own, so that nothing stays mounted.
ENTER = """
mount --bind "$2" "$1/pardo" && mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --rbind /sys "$1/sys" \\
    && mount -t tmpfs tmpfs "$1/dev/shm" || exit 1
root=$1
shift 2
exec chroot "$root" sh -c 'cd /pardo && exec "$@"' sh "$@"
"""


def mirror() -> str:
    """The first one of Debian's that apt is told to use."""
    files = [*sorted(Path("/etc/apt/sources.list.d").iterdir()), Path("/etc/apt/sources.list")]
    for file in files:
        text = file.read_text() if file.exists() else ""
        for address in re.findall(r"^URIs: *(\S+)|^deb (?:\[[^]]*\] )?(\S+)", text, re.MULTILINE):
            if "".join(address).rstrip("/").endswith("/debian"):
                return "".join(address)
    raise SystemExit("debian_roots.py: /etc/apt names no mirror of Debian")


def run(root: Path, *command: str, log: Path) -> int:
    """A command inside, from the folder of the sources; what it says goes to a file."""
    (root / "pardo").mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_") and name != "PIP_FIND_LINKS"}
    kept |= {"PIP_CERT": CERTIFICATES, "PIP_NO_INPUT": "1", "PIP_ROOT_USER_ACTION": "ignore", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    kept |= {"HOME": "/root", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "DEBIAN_FRONTEND": "noninteractive"}
    kept |= {name: value for name, value in os.environ.items() if name.startswith("PARDO_TEST_")}
    inside = ["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, "sh", str(root), str(ROOT)]
    with log.open("a") as out:
        print("$", *command, file=out, flush=True)
        return subprocess.run([*inside, *command], env=kept, stdout=out, stderr=out, check=False).returncode


def ubuntu_keys(log: Path) -> Path:
    """Ubuntu's keys, of a package of trixie."""
    trixie = make("trixie", log)
    run(trixie, "apt-get", "install", "-y", "-q", "ubuntu-keyring", log=log)
    return trixie / "usr/share/keyrings/ubuntu-archive-keyring.gpg"


def make(suite: str, log: Path) -> Path:
    """The suite's root; one that was made before is taken as it is."""
    root = ROOTS / suite
    if (root / ".made").exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    ROOTS.mkdir(parents=True, exist_ok=True)
    packages = "python3,python3-venv,python3-pip,ca-certificates"
    with log.open("a") as out:  # all suites are made as the newest of Debian is, or the first of Ubuntu that is made so
        command = ["debootstrap", "--variant=minbase", f"--include={packages}"]
        if SUITES[suite].ubuntu:
            command += ["--components=main,universe", f"--keyring={ubuntu_keys(log)}", suite, str(root), UBUNTU, "gutsy"]
        else:
            command += [suite, str(root), mirror(), "sid"]
        if subprocess.run(command, stdout=out, stderr=out, check=False).returncode != 0:
            raise SystemExit(f"debian_roots.py: debootstrap could not make {suite}: see {log}")
    for file in ("/etc/resolv.conf", CERTIFICATES, "/etc/pip.conf", *map(str, Path("/etc/apt/apt.conf.d").glob("*"))):
        if Path(file).exists():
            (root / file[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, root / file[1:])
    run(root, "apt-get", "update", "-q", log=log)
    for package in (*SUITES[suite].pythons, *OPENCL):
        run(root, "apt-get", "install", "-y", "-q", "--no-install-recommends", package, log=log)
    (root / ".made").touch()
    return root


def pythons(root: Path) -> list[str]:
    """As /usr/bin/python3.14."""
    found = [p.name for p in (root / "usr/bin").glob("python3.*") if re.fullmatch(r"python3\.\d+", p.name)]
    return [f"/usr/bin/{name}" for name in sorted(found, key=lambda name: int(name.split(".")[1]))]


def on_opencl(names: tuple[str, ...], inside: str, environment: list[str]) -> list[tuple[str, list[str]]]:
    """The steps for the suite's PoCL, which has other kinds of memory and other faults than that of this machine."""
    command = [*environment, inside, "tests/fuzz"]
    return [(f"fuzzer of {name} on PoCL", [*command, name, "--minutes", "0.5", "--device", "opencl:0"]) for name in names]


def try_one(root: Path, python: str, wheel: str, log: Path, fuzzers: tuple[str, ...]) -> bool:
    """Installs into a fresh environment, and runs everything; the first step that fails ends it."""
    venv = f"/venv-{python.rpartition('python')[2]}"
    shutil.rmtree(root / venv[1:], ignore_errors=True)
    (root / "pardo").mkdir(exist_ok=True)
    (root / "program.py").write_text(interpreters.PROGRAM)
    inside = f"{venv}/bin/python"
    pip = [inside, "-m", "pip", "install", "-q", "--only-binary=:all:"]
    environment = ["env", "XDG_CACHE_HOME=/tmp/cache"]
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(min(os.cpu_count() or 1, 4))]
    steps = [
        ("environment", [python, "-m", "venv", venv]),
        ("wheel", [*pip, wheel, "numpy", "pytest", "pytest-xdist", "hypothesis"]),
        ("self-test", [*environment, inside, "-m", "pardo", "--self-test"]),
        ("first program", [*environment, inside, "/program.py"]),
        ("README", [*environment, "PARDO_TEST_SEED=", inside, *tests, "tests/python/test_documents.py", "-k", "README or getting-started"]),
        ("tests", [*environment, "PARDO_TEST_DEVICES=cpu", inside, *tests, "tests/python"]),
        *on_opencl(fuzzers, inside, environment),
    ]
    for name, command in steps:
        if run(root, *command, log=log) != 0:
            print(f"{root.name}, {python}: {name}: FAILED: see {log.relative_to(ROOT)}", flush=True)
            return False
        if name == "wheel":
            for library in LIBRARIES:
                run(root, *pip, library, log=log)
    summary = re.findall(r"^\d+ passed.*", log.read_text(errors="replace"), re.MULTILINE)
    print(f"{root.name}, {python}: passed: {summary[-1] if summary else ''}", flush=True)
    return True


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="pythons")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        print("debian_roots.py: making roots needs to be root")
        return 1
    os.environ.setdefault("PARDO_TEST_SEED", f"{arguments.seed}/roots")
    os.environ.setdefault("PARDO_TEST_KEEP", KEEP)
    wheel = "/pardo/" + str(arguments.wheel.resolve().relative_to(ROOT))
    logs = ROOT / "build" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    results = []
    for suite in arguments.suites or SUITES:
        root = make(suite, logs / f"root-{suite}.log")
        found = pythons(root)
        for python in found:
            log = logs / f"root-{suite}-{python.rpartition('/')[2]}.log"
            log.unlink(missing_ok=True)
            results.append(try_one(root, python, wheel, log, SUITES[suite].fuzzers if python == found[-1] else ()))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
