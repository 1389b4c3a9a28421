# SPDX-License-Identifier: Apache-2.0
"""Listing 2 of the PyTorch paper (NeurIPS 2019), two models and two optimizers that depend on each
other, trained to draw handwritten digits.

    python examples/gan.py [data/digits.safetensors]

step() is the paper's. It prints how far the drawn images' mean and deviation, pixel by pixel, are
from those of the digits, and at last some digits. With `import torch` it runs on PyTorch (which
needs safetensors.torch.load_file for the data).
"""

# As in the paper, functions have no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import sys

import libdl as torch
from libdl import nn, optim

try:
    from tqdm import tqdm, trange

    tell = tqdm.write
except ImportError:  # no bar, plain lines
    trange, tell = range, print

BATCH, NOISE, PIXELS, STEPS = 64, 16, 64, 3000

torch.manual_seed(1)
real_label, fake_label = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)
loss = nn.BCELoss()


def create_discriminator():
    return nn.Sequential(
        nn.Linear(PIXELS, 128),
        nn.LeakyReLU(0.2),
        nn.Linear(128, 128),
        nn.LeakyReLU(0.2),
        nn.Linear(128, 1),
        nn.Sigmoid(),
    )


def create_generator():
    return nn.Sequential(
        nn.Linear(NOISE, 128),
        nn.BatchNorm1d(128),
        nn.ReLU(),
        nn.Linear(128, 128),
        nn.BatchNorm1d(128),
        nn.ReLU(),
        nn.Linear(128, PIXELS),
        nn.Sigmoid(),
    )


def get_noise():
    return torch.randn(BATCH, NOISE)


discriminator = create_discriminator()
generator = create_generator()
optimD = optim.Adam(discriminator.parameters())
optimG = optim.Adam(generator.parameters())


def step(real_sample):
    # (1) Update Discriminator
    errD_real = loss(discriminator(real_sample), real_label)
    errD_real.backward()
    fake = generator(get_noise())
    errD_fake = loss(discriminator(fake.detach()), fake_label)
    errD_fake.backward()
    optimD.step()
    # (2) Update Generator
    errG = loss(discriminator(fake), real_label)
    errG.backward()
    optimG.step()


def distance(images, digits):
    """Between the means and the deviations of pixels, from 0 to 1."""
    mean = (images.mean(0) - digits.mean(0)).abs().mean().item()
    deviation = (images.std(0) - digits.std(0)).abs().mean().item()
    return mean, deviation


def draw(image):
    for row in image.view(8, 8).tolist():
        print("".join(" .:-=+*#%@"[min(9, int(10 * pixel))] * 2 for pixel in row))


def main() -> None:
    digits = torch.load(sys.argv[1] if len(sys.argv) > 1 else "data/digits.safetensors")["images"]
    digits = digits.view(-1, PIXELS)
    for number in trange(STEPS + 1):
        if number % 500 == 0:
            with torch.no_grad():
                images = torch.cat([generator(get_noise()) for _ in range(16)])
            tell(
                "step {:5}  mean {:.3f}  deviation {:.3f}".format(number, *distance(images, digits))
            )
        step(digits[torch.randint(0, len(digits), (BATCH,))])
        optimD.zero_grad()  # which the listing leaves out
        optimG.zero_grad()
    for image in images[:2]:
        draw(image)


if __name__ == "__main__":
    main()
