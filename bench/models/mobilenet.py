# SPDX-License-Identifier: Apache-2.0
"""MobileNet v1 (Howard et al. 2017): depthwise convolutions, each followed by a pointwise one."""

from typing import Any

from images import CHANNELS_LAST, CLASSES, UNIT, batch, loss, sgd, units

__all__ = ["CHANNELS_LAST", "SIZES", "UNIT", "batch", "loss", "network", "optimizer", "units"]

SIZES = (8,)
optimizer = sgd(lr=3e-4)

# (output channels, stride) of each pair.
PAIRS = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)]
PAIRS += [(512, 1)] * 5 + [(1024, 2), (1024, 1)]


def network(m: Any) -> Any:
    nn = m.nn

    def convolution(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> Any:
        conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
        nn.init.kaiming_normal_(conv.weight, mode="fan_out", nonlinearity="relu")
        return nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

    class MobileNet(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            layers = [convolution(3, 32, 3, stride=2)]
            inputs = 32
            for outputs, stride in PAIRS:
                layers.append(convolution(inputs, inputs, 3, stride, groups=inputs))
                layers.append(convolution(inputs, outputs, 1))
                inputs = outputs
            self.features = nn.Sequential(*layers)
            self.pool = nn.AdaptiveAvgPool2d((1, 1))
            self.classifier = nn.Linear(inputs, CLASSES)

        def forward(self, x: Any) -> Any:
            x = self.pool(self.features(x))
            return self.classifier(x.flatten(1))

    return MobileNet()
