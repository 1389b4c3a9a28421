// SPDX-License-Identifier: Apache-2.0

#include <libdl/tensor.h>

#include <atomic>

#include "capi/arguments.h"
#include "capi/scope.h"
#include "ops/core/call.h"
#include "ops/view/fit.h"
#include "tape/meta.h"
#include "tape/own_view.h"
#include "tensor/pinned.h"
#include "tensor/sparse_rows.h"
#include "tensor/watched.h"

namespace libdl::capi {
namespace {

bool live(const libdl_tensor* t) { return is_live_tensor(t); }
bool shaped(const libdl_tensor* t) { return has_geometry(t); }

}  // namespace
}  // namespace libdl::capi

using namespace libdl;
using namespace libdl::capi;

// -- life -----------------------------------------------------------------------------------------

libdl_tensor* libdl_tensor_retain(libdl_tensor* tensor) {
  if (!is_kind("libdl_tensor_retain", "tensor", tensor, Tag::kTensor)) return nullptr;
  tensor->retain();
  if (within_scope()) [[unlikely]]
    reference_added(*current_state, tensor);
  return tensor;
}

// For a thread with a scope, or where handles are watched. It stands apart, so that the plain way
// needs no frame.
[[gnu::cold, gnu::noinline]] static void release_watched(libdl_tensor* tensor) {
  if (handles_are_watched && tensor && !watched::may_be_released(tensor)) return;
  if (!is_kind("libdl_tensor_release", "tensor", tensor, Tag::kTensor)) return;
  if (within_scope()) reference_released(*current_state, tensor);
  if (tensor->drop()) destroy(tensor);
}

void libdl_tensor_release(libdl_tensor* tensor) {
  if (handles_are_watched || within_scope()) [[unlikely]]
    return release_watched(tensor);
  if (is_kind("libdl_tensor_release", "tensor", tensor, Tag::kTensor) && tensor->drop())
    destroy(tensor);
}

uint32_t libdl_tensor_use_count(const libdl_tensor* tensor) {
  return tensor && has_tag(tensor, Tag::kTensor) ? tensor->count() : 0;
}

// -- metadata -------------------------------------------------------------------------------------

int32_t libdl_tensor_ndim(const libdl_tensor* tensor) { return shaped(tensor) ? tensor->ndim : 0; }

const int64_t* libdl_tensor_shape(const libdl_tensor* tensor) {
  return shaped(tensor) ? tensor->dims : nullptr;
}

const int64_t* libdl_tensor_strides(const libdl_tensor* tensor) {
  return shaped(tensor) ? tensor->dims + tensor->ndim : nullptr;
}

int64_t libdl_tensor_numel(const libdl_tensor* tensor) {
  return shaped(tensor) ? tensor->numel : 0;
}

libdl_dtype libdl_tensor_dtype(const libdl_tensor* tensor) {
  return shaped(tensor) ? static_cast<libdl_dtype>(tensor->dtype) : LIBDL_DTYPE_NONE;
}

libdl_device libdl_tensor_device(const libdl_tensor* tensor) {
  if (!shaped(tensor)) return {0, 0};
  const Device device = borrow(tensor).device();
  return {device.type, device.index};
}

int64_t libdl_tensor_storage_offset(const libdl_tensor* tensor) {
  return live(tensor) ? tensor->offset : 0;
}

int64_t libdl_tensor_storage_nbytes(const libdl_tensor* tensor) {
  return live(tensor) && tensor->storage ? static_cast<int64_t>(tensor->storage->bytes) : 0;
}

uint64_t libdl_tensor_storage_id(const libdl_tensor* tensor) {
  return live(tensor) ? reinterpret_cast<uint64_t>(tensor->storage) : 0;
}

uint64_t libdl_tensor_version(const libdl_tensor* tensor) {
  return live(tensor) && tensor->storage ? saved_version(*tensor) : 0;
}

libdl_bool libdl_tensor_is_contiguous(const libdl_tensor* tensor) {
  return shaped(tensor) && (tensor->flags & kContiguous);
}

libdl_bool libdl_tensor_is_number(const libdl_tensor* tensor) {
  return live(tensor) && (tensor->flags & kNumber);
}

libdl_bool libdl_tensor_is_inference(const libdl_tensor* tensor) {
  return live(tensor) && (tensor->flags & kInferenceMade);
}

libdl_bool libdl_tensor_is_emptied(const libdl_tensor* tensor) {
  return tensor && has_tag(tensor, Tag::kTensor) && (tensor->flags & kEmptied);
}

libdl_bool libdl_tensor_is_read_only(const libdl_tensor* tensor) {
  return live(tensor) && tensor->storage && tensor->storage->read_only;
}

libdl_bool libdl_tensor_is_sparse(const libdl_tensor* tensor) {
  return live(tensor) && is_sparse(borrow(tensor));
}

libdl_bool libdl_tensor_is_pinned(const libdl_tensor* tensor) {
  return live(tensor) && !borrow(tensor).is_number() && is_pinned(borrow(tensor).storage());
}

libdl_bool libdl_tensor_overlaps_itself(const libdl_tensor* tensor) {
  return live(tensor) && overlaps_itself(borrow(tensor));
}

libdl_tensor* libdl_tensor_base(const libdl_tensor* tensor) {
  if (!live(tensor) || !tensor->meta || tensor->meta->view == ViewKind::kNone) return nullptr;
  return hand_further(tensor->meta->base);
}

libdl_error* libdl_tensor_alias_data(const libdl_tensor* tensor, libdl_tensor** out) {
  return door("tensor_alias_data", [&] {
    const char* const name = "tensor_alias_data";
    check_tensor(name, "tensor", tensor);
    if (!out) fail_argument(LIBDL_ERROR_NULL, name, "out", "is NULL", "a place for the result");
    Tensor made = alias(borrow(tensor));
    made.get()->flags |= kAside;
    *out = hand_out(std::move(made));
  });
}

libdl_error* libdl_tensor_stand_in(const libdl_tensor* batch, libdl_tensor** out) {
  return door("tensor_stand_in", [&] {
    const char* const name = "tensor_stand_in";
    if (!has_geometry(batch)) check_tensor(name, "batch", batch);
    output(name, "out", out);
    if (batch->ndim == 0)
      fail_argument(LIBDL_ERROR_SHAPE, name, "batch", "has no dimension", "at least one");
    *out = hand_out(stand_in(*batch));
  });
}

libdl_error* libdl_tensor_set_data(libdl_tensor* tensor, const libdl_tensor* source) {
  return door("tensor_set_data", [&] {
    const char* const name = "tensor_set_data";
    check_tensor(name, "tensor", tensor);
    check_tensor(name, "source", source);
    if (!borrow(source).is_number())
      fit_history(borrow(tensor), borrow(source).shape(), borrow(source).dtype());
    set_data(borrow(tensor), borrow(source));
  });
}

libdl_error* libdl_tensor_become_view(libdl_tensor* tensor, const libdl_tensor* view) {
  return door("tensor_become_view", [&] {
    const char* const name = "tensor_become_view";
    check_tensor(name, "tensor", tensor);
    check_tensor(name, "view", view);
    become_own_view(borrow(tensor), borrow(view));
  });
}

[[gnu::cold]] static void own_number(libdl_tensor* made) {
  try {
    adopt_if_owner(state(), made);
  } catch (...) {
    libdl_tensor_release(made);
    throw;
  }
}

// -- host numbers ---------------------------------------------------------------------------------

LIBDL_NORETURN [[gnu::cold]] static void no_place(const char* name) {
  fail_argument(LIBDL_ERROR_NULL, name, "out", "is NULL", "a place for the result");
}

template <class T>
static libdl_error* make_number(const char* name, T value, libdl_tensor** out) {
  return quick_door(name, [&] {
    if (!out) no_place(name);
    libdl_tensor* const made = number(value).release();
    if (current_state->mode & kModeScope) [[unlikely]]  // the number has made the thread's state
      own_number(made);
    *out = made;
  });
}

libdl_error* libdl_number_f64(double value, libdl_tensor** out) {
  return make_number("number_f64", value, out);
}
libdl_error* libdl_number_i64(int64_t value, libdl_tensor** out) {
  return make_number("number_i64", value, out);
}
libdl_error* libdl_number_bool(libdl_bool value, libdl_tensor** out) {
  return make_number("number_bool", value != 0, out);
}
libdl_error* libdl_number_c128(double real, double imag, libdl_tensor** out) {
  return make_number("number_c128", std::complex<double>(real, imag), out);
}

// -- lists ----------------------------------------------------------------------------------------

static bool is_list(const libdl_tensor_list* list) {
  return list && has_tag(list, Tag::kTensorList);
}

int64_t libdl_tensor_list_count(const libdl_tensor_list* list) {
  return is_list(list) ? static_cast<int64_t>(list->tensors.size()) : 0;
}

libdl_tensor* libdl_tensor_list_get(const libdl_tensor_list* list, int64_t index) {
  if (!is_list(list) || index < 0 || index >= libdl_tensor_list_count(list)) return nullptr;
  return hand_further(list->tensors[static_cast<size_t>(index)]);
}

void libdl_tensor_list_release(libdl_tensor_list* list) {
  if (!is_kind("libdl_tensor_list_release", "list", list, Tag::kTensorList)) return;
  if (within_scope()) [[unlikely]]
    list_released(*current_state, list);
  if (list->drop()) destroy(list);
}

// -- the host's object ----------------------------------------------------------------------------

namespace {

// Runtimes that asked for a number have those behind the ones that anybody may choose.
constexpr int32_t kChosen = 4;
std::atomic<int32_t> hosts{kChosen};

bool is_host(int32_t host) { return host >= 0 && host < hosts.load(std::memory_order_relaxed); }

}  // namespace

libdl_error* libdl_host_new(int32_t* out) {
  return door("host_new", [&] {
    output("host_new", "out", out);
    *out = hosts.fetch_add(1, std::memory_order_relaxed);
  });
}

void* libdl_tensor_host_object(const libdl_tensor* tensor, int32_t host) {
  if (!tensor || !has_tag(tensor, Tag::kTensor)) return nullptr;
  if (host == LIBDL_HOST_PYTHON) return tensor->host;
  return tensor->meta ? host_object(*tensor->meta, host) : nullptr;
}

libdl_error* libdl_tensor_set_host_object(libdl_tensor* tensor, int32_t host, void* object) {
  return door("tensor_set_host_object", [&] {
    const char* const name = "tensor_set_host_object";
    if (!tensor || !has_tag(tensor, Tag::kTensor)) check_tensor(name, "tensor", tensor);
    if (!is_host(host))
      fail_argument(LIBDL_ERROR_VALUE, name, "host", "is " + std::to_string(host),
                    "0 to 3, or a number of libdl_host_new");
    if (host == LIBDL_HOST_PYTHON)
      tensor->host = object;
    else if (object || tensor->meta)
      set_host_object(meta_of(borrow(tensor)), host, object);
  });
}
