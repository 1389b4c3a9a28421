# SPDX-License-Identifier: Apache-2.0
"""python -m libdl.as_torch script.py ..., or -m module ...: the program of `python script.py ...`.

argv, __main__, sys.path[0], exit status, tracebacks and Ctrl-C are those of Python itself."""

from __future__ import annotations

import builtins
import io
import os
import runpy
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType, TracebackType

from libdl.as_torch import install

_USAGE = "usage: python -m libdl.as_torch (script.py | -m module) [argument ...]"


def main() -> None:
    given = sys.argv[1:]
    if not given or given[0] in ("-h", "--help") or given == ["-m"]:
        print(_USAGE, file=sys.stdout if given and given[0] != "-m" else sys.stderr)
        sys.exit(0 if given and given[0] != "-m" else 2)
    install()
    _hide_own_frames()
    if given[0] == "-m":
        sys.argv = given[1:]
        runpy.run_module(given[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = given
    _run(given[0])


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
    module = ModuleType("__main__")
    module.__dict__.update(
        __file__=path, __cached__=None, __builtins__=builtins,
        __loader__=SourceFileLoader("__main__", path),
    )  # fmt: skip
    if sys.version_info < (3, 14):  # since then a module makes them when they are asked for
        module.__dict__["__annotations__"] = {}
    sys.modules["__main__"] = module
    exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)


def _hide_own_frames() -> None:
    """Tracebacks begin in the program, as if Python had started it."""
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        inside = trace
        while inside and inside.tb_frame.f_code.co_filename in _OWN:
            inside = inside.tb_next
        # Nothing of the program is left of a SyntaxError in it, nor does Python show more there.
        if inside is not None or isinstance(error, SyntaxError):
            error.__traceback__ = inside
            trace = inside
        shown(kind, error, trace)

    sys.excepthook = show


_OWN = (__file__, runpy.__file__, "<frozen runpy>")

if __name__ == "__main__":
    main()
