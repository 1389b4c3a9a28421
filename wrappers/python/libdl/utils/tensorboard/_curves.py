# SPDX-License-Identifier: Apache-2.0
"""Precision and recall of a classifier by threshold."""

from __future__ import annotations


import numpy as np

_MOST_THRESHOLDS = 127  # TensorBoard's messages hold no more
_LEAST = 1e-7  # keeps 0 / 0 at 0


def thresholds(expected: int) -> int:
    """As many as there may be."""
    return min(expected, _MOST_THRESHOLDS)


def _from_the_last(counts: np.ndarray) -> np.ndarray:
    """How many lie at each threshold or above."""
    return counts[::-1].cumsum()[::-1]


def curve(
    labels: np.ndarray, predictions: np.ndarray, count: int, weights: np.ndarray | None
) -> np.ndarray:
    """[6, count]: true and false positives, true and false negatives, precision and recall at the
    thresholds 0 to 1. labels: whether each is one of the class; predictions: from 0 to 1."""
    labels, predictions = labels.astype(np.float64).ravel(), predictions.ravel()
    if labels.shape != predictions.shape:
        raise ValueError(
            f"add_pr_curve: labels has {labels.size} elements, wanted one for each of "
            f"{predictions.size} predictions"
        )
    weights = np.broadcast_to(np.asarray(1.0 if weights is None else weights).ravel(), labels.shape)
    places = np.floor(predictions * (count - 1)).astype(np.int64)
    inside = (places >= 0) & (places < count)
    places, labels, weights = places[inside], labels[inside], weights[inside]
    true = _from_the_last(np.bincount(places, labels * weights, count))
    false = _from_the_last(np.bincount(places, (1 - labels) * weights, count))
    missed = true[0] - true
    precision = true / np.maximum(true + false, _LEAST)
    recall = true / np.maximum(true + missed, _LEAST)
    return np.stack((true, false, false[0] - false, missed, precision, recall))
