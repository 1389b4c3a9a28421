// SPDX-License-Identifier: Apache-2.0

#include "device/staging.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>

#include "base/error.h"
#include "base/lock.h"
#include "device/per_device.h"

namespace libdl {
namespace {

// The driver copies so much from ordinary memory into its own queue, without a wait.
constexpr size_t kByDriver = 64 << 10;
constexpr size_t kBlock = 4 << 20;  // bytes of a pinned block: long enough for the bus's full speed
constexpr size_t kMostBlocks = 16;  // with more copies on their way than these hold, the host waits

class Staging {
 public:
  Staging(const Backend& table, int32_t device) : table_(table), device_(device) {}

  void copy(char* to, const char* from, size_t bytes, void* stream) {
    for (size_t done = 0; done < bytes; done += kBlock) {
      const size_t piece = std::min(kBlock, bytes - done);
      const Block block = take();
      if (!block.data) {  // no pinned memory is left: the driver stages the bytes
        check_backend(table_.copy(device_, to + done, from + done, bytes - done, stream));
        check_backend(table_.stream_synchronize(device_, stream));
        return;
      }
      std::memcpy(block.data, from + done, piece);
      libdl_error* error = table_.copy(device_, to + done, block.data, piece, stream);
      if (!error && (error = table_.event_record(device_, block.event, stream)))
        forget(table_.stream_synchronize(device_, stream));
      give(block);
      check_backend(error);
    }
  }

  size_t trim() {
    size_t gone = 0;
    for (Block block; (block = pop()).data; gone += kBlock) {
      int32_t done = 0;
      if (!forget(table_.event_query(device_, block.event, &done)) && !done) {
        give(block);
        break;  // the oldest one is in use
      }
      table_.event_destroy(device_, block.event);
      table_.host_free(device_, block.data);
      block_count_.fetch_sub(1, std::memory_order_relaxed);
    }
    return gone;
  }

 private:
  // Whether there was one. A fault of the device comes out of the next call, too.
  static bool forget(libdl_error* error) {
    if (error) Error::take(error);
    return error != nullptr;
  }

  struct Block {
    void* data = nullptr;
    void* event = nullptr;  // after the last copy from it
  };

  // The block whose copy was queued first.
  Block pop() {
    const std::lock_guard lock(mutex_);
    if (blocks_.empty()) return {};
    const Block first = blocks_.front();
    blocks_.pop_front();
    return first;
  }
  void give(const Block& block) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(block);
  }

  // A block that no copy reads any more, or none.
  Block take() {
    Block block = pop();
    int32_t done = 0;
    if (block.data) {
      check(block, table_.event_query(device_, block.event, &done));
      if (done) return block;
    }
    if (block_count_.fetch_add(1, std::memory_order_relaxed) < kMostBlocks) {
      if (block.data) {
        const std::lock_guard lock(mutex_);
        blocks_.push_front(block);
      }
      return make();
    }
    block_count_.fetch_sub(1, std::memory_order_relaxed);
    if (block.data) check(block, table_.event_synchronize(device_, block.event));
    return block;
  }
  void check(const Block& block, libdl_error* error) {
    if (!error) return;
    give(block);
    check_backend(error);
  }
  Block make() {
    Block block;
    libdl_error* error = table_.host_allocate(device_, kBlock, &block.data);
    if (!error && block.data) error = table_.event_create(device_, 0, &block.event);
    if (block.event) return block;
    if (block.data) table_.host_free(device_, block.data);
    block_count_.fetch_sub(1, std::memory_order_relaxed);
    check_backend(error);
    return {};
  }

  const Backend& table_;
  const int32_t device_;
  Mutex mutex_;
  std::deque<Block> blocks_;  // of which copies were queued, the earliest first
  std::atomic<size_t> block_count_{0};
};

constinit PerDevice<Staging> stagings;

}  // namespace

void copy_to_device(Device device, void* to, const void* from, size_t bytes, void* stream) {
  const Backend& table = backend(device.type);
  const bool stages = table.host_allocate && stagings.has_slot(device);
  if (stages && bytes > kByDriver)
    return stagings.find_or_make(device, [&] { return new Staging(table, device.index); })
        .copy(static_cast<char*>(to), static_cast<const char*>(from), bytes, stream);
  check_backend(table.copy(device.index, to, from, bytes, stream));
  if (!stages) check_backend(table.stream_synchronize(device.index, stream));
}

size_t trim_staging(Device device) {
  Staging* const existing = stagings.find(device);
  return existing ? existing->trim() : 0;
}

}  // namespace libdl
