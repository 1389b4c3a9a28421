// SPDX-License-Identifier: Apache-2.0

// The scalar expressions over whole tensors. Contiguous float32, float16 and bfloat16 have one
// kernel per expression, with four elements per thread; everything else goes through one kernel per
// class, which reads any dtype at any strides.

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/operands.h"
#include "kernels/cuda/plan.h"
#include "kernels/pointwise.h"

#ifdef LIBDL_KERNELS
#include "kernels/cuda/math.h"
#endif

namespace libdl::kernels::cuda {

namespace {

struct Dense {
  void* out;
  const void* in[3];
  int64_t numel;
};

struct Strided {
  int32_t expression, inputs;
  int32_t out_dtype, in_dtype[3];
  uint32_t constants;  // bit k: in[k] is constant[k]
  Element constant[3];
  void* out;
  const void* in[3];
  Geometry<4> geometry;
};

}  // namespace

#ifdef LIBDL_KERNELS

// -- dense --------------------------------------------------------------------------------------

template <class Op, int kInputs, class T>
LIBDL_DEVICE auto applied(const Four<T>* in, int j) {
  float x[3] = {};
  for (int k = 0; k < kInputs; ++k) x[k] = convert_value<float>(in[k].of[j]);
  if constexpr (kInputs == 1) return Op::of(x[0]);
  if constexpr (kInputs == 2) return Op::of(x[0], x[1]);
  if constexpr (kInputs == 3) return Op::of(x[0], x[1], x[2]);
}

// Where fewer than four elements are left, the others are zeros, whose results go nowhere. Loops
// over arrays are unrolled, here and below: with an index that is not constant, an array would lie
// in memory instead of registers.
template <class Op, class T, int kInputs>
LIBDL_DEVICE void dense(const Dense& p) {
  using Out = std::conditional_t<Op::kTruth, Bool, T>;
  for (int64_t i = 4 * first_element(); i < p.numel; i += 4 * all_threads()) {
    Four<T> in[kInputs] = {};
    Four<Out> out;
    const int n = p.numel - i < 4 ? static_cast<int>(p.numel - i) : 4;
    LIBDL_UNROLL
    for (int k = 0; k < kInputs; ++k) {
      const T* const from = static_cast<const T*>(p.in[k]) + i;
      if (n == 4) {
        in[k] = *reinterpret_cast<const Four<T>*>(from);
      } else {
        LIBDL_UNROLL
        for (int j = 0; j < 3; ++j)
          if (j < n) in[k].of[j] = from[j];
      }
    }
    LIBDL_UNROLL
    for (int j = 0; j < 4; ++j) {
      if constexpr (Op::kTruth) {
        out.of[j] = Bool{uint8_t(applied<Op, kInputs>(in, j))};
      } else {
        out.of[j] = convert_value<T>(applied<Op, kInputs>(in, j));
      }
    }
    Out* const to = static_cast<Out*>(p.out) + i;
    if (n == 4) {
      *reinterpret_cast<Four<Out>*>(to) = out;
    } else {
      LIBDL_UNROLL
      for (int j = 0; j < 3; ++j)
        if (j < n) to[j] = out.of[j];
    }
  }
}

template <bool kExists, class Op, class T, int kInputs>
LIBDL_DEVICE void dense_if(const Dense& p) {
  if constexpr (kExists) dense<Op, T, kInputs>(p);
}

#define LIBDL_RESULT_same false
#define LIBDL_RESULT_truth true
#define POINTWISE(name, inputs, classes, result)                      \
  struct name##_op {                                                  \
    static constexpr bool kTruth = LIBDL_RESULT_##result;             \
    template <class... V>                                             \
    static LIBDL_DEVICE auto of(V... x) {                             \
      return expression::name(x...);                                  \
    }                                                                 \
  };                                                                  \
  LIBDL_KERNEL(dense_f32_##name, Dense) {                             \
    dense_if<has_letter(classes, 'F'), name##_op, float, inputs>(p);  \
  }                                                                   \
  LIBDL_KERNEL(dense_f16_##name, Dense) {                             \
    dense_if<has_letter(classes, 'F'), name##_op, Half, inputs>(p);   \
  }                                                                   \
  LIBDL_KERNEL(dense_bf16_##name, Dense) {                            \
    dense_if<has_letter(classes, 'F'), name##_op, Bfloat, inputs>(p); \
  }
#include "kernels/pointwise.def"
#undef POINTWISE
#undef LIBDL_RESULT_same
#undef LIBDL_RESULT_truth

// -- any dtypes, any strides --------------------------------------------------------------------

template <class V>
LIBDL_DEVICE void strided(const Strided& p) {
  V x[3] = {};
  LIBDL_UNROLL
  for (int k = 0; k < 3; ++k)
    if (p.constants >> k & 1) x[k] = load<V>(&p.constant[k], 0, p.in_dtype[k]);
  for (int64_t i = first_element(); i < p.geometry.numel; i += all_threads()) {
    int64_t offset[4];
    offsets_of(p.geometry, i, offset);
    LIBDL_UNROLL
    for (int k = 0; k < 3; ++k)
      if (k < p.inputs && !(p.constants >> k & 1))
        x[k] = load<V>(p.in[k], offset[k + 1], p.in_dtype[k]);
    bool truth = false;
    const V y = evaluate<V>(p.expression, x[0], x[1], x[2], truth);
    store(p.out, offset[0], p.out_dtype, y);
  }
}
LIBDL_KERNEL(strided_bool, Strided) { strided<Bool>(p); }
LIBDL_KERNEL(strided_i64, Strided) { strided<Int64>(p); }
LIBDL_KERNEL(strided_u64, Strided) { strided<Uint64>(p); }
LIBDL_KERNEL(strided_f32, Strided) { strided<float>(p); }
LIBDL_KERNEL(strided_f64, Strided) { strided<double>(p); }
LIBDL_KERNEL(strided_c128, Strided) { strided<Complex>(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

struct Names {
  const char *f32, *f16, *bf16;
};
constexpr Names kDense[] = {
#define POINTWISE(name, inputs, classes, result) \
  {"dense_f32_" #name, "dense_f16_" #name, "dense_bf16_" #name},
#include "kernels/pointwise.def"
#undef POINTWISE
};
constexpr const char* kStrided[kClasses] = {"strided_bool", "strided_i64", "strided_u64",
                                            "strided_f32",  "strided_f64", "strided_c128"};

// The kernel for contiguous operands of a single narrow float type, or NULL.
const char* dense_kernel(const PointwiseArgs& a) {
  if (static_cast<Class>(a.compute) != Class::kF32 || a.host_inputs) return nullptr;
  const int32_t dtype = a.in[0].dtype;
  const int32_t result = kExpressionInfo[a.expression].truth ? LIBDL_DTYPE_BOOL : dtype;
  const int64_t unit = 4 * (dtype == LIBDL_DTYPE_FLOAT32 ? 4 : 2);
  if (a.out.dtype != result || !is_dense(a.out) || !is_aligned(a.out, unit)) return nullptr;
  for (int k = 0; k < a.inputs; ++k) {
    if (a.in[k].dtype != dtype || !is_dense(a.in[k]) || !is_aligned(a.in[k], unit)) return nullptr;
  }
  const Names& names = kDense[a.expression];
  if (dtype == LIBDL_DTYPE_FLOAT32) return names.f32;
  if (dtype == LIBDL_DTYPE_FLOAT16) return names.f16;
  return dtype == LIBDL_DTYPE_BFLOAT16 ? names.bf16 : nullptr;
}

}  // namespace

void pointwise(Context& context, const PointwiseArgs& a) {
  const int64_t n = numel(a.out);
  if (n == 0) return;
  if (const char* const name = dense_kernel(a)) {
    Dense p{a.out.data, {}, n};
    for (int k = 0; k < a.inputs; ++k) p.in[k] = a.in[k].data;
    return launch(context, name, grid_for(context, n, 4), p);
  }
  Strided p{};
  p.expression = a.expression;
  p.inputs = a.inputs;
  p.out_dtype = a.out.dtype;
  for (int k = 0; k < a.inputs; ++k) p.in_dtype[k] = a.in[k].dtype;
  launch_each_part(context, kStrided[a.compute], a, p);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
