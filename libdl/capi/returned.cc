// SPDX-License-Identifier: Apache-2.0

#include "capi/returned.h"

#include "ops/pointwise/pointwise.h"

namespace libdl::capi {

Returned::Returned(std::span<libdl_tensor* const> handles) {
  tensors.reserve(handles.size());
  for (size_t i = 0; i < handles.size(); ++i) {
    libdl_tensor* const handle = handles[i];
    const bool tensor = handle && has_tag(handle, Tag::kTensor);
    tensors.push_back(tensor ? Tensor::take(handle) : Tensor());
    if (!handle || is_live_tensor(handle) || code != LIBDL_OK) continue;
    code = tensor ? LIBDL_ERROR_EMPTIED : LIBDL_ERROR_KIND;
    wrong = std::to_string(i + 1) + " as " + (tensor ? emptied_kind(handle) : kind_of(handle));
  }
}

void check_returned(const char* function, libdl_error* error) {
  if (!error) return;
  if (has_tag(error, Tag::kError)) {
    // One that the callback has just made tells of no operator yet.
    if (error->count() == 1 && !error->is_static && error->op.empty() && !error->payload)
      error->op = function;
    throw Error::take(error);
  }
  fail(LIBDL_ERROR_KIND, function,
       "the callback returned " + kind_of(error) + ", wanted an error or NULL");
}

void check_gradients(const char* function, const Returned& returned) {
  if (returned.wrong.empty()) return;
  fail(returned.code, function,
       "backward left input_gradients " + returned.wrong + ", wanted a tensor");
}

Tensor fit_gradient(const char* function, size_t input, const OutputMeta& meta, Tensor gradient) {
  const std::string which = "backward returned a gradient for input " + std::to_string(input + 1);
  if (!(gradient.device() == meta.device))
    fail(LIBDL_ERROR_DEVICE, function, which + " on another device");
  if (gradient.is_complex() && !is_complex(meta.dtype))
    fail(LIBDL_ERROR_DTYPE, function,
         which + " that is " + name_of(gradient.dtype()) + ", wanted " + name_of(meta.dtype));
  if (same(gradient.shape(), meta.shape)) return gradient;
  const int lead = gradient.ndim() - static_cast<int>(meta.shape.size());
  bool fits = lead >= 0;
  for (size_t d = 0; fits && d < meta.shape.size(); ++d)
    fits = meta.shape[d] == 1 || gradient.size(lead + static_cast<int>(d)) == meta.shape[d];
  if (!fits)
    fail(LIBDL_ERROR_SHAPE, function,
         which + " of shape " + to_string(gradient.shape()) + ", wanted " + to_string(meta.shape));
  return sum_to(gradient, meta.shape);
}

}  // namespace libdl::capi
