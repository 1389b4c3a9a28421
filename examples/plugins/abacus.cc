// SPDX-License-Identifier: Apache-2.0

// A user-defined device, built separately from libdl: the abacus, which uses host memory and whose
// kernels compute element by element in double precision. It has what a small regression needs, and
// refuses the rest by name. docs/plugins.md explains what each function is for.
#include "device/backend.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "build_info.h"
#include "kernels/pointwise.h"

using namespace libdl;
using namespace libdl::kernels;

namespace {

const BackendHost* host;

void refuse(Context* context, const char* message) {
  if (!context->error) context->error = host->error(LIBDL_ERROR_UNSUPPORTED, message);
}

// -- elements ------------------------------------------------------------------------------------

// The i-th element of a view in row-major order.
char* element(const View& x, int64_t i) {
  int64_t at = 0;
  for (int d = x.ndim; d-- > 0; i /= x.sizes[d]) at += i % x.sizes[d] * x.strides[d];
  return static_cast<char*>(x.data) + at * dtype_bytes(x.dtype);
}

template <class T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void write(void* to, double value) {
  const T narrow = static_cast<T>(value);
  std::memcpy(to, &narrow, sizeof narrow);
}

bool knows(int32_t dtype) {
  return dtype == LIBDL_DTYPE_FLOAT32 || dtype == LIBDL_DTYPE_FLOAT64 ||
         dtype == LIBDL_DTYPE_INT64 || dtype == LIBDL_DTYPE_BOOL;
}
double get(const View& x, int64_t i) {
  const char* from = element(x, i);
  switch (x.dtype) {
    case LIBDL_DTYPE_FLOAT32: return static_cast<double>(read<float>(from));
    case LIBDL_DTYPE_FLOAT64: return read<double>(from);
    case LIBDL_DTYPE_INT64: return static_cast<double>(read<int64_t>(from));
    default: return static_cast<double>(*from != 0);
  }
}
void set(const View& y, int64_t i, double value) {
  char* to = element(y, i);
  switch (y.dtype) {
    case LIBDL_DTYPE_FLOAT32: return write<float>(to, value);
    case LIBDL_DTYPE_FLOAT64: return write<double>(to, value);
    case LIBDL_DTYPE_INT64: return write<int64_t>(to, value);
    default: *to = value != 0;
  }
}

// -- kernels -------------------------------------------------------------------------------------

// The value of an expression; for an unknown one, `known` becomes false.
double apply(int32_t expression, const double* x, bool* known) {
  switch (static_cast<Expression>(expression)) {
    case Expression::add: return x[0] + x[1];
    case Expression::sub: return x[0] - x[1];
    case Expression::add_scaled: return x[0] + x[1] * x[2];
    case Expression::mul: return x[0] * x[1];
    case Expression::div: return x[0] / x[1];
    case Expression::neg: return -x[0];
    case Expression::square: return x[0] * x[0];
    case Expression::exp: return std::exp(x[0]);
    case Expression::tanh: return std::tanh(x[0]);
    case Expression::relu: return x[0] > 0 || std::isnan(x[0]) ? x[0] : 0;
    case Expression::positive: return x[0] <= 0 ? 0 : 1;
    default: *known = false; return 0;
  }
}

void pointwise(Context* context, const void* arguments) {
  const auto& a = *static_cast<const PointwiseArgs*>(arguments);
  bool known = knows(a.out.dtype);
  for (int k = 0; k < a.inputs; ++k) known &= knows(a.in[k].dtype);
  for (int64_t i = 0, n = numel(a.out); known && i < n; ++i) {
    double x[kMaxInputs] = {};
    for (int k = 0; k < a.inputs; ++k) x[k] = get(a.in[k], i);
    const double y = apply(a.expression, x, &known);
    if (known) set(a.out, i, y);
  }
  if (!known) refuse(context, "abacus: it cannot count this expression");
}

// Fused expressions, mostly gradients.
void program(Context* context, const void* arguments) {
  const auto& a = *static_cast<const ProgramArgs*>(arguments);
  bool known = knows(a.out.dtype);
  for (int k = 0; k < a.inputs; ++k) known &= knows(a.in[k].dtype);
  for (int64_t i = 0, n = numel(a.out); known && i < n; ++i) {
    double registers[16 + kMaxInstructions];
    double* next = registers;
    for (int k = 0; k < a.inputs; ++k) *next++ = get(a.in[k], i);
    for (int k = 0; k < a.constants; ++k) *next++ = a.constant[k];
    for (int k = 0; k < a.length; ++k) {
      double x[kMaxInputs] = {};
      for (int j = 0; j < kExpressionInfo[a.code[k].expression].inputs; ++j)
        x[j] = registers[a.code[k].in[j]];
      *next++ = apply(a.code[k].expression, x, &known);
    }
    if (known) set(a.out, i, next[-1]);
  }
  if (!known) refuse(context, "abacus: it cannot count this expression");
}

void copy_elements(Context* context, const void* arguments) {
  const auto& a = *static_cast<const CopyArgs*>(arguments);
  if (!knows(a.in.dtype) || !knows(a.out.dtype))
    return refuse(context, "abacus: it does not know this dtype");
  for (int64_t i = 0, n = numel(a.out); i < n; ++i) set(a.out, i, get(a.in, i));
}

void fill_elements(Context*, const void* arguments) {
  const auto& a = *static_cast<const FillArgs*>(arguments);
  const auto bytes = static_cast<size_t>(dtype_bytes(a.out.dtype));
  for (int64_t i = 0, n = numel(a.out); i < n; ++i) std::memcpy(element(a.out, i), a.value, bytes);
}

void reduce(Context* context, const void* arguments) {
  const auto& a = *static_cast<const ReduceArgs*>(arguments);
  if (a.op != static_cast<int32_t>(Reduction::kSum) || !knows(a.in.dtype) || !knows(a.out.dtype))
    return refuse(context, "abacus: of the reductions it knows sums alone");
  int64_t length = 1;
  for (int d = a.in.ndim - a.reduced; d < a.in.ndim; ++d) length *= a.in.sizes[d];
  for (int64_t i = 0, n = numel(a.out); i < n; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < length; ++k) sum += get(a.in, i * length + k);
    set(a.out, i, sum);
  }
}

void matmul(Context* context, const void* arguments) {
  const auto& a = *static_cast<const MatmulArgs*>(arguments);
  if (!knows(a.out.dtype)) return refuse(context, "abacus: it does not know this dtype");
  const int64_t rows = a.out.sizes[1], columns = a.out.sizes[2], length = a.a.sizes[2];
  for (int64_t i = 0, n = numel(a.out); i < n; ++i) {
    const int64_t batch = i / (rows * columns), row = i / columns % rows, column = i % columns;
    double sum = 0;
    for (int64_t k = 0; k < length; ++k)
      sum += get(a.a, (batch * rows + row) * length + k) *
             get(a.b, (batch * length + k) * columns + column);
    double y = a.alpha * sum;
    if (a.beta != 0) y += a.beta * get(a.out, i);
    if (a.bias.data) y += get(a.bias, column);
    set(a.out, i, y);
  }
}

void sgd(Context* context, const void* arguments) {
  const auto& a = *static_cast<const OptimizerArgs*>(arguments);
  const bool plain = a.options.momentum == 0 && a.options.weight_decay == 0 && !a.options.maximize;
  for (int t = 0; t < a.count; ++t) {
    if (!plain || !knows(a.dtype[t])) return refuse(context, "abacus: it knows plain sgd alone");
    const int64_t sizes[] = {a.numel[t]}, strides[] = {1};
    const View parameter = {a.param[t], sizes, strides, 1, a.dtype[t]};
    const View gradient = {const_cast<void*>(a.grad[t]), sizes, strides, 1, a.dtype[t]};
    for (int64_t i = 0; i < a.numel[t]; ++i)
      set(parameter, i, get(parameter, i) - a.options.lr * get(gradient, i));
  }
}

// The kernels by number. Those not set here stay NULL; libdl reports it if one is needed.
struct Kernels {
  Kernel by_id[kKernels] = {};
  Kernels() {
    at(KernelId::pointwise) = pointwise;
    at(KernelId::program) = program;
    at(KernelId::copy) = copy_elements;
    at(KernelId::fill) = fill_elements;
    at(KernelId::reduce) = reduce;
    at(KernelId::matmul) = matmul;
    at(KernelId::sgd) = sgd;
  }
  Kernel& at(KernelId id) { return by_id[static_cast<int32_t>(id)]; }
};

// -- the device: there is one, and it works synchronously -----------------------------------------

libdl_error* device_count(int32_t* count) {
  *count = 1;
  return nullptr;
}
libdl_error* properties(int32_t, DeviceProperties* p) {
  std::strcpy(p->name, "an abacus");
  p->processors = 1;
  p->total_memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  p->free_memory = static_cast<int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return nullptr;
}
libdl_error* allocate(int32_t, size_t bytes, void** data) {
  *data = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  return nullptr;
}
void release(int32_t, void* data) { std::free(data); }

libdl_error* copy(int32_t, void* to, const void* from, size_t bytes, void*) {
  std::memcpy(to, from, bytes);
  return nullptr;
}
libdl_error* fill(int32_t, void* to, int32_t byte, size_t bytes, void*) {
  std::memset(to, byte, bytes);
  return nullptr;
}

libdl_error* make(int32_t, int32_t, void** object) {
  *object = std::malloc(1);
  return *object ? nullptr : host->error(LIBDL_ERROR_OUT_OF_MEMORY, "abacus: no memory");
}
void unmake(int32_t, void* object) { std::free(object); }
libdl_error* is_done(int32_t, void*, int32_t* done) {
  *done = 1;
  return nullptr;
}
libdl_error* nothing(int32_t, void*) { return nullptr; }
libdl_error* nothing_at_all(int32_t) { return nullptr; }
libdl_error* nothing_of_two(int32_t, void*, void*) { return nullptr; }
libdl_error* elapsed(int32_t, void*, void*, double*) {
  return host->error(LIBDL_ERROR_UNSUPPORTED, "abacus: it has no clock");
}

}  // namespace

extern "C" __attribute__((visibility("default"))) libdl_error* libdl_backend_open(
    const BackendHost* given, const Backend** backend) {
  host = given;
  static const Kernels kernels;
  static const Backend table = {
      .struct_size = sizeof(Backend),
      .device_type = 12,  // DLPack's kDLExtDev
      .name = "abacus",
      .build_id = LIBDL_BUILD_ID,
      .kernel_count = kKernels,
      .kernels = kernels.by_id,
      .device_count = device_count,
      .properties = properties,
      .granule = nullptr,
      .reserve = nullptr,
      .commit = nullptr,
      .decommit = nullptr,
      .unreserve = nullptr,
      .allocate = allocate,
      .free = release,
      .copy = copy,
      .fill = fill,
      .stream_create = make,
      .stream_destroy = unmake,
      .stream_query = is_done,
      .stream_synchronize = nothing,
      .device_synchronize = nothing_at_all,
      .event_create = make,
      .event_destroy = unmake,
      .event_record = nothing_of_two,
      .stream_wait = nothing_of_two,
      .event_query = is_done,
      .event_synchronize = nothing,
      .event_elapsed = elapsed,
      .device_error = nullptr,
      .host_allocate = nullptr,
      .host_free = nullptr,
  };
  *backend = &table;
  return nullptr;
}
