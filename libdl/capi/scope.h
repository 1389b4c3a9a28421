// SPDX-License-Identifier: Apache-2.0

// What the C functions attach to a state: scopes and related objects.
#pragma once

#include "capi/door.h"

namespace libdl::capi {

// Adds all results of a generic call to the scope, or none: if this throws they are released. (For
// a single tensor: adopt() in capi/door.h.)
void adopt_results(std::span<libdl_value> results);
void adopt_number(State& state, libdl_tensor* handle);

// Held while a host callback runs. The callback knows nothing of its caller's scope: what it makes
// and returns is its own. Scopes that it leaves open end here. Interceptors see its calls as the
// host's own, or as a hook's if it is one.
class ScopePause {
 public:
  explicit ScopePause(bool hook = false);
  ~ScopePause();
  ScopePause(const ScopePause&) = delete;
  ScopePause& operator=(const ScopePause&) = delete;

 private:
  Ref<State> state_;  // the callback may switch to another one
  Scope* scope_;
  std::optional<FrameScope> frame_;  // if there are interceptors
};

// Makes the state free its attachments when it ends.
void attach_to(State& state);
void release_scopes(State& state);
void release_generator(State& state);

}  // namespace libdl::capi
