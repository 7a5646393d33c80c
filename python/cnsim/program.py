"""The program ``cnsim`` of the wheel: the same verbs, with schemes in Python by ``--python FILE.py``."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from .errors import CnsimError, SchemeError


def load_schemes(file: str) -> list[str]:
    """Runs a file that registers schemes; returns their names."""
    import runpy

    from .schemes import registered

    path = Path(file)
    if not path.is_file():
        raise SchemeError(f"{file}: there is no such file", "give the path of a Python file with a scheme", key="--python")
    before = dict(registered())
    sys.path.insert(0, str(path.resolve().parent))
    try:
        runpy.run_path(str(path), run_name=path.stem)
    except CnsimError:
        raise
    except BaseException as e:
        if isinstance(e, (KeyboardInterrupt, SystemExit)):
            raise
        frames = [f for f in traceback.extract_tb(e.__traceback__) if f.filename == str(path)]
        said = "".join(traceback.format_list(frames) + traceback.format_exception_only(e))
        raise SchemeError(f"{file} raises\n{said.rstrip()}", "mend the file", key="--python") from None
    finally:
        sys.path.pop(0)
    found = [name for name, cls in registered().items() if before.get(name) is not cls]
    if not found:
        raise SchemeError(f"{file}: registers no scheme", 'write @cn.scheme("my-scheme") above a class', key="--python")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the program with these arguments; returns its exit code."""
    args = ["cnsim", *(sys.argv[1:] if argv is None else argv)]
    try:
        files, args = _taken(args, "--python")
        for file in files:
            load_schemes(file)
        addresses, rest = _taken(args, "--executor") if args[1:2] == ["sweep"] else ([], args)
        if addresses:
            from .cluster import sweep_command

            return sweep_command(addresses[-1], rest)
    except CnsimError as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    from . import _cnsim
    from .schemes import registry, troubles

    known = registry()
    code = _cnsim.main(known, args)
    for raised in troubles(known):
        print("The scheme's own traceback:", file=sys.stderr)
        traceback.print_exception(raised)
    return code


def _taken(args: list[str], option: str) -> tuple[list[str], list[str]]:
    """Takes each ``option VALUE`` out of the arguments; returns the values and the rest."""
    found: list[str] = []
    rest: list[str] = []
    given = iter(args)
    for arg in given:
        if arg == option:
            value = next(given, None)
            if value is None:
                raise SchemeError(f"{option} has no value", f"write {option} VALUE", key=option)
            found.append(value)
        elif arg.startswith(option + "="):
            found.append(arg.partition("=")[2])
        else:
            rest.append(arg)
    return found, rest


if __name__ == "__main__":
    sys.exit(main())
