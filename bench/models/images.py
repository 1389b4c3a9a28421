# SPDX-License-Identifier: Apache-2.0
"""What the image networks have in common: ImageNet's shapes, the loss and the optimizer."""

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


def optimizer(m: Any, parameters: Any, **options: Any) -> Any:
    return m.optim.SGD(parameters, **{"lr": 3e-4, "momentum": 0.9, "weight_decay": 1e-4} | options)
