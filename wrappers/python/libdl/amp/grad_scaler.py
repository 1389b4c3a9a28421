# SPDX-License-Identifier: Apache-2.0
"""Scaled gradients: float16 has no numbers below 6e-8, which many gradients are."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import inspect
import math
import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, overload

from .. import _functions as functions
from .._C import Tensor
from .._modes import no_grad
from .._types import DeviceLike, device as device_of, device as Device, float16, float32, int32

if TYPE_CHECKING:
    from ..optim.optimizer import Optimizer

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """What has been done with an optimizer's gradients since the last update."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


def _found_inf(state: dict[str, Any]) -> bool:
    return any(bad.item() for bad in state["found_inf_per_device"].values())


class GradScaler:
    """Multiplies losses by a factor, so that small gradients in float16 do not vanish, and divides
    the gradients by it before the optimizer's step. A step whose gradients are not all finite is
    left out, and the factor falls; after many good steps it grows.

        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    Arguments:
        device: "cpu"; with "cuda" and no such device, the scaler is disabled
        init_scale: the first factor
        growth_factor: what the factor is multiplied by after growth_interval good steps
        backoff_factor: what it is multiplied by after a step that was left out
        enabled: False: scale() returns its argument, step() calls the optimizer's
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device, self._enabled = device, enabled
        if enabled and device == "cuda":
            from .. import cuda

            if not cuda.is_available():
                warnings.warn(
                    "GradScaler is enabled, but CUDA is not available. Disabling.", stacklevel=2
                )
                self._enabled = False
        if not self._enabled:
            return
        if not growth_factor > 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if not backoff_factor < 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._init_growth_tracker = init_scale, 0
        self._scale: Tensor | None = None
        self._growth_tracker: Tensor | None = None
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(
            _refresh_per_optimizer_state
        )

    # -- scaling ----------------------------------------------------------------------------------

    def _lazy_init_scale_growth_tracker(self, dev: DeviceLike) -> None:
        self._scale = functions.full((), self._init_scale, dtype=float32, device=dev)
        self._growth_tracker = functions.full(
            (), self._init_growth_tracker, dtype=int32, device=dev
        )

    def _check_scale_growth_tracker(self, funcname: str) -> tuple[Tensor, Tensor]:
        for name, kept in (("_scale", self._scale), ("_growth_tracker", self._growth_tracker)):
            if kept is None:
                raise AssertionError(
                    f"Attempted {funcname} but {name} is None.  This may indicate your script did "
                    "not use scaler.scale(loss or outputs) earlier in the iteration."
                )
        assert self._scale is not None and self._growth_tracker is not None
        return self._scale, self._growth_tracker

    @overload
    def scale(self, outputs: Tensor) -> Tensor: ...
    @overload
    def scale(self, outputs: list[Tensor]) -> list[Tensor]: ...
    @overload
    def scale(self, outputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]: ...
    @overload
    def scale(self, outputs: Iterable[Tensor]) -> Iterable[Tensor]: ...
    def scale(self, outputs: Any) -> Any:
        """The tensor, or each tensor of an iterable, times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            assert self._scale is not None
            return outputs * self._scale.to(outputs.device)
        if isinstance(outputs, Iterable):
            scaled: Any = map(self.scale, outputs)
            kind: Any = type(outputs)
            return kind(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _unscale_grads_(
        self, optimizer: Optimizer, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[Device, Tensor]:
        """Multiplies the gradients, and returns for each device 1 if one was not finite, else
        found_inf."""
        factor, begin = inv_scale.item(), found_inf.to(float32)
        collected: dict[Any, Any] = {}
        with no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    grad = parameter.grad
                    if grad is None:
                        continue
                    if not allow_fp16 and grad.dtype is float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    finite = functions.isfinite(grad).all()
                    if factor != 1.0:
                        grad.mul_(factor)
                    bad = (~finite).to(float32)
                    device = str(grad.device)
                    collected[device] = collected.get(device, begin.to(grad.device)).maximum(bad)
        return {device_of(name): bad for name, bad in collected.items()}

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of the optimizer's parameters by the factor; step() does so too,
        unless this was called before, as for clipping."""
        if not self._enabled:
            return
        scale, _ = self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = scale.double().reciprocal().float()
        result = functions.zeros((), dtype=float32, device=scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, result, False)
        state["stage"] = OptState.UNSCALED

    # -- steps ------------------------------------------------------------------------------------

    @overload
    def step(
        self,
        optimizer: Optimizer,
        *args: Any,
        return_found_inf: Literal[False] = False,
        **kwargs: Any,
    ) -> float | None: ...
    @overload
    def step(
        self, optimizer: Optimizer, *args: Any, return_found_inf: Literal[True], **kwargs: Any
    ) -> tuple[float | None, bool]: ...
    def step(
        self, optimizer: Optimizer, *args: Any, return_found_inf: bool = False, **kwargs: Any
    ) -> Any:
        """The optimizer's step, if all gradients are finite; they are divided by the factor first.
        Returns what that step does, and with return_found_inf whether it was left out."""
        if not self._enabled:
            result = optimizer.step(*args, **kwargs)
            return (result, False) if return_found_inf else result
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_that_scales(optimizer, state, args, kwargs)
            state["stage"] = OptState.STEPPED
            return (result, _found_inf(state)) if return_found_inf else result
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not state["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return (result, _found_inf(state)) if return_found_inf else result

    def _maybe_opt_step(
        self, optimizer: Optimizer, optimizer_state: dict[str, Any], *args: Any, **kwargs: Any
    ) -> float | None:
        return None if _found_inf(optimizer_state) else optimizer.step(*args, **kwargs)

    def _step_that_scales(
        self, optimizer: Any, state: dict[str, Any], args: Any, kwargs: dict[str, Any]
    ) -> float | None:
        """The step of an optimizer that divides gradients, and leaves out steps, by itself: it is
        told by its attributes grad_scale and found_inf, or gets the scaler if it asks for it."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(
                "GradScaler is going to stop passing itself as a keyword argument to the "
                "optimizer's step",
                FutureWarning,
                stacklevel=3,
            )
            return optimizer.step(*args, **kwargs, grad_scaler=self)
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        scale = self._get_scale_async()
        assert scale is not None
        before = getattr(optimizer, "grad_scale", None)
        if state["stage"] is not OptState.UNSCALED:
            before = scale * (1 if before is None else before)
        optimizer.grad_scale = before
        results = [bad.to(scale.device) for bad in state["found_inf_per_device"].values()]
        optimizer.found_inf = functions.stack(results).sum() if results else 0
        result = optimizer.step(*args, **kwargs)
        del optimizer.grad_scale, optimizer.found_inf
        return result

    def _check_inf_per_device(self, optimizer: Optimizer) -> dict[Any, Tensor]:
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        one = functions.ones((), dtype=float32, device=scale.device)
        result = self._unscale_grads_(optimizer, one, functions.zeros_like(one), True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = result
        return result

    def _found_inf_per_device(self, optimizer: Optimizer) -> dict[Any, Tensor]:
        collected: dict[Any, Tensor] = self._per_optimizer_states[id(optimizer)][
            "found_inf_per_device"
        ]
        return collected

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Lets the factor grow or fall, or sets it."""
        if not self._enabled:
            return
        scale, _ = self._check_scale_growth_tracker("update")
        if isinstance(new_scale, Tensor):
            if new_scale.numel() != 1 or new_scale.requires_grad:
                raise AssertionError("new_scale must have one element and must not require grad")
            scale.copy_(new_scale.reshape(()))
        elif new_scale is not None:
            scale.fill_(new_scale)
        else:
            self._adapt(scale)
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _adapt(self, scale: Tensor) -> None:
        states = self._per_optimizer_states.values()
        results = [bad for state in states for bad in state["found_inf_per_device"].values()]
        if not results:
            raise AssertionError("No inf checks were recorded prior to update.")
        assert self._growth_tracker is not None
        good = self._growth_tracker.item() + 1
        if any(bad.item() for bad in results):
            scale.mul_(self._backoff_factor)
            good = 0
        elif good == self._growth_interval:
            grown = scale.item() * self._growth_factor
            if math.isfinite(functions.full((), grown, dtype=float32).item()):
                scale.fill_(grown)
            good = 0
        self._growth_tracker.fill_(good)

    # -- what there is to ask ---------------------------------------------------------------------

    def _get_scale_async(self) -> Tensor | None:
        return self._scale

    def get_scale(self) -> float:
        """The factor; 1 if the scaler is disabled."""
        if not self._enabled:
            return 1.0
        scale = self._get_scale_async()
        return self._init_scale if scale is None else scale.item()

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else int(tracker.item())

    def get_growth_factor(self) -> float:
        """What the factor is multiplied by to grow."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets what the factor is multiplied by to grow."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the factor is multiplied by to fall."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets what the factor is multiplied by to fall."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many good steps the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets after how many good steps the factor grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether the scaler does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The factor and how it grows and falls, to be saved after update(); empty if disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict() of another scaler returned."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved "
                "from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None and self._growth_tracker is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning "
                    "of an iteration, or at the end after scaler.update()."
                )
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
