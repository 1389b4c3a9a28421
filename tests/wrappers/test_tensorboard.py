# SPDX-License-Identifier: Apache-2.0
"""libdl.utils.tensorboard: what a SummaryWriter writes, read back by the tensorboard package; and
what it says without it."""

import io
import struct
import sys
import zlib

import numpy as np
import pytest

import libdl
from libdl.utils import tensorboard


def test_without_the_package_a_sentence_says_so(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboard", None)  # its import fails
    with pytest.raises(ImportError, match="pip install tensorboard"):
        tensorboard.SummaryWriter(tmp_path)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_an_image_is_a_png_with_its_pixels(channels):
    pixels = np.arange(2 * 5 * channels, dtype=np.uint8).reshape(2, 5, channels)
    data = tensorboard._png(pixels)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    stream, chunks = io.BytesIO(data[8:]), {}
    while head := stream.read(8):
        length, kind = struct.unpack(">I4s", head)
        chunks[kind] = stream.read(length)
        assert struct.unpack(">I", stream.read(4))[0] == zlib.crc32(kind + chunks[kind])
    assert struct.unpack(">IIBB", chunks[b"IHDR"][:10]) == (5, 2, 8, {1: 0, 3: 2, 4: 6}[channels])
    lines = zlib.decompress(chunks[b"IDAT"])
    assert lines == b"".join(b"\0" + line.tobytes() for line in pixels)


def test_pixels_are_put_in_order_and_scaled():
    image = libdl.tensor([[[0.0, 1.0]], [[0.5, 2.0]], [[-1.0, 0.0]]]).numpy()  # [3, 1, 2]
    assert tensorboard._pixels(image, "CHW").tolist() == [[[0, 127, 0], [255, 255, 0]]]
    assert tensorboard._pixels(image[0], "HW").tolist() == [[[0], [255]]]
    assert tensorboard._pixels(image.transpose(1, 2, 0), "HWC").shape == (1, 2, 3)
    for wrong, found in (("CH", "'CH'"), ("ABC", "'ABC'")):
        with pytest.raises(ValueError, match=found):
            tensorboard._pixels(image, wrong)
    with pytest.raises(ValueError, match="1, 3 or 4 channels, found 2"):
        tensorboard._pixels(image[:2], "CHW")


def test_what_is_written_is_read_back(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with tensorboard.SummaryWriter(tmp_path) as writer:
        assert writer.get_logdir() == str(tmp_path)
        writer.add_scalar("loss", libdl.tensor(0.5), 3, walltime=7.0)
        writer.add_histogram("weights", libdl.arange(10.0), 4, bins=5)
        writer.add_image("picture", libdl.zeros(3, 2, 5), 5)
        writer.add_text("note", "a *text*", 6)
        writer.add_scalars("both", {"a": 1, "b": 2}, 7)
        with pytest.raises(ValueError, match="one number, found 2"):
            writer.add_scalar("loss", libdl.ones(2))
        with pytest.raises(ValueError, match="values is empty"):
            writer.add_histogram("weights", [])
        with pytest.raises(NotImplementedError, match="alone"):
            writer.add_graph(None)
    read = EventAccumulator(str(tmp_path)).Reload()
    (loss,) = read.Scalars("loss")
    assert (loss.step, loss.value, loss.wall_time) == (3, 0.5, 7.0)
    (histogram,) = read.Histograms("weights")
    value = histogram.histogram_value
    assert (value.min, value.max, value.num, value.sum) == (0.0, 9.0, 10.0, 45.0)
    assert list(value.bucket) == [2.0] * 5
    (picture,) = read.Images("picture")
    assert (picture.width, picture.height) == (5, 2)
    (note,) = read.Tensors("note/text_summary")
    assert note.tensor_proto.string_val[0] == b"a *text*"
    for tag, number in (("a", 1.0), ("b", 2.0)):
        (seen,) = EventAccumulator(str(tmp_path / f"both_{tag}")).Reload().Scalars("both")
        assert (seen.step, seen.value) == (7, number)
