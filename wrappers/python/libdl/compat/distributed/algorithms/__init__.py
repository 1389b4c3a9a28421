# SPDX-License-Identifier: Apache-2.0
"""PyTorch's paths of what trains with many processes, and of checkpoint_wrapper."""
