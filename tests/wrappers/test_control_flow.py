# SPDX-License-Identifier: Apache-2.0
"""cond: a tensor chooses the branch that runs. Expected values are PyTorch's."""

import pytest

import libdl as torch

X = torch.tensor([1.0, 2.0])


def more(x):
    return x + 1


def less(x):
    return x - 1


@pytest.mark.parametrize(
    ("pred", "wanted"),
    [
        (torch.tensor(True), [2, 3]),
        (torch.tensor(False), [0, 1]),
        (torch.tensor([True]), [2, 3]),
        (torch.tensor(0.0), [0, 1]),
        (True, [2, 3]),
        (0, [0, 1]),
    ],
)
@pytest.mark.parametrize("operands", [(X,), [X]])
def test_the_branch_that_pred_chooses_runs_alone(pred, wanted, operands):
    called = []

    def branch(name, function):
        return lambda x: (called.append(name), function(x))[1]

    found = torch.cond(pred, branch("more", more), branch("less", less), operands)
    assert found.tolist() == wanted and called == ["more" if wanted == [2, 3] else "less"]


def test_operands_may_be_absent_or_nested_and_have_gradients():
    assert torch.cond(torch.tensor(True), lambda: X * 3, lambda: X).tolist() == [3, 6]
    w = X.clone().requires_grad_()
    found = torch.cond(
        w.sum() > 2, lambda d: {"y": d["x"][0] * 3}, lambda d: {"y": d["x"][0]}, ({"x": [w]},)
    )
    assert torch.autograd.grad(found["y"].sum(), w)[0].tolist() == [3, 3]


def test_under_vmap_each_sample_has_its_branch():
    pred, x = torch.tensor([True, False]), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert torch.vmap(lambda p, x: torch.cond(p, more, less, (x,)))(pred, x).tolist() == [
        [2, 3],
        [2, 3],
    ]
    assert torch.vmap(lambda x: torch.cond(x.sum() > 4, more, less, (x,)))(x).tolist() == [
        [0, 1],
        [4, 5],
    ]
    w = x.clone().requires_grad_()
    torch.vmap(lambda p, x: torch.cond(p, lambda x: x * 2, lambda x: x * 5, (x,)))(
        pred, w
    ).sum().backward()
    assert w.grad.tolist() == [[2, 2], [5, 5]]
    with pytest.raises(RuntimeError, match="same structure"):
        torch.vmap(lambda p, x: torch.cond(p, lambda x: (x, x), more, (x,)))(pred, x)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((torch.tensor([True, False]), more, less, (X,)), r"\(pred\) has shape \[2\]"),
        (("yes", more, less, (X,)), r"\(pred\) is 'yes'"),
        ((True, 1, less, (X,)), r"\(true_fn\) is 1"),
        ((True, more, None, (X,)), r"\(false_fn\) is None"),
        ((True, more, less, X), r"\(operands\)"),
        ((True, more, less, (1,)), r"\(operands\) is \(1,\)"),
        ((True, more, less, ({"a": ["b"]},)), r"\(operands\)"),
    ],
)
def test_what_is_no_condition_no_branch_or_no_operand(arguments, told):
    with pytest.raises(RuntimeError, match=f"^cond: argument . {told}"):
        torch.cond(*arguments)


def test_branches_do_not_write_for_other_samples():
    def write(x):
        return torch.cond(x.sum() > 0, lambda y: y.mul_(10), lambda y: y.add_(100), (x * 1,))

    assert write(torch.tensor([1.0, 2.0])).tolist() == [10, 20]
    with pytest.raises(RuntimeError, match="cond: argument 4 .operands. is written by a branch"):
        torch.func.vmap(write)(torch.tensor([[1.0, 2.0], [-3.0, 1.0]]))
