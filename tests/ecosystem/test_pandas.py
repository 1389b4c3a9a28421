# SPDX-License-Identifier: Apache-2.0
"""Tables of pandas from tensors, and tensors from tables."""

import pandas as pd
import pytest

import libdl


def test_a_frame_from_a_matrix():
    frame = pd.DataFrame(libdl.arange(6.0).reshape(3, 2), columns=["a", "b"])
    assert frame.shape == (3, 2) and frame["b"].tolist() == [1, 3, 5]
    assert frame.dtypes.map(str).tolist() == ["float32", "float32"]


def test_a_frame_from_columns():
    frame = pd.DataFrame(
        {
            "loss": libdl.tensor([0.5, 0.25]),
            "epoch": libdl.arange(2),
            "best": libdl.tensor([False, True]),
        }
    )
    assert frame.dtypes.map(str).tolist() == ["float32", "int64", "bool"]
    frame["square"] = libdl.tensor([1.0, 4.0])
    assert frame["square"].mean() == 2.5


@pytest.mark.parametrize(
    "dtype", [libdl.float64, libdl.float32, libdl.int64, libdl.int8, libdl.bool], ids=str
)
def test_a_series_keeps_the_dtype(dtype):
    series = pd.Series(libdl.tensor([0, 1, 1], dtype=dtype))
    assert str(series.dtype) == str(dtype).removeprefix("libdl.")
    assert series.tolist() == [0, 1, 1]


def test_records_of_numbers_from_a_training():
    loss = libdl.tensor(0.5, requires_grad=True)
    frame = pd.DataFrame([{"epoch": 0, "loss": loss.item()}, {"epoch": 1, "loss": float(loss) / 2}])
    assert frame["loss"].tolist() == [0.5, 0.25]


def test_a_tensor_from_a_frame():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})
    values = frame.to_numpy(copy=True)
    tensor = libdl.from_numpy(values)
    tensor[0, 0] = 10
    assert values[0, 0] == 10 and tensor.shape == (3, 2)
    assert libdl.tensor(frame.values).tolist() == [[1, 4], [2, 5], [3, 6]]
    for column in (frame["b"], frame["b"].values):
        assert libdl.tensor(column).tolist() == [4, 5, 6]


def test_the_array_of_a_frame_is_only_to_be_read():
    """pandas hands out its own memory to be read."""
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    tensor = libdl.from_numpy(frame.values)
    assert tensor.tolist() == [[1], [2]]
    with pytest.raises(RuntimeError, match="read-only"):
        tensor.add_(1)
    assert frame["a"].tolist() == [1, 2]


def test_rows_are_chosen_with_tensors():
    frame = pd.DataFrame({"a": [1, 2, 3]})
    assert frame.iloc[libdl.tensor([2, 0])]["a"].tolist() == [3, 1]
    assert frame[libdl.tensor([True, False, True]).numpy()]["a"].tolist() == [1, 3]
    assert libdl.tensor([5.0, 6.0])[frame["a"].iloc[0]] == 6


def test_what_requires_grad_is_refused_until_it_is_detached():
    tensor = libdl.ones(2, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        pd.DataFrame(tensor)
    assert pd.DataFrame(tensor.detach()).shape == (2, 2)
