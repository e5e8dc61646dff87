# tests/commits.py: what CONTRIBUTING.md asks of commits; `./dev lint` runs it on those that the main branch does not have yet.
"""usage: commits.py [--file MESSAGE]

Checks the first lines of commit messages: imperative, under 72 characters, no full stop, no tag before them; and that nothing was merged.
--file: the message of one commit that is being made, as Git's hook `commit-msg` has it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

MOST = 72
# Verbs that end as forms which are no imperatives do.
IMPERATIVES = {"bring", "embed", "feed", "need", "proceed", "ring", "seed", "shed", "speed", "spring", "string", "swing", "wring"}


def faults(message: str) -> list[str]:
    """What is wrong with a message, in words; nothing if all is well."""
    first, _, rest = message.strip().partition("\n")
    found = []
    if len(first) > MOST:
        found.append(f"the first line has {len(first)} characters, {MOST} are the most")
    if re.match(r"\[|\(|[A-Za-z_/]+: ", first):
        found.append("the first line begins with a tag")
    if first.endswith("."):
        found.append("the first line ends with a full stop")
    word = re.split(r"\W", first, maxsplit=1)[0]
    if not word[:1].isupper():
        found.append("the first line does not begin with a capital letter")
    if re.search(r"(ed|ing)$", word) and word.lower() not in IMPERATIVES:
        found.append(f"'{word}' is no imperative")
    if rest and not rest.startswith("\n"):
        found.append("the second line is not empty")
    return found


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def new_commits() -> list[str]:
    """Those that no branch of another repository has; the last thirty of a checkout that knows no other."""
    known = ["--not", "--remotes"] if git("branch", "--remotes").strip() else ["--no-merges", "--max-count=30"]
    return git("rev-list", "HEAD", *known).split()


def main() -> int:
    if sys.argv[1:2] == ["--file"]:
        text = "\n".join(line for line in Path(sys.argv[2]).read_text().splitlines() if not line.startswith("#"))
        found = [("this message", fault) for fault in faults(text)]
    else:
        found = []
        for commit in new_commits():
            parents = git("show", "--no-patch", "--format=%P", commit).split()
            found += [(commit[:12], "it is a merge: rebase instead")] if len(parents) > 1 else []
            found += [(commit[:12], fault) for fault in faults(git("show", "--no-patch", "--format=%B", commit))]
    for name, fault in found:
        print(f"{name}: {fault} (CONTRIBUTING.md)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
