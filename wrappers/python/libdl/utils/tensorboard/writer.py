# SPDX-License-Identifier: Apache-2.0
"""SummaryWriter: what a program measures, in event files of a folder that TensorBoard watches."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import importlib
import os
import socket
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import summary

if TYPE_CHECKING:
    import numpy as np

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """One event file.

    Arguments:
        log_dir: its folder
        max_queue, flush_secs: events are written when so many wait, or after so many seconds
        filename_suffix: behind the file's name
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        writers = summary.part("summary.writer.event_file_writer")
        self._events = summary.part("compat.proto.event_pb2")
        self._folder = os.fspath(log_dir)
        self.event_writer = writers.EventFileWriter(
            self._folder, max_queue, flush_secs, filename_suffix
        )

    def get_logdir(self) -> str:
        return self._folder

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(
        self, summary: Any, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        self.add_event(self._events.Event(summary=summary), global_step, walltime)

    def begin_at(self, step: int) -> None:
        """Says that what was written of later steps counts no longer."""
        log = self._events.SessionLog(status=self._events.SessionLog.START)
        self.add_event(self._events.Event(session_log=log), step)

    def flush(self) -> None:
        self.event_writer.flush()

    def close(self) -> None:
        self.event_writer.close()


class SummaryWriter:
    """Writes an event file into a folder that TensorBoard watches. A writer that was closed opens a
    new file when it is used again.

    Arguments:
        log_dir: the folder; None: runs/TIME_HOSTcomment
        comment: behind the name of that folder
        purge_step: from this step on, what other files of the folder say counts no longer
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
        if log_dir is None:
            started = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{started}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self.purge_step = purge_step
        self.max_queue, self.flush_secs = max_queue, flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None  # by folder
        self._embeddings: list[Any] = []
        self._get_file_writer()

    # -- files -----------------------------------------------------------------------------------

    def _open(self, folder: str) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self) -> FileWriter:
        if self.file_writer is None or self.all_writers is None:
            self.file_writer = self._open(self.log_dir)
            self.all_writers = {self.log_dir: self.file_writer}
            if self.purge_step is not None:
                self.file_writer.begin_at(self.purge_step)
                self.purge_step = None
        return self.file_writer

    def _below(self, folder: str) -> FileWriter:
        """The writer of a folder below the log's."""
        self._get_file_writer()
        assert self.all_writers is not None
        if folder not in self.all_writers:
            self.all_writers[folder] = self._open(folder)
        return self.all_writers[folder]

    def get_logdir(self) -> str:
        return self.log_dir

    def flush(self) -> None:
        """Writes what waits."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- what is written -------------------------------------------------------------------------

    def _add(self, summary_pb: object, step: int | None, walltime: float | None) -> None:
        self._get_file_writer().add_summary(summary_pb, step, walltime)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """One number at a step. new_style stores a tensor, which may be of double precision."""
        summary_pb = summary.scalar(tag, scalar_value, new_style, double_precision)
        self._add(summary_pb, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Several numbers in one chart: each is a run of its own, in a folder below log_dir."""
        walltime = time.time() if walltime is None else walltime
        for tag, number in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            summary_pb = summary.scalar(main_tag, number)
            self._below(folder).add_summary(summary_pb, global_step, walltime)

    def add_tensor(
        self,
        tag: str,
        tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """All elements of a tensor."""
        self._add(summary.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = summary.DEFAULT_BINS,
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How values are distributed. bins is as of numpy.histogram, or "tensorflow". NaN and
        infinities count in num, and are in no bucket."""
        self._add(summary.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: int,
        sum: float,
        sum_squares: float,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """A histogram that the program has counted. bucket_limits are the buckets' upper limits."""
        counted = min, max, num, sum, sum_squares
        summary_pb = summary.histogram_raw(tag, *counted, bucket_limits, bucket_counts)
        self._add(summary_pb, global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """An image of uint8, or of floating values from 0 to 1, with 1, 3 or 4 channels."""
        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """A batch of images, side by side in rows of eight."""
        self._add(summary.image_grid(tag, img_tensor, dataformats), global_step, walltime)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """A figure of matplotlib's, or a list of them. close: they are closed afterwards."""
        figures = figure if isinstance(figure, (list, tuple)) else [figure]
        drawn = [_drawn(one, close) for one in figures]
        if isinstance(figure, (list, tuple)):
            self.add_images(tag, drawn, global_step, walltime, dataformats="NHWC")
        else:
            self.add_image(tag, drawn[0], global_step, walltime, dataformats="HWC")

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: int | None = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Sound of one channel, from -1 to 1."""
        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """A text, which TensorBoard shows as Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    # -- charts and tables of plugins ------------------------------------------------------------

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Charts that show several scalars: {category: {title: [kind, tags]}}, where kind is
        "Multiline", or "Margin" of three tags: value, lower and upper bound."""
        self._add(summary.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """One chart with a line for each tag."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """One chart of a value between bounds, for three tags."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Precision and recall by threshold. labels: 0 or 1 each; predictions: from 0 to 1."""
        summary_pb = summary.pr_curve(tag, labels, predictions, num_thresholds, weights)
        self._add(summary_pb, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """The same, of what the program has counted."""
        summary_pb = summary.pr_curve_raw(
            tag,
            true_positive_counts,
            false_positive_counts,
            true_negative_counts,
            false_negative_counts,
            precision,
            recall,
            num_thresholds,
            weights,
        )
        self._add(summary_pb, global_step, walltime)

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Points for the projector, one a row of mat [N, D], in files below log_dir. metadata: a
        label for each, or with metadata_header a row; label_img: pictures [N, C, H, W]."""
        from . import _embeddings

        points = summary.array(mat)
        images = None if label_img is None else summary.array(label_img)
        folder = _embeddings.folder_of(global_step or 0, tag)
        top = self._get_file_writer().get_logdir()
        said = _embeddings.write(top, folder, points, metadata, images, metadata_header)
        config = summary.part("plugins.projector.projector_config_pb2")
        name = f"{tag}:{global_step or 0:05}"
        self._embeddings.append(config.EmbeddingInfo(tensor_name=name, **said))
        text = importlib.import_module("google.protobuf.text_format").MessageToString(
            config.ProjectorConfig(embeddings=self._embeddings)
        )
        with open(os.path.join(top, _embeddings.CONFIG), "w", encoding="utf-8") as file:
            file.write(text)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """What a run was started with and what came of it, in a folder of its own below log_dir."""
        for name, item in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
            if not isinstance(item, Mapping):
                raise TypeError(f"add_hparams: {name} is a {type(item).__name__}, wanted a dict")
        folder = os.path.join(self.log_dir, run_name or str(time.time()))
        writer = self._open(folder)
        for summary_pb in summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete):
            writer.add_summary(summary_pb, global_step)
        for tag, number in metric_dict.items():
            writer.add_summary(summary.scalar(tag, number), global_step)
        writer.close()

    def _lacking(self, *args: object, **options: object) -> None:
        raise NotImplementedError(
            "SummaryWriter: video, meshes, graphs and boxes in images are not written"
        )

    add_graph = add_image_with_boxes = _lacking
    add_mesh = add_onnx_graph = add_video = _lacking


def _drawn(figure: Any, close: bool) -> np.ndarray:
    """The pixels [height, width, 4] of a figure."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    result = np.asarray(canvas.buffer_rgba()).copy()
    if close:
        import matplotlib.pyplot as plt

        plt.close(figure)
    return result
