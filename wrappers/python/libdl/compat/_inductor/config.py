# SPDX-License-Identifier: Apache-2.0
"""Settings of PyTorch's compiler: kept, and read by nobody."""

import sys
from types import SimpleNamespace

from .._config_patch import patcher

aggressive_fusion = False
allow_buffer_reuse = True
compile_threads = 1
conv_1x1_as_mm = False
coordinate_descent_check_all_directions = False
coordinate_descent_tuning = False
epilogue_fusion = True
force_fuse_int_mm_with_mul = False
freezing = False
fx_graph_cache = True
max_autotune = False
max_autotune_gemm_backends = "ATEN,TRITON,CPP"
shape_padding = True
triton = SimpleNamespace(cudagraphs=False, cudagraph_trees=True, unique_kernel_names=False)
cpp = SimpleNamespace(threads=-1, simdlen=None)

patch = patcher(sys.modules[__name__])
