# SPDX-License-Identifier: Apache-2.0
"""Points with their labels and pictures, in the files that TensorBoard's projector reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ._images import pixels, png

CONFIG = "projector_config.pbtxt"


def folder_of(step: int, tag: str) -> str:
    """Below the writer's folder."""
    for character in "%/\\":
        tag = tag.replace(character, f"%{ord(character):02x}")
    return f"{step:05}/{tag}"


def _table(path: Path, rows: Any) -> None:
    lines = ("\t".join(map(str, row)) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


def _labels(metadata: Sequence[Any], header: Sequence[str] | None) -> list[Sequence[Any]]:
    if not header:
        return [[label] for label in metadata]
    for row in metadata[:1]:
        if len(row) != len(header):
            raise ValueError(
                f"add_embedding: metadata_header has {len(header)} names, wanted one "
                f"for each of the {len(row)} columns of metadata"
            )
    return [header, *metadata]


def _sprite(images: np.ndarray) -> np.ndarray:
    """The images in rows of as many as there are rows, at the top of a square."""
    side = math.ceil(math.sqrt(len(images)))
    each = [np.broadcast_to(x, (*x.shape[:2], 3)) for x in (pixels(i, "CHW") for i in images)]
    height, width, _ = each[0].shape
    size = side * max(height, width)
    result = np.zeros((size, size, 3), np.uint8)
    for i, image in enumerate(each):
        top, left = i // side * height, i % side * width
        result[top : top + height, left : left + width] = image
    return result


def write(
    top: str,
    folder: str,
    points: Any,
    metadata: Sequence[Any] | None,
    images: Any,
    header: Sequence[str] | None,
) -> dict[str, Any]:
    """Writes the files; returns what the projector's configuration says of them."""
    if points.ndim != 2:
        raise ValueError(
            f"add_embedding: mat has {points.ndim} dimensions, wanted 2: a row for each point"
        )
    for name, item in (("metadata", metadata), ("label_img", images)):
        if item is not None and len(item) != len(points):
            raise ValueError(
                f"add_embedding: {name} has {len(item)} entries, wanted one for each "
                f"of {len(points)} points"
            )
    labels = None if metadata is None else _labels(metadata, header)
    there = Path(top, folder)
    there.mkdir(parents=True, exist_ok=True)
    _table(there / "tensors.tsv", points.tolist())
    said: dict[str, Any] = {"tensor_path": f"{folder}/tensors.tsv"}
    if labels is not None:
        _table(there / "metadata.tsv", labels)
        said["metadata_path"] = f"{folder}/metadata.tsv"
    if images is not None:
        (there / "sprite.png").write_bytes(png(_sprite(images)))
        said["sprite"] = {
            "image_path": f"{folder}/sprite.png",
            "single_image_dim": [images.shape[3], images.shape[2]],
        }
    return said
