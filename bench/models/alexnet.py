# SPDX-License-Identifier: Apache-2.0
"""AlexNet in one tower (Krizhevsky 2014), without dropout, so that two libraries can agree."""

from typing import Any

from images import CHANNELS_LAST, CLASSES, UNIT, batch, loss, sgd, units

__all__ = ["CHANNELS_LAST", "SIZES", "UNIT", "batch", "loss", "network", "optimizer", "units"]

SIZES = (32,)
optimizer = sgd(lr=1e-2)


def network(m: Any) -> Any:
    nn = m.nn

    class AlexNet(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2d(3, 64, 11, stride=4, padding=2),
                nn.ReLU(inplace=True),
                nn.MaxPool2d(3, 2),
                nn.Conv2d(64, 192, 5, padding=2),
                nn.ReLU(inplace=True),
                nn.MaxPool2d(3, 2),
                nn.Conv2d(192, 384, 3, padding=1),
                nn.ReLU(inplace=True),
                nn.Conv2d(384, 256, 3, padding=1),
                nn.ReLU(inplace=True),
                nn.Conv2d(256, 256, 3, padding=1),
                nn.ReLU(inplace=True),
                nn.MaxPool2d(3, 2),
            )
            self.pool = nn.AdaptiveAvgPool2d((6, 6))
            self.classifier = nn.Sequential(
                nn.Linear(256 * 6 * 6, 4096),
                nn.ReLU(inplace=True),
                nn.Linear(4096, 4096),
                nn.ReLU(inplace=True),
                nn.Linear(4096, CLASSES),
            )

        def forward(self, x: Any) -> Any:
            x = self.pool(self.features(x))
            return self.classifier(x.flatten(1))

    return AlexNet()
