# SPDX-License-Identifier: Apache-2.0
"""What a worker may ask about itself."""

from ..samples import WorkerInfo as WorkerInfo, get_worker_info as get_worker_info

__all__ = ["WorkerInfo", "get_worker_info"]
