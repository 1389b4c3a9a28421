# SPDX-License-Identifier: Apache-2.0
"""What to say about a name that does not exist."""

from __future__ import annotations

import difflib


def explain(name: str) -> str:
    import libdl

    text = f"module 'libdl' has no attribute {name!r}"
    known = [found for found in dir(libdl) if not found.startswith("_")]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    near += [found for found in known if found not in near and len(found) > 2
             and (found in name or name in found)][: 3 - len(near)]  # fmt: skip
    for module, names in _elsewhere():
        if name in names:
            return f"{text}; it is in {module}"
    return f"{text}; near it: {', '.join(near)}" if near else text


def _elsewhere() -> list[tuple[str, list[str]]]:
    import libdl

    return [
        ("libdl.nn", dir(libdl.nn)),
        ("libdl.nn.functional", dir(libdl.nn.functional)),
        ("libdl.optim", dir(libdl.optim)),
        ("libdl.autograd", dir(libdl.autograd)),
    ]
