# SPDX-License-Identifier: Apache-2.0
"""The profiler under its older name; see libdl.profiler."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ..profiler import DeviceType, EventList, FunctionEvent, kineto_available, record_function
from ..profiler import profile as _profile

__all__ = [
    "DeviceType", "EventList", "FunctionEvent", "emit_itt", "emit_nvtx", "kineto_available",
    "profile", "record_function",
]  # fmt: skip


class profile:  # noqa: N801  (PyTorch's name)
    """As libdl.profiler.profile, without schedules; enabled=False records nothing."""

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
    ) -> None:
        if use_device not in (None, "cpu"):
            warnings.warn(f"profile: of {use_device} nothing is recorded", stacklevel=2)
        self.enabled = enabled and use_cpu
        self._profile = _profile(
            record_shapes=record_shapes, with_flops=with_flops, profile_memory=profile_memory,
            with_stack=with_stack, with_modules=with_modules, acc_events=acc_events,
            experimental_config=experimental_config,
            custom_trace_id_callback=custom_trace_id_callback,
        )  # fmt: skip

    @classmethod
    def of(cls, newer: _profile) -> profile:
        """What a libdl.profiler.profile recorded, under these names."""
        made = cls()
        made._profile = newer
        return made

    def __getattr__(self, name: str) -> Any:
        """The options, and what else the newer one has."""
        if name.startswith("_"):
            raise AttributeError(f"'profile' object has no attribute {name!r}")
        return getattr(self._profile, name)

    def __enter__(self) -> profile:
        if self.enabled:
            self._profile.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.enabled:
            self._profile.__exit__(*exception)

    def _finished(self) -> bool:
        return self.enabled and self._profile._events is not None

    def __str__(self) -> str:
        return str(self.function_events) if self._finished() else "<unfinished autograd.profile>"

    def __repr__(self) -> str:
        return repr(self.function_events) if self._finished() else "<unfinished autograd.profile>"

    @property
    def function_events(self) -> EventList:
        return self._profile.events() if self.enabled else EventList()

    @property
    def self_cpu_time_total(self) -> float:
        return self.function_events.self_cpu_time_total

    def key_averages(self, *args: Any, **options: Any) -> EventList:
        """As EventList.key_averages."""
        return self.function_events.key_averages(*args, **options)

    def total_average(self) -> Any:
        return self.function_events.total_average()

    def table(self, *args: Any, **options: Any) -> str:
        return self.function_events.table(*args, **options)

    def export_chrome_trace(self, path: str) -> None:
        self.function_events.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        self.function_events.export_stacks(path, metric)


@contextlib.contextmanager
def emit_nvtx(enabled: bool = True, record_shapes: bool = False) -> Iterator[None]:
    """Would show the calls to NVIDIA's tools; it warns, and does nothing."""
    if enabled:
        warnings.warn("emit_nvtx: calls are not shown to NVIDIA's tools", stacklevel=3)
    yield


@contextlib.contextmanager
def emit_itt(enabled: bool = True, record_shapes: bool = False) -> Iterator[None]:
    """Would show the calls to Intel's tools; it warns, and does nothing."""
    if enabled:
        warnings.warn("emit_itt: calls are not shown to Intel's tools", stacklevel=3)
    yield
