# SPDX-License-Identifier: Apache-2.0
"""Processes of PyTorch's launcher, which is not offered."""

from ...._named_only import NamedOnly, refusing

_REASON = "there is no launcher of processes; see libdl.multiprocessing"
_PATH = "distributed.elastic.multiprocessing"
start_processes = refusing(f"{_PATH}.start_processes", _REASON)


class PContext(NamedOnly, path=f"{_PATH}.PContext", reason=_REASON):
    """A name for annotations."""


class DefaultLogsSpecs(NamedOnly, path=f"{_PATH}.DefaultLogsSpecs", reason=_REASON):
    """A name for annotations."""
