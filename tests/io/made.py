# SPDX-License-Identifier: Apache-2.0
"""Checkpoints made by hand, and what tests of files compare."""

import io
import struct
import sys
from pathlib import Path

import libdl
import pytest

sys.path.append(str(Path(__file__).parent))
import mutations  # noqa: E402


def same(found, wanted, at="the object", geometry=True):
    """Types, order, geometry and every bit."""
    assert type(found) is type(wanted), at
    if isinstance(wanted, libdl.Tensor):
        for name in ("dtype", "shape", "layout"):
            assert getattr(found, name) == getattr(wanted, name), at
        assert found.requires_grad == wanted.requires_grad, at
        assert found.__dict__ == wanted.__dict__, at
        # Here a conjugate is a copy.
        if geometry and not wanted.is_sparse and "conjugate" not in at:
            assert found.storage_offset() == wanted.storage_offset(), at
            assert found.stride() == wanted.stride(), at
        left, right = (
            x.detach().to_dense().contiguous().view(-1).view(libdl.uint8) for x in (found, wanted)
        )
        assert libdl.equal(left, right), at
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted), at
        for key in wanted:
            same(found[key], wanted[key], f"{at}[{key!r}]", geometry)
        assert getattr(found, "_metadata", None) == getattr(wanted, "_metadata", None)
    elif isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted), at
        for i, (x, y) in enumerate(zip(found, wanted, strict=True)):
            same(x, y, f"{at}[{i}]", geometry)
    elif isinstance(wanted, float):
        assert struct.pack("d", found) == struct.pack("d", wanted), at
    else:
        assert found == wanted, at


def stored(value, **options):
    out = io.BytesIO()
    libdl.save(value, out, **options)
    out.seek(0)
    return out


def pickled(body, **records):
    """A sound archive around a pickle of protocol 2, with storages under their keys."""
    wanted = {"data.pkl": b"\x80\2" + body + b".", "byteorder": b"little", "version": b"3\n"}
    return io.BytesIO(mutations.packed(wanted | records))


def refused(file, *words):
    if isinstance(file, io.BytesIO):
        file.seek(0)
    with pytest.raises(libdl.Error) as caught:
        libdl.load(file)
    for word in words:
        assert word in str(caught.value)
    return str(caught.value)


# -- tensors in a pickle, opcode by opcode ---------------------------------------------------------


def storage(kind=b"torch\nFloatStorage", key=b"0", place=b"cpu", count=4):
    text = b"".join(b"X" + struct.pack("<I", len(t)) + t for t in (key, place))
    return b"(X\7\0\0\0storagec" + kind + b"\n" + text + b"K" + bytes([count]) + b"tQ"


def tensor(
    *,
    offset=b"K\0",
    size=b"K\4\x85",
    stride=b"K\1\x85",
    grad=b"\x89",
    hooks=b"N",
    of=None,
    more=b"",
    function=b"_rebuild_tensor_v2",
):
    of = storage() if of is None else of
    return (
        b"ctorch._utils\n"
        + function
        + b"\n("
        + of
        + offset
        + size
        + stride
        + grad
        + hooks
        + more
        + b"tR"
    )


DATA = {"data/0": struct.pack("<4f", 1, 2, 3, 4)}
