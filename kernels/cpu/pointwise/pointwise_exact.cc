// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/pointwise/pointwise_exact.h"

#include <libdl/dtype.h>

#include <cstring>

#include "kernels/cpu/traverse/convert.h"

namespace libdl::kernels::cpu {
namespace {

bool is_number(const View& view) {
  for (int d = 0; d < view.ndim; ++d) {
    if (view.strides[d] != 0 && view.sizes[d] != 1) return false;
  }
  return true;
}

// A number in another dtype of its class, by the way through the class; false where that would
// change its value.
bool number_as(int32_t dtype, const View& x, Class compute, char* number) {
  alignas(16) char wide[16], back[16] = {};
  const ConvertFn load = convert_to_class(x.dtype, compute);
  const int bytes = dtype_bytes(class_dtype(compute));
  if (load != nullptr) load(x.data, wide, 1);
  if (load == nullptr) std::memcpy(wide, x.data, static_cast<size_t>(bytes));
  const ConvertFn store = convert_from_class(compute, dtype);
  if (store == nullptr) {
    std::memcpy(number, wide, static_cast<size_t>(bytes));
    return true;
  }
  store(wide, number, 1);
  convert_to_class(dtype, compute)(number, back, 1);
  return std::memcmp(wide, back, static_cast<size_t>(bytes)) == 0;
}

// Makes all inputs from `first` on be of one dtype, numbers by conversion.
bool all_of(int32_t dtype, int first, ExactForm& form) {
  for (int k = first; k < form.args.inputs; ++k) {
    View& x = form.args.in[k];
    if (x.dtype == dtype) continue;
    if (!is_number(x) || x.dtype == LIBDL_DTYPE_NONE) return false;
    if (!number_as(dtype, x, static_cast<Class>(form.args.compute), form.number[k])) return false;
    x.data = form.number[k];
    x.dtype = dtype;
  }
  return true;
}

// A truth, 1 or 0, is the same byte in each of these.
bool holds_truths(int32_t dtype) {
  return dtype == LIBDL_DTYPE_BOOL || dtype == LIBDL_DTYPE_UINT8 || dtype == LIBDL_DTYPE_INT8;
}

bool numbers_after_first(const PointwiseArgs& args) {
  for (int k = 1; k < args.inputs; ++k) {
    if (!is_number(args.in[k])) return false;
  }
  return args.inputs > 1;
}

bool use(TileFn fn, int32_t varying, ExactForm& form) {
  form.fn = fn;
  form.varying = varying;
  return fn != nullptr;
}

bool narrow_form(ExactForm& form) {
  const PointwiseArgs& args = form.args;
  int32_t dtype = LIBDL_DTYPE_NONE;
  for (int k = 0; k < args.inputs && dtype == LIBDL_DTYPE_NONE; ++k) {
    if (narrow_tiles(args.in[k].dtype) != nullptr) dtype = args.in[k].dtype;
  }
  const bool truth = kExpressionInfo[args.expression].truth;
  if (dtype == LIBDL_DTYPE_NONE) return false;
  if (truth ? !holds_truths(args.out.dtype) : args.out.dtype != dtype) return false;
  if (narrow_tiles(dtype)[args.expression] == nullptr || !all_of(dtype, 0, form)) return false;
  const TileFn with_numbers = narrow_number_tiles(dtype)[args.expression];
  if (with_numbers != nullptr && numbers_after_first(args)) return use(with_numbers, 1, form);
  return use(narrow_tiles(dtype)[args.expression], args.inputs, form);
}

// Numbers become float32, as they are in the class.
bool short_form(ExactForm& form) {
  const PointwiseArgs& args = form.args;
  const int32_t dtype = args.in[0].dtype, out = args.out.dtype;
  if (dtype != LIBDL_DTYPE_FLOAT16 && dtype != LIBDL_DTYPE_BFLOAT16) return false;
  const bool truth = kExpressionInfo[args.expression].truth;
  if (out != dtype && !(truth && holds_truths(out))) return false;
  const auto tile = [&](ShortForm which) { return short_tile(dtype, which, args.expression); };
  if (args.expression == static_cast<int32_t>(Expression::pow)) {
    if (!numbers_after_first(args) || !all_of(LIBDL_DTYPE_FLOAT32, 1, form)) return false;
    return use(short_power_tile(dtype, *static_cast<const float*>(args.in[1].data)), 1, form);
  }
  const TileFn with_numbers = tile(ShortForm::kNumbers);
  if (with_numbers != nullptr && numbers_after_first(args)) {
    return all_of(LIBDL_DTYPE_FLOAT32, 1, form) && use(with_numbers, 1, form);
  }
  const TileFn fn = tile(truth && out == dtype ? ShortForm::kCounted : ShortForm::kPlain);
  return fn != nullptr && all_of(dtype, 0, form) && use(fn, args.inputs, form);
}

// A comparison that writes numbers of its operands' dtype.
bool counted_form(ExactForm& form) {
  const PointwiseArgs& args = form.args;
  const Class compute = static_cast<Class>(args.compute);
  if (!kExpressionInfo[args.expression].truth || args.out.dtype != class_dtype(compute)) {
    return false;
  }
  const TileFn fn = counted_tile(compute, args.expression);
  return fn != nullptr && all_of(args.out.dtype, 0, form) && use(fn, args.inputs, form);
}

// Logical expressions ask of bytes no more than whether they are 0.
bool byte_form(ExactForm& form) {
  const PointwiseArgs& args = form.args;
  bool bytes = holds_truths(args.out.dtype);
  for (int k = 0; k < args.inputs; ++k) bytes &= holds_truths(args.in[k].dtype);
  switch (static_cast<Expression>(args.expression)) {
    case Expression::logical_not:
    case Expression::logical_and:
    case Expression::logical_or:
    case Expression::logical_xor:
      return bytes && use(tile_table(Class::kBool)[args.expression], args.inputs, form);
    default: return false;
  }
}

bool choice_form(ExactForm& form) {
  const PointwiseArgs& args = form.args;
  if (dtype_bytes(args.in[0].dtype) != 1) return false;
  form.fn = choice_tile(dtype_bytes(args.out.dtype));
  return all_of(args.out.dtype, 1, form);
}

// Numbers stay complex128, as they are in the class.
bool complex_form(ExactForm& form) {
  PointwiseArgs& args = form.args;
  if (args.out.dtype != LIBDL_DTYPE_COMPLEX64 || args.in[0].dtype != LIBDL_DTYPE_COMPLEX64) {
    return false;
  }
  int numbers = 0;
  for (int k = 1; k < args.inputs; ++k) {
    const bool number = is_number(args.in[k]);
    if (!number && args.in[k].dtype != LIBDL_DTYPE_COMPLEX64) return false;
    numbers += number;
  }
  if (numbers == 0) {
    form.fn = c64_tile(args.expression);
    return form.fn != nullptr;
  }
  form.varying = 1;
  if (numbers < args.inputs - 1 || !all_of(LIBDL_DTYPE_COMPLEX128, 1, form)) return false;
  form.fn = c64_number_tile(args.expression);
  if (args.expression == static_cast<int32_t>(Expression::pow)) {
    double exponent[2];
    std::memcpy(exponent, args.in[1].data, sizeof(exponent));
    form.fn = exponent[1] == 0 ? c64_power_tile(exponent[0]) : nullptr;
  }
  return form.fn != nullptr;
}

}  // namespace

bool exact_form(const PointwiseArgs& args, ExactForm& form) {
  form.args = args;
  form.varying = args.inputs;
  if (args.expression == static_cast<int32_t>(Expression::where)) return choice_form(form);
  switch (static_cast<Class>(args.compute)) {
    case Class::kBool: return byte_form(form);
    case Class::kI64: return narrow_form(form) || counted_form(form);
    case Class::kF32: return short_form(form) || counted_form(form);
    case Class::kF64: return counted_form(form);
    case Class::kC128: return complex_form(form);
    default: return false;
  }
}

}  // namespace libdl::kernels::cpu
