// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/reduction/reduce.h"

#include <libdl/dtype.h>

#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/traverse/rows.h"

namespace libdl::kernels::cpu {
namespace {

bool is_complex(int32_t dtype) { return dtype >= LIBDL_DTYPE_COMPLEX64; }

Reduce& plain_in(int32_t dtype) {
  switch (dtype) {
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16:
    case LIBDL_DTYPE_FLOAT32: return reduce_float;
    case LIBDL_DTYPE_FLOAT64: return reduce_double;
    case LIBDL_DTYPE_COMPLEX64:
    case LIBDL_DTYPE_COMPLEX128: return reduce_complex;
    case LIBDL_DTYPE_UINT64: return reduce_unsigned;
    default: return reduce_integer;
  }
}

// Whether all elements are reduced, and lie together in memory.
bool lie_together(const ReduceArgs& args) {
  const Dims dims = Dims::by_stride(args.in, 0, args.in.ndim);
  return args.reduced == args.in.ndim && dims.ndim == 1 && dims.strides[0] == 1;
}

// Where the order does not matter, all elements are read as they lie.
void in_any_order(Context& context, const ReduceArgs& args, Reduce& reduce, Load load) {
  if (!lie_together(args)) return reduce(context, args, load);
  const int64_t size[] = {numel(args.in)}, stride[] = {1};
  ReduceArgs flat = args;
  flat.reduced = 1;
  flat.in = {args.in.data, size, stride, 1, args.in.dtype};
  reduce(context, flat, load);
}

// Sums and products of integers, and their extrema.
bool has_no_order(const ReduceArgs& args) {
  const auto op = static_cast<Reduction>(args.op);
  const bool extreme = op == Reduction::kMax || op == Reduction::kMin;
  return (extreme || op == Reduction::kSum || op == Reduction::kProd) &&
         args.in.dtype < LIBDL_DTYPE_FLOAT16 && args.out.dtype < LIBDL_DTYPE_FLOAT16;
}

}  // namespace

void reduce(Context& context, const ReduceArgs& args) {
  if (has_no_order(args)) {
    const bool sums = static_cast<Reduction>(args.op) == Reduction::kSum ||
                      static_cast<Reduction>(args.op) == Reduction::kProd;
    const int32_t dtype = sums ? args.out.dtype : args.in.dtype;
    return in_any_order(context, args, plain_in(dtype), Load::kPlain);
  }
  const bool in_double = args.out.dtype == LIBDL_DTYPE_FLOAT64;
  switch (static_cast<Reduction>(args.op)) {
    case Reduction::kAll:
    case Reduction::kAny: return in_any_order(context, args, reduce_truth, Load::kPlain);
    case Reduction::kCount:
      if (lie_together(args) && !is_complex(args.in.dtype))
        return count_together(context, args, numel(args.in));
      return in_any_order(context, args, reduce_integer, Load::kTruth);
    case Reduction::kNorm: {
      const double p = args.number;
      const bool power = p != 0 && p != 1 && p != 2 && !std::isinf(p);
      if (is_complex(args.in.dtype)) {
        return norm_double(context, args, power ? Load::kPower : Load::kModulus);
      }
      return (in_double ? norm_double : norm_float)(context, args,
                                                    power ? Load::kPower : Load::kPlain);
    }
    case Reduction::kVar:
      return (in_double ? variance_double : variance_float)(context, args, Load::kPlain);
    case Reduction::kLogsumexp:
      return (in_double ? logsumexp_double : logsumexp_float)(context, args, Load::kPlain);
    case Reduction::kSum:
    case Reduction::kProd: return plain_in(args.out.dtype)(context, args, Load::kPlain);
    default: return plain_in(args.in.dtype)(context, args, Load::kPlain);
  }
}

}  // namespace libdl::kernels::cpu
