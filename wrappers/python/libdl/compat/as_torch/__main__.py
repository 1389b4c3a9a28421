# SPDX-License-Identifier: Apache-2.0
"""python -m libdl.as_torch script.py ..., or -c command ..., -m module ..., - ...: the program that
`python` with the same arguments runs.

argv, __main__, sys.path[0], exit status, tracebacks and Ctrl-C are those of Python itself."""

from __future__ import annotations

import builtins
import code
import io
import os
import runpy
import sys
from importlib.machinery import BuiltinImporter, SourceFileLoader
from types import ModuleType, TracebackType
from typing import Any, NoReturn

from . import install

_USAGE = "usage: python -m libdl.as_torch (script.py | -c command | -m module | -) [argument ...]"


def main() -> None:
    value = sys.argv[1:]
    if value and value[0] in ("-h", "--help"):
        print(_USAGE)
        sys.exit(0)
    if value and value[0][:2] in ("-c", "-m") and value[0][2:]:  # as in -c"print(1)"
        value[:1] = [value[0][:2], value[0][2:]]
    if not value or value in (["-c"], ["-m"]):
        _refuse(f"Argument expected for the {value[0]} option" if value else "")
    if value[0].startswith("-") and value[0] not in ("-", "-c", "-m"):
        _refuse(f"Unknown option: {value[0]}")
    install()
    _hide_own_frames()
    if value[0] == "-m":
        _run_module(value[1], value[2:])
    elif value[0] == "-c":
        sys.argv = ["-c", *value[2:]]
        _run_text(value[1], "<string>")
    elif value[0] == "-":
        sys.argv = value
        _run_input()
    else:
        sys.argv = value
        _run(value[0])


def _refuse(text: str) -> NoReturn:
    print(*filter(None, (text, _USAGE)), sep="\n", file=sys.stderr)
    sys.exit(2)


def _fresh_main(loader: Any) -> ModuleType:
    """__main__ as a program finds it."""
    module = ModuleType("__main__")
    module.__dict__.update(__builtins__=builtins, __loader__=loader)
    if sys.version_info < (3, 14):  # since then a module makes them when they are asked for
        module.__dict__["__annotations__"] = {}
    sys.modules["__main__"] = module
    return module


def _run_module(name: str, arguments: list[str]) -> None:
    """`python -m`, by the function with which Python itself starts a module."""
    sys.argv = ["-m", *arguments]
    _fresh_main(BuiltinImporter)
    runpy._run_module_as_main(name)  # type: ignore[attr-defined]


def _run_text(source: str | bytes, shown: str, **names: Any) -> None:
    """A program that is no file: the working directory stands first on the path."""
    if not sys.flags.safe_path:
        sys.path[0] = ""
    module = _fresh_main(BuiltinImporter)
    module.__dict__.update(names)
    exec(compile(source, shown, "exec", dont_inherit=True), module.__dict__)


def _run_input() -> None:
    if not sys.stdin.isatty():
        _run_text(sys.stdin.buffer.read(), "<stdin>", __file__="<stdin>", __cached__=None)
        return
    if not sys.flags.safe_path:
        sys.path[0] = ""
    code.interact(local=_fresh_main(BuiltinImporter).__dict__, exitmsg="")


def _run(script: str) -> None:
    path = os.path.abspath(script)
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        sys.path[:] = sys.path if sys.flags.safe_path else sys.path[1:]
        runpy.run_path(path, run_name="__main__")
        return
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        reason = f"[Errno {error.errno}] {error.strerror}"
        print(f"{sys.executable}: can't open file {path!r}: {reason}", file=sys.stderr)
        sys.exit(2)
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    module = _fresh_main(SourceFileLoader("__main__", path))
    module.__dict__.update(__file__=path, __cached__=None)
    exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)


def _hide_own_frames() -> None:
    """Tracebacks begin in the program, as if Python had started it."""
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        inside = frame = trace
        while frame and frame.tb_frame.f_code.co_filename in _OWN:
            if frame.tb_frame.f_code.co_filename == __file__:  # behind it -m has runpy's once more
                inside = frame.tb_next
            frame = frame.tb_next
        # Nothing of the program is left of a SyntaxError in it, nor does Python show more there.
        if inside is not None or isinstance(error, SyntaxError):
            error.__traceback__ = inside
            trace = inside
        shown(kind, error, trace)

    sys.excepthook = show


_OWN = (__file__, runpy.__file__, "<frozen runpy>")

if __name__ == "__main__":
    main()
