# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of what switches recording on and off."""

from .._modes import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
    set_multithreading_enabled as set_multithreading_enabled,
)
