// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/matmul.h"

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/matmul_parts.h"

namespace libdl::kernels::cpu {
namespace {

enum class Way { kVector, kFloat, kDouble, kComplex, kPlain };

Way way_of(const MatmulArgs& args) {
  const int32_t dtype = args.out.dtype;
  const Shape s = shape_of(args);
  if (is_complex(dtype)) {
    const bool bias = args.bias.data == nullptr || args.bias.dtype == dtype;
    return bias ? Way::kComplex : Way::kPlain;
  }
  if (!small_float(dtype) && dtype != LIBDL_DTYPE_FLOAT64) return Way::kPlain;
  if (s.m == 1 || s.n == 1) return Way::kVector;
  return dtype == LIBDL_DTYPE_FLOAT64 ? Way::kDouble : Way::kFloat;
}

}  // namespace

bool matmul_reads_packed(int32_t dtype, int64_t m, int64_t n, int64_t) {
  return (small_float(dtype) || dtype == LIBDL_DTYPE_FLOAT64) && m > 1 && n > 1;
}

int64_t matmul_scratch(const MatmulArgs& args) {
  Carver carver{nullptr};
  switch (way_of(args)) {
    case Way::kFloat:
      carve_float_product<float>(args, carver);
      break;
    case Way::kDouble:
      carve_float_product<double>(args, carver);
      break;
    case Way::kComplex:
      carve_complex_product(args, carver);
      break;
    case Way::kVector:
    case Way::kPlain:
      break;
  }
  return carver.used;
}

void matmul(Context& context, const MatmulArgs& args) {
  const Carver carver{static_cast<char*>(args.scratch)};
  switch (way_of(args)) {
    case Way::kVector:
      return vector_product(context, args);
    case Way::kFloat:
      return float_product<float>(context, args, carver);
    case Way::kDouble:
      return float_product<double>(context, args, carver);
    case Way::kComplex:
      return complex_product(context, args, carver);
    case Way::kPlain:
      return plain_product(context, args);
  }
}

}  // namespace libdl::kernels::cpu
