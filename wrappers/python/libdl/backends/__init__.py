# SPDX-License-Identifier: Apache-2.0
"""The switches of PyTorch's backends that programs set.

libdl has kernels of its own: a switch is stored and read back, and changes no result.

Example:
    >>> torch.backends.cudnn.benchmark = True
    >>> torch.backends.cudnn.benchmark
    True
    >>> torch.backends.cudnn.benchmark = False
"""

from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum, quantized

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized"]
