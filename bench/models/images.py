# SPDX-License-Identifier: Apache-2.0
"""What the image networks have in common: ImageNet's shapes, the loss and the optimizer."""

from collections.abc import Callable
from typing import Any

import numpy

UNIT = "images"
CLASSES = 1000
CHANNELS_LAST = True


def batch(random: numpy.random.Generator, size: int) -> tuple[numpy.ndarray, ...]:
    images = random.standard_normal((size, 3, 224, 224), dtype=numpy.float32)
    return images, random.integers(0, CLASSES, size)


def units(size: int) -> int:
    return size


def loss(m: Any, net: Any, images: Any, labels: Any) -> Any:
    return m.nn.functional.cross_entropy(net(images), labels)


def sgd(lr: float) -> Callable[..., Any]:
    """The function that makes the optimizer. lr: so high that ten steps change the losses, so low
    that rounding does not grow."""

    def optimizer(m: Any, parameters: Any, **options: Any) -> Any:
        return m.optim.SGD(parameters, lr=lr, momentum=0.9, weight_decay=1e-4, **options)

    return optimizer
