# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's metrics of tensors, and its models beside networks."""

import numpy as np
import pytest
from sklearn import linear_model, metrics, model_selection, preprocessing

import libdl

LABELS = libdl.tensor([0, 1, 1, 0, 1])
SCORES = libdl.tensor([0.2, 0.8, 0.4, 0.6, 0.9])
GUESSES = (SCORES > 0.5).long()


@pytest.mark.parametrize(
    ("metric", "found"),
    [
        (metrics.accuracy_score, GUESSES),
        (metrics.balanced_accuracy_score, GUESSES),
        (metrics.precision_score, GUESSES),
        (metrics.recall_score, GUESSES),
        (metrics.f1_score, GUESSES),
        (metrics.confusion_matrix, GUESSES),
        (metrics.matthews_corrcoef, GUESSES),
        (metrics.classification_report, GUESSES),
        (metrics.roc_auc_score, SCORES),
        (metrics.average_precision_score, SCORES),
        (metrics.roc_curve, SCORES),
        (metrics.precision_recall_curve, SCORES),
        (metrics.log_loss, SCORES),
        (metrics.brier_score_loss, SCORES),
        (metrics.mean_squared_error, SCORES),
        (metrics.mean_absolute_error, SCORES),
        (metrics.r2_score, SCORES),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_metrics_are_those_of_the_arrays(metric, found):
    value, wanted = metric(LABELS, found), metric(LABELS.numpy(), found.numpy())
    assert type(value) is type(wanted)
    if isinstance(value, str):
        assert value == wanted
        return
    several = isinstance(value, tuple)
    for mine, theirs in zip(*((value, wanted) if several else ([value], [wanted])), strict=True):
        # scikit-learn computes with float32 arrays as they are, with all else in float64.
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_many_classes():
    logits = libdl.eye(3)[[0, 1, 2, 1]]
    labels = libdl.tensor([0, 1, 2, 2])
    guesses = logits.argmax(1)
    assert metrics.accuracy_score(labels, guesses) == 0.75
    assert metrics.top_k_accuracy_score(labels, logits, k=3, labels=[0, 1, 2]) == 1
    confusion = metrics.confusion_matrix(labels, guesses)
    assert confusion.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert metrics.f1_score(labels, guesses, average="macro") == pytest.approx(7 / 9)


def test_what_requires_grad_is_refused_until_it_is_detached():
    scores = SCORES.clone().requires_grad_()
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        metrics.mean_squared_error(LABELS, scores)
    assert metrics.mean_squared_error(LABELS, scores.detach()) > 0


def test_models_and_tools():
    inputs, labels = libdl.tensor([[0.0], [1.0], [2.0], [3.0]]), libdl.tensor([0, 0, 1, 1])
    model = linear_model.LogisticRegression().fit(inputs, labels)
    assert model.predict(libdl.tensor([[0.0], [3.0]])).tolist() == [0, 1]
    scaled = preprocessing.StandardScaler().fit_transform(inputs)
    assert abs(scaled.mean()) < 1e-6  # float32 has 6e-8, four numbers of order 1
    parts = model_selection.train_test_split(inputs, labels, test_size=2, random_state=0)
    assert [type(part) for part in parts] == [libdl.Tensor] * 4
    assert [len(part) for part in parts] == [2, 2, 2, 2]
