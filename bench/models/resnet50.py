# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 (He et al. 2015) in the variant v1.5, whose 3x3 convolutions have the stride."""

from typing import Any

from images import CHANNELS_LAST, CLASSES, UNIT, batch, loss, sgd, units

__all__ = ["CHANNELS_LAST", "SIZES", "UNIT", "batch", "loss", "network", "optimizer", "units"]

SIZES = (8,)
optimizer = sgd(lr=3e-4)

# (blocks, width, stride of the first block); a block's output has four times its width.
STAGES = [(3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)]
EXPANSION = 4


def network(m: Any) -> Any:
    nn = m.nn

    def convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> list[Any]:
        """A convolution and the normalisation of what it returns."""
        conv = nn.Conv2d(inputs, outputs, size, stride=stride, padding=size // 2, bias=False)
        nn.init.kaiming_normal_(conv.weight, mode="fan_out", nonlinearity="relu")
        return [conv, nn.BatchNorm2d(outputs)]

    class Bottleneck(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, inputs: int, width: int, stride: int) -> None:
            super().__init__()
            outputs = width * EXPANSION
            self.conv1, self.bn1 = convolution(inputs, width, 1)
            self.conv2, self.bn2 = convolution(width, width, 3, stride)
            self.conv3, self.bn3 = convolution(width, outputs, 1)
            self.relu = nn.ReLU(inplace=True)
            self.shortcut = nn.Identity()
            if stride != 1 or inputs != outputs:
                self.shortcut = nn.Sequential(*convolution(inputs, outputs, 1, stride))

        def forward(self, x: Any) -> Any:
            y = self.relu(self.bn1(self.conv1(x)))
            y = self.relu(self.bn2(self.conv2(y)))
            y = self.bn3(self.conv3(y))
            y += self.shortcut(x)
            return self.relu(y)

    class ResNet(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Sequential(
                *convolution(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, padding=1)
            )
            blocks: list[Any] = []
            inputs = 64
            for count, width, stride in STAGES:
                for i in range(count):
                    blocks.append(Bottleneck(inputs, width, stride if i == 0 else 1))
                    inputs = width * EXPANSION
            self.blocks = nn.Sequential(*blocks)
            self.pool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(inputs, CLASSES)

        def forward(self, x: Any) -> Any:
            x = self.pool(self.blocks(self.stem(x)))
            return self.fc(x.flatten(1))

    return ResNet()
