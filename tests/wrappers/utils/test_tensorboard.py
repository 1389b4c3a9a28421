# SPDX-License-Identifier: Apache-2.0
"""libdl.utils.tensorboard: what a SummaryWriter writes, read back by the tensorboard package; and
what it says without it."""

import io
import struct
import sys
import wave
import zlib

import numpy as np
import pytest

import libdl
from libdl.utils import tensorboard
from libdl.utils.tensorboard import _images


def test_without_the_package_a_sentence_says_so(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboard", None)  # its import fails
    with pytest.raises(ImportError, match="pip install tensorboard"):
        tensorboard.SummaryWriter(tmp_path)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_an_image_is_a_png_with_its_pixels(channels):
    pixels = np.arange(2 * 5 * channels, dtype=np.uint8).reshape(2, 5, channels)
    data = _images.png(pixels)
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
    assert _images.pixels(image, "CHW").tolist() == [[[0, 127, 0], [255, 255, 0]]]
    assert _images.pixels(image[0], "HW").tolist() == [[[0], [255]]]
    assert _images.pixels(image.transpose(1, 2, 0), "HWC").shape == (1, 2, 3)
    for wrong, found in (("CH", "'CH'"), ("ABC", "'ABC'")):
        with pytest.raises(ValueError, match=found):
            _images.pixels(image, wrong)
    with pytest.raises(ValueError, match="1, 3 or 4 channels, found 2"):
        _images.pixels(image[:2], "CHW")


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
        with pytest.raises(NotImplementedError, match="are not written"):
            writer.add_graph(None)
    read = EventAccumulator(str(tmp_path)).Reload()
    (loss,) = read.Scalars("loss")
    assert (loss.step, loss.value, loss.wall_time) == (3, 0.5, 7.0)
    (histogram,) = read.Histograms("weights")
    value = histogram.histogram_value
    assert (value.min, value.max, value.num, value.sum) == (0.0, 9.0, 10.0, 45.0)
    assert list(value.bucket) == [0.0] + [2.0] * 5  # the first limit is where the values begin
    assert list(value.bucket_limit) == pytest.approx([0, 1.8, 3.6, 5.4, 7.2, 9])
    (picture,) = read.Images("picture")
    assert (picture.width, picture.height) == (5, 2)
    (note,) = read.Tensors("note/text_summary")
    assert note.tensor_proto.string_val[0] == b"a *text*"
    for tag, number in (("a", 1.0), ("b", 2.0)):
        (seen,) = EventAccumulator(str(tmp_path / f"both_{tag}")).Reload().Scalars("both")
        assert (seen.step, seen.value) == (7, number)


# -- values and charts ----------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Its writer, and what the package reads of it afterwards."""
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    def read(inside="."):
        return EventAccumulator(str(tmp_path / inside), size_guidance={"tensors": 0}).Reload()

    return tensorboard.SummaryWriter(tmp_path), read


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64", "int8", "bool", "uint8"])
def test_tensors_of_every_dtype_are_written(folder, dtype):
    writer, read = folder
    x = libdl.tensor([1, 0, 1]).to(getattr(libdl, dtype))
    writer.add_scalar("last", x[2], 1)
    writer.add_histogram("all", x, 1)
    writer.add_image("picture", libdl.ones(3, 2, 2).to(x.dtype), 1)
    writer.close()
    assert read().Scalars("last")[0].value == 1
    (histogram,) = read().Histograms("all")
    assert (histogram.histogram_value.num, histogram.histogram_value.sum) == (3, 2)
    assert read().Images("picture")[0].width == 2


def test_bfloat16_is_not_rounded(folder):
    writer, read = folder
    writer.add_scalar("x", libdl.tensor(3e38, dtype=libdl.bfloat16))
    writer.close()
    assert read().Scalars("x")[0].value == pytest.approx(float(libdl.tensor(3e38).bfloat16()))


# What PyTorch 2.15 writes: min, max, num, sum, sum of squares, limits, counts.
HISTOGRAMS = [
    (([*range(10)], 5, None), (0, 9, 10, 45, 285, [0, 1.8, 3.6, 5.4, 7.2, 9], [0, 2, 2, 2, 2, 2])),
    (
        ([*range(100)], 50, 7),
        (
            0,
            99,
            100,
            4950,
            328350,
            [0, 13.86, 27.72, 41.58, 55.44, 69.3, 83.16, 97.02, 99],
            [0, 14, 14, 14, 14, 14, 14, 14, 2],
        ),
    ),
    (
        ([1.0, 1.05], "tensorflow", None),
        (
            1,
            1.05,
            2,
            2.05,
            2.1025,
            [0.917246389039776, 1.0089710279437536, 1.109868130738129],
            [0, 1, 1],
        ),
    ),
]


@pytest.mark.parametrize(("given", "wanted"), HISTOGRAMS)
def test_histograms_are_pytorchs(folder, given, wanted):
    writer, read = folder
    values, bins, most = given
    writer.add_histogram("h", np.array(values, dtype=float), bins=bins, max_bins=most)
    writer.close()
    found = read().Histograms("h")[0].histogram_value
    facts = found.min, found.max, found.num, found.sum, found.sum_squares
    assert facts == pytest.approx(wanted[:5])
    assert list(found.bucket_limit) == pytest.approx(wanted[5]) and list(found.bucket) == wanted[6]


@pytest.mark.parametrize("bins", ["tensorflow", "auto", 10])
def test_values_that_are_not_finite_are_in_no_bucket(folder, bins):
    writer, read = folder
    nan, inf = float("nan"), float("inf")
    writer.add_histogram("some", libdl.tensor([1.0, nan, 2.0, inf, -inf]), bins=bins)
    writer.add_histogram("all", libdl.tensor([nan, inf]), bins=bins)
    writer.close()
    found = read().Histograms("some")[0].histogram_value
    assert (found.num, found.min, found.max, found.sum, sum(found.bucket)) == (5, 1, 2, 3, 2)
    found = read().Histograms("all")[0].histogram_value
    assert found.num == 2 and np.isnan(found.sum) and sum(found.bucket) == 0


def test_a_counted_histogram_is_written_as_it_is(folder):
    writer, read = folder
    writer.add_histogram_raw(
        "h",
        min=0,
        max=4,
        num=6,
        sum=10,
        sum_squares=30,
        bucket_limits=libdl.tensor([1.0, 4.0]),
        bucket_counts=[2, 4],
        global_step=3,
    )
    with pytest.raises(ValueError, match="bucket_limits has 1 numbers, wanted one for each of 2"):
        writer.add_histogram_raw("h", 0, 1, 1, 1, 1, [1], [1, 2])
    writer.close()
    (event,) = read().Histograms("h")
    value = event.histogram_value
    assert (event.step, value.num, list(value.bucket_limit), list(value.bucket)) == (
        3,
        6,
        [1, 4],
        [2, 4],
    )


def layout_of(read):
    from tensorboard.plugins.custom_scalar import layout_pb2

    (event,) = read().Tensors("custom_scalars__config__")
    return layout_pb2.Layout.FromString(event.tensor_proto.string_val[0])


def test_custom_scalars_lay_out_charts(folder):
    writer, read = folder
    for kind, words in (
        (["Margin", ["a"]], "of 1 tags, wanted value"),
        (["Pie", ["a"]], "kind 'Pie'"),
    ):
        with pytest.raises(ValueError, match=words):
            writer.add_custom_scalars({"c": {"t": kind}})
    writer.add_custom_scalars(
        {
            "losses": {
                "both": ["Multiline", ["train", "test"]],
                "band": ["Margin", ["mean", "low", "high"]],
            },
        }
    )
    writer.close()
    (category,) = layout_of(read).category
    both, band = category.chart
    assert category.title == "losses" and (both.title, list(both.multiline.tag)) == (
        "both",
        ["train", "test"],
    )
    (series,) = band.margin.series
    assert (series.value, series.lower, series.upper) == ("mean", "low", "high")


@pytest.mark.parametrize("kind", ["multilinechart", "marginchart"])
def test_one_custom_chart_is_added_by_itself(folder, kind):
    writer, read = folder
    getattr(writer, f"add_custom_scalars_{kind}")(["a", "b", "c"], "where", "what")
    writer.close()
    (category,) = layout_of(read).category
    (chart,) = category.chart
    assert (category.title, chart.title) == ("where", "what")


def test_hyperparameters_have_a_run_of_their_own(folder):
    from tensorboard.plugins.hparams import plugin_data_pb2

    writer, read = folder
    writer.add_hparams(
        {"lr": 0.1, "on": True, "name": "x", "none": None},
        {"acc": libdl.tensor(0.5)},
        {"lr": [0.1, 0.2]},
        run_name="run",
    )
    with pytest.raises(ValueError, match="'net' is a list, wanted a number"):
        writer.add_hparams({"net": []}, {})
    with pytest.raises(TypeError, match="metric_dict is a list"):
        writer.add_hparams({}, [])
    writer.close()
    run = read("run")
    assert run.Scalars("acc")[0].value == 0.5
    data = run.summary_metadata["_hparams_/session_start_info"].plugin_data.content
    values = plugin_data_pb2.HParamsPluginData.FromString(data).session_start_info.hparams
    assert (values["lr"].number_value, values["on"].bool_value, values["name"].string_value) == (
        0.1,
        True,
        "x",
    )
    assert sorted(values) == ["lr", "name", "on"]


def test_several_images_and_figures_are_written(folder):
    figure = pytest.importorskip("matplotlib.figure").Figure(figsize=(2, 1), dpi=10)
    writer, read = folder
    writer.add_images("batch", libdl.zeros(10, 3, 2, 4))
    writer.add_images("last", libdl.zeros(2, 4, 1, 3), dataformats="HWCN")
    writer.add_figure("figure", figure)
    writer.add_figure("figures", [figure, figure], close=False)
    with pytest.raises(ValueError, match="dataformats must name the 4 dimensions"):
        writer.add_images("wrong", libdl.zeros(10, 3, 2, 4), dataformats="CHW")
    writer.close()
    sizes = {
        tag: (read().Images(tag)[0].width, read().Images(tag)[0].height)
        for tag in ("batch", "last", "figure", "figures")
    }
    assert sizes == {"batch": (32, 4), "last": (12, 2), "figure": (20, 10), "figures": (40, 10)}


def test_tensors_and_new_scalars_are_tensors(folder):
    writer, read = folder
    writer.add_tensor("t", libdl.arange(4.0).view(2, 2), 1)
    writer.add_scalar("s", 0.1, 1, new_style=True, double_precision=True)
    with pytest.raises(ValueError, match="tensor is of complex64"):
        writer.add_tensor("t", libdl.ones(1, dtype=libdl.complex64))
    writer.close()
    (event,) = read().Tensors("t")
    assert np.frombuffer(event.tensor_proto.tensor_content, np.float32).tolist() == [0, 1, 2, 3]
    assert list(read().Tensors("s")[0].tensor_proto.double_val) == [0.1]


def test_a_closed_writer_opens_a_new_file(folder, tmp_path):
    writer, read = folder
    writer.add_scalar("x", 1, 1)
    writer.add_scalars("both", {"a": 1}, 1)
    writer.close()
    writer.close()
    writer.flush()
    assert writer.file_writer is None
    writer.add_scalar("x", 2, 2)
    writer.add_scalars("both", {"a": 2}, 2)
    writer.close()
    assert [(event.step, event.value) for event in read().Scalars("x")] == [(1, 1), (2, 2)]
    assert [event.value for event in read("both_a").Scalars("both")] == [1, 2]
    assert len([path for path in tmp_path.iterdir() if path.is_file()]) == 2


def test_parts_that_pytorchs_programs_use_are_there(folder):
    from libdl.utils.tensorboard.summary import hparams, scalar

    writer, read = folder
    assert (
        writer._get_file_writer() is writer.file_writer
        and writer.file_writer.get_logdir() == writer.log_dir
    )
    for summary in hparams({"lr": 1.0}, {"m": 0}):
        writer._get_file_writer().add_summary(summary)
    writer.file_writer.add_summary(scalar("x", 3), 5)
    writer.close()
    assert read().Scalars("x")[0].step == 5


# -- curves and sound -----------------------------------------------------------------------------


# Of PyTorch 2.15: by rows, true and false positives and negatives, precision, recall.
CURVE = [
    3,
    2,
    2,
    1,
    1,
    3,
    1,
    1,
    0,
    0,
    0,
    2,
    2,
    3,
    3,
    0,
    1,
    1,
    2,
    2,
    0.5,
    2 / 3,
    2 / 3,
    1,
    1,
    1,
    2 / 3,
    2 / 3,
    1 / 3,
    1 / 3,
]


def test_precision_and_recall_by_threshold(folder):
    writer, read = folder
    labels, predictions = (
        libdl.tensor([0, 1, 1, 0, 0, 1]),
        libdl.tensor([0.1, 0.55, 1.0, 0.7, 0.2, 0.05]),
    )
    writer.add_pr_curve("of", labels, predictions, 1, num_thresholds=5)
    writer.add_pr_curve(
        "of", labels, predictions, 2, num_thresholds=5, weights=libdl.full((6,), 2.0)
    )
    writer.add_pr_curve("many", labels, predictions, num_thresholds=1000)
    rows = libdl.tensor(CURVE).view(6, 5)
    writer.add_pr_curve_raw("raw", *rows, num_thresholds=5)
    with pytest.raises(ValueError, match="labels has 6 elements, wanted one for each of 2"):
        writer.add_pr_curve("wrong", labels, predictions[:2])
    writer.close()
    first, second = (event.tensor_proto for event in read().Tensors("of"))
    assert list(first.float_val) == pytest.approx(CURVE)
    assert list(second.float_val) == pytest.approx([2 * x for x in CURVE[:20]] + CURVE[20:])
    assert list(read().Tensors("raw")[0].tensor_proto.float_val) == pytest.approx(CURVE)
    (many,) = read().Tensors("many")
    assert [dim.size for dim in many.tensor_proto.tensor_shape.dim] == [6, 127]
    assert read().SummaryMetadata("of").plugin_data.plugin_name == "pr_curves"


def test_predictions_beyond_the_thresholds_count_nowhere():
    pytest.importorskip("tensorboard")
    from libdl.utils.tensorboard import summary

    inside = summary.pr_curve("x", [1, 0], libdl.tensor([0.5, 0.2]), 5).value[0].tensor
    beyond = (
        summary.pr_curve("x", [1, 1, 0, 0], libdl.tensor([0.5, 1.5, 0.2, -0.5]), 5).value[0].tensor
    )
    assert list(beyond.float_val) == list(inside.float_val)


def test_sound(folder):
    writer, read = folder
    sound = (libdl.arange(100) * 0.3).sin()
    writer.add_audio("tone", sound[None], 4, sample_rate=8000)
    with pytest.warns(UserWarning, match="beyond -1 to 1, which are cut off"):
        writer.add_audio("loud", sound * 3, 5)
    with pytest.raises(ValueError, match="snd_tensor has 2 dimensions of more than one element"):
        writer.add_audio("wrong", libdl.ones(2, 3))
    writer.close()
    (tone,), (loud,) = read().Audio("tone"), read().Audio("loud")
    assert (tone.step, tone.sample_rate, tone.length_frames, tone.content_type) == (
        4,
        8000,
        100,
        "audio/wav",
    )
    with wave.open(io.BytesIO(tone.encoded_audio_string)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getnframes()) == (8000, 1, 100)
        found = libdl.frombuffer(bytearray(file.readframes(100)), dtype=libdl.int16)
    assert (found / 32767 - sound).abs().max() < 1e-4
    assert loud.sample_rate == 44100 and len(loud.encoded_audio_string) == 44 + 200


# -- embeddings -----------------------------------------------------------------------------------

CONFIG = """embeddings {
  tensor_name: "default:00000"
  tensor_path: "00000/default/tensors.tsv"
  metadata_path: "00000/default/metadata.tsv"
}
embeddings {
  tensor_name: "a/b:00003"
  tensor_path: "00003/a%2fb/tensors.tsv"
  metadata_path: "00003/a%2fb/metadata.tsv"
  sprite {
    image_path: "00003/a%2fb/sprite.png"
    single_image_dim: 6
    single_image_dim: 4
  }
}
"""


def test_embeddings(tmp_path, folder):
    writer, _ = folder
    points = libdl.arange(15.0).view(5, 3) / 4
    images = libdl.arange(5.0)[:, None, None, None].expand(5, 1, 4, 6) / 4
    writer.add_embedding(points, metadata=list("abcde"))
    writer.add_embedding(points, [[i, "x"] for i in range(5)], images, 3, "a/b", ["n", "s"])
    written = tmp_path / "00003" / "a%2fb"
    for wrong, match in (
        ({"mat": points[0]}, "mat has 1 dimensions"),
        ({"metadata": ["a"]}, "metadata has 1 entries"),
        ({"label_img": images[:2]}, "label_img has 2 entries"),
        ({"metadata": [[1]] * 5, "metadata_header": ["a", "b"]}, "metadata_header has 2 names"),
    ):
        with pytest.raises(ValueError, match=match):
            writer.add_embedding(**{"mat": points, "tag": "wrong", **wrong})
    writer.close()
    lines = (tmp_path / "projector_config.pbtxt").read_text().splitlines()
    assert sorted(lines) == sorted(CONFIG.splitlines())
    assert (tmp_path / "00000/default/metadata.tsv").read_text() == "a\nb\nc\nd\ne\n"
    assert (written / "metadata.tsv").read_text().startswith("n\ts\n0\tx\n1\tx\n")
    assert (written / "tensors.tsv").read_text().splitlines()[1] == "0.75\t1.0\t1.25"
    assert not (tmp_path / "00000" / "wrong").exists()
    png = (written / "sprite.png").read_bytes()
    assert struct.unpack(">II", png[16:24]) == (18, 18)
    lines = np.frombuffer(zlib.decompress(png[41:-16]), np.uint8).reshape(18, 55)[:, 1:]
    sprite = lines.reshape(18, 18, 3)
    corners = [[int(sprite[4 * i, 6 * j, 0]) for j in range(3)] for i in range(3)]
    assert corners == [[0, 63, 127], [191, 255, 0], [0, 0, 0]] and not sprite[12:].any()
