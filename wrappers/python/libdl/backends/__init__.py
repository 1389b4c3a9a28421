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


import typing as _typing  # noqa: E402

from .._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)
