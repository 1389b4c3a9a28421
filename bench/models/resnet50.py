# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 (He et al. 2015) in the variant v1.5, whose 3x3 convolutions have the stride.

Parameters have torchvision's names, as those of examples/resnet50.cc do."""

from typing import Any

from images import CHANNELS_LAST, CLASSES, UNIT, batch, loss, sgd, units

__all__ = ["CHANNELS_LAST", "SIZES", "UNIT", "batch", "loss", "network", "optimizer", "units"]

SIZES = (8,)
optimizer = sgd(lr=3e-4)

EXPANSION = 4  # a block's output has so many times its width


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
            self.downsample = nn.Identity()
            if stride != 1 or inputs != outputs:
                self.downsample = nn.Sequential(*convolution(inputs, outputs, 1, stride))

        def forward(self, x: Any) -> Any:
            y = self.relu(self.bn1(self.conv1(x)))
            y = self.relu(self.bn2(self.conv2(y)))
            y = self.bn3(self.conv3(y))
            y += self.downsample(x)
            return self.relu(y)

    def stage(inputs: int, count: int, width: int, stride: int) -> Any:
        blocks = [Bottleneck(inputs, width, stride)]
        blocks += [Bottleneck(width * EXPANSION, width, 1) for _ in range(count - 1)]
        return nn.Sequential(*blocks)

    class ResNet(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.bn1 = convolution(3, 64, 7, 2)
            self.relu = nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(3, 2, padding=1)
            self.layer1 = stage(64, 3, 64, 1)
            self.layer2 = stage(256, 4, 128, 2)
            self.layer3 = stage(512, 6, 256, 2)
            self.layer4 = stage(1024, 3, 512, 2)
            self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(2048, CLASSES)

        def forward(self, x: Any) -> Any:
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(self.avgpool(x).flatten(1))

    return ResNet()
