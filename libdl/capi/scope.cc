// SPDX-License-Identifier: Apache-2.0

#include "capi/scope.h"

#include <libdl/scope.h>

#include <algorithm>

#include "tape/meta.h"

namespace libdl {

struct Scope {
  std::vector<Tensor> tensors;  // in the order of their making
  std::vector<Tensor> kept;     // for the next outer scope
  Scope* outer = nullptr;
};

namespace {

constexpr uint32_t kOwnerAndScope = 2;

// The tensor's memory and history go; the handle stays for its owner to release.
void empty_handle(libdl_tensor& t) {
  if (Meta* const meta = std::exchange(t.meta, nullptr)) destroy_meta(meta, &t);
  const Ref<Storage> storage = Ref<Storage>::take(std::exchange(t.storage, nullptr));
  if (t.ndim > kInlineDims) slab_free(t.dims, 2 * t.ndim * sizeof(int64_t));
  t.dims = t.inline_dims;
  t.ndim = 0;
  t.numel = 0;
  t.offset = 0;
  t.flags = kEmptied;
}

// Last first: a view lets go of its base before the base's turn comes.
void end(Scope& scope) {
  while (!scope.tensors.empty()) {
    const Tensor last = std::move(scope.tensors.back());
    scope.tensors.pop_back();
    if (last.get()->count() == kOwnerAndScope) empty_handle(*last.get());
  }
}

Scope& innermost(const char* function) {
  Scope* const scope = state().scope;
  if (!scope) fail(LIBDL_ERROR_STATE, function, "no scope is open");
  return *scope;
}

}  // namespace

namespace capi {

void adopt(State& state, libdl_tensor* handle) {
  if (handle->count() == 1) state.scope->tensors.push_back(Tensor::share(handle));
}

void adopt_results(const OpEntry& entry, const libdl_value* results) {
  State& current = state();
  for (int32_t i = 0; i < entry.result_count; ++i) {
    if (results[i].type == LIBDL_VALUE_TENSOR) adopt(current, results[i].as.tensor);
    if (results[i].type != LIBDL_VALUE_TENSOR_LIST) continue;
    for (const Tensor& tensor : results[i].as.list->tensors)
      if (tensor.defined()) adopt(current, tensor.get());
  }
}

void release_scopes(State& state) {
  while (Scope* const scope = state.scope) {
    end(*scope);
    state.scope = scope->outer;
    delete scope;
  }
}

void attach_to(State& state) {
  state.release_attachments = [](State& ending) {
    release_scopes(ending);
    release_interceptors(ending);
    release_saved_hooks(ending);
    release_generator(ending);
  };
}

}  // namespace capi

}  // namespace libdl

using namespace libdl;
using namespace libdl::capi;

libdl_error* libdl_scope_push(void) {
  return door("scope_push", [] {
    State& current = state();
    attach_to(current);
    auto* const scope = new Scope;
    scope->outer = current.scope;
    current.scope = scope;
    current.mode |= kModeScope;
  });
}

libdl_error* libdl_scope_pop(void) {
  return door("scope_pop", [] {
    State& current = state();
    Scope& scope = innermost("scope_pop");
    if (scope.outer) {
      auto& outer = scope.outer->tensors;
      outer.insert(outer.end(), scope.kept.begin(), scope.kept.end());
    }
    scope.kept.clear();
    end(scope);
    current.scope = scope.outer;
    if (!current.scope) current.mode &= ~static_cast<uint32_t>(kModeScope);
    delete &scope;
  });
}

libdl_error* libdl_scope_keep(libdl_tensor* tensor) {
  constexpr const char* function = "scope_keep";
  return door(function, [&] {
    check_tensor(function, 1, "tensor", tensor);
    Scope& scope = innermost(function);
    const auto at = std::find_if(scope.tensors.begin(), scope.tensors.end(),
                                 [&](const Tensor& t) { return t.get() == tensor; });
    if (at == scope.tensors.end()) return;
    if (scope.outer) scope.kept.push_back(*at);
    scope.tensors.erase(at);
  });
}
