# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers as functions of lists, under PyTorch's path of them."""

from .adadelta import adadelta as adadelta
from .adagrad import adagrad as adagrad
from .adam import adam as adam, adamw as adamw
from .adamax import adamax as adamax
from .asgd import asgd as asgd
from .nadam import nadam as nadam
from .radam import radam as radam
from .rmsprop import rmsprop as rmsprop
from .rprop import rprop as rprop
from .sgd import sgd as sgd
from .sparse_adam import sparse_adam as sparse_adam

__all__ = [
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "adamw",
    "asgd",
    "nadam",
    "radam",
    "rmsprop",
    "rprop",
    "sgd",
    "sparse_adam",
]
