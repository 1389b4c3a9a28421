// SPDX-License-Identifier: Apache-2.0

// What kernels are told: views and numbers, as plain C structs that a backend plugin shares.
// All checks are done before; a kernel only computes. Scratch memory comes in the arguments.
#pragma once

#include <cstdint>

namespace libdl::kernels {

constexpr int kMaxDims = 64;
constexpr int kMaxInputs = 4;
constexpr int kMaxIndices = 16;

// Sizes and strides are in elements and live as long as the call.
struct View {
  void* data;
  const int64_t* sizes;
  const int64_t* strides;
  int32_t ndim;
  int32_t dtype;  // libdl_dtype
};

// The launch: who runs the chunks, or on which device and stream it is queued.
struct Context {
  // Runs body(arg, first, last) over [0, chunks) in some order on some threads and returns when all
  // are done, or false if the host interrupted. Chunks must depend on sizes only, so that the
  // bits do not depend on the number of threads.
  bool (*parallel)(void* pool, int64_t chunks, void (*body)(void* arg, int64_t first, int64_t last),
                   void* arg);
  void* pool;
  void* stream;          // NULL on the CPU
  int32_t device = 0;    // index among those of its kind
  void* error = nullptr; // what went wrong in queueing: an error object that the launcher takes over
};

// The type in which a pointwise kernel computes; all other dtypes are converted a tile at a time.
enum class Class : int32_t { kBool, kI64, kU64, kF32, kF64, kC128 };
constexpr int kClasses = 6;

// out[i] = expression(in0[i], in1[i], …) over one shape: the inputs are already expanded to it
// (stride 0 where broadcast), and dimensions coalesced where possible (innermost last).
struct PointwiseArgs {
  int32_t expression;  // index in kernels/pointwise.def
  int32_t compute;     // Class
  int32_t inputs;
  uint32_t host_inputs = 0;  // bit k: in[k] is one element in the host's memory, as on the CPU all are
  View out;
  View in[kMaxInputs];
};

// A fused chain of expressions over one shape. Instruction k applies `expression` to registers
// `in` and writes register inputs + constants + k; the last one is the result. A truth is 1 or 0
// of the compute class; as the result it is a bool, converted to out's dtype.
constexpr int kMaxInstructions = 128;
struct Instruction {
  int32_t expression;
  int32_t in[kMaxInputs];
};
struct ProgramArgs {
  int32_t compute;  // Class of every register
  int32_t inputs;
  int32_t constants;
  int32_t length;  // 1 to kMaxInstructions
  uint32_t host_inputs = 0;  // as in PointwiseArgs
  View out;
  View in[8];
  double constant[8];
  const Instruction* code;
};

// out = in, converting dtype; both have one shape, any strides.
struct CopyArgs {
  View out;
  View in;
};

// out = one value everywhere; value has out's dtype and lies in the host's memory.
struct FillArgs {
  View out;
  const void* value;
};

enum class Reduction : int32_t {
  kSum, kProd, kMax, kMin, kArgmax, kArgmin, kAll, kAny, kNorm, kVar, kLogsumexp, kMaxIndex, kMinIndex
};
// Reduces the last `reduced` dimensions of `in`; out (and indices, when data is not NULL) have the
// leading ones. The order of summation is defined on logical indices, never on strides.
// Sum, prod, norm, var and logsumexp compute in out's type (float32 for the 16-bit ones), the
// others in in's. Nothing to reduce gives the identity (0, 1, true, false, -inf); argmax and argmin
// need one.
struct ReduceArgs {
  int32_t op;  // Reduction
  int32_t reduced;
  View out;
  View indices;   // int64; kMaxIndex, kMinIndex: index of the extremum within the reduced dimension
  View in;
  double number;  // kNorm: p; kVar: correction
  bool root;      // kVar: standard deviation instead of variance
};

enum class Scan : int32_t { kSum, kProd, kMax, kMin, kLogsumexp };
// Inclusive scan along the last dimension; float32 and narrower are carried in double.
struct ScanArgs {
  int32_t op;
  View out;
  View indices;  // int64, kMax and kMin only: where the running extremum lies; data may be NULL
  View in;
};

// out[b] = alpha * (a[b] @ b[b]) + beta * out[b] + bias; views are 3-d [batch, rows, cols] of one
// dtype (not bool), any strides (a batch stride of 0 is allowed in a and b). beta 0 never reads
// out. bias: 1-d [cols] added to every row, or data NULL. Integers wrap; alpha and beta are then
// truncated. scratch (NULL but on the CPU) is aligned to 64 bytes and holds matmul_scratch(args) bytes, which depend on
// sizes, strides and dtype only (kernels/cpu/matmul.h). packed_b: b as pack_b wrote it, or NULL;
// the bits of the result are the same.
struct MatmulArgs {
  View out;
  View a;
  View b;
  View bias;
  const void* packed_b;
  void* scratch;
  int64_t scratch_bytes;
  double alpha = 1;
  double beta = 0;
};

// Row-wise kernels: softmax family and layer_norm act on the last dimension; the leading ones are
// the rows, any number of them, any strides. out may be in, dx may be dy.
struct SoftmaxArgs {
  View out;
  View in;
  bool log;
};
struct SoftmaxBackwardArgs {
  View dx;
  View dy;
  View y;
  bool log;
};
struct LayerNormArgs {
  View out, mean, rstd;   // mean and rstd: the leading dimensions, float32 or float64, or data NULL
  View in, weight, bias;  // weight and bias: [cols], or data NULL
  double eps;
};
struct LayerNormBackwardArgs {
  View dx, dweight, dbias;  // data NULL where not wanted; dweight and dbias are [cols]
  View dy, in, mean, rstd, weight;
  void* scratch;            // layer_norm_backward_scratch(rows, cols) bytes, aligned to 8
};
// Rows whose part of dweight and dbias is summed together: by sizes alone, so that the bits do not
// depend on the number of threads.
inline int64_t layer_norm_backward_block(int64_t rows) {
  return rows > 32 * 16 ? (rows + 31) / 32 : 16;
}
inline int64_t layer_norm_backward_scratch(int64_t rows, int64_t cols) {
  const int64_t block = layer_norm_backward_block(rows);
  return (rows + block - 1) / block * 2 * cols * 8;
}

// out[i, j] = in[index[i, j] along dim]: shapes of out and index agree, in differs along dim.
// Index values are checked before (kernel check_index) and may be negative.
struct GatherArgs {
  View out, in, index;
  int32_t dim;
};
enum class ScatterOp : int32_t { kSet, kAdd, kMul, kMax, kMin };
// out[index[i, j] along dim] op= src[i, j], in row-major order of index (so sums have one order).
struct ScatterArgs {
  View out, src, index;
  int32_t dim;
  int32_t op;
};
// Advanced indexing. `base` is viewed as [indexed dims..., rest...]; the indices have one broadcast
// shape. out = base[indices] has shape [index shape..., rest...].
struct IndexArgs {
  View base;            // strides of the rest dimensions only, data at the start
  View values;          // [index shape..., rest...]
  int32_t indices;
  View index[kMaxIndices];  // int64 or int32, all of the index shape (stride 0 where broadcast)
  const int64_t* indexed_sizes;
  const int64_t* indexed_strides;
  bool accumulate;      // index_put only
};
// *bad = the first linear position whose value is not in [-size, size), or -1. A device that works
// behind the call leaves *bad alone, and its next synchronisation reports the error under the
// operator's name, a static text; kernels that read the index there step over bad values.
struct CheckIndexArgs {
  View index;
  int64_t size;
  int64_t* bad;
  const char* op;
};
// Number of nonzero elements (out NULL) or their row-major coordinates, int64 [count, ndim]. count
// is in the host's memory: a device is waited for.
struct NonzeroArgs {
  View in;
  int64_t* count;
  View out;
};
// Sorts along the last dimension; values and indices are contiguous outputs. NaN counts as the
// largest. k < 0: all; else the first k (topk). Always stable.
struct SortArgs {
  View values, indices, in;
  int64_t k;
  bool descending;
  void* scratch;  // on the CPU sort_scratch(...) bytes, else NULL
  int64_t scratch_bytes;
};

enum class Distribution : int32_t { kBits, kUniform, kNormal, kBernoulli, kRandint };
// Fills out (row-major logical order) from Philox 4x32-10 with this key and counter offset, by the
// rules of kernels/philox.h. kUniform and kNormal want real floats; complex ones as twice as many.
struct RandomArgs {
  int32_t distribution;
  View out;
  View probability;  // kBernoulli, expanded to out's shape, or data NULL
  double a, b;       // kUniform: [a, b); kNormal: mean a, deviation b; kBernoulli: b with probability a, else 0
  int64_t low;
  uint64_t range;    // kRandint: low + [0, range); 0 means 2^64
  uint64_t key, offset;
};

// One optimizer step over a list of tensors, in one pass; arrays of `count` contiguous float
// pointers and lengths. state* may be NULL where the rule needs none.
struct OptimizerArgs {
  int32_t count;
  const int32_t* dtype;
  const int64_t* numel;
  void* const* param;
  const void* const* grad;
  void* const* state1;  // SGD: momentum; Adam: first moment
  void* const* state2;  // Adam: second moment
  void* const* state3;  // AMSGrad: largest second moment
  double lr, momentum, dampening, beta1, beta2, eps, weight_decay, bias1, bias2;
  bool nesterov, maximize, first, amsgrad, decoupled;
};

}  // namespace libdl::kernels
