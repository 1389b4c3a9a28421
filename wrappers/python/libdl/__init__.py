# SPDX-License-Identifier: Apache-2.0
"""libdl: define-by-run deep learning on a stable C ABI.

import libdl as torch runs a PyTorch program; docs/ lists the differences."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import builtins as _builtins
import math as _math
import sys as _sys
import typing as _typing
import warnings as _warnings_of_python
from typing import Any as _Any

from . import _C, _missing

if not getattr(_sys, "_is_gil_enabled", lambda: True)():  # _C needs it, see its gil.c
    raise ImportError("libdl needs the GIL, which PYTHON_GIL=0 or -X gil=0 keeps switched off")

_missing.install(_sys.modules[__name__])

from ._C import Tensor as Tensor
from ._errors import (
    AutogradError as AutogradError,
    Error as Error,
    OutOfMemoryError as OutOfMemoryError,
    EmptyError as EmptyError,
    ShapeError as ShapeError,
    VersionError as VersionError,
)
from . import _overridable_functions, _overrides
from ._overrides import (
    DisableTorchFunction as DisableTorchFunction,
    DisableTorchFunctionSubclass as DisableTorchFunctionSubclass,
)
from ._types import (
    DeviceLike,
    Generator as Generator,
    NAMED_ONLY as _NAMED_ONLY,
    Size as Size,
    bfloat16 as bfloat16,
    bool_ as bool_,
    can_cast as can_cast,
    complex128 as complex128,
    complex64 as complex64,
    contiguous_format as contiguous_format,
    device as device,
    dtype as dtype,
    finfo as finfo,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    iinfo as iinfo,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    int8 as int8,
    jagged as jagged,
    layout as layout,
    memory_format as memory_format,
    mkldnn as _mkldnn,
    preserve_format as preserve_format,
    promote_types as promote_types,
    sparse_bsc as sparse_bsc,
    sparse_bsr as sparse_bsr,
    sparse_coo as sparse_coo,
    sparse_csc as sparse_csc,
    sparse_csr as sparse_csr,
    strided as strided,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    uint8 as uint8,
)

# A type checker keeps the first of two functions of one name, and here it is the later.
if _typing.TYPE_CHECKING:
    from ._overloads import *
    from ._convolution import *
    from .functional import *
    from ._calculus import *
    from ._statistics import *
from ._functions import *  # type: ignore[assignment, no-redef]
from ._functions import standard_gamma as _standard_gamma, standard_log_gamma as _standard_log_gamma
from . import _methods as _methods
from . import _tensor as _tensor
from . import _arrays as _arrays
from ._warnings import (
    ConversionWarning as ConversionWarning,
    LibraryWarning as LibraryWarning,
)
from ._modes import (
    check_copies as check_copies,
    enable_grad as enable_grad,
    get_default_dtype as get_default_dtype,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled,
    no_grad as no_grad,
    set_default_dtype as set_default_dtype,
    set_grad_enabled as set_grad_enabled,
)
from ._autocast import (
    autocast as autocast,
    clear_autocast_cache as clear_autocast_cache,
    get_autocast_cpu_dtype as get_autocast_cpu_dtype,
    get_autocast_dtype as get_autocast_dtype,
    is_autocast_cache_enabled as is_autocast_cache_enabled,
    is_autocast_cpu_enabled as is_autocast_cpu_enabled,
    is_autocast_enabled as is_autocast_enabled,
    set_autocast_cache_enabled as set_autocast_cache_enabled,
    set_autocast_cpu_dtype as set_autocast_cpu_dtype,
    set_autocast_cpu_enabled as set_autocast_cpu_enabled,
    set_autocast_dtype as set_autocast_dtype,
    set_autocast_enabled as set_autocast_enabled,
)
from ._creation import (
    as_tensor as as_tensor,
    asarray as asarray,
    from_dlpack as from_dlpack,
    from_numpy as from_numpy,
    frombuffer as frombuffer,
    scalar_tensor as scalar_tensor,
    tensor as tensor,
)
from ._overloads import *
from ._dropout import *
from ._convolution import *
from ._recurrent import *
from .functional import *
from ._calculus import *
from ._statistics import *
from ._pointwise import *
from ._matrix_products import *
from ._splitting import *
from ._view_copies import *  # type: ignore[assignment]
from ._tensor_properties import *
from ._random import (
    _sample_dirichlet as _sample_dirichlet,
    default_generator as default_generator,
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    normal as normal,
    seed as seed,
    set_rng_state as set_rng_state,
)
from ._sparse import sparse_coo_tensor as sparse_coo_tensor
from ._tensor_str import set_printoptions as set_printoptions
from .__config__ import show_config as show_config
from .version import libdl as __version__
from ._determinism import (
    are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode as get_deterministic_debug_mode,
    get_float32_matmul_precision as get_float32_matmul_precision,
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
    set_deterministic_debug_mode as set_deterministic_debug_mode,
    set_float32_matmul_precision as set_float32_matmul_precision,
    use_deterministic_algorithms as use_deterministic_algorithms,
)
from ._tensor_types import (
    BFloat16Tensor as BFloat16Tensor,
    BoolTensor as BoolTensor,
    ByteTensor as ByteTensor,
    CharTensor as CharTensor,
    DoubleTensor as DoubleTensor,
    FloatTensor as FloatTensor,
    HalfTensor as HalfTensor,
    IntTensor as IntTensor,
    LongTensor as LongTensor,
    ShortTensor as ShortTensor,
    TensorType as _TensorType,
    set_default_tensor_type as set_default_tensor_type,
)
from ._symbolic_numbers import SymBool as SymBool, SymFloat as SymFloat, SymInt as SymInt
from . import _tensor_memory as _tensor_memory
from . import autograd as autograd, return_types as return_types
from .autograd.anomaly_mode import (
    is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
    is_anomaly_enabled as is_anomaly_enabled,
)
from . import _einops

_overrides.own_methods(globals())
_einops.contribute()

_Device = device
legacy_contiguous_format = contiguous_format
double = float64
half = float16
short = int16
long = int64
cfloat = complex64
cdouble = complex128
inf = _math.inf
nan = _math.nan
pi = _math.pi
e = _math.e
newaxis = None

# Memory formats of PyTorch that are not supported: they are accepted and change nothing.
channels_last = None
channels_last_3d = None


def set_default_device(device: DeviceLike | None) -> None:
    """Sets the device that creation functions use if none is given; None: the CPU."""
    _C.set_default_device("cpu" if device is None else device)


def get_default_device() -> device:
    """The device that creation functions use if none is given."""
    return _C.default_device()


def set_num_threads(num: _builtins.int) -> None:
    """Sets how many threads work on one operator. Results do not depend on it, to the last bit."""
    _C.set_threads(num)


def get_num_threads() -> _builtins.int:
    """How many threads work on one operator."""
    return _C.get_threads()


def set_num_interop_threads(num: _builtins.int) -> None:
    """Changes nothing: operators run one after another."""
    if num < 1:
        raise RuntimeError(f"set_num_interop_threads: argument 1 (num) is {num}, wanted 1 or more")


def get_num_interop_threads() -> _builtins.int:
    """How many operators may run at a time: 1."""
    return 1


def set_flush_denormal(mode: _builtins.bool) -> _builtins.bool:
    """False: numbers below the smallest normal one are always kept."""
    return False


def is_tensor(obj: object) -> _typing.TypeGuard[Tensor]:
    """Whether the object is a tensor.

    Example:
        >>> torch.is_tensor(torch.zeros(2)), torch.is_tensor([0., 0.])
        (True, False)
    """
    return isinstance(obj, Tensor)


@_C.overridable
def is_floating_point(input: Tensor) -> _builtins.bool:
    """Whether the tensor's dtype is floating."""
    return input.dtype.is_floating_point


@_C.overridable
def is_complex(input: Tensor) -> _builtins.bool:
    """Whether the tensor's dtype is complex."""
    return input.dtype.is_complex


@_C.overridable
def numel(input: Tensor) -> _builtins.int:
    """The number of elements."""
    return input.numel()


@_C.overridable
def result_type(tensor1: _Any, tensor2: _Any) -> dtype:
    """The dtype in which an operator computes with both operands."""
    operands = tensor1, tensor2
    numbers = (_builtins.bool, _builtins.int, _builtins.float, _builtins.complex)
    for place, x in enumerate(operands, 1):
        if not (is_tensor(x) or isinstance(x, numbers) or hasattr(x, "dtype")):
            raise TypeError(
                f"result_type: argument {place} (tensor{place}) is a {type(x).__name__}, wanted a "
                "tensor or a number"
            )
    if not (is_tensor(tensor1) or is_tensor(tensor2)):
        return promote_types(tensor(tensor1).dtype, tensor(tensor2).dtype)
    return (_one_of(tensor1) + _one_of(tensor2)).dtype


def _one_of(value: _Any) -> _Any:
    return value.new_zeros(value.shape and (1,) * value.ndim) if is_tensor(value) else value


_told: set[str] = set()


@_C.overridable
def is_storage(obj: object) -> _builtins.bool:
    """Whether the object is the memory of a tensor, as Tensor.storage() returns it."""
    from .storage import TypedStorage, UntypedStorage

    return isinstance(obj, (TypedStorage, UntypedStorage))


def get_device_module(device: DeviceLike | None = None) -> _Any:
    """The module of functions for a kind of device: libdl.cuda or libdl.cpu; None: of an
    accelerator."""
    from . import cpu, cuda

    if device is None:
        return cuda if cuda.is_available() else cpu
    kind = device.type if isinstance(device, _Device) else str(device).split(":")[0]
    if kind not in ("cpu", "cuda"):
        raise RuntimeError(
            f"get_device_module: device is {device!r}, wanted one of type cpu or cuda"
        )
    return cuda if kind == "cuda" else cpu


def compile(model: _Any = None, **options: _Any) -> _Any:
    """Returns the model unchanged, and says so once; PyTorch would compile it.

    Example:
        >>> import warnings
        >>> model = nn.Linear(2, 1)
        >>> with warnings.catch_warnings(action="ignore"):
        ...     compiled = torch.compile(model)
        >>> compiled is model
        True
    """
    if "compile" not in _told:
        _told.add("compile")
        text = "libdl.compile returns the model unchanged: it runs eagerly"
        _warnings_of_python.warn(text, stacklevel=2)
    return (lambda function: function) if model is None else model


def typename(obj: _Any) -> str:
    """The name of the object's type, as in PyTorch."""
    if is_tensor(obj):
        return obj.type()
    return str(obj) if isinstance(obj, _TensorType) else type(obj).__name__


def _assert(condition: _Any, message: str) -> None:
    """assert as a function, which a traced program records."""
    if _C.has_override(condition):
        from ._overrides import override

        override(_assert, condition, message)
    else:
        assert condition, message


def _namespaces() -> list[_overridable_functions.Namespace]:
    """The modules with functions that modes and classes see."""
    from . import _in_place, linalg, special
    from .nn import _top_level, functional, init

    space = _overridable_functions.Namespace
    this = _sys.modules[__name__]
    return [
        space("libdl", this, vars(this)),
        space("libdl.nn.functional", functional, dir(functional)),
        space("libdl.linalg", linalg, linalg.__all__),
        space("libdl.special", special, special.__all__),
        # Where names of libdl are, until somebody asks for them.
        space("libdl", _in_place, _in_place.__all__),
        space("libdl", _top_level, _top_level.__all__),
        space("libdl.nn.init", init, ("constant_", "kaiming_uniform_", "normal_", "uniform_")),
    ]


_overridable_functions.NAMESPACES.append(_namespaces)


if _typing.TYPE_CHECKING:
    bool, float, int = bool_, float32, int32
    float8_e4m3fn = float8_e4m3fnuz = float8_e5m2 = float8_e5m2fnuz = float8_e8m0fnu = float32
    float4_e2m1fn_x2, complex32 = float32, complex64
    from ._control_flow import *
    from ._in_place import *
    from ._ranges import *
    from ._matrix_norms import *
    from ._symbolic_numbers import *
    from .nn._top_level import *
    from ._mapped_files import from_file as from_file
    from .linalg import matrix_power as matrix_power
    from .nn.functional import cosine_similarity as cosine_similarity
    from ._warnings import (
        is_warn_always_enabled as is_warn_always_enabled,
        set_warn_always as set_warn_always,
    )
    from .serialization import (
        PyTorchFileReader as PyTorchFileReader,
        PyTorchFileWriter as PyTorchFileWriter,
        load as load,
        save as save,
    )
    from .storage import *
    from .utils.dlpack import to_dlpack as to_dlpack
    from . import accelerator as accelerator, amp as amp, backends as backends, compiler as compiler
    from . import (
        cpu as cpu,
        cuda as cuda,
        distributed as distributed,
        distributions as distributions,
    )
    from . import export as export, library as library, masked as masked, ops as ops
    from . import (
        func as func,
        functional as functional,
        fx as fx,
        hub as hub,
        jit as jit,
        mps as mps,
    )
    from . import linalg as linalg, monitor as monitor
    from . import multiprocessing as multiprocessing, nn as nn, onnx as onnx, optim as optim
    from . import overrides as overrides, profiler as profiler
    from . import quasirandom as quasirandom, random as random
    from . import serialization as serialization, special as special, storage as storage
    from . import testing as testing, torch_version as torch_version, types as types, utils as utils
    from . import version as version, xpu as xpu
    from .func import vmap as vmap

_LAZY = (
    "_VF",
    "__config__",
    "_custom_ops",
    "_decomp",
    "_dynamo",
    "_functorch",
    "_guards",
    "_higher_order_ops",
    "_inductor",
    "_jit_internal",
    "_ops",
    "_prims_common",
    "_subclasses",
    "_tensor_str",
    "_utils",
    "_vmap_internals",
    "accelerator",
    "amp",
    "ao",
    "backends",
    "classes",
    "compiler",
    "cpu",
    "cuda",
    "distributed",
    "distributions",
    "export",
    "fft",
    "func",
    "functional",
    "futures",
    "fx",
    "hub",
    "jit",
    "library",
    "linalg",
    "masked",
    "monitor",
    "mps",
    "mtia",
    "multiprocessing",
    "nested",
    "nn",
    "numa",
    "onnx",
    "ops",
    "optim",
    "overrides",
    "package",
    "profiler",
    "quantization",
    "quasirandom",
    "random",
    "serialization",
    "signal",
    "sparse",
    "special",
    "storage",
    "testing",
    "torch_version",
    "types",
    "utils",
    "version",
    "xpu",
)


# Names that PyTorch has twice, and functions that are imported when they are first used.
_ELSEWHERE = {
    **dict.fromkeys(
        (
            "abs_",
            "acos_",
            "acosh_",
            "addmv_",
            "arccos_",
            "arccosh_",
            "arcsin_",
            "arcsinh_",
            "arctan_",
            "arctanh_",
            "as_strided_",
            "asin_",
            "asinh_",
            "atan_",
            "atanh_",
            "ceil_",
            "clamp_",
            "clamp_max_",
            "clamp_min_",
            "clip_",
            "conj_physical_",
            "cos_",
            "cosh_",
            "deg2rad_",
            "detach_",
            "erf_",
            "erfc_",
            "exp2_",
            "exp_",
            "expm1_",
            "fill_",
            "fix_",
            "floor_",
            "frac_",
            "gcd_",
            "i0_",
            "index_put_",
            "lcm_",
            "ldexp_",
            "log10_",
            "log1p_",
            "log2_",
            "log_",
            "logit_",
            "nan_to_num_",
            "neg_",
            "negative_",
            "rad2deg_",
            "reciprocal_",
            "relu_",
            "resize_as_",
            "round_",
            "rsqrt_",
            "sigmoid_",
            "sin_",
            "sinc_",
            "sinh_",
            "sqrt_",
            "square_",
            "tan_",
            "tanh_",
            "trunc_",
            "xlogy_",
            "zero_",
        ),
        "libdl._in_place",
    ),
    **dict.fromkeys(
        (
            "empty_permuted",
            "range",
        ),
        "libdl._ranges",
    ),
    **dict.fromkeys(
        (
            "sym_float",
            "sym_int",
            "sym_ite",
            "sym_max",
            "sym_min",
            "sym_not",
            "sym_sqrt",
            "sym_sum",
        ),
        "libdl._symbolic_numbers",
    ),
    **dict.fromkeys(
        (
            "BFloat16Storage",
            "BoolStorage",
            "ByteStorage",
            "CharStorage",
            "ComplexDoubleStorage",
            "ComplexFloatStorage",
            "DoubleStorage",
            "FloatStorage",
            "HalfStorage",
            "IntStorage",
            "LongStorage",
            "ShortStorage",
            "Storage",
            "TypedStorage",
            "UntypedStorage",
        ),
        "libdl.storage",
    ),
    **dict.fromkeys(
        (
            "affine_grid_generator",
            "alpha_dropout_",
            "batch_norm",
            "binary_cross_entropy_with_logits",
            "celu_",
            "constant_pad_nd",
            "convolution",
            "cosine_embedding_loss",
            "ctc_loss",
            "dropout_",
            "embedding",
            "embedding_bag",
            "embedding_renorm_",
            "feature_alpha_dropout_",
            "feature_dropout_",
            "grid_sampler",
            "grid_sampler_2d",
            "grid_sampler_3d",
            "group_norm",
            "hinge_embedding_loss",
            "instance_norm",
            "kl_div",
            "layer_norm",
            "margin_ranking_loss",
            "native_batch_norm",
            "native_channel_shuffle",
            "native_dropout",
            "native_group_norm",
            "native_layer_norm",
            "poisson_nll_loss",
            "rrelu",
            "rrelu_",
            "selu_",
            "threshold_",
            "triplet_margin_loss",
        ),
        "libdl.nn._top_level",
    ),
    "Event": "libdl.cuda",
    "GradScaler": "libdl.amp",
    "Stream": "libdl.cuda",
    "cosine_similarity": "libdl.nn.functional",
    **dict.fromkeys(
        (
            "_assert_async",
            "_check",
            "_check_index",
            "_check_is_size",
            "_check_not_implemented",
            "_check_tensor_all",
            "_check_tensor_all_with",
            "_check_type",
            "_check_value",
            "_check_with",
            "_shape_as_tensor",
        ),
        "libdl._conditions",
    ),
    **dict.fromkeys(
        (
            "_convert_indices_from_coo_to_csr",
            "_convert_indices_from_csr_to_coo",
            "_int_mm",
            "_make_per_tensor_quantized_tensor",
            "_nested_view_from_buffer",
            "_scaled_mm",
            "_softmax_backward_data",
            "dequantize",
            "dsmm",
            "hspmm",
            "quantize_per_channel",
            "quantize_per_tensor",
            "smm",
            "sparse_bsc_tensor",
            "sparse_bsr_tensor",
            "sparse_compressed_tensor",
            "sparse_csc_tensor",
            "sparse_csr_tensor",
            "spmm",
            "while_loop",
        ),
        "libdl._top_level_names",
    ),
    **dict.fromkeys(("frobenius_norm", "nuclear_norm"), "libdl._matrix_norms"),
    **dict.fromkeys(("is_warn_always_enabled", "set_warn_always"), "libdl._warnings"),
    "_grouped_mm": "libdl.nn._top_level",
    "cond": "libdl._control_flow",
    "to_dlpack": "libdl.utils.dlpack",
    "StorageBase": "libdl.storage",
    "set_vital": "libdl._utils",
    "Future": "libdl.futures",
    "ScriptFunction": "libdl.jit",
    "ScriptModule": "libdl.jit",
    "PyTorchFileReader": "libdl.serialization",
    "PyTorchFileWriter": "libdl.serialization",
    "from_file": "libdl._mapped_files",
    "load": "libdl.serialization",
    "matrix_power": "libdl.linalg",
    "pairwise_distance": "libdl.nn.functional",
    "save": "libdl.serialization",
    "vmap": "libdl.func",
}

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> _Any:
        import importlib

        if name in _LAZY:
            return importlib.import_module(f".{name}", __name__)
        if name in _ELSEWHERE:
            return getattr(importlib.import_module(_ELSEWHERE[name]), name)
        if name.startswith("_foreach_"):
            module = getattr(importlib.import_module("._foreach", __name__), name, None)
            if module is not None:
                return module
        if name in _BUILTIN_DTYPES:
            return _BUILTIN_DTYPES[name]
        if name in _NAMED_ONLY:
            return _NAMED_ONLY[name]
        if name == "torch":
            return _sys.modules["libdl"]
        if name in _LINALG:
            return getattr(importlib.import_module("._linalg_names", __name__), name)
        raise _missing.NoName("libdl", name)


# What is named and refuses when it is called.
_LINALG = (
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "det",
    "geqrf",
    "inverse",
    "istft",
    "lobpcg",
    "logdet",
    "lu",
    "lu_solve",
    "lu_unpack",
    "matrix_exp",
    "orgqr",
    "ormqr",
    "pca_lowrank",
    "pinverse",
    "qr",
    "slogdet",
    "stft",
    "svd",
    "svd_lowrank",
    "triangular_solve",
)

# Not globals: inside the package these names must remain Python's built-in types.
_BUILTIN_DTYPES = {"bool": bool_, "int": int32, "float": float32}


def __dir__() -> list[str]:
    return sorted(
        {*globals(), *_LAZY, *_ELSEWHERE, *_BUILTIN_DTYPES, *_NAMED_ONLY} - {"annotations"}
    )
