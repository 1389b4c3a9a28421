# SPDX-License-Identifier: Apache-2.0
"""safetensors files between libdl and the package of that name, both ways, for every dtype that
both have. The C test program is libdl's side."""

import ctypes
import os
import pathlib
import subprocess

import pytest
import safetensors

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = ROOT / os.environ.get("BUILD", "build") / "tests" / "capi" / "capi_safetensors"

SIZES = {
    "bool": 1,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
}
NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
}


def run(*arguments: object) -> str:
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def serialized(dtype: str, tensors: dict[str, tuple[list[int], bytes]]) -> bytes:
    """The package's own bytes. Its raw interface knows dtypes that NumPy lacks, and has changed."""
    metadata = {"k": 'v"'}
    buffers = {name: ctypes.create_string_buffer(data) for name, (_, data) in tensors.items()}
    if hasattr(safetensors, "TensorSpec"):
        specs = {
            name: safetensors.TensorSpec(
                dtype=dtype,
                shape=shape,
                data_ptr=ctypes.addressof(buffers[name]),
                data_len=len(data),
            )
            for name, (shape, data) in tensors.items()
        }
    else:
        specs = {
            name: {"dtype": dtype, "shape": shape, "data": data}
            for name, (shape, data) in tensors.items()
        }
    return bytes(safetensors.serialize(specs, metadata=metadata))


def test_the_package_reads_what_libdl_writes(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "libdl.safetensors"
    run("write", path)
    found = dict(safetensors.deserialize(path.read_bytes()))
    assert {name: entry["dtype"] for name, entry in found.items()} == NAMES
    for name, entry in found.items():
        count = 6 * SIZES[name]
        wanted = [i % 2 for i in range(6)] if name == "bool" else range(count)
        assert entry["shape"] == [2, 3]
        assert bytes(entry["data"]) == bytes(wanted)
    with safetensors.safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
        assert metadata.pop("libdl.crc32").startswith("CRC-32 of the header and of each tensor: ")
        assert metadata == {"written by": "libdl"}


@pytest.mark.parametrize("name", SIZES)
def test_libdl_reads_what_the_package_writes(tmp_path: pathlib.Path, name: str) -> None:
    size = SIZES[name]
    tensors = {
        "empty": ([0, 3], b""),
        "scalar ä": ([], bytes([1] * size)),
        "x": ([2, 2], bytes([1] * (4 * size))),
    }
    path = tmp_path / "package.safetensors"
    path.write_bytes(serialized(name, tensors))
    lines = run("read", path).splitlines()
    assert sorted(lines) == sorted(
        [
            f"empty {name} 0x3 ",
            f"scalar ä {name} " + "01" * size,
            f"x {name} 2x2 " + "01" * (4 * size),
        ]
    )
