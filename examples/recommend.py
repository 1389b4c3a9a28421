# SPDX-License-Identifier: Apache-2.0
"""Neural collaborative filtering (He et al., WWW 2017) on generated ratings: users and films have
genres, and a user watches films of the user's genres. The model knows only who watched what.

    python examples/recommend.py [epochs]

Prints how often a film that was held out is among the first ten of a hundred that the model puts in
order (by chance a tenth; at most about four tenths, for a user likes a quarter of all films), and
whether films of one genre have come to lie together.
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

USERS, FILMS, GENRES, WATCHED = 600, 400, 8, 24
BATCH, NEGATIVES = 1024, 4


def ratings() -> tuple[Tensor, Tensor, Tensor]:
    """Pairs of user and film, the last of each user apart, and the films' genres."""
    genre = libdl.randint(0, GENRES, (FILMS,))
    tastes = libdl.stack([libdl.randperm(GENRES)[:2] for _ in range(USERS)])
    likes = (genre == tastes[:, :1]) | (genre == tastes[:, 1:])
    # The largest of random numbers, which those of liked films mostly are.
    order = (libdl.rand(USERS, FILMS) + 2 * likes.float()).topk(WATCHED, dim=1).indices
    users = libdl.arange(USERS).view(-1, 1).expand(USERS, WATCHED)
    pairs = libdl.stack([users, order], 2)
    return pairs[:, 1:].reshape(-1, 2), pairs[:, 0], genre


class NeuMF(nn.Module):
    """Products of factors beside a network of others, of which the last layer makes one score."""

    def __init__(self, factors: int = 16):
        super().__init__()
        self.users, self.films = nn.Embedding(USERS, factors), nn.Embedding(FILMS, factors)
        self.deep_users = nn.Embedding(USERS, 2 * factors)
        self.deep_films = nn.Embedding(FILMS, 2 * factors)
        self.deep = nn.Sequential(
            nn.Linear(4 * factors, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU()
        )
        self.score = nn.Linear(factors + 32, 1)
        for table in (self.users, self.films, self.deep_users, self.deep_films):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, users: Tensor, films: Tensor) -> Tensor:
        product = self.users(users) * self.films(films)
        deep = self.deep(libdl.cat([self.deep_users(users), self.deep_films(films)], 1))
        return self.score(libdl.cat([product, deep], 1)).squeeze(1)


def main() -> None:
    epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    libdl.manual_seed(0)
    watched, held_out, genre = ratings()
    model = NeuMF()
    optimizer = libdl.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in trange(epochs):
        for batch in libdl.randperm(len(watched)).split(BATCH):
            users, films = watched[batch].T
            users = users.repeat(1 + NEGATIVES)
            films = libdl.cat([films, libdl.randint(0, FILMS, (NEGATIVES * len(batch),))])
            wanted = libdl.zeros(len(users))
            wanted[: len(batch)] = 1
            loss = F.binary_cross_entropy_with_logits(model(users, films), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        tell(f"epoch {epoch}  loss {loss.item():.4f}")

    with libdl.no_grad():
        others = libdl.randint(0, FILMS, (USERS, 99))
        films = libdl.cat([held_out[:, 1:], others], 1)
        users = held_out[:, :1].expand(USERS, 100)
        scores = model(users.reshape(-1), films.reshape(-1)).view(USERS, 100)
        hit = (scores > scores[:, :1]).sum(1) < 10
        table = F.normalize(model.films.weight)
        alike = table @ table.T
        same = genre.view(-1, 1) == genre
        contrast = alike[same].mean().item() - alike[~same].mean().item()
    print(f"hit rate at 10: {100 * hit.float().mean().item():.1f} %")
    print(f"films of one genre are nearer by {contrast:.3f}")


if __name__ == "__main__":
    main()
