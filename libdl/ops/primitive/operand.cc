// SPDX-License-Identifier: Apache-2.0

#include "ops/primitive/operand.h"

#include "base/error.h"

namespace libdl {

void check_floating(const char* op, const Operand& x) {
  if (!is_floating(x.tensor.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, x.name, std::string("is ") + name_of(x.tensor.dtype()),
                  "a floating dtype");
}

void require_tensor(const char* op, const Operand& x) {
  if (x.tensor.is_number()) fail_argument(LIBDL_ERROR_TYPE, op, x.name, "is a number", "a tensor");
}

void refuse_complex(const char* op, const Operand& x) {
  if (x.tensor.is_complex())
    fail_argument(LIBDL_ERROR_DTYPE, op, x.name, std::string("is ") + name_of(x.tensor.dtype()),
                  "a real dtype");
}

}  // namespace libdl
