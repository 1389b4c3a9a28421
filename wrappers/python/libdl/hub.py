# SPDX-License-Identifier: Apache-2.0
"""Where programs look for pretrained states. Nothing is fetched from the network here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NoReturn

_DIR: list[str] = []


def get_dir() -> str:
    """The folder that set_dir named, or $TORCH_HOME/hub, or ~/.cache/torch/hub, as in PyTorch."""
    if _DIR:
        return _DIR[0]
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return str(Path(os.environ.get("TORCH_HOME", f"{cache}/torch")).expanduser() / "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Names the folder that get_dir returns."""
    _DIR[:] = [str(Path(d).expanduser())]


def load(repo_or_dir: str, model: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises: the code of another repository is not fetched and run."""
    raise NotImplementedError(f"hub.load: {model!r} of {repo_or_dir!r} would be code fetched from the "
                              "network, which libdl does not run: import the model's code instead")  # fmt: skip


def load_state_dict_from_url(url: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises: fetch the file, then libdl.load it."""
    raise NotImplementedError(f"hub.load_state_dict_from_url: nothing is fetched from {url}: "
                              "fetch the file yourself, then libdl.load it")  # fmt: skip


def download_url_to_file(url: str, dst: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises: nothing is fetched."""
    raise NotImplementedError(f"hub.download_url_to_file: nothing is fetched from {url}: fetch the "
                              f"file yourself, to {dst}")  # fmt: skip


import typing as _typing  # noqa: E402

from ._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)
