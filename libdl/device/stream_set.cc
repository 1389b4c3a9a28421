// SPDX-License-Identifier: Apache-2.0

#include "device/stream_set.h"

#include <algorithm>

#include "base/lock.h"

namespace libdl {
namespace {

// Native streams whose objects are gone. They are never destroyed, because memory that is still in
// use may wait for their work; a new stream reuses one, including the work still queued on it.
struct IdleStream {
  Device device;
  int32_t priority;
  void* native;
};
class IdleStreams {
 public:
  // If there is no memory for the list the stream is leaked, which is harmless.
  void give(const IdleStream& stream) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      streams_.push_back(stream);
    } catch (...) {
    }
  }
  void* take(Device device, int32_t priority) {
    const std::lock_guard lock(mutex_);
    const auto entry = std::find_if(streams_.begin(), streams_.end(), [&](const IdleStream& s) {
      return s.device == device && s.priority == priority;
    });
    if (entry == streams_.end()) return nullptr;
    void* const native = entry->native;
    streams_.erase(entry);
    return native;
  }

 private:
  Mutex mutex_;
  std::vector<IdleStream> streams_;
};
IdleStreams& idle() {
  static IdleStreams* const streams = new IdleStreams;  // static objects may still drop streams
  return *streams;
}

}  // namespace

void* take_idle_stream(Device device, int32_t priority) { return idle().take(device, priority); }

void destroy(libdl_stream* stream) {
  if (stream->owned) idle().give({stream->device, stream->priority, stream->native});
  delete stream;
}

void destroy(StreamSet* set) { delete set; }

libdl_stream* StreamSet::find(Device device) const {
  for (const Stream& stream : streams)
    if (stream->device == device) return stream.get();
  return nullptr;
}

}  // namespace libdl
