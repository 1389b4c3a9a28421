# SPDX-License-Identifier: Apache-2.0
"""The licence texts that every Debian has, as numbers for models of text."""

from pathlib import Path

import libdl
from libdl import Tensor

FOLDER = Path("/usr/share/common-licenses")


class Text:
    """Characters as numbers; the last tenth is held out."""

    def __init__(
        self, names: tuple[str, ...] = ("GPL-2", "GPL-3", "LGPL-2.1", "Apache-2.0")
    ) -> None:
        found = [FOLDER / name for name in names if (FOLDER / name).exists()]
        if not found:
            raise SystemExit(f"{FOLDER} has none of {', '.join(names)}")
        text = "\n".join(path.read_text() for path in found)
        self.characters = sorted(set(text))
        self.number = {c: i for i, c in enumerate(self.characters)}
        all_of_it = libdl.tensor([self.number[c] for c in text])
        cut = len(all_of_it) * 9 // 10
        self.train, self.held_out = all_of_it[:cut], all_of_it[cut:]

    def __len__(self) -> int:
        return len(self.characters)

    def batch(self, part: Tensor, count: int, length: int) -> tuple[Tensor, Tensor]:
        """Pieces from anywhere in the text, and the same one character later: [count, length]."""
        first = libdl.randint(0, len(part) - length - 1, (count, 1))
        at = first + libdl.arange(length)
        return part[at], part[at + 1]

    def encode(self, text: str) -> Tensor:
        return libdl.tensor([self.number[c] for c in text])

    def decode(self, numbers: Tensor) -> str:
        return "".join(self.characters[i] for i in numbers.tolist())
