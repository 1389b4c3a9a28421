# SPDX-License-Identifier: Apache-2.0
"""Streams and events of a device, under PyTorch's names; exported by libdl.cuda."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from . import _C
from ._types import DeviceLike, device as Device


def cuda_device(device: DeviceLike | None) -> Device:
    """A CUDA device, by its index or its name; None for the first."""
    if device is None:
        return Device("cuda", 0)
    return Device("cuda", device) if isinstance(device, int) else Device(device)


class Stream:
    """A queue of work on a device. Work on one stream runs in order; streams run concurrently.

    device: the device; None for the first CUDA device
    priority: lower numbers go first, if the device supports priorities

    Tensors may be used on any stream that has waited for the work that made them (wait_stream,
    wait_event). Their memory is reused only after every stream that used them has done so, and
    record_stream is not needed. A backward pass runs each gradient on the stream of its forward.
    """

    def __init__(self, device: DeviceLike | None = None, priority: int = 0) -> None:
        self._handle = _C.stream_new(cuda_device(device), priority)

    @classmethod
    def _of(cls, handle: object) -> Stream:
        instance = Stream.__new__(Stream)
        instance._handle = handle
        return instance

    @property
    def device(self) -> Device:
        """The stream's device."""
        return _C.stream_device(self._handle)

    @property
    def cuda_stream(self) -> int:
        """The driver's handle, 0 for the default stream."""
        return _C.stream_native(self._handle)

    def query(self) -> bool:
        """Whether all work queued so far is done."""
        return _C.stream_query(self._handle)

    def synchronize(self) -> None:
        """Waits until all work queued so far is done, and raises any error in it."""
        _C.stream_synchronize(self._handle)

    def wait_event(self, event: Event) -> None:
        """Makes later work wait for the event, as last recorded."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Makes later work wait for all work now queued on another stream."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Records the event, or a new one, after the work queued so far, and returns it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, int]:
        return str(self.device), self.cuda_stream

    def __repr__(self) -> str:
        return f"<libdl.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """Another library's stream; that library must keep it alive as long as libdl uses it.

    stream_ptr: the driver's handle (a CUstream) as an integer
    device: the device; None for the first CUDA device
    """

    def __init__(self, stream_ptr: int, device: DeviceLike | None = None) -> None:
        self._handle = _C.stream_wrap(cuda_device(device), stream_ptr)


class Event:
    """A mark in a stream's work, to wait for or to measure times.

    enable_timing: whether elapsed_time can be called
    blocking: accepted for PyTorch's programs; waiting always yields the processor
    interprocess: not supported

    The event belongs to the device of the stream that records it first.
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        if interprocess:
            raise NotImplementedError(
                "Event: interprocess is True, wanted False: events stay in their process"
            )
        self._timing = bool(enable_timing)
        self._handle: Any = None

    def record(self, stream: Stream | None = None) -> None:
        """Marks the current end of the stream's work; None: that of the current stream."""
        stream = current_stream() if stream is None else stream
        if self._handle is None:
            self._handle = _C.event_new(stream.device, self._timing)
        _C.event_record(self._handle, stream._handle)

    def wait(self, stream: Stream | None = None) -> None:
        """Makes the stream's later work wait for the event; no effect if it was never recorded."""
        stream = current_stream() if stream is None else stream
        if self._handle is not None:
            _C.stream_wait(stream._handle, self._handle)

    def query(self) -> bool:
        """Whether the work before the mark is done; True for an event never recorded."""
        return self._handle is None or _C.event_query(self._handle)

    def synchronize(self) -> None:
        """Waits until the work before the mark is done."""
        if self._handle is not None:
            _C.event_synchronize(self._handle)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to the other; both need enable_timing, and to be recorded."""
        for name, event in (("the event", self), ("argument 1 (end_event)", end_event)):
            if not event._timing:
                raise ValueError(f"elapsed_time: {name} has no timing, wanted enable_timing=True")
            if event._handle is None:
                raise ValueError(f"elapsed_time: {name} was never recorded")
        return _C.event_elapsed(self._handle, end_event._handle)


def current_stream(device: DeviceLike | None = None) -> Stream:
    """The stream on which this thread's operators run on the device."""
    return Stream._of(_C.stream_current(cuda_device(device)))


def default_stream(device: DeviceLike | None = None) -> Stream:
    """The device's default stream."""
    return Stream._of(_C.stream_default(cuda_device(device)))


def set_stream(stream: Stream) -> None:
    """From now on, this thread's operators on the stream's device run on the stream."""
    if not isinstance(stream, Stream):
        raise TypeError(
            f"set_stream: argument 1 (stream) is of type {type(stream).__name__}, wanted a Stream"
        )
    _C.stream_set_current(stream._handle)


class StreamContext:
    """Inside, this thread's operators on the stream's device run on it. None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._before: list[Stream] = []

    def __enter__(self) -> Stream | None:
        if self.stream is not None:
            self._before.append(current_stream(self.stream.device))
            set_stream(self.stream)
        return self.stream

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.stream is not None:
            set_stream(self._before.pop())


def stream(stream: Stream | None) -> StreamContext:
    """A context manager: inside, this thread's operators on the stream's device run on it."""
    return StreamContext(stream)
