// SPDX-License-Identifier: Apache-2.0

#include "capi/scope.h"

#include <libdl/scope.h>

#include <algorithm>
#include <utility>

#include "capi/arguments.h"
#include "capi/values.h"
#include "tape/meta.h"

namespace libdl {

struct Scope {
  std::vector<Tensor> tensors;  // in the order of their making
  std::vector<Tensor> kept;     // for the next outer scope
  Scope* outer = nullptr;
  bool owns = false;  // tensors are the caller's references themselves, not further ones
};

namespace {

constexpr uint32_t kOwnerAndScope = 2;

// The tensor's memory and history go; the handle stays for its owner to release, and with it the
// cell of its sizes.
void empty_handle(libdl_tensor& t) {
  if (Meta* const meta = std::exchange(t.meta, nullptr)) destroy_meta(meta, &t);
  const Ref<Storage> storage = Ref<Storage>::take(std::exchange(t.storage, nullptr));
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
    if (!scope.owns && last.get()->count() == kOwnerAndScope) empty_handle(*last.get());
  }
}

Scope& innermost(const char* function) {
  Scope* const scope = state().scope;
  if (!scope) fail(LIBDL_ERROR_STATE, function, "no scope is open");
  return *scope;
}

}  // namespace

namespace capi {

// Puts a new tensor among those that the innermost scope empties when it ends. Handles that others
// know already (an operator may return its input) are left out.
void adopt(State& state, libdl_tensor* handle) {
  Scope& scope = *state.scope;
  if (!scope.owns && handle->count() > 1) return;
  scope.tensors.emplace_back();  // nothing fails once the reference is taken
  scope.tensors.back() = scope.owns ? Tensor::take(handle) : Tensor::share(handle);
}

void make_room(State& state, size_t results) {
  auto& tensors = state.scope->tensors;
  if (const size_t wanted = tensors.size() + results; wanted > tensors.capacity())
    tensors.reserve(std::max(wanted, 2 * tensors.capacity()));
}

libdl_tensor_list* to_c(std::vector<Tensor> tensors) {
  Ref<libdl_tensor_list> list = Ref<libdl_tensor_list>::take(make_tensor_list(std::move(tensors)));
  if (scoped() && !state().scope->owns)
    for (const Tensor& tensor : list->tensors)
      if (tensor.defined()) adopt(state(), tensor.get());
  return list.release();
}

void adopt_number(State& state, libdl_tensor* handle) {
  if (state.scope->owns) adopt(state, handle);
}

static std::span<const Tensor> tensors_of(const libdl_value& value) {
  if (value.type == LIBDL_VALUE_TENSOR) return {&borrow(value.held.tensor), 1};
  if (value.type == LIBDL_VALUE_TENSOR_LIST) return value.held.list->tensors;
  return {};
}

void adopt_results(std::span<libdl_value> results) {
  State& current = state();
  size_t count = 0;
  for (const libdl_value& value : results) count += tensors_of(value).size();
  try {
    make_room(current, count);
  } catch (...) {
    release_results(results);
    throw;
  }
  for (const libdl_value& value : results) {
    if (current.scope->owns && value.type == LIBDL_VALUE_TENSOR_LIST) continue;
    for (const Tensor& tensor : tensors_of(value))
      if (tensor.defined()) adopt(current, tensor.get());
  }
}

ScopePause::ScopePause(bool hook)
    : state_(Ref<State>::share(&state())), scope_(std::exchange(state_->scope, nullptr)) {
  state_->mode &= ~static_cast<uint32_t>(kModeScope);
  if (state_->watch) frame_.emplace(*state_, called_back(*state_, hook));
}

ScopePause::~ScopePause() {
  release_scopes(*state_);
  state_->scope = scope_;
  if (scope_) state_->mode |= kModeScope;
}

void release_scopes(State& state) {
  while (Scope* const scope = state.scope) {
    end(*scope);
    state.scope = scope->outer;
    delete scope;
  }
}

void attach_to(State& state) {
  end_with_thread(state);
  state.release_attachments = [](State& ending) {
    release_scopes(ending);
    release_interceptors(ending);
    release_saved_hooks(ending);
    release_generator(ending);
    while (ending.dual_level) close_level(ending);
  };
}

}  // namespace capi

}  // namespace libdl

using namespace libdl;
using namespace libdl::capi;

namespace {

void open_scope(bool owns) {
  State& current = state();
  attach_to(current);
  auto* const scope = new Scope;
  scope->outer = current.scope;
  scope->owns = owns;
  current.scope = scope;
  current.mode |= kModeScope;
}

void close_scope(Scope& scope) {
  State& current = state();
  if (scope.outer) {
    auto& outer = scope.outer->tensors;
    outer.insert(outer.end(), scope.kept.begin(), scope.kept.end());
  }
  scope.kept.clear();
  end(scope);
  current.scope = scope.outer;
  if (!current.scope) current.mode &= ~static_cast<uint32_t>(kModeScope);
  delete &scope;
}

// False if it does not belong to the scope. What an owning scope kept is the caller's again, or the
// outer scope's if that owns, too.
bool keep(Scope& scope, const libdl_tensor* tensor) {
  const auto at = std::find_if(scope.tensors.begin(), scope.tensors.end(),
                               [&](const Tensor& t) { return t.get() == tensor; });
  if (at == scope.tensors.end()) return false;
  if (scope.outer) scope.kept.push_back(*at);
  const bool given_back = scope.owns && !(scope.outer && scope.outer->owns);
  if (given_back) at->release();
  // An outer owner needs a reference that the caller of a plain scope still holds.
  if (!scope.owns && scope.outer && scope.outer->owns) Tensor::take(at->get());
  scope.tensors.erase(at);
  return true;
}

}  // namespace

libdl_error* libdl_scope_push(void) {
  return door("scope_push", [] { open_scope(false); });
}

libdl_error* libdl_scope_push_owner(void) {
  return door("scope_push_owner", [] { open_scope(true); });
}

libdl_error* libdl_scope_pop(void) {
  return door("scope_pop", [] { close_scope(innermost("scope_pop")); });
}

libdl_error* libdl_scope_keep(libdl_tensor* tensor) {
  constexpr const char* function = "scope_keep";
  return door(function, [&] {
    check_tensor(function, 1, "tensor", tensor);
    keep(innermost(function), tensor);
  });
}

libdl_error* libdl_scope_return(libdl_error* error, libdl_tensor* result, libdl_tensor** out) {
  constexpr const char* function = "scope_return";
  libdl_error* const own = door(function, [&] {
    Scope& scope = innermost(function);
    if (error) {
      check_kind(function, 1, "error", error, Tag::kError);
      return close_scope(scope);
    }
    check_tensor(function, 2, "result", result);
    output(function, 3, "out", out);
    const bool outer_owns = scope.outer && scope.outer->owns;
    // One more reference of what is somebody else's, an operand perhaps, or the caller's already.
    const bool kept = keep(scope, result);
    if (!kept && outer_owns)
      scope.outer->tensors.push_back(Tensor::share(result));
    else if (!outer_owns && (!kept || !scope.owns))
      result->retain();
    close_scope(scope);
    *out = result;
  });
  if (!own) return error;
  if (error && has_tag(error, Tag::kError)) libdl_error_release(error);
  return own;
}
