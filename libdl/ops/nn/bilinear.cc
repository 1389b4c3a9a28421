// SPDX-License-Identifier: Apache-2.0

#include "entries/linalg.h"
#include "entries/nn.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {

static void check_dtypes(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                         const Tensor* bias) {
  const char* const op = "bilinear";
  if (input1.dtype() == Dtype::kBool)
    fail_argument(LIBDL_ERROR_DTYPE, op, "input1", "is bool", "numbers");
  if (input1.dtype() == input2.dtype() && weight.dtype() != input1.dtype())
    fail_argument(LIBDL_ERROR_DTYPE, op, "input1", std::string("is ") + name_of(input1.dtype()),
                  std::string(name_of(weight.dtype())) + ", as argument (weight)");
  static constexpr const char* kNames[] = {"input2", "weight", "bias"};
  const Tensor* const others[] = {&input2, &weight, bias};
  for (int i = 0; i < 3; ++i)
    if (others[i] && others[i]->dtype() != input1.dtype())
      fail_argument(LIBDL_ERROR_DTYPE, op, kNames[i],
                    std::string("is ") + name_of(others[i]->dtype()), name_of(input1.dtype()));
}

static void check_shapes(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                         const Tensor* bias) {
  const char* const op = "bilinear";
  const auto bad = [&](const char* name, const Tensor& x,
                       const std::string& wanted LIBDL_SOURCE_LOCATION) {
    fail_argument(LIBDL_ERROR_SHAPE, op, name, "has shape " + to_string(x.shape()),
                  wanted LIBDL_SAME_SOURCE_LOCATION);
  };
  if (weight.ndim() != 3) bad("weight", weight, "[out, in1, in2]");
  if (input1.ndim() == 0) bad("input1", input1, "[..., in1]");
  const int last = input1.ndim() - 1;
  if (input1.size(last) != weight.size(1))
    bad("input1", input1, "[..., " + std::to_string(weight.size(1)) + "], as weight has");
  Shape expected(input1.shape());
  expected[last] = weight.size(2);
  if (!same(input2.shape(), expected)) bad("input2", input2, to_string(expected));
  if (bias && (bias->ndim() != 1 || bias->size(0) != weight.size(0)))
    bad("bias", *bias, "[" + std::to_string(weight.size(0)) + "]");
}

// First input1 with every row of every weight[k], then with input2.
Tensor bilinear_impl(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                     const Tensor* bias) {
  check_dtypes(input1, input2, weight, bias);
  check_shapes(input1, input2, weight, bias);
  const ModeGuard as_they_are(kModeAutocast);
  const int64_t out = weight.size(0), in1 = weight.size(1), in2 = weight.size(2);
  int64_t rows = 1;
  for (int d = 0; d + 1 < input1.ndim(); ++d) rows *= input1.size(d);
  const int64_t first[] = {rows, in1}, second[] = {rows, in2, 1}, flat[] = {in1, out * in2};
  const int64_t half[] = {rows, out, in2}, order[] = {1, 0, 2};
  Shape shape(input1.shape());
  shape[input1.ndim() - 1] = out;

  const Named named("bilinear");
  const Tensor by_first =
      matmul(reshape(input1, first), reshape(permute(weight, Dims(order)), flat));
  const Tensor y = reshape(matmul(reshape(by_first, half), reshape(input2, second)), shape);
  return named(bias ? y + *bias : y);
}

}  // namespace libdl
