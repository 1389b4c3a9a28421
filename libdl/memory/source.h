// SPDX-License-Identifier: Apache-2.0

// Where an allocator's memory comes from. The allocator never calls reserve and release with a lock
// held (a host's own functions may stand behind them), the other functions always.
#pragma once

#include <cstddef>

namespace libdl {

class Source {
 public:
  virtual ~Source() = default;

  // An address range for a segment of at least `bytes`, which also receives the true size; NULL if
  // refused. Aligned to 64 bytes at least. `small`: it will hold small blocks only.
  virtual void* reserve(size_t& bytes, bool small) = 0;
  virtual void release(void* base, size_t bytes) = 0;

  // The unit in which memory is put behind a reserved range and taken away again; 0: reserve gives
  // the memory itself, and commit and decommit are never called.
  virtual size_t granule() const { return 0; }
  virtual bool commit(void* /*at*/, size_t /*bytes*/) { return true; }
  virtual void decommit(void* /*at*/, size_t /*bytes*/) {}

  // Bytes that may be reserved (or committed) at most, for messages; 0 when nobody knows.
  virtual size_t limit() const { return 0; }

  // Streams. record returns an event that completes when the work queued so far is done, or NULL
  // if there is nothing to wait for; wait makes the stream's later work wait for it, and ends it.
  virtual void* record(void* /*stream*/) { return nullptr; }
  virtual void wait(void* /*stream*/, void* /*event*/) {}
  virtual void synchronize() {}  // all streams; before memory is taken away
};

}  // namespace libdl
