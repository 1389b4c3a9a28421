// SPDX-License-Identifier: Apache-2.0

// What a thread keeps from call to call. It is one pointer, so that a host which moves work between
// threads can move it along with a single write.
#pragma once

#include <libdl/dtype.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/handle.h"
#include "base/uncancelled.h"
#include "device/device_id.h"

namespace libdl {

// Bits of the mode word that a call tests once.
enum Mode : uint32_t {
  kModeGrad = 1,                // operations are recorded
  kModeInference = 2,           // results can never be recorded
  kModeSavesInferenceMade = 4,  // recorded calls may save such results
  kModeAnomaly = 8,             // nodes keep the line that made them
  kModeForward = 16,            // a forward-mode level is open
  kModeScope = 32,              // handles belong to a scope
  kModeCheckCopies = 64,        // warn where a hidden representation is converted
  kModeGradAside = 128,         // grad mode as it will be once inference mode ends
  kModeForwardAside = 256,      // likewise, whether forward-mode levels are seen
  kModeAutocast = 512,          // operators cast their operands; see ops/entry/autocast.h
  kModeAcceptNan = 1024,        // anomaly mode does not look for NaN
};

struct Watch;
struct Frame;
struct DualLevel;
struct Scope;
struct SavedHooks;
struct SavedHookStack;
class OutsideScope;
class Account;       // of the memory of tensors; see memory/account.h
struct StreamSet;    // the current streams of devices; see stream_set.h
struct Attachment {  // an object that a higher layer attaches to the state
  virtual ~Attachment() = default;
};

}  // namespace libdl

struct libdl_state : libdl::Handle<libdl_state> {
  libdl_state() : Handle(libdl::Tag::kState) {}
  ~libdl_state();

  uint32_t mode = libdl::kModeGrad;
  int32_t default_dtype = LIBDL_DTYPE_FLOAT32;
  int32_t autocast_dtype = LIBDL_DTYPE_BFLOAT16;
  bool autocast_cache = true;
  libdl::Device default_device;
  int32_t backward_depth = 0;
  libdl::DualLevel* dual_level = nullptr;  // innermost; owned by the tape
  libdl_generator* generator = nullptr;    // owned; NULL: the process's default generator
  libdl::Watch* watch = nullptr;           // innermost interceptor; owned by the operators
  const libdl::Frame* frame = nullptr;     // innermost call shown to interceptors
  int32_t phase = 0;                       // of the host's own calls, for interceptors
  bool shown = false;                      // the operator about to be entered was already shown
  libdl::Scope* scope = nullptr;           // innermost; owned by capi
  const libdl::OutsideScope* outside = nullptr;         // the host's code that runs, innermost
  libdl::SavedHooks* saved_hooks = nullptr;             // the innermost, borrowed from:
  libdl::SavedHookStack* saved_hook_stack = nullptr;    // owned by the tape
  libdl::StreamSet* streams = nullptr;                  // owned; NULL: all devices' default streams
  libdl::Account* account = nullptr;                    // a reference; NULL: nothing is counted
  std::shared_ptr<libdl::Attachment> interruption;      // capi's; asked while an operator runs
  void (*release_attachments)(libdl_state&) = nullptr;  // set by the layers above that attach
  void (*release_scopes)(libdl_state&) = nullptr;       // likewise
};

namespace libdl {

using State = libdl_state;

extern constinit thread_local State* current_state;
State& make_state();  // the thread's own first state
// Who is told when a thread makes its own state, in that thread. NULL: nobody.
using StateMade = void (*)(State&) noexcept;
extern constinit std::atomic<StateMade> state_made;

inline State& state() { return current_state ? *current_state : make_state(); }
// Where memory that this thread asks for is counted; NULL: nowhere.
inline Account* current_account() { return current_state ? current_state->account : nullptr; }
State* swap_state(State* next);  // NULL: the thread's own
// Call it before attaching something to a state that must be released with it. Throws
// std::bad_alloc.
void end_with_thread(State& state);

void destroy(State* state);

// Switches mode bits for a scope.
class ModeGuard {
 public:
  ModeGuard(uint32_t clear, uint32_t set = 0) : state_(state()), before_(state_.mode) {
    state_.mode = (before_ & ~clear) | set;
  }
  ~ModeGuard() { state_.mode = before_; }
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  State& state_;
  uint32_t before_;
};

// Held while the host's code runs, of whatever kind. It knows nothing of the scopes that are open
// around the library's call, those that it leaves open end with it, and the state that was current
// is so again. A cancellation of the thread waits: it would unwind the library with the host's
// code. Costs a few nanoseconds and cannot fail.
class OutsideScope {
 public:
  OutsideScope() noexcept : state_(current_state) {
    if (!state_) return;
    held_ = state_->count() != 0;  // else it is ending
    if (held_) state_->retain();
    scope_ = state_->scope;
    before_ = state_->outside;
    enter(nullptr, this);
  }
  ~OutsideScope() {
    current_state = state_;  // NULL: the thread's own again, whether or not it has been made
    if (!state_) return;
    if (state_->scope) state_->release_scopes(*state_);
    enter(scope_, before_);
    if (held_ && state_->drop()) destroy(state_);
  }
  OutsideScope(const OutsideScope&) = delete;
  OutsideScope& operator=(const OutsideScope&) = delete;

  Scope* scope() const { return scope_; }  // of the library's caller
  const OutsideScope* before() const { return before_; }

 private:
  void enter(Scope* scope, const OutsideScope* outside) {
    state_->scope = scope;
    state_->outside = outside;
    const uint32_t others = state_->mode & ~static_cast<uint32_t>(kModeScope);
    state_->mode = scope ? others | kModeScope : others;
  }

  Uncancelled uncancelled_;
  State* state_;
  Scope* scope_ = nullptr;
  const OutsideScope* before_ = nullptr;
  bool held_ = false;
};

}  // namespace libdl
