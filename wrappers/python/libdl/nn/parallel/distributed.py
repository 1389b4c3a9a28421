# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of DistributedDataParallel."""

from . import DistributedDataParallel as DistributedDataParallel
