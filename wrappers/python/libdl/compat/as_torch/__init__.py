# SPDX-License-Identifier: Apache-2.0
"""`import torch` answered with libdl.

python -m libdl.as_torch script.py runs a PyTorch program untouched. A program of one's own calls
install() before its first `import torch`. Every torch.x is the module libdl.x itself, not a copy:
isinstance, pickling and assignments to modules mean the same under both names."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from multiprocessing import spawn
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from .. import version
from .._package_name import show_as
from ..torch_version import FOLLOWED

__all__ = ["install"]

# Packages that are compiled against PyTorch: beside libdl, their libraries cannot be loaded, so
# that they count as not installed. (torchvision can do without, see ops.load_library.)
_COMPILED = (
    "pyg_lib",
    "torch_cluster",
    "torch_scatter",
    "torch_sparse",
    "torch_spline_conv",
    "torch_xla",
    "torchao",
    "torchaudio",
    "torchtext",
)


# Modules like multiprocessing.spawn, by which others start processes that import anew.
_SPAWN = ("joblib.externals.loky.backend.spawn", "loky.backend.spawn")


def _own_name(name: str) -> str | None:
    """The module of libdl that answers for this name of PyTorch."""
    if name == "functorch":  # which PyTorch brings with it
        return "libdl._functorch._package"
    return "libdl" + name[5:] if name == "torch" or name.startswith("torch.") else None


def _package() -> ModuleType:
    return sys.modules["libdl"]


class _Alias(Loader):
    """Loads torch.x: it is libdl.x, imported under its own name."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        own = importlib.import_module(str(_own_name(spec.name)))
        self._spec = own.__spec__
        return own

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has just put torch's there
        _show_as_torch()

    def get_code(self, fullname: str) -> Any:
        """For `python -m torch.x`."""
        own = _found(str(_own_name(fullname)))
        loader: Any = own.loader if own else None
        return loader.get_code(own.name) if own else None


def _show_as_torch() -> None:
    """Gives modules and classes the names that programs compare with: torch.nn, not libdl.nn.
    Both names lead to the one module."""
    for name in [name for name in sys.modules if name == "libdl" or name.startswith("libdl.")]:
        module, shown = sys.modules[name], "torch" + name[5:]
        if name in _shown or name.startswith("libdl.as_torch"):
            continue
        if getattr(module.__spec__, "_initializing", False):
            continue  # its classes come later
        _shown.add(name)
        sys.modules.setdefault(shown, module)
        if "._C" not in name:
            module.__name__ = shown
        for value in list(vars(module).values()):
            if isinstance(value, type) and getattr(value, "__module__", None) in (name, "libdl"):
                value.__module__ = "torch" + value.__module__[5:]


_shown: set[str] = set()


class _WithoutCompiled(PathFinder):
    """Finds what lies on the path, except for what would not load."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = super().find_spec(fullname, path, target)
        if found is not None and fullname in _COMPILED and _has_library(found):
            return None
        return found


class _Finder(MetaPathFinder):
    """Answers for torch and all below it, so that a PyTorch installed beside is never found."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        own = _own_name(fullname)
        if own is not None:
            found = _found(own)
            if found is None:
                return None  # as for any absent module: programs ask find_spec what there is
            package = found.submodule_search_locations is not None
            return ModuleSpec(fullname, _Alias(), origin=found.origin, is_package=package)
        if fullname in _SPAWN:
            return _followed(PathFinder.find_spec(fullname, path))
        return None

    def find_distributions(self, context: Any = None) -> list[Any]:
        """The package torch for importlib.metadata: of the version that torch.__version__ tells."""
        if getattr(context, "name", None) != "torch":
            return []
        from importlib.metadata import Distribution

        class Package(Distribution):
            def read_text(self, filename: str) -> str | None:
                told = f"Metadata-Version: 2.1\nName: torch\nVersion: {_package().__version__}\n"
                return told if filename == "METADATA" else None

            def locate_file(self, path: Any) -> Any:
                return Path(str(_package().__file__)).parent / path

        return [Package()]


def _found(own: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(own)
    except ModuleNotFoundError:  # of a parent
        return None


def _has_library(spec: ModuleSpec) -> bool:
    folders = spec.submodule_search_locations or []
    return any(next(Path(folder).rglob("*.so"), None) is not None for folder in folders)


def explain(error: ImportError) -> str | None:
    """Which name libdl does not have and what exists instead; None if it is no name of libdl."""
    if isinstance(error, ModuleNotFoundError):
        own = _own_name(error.name or "")
        if error.name in _COMPILED and PathFinder.find_spec(error.name) is not None:
            return (
                f"{error.name} is compiled against PyTorch, and torch is libdl here: it cannot be "
                "loaded"
            )
        return None if own is None else f"torch is libdl here: {_explain_module(own)}"
    # Python 3.11 keeps the name only in the text: cannot import name 'x' from 'm'
    words = str(error).split("'")
    if error.name is None or error.name.split(".")[0] not in ("libdl", "torch") or len(words) < 3:
        return None
    try:
        getattr(importlib.import_module(error.name), words[1])
    except (AttributeError, ImportError) as reason:
        return f"torch is libdl here: {reason}"
    return None


def _explain_module(own: str) -> str:
    parent, _, last = own.rpartition(".")
    while _found(parent) is None:
        parent, _, last = parent.rpartition(".")
    path = getattr(importlib.import_module(parent), "__path__", [])
    known = [found.name for found in pkgutil.iter_modules(path) if not found.name.startswith("_")]
    near = difflib.get_close_matches(last, known, n=3)
    if near:
        return f"there is no module {parent}.{last}; near it: {', '.join(near)}"
    if 0 < len(known) <= 8:
        return f"there is no module {parent}.{last}; {parent} has {', '.join(known)}"
    return f"there is no module {parent}.{last}; docs/coming-from-pytorch.md lists what is missing"


class _Installed:
    """Pickled, it is a call of install()."""

    def __reduce__(self) -> Any:
        return install, ()


def _install_in_spawned(module: Any) -> None:
    """A process that such a module spawns imports the program anew: there, too, torch is libdl.

    It reads what its parent prepared before it imports anything, and ignores keys unknown to it."""
    prepare = module.get_preparation_data

    def with_hook(name: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
        prepared = {**prepare(name, *args, **kwargs), "libdl": _Installed()}
        if name == "ignore":
            # Of the fork server, which reads only keys that it knows, and imports the program
            # itself since Python 3.14: without its path it leaves that to its processes.
            prepared.pop("init_main_from_path", None)
        return prepared

    module.get_preparation_data = with_hook


def _followed(spec: ModuleSpec | None) -> ModuleSpec | None:
    """The module's spec, by which processes that it spawns have the hook as well."""
    loader: Any = None if spec is None else spec.loader
    if loader is not None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            _install_in_spawned(module)

        loader.exec_module = exec_module
    return spec


def _follow_version() -> None:
    """Programs that want PyTorch 2 ask __version__, which cannot be 0.1.0 then."""
    _package().__version__ = version.__version__ = FOLLOWED  # type: ignore[attr-defined]


def install() -> None:
    """From here on, `import torch` and its submodules are answered with libdl.

    `torch.__version__`, and so `libdl.__version__`, is the version of PyTorch's interface that is
    followed, with libdl's own behind it, "2.15.0+libdl.0.1.0"; `version.libdl` stays "0.1.0". What
    is printed says torch.float32, and classes and modules name torch as their place.

    A second call changes nothing. Raises ImportError if PyTorch itself was imported before."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if "torch" in sys.modules:
        raise ImportError("libdl.as_torch: PyTorch itself was imported before install()")
    sys.meta_path[:] = [_WithoutCompiled if f is PathFinder else f for f in sys.meta_path]
    sys.meta_path.insert(0, _Finder())
    _follow_version()
    show_as("torch")
    _show_as_torch()
    for module in (spawn, *(sys.modules[name] for name in _SPAWN if name in sys.modules)):
        _install_in_spawned(module)
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
        if isinstance(error, ImportError) and (text := explain(error)):
            error.add_note(text)
        shown(kind, error, trace)

    sys.excepthook = show
