# SPDX-License-Identifier: Apache-2.0
"""A small U-Net that finds discs among squares in noise, on images that it has never seen.

    python examples/unet.py [steps]

Prints the intersection over union of the discs found and the discs drawn.
"""

import sys

import libdl
from libdl import Tensor, nn
from libdl.nn import functional as F

try:
    from tqdm import tqdm, trange

    tell = tqdm.write
except ImportError:  # no bar, plain lines
    trange, tell = range, print

SIZE, BATCH = 32, 16


def shapes(count: int) -> tuple[Tensor, Tensor]:
    """Images with a disc and a square each, in noise; and the discs."""
    row = libdl.arange(SIZE, dtype=libdl.float32).view(1, SIZE, 1)
    column = row.transpose(1, 2)

    def place() -> tuple[Tensor, Tensor]:
        at = libdl.rand(2, count, 1, 1) * (SIZE - 12) + 6
        return row - at[0], column - at[1]

    (y, x), (v, u) = place(), place()
    radius = libdl.rand(count, 1, 1) * 3 + 3
    disc = (y * y + x * x <= radius * radius).float()
    square = (libdl.maximum(v.abs(), u.abs()) <= 4).float()
    image = libdl.maximum(disc, square) + 0.3 * libdl.randn(count, SIZE, SIZE)
    return image.unsqueeze(1), disc.unsqueeze(1)


def twice(channels: int, made: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, made, 3, padding=1),
        nn.GroupNorm(4, made),
        nn.ReLU(),
        nn.Conv2d(made, made, 3, padding=1),
        nn.GroupNorm(4, made),
        nn.ReLU(),
    )


class UNet(nn.Module):
    def __init__(self, width: int = 16):
        super().__init__()
        self.down = nn.ModuleList([twice(1, width), twice(width, 2 * width)])
        self.bottom = twice(2 * width, 4 * width)
        self.up = nn.ModuleList(
            [
                nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2),
                nn.ConvTranspose2d(2 * width, width, 2, stride=2),
            ]
        )
        self.join = nn.ModuleList([twice(4 * width, 2 * width), twice(2 * width, width)])
        self.last = nn.Conv2d(width, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for down in self.down:
            x = down(x)
            kept.append(x)
            x = F.max_pool2d(x, 2)
        x = self.bottom(x)
        for up, join in zip(self.up, self.join):
            x = join(libdl.cat([kept.pop(), up(x)], 1))
        return self.last(x)


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    libdl.manual_seed(0)
    network = UNet()
    optimizer = libdl.optim.Adam(network.parameters(), lr=1e-3)
    rare = libdl.tensor(4.0)  # of a disc, which covers a fifteenth of an image
    for step in trange(steps):
        images, discs = shapes(BATCH)
        loss = F.binary_cross_entropy_with_logits(network(images), discs, pos_weight=rare)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            tell(f"step {step:4}  loss {loss.item():.4f}")
    network.eval()
    with libdl.no_grad():
        images, discs = shapes(128)
        found = network(images) > 0
    both = libdl.logical_and(found, discs > 0).sum().item()
    either = libdl.logical_or(found, discs > 0).sum().item()
    print(f"intersection over union: {both / either:.3f}")


if __name__ == "__main__":
    main()
