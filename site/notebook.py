"""Runs a notebook and writes it as a page: `python site/notebook.py NOTEBOOK.py PAGE.md`; with `--unrun` behind it without running.

A notebook is a Python file in jupytext's percent format. Its cells run in order in one namespace, in a folder that goes away; what they
print, the value of a cell's last line (HTML where it has one) and matplotlib's figures follow the cell. The Python that runs this must
have the package `cnsim`; the first cell that fails ends it with its own traceback, exit code 1, or 4 where a module is not there.
"""

import ast
import contextlib
import html
import io
import os
import re
import sys
import tempfile
import traceback
from pathlib import Path


def cells(text: str) -> list[tuple[bool, str]]:
    """Cells: is it words, and its text."""
    parts = re.split(r"^# %%(.*)$", text, flags=re.MULTILINE)[1:]
    found = []
    for head, body in zip(parts[::2], parts[1::2]):
        if "[markdown]" in head:
            found.append((True, re.sub(r"^# ?", "", body.strip(), flags=re.MULTILINE)))
        elif body.strip():
            found.append((False, body.strip()))
    return found


def figures(folder: Path, stem: str, already: int) -> list[str]:
    """Saves matplotlib's open figures, if it was used, and closes them."""
    if "matplotlib.pyplot" not in sys.modules:
        return []
    plt = sys.modules["matplotlib.pyplot"]
    shown = []
    for number in plt.get_fignums():
        name = f"{stem}-{already + len(shown) + 1}.svg"
        plt.figure(number).savefig(folder / name, bbox_inches="tight", facecolor="white", metadata={"Date": None})
        shown.append(f"![Figure {already + len(shown) + 1} of this notebook]({name})")
    plt.close("all")
    return shown


def output(value: object) -> str:
    """The value of a cell's last line."""
    if value is None or type(value).__module__.startswith("matplotlib") or isinstance(value, tuple) and "matplotlib" in repr(value):
        return ""
    if hasattr(value, "_repr_html_"):
        return f'<div class="output">\n{value._repr_html_()}\n</div>'
    return f'<pre class="output">{html.escape(repr(value) if not isinstance(value, str) else value)}</pre>'


def run(code: str, name: str, scope: dict) -> tuple[str, object]:
    """Runs a cell; what it printed, and the value of its last line."""
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), scope)
        value = eval(compile(ast.Expression(last.value), name, "eval"), scope) if last else None
    return printed.getvalue(), value


def main(source: Path, page: Path, unrun: bool) -> int:
    page.parent.mkdir(parents=True, exist_ok=True)
    out, scope, drawn = [], {"__name__": "__main__"}, 0
    os.environ["MPLBACKEND"] = "Agg"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for words, text in cells(source.read_text(encoding="utf-8")):
            if words:
                # Other notebooks are pages here.
                out.append(re.sub(r"\]\(([\w-]+)\.py\)", r"](\1.md)", text))
                continue
            out.append(f"```python\n{text}\n```")
            if unrun:
                continue
            try:
                printed, value = run(text, source.name, scope)
            except ImportError as e:
                traceback.print_exc()
                # A name that a module lacks, or one of this repository, is a fault, not an extra.
                remedy = getattr(e, "remedy", None) or (isinstance(e, ModuleNotFoundError) and e.name and f"pip install {e.name.split('.')[0]}")
                if not remedy:
                    return 1
                print(remedy, file=sys.stderr)
                return 4
            except Exception:
                traceback.print_exc()
                return 1
            if printed:
                out.append(f'<pre class="output">{html.escape(printed.rstrip())}</pre>')
            shown = output(value)
            pictures = figures(page.parent, page.stem, drawn)
            drawn += len(pictures)
            out += [part for part in [shown, *pictures] if part]
    how = "shown without its results: the package `cnsim` was not there when the site was built" if unrun else "run by `make site`"
    out.append(f"*This page is the notebook [{source.name}]({source.name}), {how}.*")
    page.write_text("\n\n".join(out) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), "--unrun" in sys.argv))
