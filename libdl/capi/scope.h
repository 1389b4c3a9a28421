// SPDX-License-Identifier: Apache-2.0

// What the door hangs on a state: scopes, and what goes with them.
#pragma once

#include "capi/door.h"

namespace libdl::capi {

// The results of a generic call, all or none: where this throws, they are released. (Of one tensor:
// adopt() in capi/door.h.)
void adopt_results(std::span<libdl_value> results);
void adopt_number(State& state, libdl_tensor* handle);

// While a callback of the host's runs, which knows nothing of its caller's scope: what it makes and
// hands back is its own. Scopes that it leaves open end here. To interceptors the calls that it
// makes are the host's again, a hook's where it is one.
class ScopePause {
 public:
  explicit ScopePause(bool hook = false);
  ~ScopePause();
  ScopePause(const ScopePause&) = delete;
  ScopePause& operator=(const ScopePause&) = delete;

 private:
  Ref<State> state_;  // the callback may switch to another one
  Scope* scope_;
  std::optional<FrameScope> frame_;  // where interceptors look on
};

// Makes the state free what is hung on it when it ends.
void attach_to(State& state);
void release_scopes(State& state);
void release_generator(State& state);

}  // namespace libdl::capi
