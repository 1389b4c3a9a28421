// SPDX-License-Identifier: Apache-2.0

#include "tape/own_view.h"

#include "tape/meta.h"

namespace libdl {

static void check_own_view(const char* op, const Tensor& x, const Tensor& view) {
  if (x.is_number()) fail_argument(LIBDL_ERROR_VALUE, op, "tensor", "is a host number", "a tensor");
  const Meta* const own = x.meta();
  const Meta* const meta = view.meta();
  if (own && own->view != ViewKind::kNone)
    fail_argument(LIBDL_ERROR_VALUE, op, "tensor", "is a view", "a tensor of its own");
  if (!meta || meta->view != ViewKind::kElements || meta->base.get() != x.get())
    fail_argument(LIBDL_ERROR_VALUE, op, "view", "is no view of argument (tensor)",
                  "one of the same elements");
  if (!requires_grad(x)) return;
  if (is_leaf(x))
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, "tensor", "is a leaf that requires grad",
                  "a result, or a leaf that does not");
  if (!requires_grad(view) || meta->seen.load() != own->generation)
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, "view",
                  "was made while nothing was recorded, or before argument (tensor) was written",
                  "a view with the tensor's history");
}

void become_own_view(const Tensor& x, const Tensor& view) {
  if (x.get() == view.get()) return;
  check_own_view("tensor_become_view", x, view);
  detach_tangents(x);
  if (!requires_grad(x)) return take_data(x, view);
  Meta& meta = *x.meta();
  if (meta.retains_grad) set_grad(x, {});  // of the old shape
  Ref<Node> node = Ref<Node>::share(view.meta()->node);
  const int32_t slot = view.meta()->slot;
  prepare_history(x, *node, slot);
  take_data(x, view);
  commit_history(x, std::move(node), slot);
}

}  // namespace libdl
