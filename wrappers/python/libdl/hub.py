# SPDX-License-Identifier: Apache-2.0
"""Where programs look for pretrained states. Nothing is fetched from the network here."""

from __future__ import annotations

import os
import re
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


def load(repo_or_dir: str, model: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises: the code of another repository is not fetched and run."""
    raise NotImplementedError(f"hub.load: {model!r} of {repo_or_dir!r} would be code fetched from the "
                              "network, which libdl does not run: import the model's code instead")  # fmt: skip


def load_state_dict_from_url(
    url: str, model_dir: str | os.PathLike[str] | None = None, map_location: Any = None,
    progress: bool = True, check_hash: bool = False, file_name: str | None = None,
    weights_only: bool = True,
) -> Any:  # fmt: skip
    """Loads the file of the URL's name, or file_name, that lies in model_dir, or get_dir()/checkpoints.

    Raises NotImplementedError where it does not: fetch it to there. The other arguments change
    nothing."""
    folder = Path(model_dir) if model_dir is not None else Path(get_dir()) / "checkpoints"
    path = folder / (file_name or Path(urlparse(url).path).name)
    if not path.exists():
        raise NotImplementedError(f"hub.load_state_dict_from_url: nothing is fetched from {url}: "
                                  f"fetch the file yourself, to {path}")  # fmt: skip
    from .serialization import load as load_file

    return load_file(path, map_location=map_location)


def download_url_to_file(url: str, dst: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises: nothing is fetched."""
    raise NotImplementedError(f"hub.download_url_to_file: nothing is fetched from {url}: fetch the "
                              f"file yourself, to {dst}")  # fmt: skip


import typing as _typing  # noqa: E402

from ._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)
