# SPDX-License-Identifier: Apache-2.0
"""An LSTM learns the licence texts of Debian character by character, and writes some.

    python examples/char_lstm.py [steps]

Prints the bits that the model needs for a character of a text that was held out; if all characters
were equally likely, it would be 6.6.
"""

import math
import sys

import libdl
from libdl import Tensor, nn
from licences import Text

try:
    from tqdm import tqdm, trange

    tell = tqdm.write
except ImportError:  # no bar, plain lines
    trange, tell = range, print

BATCH, LENGTH, HIDDEN = 32, 64, 192


State = tuple[Tensor, Tensor]


class Model(nn.Module):
    def __init__(self, characters: int):
        super().__init__()
        self.embed = nn.Embedding(characters, 48)
        self.lstm = nn.LSTM(48, HIDDEN, num_layers=2, batch_first=True)
        self.score = nn.Linear(HIDDEN, characters)

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        y, after = self.lstm(self.embed(x), state)
        return self.score(y), after


def write(model: Model, text: Text, begin: str, count: int) -> str:
    numbers, state = text.encode(begin), None
    x = numbers.view(1, -1)
    for _ in range(count):
        scores, state = model(x, state)
        probabilities = (scores[0, -1] / 0.7).softmax(0)
        chosen = (probabilities.cumsum(0) < libdl.rand(())).sum().clamp(max=len(text) - 1)
        numbers = libdl.cat([numbers, chosen.view(1)])
        x = chosen.view(1, 1)
    return text.decode(numbers)


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    libdl.manual_seed(0)
    text = Text()
    model, criterion = Model(len(text)), nn.CrossEntropyLoss()
    optimizer = libdl.optim.Adam(model.parameters(), lr=4e-3)
    for step in trange(steps):
        x, y = text.batch(text.train, BATCH, LENGTH)
        scores, _ = model(x)
        loss = criterion(scores.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 99:
            tell(f"step {step:4}  {loss.item() / math.log(2):.3f} bits")
    with libdl.no_grad():
        x, y = text.batch(text.held_out, 64, 128)
        loss = criterion(model(x)[0].flatten(0, 1), y.flatten())
        print(f"held out: {loss.item() / math.log(2):.3f} bits a character")
        print(write(model, text, "You may ", 160))


if __name__ == "__main__":
    main()
