# SPDX-License-Identifier: Apache-2.0
"""Switches and small modules of PyTorch: stored and read back, or refused with a sentence."""

import subprocess
import sys

import pytest

import libdl
from libdl import backends

ABSENT = (
    libdl.mps,
    libdl.xpu,
    libdl.distributed,
    backends.cudnn,
    backends.mkl,
    backends.mkldnn,
    backends.mps,
    backends.openmp,
    backends.opt_einsum,
)


@pytest.mark.parametrize("module", ABSENT, ids=lambda m: m.__name__)
def test_what_is_not_there_says_so(module):
    assert module.is_available() is False


@pytest.mark.parametrize(
    "module, name, value",
    [
        (backends.cudnn, "enabled", False),
        (backends.cudnn, "benchmark", True),
        (backends.cudnn, "deterministic", True),
        (backends.mkldnn, "enabled", False),
        (backends.cuda.matmul, "allow_tf32", True),
    ],
)
def test_a_flag_is_read_back(module, name, value):
    before = getattr(module, name)
    try:
        setattr(module, name, value)
        assert getattr(module, name) is value is not before
    finally:
        setattr(module, name, before)


def test_flags_are_set_for_a_with_statement():
    with pytest.raises(KeyError), backends.cudnn.flags(enabled=False, benchmark=True):
        assert (backends.cudnn.enabled, backends.cudnn.benchmark) == (False, True)
        raise KeyError
    assert (backends.cudnn.enabled, backends.cudnn.benchmark) == (True, False)
    with backends.mkldnn.flags(enabled=False):
        assert not backends.mkldnn.enabled
    assert backends.mkldnn.enabled
    with backends.cuda.sdp_kernel(enable_flash=False):
        assert not backends.cuda.flash_sdp_enabled() and backends.cuda.math_sdp_enabled()
    assert backends.cuda.flash_sdp_enabled()


def test_determinism_is_stored():
    try:
        for mode, warn_only, number in ((True, False, 2), (True, True, 1), (False, False, 0)):
            libdl.use_deterministic_algorithms(mode, warn_only=warn_only)
            assert libdl.are_deterministic_algorithms_enabled() is mode
            assert libdl.is_deterministic_algorithms_warn_only_enabled() is warn_only
            assert libdl.get_deterministic_debug_mode() == number
        libdl.set_deterministic_debug_mode("error")
        assert libdl.get_deterministic_debug_mode() == 2
        with pytest.raises(RuntimeError, match="debug_mode is 'no'"):
            libdl.set_deterministic_debug_mode("no")
    finally:
        libdl.use_deterministic_algorithms(False)


def test_precision_of_products_is_stored():
    libdl.set_float32_matmul_precision("high")
    assert libdl.get_float32_matmul_precision() == "high"
    libdl.set_float32_matmul_precision("highest")
    with pytest.raises(ValueError, match="precision is 'low'"):
        libdl.set_float32_matmul_precision("low")


def test_compile_returns_the_model_and_says_so_once():
    code = """
import libdl
def f(): return 1
assert libdl.compile(f) is f and libdl.compile(mode="max")(f) is f
assert libdl.compiler.disable(f) is f
assert libdl.compiler.disable(recursive=False)(f) is f and not libdl.compiler.is_compiling()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("libdl.compile returns the model unchanged") == 1


def test_script_and_trace_hand_back_what_they_get():
    module = libdl.nn.Linear(2, 2)
    assert libdl.jit.script(module) is module is libdl.jit.trace(module, libdl.ones(1, 2))

    @libdl.jit.script
    def double(x):
        return x * 2

    @libdl.jit.ignore(drop=False)
    def plain(x):
        return x

    assert double(3) == 6 and plain(3) == 3 and not libdl.jit.is_scripting()
    assert not isinstance(module, libdl.jit.ScriptModule)


def test_words_of_torchscript_stand_in_annotations():
    from libdl.jit.annotations import BroadcastingList2, List

    class Layer:
        fused: libdl.jit.Final[bool]

        @libdl.jit._overload_method
        def forward(self, size: List[int]) -> int: ...  # noqa: UP006

        def forward(self, size: BroadcastingList2[int]) -> int:  # noqa: F811
            return 3

    assert "fused" in Layer.__annotations__ and Layer().forward(2) == 3


def test_words_for_the_compiler_change_nothing():
    dynamo = libdl._dynamo
    before = dynamo.config.cache_size_limit
    dynamo.config.cache_size_limit = 64
    assert dynamo.config.cache_size_limit == 64
    dynamo.config.cache_size_limit = before
    dynamo.reset()
    dynamo.graph_break()
    dynamo.mark_dynamic(libdl.ones(2), 0)
    assert dynamo.disable(len) is len
    with libdl.compiler.set_stance("force_eager"):
        pass
    assert libdl.compiler.set_stance("default")(len)("ab") == 2


@pytest.mark.parametrize(
    "refused",
    [
        lambda: libdl._dynamo.explain(len),
        lambda: libdl.jit.save(None, "f"),
        lambda: libdl.jit.load("f"),
        lambda: libdl.jit._get_trace_graph(None),
        libdl.jit.ScriptModule,
        lambda: libdl.onnx.export(None, None, "f"),
        lambda: libdl.hub.load("a/b", "c"),
        lambda: libdl.hub.load_state_dict_from_url("u"),
        lambda: libdl.hub.download_url_to_file("u", "d"),
        libdl.distributed.init_process_group,
        libdl.distributed.ProcessGroup,
        libdl.SymInt,
    ],
)
def test_what_cannot_work_raises_with_a_sentence(refused):
    with pytest.raises(NotImplementedError, match=r"^[\w.]+: .{20,}"):
        refused()


@pytest.mark.parametrize(
    "function, arguments, error",
    [
        ("destroy_process_group", (), AssertionError),
        ("get_rank", (), ValueError),
        ("get_world_size", (), ValueError),
        ("get_backend", (), ValueError),
        ("barrier", (), ValueError),
        ("all_reduce", (libdl.ones(2),), ValueError),
        ("all_gather", ([libdl.ones(2)], libdl.ones(2)), ValueError),
        ("new_group", ([0],), ValueError),
        ("broadcast", (libdl.ones(2), 0), ValueError),
    ],
)
def test_processes_without_a_group_raise_what_they_raise_in_pytorch(function, arguments, error):
    with pytest.raises(error, match=rf"^distributed\.{function}: there is no group of processes"):
        getattr(libdl.distributed, function)(*arguments)


@pytest.mark.parametrize(
    "kind",
    """
        ipu maia meta mkldnn mps mtia nested quantized sparse_csr vulkan xla xpu
    """.split(),
)
def test_a_tensor_on_the_cpu_is_of_no_other_kind(kind):
    assert getattr(libdl.ones(2), f"is_{kind}") is False
    assert getattr(libdl.nn.Parameter(libdl.ones(2)), f"is_{kind}") is False


def test_the_folder_of_pretrained_states(monkeypatch, tmp_path):
    monkeypatch.setattr(libdl.hub, "_DIR", [])
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert libdl.hub.get_dir() == str(tmp_path / "hub")
    libdl.hub.set_dir(tmp_path / "own")
    assert libdl.hub.get_dir() == str(tmp_path / "own")


def test_a_pretrained_state_that_lies_there_is_loaded(monkeypatch, tmp_path):
    monkeypatch.setattr(libdl.hub, "_DIR", [str(tmp_path)])
    url = "https://host/models/net-0123abcd.pth"
    with pytest.raises(NotImplementedError, match="checkpoints/net-0123abcd.pth"):
        libdl.hub.load_state_dict_from_url(url)
    (tmp_path / "checkpoints").mkdir()
    state = {"weight": libdl.arange(3.0)}
    libdl.save(state, tmp_path / "checkpoints/net-0123abcd.pth", format="torch")
    libdl.save(state, tmp_path / "other.pth")
    for found in (
        libdl.hub.load_state_dict_from_url(url, map_location="cpu", progress=False),
        libdl.hub.load_state_dict_from_url(url, model_dir=tmp_path, file_name="other.pth"),
        libdl.utils.model_zoo.load_url(url),
    ):
        assert found["weight"].tolist() == [0.0, 1.0, 2.0]
    name = libdl.hub.urlparse(url).path
    assert libdl.hub.HASH_REGEX.search(name).group(1) == "0123abcd"


def test_dense_tensors_as_one_vector_and_back():
    from libdl._utils import _flatten_dense_tensors, _unflatten_dense_tensors

    parts = [libdl.arange(6.0).reshape(2, 3), libdl.ones(2)]
    flat = _flatten_dense_tensors(parts)
    assert flat.tolist() == [0, 1, 2, 3, 4, 5, 1, 1]
    assert [x.tolist() for x in _unflatten_dense_tensors(flat, parts)] == [
        x.tolist() for x in parts
    ]


def test_an_accelerator_is_a_cuda_device_or_none():
    there = libdl.cuda.is_available()
    assert libdl.accelerator.is_available() is there
    assert (libdl.accelerator.current_accelerator() is not None) is there
    libdl.accelerator.synchronize()


def test_the_older_words_of_mixed_precision_change_nothing_without_a_device():
    if libdl.cuda.is_available():
        pytest.skip("there is a CUDA device")
    x = libdl.ones(2, 2)
    with pytest.warns(UserWarning, match="CUDA is not available"), libdl.cuda.amp.autocast():
        assert (x @ x).dtype is libdl.float32
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert not libdl.cuda.amp.GradScaler().is_enabled()


def test_the_words_about_the_build():
    assert f"libdl: {libdl.version.libdl}" in libdl.__config__.show()
    assert f"get_num_threads() : {libdl.get_num_threads()}\n" in libdl.__config__.parallel_info()


def test_kinds_of_reductions_have_pytorchs_numbers():
    names = ["SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"]
    assert [kind.name for kind in libdl.distributed.ReduceOp] == names
    assert list(libdl.distributed.ReduceOp) == list(range(8))


@pytest.mark.skipif(libdl.cuda.is_available(), reason="asks what there is without a device")
def test_states_of_devices_that_there_are_not():
    before = libdl.get_rng_state()
    assert libdl.cuda.get_rng_state_all() == [] and libdl.cuda._initialized is False
    libdl.cuda.set_rng_state_all([])
    libdl.cuda.set_rng_state(before)
    assert libdl.equal(libdl.get_rng_state(), before)
    with pytest.raises(RuntimeError, match="cuda"):
        libdl.cuda.get_rng_state()
