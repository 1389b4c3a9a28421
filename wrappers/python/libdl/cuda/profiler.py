# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's profiler around a block, which is not offered; see libdl.profiler."""

from .._named_only import refusing

_REASON = "NVIDIA's profiler is not steered from here; see libdl.profiler and cuda.nvtx"
init = refusing("cuda.profiler.init", _REASON)
start = refusing("cuda.profiler.start", _REASON)
stop = refusing("cuda.profiler.stop", _REASON)
profile = refusing("cuda.profiler.profile", _REASON)
