# SPDX-License-Identifier: Apache-2.0
"""What is being changed: the files that differ from what last landed, committed or not.

    python tests/gates/change.py concerns FOLDER ...   status 0 if a gate of these is asked


Landed is what LIBDL_BASE names; else where the branch leaves its upstream; else, as in a clone that
has no other commits, the last one that is four hours older than the newest.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOURS = 4


def git(*words: str) -> str:
    """What git answers, empty where it knows nothing."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def head() -> str:
    return git("rev-parse", "HEAD")


def is_clean_but(path: pathlib.Path) -> bool:
    """Whether the tree is that of a commit, but for one file."""
    rest = git("status", "--porcelain", "--", ".", f":!{path.relative_to(ROOT)}")
    return bool(head()) and not rest


def fingerprint_but(path: pathlib.Path) -> str:
    """The tree as it is, committed or not, but for one file; without git, what no other run has."""
    state = git("diff", "HEAD", "--", ".", f":!{path.relative_to(ROOT)}")
    state += git("ls-files", "--others", "--exclude-standard")
    return f"{head() or os.getpid()}-{zlib.crc32(state.encode()):08x}"


def base() -> str:
    """The commit that a change begins from; empty outside a clone."""
    if given := os.environ.get("LIBDL_BASE"):
        return git("rev-parse", given)
    upstream = git("merge-base", "HEAD", "@{upstream}")
    if upstream and upstream != head():
        return upstream
    newest = git("log", "-1", "--format=%ct")
    older = newest and git("rev-list", "-1", f"--before={int(newest) - HOURS * 3600}", "HEAD")
    return older or git("rev-list", "--max-parents=0", "HEAD").partition("\n")[0]


def files() -> list[str]:
    """The changed files that exist, as paths from the root."""
    changed = git("diff", "--name-only", base()).splitlines()
    new = git("ls-files", "--others", "--exclude-standard").splitlines()
    return sorted(name for name in {*changed, *new} if (ROOT / name).is_file())


def touched(rooms: tuple[str, ...]) -> bool:
    """Whether a file below one of these folders changed, a deleted one too."""
    changed = git("diff", "--name-only", base()).splitlines()
    return any(name.startswith(rooms) for name in {*changed, *files()})


def concerns(rooms: tuple[str, ...]) -> bool:
    """Whether a gate for these folders has something to say: also where nothing is known of a
    change, as in a clone of one commit."""
    return base() in ("", head()) or touched(rooms)


def lines(name: str) -> set[int]:
    """The numbers of a file's lines that are new or other; all of a file that git does not know."""
    if not git("ls-files", name):
        return set(range(1, len((ROOT / name).read_text().splitlines()) + 1))
    found: set[int] = set()
    for text in git("diff", "--unified=0", base(), "--", name).splitlines():
        if text.startswith("@@"):
            first, _, count = text.split("+")[1].split(" ")[0].partition(",")
            found |= set(range(int(first), int(first) + int(count or 1)))
    return found


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "concerns":
        sys.exit(__doc__)
    sys.exit(0 if concerns(tuple(sys.argv[2:])) else 1)
