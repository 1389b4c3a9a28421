# SPDX-License-Identifier: Apache-2.0
"""Plugins: shared libraries that bring devices or kernels (docs/plugins.md)."""

from __future__ import annotations

import os

from .. import _C

__all__ = ["load_plugin", "set_provider_enabled"]


def load_plugin(library: str | os.PathLike[str]) -> None:
    """Opens a plugin: its device can then be used by its name, its kernels are used from the next
    call on.

    library  a path; a name without a slash is looked for beside libdl's own library, then where the
             system looks

    Loading it again does nothing, and a plugin is never unloaded. Its code may do all that the
    process may.

    Raises RuntimeError if it cannot be opened, is no plugin, was made for another build of libdl,
    or brings a device whose number or name is taken.
    """
    _C.plugin_open(os.fspath(library))


def set_provider_enabled(name: str, enabled: bool = True) -> None:
    """Whether the kernels of a plugin's provider are used; what it does not do, the device's own
    kernels do. At first they are, unless the environment's LIBDL_DISABLE names the provider.

    Raises ValueError for a name that no loaded plugin brings.
    """
    _C.provider_set_enabled(name, enabled)
