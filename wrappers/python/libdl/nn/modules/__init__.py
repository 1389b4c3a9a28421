# SPDX-License-Identifier: Apache-2.0
"""PyTorch's paths of what libdl.nn has, for programs that import it by them."""

from __future__ import annotations

from typing import Any

from ..._missing import explain


def names_of_nn(path: str) -> Any:
    """A module's __getattr__: the names are those of libdl.nn."""

    def __getattr__(name: str) -> Any:
        from ... import nn

        if name.startswith("__") or name not in nn.__all__:
            raise AttributeError(explain(name, path))
        return getattr(nn, name)

    return __getattr__


from . import (  # noqa: E402
    activation as activation, adaptive as adaptive, batchnorm as batchnorm,
    channelshuffle as channelshuffle, container as container, conv as conv, distance as distance,
    dropout as dropout, flatten as flatten, fold as fold, instancenorm as instancenorm, lazy as lazy,
    linear as linear, loss as loss, module as module, normalization as normalization,
    padding as padding, pixelshuffle as pixelshuffle, pooling as pooling, rnn as rnn,
    sparse as sparse, transformer as transformer, upsampling as upsampling, utils as utils,
)  # fmt: skip

__getattr__ = names_of_nn(__name__)
