# SPDX-License-Identifier: Apache-2.0
"""Arrays as PNG files, which is how event files hold images."""

from __future__ import annotations

import struct
import zlib

import numpy as np


def png(pixels: np.ndarray) -> bytes:
    """uint8 pixels [height, width, channels], of 1, 3 or 4 channels, as a PNG file (RFC 2083)."""
    height, width, channels = pixels.shape
    colour = {1: 0, 3: 2, 4: 6}[channels]

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    lines = b"".join(b"\0" + line.tobytes() for line in pixels)  # 0: a line without a filter
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    image = chunk(b"IDAT", zlib.compress(lines))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + image + chunk(b"IEND", b"")


def pixels(image: np.ndarray, dataformats: str) -> np.ndarray:
    """uint8 [height, width, channels] of an image whose dimensions dataformats names."""
    order = dataformats.upper()
    if sorted(order) not in (sorted("HWC"), sorted("HW")) or len(order) != image.ndim:
        raise ValueError(
            f"add_image: dataformats must name the {image.ndim} dimensions of img with H, W and C, "
            f"found {dataformats!r}"
        )
    if order in ("HW", "WH"):
        image, order = image[..., None], order + "C"
    image = image.transpose([order.index(name) for name in "HWC"])
    if image.shape[2] not in (1, 3, 4):
        raise ValueError(f"add_image: img must have 1, 3 or 4 channels, found {image.shape[2]}")
    if image.dtype != np.uint8:  # floating images lie between 0 and 1
        image = np.clip(image * 255.0, 0, 255).astype(np.uint8)
    return image


def grid(images: np.ndarray) -> np.ndarray:
    """[count, height, width, channels] as one image: rows of at most eight."""
    count, height, width, channels = images.shape
    columns = min(count, 8)
    rows = -(-count // columns)
    result = np.zeros((rows * height, columns * width, channels), images.dtype)
    for i, image in enumerate(images):
        top, left = i // columns * height, i % columns * width
        result[top : top + height, left : left + width] = image
    return result
