# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private paths of libdl.func."""

_LAZY_MODULES = ("eager_transforms", "vmap")
