// SPDX-License-Identifier: Apache-2.0

// Where an allocator's memory comes from. The allocator never calls reserve, release and
// synchronize with its lock held (they may call functions of the host, or take long), and always
// calls the others with it held.
#pragma once

#include <cstddef>

namespace libdl {

class Source {
 public:
  virtual ~Source() = default;

  // Returns an address range for a segment of at least `bytes`, which is set to the actual size;
  // NULL if there is no more memory; throws what else a device's driver says. Aligned to at least
  // 64 bytes. `small`: it will hold small blocks only.
  virtual void* reserve(size_t& bytes, bool small) = 0;
  virtual void release(void* base, size_t bytes) = 0;

  // The unit in which memory is committed to a reserved range and decommitted; 0: reserve returns
  // memory that is committed already, and commit and decommit are never called.
  virtual size_t granule(bool /*small*/) const { return 0; }
  // False if there is no more memory; throws what else a device's driver says.
  virtual bool commit(void* /*at*/, size_t /*bytes*/, bool /*small*/) { return true; }
  virtual void decommit(void* /*at*/, size_t /*bytes*/) {}

  // The most bytes that may be reserved (or committed), for messages; 0 if unknown.
  virtual size_t limit() const { return 0; }

  // Streams. record returns an event that completes when the work queued so far is done, or NULL
  // if there is nothing to wait for; wait makes the stream's later work wait for the event. The
  // event ends with wait, and with the first done() that is true.
  virtual void* record(void* /*stream*/) { return nullptr; }
  virtual bool done(void* /*event*/) { return true; }
  virtual void wait(void* /*stream*/, void* /*event*/) {}
  // How many freed blocks of about one size may wait for other streams before the next user waits.
  virtual int spare() const { return 2; }
  virtual void synchronize() {}  // all streams; before memory is taken away
};

}  // namespace libdl
