# SPDX-License-Identifier: Apache-2.0
"""GNMT v2: Wu et al. 2016, with attention from the decoder's first layer to all the others.

Eight layers on each side, of which the encoder's first reads in both directions. The embedding is
shared, the attention additive with normalised weights (Bahdanau et al. 2014, Salimans and Kingma
2016), the labels are smoothed. There is no dropout. Sequences are time-major.
"""

from typing import Any

import numpy

__all__ = ["CHANNELS_LAST", "SIZES", "UNIT", "batch", "loss", "network", "optimizer", "units"]

UNIT = "tokens"
SIZES = (8,)
CHANNELS_LAST = False

LENGTH = 25  # tokens of a sentence
VOCABULARY = 32_000
HIDDEN = 1024
LAYERS = 8
PADDING = 0
SMOOTHING = 0.1
SCALE = 0.1  # weights begin uniform between -SCALE and SCALE


def network(m: Any) -> Any:
    nn = m.nn

    class Encoder(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, embedding: Any) -> None:
            super().__init__()
            self.embedding = embedding
            self.first = nn.LSTM(HIDDEN, HIDDEN, bidirectional=True)
            self.layers = nn.ModuleList(
                nn.LSTM(HIDDEN if i else 2 * HIDDEN, HIDDEN) for i in range(LAYERS - 1)
            )

        def forward(self, tokens: Any, lengths: Any) -> Any:
            packed = nn.utils.rnn.pack_padded_sequence(self.embedding(tokens), lengths)
            packed, _ = self.first(packed)
            x, _ = nn.utils.rnn.pad_packed_sequence(packed)
            x, _ = self.layers[0](x)
            for layer in self.layers[1:]:
                y, _ = layer(x)
                x = x + y
            return x

    class Attention(nn.Module):  # type: ignore[misc, name-defined]
        """score(q, k) = g v / |v| . tanh(W q + U k + b)"""

        def __init__(self) -> None:
            super().__init__()
            self.query = nn.Linear(HIDDEN, HIDDEN, bias=False)
            self.key = nn.Linear(HIDDEN, HIDDEN, bias=False)
            self.v = nn.Parameter(m.empty(HIDDEN).uniform_(-SCALE, SCALE))
            self.g = nn.Parameter(m.full((1,), HIDDEN**-0.5))
            self.b = nn.Parameter(m.zeros(HIDDEN))

        def forward(self, queries: Any, memory: Any, hidden: Any) -> Any:
            """Mixtures of the memory, one for each query; hidden masks the memory's padding."""
            q = self.query(queries).transpose(0, 1).unsqueeze(2)
            k = self.key(memory).transpose(0, 1).unsqueeze(1)
            scores = m.tanh(q + k + self.b) @ (self.g * self.v / self.v.norm())
            weights = m.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
            return m.bmm(weights, memory.transpose(0, 1)).transpose(0, 1)

    class Decoder(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, embedding: Any) -> None:
            super().__init__()
            self.embedding = embedding
            self.first = nn.LSTM(HIDDEN, HIDDEN)
            self.attention = Attention()
            self.layers = nn.ModuleList(nn.LSTM(2 * HIDDEN, HIDDEN) for _ in range(LAYERS - 1))
            self.classifier = nn.Linear(HIDDEN, VOCABULARY)

        def forward(self, tokens: Any, memory: Any, hidden: Any) -> Any:
            x, _ = self.first(self.embedding(tokens))
            context = self.attention(x, memory, hidden)
            x, _ = self.layers[0](m.cat((x, context), dim=2))
            for layer in self.layers[1:]:
                y, _ = layer(m.cat((x, context), dim=2))
                x = x + y
            return self.classifier(x)

    class GNMT(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            embedding = nn.Embedding(VOCABULARY, HIDDEN, padding_idx=PADDING)
            self.encoder, self.decoder = Encoder(embedding), Decoder(embedding)
            nn.init.uniform_(embedding.weight, -SCALE, SCALE)
            for layer in self.modules():
                if isinstance(layer, (nn.LSTM, nn.Linear)):
                    for p in layer.parameters():
                        nn.init.uniform_(p, -SCALE, SCALE)

        def forward(self, source: Any, lengths: Any, target: Any) -> Any:
            memory = self.encoder(source, lengths)
            hidden = (source == PADDING).t().unsqueeze(1)
            return self.decoder(target, memory, hidden)

    return GNMT()


def batch(random: numpy.random.Generator, size: int) -> tuple[numpy.ndarray, ...]:
    def sentences(length: int) -> numpy.ndarray:
        return random.integers(PADDING + 1, VOCABULARY, (length, size))

    # The target's first token is the sign that it begins.
    return sentences(LENGTH), numpy.full(size, LENGTH), sentences(LENGTH + 1)


def units(size: int) -> int:
    """Tokens of both languages."""
    return 2 * LENGTH * size


def loss(m: Any, net: Any, source: Any, lengths: Any, target: Any) -> Any:
    scores = net(source, lengths, target[:-1])
    return m.nn.functional.cross_entropy(
        scores.flatten(0, 1), target[1:].flatten(), ignore_index=PADDING, label_smoothing=SMOOTHING
    )


def optimizer(m: Any, parameters: Any, **options: Any) -> Any:
    return m.optim.Adam(parameters, lr=1e-5, **options)
