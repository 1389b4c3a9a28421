# SPDX-License-Identifier: Apache-2.0
"""PyTorch's paths of classes that lie elsewhere in libdl: the names that pickles have for them."""

from __future__ import annotations

import importlib
import pickle
from typing import Any

_OWN, _PYTORCHS = "libdl", "torch"


def foreign(module: str) -> str:
    """A module's name in files."""
    first, dot, rest = module.partition(".")
    return _PYTORCHS + dot + rest if first == _OWN else module


def own(module: str) -> str:
    first, dot, rest = module.partition(".")
    return _OWN + dot + rest if first == _PYTORCHS else module


def is_pytorchs(module: str) -> bool:
    return module == _PYTORCHS or module.startswith(_PYTORCHS + ".")


def path_of(obj: Any, name: str) -> tuple[str, str] | None:
    """Module and name in files of what belongs to libdl; None: of anything else, and of what no
    module has."""
    module = pickle.whichmodule(obj, name)  # type: ignore[attr-defined]
    if foreign(module) == module and not is_pytorchs(module) or "." in name:
        return None
    public = (foreign(module).partition("._")[0],) if "._" in module else ()
    for called in (_OTHERWISE.get(name, name), name):
        for known in (*_BY_NAME.get(called, ()), *_PUBLIC, *public, foreign(module)):
            if _found(known, called) is obj:
                return known, called
    return None


def _found(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(own(module)), name, None)
    except ImportError:
        return None


_PUBLIC = ("torch.nn.functional", "torch", "torch.linalg", "torch.nn.init")  # of functions
_PATHS: dict[str, str] = {
    "torch.amp.autocast_mode": "autocast",
    "torch.autograd.grad_mode": "enable_grad inference_mode no_grad set_grad_enabled "
    "set_multithreading_enabled",
    "torch.autograd.graph": "allow_mutation_on_saved_tensors disable_saved_tensors_hooks "
    "GradientEdge save_on_cpu saved_tensors_hooks",
    "torch.autograd.profiler": "record_function",
    "torch.autograd.profiler_util": "EventList FunctionEvent FunctionEventAvg Interval",
    "torch.cuda": "current_stream default_stream device device_of ExternalStream "
    "get_device_properties set_device set_stream stream StreamContext",
    "torch.distributions.constraints": "_Cat _Dependent _DependentProperty _IndependentConstraint "
    "_Stack Constraint is_dependent MixtureSameFamilyConstraint",
    "torch.distributions.transforms": "AbsTransform AffineTransform CatTransform ComposeTransform "
    "CorrCholeskyTransform CumulativeDistributionTransform ExpTransform IndependentTransform "
    "LowerCholeskyTransform PositiveDefiniteTransform PowerTransform ReshapeTransform "
    "SigmoidTransform SoftmaxTransform SoftplusTransform StackTransform StickBreakingTransform "
    "TanhTransform Transform _InverseTransform",
    "torch.fx.graph": "CodeGen PythonCode",
    "torch.fx.proxy": "GraphAppendingTracer TraceError TracerBase",
    "torch.linalg": "LinAlgError",
    "torch.nn.parameter": "is_lazy",
    "torch.nn.utils": "clip_grads_with_norm_ get_total_norm",
    "torch.optim": "Adafactor Muon",
    "torch.optim.adamw": "AdamW adamw",
    "torch.optim.lr_scheduler": "ChainedScheduler ConstantLR CosineAnnealingLR "
    "CosineAnnealingWarmRestarts CyclicLR ExponentialLR LRScheduler LambdaLR LinearLR MultiStepLR "
    "MultiplicativeLR OneCycleLR PolynomialLR ReduceLROnPlateau SequentialLR StepLR",
    "torch.optim.optimizer": "register_optimizer_step_post_hook register_optimizer_step_pre_hook",
    "torch.profiler": "profile ProfilerAction ProfilerActivity schedule supported_activities "
    "tensorboard_trace_handler",
    "torch.random": "fork_rng",
    "torch.utils.benchmark": "Compare Measurement select_unit TaskSpec Timer trim_sigfig",
    "torch.utils.data._utils.collate": "collate collate_float_fn collate_int_fn "
    "collate_numpy_array_fn collate_numpy_scalar_fn collate_str_fn collate_tensor_fn "
    "default_collate default_convert",
    "torch.utils.data._utils.worker": "get_worker_info WorkerInfo",
    "torch.utils.data.dataloader": "_DatasetKind",
}
_OTHERWISE = {  # of what PyTorch names otherwise
    "DatasetKind": "_DatasetKind",
    "grad_enabled": "is_grad_enabled",
    "inference_mode": "is_inference_mode_enabled",
    "standard_gamma": "_standard_gamma",
}
_BY_NAME: dict[str, list[str]] = {}
for _module, _names in _PATHS.items():
    for _name in _names.split():
        _BY_NAME.setdefault(_name, []).append(_module)
