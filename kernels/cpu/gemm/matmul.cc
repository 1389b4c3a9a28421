// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/gemm/matmul.h"

#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/gemm/matrix_unit.h"
#include "kernels/cpu/kernels.h"

namespace libdl::kernels::cpu {
namespace {

enum class Way { kVector, kOuter, kFloat, kDouble, kBfloat, kSplit, kComplex, kInteger, kPlain };

Way way_of(const MatmulArgs& args) {
  const int32_t dtype = args.out.dtype;
  const Shape s = shape_of(args);
  if (is_complex(dtype)) {
    const bool bias = args.bias.data == nullptr || args.bias.dtype == dtype;
    return bias ? Way::kComplex : Way::kPlain;
  }
  if (is_outer_product(args)) return Way::kOuter;
  if (!small_float(dtype) && dtype != LIBDL_DTYPE_FLOAT64) return Way::kInteger;
  if (s.m == 1 || s.n == 1) return Way::kVector;
  if (dtype == LIBDL_DTYPE_FLOAT64) return Way::kDouble;
  if (split_serves(args)) return Way::kSplit;
  const bool bfloat =
      dtype == LIBDL_DTYPE_BFLOAT16 && fills_tiles(s.m, s.n, s.k) && multiplies_bfloat();
  return bfloat ? Way::kBfloat : Way::kFloat;
}
// packed_b is in the form of bfloat_product: not for the products that it is not worth.
bool foreign_panels(const MatmulArgs& args, Way way) {
  return way == Way::kFloat && args.out.dtype == LIBDL_DTYPE_BFLOAT16 && multiplies_bfloat();
}

// Whether a packed matrix is in the form of bfloat_product.
bool in_pairs(int32_t dtype, bool widened) {
  return dtype == LIBDL_DTYPE_BFLOAT16 && !widened && multiplies_bfloat();
}

}  // namespace

bool matmul_reads_packed(int32_t dtype, int64_t m, int64_t n, int64_t k) {
  if (m <= 1 || n <= 1 || (k == 1 && !is_complex(dtype))) return false;
  const Shape s{1, m, n, k};
  if (dtype == LIBDL_DTYPE_FLOAT32 && has_long_sums<float>(s)) return false;
  if (dtype == LIBDL_DTYPE_FLOAT64 && has_long_sums<double>(s)) return false;
  if (dtype == LIBDL_DTYPE_BFLOAT16) return !multiplies_bfloat() || fills_tiles(s.m, s.n, s.k);
  return small_float(dtype) || dtype == LIBDL_DTYPE_FLOAT64 || is_complex(dtype);
}

bool matmul_widens(int64_t m, int64_t n, int64_t k) {
  return m > 1 && n > 1 && k > 1 && !matrix_unit();
}

int64_t packed_size(int32_t dtype, int64_t n, int64_t k, bool widened) {
  if (in_pairs(dtype, widened)) return bfloat_panels_size(n, k);
  if (is_complex(dtype)) return complex_panels_size(dtype, n, k);
  return float_panels_size(dtype, n, k);
}

void pack_b(Context& context, void* packed, const View& b, bool widened) {
  if (in_pairs(b.dtype, widened)) return pack_bfloat_panels(context, static_cast<char*>(packed), b);
  if (is_complex(b.dtype)) return pack_complex_panels(context, packed, b);
  pack_float_panels(context, packed, b);
}

// -1: too large to count.
static int64_t scratch_bytes(const MatmulArgs& args, Way way) {
  Carver carver{nullptr};
  switch (way) {
    case Way::kFloat: carve_float_product<float>(args, carver); break;
    case Way::kDouble: carve_float_product<double>(args, carver); break;
    case Way::kBfloat: carve_bfloat_product(args, carver); break;
    case Way::kSplit: carve_split_product(args, carver); break;
    case Way::kComplex: carve_complex_product(args, carver); break;
    case Way::kVector:
    case Way::kOuter:
    case Way::kInteger:
    case Way::kPlain: break;
  }
  return carver.used;
}

void matmul(Context& context, const MatmulArgs& given) {
  MatmulArgs args = given;
  const Way way = way_of(args);
  if (foreign_panels(args, way)) args.packed_b = nullptr;
  const Scratch scratch(context, scratch_bytes(args, way));
  if (scratch.failed()) return;
  const Carver carver{static_cast<char*>(scratch.data())};
  switch (way) {
    case Way::kVector: return vector_product(context, args);
    case Way::kOuter: return outer_product(context, args);
    case Way::kFloat: return float_product<float>(context, args, carver);
    case Way::kDouble: return float_product<double>(context, args, carver);
    case Way::kBfloat: return bfloat_product(context, args, carver);
    case Way::kSplit: return split_product(context, args, carver);
    case Way::kComplex: return complex_product(context, args, carver);
    case Way::kInteger: return integer_product(context, args);
    case Way::kPlain: return plain_product(context, args);
  }
}

}  // namespace libdl::kernels::cpu
