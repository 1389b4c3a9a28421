# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of the handle that registering a hook returns."""

from ..nn._hooks import RemovableHandle as RemovableHandle
