// SPDX-License-Identifier: Apache-2.0

// A backend's memory and events as a Source for the allocator.
#pragma once

#include <cstdint>

#include "device/backend.h"
#include "memory/source.h"

namespace libdl {

class BackendSource : public Source {
 public:
  static constexpr size_t kRounding = 512;  // bytes; for coalesced access

  BackendSource(const Backend& backend, int32_t device);
  void* reserve(size_t& bytes, bool small) override;
  void release(void* base, size_t bytes) override;
  size_t granule() const override { return granule_; }
  bool commit(void* at, size_t bytes) override;
  void decommit(void* at, size_t bytes) override;
  size_t limit() const override { return total_; }
  void* record(void* stream) override;
  void wait(void* stream, void* event) override;
  void synchronize() override;

 private:
  const Backend& backend_;
  const int32_t device_;
  size_t granule_;
  size_t total_;
};

}  // namespace libdl
