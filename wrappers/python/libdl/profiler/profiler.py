# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of libdl.profiler's names."""

from . import (
    ProfilerAction as ProfilerAction,
    profile as profile,
    schedule as schedule,
    supported_activities as supported_activities,
    tensorboard_trace_handler as tensorboard_trace_handler,
)


def _default_schedule_fn(_: int) -> ProfilerAction:
    """What is done in a step without a schedule: everything is recorded."""
    return ProfilerAction.RECORD
