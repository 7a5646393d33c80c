"""The reference of the Python package, from its own signatures and docstrings. The package is read, not imported."""

import ast
import re
from pathlib import Path

GROUPS = [
    ("Scenarios and runs", ["scenario", "build", "list", "load", "Scenario", "Case", "Listing"]),
    ("Results", ["Results", "Series", "Estimate"]),
    ("Sweeps and tuning", ["sweep", "Sweep", "tune", "Tuning"]),
    ("Schemes of your own", ["Scheme", "scheme", "param", "Plan", "Promise", "CongestionPoint", "ReactionPoint", "Reflector"]),
    ("What a scheme is lent", ["Queue", "Limiter", "Sink", "Frame", "Feedback", "Probe", "Ack", "QueueSite", "SourceSite", "SinkSite"]),
]
REST = "Errors and the rest"


def page(package: Path) -> str:
    """The page, in Markdown."""
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    listed, origin = exported(tree)
    known = {name for _, names in GROUPS for name in names}
    # The classes of `errors` are listed by themselves.
    rest = [name for name in listed if name not in {*known, "errors"} and not name.startswith("__")]
    out = ["# Python reference", (ast.get_docstring(tree) or "").split("\n")[0]]
    out.append("Everything here is an attribute of `cnsim`: `import cnsim as cn`.")
    for title, names in [*GROUPS, (REST, rest)]:
        shown = [text for name in names if name in listed and (text := entry(package, name, origin))]
        if shown:
            out += [f"## {title}", *shown]
    return "\n\n".join(out) + "\n"


def exported(tree: ast.Module) -> tuple[list[str], dict[str, tuple[str, str]]]:
    """Public names, and for each the module and the name that it has there."""
    listed: list[str] = []
    origin: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            for alias in node.names:
                if node.module:
                    origin[alias.asname or alias.name] = (node.module, alias.name)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            listed = ast.literal_eval(node.value)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_LATER":
            origin.update({name: (module, name) for name, module in ast.literal_eval(node.value).items()})
    return listed, origin


def entry(package: Path, name: str, origin: dict[str, tuple[str, str]]) -> str | None:
    """A name with its signature, words and members; none for a plain value."""
    module, there = origin.get(name, (name, ""))
    path = next((p for p in (package / f"{module}.py", package / f"{module}.pyi") if p.exists()), None)
    if path is None:
        return None
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not there:
        nodes = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and not n.name.startswith("_")]
        inside = [described(f"cnsim.{name}.{n.name}", n, "####") for n in nodes if ast.get_docstring(n)]
        return "\n\n".join([f"### cnsim.{name}", words(ast.get_docstring(tree) or ""), *inside])
    found = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == there]
    return described(f"cnsim.{name}", found[-1], "###") if found else None


def described(name: str, node: ast.FunctionDef | ast.ClassDef, level: str) -> str:
    """A function or a class."""
    if isinstance(node, ast.FunctionDef):
        return "\n\n".join([f"{level} {name}", signature(name, node), words(ast.get_docstring(node) or "")])
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    parts = [f"{level} {name}", code(f"class {name}({bases})" if bases else f"class {name}"), words(ast.get_docstring(node) or "")]
    attributes, methods = [], []
    for member in node.body:
        if isinstance(member, ast.AnnAssign) and not ast.unparse(member.target).startswith("_"):
            attributes.append((ast.unparse(member.target), ast.unparse(member.annotation), ""))
        if not isinstance(member, ast.FunctionDef) or (member.name.startswith("_") and member.name != "__init__"):
            continue
        text = words(ast.get_docstring(member) or "")
        if any(ast.unparse(d) in {"property", "cached_property"} for d in member.decorator_list):
            attributes.append((member.name, ast.unparse(member.returns) if member.returns else "", text))
        elif text or member.name != "__init__":
            methods.append(f"{signature(member.name, member)}\n\n{text}")
    cell = lambda text: " ".join(text.split()).replace("|", "\\|")  # noqa: E731
    if attributes:
        rows = [f"| `{name}` | `{cell(kind)}` | {cell(text)} |" for name, kind, text in attributes]
        parts.append("\n".join(["| attribute | type | meaning |", "|---|---|---|", *rows]))
    return "\n\n".join(part.strip() for part in [*parts, *methods] if part.strip())


def head(name: str, node: ast.FunctionDef) -> str:
    """The first line of a definition."""
    arguments = node.args
    if arguments.args and arguments.args[0].arg in {"self", "cls"}:
        arguments.args = arguments.args[1:]
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{name}({ast.unparse(arguments)}){result}"


def signature(name: str, node: ast.FunctionDef) -> str:
    """The first line of a definition, as code."""
    return code(head(name, node))


def code(text: str) -> str:
    """A block of Python, an argument a line where it is long."""
    if len(text) > 100 and "(" in text:
        name, rest = text.split("(", 1)
        inside, result = rest.rsplit(")", 1)
        depth, line, lines = 0, "", []
        for c in inside:
            depth += (c in "[({") - (c in "])}")
            if c == "," and depth == 0:
                lines.append(line.strip())
                line = ""
            else:
                line += c
        lines.append(line.strip())
        text = name + "(\n" + "".join(f"    {line},\n" for line in lines if line) + ")" + result
    return f"```python\n{text}\n```"


def words(text: str) -> str:
    """A docstring as Markdown: its code, its references, its sessions."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text.replace("``", "`"))
    out: list[str] = []
    session = False
    for line in text.splitlines():
        begins = line.startswith(">>>")
        if begins and not session:
            out += ["", "```pycon"]
            session = True
        elif session and not line.strip():
            out.append("```")
            session = False
        out.append(line)
    if session:
        out.append("```")
    return "\n".join(out).strip()
