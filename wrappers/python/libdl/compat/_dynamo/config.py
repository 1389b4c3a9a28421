# SPDX-License-Identifier: Apache-2.0
"""Settings of PyTorch's tracer: kept, and read by nobody."""

import sys

from .._config_patch import patcher

assume_static_by_default = True
automatic_dynamic_shapes = True
cache_size_limit = 8
accumulated_cache_size_limit = 256
recompile_limit = 8
accumulated_recompile_limit = 256
capture_dynamic_output_shape_ops = False
capture_scalar_outputs = False
dynamic_shapes = True
force_parameter_static_shapes = True
optimize_ddp = True
skip_fwd_side_effects_in_bwd_under_checkpoint = False
suppress_errors = False
verbose = False

patch = patcher(sys.modules[__name__])
