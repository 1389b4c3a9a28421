# SPDX-License-Identifier: Apache-2.0
"""Writes the handwritten digits to a safetensors file: python tools/setup/digits.py PATH

The images are read out of scikit-learn's wheel without installing it. A file that is already
there and whole is left alone. Standard library only.
"""

import csv
import gzip
import hashlib
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile
from array import array

MEMBER = "sklearn/datasets/data/digits.csv.gz"
COUNT = 1797
PIXELS = 64
# Of the file as written: every machine trains on the same bytes.
SHA256 = "062de77301187c101c7bb9b1d2eee20db51b0a68186ba6400398da6728a76469"
SOURCE = {
    "source": "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI Machine "
    "Learning Repository, doi:10.24432/C50P49; the test set, as scikit-learn distributes it",
    "license": "CC BY 4.0",
    "changes": "pixel values divided by 16",
}


def download(folder: str) -> bytes:
    """The compressed table: a row an image, 64 pixels from 0 to 16 and the digit."""
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        + ["--no-deps", "--only-binary", ":all:", "--dest", folder, "scikit-learn>=1.4"],
        check=True,
    )
    (wheel,) = pathlib.Path(folder).glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(MEMBER)


def encode(table: bytes) -> bytes:
    images = array("f")
    labels = array("q")
    for row in csv.reader(io.StringIO(gzip.decompress(table).decode("ascii"))):
        numbers = [float(field) for field in row]
        images.extend(pixel / 16.0 for pixel in numbers[:PIXELS])  # exact in binary
        labels.append(int(numbers[PIXELS]))
    if len(labels) != COUNT or len(images) != COUNT * PIXELS:
        raise SystemExit(f"digits: found {len(labels)} images, expected {COUNT}")
    if min(images) < 0 or max(images) > 1 or set(labels) != set(range(10)):
        raise SystemExit("digits: values out of range")
    split = len(images) * images.itemsize
    header = {
        "__metadata__": SOURCE,
        # Offsets of 8-byte values are multiples of 8, so that readers may map the file.
        "images": {"dtype": "F32", "shape": [COUNT, PIXELS], "data_offsets": [0, split]},
        "labels": {
            "dtype": "I64",
            "shape": [COUNT],
            "data_offsets": [split, split + len(labels) * labels.itemsize],
        },
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + images.tobytes() + labels.tobytes()


def main() -> None:
    path = pathlib.Path(sys.argv[1])
    if path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == SHA256:
        return
    print(f"setup: the handwritten digits into {path}")
    with tempfile.TemporaryDirectory() as folder:
        content = encode(download(folder))
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256:
        raise SystemExit(f"digits: the file's SHA-256 would be {digest}, expected {SHA256}")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(content)
    os.replace(part, path)


if __name__ == "__main__":
    main()
