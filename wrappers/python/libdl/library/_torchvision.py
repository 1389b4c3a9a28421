# SPDX-License-Identifier: Apache-2.0
"""The operators of torchvision's own library, which is compiled against PyTorch: for ops.nms,
ops.roi_align and its kin, ops.deform_conv2d, and the models that call them.

Each is composed of libdl's operators and recorded call by call, so that gradients follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .. import _creation, _functions as f, _overloads
from .._C import Tensor
from .._modes import enable_grad
from .._types import int64
from ..autograd import grad as grad_of
from ..nn import functional as F
from ._library import Library

_BOXES = "Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width"
_SIZES = "int batch_size, int channels, int height, int width"
_GRAD = "Tensor grad, Tensor rois"
_POOLED = "float spatial_scale, int pooled_height, int pooled_width"
_DEFORM = """Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int stride_h,
    int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups,
    int offset_groups, bool use_mask""".replace("\n    ", " ")
_SCHEMAS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "roi_align": f"({_BOXES}, int sampling_ratio, bool aligned) -> Tensor",
    "_roi_align_backward": f"({_GRAD}, {_POOLED}, {_SIZES}, int sampling_ratio, "
    "bool aligned) -> Tensor",
    "roi_pool": f"({_BOXES}) -> (Tensor, Tensor)",
    "_roi_pool_backward": f"({_GRAD}, Tensor argmax, {_POOLED}, {_SIZES}) -> Tensor",
    "ps_roi_align": f"({_BOXES}, int sampling_ratio) -> (Tensor, Tensor)",
    "_ps_roi_align_backward": f"({_GRAD}, Tensor channel_mapping, {_POOLED}, "
    f"int sampling_ratio, {_SIZES}) -> Tensor",
    "ps_roi_pool": f"({_BOXES}) -> (Tensor, Tensor)",
    "_ps_roi_pool_backward": f"({_GRAD}, Tensor channel_mapping, {_POOLED}, {_SIZES}) -> Tensor",
    "deform_conv2d": f"({_DEFORM}) -> Tensor",
    "_deform_conv2d_backward": f"(Tensor grad, {_DEFORM}) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qroi_align": f"({_BOXES}, int sampling_ratio, bool aligned) -> Tensor",
    "box_iou_rotated": "(Tensor boxes1, Tensor boxes2) -> Tensor",
    "_cuda_version": "() -> int",
}


def register() -> None:
    """Defines them, once."""
    if _defined:
        return
    library = Library("torchvision", "FRAGMENT")
    _defined.append(library)
    for name, schema in _SCHEMAS.items():
        library.define(name + schema)
        library.impl(name, globals()[name], "CompositeImplicitAutograd")


_defined: list[Library] = []


def _cuda_version() -> int:
    """-1: there is no library that was compiled for CUDA."""
    return -1


# -- boxes -----------------------------------------------------------------------------------------


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """The indices of boxes, by falling scores, that overlap none of those kept before by more than
    the threshold."""
    if dets.dim() != 2 or dets.shape[1] != 4:
        raise RuntimeError(f"nms: argument 1 (dets) has shape {list(dets.shape)}, wanted [n, 4]")
    if scores.dim() != 1 or scores.shape[0] != dets.shape[0]:
        raise RuntimeError(
            f"nms: argument 2 (scores) has shape {list(scores.shape)}, wanted [{dets.shape[0]}]"
        )
    order = scores.detach().argsort(stable=True, descending=True)
    boxes = dets.detach()[order]
    kept: list[int] = []
    left = _overloads.arange(len(order), device=boxes.device)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    while left.numel():
        first, rest = int(left[0]), left[1:]
        kept.append(first)
        one, others = boxes[first], boxes[rest]
        sides = (f.minimum(one[2:], others[:, 2:]) - f.maximum(one[:2], others[:, :2])).clamp(min=0)
        inside = sides[:, 0] * sides[:, 1]
        left = rest[~(inside / (areas[first] + areas[rest] - inside) > iou_threshold)]
    return order[_creation.tensor(kept, dtype=int64, device=order.device)]


def _refuse(name: str, reason: str) -> NoReturn:
    raise NotImplementedError(f"torchvision::{name}: {reason}")


def qnms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    answer: Tensor = _refuse("qnms", "quantized tensors are not offered")
    return answer


def box_iou_rotated(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    answer: Tensor = _refuse("box_iou_rotated", "rotated boxes are not offered")
    return answer


# -- sampling in regions ---------------------------------------------------------------------------


def _checked(name: str, input: Tensor, rois: Tensor) -> tuple[Tensor, Tensor]:
    """The image's number of each region, and its corners."""
    if rois.dim() != 2 or rois.shape[1] != 5:
        raise RuntimeError(f"{name}: argument 2 (rois) has shape {list(rois.shape)}, wanted [k, 5]")
    if input.dim() != 4:
        raise RuntimeError(f"{name}: argument 1 (input) has {input.dim()} dimensions, wanted 4")
    if rois.dtype is not input.dtype:
        raise RuntimeError(f"{name}: argument 2 (rois) is {rois.dtype}, wanted {input.dtype}")
    rois = rois.detach()
    return rois[:, 0].long(), rois[:, 1:]


def _weights(at: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Linear interpolation along one side: both neighbours, their weights, and what lies inside."""
    inside = (at >= -1) & (at <= size)
    at = at.clamp(min=0)
    low = at.floor().long().clamp(max=size - 1)
    at = _overloads.where(low >= size - 1, low.to(at.dtype), at)
    high = (low + 1).clamp(max=size - 1)
    share = at - low.to(at.dtype)
    return low, high, 1 - share, share, inside


def _interpolated(input: Tensor, image: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """input[image, :, y, x] between its elements: [k, ny, nx, channels]; 0 outside. image: [k];
    y: [k, ny]; x: [k, nx]."""
    planes = input.permute(0, 2, 3, 1)
    top, bottom, near_top, near_bottom, in_y = _weights(y, input.shape[2])
    left, right, near_left, near_right, in_x = _weights(x, input.shape[3])
    where = image[:, None, None]
    result: Any = 0
    for row, of_row in ((top, near_top), (bottom, near_bottom)):
        for column, of_column in ((left, near_left), (right, near_right)):
            share = (of_row * in_y)[:, :, None] * (of_column * in_x)[:, None, :]
            result = result + planes[where, row[:, :, None], column[:, None, :]] * share[..., None]
    answer: Tensor = result
    return answer


def _grid(low: Tensor, bin: Tensor, bins: int, count: int) -> Tensor:
    """count places in each of so many bins: [k, bins * count]."""
    steps = (_overloads.arange(count, dtype=low.dtype, device=low.device) + 0.5) / count
    first = _overloads.arange(bins, dtype=low.dtype, device=low.device)[:, None]
    places = (first + steps).reshape(-1)
    return low[:, None] + bin[:, None] * places


def _averages(
    input: Tensor,
    image: Tensor,
    low: Tensor,
    bins: Tensor,
    shape: tuple[int, int],
    count: tuple[int, int],
) -> Tensor:
    """Means of places in each bin: [k, height, width, channels]. low, bins: [k, 2], of y and x."""
    y = _grid(low[:, 0], bins[:, 0], shape[0], count[0])
    x = _grid(low[:, 1], bins[:, 1], shape[1], count[1])
    result = _interpolated(input, image, y, x)
    k, channels = len(image), input.shape[1]
    return result.reshape(k, shape[0], count[0], shape[1], count[1], channels).mean((2, 4))


def _aligned(
    input: Tensor,
    image: Tensor,
    low: Tensor,
    size: Tensor,
    shape: tuple[int, int],
    sampling_ratio: int,
    of_nothing: float,
) -> Tensor:
    """Means of as many places in each bin as the ratio says, or as it has elements: of a bin
    without any, it is of_nothing."""
    bins = size / _creation.tensor(shape, dtype=size.dtype, device=size.device)
    if not len(image):
        return input.new_zeros(0, *shape, input.shape[1])
    if sampling_ratio > 0:
        return _averages(input, image, low, bins, shape, (sampling_ratio, sampling_ratio))
    counts = bins.ceil().long().clamp(min=0)
    parts, places = [], []
    for count in {(int(a), int(b)) for a, b in counts.tolist()}:  # regions of one size at a time
        chosen = ((counts[:, 0] == count[0]) & (counts[:, 1] == count[1])).nonzero()[:, 0]
        if min(count) == 0:
            parts.append(input.new_full((len(chosen), *shape, input.shape[1]), of_nothing))
        else:
            parts.append(_averages(input, image[chosen], low[chosen], bins[chosen], shape, count))
        places.append(chosen)
    return f.cat(parts)[f.cat(places).argsort()]


def _corners(boxes: Tensor, scale: float, shift: float) -> tuple[Tensor, Tensor]:
    """Upper left corner and size of regions, each of y and x."""
    low = boxes[:, [1, 0]] * scale - shift
    return low, boxes[:, [3, 2]] * scale - shift - low


def roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """Means of interpolated values in the bins of regions (Mask R-CNN, He et al. 2017)."""
    image, boxes = _checked("roi_align", input, rois)
    low, size = _corners(boxes, spatial_scale, 0.5 if aligned else 0.0)
    size = size if aligned else size.clamp(min=1)
    result = _aligned(input, image, low, size, (pooled_height, pooled_width), sampling_ratio, 0.0)
    return result.permute(0, 3, 1, 2).contiguous()


def qroi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    answer: Tensor = _refuse("qroi_align", "quantized tensors are not offered")
    return answer


def _own_channels(input: Tensor, height: int, width: int) -> tuple[int, Tensor]:
    """Position-sensitive pooling: which channel of the input each output channel reads in each
    bin."""
    channels = input.shape[1]
    if channels % (height * width):
        raise RuntimeError(
            f"ps_roi: input has {channels} channels, wanted a multiple of {height * width}"
        )
    count = channels // (height * width)
    return count, _overloads.arange(channels, device=input.device).reshape(count, height, width)


def ps_roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
) -> tuple[Tensor, Tensor]:
    """roi_align in which each bin reads channels of its own (R-FCN, Dai et al. 2016)."""
    image, boxes = _checked("ps_roi_align", input, rois)
    low, size = _corners(boxes, spatial_scale, 0.5)
    result = _aligned(
        input, image, low, size, (pooled_height, pooled_width), sampling_ratio, float("nan")
    )
    count, channel = _own_channels(input, pooled_height, pooled_width)
    picked = result.gather(3, channel.permute(1, 2, 0).expand(len(image), -1, -1, -1))
    mapping = channel.int().expand(len(image), -1, -1, -1).contiguous()
    return picked.permute(0, 3, 1, 2).contiguous(), mapping


# -- pooling of whole elements in regions ----------------------------------------------------------


def _bins(low: int, size: int, bins: int, limit: int) -> list[tuple[int, int]]:
    """The first and the last but one element of each bin."""
    width = size / bins
    edges = []
    for i in range(bins):
        first = low + int(i * width // 1)
        last = low - int(-((i + 1) * width) // 1)
        edges.append((min(max(first, 0), limit), min(max(last, 0), limit)))
    return edges


def _rounded(x: float) -> int:
    """To the nearest integer, halves away from zero, as C rounds."""
    return int(abs(x) + 0.5) * (1 if x >= 0 else -1)


def roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """Maxima in the bins of regions (Fast R-CNN, Girshick 2015), and where they were."""
    image, boxes = _checked("roi_pool", input, rois)
    channels, height, width = input.shape[1:]
    values, indices = [], []
    for number, corners in zip(image.tolist(), (boxes * spatial_scale).tolist(), strict=True):
        left, top, right, bottom = map(_rounded, corners)
        rows = _bins(top, max(bottom - top + 1, 1), pooled_height, height)
        columns = _bins(left, max(right - left + 1, 1), pooled_width, width)
        for y0, y1 in rows:
            for x0, x1 in columns:
                part = input[number, :, y0:y1, x0:x1].reshape(channels, -1)
                if not part.shape[1]:
                    values.append(input.new_zeros(channels))
                    indices.append(f.full((channels,), -1, device=input.device))
                    continue
                best, at = part.max(1)
                values.append(best)
                indices.append((y0 + at // (x1 - x0)) * width + x0 + at % (x1 - x0))
    shape = (len(image), pooled_height, pooled_width, channels)
    if not len(image):
        empty = input.new_zeros(0, channels, pooled_height, pooled_width)
        return empty, empty.int()
    pooled = f.stack(values).reshape(shape).permute(0, 3, 1, 2).contiguous()
    return pooled, f.stack(indices).reshape(shape).permute(0, 3, 1, 2).int().contiguous()


def ps_roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """Means in the bins of regions, each of channels of its own (R-FCN, Dai et al. 2016)."""
    image, boxes = _checked("ps_roi_pool", input, rois)
    height, width = input.shape[2:]
    count, channel = _own_channels(input, pooled_height, pooled_width)
    values = []
    for number, corners in zip(image.tolist(), (boxes * spatial_scale).tolist(), strict=True):
        left, top, right, bottom = map(_rounded, corners)
        # torchvision's CPU kernel stops one element before the end, its gradient does not
        rows = _bins(top, max(bottom - top, 1), pooled_height, height - 1)
        columns = _bins(left, max(right - left, 1), pooled_width, width - 1)
        for i, (y0, y1) in enumerate(rows):
            for j, (x0, x1) in enumerate(columns):
                part = input[number, :, y0:y1, x0:x1][channel[:, i, j]]
                empty = y1 <= y0 or x1 <= x0
                values.append(input.new_zeros(count) if empty else part.mean((1, 2)))
    mapping = channel.int().expand(len(image), -1, -1, -1).contiguous()
    if not len(image):
        return input.new_zeros(0, count, pooled_height, pooled_width), mapping
    pooled = f.stack(values).reshape(len(image), pooled_height, pooled_width, count)
    return pooled.permute(0, 3, 1, 2).contiguous(), mapping


# -- convolution of displaced elements -------------------------------------------------------------


def deform_conv2d(
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> Tensor:
    """A convolution whose kernel's elements are displaced by offset and weighted by mask
    (Deformable ConvNets v2, Zhu et al. 2019)."""
    n, channels = input.shape[:2]
    kh, kw = weight.shape[2:]
    out_h, out_w = offset.shape[2:]
    shift = offset.reshape(n, offset_groups, kh, kw, 2, out_h, out_w)
    y = _places(out_h, stride_h, pad_h, kh, dilation_h, input)[:, None, :, None]
    x = _places(out_w, stride_w, pad_w, kw, dilation_w, input)[None, :, None, :]
    result = _displaced(input, y + shift[:, :, :, :, 0], x + shift[:, :, :, :, 1])
    if use_mask:
        result = result * mask.reshape(n, offset_groups, 1, kh, kw, out_h, out_w)
    columns = result.reshape(n, groups, channels // groups * kh * kw, out_h * out_w)
    kernel = weight.reshape(groups, weight.shape[0] // groups, -1)
    return (kernel @ columns).reshape(n, weight.shape[0], out_h, out_w) + bias[:, None, None]


def _places(count: int, stride: int, pad: int, kernel: int, dilation: int, like: Tensor) -> Tensor:
    """Where the kernel's elements lie along one side: [kernel, count]."""
    steps = _overloads.arange(count, dtype=like.dtype, device=like.device) * stride - pad
    taps = _overloads.arange(kernel, dtype=like.dtype, device=like.device)
    return steps + taps[:, None] * dilation


def _displaced(input: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Values between elements: [n, groups, channels / groups, *places], 0 outside. y, x: [n,
    groups, *places]."""
    n, channels, height, width = input.shape
    groups = y.shape[1]
    rows, columns = y.reshape(n * groups, -1, 1), x.reshape(n * groups, -1, 1)
    grid = f.stack([(2 * columns + 1) / width - 1, (2 * rows + 1) / height - 1], -1)
    result = F.grid_sample(
        input.reshape(n * groups, channels // groups, height, width), grid, align_corners=False
    )
    return result.reshape(n, groups, channels // groups, *y.shape[2:])


# -- gradients as operators of their own, which newer versions of torchvision register -------------


def _pulled(
    function: Callable[..., Any], grad: Tensor, shape: tuple[int, ...], *args: object
) -> Tensor:
    with enable_grad():
        x = grad.new_zeros(shape).requires_grad_()
        y = function(x, *args)
        pooled = y[0] if isinstance(y, tuple) else y
        if not pooled.requires_grad:  # of no region
            return x.detach()
        return grad_of(pooled, x, grad)[0]


def _roi_align_backward(
    grad: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    return _pulled(
        roi_align,
        grad,
        (batch_size, channels, height, width),
        rois,
        spatial_scale,
        pooled_height,
        pooled_width,
        sampling_ratio,
        aligned,
    )


def _roi_pool_backward(
    grad: Tensor,
    rois: Tensor,
    argmax: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    """Each gradient goes to where the maximum was."""
    result = grad.new_zeros(batch_size, channels, height * width)
    kept = (argmax >= 0).to(grad.dtype)
    for number in range(batch_size):
        chosen = (rois[:, 0].long() == number).nonzero()[:, 0]
        at = argmax[chosen].long().clamp(min=0).permute(1, 0, 2, 3).reshape(channels, -1)
        value = (grad * kept)[chosen].permute(1, 0, 2, 3).reshape(channels, -1)
        result[number].scatter_add_(1, at, value)
    return result.reshape(batch_size, channels, height, width)


def _ps_roi_align_backward(
    grad: Tensor,
    rois: Tensor,
    channel_mapping: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    return _pulled(
        ps_roi_align,
        grad,
        (batch_size, channels, height, width),
        rois,
        spatial_scale,
        pooled_height,
        pooled_width,
        sampling_ratio,
    )


def _ps_roi_pool_backward(
    grad: Tensor,
    rois: Tensor,
    channel_mapping: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    return _pulled(
        ps_roi_pool,
        grad,
        (batch_size, channels, height, width),
        rois,
        spatial_scale,
        pooled_height,
        pooled_width,
    )


def _deform_conv2d_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    *numbers: object,
) -> tuple[Tensor, ...]:
    forward: Any = deform_conv2d
    with enable_grad():
        arguments = [x.detach().requires_grad_() for x in (input, weight, offset, mask, bias)]
        y = forward(*arguments, *numbers)
        result = grad_of(y, arguments, grad, allow_unused=True)
    return tuple(
        f.zeros_like(x) if g is None else g for x, g in zip(arguments, result, strict=True)
    )
