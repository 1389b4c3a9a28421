# SPDX-License-Identifier: Apache-2.0
"""PyTorch's paths of what its tracers do with sizes and operators."""
