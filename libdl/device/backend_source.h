// SPDX-License-Identifier: Apache-2.0

// A backend's memory and events as a Source for the allocator.
#pragma once

#include <cstdint>

#include "device/backend.h"
#include "memory/source.h"

namespace libdl {

class BackendSource : public Source {
 public:
  // The unit of blocks in bytes: for coalesced access; without the allocator the least that the
  // driver aligns to, so that a checker of memory sees where a block ends.
  static size_t rounding();

  BackendSource(const Backend& backend, int32_t device);
  void* reserve(size_t& bytes, bool small) override;
  void release(void* base, size_t bytes) override;
  size_t granule(bool small) const override { return small ? granule_ : large_granule_; }
  bool commit(void* at, size_t bytes, bool small) override;
  void decommit(void* at, size_t bytes) override;
  size_t limit() const override { return total_; }
  void* record(void* stream) override;
  bool done(void* event) override;
  void wait(void* stream, void* event) override;
  void synchronize() override;

 protected:
  // The allocator's own waits have nobody to tell an error to: a fault of the device comes out of
  // the next call that has. Whether there was none.
  static bool succeeded(libdl_error* error);

  const Backend& backend_;
  const int32_t device_;

 private:
  size_t granule_ = 0, large_granule_ = 0;  // 0: whole segments
  size_t total_ = 0;
};

}  // namespace libdl
