// SPDX-License-Identifier: Apache-2.0

// The only element of a tensor, as a number of the host's.
#include "ops/copy/item.h"

#include <complex>

#include "base/error.h"
#include "device/meta.h"
#include "device/transfer.h"
#include "entries/copy.h"
#include "ops/primitive/launch.h"

namespace libdl {

// The only element, converted.
template <class T>
static T item_as(const Tensor& x, const char* op, Dtype dtype) {
  if (x.numel() != 1)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has " + std::to_string(x.numel()) + " elements",
                  "exactly one");
  if (!can_cast(x.dtype(), dtype) && is_complex(x.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(x.dtype()),
                  "a real dtype");
  T value;
  const int64_t one = 1;
  alignas(16) std::byte element[16];
  void* from = x.plain(Access::kRead);
  if (!x.device().is_cpu()) {
    if (is_meta(x.device()))
      fail(LIBDL_ERROR_UNSUPPORTED, op, "Tensor.item() cannot be called on meta tensors");
    note_use(x);
    read_bytes(element, x.device(), from, static_cast<size_t>(size_of(x.dtype())));
    from = element;
  }
  launch_copy({}, {{&value, &one, &one, 0, static_cast<int32_t>(dtype)},
                   {from, &one, &one, 0, static_cast<int32_t>(x.dtype())}});
  return value;
}

bool item_bool_impl(const Tensor& input) {
  // Complex numbers are true unless both parts are 0, which the conversion to bool knows.
  if (input.is_complex()) {
    const auto [re, im] =
        rename_error("item_bool", {{"input", "input"}}, [&] { return item_c128(input); });
    return re != 0 || im != 0;
  }
  return item_as<uint8_t>(input, "item_bool", Dtype::kBool) != 0;
}
int64_t integer_bits(const Tensor& input) {
  return item_as<int64_t>(input, "item_i64", Dtype::kInt64);
}
// The bits as another sign reads them, if that is the same number.
static int64_t whole_item(const Tensor& x, const char* op, bool is_unsigned) {
  if (is_inexact(x.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(x.dtype()),
                  "integers or bool");
  const int64_t bits = item_as<int64_t>(x, op, Dtype::kInt64);
  if (bits < 0 && is_unsigned != (x.dtype() == Dtype::kUint64))
    fail_argument(
        LIBDL_ERROR_OVERFLOW, op, "input",
        "is " + (is_unsigned ? std::to_string(bits) : std::to_string(static_cast<uint64_t>(bits))),
        is_unsigned ? "0 or more" : "at most 2^63 - 1");
  return bits;
}
int64_t item_i64_impl(const Tensor& input) { return whole_item(input, "item_i64", false); }
uint64_t item_u64_impl(const Tensor& input) {
  return static_cast<uint64_t>(whole_item(input, "item_u64", true));
}
double item_f64_impl(const Tensor& input) {
  return item_as<double>(input, "item_f64", Dtype::kFloat64);
}
std::tuple<double, double> item_c128_impl(const Tensor& input) {
  const auto z = item_as<std::complex<double>>(input, "item_c128", Dtype::kComplex128);
  return {z.real(), z.imag()};
}

}  // namespace libdl
