# SPDX-License-Identifier: Apache-2.0
"""L-BFGS: steps along the gradient times an inverse Hessian that the last steps estimate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .._C import Tensor
from .._functions import cat, view_as_real
from .._modes import enable_grad, no_grad
from .optimizer import Optimizer, Params
from .options import check, number


class LBFGS(Optimizer):
    """Minimises a function of all parameters; step calls the closure several times.

    Arguments:
        params: tensors; there are no groups with options of their own
        lr: the step's size, in units of the estimated distance to the minimum
        max_iter: iterations in a step
        max_eval: calls of the closure in a step; None: 1.25 max_iter
        tolerance_grad: a step ends if no element of the gradient is larger
        tolerance_change: a step ends if neither parameters nor loss change by more
        history_size: how many of the last steps estimate the Hessian; each takes twice the
            memory of the parameters
        line_search_fn: "strong_wolfe", or None for steps of the size lr
        maximize: whether to maximise the objective

    Source: Liu and Nocedal, 1989, On the limited memory BFGS method for large scale optimization;
    the line search: Nocedal and Wright, 2006, Numerical optimization, algorithms 3.5 and 3.6.
    """

    _later = {"maximize": False}
    _scalars = ()

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        *,
        maximize: bool = False,
    ) -> None:
        check("lr", lr, 0.0)
        defaults: dict[str, Any] = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS takes one group of parameters")

    @property
    def _params(self) -> list[Tensor]:
        params: list[Tensor] = self.param_groups[0]["params"]
        return params

    # -- what a step calls, and a subclass may override -----------------------------------------

    def _numel(self) -> int:
        return sum(p.numel() * (2 if p.dtype.is_complex else 1) for p in self._params)

    def _gather_flat_grad(self) -> Tensor:
        """The gradient of what is minimised, as one vector."""
        parts = [
            (
                p.new_zeros(p.numel(), requires_grad=False)
                if p.grad is None
                else p.grad.detach().to_dense().reshape(-1)
            )
            for p in self._params
        ]
        grad: Tensor = cat(
            [view_as_real(g).reshape(-1) if g.dtype.is_complex else g for g in parts]
        )
        return grad.neg_() if self.param_groups[0].get("maximize") else grad

    def _add_grad(self, step_size: object, update: Tensor) -> None:
        start = 0
        for p in self._params:
            part = view_as_real(p) if p.dtype.is_complex else p
            end = start + part.numel()
            part.add_(update[start:end].view_as(part), alpha=number(step_size))
            start = end
        if start != self._numel():
            raise AssertionError(f"LBFGS: stepped {start} elements, wanted {self._numel()}")

    def _clone_param(self) -> list[Tensor]:
        return [p.clone() for p in self._params]

    def _set_param(self, params_data: list[Tensor]) -> None:
        for p, data in zip(self._params, params_data, strict=True):
            p.copy_(data)

    def _directional_evaluate(
        self, closure: Callable[[], Any], x: list[Tensor], t: object, d: Tensor
    ) -> tuple[float, Tensor]:
        """The loss and gradient at a distance t from x, to which the parameters return."""
        self._add_grad(t, d)
        loss = float(closure())
        grad = self._gather_flat_grad()
        self._set_param(x)
        return (-loss if self.param_groups[0].get("maximize") else loss), grad

    def step(self, closure: Callable[[], Any]) -> Any:
        """Updates the parameters; closure computes the loss and its gradients. Returns the loss
        before the step."""
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError(
                f"line_search_fn is {group['line_search_fn']!r}, wanted 'strong_wolfe' or None"
            )
        with no_grad():
            if not self._params:
                with enable_grad():
                    return closure()
            return _Step(self, group, closure).run()


class _Point(NamedTuple):
    """On a line: the distance, and the loss, its gradient and its slope there."""

    t: Any
    loss: float
    grad: Tensor
    slope: Tensor


class _Step:
    """One call of step."""

    def __init__(self, owner: LBFGS, group: dict[str, Any], closure: Callable[[], Any]) -> None:
        self.owner, self.group, self.closure = owner, group, closure
        self.state = owner.state[owner._params[0]]
        self.evaluations = 0
        self.returned: Any = None  # by the closure

    def run(self) -> Any:
        state, group = self.state, self.group
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        loss, grad = self.evaluate()
        first = self.returned
        d, t = state.get("d"), state.get("t")
        rounds = 0
        while rounds < group["max_iter"] and not self.is_flat(grad):
            rounds += 1
            state["n_iter"] += 1
            d = self.direction(grad, d, t)
            state["prev_flat_grad"], state["prev_loss"] = grad.clone(), loss
            t = number(group["lr"])
            if state["n_iter"] == 1:
                step: Any = min(1.0, 1.0 / grad.abs().sum())
                t = step * t
            state["d"], state["t"] = d, t
            derivative = grad.dot(d)
            if derivative > -group["tolerance_change"]:
                break
            before = loss
            if group["line_search_fn"]:
                loss, grad, t = self.search(d, _Point(0, loss, grad, derivative), t)
                state["t"] = t
                self.move(d, t)
            else:
                self.move(d, t)
                if rounds == group["max_iter"]:
                    break
                loss, grad = self.evaluate()
            if self.is_over(d, t, loss - before):
                break
        return first

    def is_flat(self, grad: Tensor) -> bool:
        return bool(grad.abs().max() <= self.group["tolerance_grad"])

    def is_over(self, d: Tensor, t: Any, change: float) -> bool:
        least = self.group["tolerance_change"]
        return (
            self.evaluations >= self.group["max_eval"]
            or bool(d.mul(t).abs().max() <= least)
            or abs(change) < least
        )

    # -- the function --------------------------------------------------------------------------

    def evaluate(self) -> tuple[float, Tensor]:
        """The loss that is minimised and its gradient, as one vector."""
        self.returned = self.call()
        loss = float(self.returned)
        return -loss if self.group["maximize"] else loss, self.owner._gather_flat_grad()

    def call(self) -> Any:
        with enable_grad():
            returned = self.closure()
        self.evaluations += 1
        self.state["func_evals"] += 1
        return returned

    def move(self, d: Tensor, t: Any) -> None:
        self.owner._add_grad(t, d)

    # -- the direction -------------------------------------------------------------------------

    def direction(self, grad: Tensor, d: Any, t: Any) -> Tensor:
        """Minus the gradient times the inverse Hessian, by the recursion over the history
        (Nocedal 1980)."""
        state, size = self.state, self.group["history_size"]
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return grad.neg()
        self.remember(grad.sub(state["prev_flat_grad"]), d.mul(t))
        changes, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        alphas = state.setdefault("al", [None] * size)
        q = grad.neg()
        for i in reversed(range(len(changes))):
            alphas[i] = steps[i].dot(q) * ro[i]
            q.add_(changes[i], alpha=-number(alphas[i]))
        r = q.mul(state["H_diag"])
        for i in range(len(changes)):
            beta = changes[i].dot(r) * ro[i]
            r.add_(steps[i], alpha=number(alphas[i] - beta))
        return r

    def remember(self, change: Tensor, step: Tensor) -> None:
        """The gradient's change along a step, unless the function is not convex there."""
        product = change.dot(step)
        if not product > 1e-10:
            return
        history = [self.state[name] for name in ("old_dirs", "old_stps", "ro")]
        for entries, entry in zip(history, (change, step, 1.0 / product), strict=True):
            if len(entries) == self.group["history_size"]:
                entries.pop(0)
            entries.append(entry)
        self.state["H_diag"] = product / change.dot(change)

    # -- the line search -----------------------------------------------------------------------

    def search(self, d: Tensor, start: _Point, t: Any) -> tuple[float, Tensor, Any]:
        """A point whose loss and slope are small enough (the strong Wolfe conditions)."""
        there = self.owner._clone_param()

        def at(t: object) -> _Point:
            loss, grad = self.owner._directional_evaluate(self.call, there, t, d)
            return _Point(t, loss, grad, grad.dot(d))

        most = self.group["max_eval"] - self.evaluations
        result = _Search(at, start, most, d.abs().max(), self.group["tolerance_change"]).run(t)
        return result.loss, result.grad, result.t


class _Search:
    """Nocedal and Wright, Numerical Optimization, algorithms 3.5 and 3.6."""

    def __init__(
        self, at: Callable[[Any], _Point], start: _Point, most: int, size: Tensor, least: float
    ) -> None:
        self.at, self.start, self.most = at, start, most
        self.size, self.least = size, least  # of the direction, and of a change of parameters
        self.rounds = 0
        self.decrease, self.flatness = 1e-4, 0.9

    def is_too_high(self, p: _Point) -> bool:
        return bool(p.loss > self.start.loss + self.decrease * p.t * self.start.slope)

    def is_level(self, p: _Point) -> bool:
        return bool(abs(p.slope) <= -self.flatness * self.start.slope)

    def run(self, t: Any) -> _Point:
        ends = self.bracket(t)
        return ends[0] if len(ends) == 1 else self.zoom(ends)

    def bracket(self, t: Any) -> list[_Point]:
        """Two points with such a one between them, or that one."""
        last, new = self.start, self.at(t)
        while self.rounds < self.most:
            if self.is_too_high(new) or (self.rounds > 1 and new.loss >= last.loss):
                return [last, new]
            if self.is_level(new):
                return [new]
            if new.slope >= 0:
                return [last, new]
            t = _lowest(last, new, (new.t + 0.01 * (new.t - last.t), new.t * 10))
            last, new = new, self.at(t)
            self.rounds += 1
        return [self.start, new]

    def zoom(self, ends: list[_Point]) -> _Point:
        low = 0 if ends[0].loss <= ends[1].loss else 1
        stalled = False
        while self.rounds < self.most and not abs(ends[1].t - ends[0].t) * self.size < self.least:
            t, stalled = self.inside(ends, _lowest(*ends), stalled)
            new = self.at(t)
            self.rounds += 1
            if self.is_too_high(new) or new.loss >= ends[low].loss:
                ends[1 - low] = new
                low = 0 if ends[0].loss <= ends[1].loss else 1
                continue
            if self.is_level(new):
                return new
            if new.slope * (ends[1 - low].t - ends[low].t) >= 0:
                ends[1 - low] = ends[low]
            ends[low] = new
        return ends[low]

    def inside(self, ends: list[_Point], t: Any, stalled: bool) -> tuple[Any, bool]:
        """t, or a point further from the ends if t is near them for the second time."""
        left, right = sorted((ends[0].t, ends[1].t))
        margin = 0.1 * (right - left)
        if not min(right - t, t - left) < margin:
            return t, False
        if not stalled and left < t < right:
            return t, True
        return (right - margin if abs(t - right) < abs(t - left) else left + margin), False


def _lowest(a: _Point, b: _Point, bounds: Any = None) -> Any:
    """Where the cubic through two points with these slopes is lowest, within the bounds."""
    if a.t > b.t:
        a, b = b, a
    low, high = (a.t, b.t) if bounds is None else bounds
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    return min(max(t, low), high)


# -- under PyTorch's names, for optimizers of programs ---------------------------------------------


def _strong_wolfe(
    obj_func: Callable[..., Any],
    x: Any,
    t: Any,
    d: Tensor,
    f: Any,
    g: Tensor,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[Any, Tensor, Any, int]:
    """Loss, gradient and distance of a point on the line from x along d that fulfils the strong
    Wolfe conditions, and how often obj_func(x, t, d) was called."""
    calls = 0

    def at(t: object) -> _Point:
        nonlocal calls
        calls += 1
        loss, grad = obj_func(x, t, d)
        grad = grad.clone()
        return _Point(t, loss, grad, grad.dot(d))

    search = _Search(at, _Point(0, f, g.clone(), gtd), max_ls, d.abs().max(), tolerance_change)
    search.decrease, search.flatness = c1, c2
    result = search.run(t)
    return result.loss, result.grad, result.t, calls


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None
) -> Any:
    """Where the cubic through two points (place, value, slope) is lowest, within the bounds."""
    return _lowest(_Point(x1, f1, g1, g1), _Point(x2, f2, g2, g2), bounds)
