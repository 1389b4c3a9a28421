# SPDX-License-Identifier: Apache-2.0
"""The messages in an event file, one function a kind."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ..._C import Tensor
from ..._types import bfloat16, float32
from ._curves import curve, thresholds
from ._images import grid, pixels, png
from ._sound import samples, wav

__all__ = [
    "audio",
    "custom_scalars",
    "histogram",
    "histogram_raw",
    "hparams",
    "image",
    "image_grid",
    "pr_curve",
    "pr_curve_raw",
    "scalar",
    "tensor_proto",
    "text",
]

DEFAULT_BINS = "tensorflow"


def part(name: str) -> ModuleType:
    """A module of TensorBoard's package."""
    try:
        return importlib.import_module(f"tensorboard.{name}")
    except ImportError as error:
        raise ImportError(
            "SummaryWriter writes through the tensorboard package, which is not installed: "
            "pip install tensorboard"
        ) from error


def array(values: Any) -> np.ndarray:
    """NumPy's array of a tensor, an array or numbers; it has no bfloat16."""
    if not isinstance(values, Tensor):
        return np.asarray(values)
    values = values.detach().cpu()
    return (values.to(float32) if values.dtype is bfloat16 else values).numpy()


def _summary(**fields: object) -> Any:
    summaries = part("compat.proto.summary_pb2")
    return summaries.Summary(value=[summaries.Summary.Value(**fields)])


def _metadata(plugin: str, content: bytes = b"") -> Any:
    kind = part("compat.proto.summary_pb2").SummaryMetadata
    return kind(plugin_data=kind.PluginData(plugin_name=plugin, content=content))


def _tensor(dtype: str, sizes: Sequence[int], **values: object) -> Any:
    shapes = part("compat.proto.tensor_shape_pb2").TensorShapeProto
    return part("compat.proto.tensor_pb2").TensorProto(
        dtype=getattr(part("compat.proto.types_pb2"), dtype),
        tensor_shape=shapes(dim=[shapes.Dim(size=size) for size in sizes]),
        **values,
    )


# -- numbers ---------------------------------------------------------------------------------------


def scalar(
    tag: str, scalar_value: Any, new_style: bool = False, double_precision: bool = False
) -> Any:
    """One number; new_style: as a tensor, which may be of double precision."""
    values = array(scalar_value)
    if values.size != 1:
        raise ValueError(f"add_scalar: scalar_value must be one number, found {values.size}")
    number = float(values.reshape(()))
    if not new_style:
        return _summary(tag=tag, simple_value=number)
    result = (
        _tensor("DT_DOUBLE", (), double_val=[number])
        if double_precision
        else _tensor("DT_FLOAT", (), float_val=[number])
    )
    return _summary(tag=tag, tensor=result, metadata=_metadata("scalars"))


def tensor_proto(tag: str, tensor: Any) -> Any:
    """All elements of a tensor."""
    values = array(tensor)
    known = {
        "float16": "DT_HALF",
        "float32": "DT_FLOAT",
        "float64": "DT_DOUBLE",
        "int8": "DT_INT8",
        "uint8": "DT_UINT8",
        "int16": "DT_INT16",
        "int32": "DT_INT32",
        "int64": "DT_INT64",
        "bool": "DT_BOOL",
    }
    if str(values.dtype) not in known:
        raise ValueError(f"add_tensor: tensor is of {values.dtype}, wanted one of {list(known)}")
    result = _tensor(
        known[str(values.dtype)],
        values.shape,
        tensor_content=np.ascontiguousarray(values).tobytes(),
    )
    return _summary(tag=tag, tensor=result, metadata=_metadata("tensor"))


# -- histograms ------------------------------------------------------------------------------------


@functools.cache
def _edges() -> tuple[float, ...]:
    """TensorFlow's: a tenth apart from 1e-12 to 1e20, on both sides of 0."""
    result, edge = [], 1e-12
    while edge < 1e20:
        result.append(edge)
        edge *= 1.1
    return (*(-edge for edge in reversed(result)), 0.0, *result)


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Any:
    """How values are distributed. NaN and infinities are in no bucket, and in `num`."""
    numbers = array(values).astype(np.float64).ravel()
    if not numbers.size:
        raise ValueError("add_histogram: values is empty")
    expected = _edges() if isinstance(bins, str) and bins == "tensorflow" else bins
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return _histogram(name, (np.nan, np.nan, numbers.size, np.nan, np.nan), [0.0], [0.0])
    counts, edges = np.histogram(finite, expected)
    if max_bins is not None and len(counts) > max_bins:
        every = len(counts) // max_bins
        starts = np.arange(0, len(counts), every)
        counts, edges = np.add.reduceat(counts, starts), np.append(edges[starts], edges[-1])
    facts = finite.min(), finite.max(), numbers.size, finite.sum(), finite @ finite
    return _histogram(name, facts, *_trimmed(counts, edges))


def _trimmed(counts: np.ndarray, edges: np.ndarray) -> tuple[list[float], list[float]]:
    """Limits and counts without the empty buckets at both ends, but for one below, whose limit is
    where the first full one begins: a bucket's limit is its upper one."""
    full = np.flatnonzero(counts)
    if not full.size:
        raise ValueError("add_histogram: no value lies within the edges that bins gives")
    first, last = int(full[0]), int(full[-1])
    return edges[first : last + 2].tolist(), [0.0, *counts[first : last + 1].tolist()]


def _histogram(tag: str, facts: Any, limits: Any, counts: Any) -> Any:
    low, high, count, total, squares = facts
    return _summary(
        tag=tag,
        histo=part("compat.proto.summary_pb2").HistogramProto(
            min=low,
            max=high,
            num=count,
            sum=total,
            sum_squares=squares,
            bucket_limit=limits,
            bucket=counts,
        ),
    )


def histogram_raw(
    name: str,
    min: float,
    max: float,
    num: int,
    sum: float,
    sum_squares: float,
    bucket_limits: Any,
    bucket_counts: Any,
) -> Any:
    """A histogram that the caller has counted: limits are upper ones."""
    limits, counts = (array(values).ravel().tolist() for values in (bucket_limits, bucket_counts))
    if len(limits) != len(counts):
        raise ValueError(
            f"add_histogram_raw: bucket_limits has {len(limits)} numbers, wanted one "
            f"for each of {len(counts)} bucket_counts"
        )
    return _histogram(name, (min, max, num, sum, sum_squares), limits, counts)


# -- images and texts ------------------------------------------------------------------------------


def _image(tag: str, value: Any) -> Any:
    height, width, channels = value.shape
    summary_pb = part("compat.proto.summary_pb2").Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=png(value)
    )
    return _summary(tag=tag, image=summary_pb)


def image(tag: str, tensor: Any, dataformats: str = "CHW") -> Any:
    """One image of uint8, or of floating values from 0 to 1."""
    return _image(tag, pixels(array(tensor), dataformats))


def image_grid(tag: str, tensors: Sequence[Tensor], dataformats: str = "NCHW") -> Any:
    """A batch of images, side by side."""
    images, order = array(tensors), dataformats.upper()
    if order.count("N") != 1 or len(order) != images.ndim:
        raise ValueError(
            f"add_images: dataformats must name the {images.ndim} dimensions of "
            f"img_tensor with N, H, W and C, found {dataformats!r}"
        )
    each = np.moveaxis(images, order.index("N"), 0)
    return _image(tag, grid(np.stack([pixels(one, order.replace("N", "")) for one in each])))


def text(tag: str, text: str) -> Any:
    """A text, which TensorBoard shows as Markdown."""
    result = _tensor("DT_STRING", (1,), string_val=[text.encode()])
    return _summary(tag=f"{tag}/text_summary", tensor=result, metadata=_metadata("text"))


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Any:
    """Sound of one channel, from -1 to 1."""
    sound = samples(array(tensor))
    return _summary(
        tag=tag,
        audio=part("compat.proto.summary_pb2").Summary.Audio(
            sample_rate=sample_rate,
            num_channels=1,
            length_frames=len(sound),
            encoded_audio_string=wav(sound, sample_rate),
            content_type="audio/wav",
        ),
    )


# -- what TensorBoard's plugins read ---------------------------------------------------------------


def _curve(tag: str, rows: Any, count: int) -> Any:
    text = part("plugins.pr_curve.plugin_data_pb2").PrCurvePluginData(
        version=0, num_thresholds=count
    )
    return _summary(
        tag=tag,
        metadata=_metadata("pr_curves", text.SerializeToString()),
        tensor=_tensor("DT_FLOAT", rows.shape, float_val=rows.ravel().tolist()),
    )


def pr_curve(
    tag: str, labels: Any, predictions: Any, num_thresholds: int = 127, weights: Any = None
) -> Any:
    """Precision and recall by threshold."""
    count = thresholds(num_thresholds)
    weights = None if weights is None else array(weights)
    return _curve(tag, curve(array(labels), array(predictions), count, weights), count)


def pr_curve_raw(
    tag: str,
    tp: Any,
    fp: Any,
    tn: Any,
    fn: Any,
    precision: Any,
    recall: Any,
    num_thresholds: int = 127,
    weights: Any = None,
) -> Any:
    """The same, of what the caller has counted. weights is PyTorch's, and changes nothing."""
    rows = np.stack([array(x).ravel() for x in (tp, fp, tn, fn, precision, recall)])
    return _curve(tag, rows, thresholds(num_thresholds))


def custom_scalars(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> Any:
    """Charts of several scalars, by category and title: ("Multiline", tags), or ("Margin", tags of
    value, lower and upper bound)."""
    messages = part("plugins.custom_scalar.layout_pb2")
    categories = []
    for category, charts in layout.items():
        results = []
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise ValueError(
                        f"add_custom_scalars: {title!r} is a margin chart of "
                        f"{len(tags)} tags, wanted value, lower, upper"
                    )
                value, lower, upper = tags
                series = messages.MarginChartContent.Series(value=value, lower=lower, upper=upper)
                content = {"margin": messages.MarginChartContent(series=[series])}
            elif kind == "Multiline":
                content = {"multiline": messages.MultilineChartContent(tag=list(tags))}
            else:
                raise ValueError(
                    f"add_custom_scalars: {title!r} is of the kind {kind!r}, wanted "
                    "'Multiline' or 'Margin'"
                )
            results.append(messages.Chart(title=title, **content))
        categories.append(messages.Category(title=category, chart=results))
    made_layout = messages.Layout(category=categories).SerializeToString()
    return _summary(
        tag="custom_scalars__config__",
        metadata=_metadata("custom_scalars"),
        tensor=_tensor("DT_STRING", (), string_val=[made_layout]),
    )


def hparams(
    hparam_dict: Mapping[str, Any],
    metric_dict: Mapping[str, Any],
    hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
) -> tuple[Any, ...]:
    """Three summaries: what is varied and measured, the start of a session with its values, and its
    end."""
    api, plugin = part("plugins.hparams.api_pb2"), part("plugins.hparams.plugin_data_pb2")
    constants = part("plugins.hparams.metadata")
    values = importlib.import_module("google.protobuf.struct_pb2")
    domains = hparam_domain_discrete or {}
    start, infos = plugin.SessionStartInfo(), []
    for name, value in hparam_dict.items():
        if value is None:
            continue
        kind, field = _hparam(name, value)
        getattr(start.hparams[name], "__class__")  # makes the entry
        setattr(
            start.hparams[name],
            field,
            value
            if field == "bool_value"
            else str(value)
            if field == "string_value"
            else float(array(value)),
        )
        info = api.HParamInfo(name=name, type=getattr(api, f"DATA_TYPE_{kind}"))
        if name in domains:
            info.domain_discrete.CopyFrom(
                values.ListValue(values=[values.Value(**{field: each}) for each in domains[name]])
            )
        infos.append(info)
    metrics = [api.MetricInfo(name=api.MetricName(tag=tag)) for tag in metric_dict]
    experiment = api.Experiment(hparam_infos=infos, metric_infos=metrics)
    end = plugin.SessionEndInfo(status=api.Status.Value("STATUS_SUCCESS"))
    version = constants.PLUGIN_DATA_VERSION
    return tuple(
        _summary(
            tag=tag,
            metadata=_metadata(
                constants.PLUGIN_NAME,
                plugin.HParamsPluginData(version=version, **content).SerializeToString(),
            ),
        )
        for tag, content in (
            (constants.EXPERIMENT_TAG, {"experiment": experiment}),
            (constants.SESSION_START_INFO_TAG, {"session_start_info": start}),
            (constants.SESSION_END_INFO_TAG, {"session_end_info": end}),
        )
    )


def _hparam(name: str, value: Any) -> tuple[str, str]:
    """The kind of a value, and its field in the message."""
    if isinstance(value, (bool, np.bool_)):
        return "BOOL", "bool_value"
    if isinstance(value, str):
        return "STRING", "string_value"
    is_element = isinstance(value, Tensor) and value.numel() == 1
    if is_element or isinstance(value, (int, float, np.number)):
        return "FLOAT64", "number_value"
    raise ValueError(
        f"add_hparams: {name!r} is a {type(value).__name__}, wanted a number, a truth "
        "value or a string"
    )
