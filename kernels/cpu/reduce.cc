// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/reduce.h"

#include <libdl/dtype.h>

#include <cmath>

#include "kernels/cpu/kernels.h"

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

}  // namespace

void reduce(Context& context, const ReduceArgs& args) {
  const bool in_double = args.out.dtype == LIBDL_DTYPE_FLOAT64;
  switch (static_cast<Reduction>(args.op)) {
    case Reduction::kAll:
    case Reduction::kAny: return reduce_truth(context, args, Load::kPlain);
    case Reduction::kCount: return reduce_integer(context, args, Load::kTruth);
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
