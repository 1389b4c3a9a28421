# SPDX-License-Identifier: Apache-2.0
"""A convolutional network on handwritten digits: 98.5 % and more of the images that were held out.

    python examples/digits_cnn.py [data/digits.safetensors]

With `import torch as libdl` it runs on PyTorch (which needs safetensors.torch.load_file for the
data).
"""

import sys

import libdl
from libdl import Tensor, nn

try:
    from tqdm import tqdm, trange

    tell = tqdm.write
except ImportError:  # no bar, plain lines
    trange, tell = range, print

EPOCHS, BATCH = 20, 32


def make_network() -> nn.Sequential:
    def block(channels: int, made: int) -> list[nn.Module]:
        return [
            nn.Conv2d(channels, made, 3, padding=1, bias=False),
            nn.BatchNorm2d(made),
            nn.ReLU(),
        ]

    return nn.Sequential(
        *block(1, 32),
        *block(32, 32),
        nn.MaxPool2d(2),
        nn.Dropout(0.1),
        *block(32, 64),
        *block(64, 64),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(256, 10),
    )


def shifted(images: Tensor) -> Tensor:
    """Up to one pixel in each direction, all images of a batch alike."""
    padded = nn.functional.pad(images, (1, 1, 1, 1))
    row, column = libdl.randint(0, 3, (2,)).tolist()
    return padded[..., row : row + 8, column : column + 8]


def main() -> None:
    data = libdl.load(sys.argv[1] if len(sys.argv) > 1 else "data/digits.safetensors")
    images, labels = data["images"].view(-1, 1, 8, 8), data["labels"]
    held_out = libdl.arange(len(labels)) % 5 == 0
    x, y = images[~held_out], labels[~held_out]

    libdl.manual_seed(0)
    network = make_network()
    optimizer = libdl.optim.AdamW(network.parameters(), weight_decay=1e-2)
    steps = EPOCHS * -(-len(y) // BATCH)
    schedule = libdl.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=steps)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    for epoch in trange(EPOCHS):
        network.train()
        for batch in libdl.randperm(len(y)).split(BATCH):
            loss = criterion(network(shifted(x[batch])), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        if epoch % 5 == 4:
            tell(f"epoch {epoch:2}  loss {loss.item():.4f}")

    network.eval()
    with libdl.no_grad():
        right = network(images[held_out]).argmax(1) == labels[held_out]
    print(f"held out: {100 * right.float().mean().item():.2f} %")


if __name__ == "__main__":
    main()
