# SPDX-License-Identifier: Apache-2.0
"""tqdm's bars over loaders and tensors."""

import io

import pytest
from tqdm import tqdm, trange

import libdl
from libdl.utils import data


def last_line(stream):
    return stream.getvalue().split("\r")[-1]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_bar_over_a_loader_knows_its_length(workers):
    stream = io.StringIO()
    numbers = data.TensorDataset(libdl.arange(10.0))
    loader = data.DataLoader(numbers, batch_size=4, num_workers=workers)
    seen = [batch.tolist() for (batch,) in tqdm(loader, file=stream, ascii=True)]
    assert seen == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert last_line(stream).startswith("100%|##########| 3/3 ")


def test_without_a_length_it_counts():
    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(3))

    stream = io.StringIO()
    loader = data.DataLoader(Stream(), batch_size=None)
    assert list(tqdm(loader, file=stream, ascii=True)) == [0, 1, 2]
    assert last_line(stream).startswith("3it ")


def test_rows_of_a_tensor():
    stream = io.StringIO()
    rows = list(tqdm(libdl.eye(2), file=stream, ascii=True))
    assert [row.tolist() for row in rows] == [[1, 0], [0, 1]] and "2/2" in last_line(stream)


def test_a_loss_beside_the_bar():
    stream = io.StringIO()
    with trange(2, file=stream, ascii=True) as bar:
        for _ in bar:
            loss = libdl.tensor(0.125, requires_grad=True)
            bar.set_postfix(loss=loss.item(), tensor=loss.detach())
            bar.set_description(f"loss {loss:.2f}")
    assert "loss=0.125, tensor=tensor(0.1250)" in last_line(stream)
    assert last_line(stream).startswith("loss 0.12: 100%")


def test_numbers_of_tensors_as_totals():
    stream = io.StringIO()
    with tqdm(total=libdl.tensor(4).item(), file=stream, ascii=True) as bar:
        bar.update(libdl.tensor(3).item())
    assert "3/4" in last_line(stream)
