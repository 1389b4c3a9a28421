// SPDX-License-Identifier: Apache-2.0

// Levels of dual numbers.

#include <libdl/autograd.h>

#include "capi/arguments.h"
#include "capi/scope.h"
#include "engine/forward.h"
#include "entries/view.h"
#include "ops/core/call.h"

using namespace libdl;
using namespace libdl::capi;

static DualLevel& innermost_level(const char* name) {
  DualLevel* const level = state().dual_level;
  if (!level) fail(LIBDL_ERROR_STATE, name, "no level is open");
  return *level;
}

libdl_error* libdl_forward_enter(int32_t* level) {
  return door("forward_enter", [&] {
    attach_to(state());
    const DualLevel& opened = open_level();
    if (level) *level = opened.depth;
  });
}

libdl_error* libdl_forward_exit(void) {
  return door("forward_exit", [&] {
    innermost_level("forward_exit");
    close_level();
  });
}

uint64_t libdl_forward_level(int32_t level) {
  const DualLevel* at = state().dual_level;
  while (at && level > 0 && at->depth != level) at = at->before;
  return at ? at->id : 0;
}

// NULL: the innermost.
static DualLevel& chosen_level(const char* name, const uint64_t* level) {
  return level ? level_of(*level, name) : innermost_level(name);
}

static void check_like(const char* name, const Tensor& x, const Tensor& t) {
  if (!same(x.shape(), t.shape()))
    fail_argument(LIBDL_ERROR_SHAPE, name, "tangent", "has shape " + to_string(t.shape()),
                  to_string(x.shape()));
  if (x.dtype() != t.dtype())
    fail_argument(LIBDL_ERROR_DTYPE, name, "tangent", std::string("is ") + name_of(t.dtype()),
                  name_of(x.dtype()));
  if (t.device() != x.device())
    fail_argument(LIBDL_ERROR_DEVICE, name, "tangent", "is on " + device_name(t.device()),
                  device_name(x.device()));
}

static Tensor dual_of(const char* name, const libdl_tensor* primal, const libdl_tensor* tangent,
                      const uint64_t* level, libdl_tensor** out) {
  check_tensor(name, "primal", primal);
  check_tensor(name, "tangent", tangent);
  if (!out) fail_argument(LIBDL_ERROR_NULL, name, "out", "is NULL", "a place for the result");
  const Tensor &x = borrow(primal), &t = borrow(tangent);
  DualLevel& where = chosen_level(name, level);
  check_like(name, x, t);
  return make_dual(x, t, where, name);
}

static void unpack(const char* name, const libdl_tensor* dual, const uint64_t* level,
                   libdl_tensor** primal, libdl_tensor** tangent) {
  check_tensor(name, "dual", dual);
  if (!primal || !tangent)
    fail_argument(LIBDL_ERROR_NULL, name, primal ? "tangent" : "primal", "is NULL",
                  "a place for the result");
  const Tensor& x = borrow(dual);
  Unpacked unpacked;
  if (level || state().dual_level)
    unpacked = unpack_dual(x, chosen_level(name, level), name);
  else
    unpacked.primal = view(x, x.shape());
  adopted_together(2);
  *primal = hand_out(std::move(unpacked.primal));
  *tangent = hand_out(std::move(unpacked.tangent));
}

libdl_error* libdl_forward_make_dual(const libdl_tensor* primal, const libdl_tensor* tangent,
                                     libdl_tensor** out) {
  const char* const name = "forward_make_dual";
  return door(name, [&] { *out = hand_out(dual_of(name, primal, tangent, nullptr, out)); });
}

libdl_error* libdl_forward_make_dual_at(const libdl_tensor* primal, const libdl_tensor* tangent,
                                        uint64_t level, libdl_tensor** out) {
  const char* const name = "forward_make_dual_at";
  return door(name, [&] { *out = hand_out(dual_of(name, primal, tangent, &level, out)); });
}

libdl_error* libdl_forward_set_tangent(libdl_tensor* tensor, const libdl_tensor* tangent,
                                       uint64_t level) {
  const char* const name = "forward_set_tangent";
  return door(name, [&] {
    check_tensor(name, "tensor", tensor);
    if (tangent) check_tensor(name, "tangent", tangent);
    const Tensor &x = borrow(tensor), t = Tensor::share(const_cast<libdl_tensor*>(tangent));
    DualLevel& where = level_of(level, name);
    if (tangent) check_like(name, x, t);
    set_tangent(x, t, where);
  });
}

libdl_error* libdl_forward_unpack_dual(const libdl_tensor* dual, libdl_tensor** primal,
                                       libdl_tensor** tangent) {
  const char* const name = "forward_unpack_dual";
  return door(name, [&] { unpack(name, dual, nullptr, primal, tangent); });
}

libdl_error* libdl_forward_unpack_dual_at(const libdl_tensor* dual, uint64_t level,
                                          libdl_tensor** primal, libdl_tensor** tangent) {
  const char* const name = "forward_unpack_dual_at";
  return door(name, [&] { unpack(name, dual, &level, primal, tangent); });
}
