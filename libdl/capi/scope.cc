// SPDX-License-Identifier: Apache-2.0

#include "capi/scope.h"

#include <libdl/scope.h>

#include <algorithm>
#include <utility>

#include "capi/arguments.h"
#include "capi/values.h"
#include "tape/meta.h"
#include "tape/saved.h"
#include "tape/tangent.h"

namespace libdl {

// A tensor of a scope.
struct ScopeEntry {
  Tensor tensor;
  // Of an owning scope: references that the caller has added since. They are released first.
  uint32_t further = 0;
};

constexpr uint32_t kOwnerAndScope = 2;

struct Scope {
  std::vector<ScopeEntry> tensors;            // in the order of their making
  std::vector<ScopeEntry> kept;               // for the next outer scope
  std::vector<Ref<libdl_tensor_list>> lists;  // of an owning scope
  Scope* outer = nullptr;
  bool owns = false;  // tensors are the caller's references themselves, not further ones
  // Some of them could not be given kScopeOwned: others might read the flags.
  bool unmarked = false;

  // The caller's own references are those of an owner.
  bool owns_kept() const { return outer && outer->owns; }
};

namespace {

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
    const Tensor last = std::move(scope.tensors.back().tensor);
    scope.tensors.pop_back();
    if (!scope.owns && last.get()->count() == kOwnerAndScope) empty_handle(*last.get());
  }
  while (!scope.lists.empty()) {
    const Ref<libdl_tensor_list> last = std::move(scope.lists.back());
    scope.lists.pop_back();
  }
}

Scope& innermost(const char* function) {
  Scope* const scope = state().scope;
  if (!scope) fail(LIBDL_ERROR_STATE, function, "no scope is open");
  return *scope;
}

ScopeEntry* find(std::vector<ScopeEntry>& entries, const libdl_tensor* tensor) {
  const auto at = std::find_if(entries.rbegin(), entries.rend(),
                               [&](const ScopeEntry& e) { return e.tensor.get() == tensor; });
  return at == entries.rend() ? nullptr : &*at;
}
void erase(std::vector<ScopeEntry>& entries, ScopeEntry* entry) {
  entries.erase(entries.begin() + (entry - entries.data()));
}

// Calls f with each scope of the state, innermost first, until it returns true: those around the
// callback of the host that runs, too, if `around`.
template <class F>
void in_each_scope(const State& state, bool around, F f) {
  const OutsideScope* callback = around ? state.outside : nullptr;
  for (Scope* scope = state.scope; scope || callback; scope = scope->outer) {
    while (!scope && callback) {
      scope = callback->scope();
      callback = callback->before();
    }
    if (!scope || f(*scope)) return;
  }
}

// Where owning scopes have the handle: the latest entry, and the list that it is in. NULL: nowhere.
struct OwnedHandle {
  std::vector<ScopeEntry>* entries = nullptr;
  ScopeEntry* entry = nullptr;
};
OwnedHandle owned(const State& state, const libdl_tensor* handle) {
  bool possible = handle->flags & kScopeOwned;
  if (!possible)
    in_each_scope(state, true, [&](const Scope& scope) { return possible |= scope.unmarked; });
  OwnedHandle result;
  if (!possible) return result;
  in_each_scope(state, true, [&](Scope& scope) {
    if (scope.owns) result = {&scope.tensors, find(scope.tensors, handle)};
    if (!result.entry && scope.owns_kept()) result = {&scope.kept, find(scope.kept, handle)};
    return result.entry != nullptr;
  });
  return result;
}

}  // namespace

namespace capi {

// Puts a new tensor among those that the innermost scope empties when it ends. Handles that others
// know already (an operator may return its input) are left out.
void adopt(State& state, libdl_tensor* handle) {
  Scope& scope = *state.scope;
  if (!scope.owns && handle->count() > 1) return;
  scope.tensors.emplace_back();  // nothing fails once the reference is taken
  if (scope.owns && handle->count() == 1) handle->flags |= kScopeOwned;
  if (scope.owns && !(handle->flags & kScopeOwned)) scope.unmarked = true;
  scope.tensors.back().tensor = scope.owns ? Tensor::take(handle) : Tensor::share(handle);
}

void adopt_if_owner(State& state, libdl_tensor* handle) {
  if (state.scope->owns) adopt(state, handle);
}

libdl_tensor* hand_out(Tensor tensor) {
  if (scoped() && tensor.defined()) adopt_if_owner(state(), tensor.get());
  return tensor.release();
}

void reference_added(const State& state, const libdl_tensor* handle) {
  if (ScopeEntry* const entry = owned(state, handle).entry) ++entry->further;
}

void reference_released(const State& state, const libdl_tensor* handle) {
  const auto [entries, entry] = owned(state, handle);
  if (!entry) return;
  if (entry->further) {
    --entry->further;
    return;
  }
  entry->tensor.release();
  erase(*entries, entry);
}

void list_released(const State& state, const libdl_tensor_list* list) {
  in_each_scope(state, true, [&](Scope& scope) {
    auto& lists = scope.lists;
    const auto at = std::find_if(lists.rbegin(), lists.rend(),
                                 [&](const auto& owned) { return owned.get() == list; });
    if (at == lists.rend()) return false;
    at->release();
    lists.erase(std::next(at).base());
    return true;
  });
}

void reserve_results(State& state, size_t results) {
  auto& tensors = state.scope->tensors;
  if (const size_t requested = tensors.size() + results; requested > tensors.capacity())
    tensors.reserve(std::max(requested, 2 * tensors.capacity()));
}

libdl_tensor_list* hand_out(std::vector<Tensor> tensors) {
  Ref<libdl_tensor_list> list = Ref<libdl_tensor_list>::take(make_tensor_list(std::move(tensors)));
  if (scoped() && state().scope->owns) {
    state().scope->lists.push_back(std::move(list));
    return state().scope->lists.back().get();
  }
  return list.release();
}

libdl_tensor_list* to_c(std::vector<Tensor> tensors) {
  if (scoped() && !state().scope->owns) {
    reserve_results(state(), tensors.size());
    for (const Tensor& tensor : tensors)
      if (tensor.defined()) adopt(state(), tensor.get());
  }
  return hand_out(std::move(tensors));
}

static std::span<const Tensor> tensors_of(const libdl_value& value) {
  if (value.type == LIBDL_VALUE_TENSOR) return {&borrow(value.held.tensor), 1};
  if (value.type == LIBDL_VALUE_TENSOR_LIST) return value.held.list->tensors;
  return {};
}

void adopt_results(std::span<libdl_value> results) {
  State& current = state();
  Scope& scope = *current.scope;
  size_t count = 0;
  for (const libdl_value& value : results) count += tensors_of(value).size();
  try {
    reserve_results(current, count);
    scope.lists.reserve(scope.lists.size() + results.size());
  } catch (...) {
    release_results(results);
    throw;
  }
  for (const libdl_value& value : results) {
    if (scope.owns && value.type == LIBDL_VALUE_TENSOR_LIST) {
      scope.lists.push_back(Ref<libdl_tensor_list>::take(value.held.list));
      continue;
    }
    for (const Tensor& tensor : tensors_of(value))
      if (tensor.defined()) adopt(current, tensor.get());
  }
}

// -- callbacks ------------------------------------------------------------------------------------

namespace {

// The reference that a callback returns is its caller's, though a scope that it left open may have
// it.
void take_out(const State& state, const libdl_tensor* handle) {
  const auto take = [&](std::vector<ScopeEntry>& entries, bool owned) {
    ScopeEntry* const entry = find(entries, handle);
    if (!entry) return false;
    if (owned && entry->further) return --entry->further, true;
    if (owned) entry->tensor.release();
    erase(entries, entry);
    return owned;
  };
  bool taken = false;
  in_each_scope(state, false, [&](Scope& scope) {
    return taken = take(scope.tensors, scope.owns) || take(scope.kept, scope.owns_kept());
  });
  if (taken) return;
  // One that it added to a tensor of its caller's.
  if (ScopeEntry* const entry = owned(state, handle).entry; entry && entry->further)
    --entry->further;
}

}  // namespace

ScopePause::ScopePause(bool hook) : state_(Ref<State>::share(&state())) {
  if (state_->interceptors) frame_.emplace(*state_, called_back(*state_, hook));
}

void ScopePause::returned(std::span<libdl_tensor* const> handles) const {
  State* const swapped = current_state == state_.get() ? nullptr : current_state;
  for (const libdl_tensor* const handle : handles) {
    if (!handle || !has_tag(handle, Tag::kTensor)) continue;
    take_out(*state_, handle);
    if (swapped) take_out(*swapped, handle);
  }
}

void ScopePause::returned(std::span<const libdl_value> values) const {
  for (const libdl_value& value : values) {
    if (value.type == LIBDL_VALUE_TENSOR) returned({&value.held.tensor, 1});
    if (value.type != LIBDL_VALUE_TENSOR_LIST || !value.held.list) continue;
    list_released(*state_, value.held.list);
    if (current_state && current_state != state_.get())
      list_released(*current_state, value.held.list);
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
  if (state.release_attachments) return;
  end_with_thread(state);
  state.release_scopes = release_scopes;
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
    scope.outer->unmarked |= scope.unmarked;
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
  ScopeEntry* const at = find(scope.tensors, tensor);
  if (!at) return false;
  if (scope.outer) scope.kept.push_back(*at);
  const bool given_back = scope.owns && !scope.owns_kept();
  if (given_back) at->tensor.release();
  // An outer owner needs a reference that the caller of a plain scope still holds.
  if (!scope.owns && scope.owns_kept()) {
    Tensor::take(at->tensor.get());
    scope.outer->unmarked = true;
  }
  erase(scope.tensors, at);
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
    check_tensor(function, "tensor", tensor);
    keep(innermost(function), tensor);
  });
}

libdl_error* libdl_scope_return(libdl_error* error, libdl_tensor* result, libdl_tensor** out) {
  constexpr const char* function = "scope_return";
  libdl_error* const own = door(function, [&] {
    Scope& scope = innermost(function);
    if (error) {
      check_kind(function, "error", error, Tag::kError);
      return close_scope(scope);
    }
    check_tensor(function, "result", result);
    output(function, "out", out);
    const bool outer_owns = scope.owns_kept();
    // One more reference of what is somebody else's, an operand perhaps, or the caller's already.
    const bool kept = keep(scope, result);
    if (!kept && outer_owns) {
      scope.outer->tensors.push_back({Tensor::share(result)});
      scope.outer->unmarked = true;
    } else if (!outer_owns && (!kept || !scope.owns)) {
      result->retain();
    }
    close_scope(scope);
    *out = result;
  });
  if (!own) return error;
  if (error && has_tag(error, Tag::kError)) libdl_error_release(error);
  return own;
}
