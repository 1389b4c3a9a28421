// SPDX-License-Identifier: Apache-2.0

// The profiler's observer: an interceptor that notes when each call begins and ends, and what it
// did meanwhile. It answers nothing and changes nothing. See include/libdl/profiler.h.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "ops/primitive/observe.h"

namespace libdl {

struct RecordedEvent {
  bool range = false;  // of the host's own, not a call
  bool failed = true;  // until its end is seen
  Phase phase = Phase::kForward;
  int32_t argument_count = 0;
  const char* name = nullptr;    // owned by the recorder, as the source
  const char* source = nullptr;  // NULL: none
  int64_t start = 0;             // ns
  int64_t end = 0;
  int64_t parent = -1;
  int64_t live = 0;         // the thread's bytes at its start, then at its end
  int64_t allocated = 0;    // their difference
  int64_t conversions = 0;  // likewise
  size_t shapes = 0;        // where its shapes begin in the recorder's
  size_t shape_count = 0;
};

class Recorder final : public Interceptor {
 public:
  // joined: of a thread that another one's recorder has recorded with it.
  explicit Recorder(bool with_shapes, bool joined = false);
  ~Recorder() override;
  bool before(ObservedCall& call) override;
  void after(const ObservedCall& call) override;
  bool wants(const ObservedCall&) const override { return true; }

  void begin_range(std::string_view name);
  void end_range();  // the innermost, if it is in no call that began after it
  // Ends what is open, and records nothing more: the only one that other threads may call.
  void close();
  bool is_closed() const override { return closed_.load(std::memory_order_acquire); }
  bool has_joined() const { return joined_; }
  int64_t thread() const { return thread_; }
  // See recording.h:
  Ref<Recorder> next_joined;
  void (*ends)() = nullptr;  // called as it ends: it has opened the recording, which ends with it

  // Valid in its own thread, and once it is closed:
  int64_t event_count() const { return count_; }
  const RecordedEvent& event(int64_t i) const { return chunks_[i / kChunk]->events[i % kChunk]; }
  bool with_shapes() const { return with_shapes_; }
  const int64_t* shapes(const RecordedEvent& event) const { return shapes_.data() + event.shapes; }

 private:
  // Events lie in chunks, because a growing array would stop the host to move its millions.
  static constexpr int64_t kChunk = 1024;
  struct Chunk {
    RecordedEvent events[kChunk];
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  RecordedEvent& at(int64_t i) { return chunks_[i / kChunk]->events[i % kChunk]; }
  RecordedEvent& begin(std::string_view name);
  void end(int64_t i, bool failed);
  const char* kept(std::string_view text);
  void note(const libdl_value& value);
  void note(const libdl_tensor* tensor);

  std::mutex mutex_;  // held to write, for close()
  std::atomic<bool> closed_ = false;
  const bool joined_;
  const int64_t thread_;  // the system's number
  const bool with_shapes_;
  const int64_t live_at_start_;
  int64_t count_ = 0;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<int64_t> open_;  // the numbers of the events that have not ended, the outermost first
  std::vector<int64_t> shapes_;
  std::unordered_set<std::string, Hash, std::equal_to<>> names_;
};

// The recorder in a state's chain of interceptors; NULL if there is none.
Recorder* find_recorder(const State& state);
bool is_innermost_recorder(const State& state);
// Into a chain without one, and out of it; empty if there is none.
void put_recorder(State& state, Ref<Recorder> recorder);
Ref<Recorder> take_recorder(State& state);

}  // namespace libdl
