# SPDX-License-Identifier: Apache-2.0
"""Which modules and names are there to be imported alone: a reason, and the names.

"class" names classes, "def" functions, "error" exceptions, "enum" one class with its members, and
"from" a module of libdl and what it has of them."""

from __future__ import annotations

_DEVICES = "several devices are not offered yet, and there is nothing to do on one"
_GROUPS = "groups of processes that train together are not offered"
_COMPILER = "nothing is traced or compiled here: functions run eagerly"
_DISPATCH = "there is no dispatcher of PyTorch's operators here"
_ONNX = "models are not written as ONNX; save(model.state_dict(), path) keeps the weights"
_QUANTIZED = "quantized tensors are not offered"
_FFT = "Fourier transforms are not offered yet"
_LINALG = "this part of linear algebra is not offered yet"
_NESTED = "nested tensors are not offered; nn.utils.rnn packs sequences of several lengths"
_SPARSE = "sparse tensors are offered as gradients of embeddings alone"
_WINDOWS = "windows of signals are not offered yet"

_FSDP = """
    enum ShardingStrategy FULL_SHARD SHARD_GRAD_OP NO_SHARD HYBRID_SHARD _HYBRID_SHARD_ZERO2;
    enum BackwardPrefetch BACKWARD_PRE BACKWARD_POST;
    enum StateDictType FULL_STATE_DICT LOCAL_STATE_DICT SHARDED_STATE_DICT;
    class CPUOffload MixedPrecision FullStateDictConfig LocalStateDictConfig ShardedStateDictConfig
      FullOptimStateDictConfig LocalOptimStateDictConfig ShardedOptimStateDictConfig
      OptimStateDictConfig StateDictConfig StateDictSettings;
"""
_FULLY = """
    class FSDPModule UnshardHandle CPUOffloadPolicy OffloadPolicy MixedPrecisionPolicy;
    def fully_shard register_fsdp_forward_method;
"""
_PLACEMENTS = "class Placement Shard Replicate Partial _StridedShard;"
_QUANTIZERS = """
    class ObserverBase FakeQuantizeBase FakeQuantize MinMaxObserver MovingAverageMinMaxObserver
      PerChannelMinMaxObserver HistogramObserver PlaceholderObserver NoopObserver QConfig
      QConfigMapping QuantWrapper;
    def prepare prepare_qat convert quantize quantize_dynamic quantize_qat propagate_qconfig_
      get_default_qconfig get_default_qat_qconfig get_default_qconfig_mapping swap_module
      default_observer default_weight_observer default_per_channel_weight_observer
      default_dynamic_quant_observer default_fake_quant default_weight_fake_quant
      default_per_channel_weight_fake_quant;
"""
_TRANSFORMS = (
    "fft fft2 fftn hfft hfft2 hfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn "
    "rfft rfft2 rfftn"
)

# Under which path of PyTorch's the names of a list are known.
SHOWN = {
    "_linalg_names": "linalg",
    "_top_level_names": "",
    "ao.quantization._names": "ao.quantization",
}

MODULES: dict[str, tuple[str, str]] = {
    # -- processes that train together -------------------------------------------------------------
    "distributed._composable": (_GROUPS, "def checkpoint contract replicate;"),
    "distributed._composable.fsdp": (
        _GROUPS,
        """
        from distributed.fsdp FSDPModule UnshardHandle CPUOffloadPolicy OffloadPolicy
          MixedPrecisionPolicy fully_shard register_fsdp_forward_method;""",
    ),
    "distributed._functional_collectives": (
        _GROUPS,
        """
        class AsyncCollectiveTensor;
        def all_gather_tensor all_reduce all_to_all_single all_to_all_single_autograd broadcast
          permute_tensor reduce_scatter_tensor wait_tensor;""",
    ),
    "distributed._shard": (_GROUPS, "def load_with_process_group shard_module shard_parameter;"),
    "distributed._shard.sharded_tensor": (
        _GROUPS,
        "class Shard ShardedTensor ShardedTensorMetadata;",
    ),
    "distributed._tensor": (
        _GROUPS,
        """
        from distributed.tensor DTensor Placement Shard Replicate Partial distribute_tensor
          distribute_module;
        from distributed.device_mesh DeviceMesh init_device_mesh;""",
    ),
    "distributed._tensor.placement_types": (
        _GROUPS,
        """
        from distributed.tensor.placement_types Placement Shard Replicate Partial;""",
    ),
    "distributed._tensor.experimental": (
        _GROUPS,
        """
        from distributed.tensor.experimental context_parallel local_map implicit_replication;""",
    ),
    "distributed._tensor.api": (_GROUPS, "from distributed.tensor DTensor distribute_tensor;"),
    "distributed.algorithms.ddp_comm_hooks": (_GROUPS, "def register_ddp_comm_hook;"),
    "distributed.algorithms.ddp_comm_hooks.default_hooks": (
        _GROUPS,
        """
        def allreduce_hook fp16_compress_hook bf16_compress_hook fp16_compress_wrapper
          bf16_compress_wrapper;""",
    ),
    "distributed.algorithms.ddp_comm_hooks.powerSGD_hook": (
        _GROUPS,
        """
        class PowerSGDState; def powerSGD_hook batched_powerSGD_hook;""",
    ),
    "distributed.algorithms.ddp_comm_hooks.post_localSGD_hook": (
        _GROUPS,
        """
        class PostLocalSGDState; def post_localSGD_hook;""",
    ),
    "distributed.algorithms.join": (_GROUPS, "class Join Joinable JoinHook;"),
    "distributed.algorithms.model_averaging": (_GROUPS, ""),
    "distributed.algorithms.model_averaging.averagers": (
        _GROUPS,
        """
        class ModelAverager PeriodicModelAverager;""",
    ),
    "distributed.checkpoint": (
        _GROUPS,
        """
        class FileSystemReader FileSystemWriter StorageReader StorageWriter LoadPlanner SavePlanner
          DefaultLoadPlanner DefaultSavePlanner Metadata;
        error CheckpointException;
        def load save async_save load_state_dict save_state_dict;""",
    ),
    "distributed.checkpoint._consolidate_hf_safetensors": (
        _GROUPS,
        "def consolidate_safetensors_files;",
    ),
    "distributed.checkpoint.default_planner": (
        _GROUPS,
        """
        from distributed.checkpoint DefaultLoadPlanner DefaultSavePlanner;""",
    ),
    "distributed.checkpoint.filesystem": (
        _GROUPS,
        """
        from distributed.checkpoint FileSystemReader FileSystemWriter;""",
    ),
    "distributed.checkpoint.format_utils": (
        _GROUPS,
        """
        class _EmptyStateDictLoadPlanner;
        def _load_state_dict dcp_to_torch_save torch_save_to_dcp;""",
    ),
    "distributed.checkpoint.hf_storage": (
        _GROUPS,
        """
        class HuggingFaceStorageReader HuggingFaceStorageWriter;""",
    ),
    "distributed.checkpoint.metadata": (
        _GROUPS,
        "class Metadata TensorStorageMetadata BytesStorageMetadata;",
    ),
    "distributed.checkpoint.optimizer": (_GROUPS, "def load_sharded_optimizer_state_dict;"),
    "distributed.checkpoint.planner": (
        _GROUPS,
        """
        from distributed.checkpoint LoadPlanner SavePlanner;""",
    ),
    "distributed.checkpoint.state_dict": (
        _GROUPS,
        """
        class StateDictOptions;
        def get_model_state_dict get_optimizer_state_dict get_state_dict set_model_state_dict
          set_optimizer_state_dict set_state_dict;""",
    ),
    "distributed.checkpoint.state_dict_loader": (
        _GROUPS,
        """
        def _load_state_dict; from distributed.checkpoint load load_state_dict;""",
    ),
    "distributed.checkpoint.state_dict_saver": (
        _GROUPS,
        """
        from distributed.checkpoint save async_save save_state_dict;""",
    ),
    "distributed.checkpoint.stateful": (_GROUPS, "class Stateful;"),
    "distributed.device_mesh": (_GROUPS, "class DeviceMesh; def init_device_mesh;"),
    "distributed.elastic.agent": (_GROUPS, ""),
    "distributed.elastic.agent.server": (_GROUPS, ""),
    "distributed.elastic.agent.server.api": (_GROUPS, "class WorkerState;"),
    "distributed.fsdp": (
        _GROUPS,
        _FSDP
        + _FULLY
        + """
        enum OptimStateKeyType PARAM_NAME PARAM_ID;
        class FullyShardedDataParallel;""",
    ),
    "distributed.fsdp._fully_shard": (_GROUPS, "from distributed.fsdp FSDPModule fully_shard;"),
    "distributed.fsdp.api": (
        _GROUPS,
        """
        from distributed.fsdp ShardingStrategy BackwardPrefetch StateDictType CPUOffload
          MixedPrecision FullStateDictConfig ShardedStateDictConfig FullOptimStateDictConfig
          ShardedOptimStateDictConfig LocalStateDictConfig StateDictConfig;""",
    ),
    "distributed.fsdp.fully_sharded_data_parallel": (
        _GROUPS,
        """
        from distributed.fsdp FullyShardedDataParallel ShardingStrategy BackwardPrefetch
          StateDictType CPUOffload MixedPrecision FullStateDictConfig LocalStateDictConfig
          ShardedStateDictConfig FullOptimStateDictConfig ShardedOptimStateDictConfig
          OptimStateKeyType;""",
    ),
    "distributed.fsdp.sharded_grad_scaler": (_GROUPS, "class ShardedGradScaler;"),
    "distributed.fsdp.wrap": (
        _GROUPS,
        """
        class CustomPolicy ModuleWrapPolicy;
        def always_wrap_policy enable_wrap lambda_auto_wrap_policy size_based_auto_wrap_policy
          transformer_auto_wrap_policy wrap _or_policy;""",
    ),
    "distributed.launcher": (_GROUPS, "from distributed.launcher.api LaunchConfig elastic_launch;"),
    "distributed.launcher.api": (_GROUPS, "class LaunchConfig elastic_launch;"),
    "distributed.nn.functional": (
        _GROUPS,
        """
        def all_gather all_reduce all_to_all broadcast gather reduce reduce_scatter scatter;""",
    ),
    "distributed.optim": (
        _GROUPS,
        """
        class DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer;
        def as_functional_optim;""",
    ),
    "distributed.optim.zero_redundancy_optimizer": (
        _GROUPS,
        """
        from distributed.optim ZeroRedundancyOptimizer;""",
    ),
    "distributed.pipelining": (
        _GROUPS,
        """
        enum SplitPoint BEGINNING END;
        class Pipe PipelineStage Schedule1F1B ScheduleGPipe ScheduleInterleaved1F1B;
        def pipe_split pipeline;""",
    ),
    "distributed.rpc.api": (_GROUPS, "def _all_gather _require_initialized;"),
    "distributed.run": (_GROUPS, "def main get_args_parser run config_from_args;"),
    "distributed.tensor": (
        _GROUPS,
        """
        class DTensor; from distributed.tensor.placement_types Placement Shard Replicate Partial;
        def distribute_module distribute_tensor empty full ones rand randn zeros;
        from distributed.device_mesh DeviceMesh init_device_mesh;""",
    ),
    "distributed.tensor._utils": (_GROUPS, "def compute_local_shape_and_global_offset;"),
    "distributed.tensor.device_mesh": (
        _GROUPS,
        "from distributed.device_mesh DeviceMesh init_device_mesh;",
    ),
    "distributed.tensor.experimental": (
        _GROUPS,
        "def context_parallel local_map implicit_replication;",
    ),
    "distributed.tensor.experimental._attention": (
        _GROUPS,
        "def context_parallel set_rotate_method;",
    ),
    "distributed.tensor.parallel": (
        _GROUPS,
        """
        class ParallelStyle ColwiseParallel RowwiseParallel SequenceParallel PrepareModuleInput
          PrepareModuleOutput PrepareModuleInputOutput;
        def loss_parallel parallelize_module;""",
    ),
    "distributed.tensor.placement_types": (_GROUPS, _PLACEMENTS),
    "nn.parallel.parallel_apply": (_DEVICES, "def parallel_apply;"),
    "nn.parallel.replicate": (_DEVICES, "def replicate;"),
    "_C._distributed_c10d": (_GROUPS, "class ProcessGroup Reducer Store Work;"),
    "_C._distributed_rpc": (_GROUPS, "def _is_current_rpc_agent_set;"),
    # -- tracing and compiling ---------------------------------------------------------------------
    "_C._functorch": (
        _DISPATCH,
        """
        def _add_batch_dim _remove_batch_dim get_unwrapped maybe_get_level maybe_get_bdim
          peek_interpreter_stack;
        from _functorch._inside is_batchedtensor is_legacy_batchedtensor is_functorch_wrapped_tensor
          is_gradtrackingtensor;""",
    ),
    "_decomp": (
        _COMPILER,
        "def get_decompositions core_aten_decompositions register_decomposition;",
    ),
    "_dynamo.exc": (
        _COMPILER,
        """
        error Unsupported TorchDynamoException InternalTorchDynamoError TorchRuntimeError
          BackendCompilerFailed UserError RecompileLimitExceeded TensorifyScalarRestartAnalysis;""",
    ),
    "_functorch.apis": ("use libdl.func", "from func vmap grad grad_and_value;"),
    "_functorch.aot_autograd": (
        _COMPILER,
        "def aot_function aot_module make_boxed_func make_boxed_compiler;",
    ),
    "_functorch.functional_call": (
        "use libdl.func",
        "from func functional_call stack_module_state;",
    ),
    "_guards": (
        _COMPILER,
        "class TracingContext CompileContext; from _functorch._inside active_fake_mode "
        "detect_fake_mode;",
    ),
    "_higher_order_ops": (
        _COMPILER,
        """
        def associative_scan flex_attention map scan while_loop; from _control_flow cond;""",
    ),
    "_higher_order_ops.associative_scan": (_COMPILER, "def associative_scan;"),
    "_higher_order_ops.cond": (_COMPILER, "def cond_op; from _control_flow cond;"),
    "_higher_order_ops.flex_attention": (
        _COMPILER,
        """
        def flex_attention; from _dynamo._trace_wrapped_higher_order_op TransformGetItemToIndex;""",
    ),
    "_higher_order_ops.scan": (_COMPILER, "def scan;"),
    "_higher_order_ops.while_loop": (_COMPILER, "def while_loop;"),
    "_inductor.codecache": (_COMPILER, "def extract_tensor_metadata_for_cache_key;"),
    "_inductor.compile_fx": (_COMPILER, "def compile_fx;"),
    "_inductor.cpu_vec_isa": (_COMPILER, "def pick_vec_isa;"),
    "_inductor.runtime": (_COMPILER, ""),
    "_inductor.runtime.cache_dir_utils": (_COMPILER, "def cache_dir;"),
    "_inductor.utils": (_COMPILER, "def fresh_inductor_cache;"),
    "_ops": (_DISPATCH, "class HigherOrderOperator; from ops OpOverload OpOverloadPacket;"),
    "_subclasses": (
        _DISPATCH,
        """
        error DynamicOutputShapeException UnsupportedFakeTensorException;
        from _subclasses.fake_tensor FakeTensor FakeTensorMode;""",
    ),
    "_subclasses.fake_tensor": (
        _DISPATCH,
        """
        class FakeTensor FakeTensorMode; error UnsupportedFakeTensorException;
        from _functorch._inside is_fake unset_fake_temporarily;""",
    ),
    "_subclasses.functional_tensor": (
        _DISPATCH,
        """
        class FunctionalTensor FunctionalTensorMode; def mb_unwrap_functional_tensor;""",
    ),
    "_subclasses.meta_utils": (_DISPATCH, "class MetaConverter;"),
    "export._trace": (_COMPILER, "def _export;"),
    "export.decomp_utils": (_COMPILER, "class CustomDecompTable;"),
    "fx.experimental.proxy_tensor": (
        _COMPILER,
        """
        class DecompositionInterpreter ProxyTorchDispatchMode PythonKeyTracer;
        def make_fx dispatch_trace; from _functorch._inside get_proxy_mode get_innermost_proxy_mode
          maybe_disable_fake_tensor_mode;""",
    ),
    "fx.passes.infra": (_COMPILER, ""),
    "fx.passes.infra.pass_base": (_COMPILER, "class PassBase PassResult;"),
    "numa": ("processors are not bound here", ""),
    "numa.binding": (
        "processors are not bound here",
        """
        enum AffinityMode NODE SOCKET EXCLUSIVE CORE_COMPLEX; class NumaOptions;""",
    ),
    "utils._sympy": (_COMPILER, ""),
    "utils._sympy.functions": (_COMPILER, "class FloorDiv Mod;"),
    "utils._sympy.numbers": (_COMPILER, "class IntInfinity NegativeIntInfinity;"),
    "utils._sympy.value_ranges": (_COMPILER, "class ValueRanges;"),
    "package": (
        "packages of code and weights are not offered",
        "class PackageExporter PackageImporter;",
    ),
    # -- quantization ------------------------------------------------------------------------------
    "ao": (_QUANTIZED, ""),
    "ao.nn": (_QUANTIZED, ""),
    "ao.nn.quantized": (_QUANTIZED, "class Linear Conv2d FloatFunctional QFunctional Embedding;"),
    "ao.nn.intrinsic": (_QUANTIZED, "class ConvBn2d ConvBnReLU2d ConvReLU2d LinearReLU;"),
    "ao.nn.qat": (_QUANTIZED, "class Linear Conv2d;"),
    "ao.quantization.observer": (
        _QUANTIZED,
        """
        from ao.quantization ObserverBase MinMaxObserver MovingAverageMinMaxObserver
          PerChannelMinMaxObserver HistogramObserver PlaceholderObserver NoopObserver;""",
    ),
    "ao.quantization.fake_quantize": (
        _QUANTIZED,
        "from ao.quantization FakeQuantize FakeQuantizeBase;",
    ),
    "ao.quantization.fx": (_QUANTIZED, ""),
    "ao.quantization.fx._decomposed": (_QUANTIZED, ""),
    "ao.quantization.quantize_fx": (
        _QUANTIZED,
        "def prepare_fx prepare_qat_fx convert_fx fuse_fx;",
    ),
    "ao.quantization._names": (_QUANTIZED, _QUANTIZERS),
    "quantization.quantize_fx": (
        _QUANTIZED,
        "from ao.quantization.quantize_fx prepare_fx prepare_qat_fx convert_fx;",
    ),
    "quantization.observer": (
        _QUANTIZED,
        "from ao.quantization.observer ObserverBase MinMaxObserver;",
    ),
    "nn.quantized": (_QUANTIZED, "from ao.nn.quantized FloatFunctional QFunctional Linear Conv2d;"),
    "nn.intrinsic": (
        _QUANTIZED,
        "from ao.nn.intrinsic ConvBn2d ConvBnReLU2d ConvReLU2d LinearReLU;",
    ),
    "nn.qat": (_QUANTIZED, "from ao.nn.qat Linear Conv2d;"),
    # -- ONNX --------------------------------------------------------------------------------------
    "onnx.errors": (_ONNX, "error OnnxExporterError SymbolicValueError UnsupportedOperatorError;"),
    "onnx.operators": (_ONNX, "def shape_as_tensor reshape_from_tensor_shape;"),
    "onnx.utils": (_ONNX, "def export register_custom_op_symbolic; from onnx is_in_onnx_export;"),
    **{
        f"onnx.symbolic_opset{n}": (
            _ONNX,
            """
        def add cat clamp div dropout expand layer_norm masked_fill mul pow reshape select slice
          softmax squeeze sub unsqueeze view where;""",
        )
        for n in range(7, 21)
    },
    # -- what later versions offer -----------------------------------------------------------------
    "fft": (_FFT, f"def {_TRANSFORMS} fftfreq fftshift ifftshift rfftfreq;"),
    "_linalg_names": (
        _LINALG,
        """
        error LinAlgError;
        def cholesky cholesky_ex cond det eig eigh eigvals eigvalsh householder_product inv inv_ex
          ldl_factor ldl_factor_ex ldl_solve lstsq lu lu_factor lu_factor_ex lu_solve matrix_exp
          matrix_rank pinv qr slogdet solve solve_ex solve_triangular svd svdvals tensorinv
          tensorsolve cholesky_inverse cholesky_solve det geqrf inverse logdet lu_unpack lu_solve
          orgqr ormqr pinverse pca_lowrank svd_lowrank triangular_solve lobpcg stft istft;""",
    ),
    "_top_level_names": (
        "this operator is not offered",
        """
        def _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo _int_mm
          _make_per_tensor_quantized_tensor _nested_view_from_buffer _scaled_mm
          _softmax_backward_data dequantize dsmm hspmm quantize_per_channel quantize_per_tensor smm
          sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_csc_tensor
          sparse_csr_tensor spmm while_loop;""",
    ),
    "nested": (
        _NESTED,
        """
        def as_nested_tensor nested_tensor nested_tensor_from_jagged narrow to_padded_tensor;""",
    ),
    "nested._internal": (_NESTED, ""),
    "nested._internal.nested_tensor": (_NESTED, "class NestedTensor; def _tensor_symint_registry;"),
    "nested._internal.ops": (_NESTED, "def extract_kwargs;"),
    "sparse": (
        _SPARSE,
        """
        class DoubleTensor FloatTensor HalfTensor;
        def addmm as_sparse_gradcheck log_softmax mm sampled_addmm softmax spdiags spsolve sum
          to_sparse_semi_structured;""",
    ),
    "cuda.sparse": (_SPARSE, "class DoubleTensor FloatTensor HalfTensor;"),
    "signal": (_WINDOWS, ""),
    "signal.windows": (
        _WINDOWS,
        """
        def bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming
          hann kaiser nuttall;""",
    ),
    "utils.mobile_optimizer": (_COMPILER, "def optimize_for_mobile;"),
    "utils.bundled_inputs": (_COMPILER, "def augment_model_with_bundled_inputs;"),
}
