# SPDX-License-Identifier: Apache-2.0
"""VGG-19 (Simonyan and Zisserman 2014, configuration E), without dropout."""

from typing import Any

from images import CHANNELS_LAST, CLASSES, UNIT, batch, loss, sgd, units

__all__ = ["CHANNELS_LAST", "SIZES", "UNIT", "batch", "loss", "network", "optimizer", "units"]

SIZES = (2,)
optimizer = sgd(lr=2e-4)

# The channels of each stage's convolutions; a stage ends with a pooling.
STAGES = [[64] * 2, [128] * 2, [256] * 4, [512] * 4, [512] * 4]


def network(m: Any) -> Any:
    nn = m.nn

    def features() -> Any:
        layers: list[Any] = []
        before = 3
        for stage in STAGES:
            for channels in stage:
                layers += [nn.Conv2d(before, channels, 3, padding=1), nn.ReLU(inplace=True)]
                before = channels
            layers.append(nn.MaxPool2d(2, 2))
        return nn.Sequential(*layers)

    class VGG(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.features = features()
            self.pool = nn.AdaptiveAvgPool2d((7, 7))
            self.classifier = nn.Sequential(
                nn.Linear(512 * 7 * 7, 4096),
                nn.ReLU(inplace=True),
                nn.Linear(4096, 4096),
                nn.ReLU(inplace=True),
                nn.Linear(4096, CLASSES),
            )
            # Without normalisation, signals would fade in sixteen layers of the default weights.
            for layer in self.modules():
                if isinstance(layer, nn.Conv2d):
                    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
                    nn.init.zeros_(layer.bias)

        def forward(self, x: Any) -> Any:
            x = self.pool(self.features(x))
            return self.classifier(x.flatten(1))

    return VGG()
