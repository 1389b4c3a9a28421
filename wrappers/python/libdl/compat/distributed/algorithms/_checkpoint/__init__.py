# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of checkpoint_wrapper."""
