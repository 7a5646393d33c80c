"""Checks of a class of schemes: its rooms and their methods, and that no value that can change is shared.

All rooms of a run, and all runs, share the values at class level. A network has no such shared memory, so these values must not
change. A room keeps its memory in itself.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import inspect
import linecache
import logging
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, get_origin

from .errors import SchemeError, near

#: Values that never change.
_FIXED: tuple[type, ...] = (
    type(None), bool, int, float, complex, str, bytes, range, slice, type, types.FunctionType, types.BuiltinFunctionType,
    types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
    types.ModuleType, types.GenericAlias, types.UnionType, property, functools.cached_property, enum.Enum, re.Pattern,
    logging.Logger, type(Ellipsis), type(NotImplemented), type(functools.lru_cache(lambda: None)),
)  # fmt: skip
#: Modules all of whose values never change.
_FIXED_MODULES = ("decimal", "fractions", "datetime", "uuid", "pathlib", "typing", "operator", "ipaddress")
#: Attributes that Python itself writes into a class.
_PYTHONS = re.compile(r"__\w+__$|_abc_impl$|_name$|_is_protocol$|_is_runtime_protocol$")


def changeable(value: object, depth: int = 0) -> str | None:
    """Words for the part of a value that can change; none if no part can."""
    kind = type(value)
    if isinstance(value, (staticmethod, classmethod)):
        return changeable(value.__func__, depth)
    if isinstance(value, (types.FunctionType, types.MethodType)):
        return None
    if isinstance(value, functools.partial):
        return changeable((value.func, value.args, tuple(value.keywords.values())), depth + 1)
    if isinstance(value, _FIXED) or kind is object or kind.__module__.partition(".")[0] in _FIXED_MODULES:
        return None
    if get_origin(value) is not None or kind.__module__ == "cnsim" or kind.__module__.startswith("cnsim."):
        return None
    if isinstance(value, (tuple, frozenset, types.MappingProxyType)):
        parts = list(value.values()) if isinstance(value, types.MappingProxyType) else list(value)
        inside = next((w for w in (changeable(p, depth + 1) for p in parts) if w is not None), None) if depth < 20 else None
        return inside and (inside if " with " in inside else f"a {kind.__name__} with {inside} in it")
    if kind.__module__ == "numpy":
        fixed = kind.__name__ != "ndarray" or not value.flags.writeable  # type: ignore[attr-defined]
        return None if fixed else "an array that can be written"
    if dataclasses.is_dataclass(value) and getattr(kind, "__dataclass_params__").frozen:
        return changeable(tuple(getattr(value, f.name) for f in dataclasses.fields(value)), depth + 1)
    if isinstance(value, dataclasses.Field):
        return "a dataclasses.field, but the class is no dataclass"
    words = f"an object of {kind.__name__}" if kind.__module__ not in ("builtins", "collections") else kind.__name__
    return words if words.startswith("an ") else f"{'an' if words[0] in 'aeiouAEIOU' else 'a'} {words}"


#: The file whose class is being registered: the last resort for the place of a class.
here: list[str] = []


def place(thing: object, attribute: str | None = None) -> str:
    """`` (file.py:12)``: the place of a class, one of its attributes or a function; empty if unknown."""
    if isinstance(thing, (types.FunctionType, types.MethodType)):
        return f" ({thing.__code__.co_filename}:{thing.__code__.co_firstlineno})"
    if not isinstance(thing, type):
        return ""
    parts = [part for part in thing.__qualname__.split(".") if part != "<locals>"]
    for file in dict.fromkeys([*_files(thing), *here]):
        try:
            node: ast.AST | None = ast.parse("".join(linecache.getlines(file)))
        except (SyntaxError, ValueError):
            continue
        for part in parts:
            inside = ast.walk(node) if node is not None else ()
            named = [n for n in inside if isinstance(n, (ast.ClassDef, ast.FunctionDef)) and n.name == part]
            node = named[-1] if named else None
        if not isinstance(node, ast.ClassDef):
            continue
        line = node.lineno
        for step in node.body if attribute is not None else ():
            targets = step.targets if isinstance(step, ast.Assign) else [getattr(step, "target", step)]
            if any(attribute in (getattr(t, "id", None), getattr(t, "name", None)) for t in targets):
                line = step.lineno
        return f" ({file}:{line})"
    return ""


def _files(cls: type) -> Iterator[str]:
    """Files in which a class may be defined, the surest first."""
    for value in vars(cls).values():
        if isinstance(value, types.FunctionType):
            yield value.__code__.co_filename
        elif isinstance(value, type) and value.__qualname__.startswith(cls.__qualname__ + "."):
            yield from _files(value)
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    if file:
        yield file


def _own(cls: type) -> Iterator[type]:
    """A class and its bases, without those of cnsim and Python."""
    for base in cls.__mro__:
        module = base.__module__
        if module != "cnsim" and not module.startswith("cnsim.") and module not in ("builtins", "typing", "abc", "enum", "dataclasses"):
            yield base


def _functions(cls: type) -> Iterator[tuple[type, str, Callable[..., Any]]]:
    for base in _own(cls):
        for key, value in vars(base).items():
            if isinstance(value, (staticmethod, classmethod)):
                value = value.__func__
            for function in (value.fget, value.fset) if isinstance(value, property) else (value,):
                if isinstance(function, types.FunctionType):
                    yield base, key, function


#: The remedy for a table at class level.
FIXED = "a table that never changes may be a tuple, a frozenset or types.MappingProxyType({...})"


def refuse_shared(name: str, where: str, cls: type, seen: set[type], but: tuple[str, ...] = ()) -> None:
    """Refuses values of a class or its bases that can change."""
    if cls in seen:
        return
    seen.add(cls)
    for base in _own(cls):
        for key, value in vars(base).items():
            if _PYTHONS.match(key) or key in but:
                continue
            if isinstance(value, type):
                if value.__module__ == base.__module__ and not issubclass(value, (enum.Enum, BaseException)):
                    refuse_shared(name, f"{where}.{key}", value, seen)
                continue
            words = changeable(value)
            if words is None:
                continue
            shown = f"{where}.{key}" if base is cls else f"{where}.{key}, of its base {base.__qualname__},"
            remedy = (
                f"write @dataclasses.dataclass above the class, or set self.{key} in `start`"
                if isinstance(value, dataclasses.Field)
                else f"set self.{key} in a room's `start` or `__init__`, so that each room has its own; {FIXED}"
            )
            raise SchemeError(
                f"scheme `{name}`: {shown} is {words}{place(base, key)}: all rooms and all runs would share it", remedy, key=key
            )
    for _, key, function in _functions(cls):
        defaults = {
            **dict(zip(reversed(list(inspect.signature(function).parameters)), reversed(function.__defaults__ or ()))),
            **(function.__kwdefaults__ or {}),
        }
        for argument, value in defaults.items():
            words = changeable(value)
            if words is not None:
                raise SchemeError(
                    f"scheme `{name}`: the default of `{argument}` in {where}.{key} is {words}{place(function)}: "
                    "all calls would share it",
                    f"write {argument}=None and make it in the method, or keep it in self",
                    key=key,
                )


def _plain(word: str) -> str:
    return word.replace("_", "").lower()


def refuse_methods(name: str, kind: str, room: type, methods: Mapping[str, int], usual: type) -> None:
    """Refuses methods that are never called, that cannot be called as they are, or whose body would not run."""
    for base in _own(room):
        for key, value in vars(base).items():
            where = f"scheme `{name}`: {kind}.{key}"
            if key in ("p", "site"):
                raise SchemeError(
                    f"{where} hides what the network puts there{place(base, key)}", f"call it otherwise: self.{key} is taken", key=key
                )
            if key in methods:
                refuse_call(where, value, methods[key], base, key, usual)
            elif key.startswith("on_") or (callable(value) and not key.startswith("_") and alike(key, methods)):
                meant = alike(key, methods)
                hint = f"did you mean `{meant}`? " if meant else near(key, list(methods))
                raise SchemeError(
                    f"{where} is a method that nobody calls{place(value)}", f"{hint}there are {', '.join(methods)}", key=key
                )
    init = room.__init__  # type: ignore[misc]
    if isinstance(init, types.FunctionType):
        refuse_call(f"scheme `{name}`: {kind}.__init__", init, 0, room, "__init__", usual)


def alike(key: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant: the same but for case, underscores and a letter or two."""
    import difflib

    known = {_plain(m): m for m in names}
    found = difflib.get_close_matches(_plain(key), list(known), 1, 0.85)
    return known[found[0]] if found else None


def refuse_call(where: str, value: object, count: int, base: type, key: str, usual: type) -> None:
    """A method must take so many arguments beside ``self``, and do its work when it is called."""
    function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
    if not callable(function):
        raise SchemeError(f"{where} is no method but {value!r}{place(base, key)}", f"write def {key}(self, ...)", key=key)
    for test, words in (
        (inspect.isgeneratorfunction, "is a generator: it has a `yield`, so that its body would not run"),
        (inspect.iscoroutinefunction, "is asynchronous, so that its body would not run"),
        (inspect.isasyncgenfunction, "is asynchronous, so that its body would not run"),
    ):
        if test(function):
            raise SchemeError(f"{where} {words}{place(function)}", "write a plain method; a timer wakes it again later", key=key)
    if not isinstance(value, types.FunctionType):
        return
    try:
        inspect.signature(value).bind(*range(count + 1))
    except TypeError as e:
        asked = getattr(usual, key, None)
        wanted = list(inspect.signature(asked).parameters) if isinstance(asked, types.FunctionType) else ["self"]
        raise SchemeError(f"{where} cannot be called: {e}{place(value)}", f"write def {key}({', '.join(wanted)})", key=key) from None


#: Modules whose draws and clocks would change a run each time, and their harmless names.
_UNSURE: dict[str, frozenset[str]] = {
    "random": frozenset({"Random"}),
    "secrets": frozenset(),
    "time": frozenset({"sleep"}),
    "uuid": frozenset({"UUID"}),
    "numpy.random": frozenset({"default_rng", "Generator", "PCG64", "Philox", "RandomState", "SeedSequence"}),
}


def refuse_chance(name: str, where: str, cls: type) -> None:
    """Refuses draws and clocks that are not the network's: the same seed must give the same run."""
    for _, key, function in _functions(cls):
        for code in _codes(function.__code__):
            found = _chance(code, function.__globals__)
            if found is None:
                continue
            module, word, line = found
            raise SchemeError(
                f"scheme `{name}`: {where}.{key} uses {module}.{word} ({code.co_filename}:{line}): "
                "the same seed would not give the same run",
                "take the simulated time `.now` of the queue, limiter or sink"
                if module == "time"
                else "draw with `.uniform()` of the queue, limiter or sink: each has a stream of its own",
                key=key,
            )


def names_used(cls: type) -> set[str]:
    """The names that the methods of a class use."""
    return {name for _, _, function in _functions(cls) for code in _codes(function.__code__) for name in code.co_names}


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _chance(code: types.CodeType, names: Mapping[str, Any]) -> tuple[str, str, int] | None:
    """The first use of chance or of a clock: module, name and line."""
    import dis

    used: object = None
    for step in dis.get_instructions(code):
        module, word = "", ""
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            used = names.get(step.argval)
            module, word = _unsure(used)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(used, types.ModuleType):
            module, word = used.__name__, str(step.argval)
            used = getattr(used, word, None)
        elif step.opname == "IMPORT_NAME" and step.argval in ("random", "secrets"):
            module, word = str(step.argval), "(imported in the method)"
        elif not step.opname.startswith("PUSH"):
            used = None
        if module in _UNSURE and word not in _UNSURE[module]:
            line = step.positions.lineno if step.positions else None
            return module, word, line or code.co_firstlineno
    return None


def _unsure(used: object) -> tuple[str, str]:
    """Module and name of a function that was taken from a module of chance by its own name."""
    if isinstance(used, types.ModuleType) or used is None:
        return "", ""
    word = getattr(used, "__name__", None)
    owner = getattr(used, "__self__", None)
    module = "random" if owner is getattr(sys.modules.get("random"), "_inst", used) else getattr(used, "__module__", None)
    if not isinstance(word, str) or not isinstance(module, str):
        return "", ""
    return (module, word) if module in _UNSURE and callable(used) and not isinstance(used, type) else ("", "")
