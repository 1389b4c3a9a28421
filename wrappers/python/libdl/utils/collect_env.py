# SPDX-License-Identifier: Apache-2.0
"""Versions and machine, for a bug report."""

from __future__ import annotations

from ..__config__ import config


def get_pretty_env_info() -> str:
    """The text of `python -m libdl`."""
    return config()


def main() -> None:
    """Prints it."""
    print(config())


if __name__ == "__main__":
    main()
