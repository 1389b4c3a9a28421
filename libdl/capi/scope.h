// SPDX-License-Identifier: Apache-2.0

// What the door hangs on a state: scopes and interceptors.
#pragma once

#include "capi/door.h"

namespace libdl::capi {

// Puts new tensors among those that the innermost scope empties when it ends. Handles that others
// know already (an operator may return its input) are left out.
void adopt(State& state, libdl_tensor* handle);
void adopt_results(const OpEntry& entry, const libdl_value* results);
void adopt_number(State& state, libdl_tensor* handle);

// While a callback of the host's runs, which knows nothing of its caller's scope: what it makes and
// hands back is its own. Scopes that it leaves open end here.
class ScopePause {
 public:
  ScopePause();
  ~ScopePause();
  ScopePause(const ScopePause&) = delete;
  ScopePause& operator=(const ScopePause&) = delete;

 private:
  Ref<State> state_;  // the callback may switch to another one
  Scope* scope_;
};

// A result for the host, made outside the operators.
inline libdl_tensor* give_scoped(Tensor tensor) {
  if (state().mode & kModeScope) adopt(state(), tensor.get());
  born(tensor);
  return tensor.release();
}

// Makes the state free what is hung on it when it ends.
void attach_to(State& state);
void release_interceptors(State& state);
void release_scopes(State& state);
void release_generator(State& state);

}  // namespace libdl::capi
