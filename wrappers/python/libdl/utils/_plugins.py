# SPDX-License-Identifier: Apache-2.0
"""Plugins: shared libraries that bring devices or kernels (docs/plugins.md)."""

from __future__ import annotations

import os

from .. import _C

__all__ = ["load_plugin", "set_provider_enabled"]


def load_plugin(library: str | os.PathLike[str]) -> None:
    """Opens a plugin: its device can then be used by name, its kernels from the next call on.

    library  a path; a name without a slash is searched beside libdl's own library, then on the
             system's search path

    Loading a plugin again has no effect, and it is never unloaded. Its code runs with all rights of
    the process.

    Raises RuntimeError if it cannot be opened, is not a plugin, was made for another build of
    libdl, or brings a device whose number or name is already in use.
    """
    _C.plugin_open(os.fspath(library))


def set_provider_enabled(name: str, enabled: bool = True) -> None:
    """Sets whether a provider is used; the device's own kernels do the rest. By default it is,
    unless the environment variable LIBDL_DISABLE names it.

    name  a loaded plugin's provider, or "winograd", the library's own for convolutions

    Raises ValueError if there is no provider of that name.
    """
    _C.provider_set_enabled(name, enabled)
