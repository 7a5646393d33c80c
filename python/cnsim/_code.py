"""A hash of the code of a scheme: of the loaded code that runs, not of files.

The hash covers a class, its methods and rooms, and all that they name, by value: functions, constants, defaults, closures,
objects. For the standard library and installed packages it covers name and version. Runs of a scheme with code that cannot be
followed are not kept; a warning names that code.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import hashlib
import importlib
import importlib.util
import io
import os
import pathlib
import site
import sys
import sysconfig
import types
from collections.abc import Iterator
from typing import Any

from . import _cnsim

#: Attributes of a class that do not affect its behaviour.
_IDLE = {
    *("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__annotate__", "__annotate_func__"),
    *("__annotations_cache__", "__static_attributes__", "__firstlineno__", "__orig_bases__", "__parameters__", "__abstractmethods__"),
    *("_abc_impl", "_name", "__dataclass_fields__", "__dataclass_params__", "__classcell__"),
}
#: Built-in functions with which code reads files or runs other code.
_ELSEWHERE = tuple(getattr(builtins, name) for name in ("open", "eval", "exec", "compile", "__import__", "globals", "input")) + (io.open,)
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
_METHODS = (types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MethodWrapperType)


class _Unknown(Exception):
    """The reason why code cannot be known."""


def code_of(cls: type) -> tuple[str, str | None]:
    """A hash of the code of a class; and the first part that cannot be known, if there is one."""
    walk = _Walk()
    walk.digest.update(_cnsim.CODE.encode())
    try:
        walk.add(cls)
    except RecursionError:
        walk.unknown("is nested too deeply")
    return walk.digest.hexdigest()[:32], walk.why


def _installed() -> tuple[str, ...]:
    """Folders of the standard library and of installed packages."""
    found = [sysconfig.get_paths().get(name, "") for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    found += [*site.getsitepackages(), site.getusersitepackages()] if hasattr(site, "getsitepackages") else []
    return tuple({os.path.join(os.path.realpath(p), "") for p in found if p})


_FOLDERS = _installed()


@functools.lru_cache(maxsize=4096)
def _is_installed(file: str) -> bool:
    return os.path.realpath(file).startswith(_FOLDERS)


def _version(name: str) -> str | None:
    """Name and version of an installed module; none for the user's modules and those of cnsim."""
    top = name.partition(".")[0]
    module = sys.modules.get(name)
    # `python -m pytest` is __main__ itself, and yet classes there are the user's.
    if module is None or top in ("cnsim", "__main__"):
        return None
    file = getattr(module, "__file__", None)
    if file is None:
        known = name in sys.builtin_module_names or top in sys.stdlib_module_names
        return name if known else None
    if not _is_installed(file):
        return None
    version = getattr(sys.modules.get(top), "__version__", "")
    return f"{top} {version}" if isinstance(version, str) else top


def _compiled(name: str) -> bool:
    """Is this a compiled module of the user?"""
    file = getattr(sys.modules.get(name), "__file__", None) or ".py"
    return _version(name) is None and not name.startswith("cnsim.") and not file.endswith((".py", ".pyc"))


class _Walk:
    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.why: str | None = None
        self._seen: dict[int, int] = {}
        self._alive: list[object] = []
        self._path: list[str] = []

    def unknown(self, why: str) -> None:
        """Keeps the first reason why code cannot be known."""
        self._word("unknown", why)
        if self.why is None:
            place = ".".join(self._path)
            self.why = f"{place}: {why}" if place else why

    def _word(self, *words: str | bytes) -> None:
        for word in words:
            part = word if isinstance(word, bytes) else word.encode("utf-8", "surrogatepass")
            self.digest.update(b"%d:" % len(part))
            self.digest.update(part)

    def _met(self, value: object) -> bool:
        """Was this object met before? Then its number enters the hash."""
        at = self._seen.setdefault(id(value), len(self._alive))
        if at < len(self._alive):
            self._word("again", str(at))
            return True
        self._alive.append(value)
        return False

    def _at(self, name: str, value: object) -> None:
        self._path.append(name)
        self._word(name)
        self.add(value)
        self._path.pop()

    def add(self, value: object) -> None:
        """Adds a value with all code that it refers to."""
        kind = type(value)
        if kind in _PLAIN:
            self._word(kind.__name__, repr(value))
            return
        if self._met(value):
            return
        if isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, (staticmethod, classmethod)):
            self._word(kind.__name__)
            self.add(value.__func__)
        elif isinstance(value, property):
            self._all("property", (value.fget, value.fset, value.fdel))
        elif isinstance(value, types.MethodType):
            self._all("method", (value.__func__, value.__self__))
        elif isinstance(value, (functools.partial, functools.partialmethod)):
            self._all("partial", (value.func, value.args, value.keywords))
        elif isinstance(value, functools.cached_property):
            self._all("cached", (value.func,))
        elif isinstance(value, types.CodeType):
            self._code(value, {})
        elif isinstance(value, types.ModuleType):
            self._module(value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, enum.Enum):
            self._all("enum", (kind, value.name, value.value))
        elif isinstance(value, types.BuiltinFunctionType) and not isinstance(value.__self__, (types.ModuleType, type, type(None))):
            self._all(f"method {value.__name__}", (value.__self__,))
        elif isinstance(value, (types.BuiltinFunctionType, *_METHODS)):
            self._builtin(value)
        elif kind in (tuple, list):
            self._all(kind.__name__, value)
        elif kind is dict:
            self._all("dict", (part for item in value.items() for part in item))  # type: ignore[attr-defined]
        elif kind in (set, frozenset):
            self._word(kind.__name__, *sorted(self._alone(part) for part in value))  # type: ignore[attr-defined]
        elif hasattr(value, "__wrapped__") and kind.__module__ == "functools":
            self._all("wrapped", (value.__wrapped__,))
        elif kind in (types.MappingProxyType,):
            self.add(dict(value))  # type: ignore[call-overload]
        elif kind is types.MemberDescriptorType:
            self._word("slot", value.__name__)  # type: ignore[attr-defined]
        else:
            self._object(value)

    def _all(self, kind: str, parts: Any) -> None:
        self._word(kind)
        for part in parts:
            self.add(part)
        self._word("end")

    def _alone(self, value: object) -> bytes:
        """The hash of a part in an unordered collection."""
        walk = _Walk()
        walk._path = list(self._path)
        walk.add(value)
        self.why = self.why or walk.why
        return walk.digest.digest()

    def _builtin(self, value: Any) -> None:
        self._word("builtin", str(getattr(value, "__module__", "")), value.__qualname__)
        if any(value is other for other in _ELSEWHERE):
            self.unknown(f"calls `{value.__name__}`, whose effect is not in the code")
        elif _compiled(str(getattr(value, "__module__", None) or "builtins")):
            self.unknown(f"calls `{value.__qualname__}`, which is compiled")

    def _module(self, module: types.ModuleType) -> None:
        name = module.__name__
        version = _version(name)
        self._word("module", version or "")
        if version is None and not name.startswith("cnsim"):
            for key, value in sorted(vars(module).items()):
                if not (key.startswith("__") and key.endswith("__")):
                    self._at(key, value)

    def _class(self, cls: type) -> None:
        version = "builtins" if getattr(builtins, cls.__name__, None) is cls else _version(cls.__module__)
        if version is not None:
            self._word("class", version, cls.__module__, cls.__qualname__)
            if issubclass(cls, pathlib.Path):
                self.unknown(f"uses `{cls.__name__}`: files are not part of the code")
            return
        if _compiled(cls.__module__):
            self.unknown(f"uses `{cls.__qualname__}`, which is compiled")
        self._word("class", cls.__qualname__.rpartition(".")[2])
        self._all("bases", (type(cls), *cls.__bases__))
        for key, value in sorted(vars(cls).items()):
            if key not in _IDLE:
                self._at(key, value)

    def _object(self, value: Any) -> None:
        """Adds an object of another class by the parts that pickle would store."""
        kind = type(value)
        try:
            made = value.__reduce_ex__(4)
        except Exception:
            self.unknown(f"is a {kind.__module__}.{kind.__qualname__}, which has no value that could be compared")
            return
        self._word("object")
        if isinstance(made, str):
            self.add(kind)
            self._word(made)
            if _version(kind.__module__) is None:
                self.unknown(f"is `{made}`, which has no value that could be compared")
            return
        for part in made[:3]:
            self.add(part)
        for rest in made[3:5]:
            self.add(None if rest is None else list(rest))

    def _function(self, value: types.FunctionType) -> None:
        name = value.__globals__.get("__name__", "")
        version = _version(name) if isinstance(name, str) else None
        if version is not None:
            self._word("function", version, name, value.__qualname__)
            if value.__module__ == "os" and value.__name__ in ("getenv",):
                self.unknown("reads the environment")
            return
        self._word("function")
        self._code(value.__code__, value.__globals__)
        self._all("defaults", (value.__defaults__, value.__kwdefaults__, vars(value)))
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=False):
            try:
                self._at(name, cell.cell_contents)
            except ValueError:
                self._word("empty")

    def _code(self, code: types.CodeType, names: dict[str, Any]) -> None:
        self._word("code", code.co_code, code.co_exceptiontable, str(code.co_flags))
        self._word(str((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)))
        for words in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars):
            self._word(str(len(words)), *words)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant, names)
            else:
                self.add(constant)
        for name, value in self._named(code, names):
            self._at(name, value)

    def _named(self, code: types.CodeType, names: dict[str, Any]) -> Iterator[tuple[str, object]]:
        """Names outside of the code that it uses, with their values; of a module only the attributes used."""
        steps = [s for s in dis.get_instructions(code) if s.opname not in ("EXTENDED_ARG", "CACHE")]
        at = 0
        while at < len(steps):
            step = steps[at]
            at += 1
            if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                self.unknown(f"sets the global `{step.argval}`, so that runs depend on each other")
            elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
                name = step.argval
                if name not in names:
                    if hasattr(builtins, name):
                        yield name, getattr(builtins, name)
                    continue
                value = names[name]
            elif step.opname == "IMPORT_NAME":
                name = step.argval
                module = self._imported(name, steps[max(0, at - 3) : at - 1], names)
                if module is None:
                    continue
                value = module
                if at < len(steps) and steps[at].opname == "IMPORT_FROM":
                    while at < len(steps) and steps[at].opname in ("IMPORT_FROM", "STORE_FAST", "STORE_DEREF", "STORE_NAME"):
                        if steps[at].opname == "IMPORT_FROM":
                            yield f"{name}.{steps[at].argval}", getattr(module, steps[at].argval, None)
                        at += 1
                    continue
            else:
                continue
            while isinstance(value, types.ModuleType) and at < len(steps) and steps[at].opname in ("LOAD_ATTR", "LOAD_METHOD"):
                part = steps[at].argval
                if not hasattr(value, part):
                    break
                name, value, at = f"{name}.{part}", getattr(value, part), at + 1
            if value is os.environ:
                self.unknown("reads the environment")
                continue
            yield name, value

    def _imported(self, name: str, before: list[dis.Instruction], names: dict[str, Any]) -> types.ModuleType | None:
        """The module that a function imports; it is imported now if it has not been."""
        level = next((s.argval for s in before if s.opname in ("LOAD_CONST", "LOAD_SMALL_INT") and isinstance(s.argval, int)), 0)
        try:
            whole = importlib.util.resolve_name("." * level + name, names.get("__package__") or "") if level else name
            return importlib.import_module(whole)
        except Exception as e:
            self.unknown(f"imports `{name}`: {type(e).__name__}: {e}")
            return None
