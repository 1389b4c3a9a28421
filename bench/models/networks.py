# SPDX-License-Identifier: Apache-2.0
"""The six networks of the PyTorch paper (Paszke et al. 2019, table 1), each in a file of its own.

m is libdl or torch. Each file has

    network(m)                 the network, with weights to begin with
    batch(random, size)        NumPy arrays of random data
    loss(m, net, *batch)       one forward pass
    optimizer(m, parameters)   options: fused
    SIZES, UNIT, units(size)   sizes of batches to measure, what they consist of, and how many
    CHANNELS_LAST              whether PyTorch's convolutions profit from this layout
"""

from types import ModuleType

import alexnet
import gnmt
import mobilenet
import ncf
import resnet50
import vgg19

NETWORKS: dict[str, ModuleType] = {
    n.__name__: n for n in (alexnet, vgg19, resnet50, mobilenet, gnmt, ncf)
}
