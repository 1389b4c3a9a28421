# SPDX-License-Identifier: Apache-2.0
"""A small GPT from its parts: attention, blocks, AdamW with a cosine schedule, and text written
with a cache of keys and values. It learns the licence texts of Debian character by character.

    python examples/gpt.py [steps]
"""

import math
import sys

import libdl
from libdl import Tensor, nn
from libdl.nn import functional as F
from licences import Text

try:
    from tqdm import tqdm, trange

    tell = tqdm.write
except ImportError:  # no bar, plain lines
    trange, tell = range, print

BATCH, CONTEXT, WIDTH, HEADS, LAYERS = 24, 64, 96, 4, 3

Kept = tuple[Tensor, Tensor]  # keys and values of all positions so far


class Attention(nn.Module):
    """softmax(q k^T / sqrt(d)) v for each head, each position looking at those before it."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        known = libdl.ones(CONTEXT, CONTEXT).tril() > 0
        self.register_buffer("known", known, persistent=False)

    def forward(self, x: Tensor, before: Kept | None = None) -> tuple[Tensor, Kept]:
        n, length, _ = x.shape
        heads = self.qkv(x).view(n, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)
        if before is not None:
            k, v = libdl.cat([before[0], k], 2), libdl.cat([before[1], v], 2)
        end = k.shape[2]
        y = F.scaled_dot_product_attention(q, k, v, self.known[end - length : end, :end])
        return self.out(y.transpose(1, 2).reshape(n, length, WIDTH)), (k, v)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.feed = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])

    def forward(self, x: Tensor, before: Kept | None = None) -> tuple[Tensor, Kept]:
        y, kept = self.attention(self.norms[0](x), before)
        x = x + y
        return x + self.feed(self.norms[1](x)), kept


class GPT(nn.Module):
    def __init__(self, characters: int):
        super().__init__()
        self.characters = nn.Embedding(characters, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.score = nn.Linear(WIDTH, characters, bias=False)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.05)

    def forward(self, x: Tensor, cache: list[Kept] | None = None) -> tuple[Tensor, list[Kept]]:
        first = cache[0][0].shape[2] if cache else 0
        y = self.characters(x) + self.places(libdl.arange(first, first + x.shape[1]))
        kept: list[Kept] = []
        for i, block in enumerate(self.blocks):
            y, both = block(y, cache[i] if cache else None)
            kept.append(both)
        return self.score(self.norm(y)), kept


def write(model: GPT, text: Text, begin: str) -> str:
    """Until the context is full; only the last character passes through the model each time."""
    numbers = text.encode(begin)
    scores, cache = model(numbers.view(1, -1))
    while len(numbers) < CONTEXT:
        largest, place = (scores[0, -1] / 0.8).topk(8)
        drawn = (largest.softmax(0).cumsum(0) < libdl.rand(())).sum().clamp(max=7)
        numbers = libdl.cat([numbers, place[drawn].view(1)])
        scores, cache = model(numbers[-1:].view(1, 1), cache)
    return text.decode(numbers)


def cache_agrees(model: GPT, x: Tensor) -> bool:
    whole, _ = model(x)
    part, cache = model(x[:, :-1])
    last, _ = model(x[:, -1:], cache)
    return libdl.allclose(whole, libdl.cat([part, last], 1), atol=1e-4)


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    libdl.manual_seed(0)
    text = Text()
    model = GPT(len(text))
    optimizer = libdl.optim.AdamW(model.parameters(), lr=4e-3, betas=(0.9, 0.98), weight_decay=0.05)
    schedule = libdl.optim.lr_scheduler.SequentialLR(
        optimizer,
        [
            libdl.optim.lr_scheduler.LinearLR(optimizer, 0.05, total_iters=30),
            libdl.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, steps - 30), eta_min=2e-4),
        ],
        [30],
    )
    for step in trange(steps):
        x, y = text.batch(text.train, BATCH, CONTEXT)
        scores, _ = model(x)
        loss = F.cross_entropy(scores.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            tell(f"step {step:4}  {loss.item() / math.log(2):.3f} bits")
    model.eval()
    with libdl.no_grad():
        x, y = text.batch(text.held_out, 128, CONTEXT)
        loss = F.cross_entropy(model(x)[0].flatten(0, 1), y.flatten())
        print(f"held out: {loss.item() / math.log(2):.3f} bits a character")
        print(f"with a cache the scores are the same: {cache_agrees(model, x[:2])}")
        for begin in ("You may ", "The License "):
            print(write(model, text, begin))


if __name__ == "__main__":
    main()
