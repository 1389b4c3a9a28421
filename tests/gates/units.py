# SPDX-License-Identifier: Apache-2.0
"""The units of a build: one of the core is several sources of a folder (cmake: LIBDL_UNITY)."""

from __future__ import annotations

import json
import pathlib
import re


def entries(build: pathlib.Path) -> list[dict[str, str]]:
    """How each unit is compiled, with the working folder and the file that the compiler reads."""
    return json.loads((build / "compile_commands.json").read_text())


def sources(entry: dict[str, str]) -> list[str]:
    """The paths of a unit's sources: what CMake unites is a file that includes them."""
    if "/Unity/" not in entry["file"]:
        return [entry["file"]]
    text = pathlib.Path(entry["file"]).read_text()
    return re.findall(r'^#include "(.*)"$', text, re.MULTILINE)
