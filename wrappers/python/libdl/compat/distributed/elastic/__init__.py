# SPDX-License-Identifier: Apache-2.0
"""PyTorch's launcher of processes, which is not offered."""
