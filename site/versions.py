"""Builds the site of this checkout as `latest`, and that of each tag `v*` beside it: `python3 site/versions.py` (`make site-versions`).

Each tag is checked out in a work tree of its own and built by its own site/build.py, so that a page tells what that version does.
The result is target/site-versions/html: a folder a version, `versions.json` for the selector of the header, and an index that
leads to `latest`.

Exit codes: 0 all built and sound; else that of the first build that failed.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "target" / "site-versions"
LEAD = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=latest/"><a href="latest/">latest</a>\n'


def git(*words: object) -> str:
    """What git prints; a failure of git ends the script with its message."""
    return subprocess.run(["git", *map(str, words)], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def build(name: str, root: Path) -> int:
    """Builds the site of the checkout at `root` into the folder `name`; returns the exit code."""
    environment = {**os.environ, "CNSIM_SITE_VERSIONED": "1"}
    code = subprocess.run([sys.executable, root / "site" / "build.py"], env=environment).returncode
    if code == 0:
        shutil.copytree(root / "target" / "site" / "html", OUT / "html" / name)
    return code


def main() -> int:
    """Builds every version, newest first."""
    shutil.rmtree(OUT, ignore_errors=True)
    tags = git("tag", "--list", "v*", "--sort=-version:refname").split()
    if code := build("latest", ROOT):
        return code
    for tag in tags:
        tree = OUT / "trees" / tag
        git("worktree", "prune")
        git("worktree", "add", "--detach", tree, tag)
        try:
            if code := build(tag, tree):
                return code
        finally:
            git("worktree", "remove", "--force", tree)
    rows = [{"version": name, "title": name, "aliases": []} for name in ["latest", *tags]]
    (OUT / "html" / "versions.json").write_text(json.dumps(rows), encoding="utf-8")
    (OUT / "html" / "index.html").write_text(LEAD, encoding="utf-8")
    print(f"{len(rows)} versions: target/site-versions/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
