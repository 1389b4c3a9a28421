# SPDX-License-Identifier: Apache-2.0
"""Scaled gradients: float16 has no numbers below 6e-8, which many gradients are."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any

from .. import _functions as functions
from .._C import Tensor
from .._modes import no_grad
from .._types import device as device_of, float16, float32, int32

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """What has been done with an optimizer's gradients since the last update."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _fresh_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


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
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_fresh_state)

    # -- scaling ----------------------------------------------------------------------------------

    def _begin(self, device: Any) -> Tensor:
        if self._scale is None:
            self._scale = functions.full((), self._init_scale, dtype=float32, device=device)
            self._growth_tracker = functions.full(
                (), self._init_growth_tracker, dtype=int32, device=device
            )
        return self._scale

    def _begun(self, name: str) -> Tensor:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )
        return self._scale

    def scale(self, outputs: Any) -> Any:
        """The tensor, or each tensor of an iterable, times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._begin(outputs.device).to(outputs.device)
        if isinstance(outputs, Iterable):
            scaled: Any = map(self.scale, outputs)
            kind: Any = type(outputs)
            return kind(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _unscale_grads(self, optimizer: Any, factor: float, allow_float16: bool) -> dict[Any, Any]:
        """Multiplies the gradients, and returns for each device 1 if one was not finite, else 0."""
        found: dict[Any, Any] = {}
        with no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    grad = parameter.grad
                    if grad is None:
                        continue
                    if not allow_float16 and grad.dtype is float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    finite = functions.isfinite(grad).all()
                    if factor != 1.0:
                        grad.mul_(factor)
                    bad = (~finite).to(float32)
                    device = str(grad.device)
                    found[device] = bad if device not in found else found[device].maximum(bad)
        return {device_of(name): bad for name, bad in found.items()}

    def unscale_(self, optimizer: Any) -> None:
        """Divides the gradients of the optimizer's parameters by the factor; step() does so too,
        unless this was called before, as for clipping."""
        if not self._enabled:
            return
        scale = self._begun("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        state["found_inf_per_device"] = self._unscale_grads(optimizer, 1.0 / scale.item(), False)
        state["stage"] = OptState.UNSCALED

    # -- steps ------------------------------------------------------------------------------------

    def step(self, optimizer: Any, *args: Any, return_found_inf: bool = False,
             **kwargs: Any) -> Any:  # fmt: skip
        """The optimizer's step, if all gradients are finite; they are divided by the factor first.
        Returns what that step does, and with return_found_inf whether it was left out."""
        if not self._enabled:
            result = optimizer.step(*args, **kwargs)
            return (result, False) if return_found_inf else result
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._begun("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not state["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        found = any(bad.item() for bad in state["found_inf_per_device"].values())
        result = None if found else optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return (result, found) if return_found_inf else result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Lets the factor grow or fall, or sets it."""
        if not self._enabled:
            return
        scale = self._begun("update")
        if isinstance(new_scale, Tensor):
            if new_scale.numel() != 1 or new_scale.requires_grad:
                raise AssertionError("new_scale must have one element and must not require grad")
            scale.copy_(new_scale.reshape(()))
        elif new_scale is not None:
            scale.fill_(new_scale)
        else:
            self._adapt(scale)
        self._per_optimizer_states = defaultdict(_fresh_state)

    def _adapt(self, scale: Tensor) -> None:
        states = self._per_optimizer_states.values()
        found = [bad for state in states for bad in state["found_inf_per_device"].values()]
        if not found:
            raise AssertionError("No inf checks were recorded prior to update.")
        good = self._get_growth_tracker() + 1
        if any(bad.item() for bad in found):
            scale.mul_(self._backoff_factor)
            good = 0
        elif good == self._growth_interval:
            grown = scale.item() * self._growth_factor
            if math.isfinite(functions.full((), grown, dtype=float32).item()):
                scale.fill_(grown)
            good = 0
        assert self._growth_tracker is not None
        self._growth_tracker.fill_(good)

    # -- what there is to ask ---------------------------------------------------------------------

    def get_scale(self) -> float:
        """The factor; 1 if the scaler is disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else tracker.item()

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
