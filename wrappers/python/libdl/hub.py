# SPDX-License-Identifier: Apache-2.0
"""Where programs look for pretrained states. Nothing is fetched from the network here."""

from __future__ import annotations

import builtins
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlparse as urlparse

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # in a file's name: resnet18-bfd8deac.pth
_DIR: list[str] = []


def _get_torch_home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return str(Path(os.environ.get("TORCH_HOME", f"{cache}/torch")).expanduser())


def get_dir() -> str:
    """The folder that set_dir named, or $TORCH_HOME/hub, or ~/.cache/torch/hub, as in PyTorch."""
    return _DIR[0] if _DIR else str(Path(_get_torch_home()) / "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Names the folder that get_dir returns."""
    _DIR[:] = [str(Path(d).expanduser())]


# -- hubconf.py of a folder ------------------------------------------------------------------------


@contextmanager
def _entries(name: str, folder: str) -> Iterator[Any]:
    """The module that hubconf.py of the folder defines; meanwhile it can import from there."""
    path = Path(folder).expanduser() / "hubconf.py"
    if not path.is_file():
        raise NotImplementedError(
            f"{name}: {folder!r} is no folder with a hubconf.py, and nothing is "
            "fetched from the network: fetch the repository yourself, and name its "
            "folder"
        )
    spec = importlib.util.spec_from_file_location("hubconf", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(path.parent))


def _entry(module: Any, name: str, model: Any) -> Any:
    if not isinstance(model, str):
        raise ValueError(
            f"{name}: argument 2 (model) is {model!r}, wanted the name of an entry point"
        )
    needed = getattr(module, "dependencies", None) or ()
    absent = [n for n in needed if n not in sys.modules and importlib.util.find_spec(n) is None]
    if absent:
        raise RuntimeError(
            f"{name}: {module.__file__} depends on {', '.join(absent)}, which cannot be found"
        )
    attribute = getattr(module, model, None)
    if not callable(attribute):
        raise RuntimeError(f"{name}: {module.__file__} has no entry point {model!r}")
    return attribute


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: bool | str | None = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """model(*args, **kwargs) of the hubconf.py in a folder, with source="local": its code is run.

    Raises NotImplementedError for source="github": nothing is fetched from the network. The
    arguments that tell how to fetch change nothing."""
    if source not in ("github", "local"):
        raise ValueError(f'hub.load: source is {source!r}, wanted "github" or "local"')
    if source == "github":
        raise NotImplementedError(
            f"hub.load: {model!r} of {repo_or_dir!r} would be code fetched from the "
            "network, which libdl does not run: fetch the repository yourself, and "
            'name its folder with source="local"'
        )
    with _entries("hub.load", repo_or_dir) as module:
        return _entry(module, "hub.load", model)(*args, **kwargs)


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: bool | str | None = "check",
    verbose: bool = True,
) -> builtins.list[str]:
    """The names of the entry points in the hubconf.py of a folder. The other arguments change
    nothing.

    Raises NotImplementedError for a repository, which would have to be fetched."""
    with _entries("hub.list", github) as module:
        return [n for n in dir(module) if callable(getattr(module, n)) and not n.startswith("_")]


def help(
    github: str,
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: bool | str | None = "check",
) -> str | None:
    """The docstring of an entry point in the hubconf.py of a folder. The other arguments change
    nothing.

    Raises NotImplementedError for a repository, which would have to be fetched."""
    with _entries("hub.help", github) as module:
        text: str | None = _entry(module, "hub.help", model).__doc__
        return text


# -- files -----------------------------------------------------------------------------------------


def load_state_dict_from_url(
    url: str,
    model_dir: str | os.PathLike[str] | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> dict[str, Any]:
    """Loads the file of the URL's name, or file_name, that lies in model_dir, or
    get_dir()/checkpoints.

    Raises NotImplementedError where it does not: fetch it to there. The other arguments change
    nothing."""
    folder = Path(model_dir) if model_dir is not None else Path(get_dir()) / "checkpoints"
    path = folder / (file_name or Path(urlparse(url).path).name)
    if not path.exists():
        raise NotImplementedError(
            f"hub.load_state_dict_from_url: nothing is fetched from {url}: "
            f"fetch the file yourself, to {path}"
        )
    from .serialization import load as load_file

    loaded: dict[str, Any] = load_file(path, map_location=map_location)
    return loaded


def download_url_to_file(url: str, dst: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises: nothing is fetched."""
    raise NotImplementedError(
        f"hub.download_url_to_file: nothing is fetched from {url}: fetch the "
        f"file yourself, to {dst}"
    )
