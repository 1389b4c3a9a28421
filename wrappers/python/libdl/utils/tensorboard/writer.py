# SPDX-License-Identifier: Apache-2.0
"""Writing what TensorBoard shows: scalars, histograms, images and text, through its own package."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import importlib
import os
import socket
import struct
import time
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._C import Tensor
from .._missing import missing, public

__all__ = ["SummaryWriter"]

__getattr__ = missing(__name__)
__dir__ = public(__name__)

_BINS = 30  # of histograms; TensorBoard interpolates them to as many


def _part(name: str) -> Any:
    try:
        return importlib.import_module(f"tensorboard.{name}")
    except ImportError as error:
        raise ImportError(
            "SummaryWriter writes through the tensorboard package, which is not installed: "
            "pip install tensorboard"
        ) from error


def _array(values: Any) -> Any:
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)


def _png(pixels: Any) -> bytes:
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


def _pixels(image: Any, dataformats: str) -> Any:
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


class SummaryWriter:
    """Writes an event file into a folder that TensorBoard watches.

    Arguments:
        log_dir: the folder; None: runs/TIME_HOSTcomment
        comment: behind the name of that folder
        max_queue, flush_secs: events are written when so many wait, or after so many seconds
        filename_suffix: behind the file's name
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        writers = _part("summary.writer.event_file_writer")
        if log_dir is None:
            started = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{started}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self._open = lambda folder: writers.EventFileWriter(
            folder, max_queue, flush_secs, filename_suffix
        )
        self._writer = self._open(self.log_dir)
        self._others: dict[str, Any] = {}  # the writers of add_scalars, by folder
        self._events = _part("compat.proto.event_pb2")
        self._summaries = _part("compat.proto.summary_pb2")
        if purge_step is not None:
            log = self._events.SessionLog(status=self._events.SessionLog.START)
            event = self._events.Event(step=purge_step, session_log=log, wall_time=time.time())
            self._writer.add_event(event)

    def get_logdir(self) -> str:
        return self.log_dir

    def _add(self, value: Any, step: int | None, walltime: float | None, writer: Any = None) -> None:
        event = self._events.Event(
            summary=self._summaries.Summary(value=[value]),
            step=0 if step is None else int(step),
            wall_time=time.time() if walltime is None else walltime,
        )
        (writer or self._writer).add_event(event)

    def _scalar(self, tag: str, number: Any) -> Any:
        values = _array(number)
        if values.size != 1:
            raise ValueError(f"add_scalar: scalar_value must be one number, found {values.size}")
        return self._summaries.Summary.Value(tag=tag, simple_value=float(values.reshape(())))

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """One number at a step. new_style and double_precision are accepted, and change nothing."""
        self._add(self._scalar(tag, scalar_value), global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Several numbers in one chart: each is a run of its own, in a folder below log_dir."""
        for tag, number in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            if folder not in self._others:
                self._others[folder] = self._open(folder)
            self._add(self._scalar(main_tag, number), global_step, walltime, self._others[folder])

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = _BINS,
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How values are distributed. bins is as of numpy.histogram, or "tensorflow"."""
        numbers = _array(values).astype(np.float64).ravel()
        if not numbers.size:
            raise ValueError("add_histogram: values is empty")
        wanted = _BINS if isinstance(bins, str) and bins == "tensorflow" else bins
        counts, edges = np.histogram(numbers, wanted)
        if max_bins is not None and len(counts) > max_bins:
            counts, edges = np.histogram(numbers, max_bins)
        histogram = self._summaries.HistogramProto(
            min=numbers.min(), max=numbers.max(), num=numbers.size, sum=numbers.sum(),
            sum_squares=numbers @ numbers, bucket_limit=edges[1:].tolist(), bucket=counts.tolist(),
        )  # fmt: skip
        self._add(self._summaries.Summary.Value(tag=tag, histo=histogram), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """An image of uint8, or of floating values from 0 to 1, with 1, 3 or 4 channels."""
        pixels = _pixels(_array(img_tensor), dataformats)
        height, width, channels = pixels.shape
        image = self._summaries.Summary.Image(
            height=height, width=width, colorspace=channels, encoded_image_string=_png(pixels)
        )
        self._add(self._summaries.Summary.Value(tag=tag, image=image), global_step, walltime)

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """A text, which TensorBoard shows as Markdown."""
        types = _part("compat.proto.types_pb2")
        tensors = _part("compat.proto.tensor_pb2")
        shapes = _part("compat.proto.tensor_shape_pb2")
        plugin = self._summaries.SummaryMetadata.PluginData(plugin_name="text")
        value = self._summaries.Summary.Value(
            tag=f"{tag}/text_summary",
            metadata=self._summaries.SummaryMetadata(plugin_data=plugin),
            tensor=tensors.TensorProto(
                dtype=types.DT_STRING,
                string_val=[text_string.encode()],
                tensor_shape=shapes.TensorShapeProto(dim=[shapes.TensorShapeProto.Dim(size=1)]),
            ),
        )
        self._add(value, global_step, walltime)

    def _lacking(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError("SummaryWriter: writes scalars, histograms, images and texts alone")

    add_audio = add_embedding = add_figure = add_graph = add_hparams = _lacking
    add_images = add_mesh = add_pr_curve = add_video = _lacking

    def flush(self) -> None:
        """Writes what waits."""
        for writer in (self._writer, *self._others.values()):
            writer.flush()

    def close(self) -> None:
        for writer in (self._writer, *self._others.values()):
            writer.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
