// SPDX-License-Identifier: Apache-2.0

// Stream objects, and the sets of them that states hold.
#pragma once

#include <vector>

#include "base/handle.h"
#include "device/device_id.h"

struct libdl_stream : libdl::Handle<libdl_stream> {
  libdl_stream() : Handle(libdl::Tag::kStream) {}
  libdl::Device device;
  void* native = nullptr;  // the driver's handle
  int32_t priority = 0;
  bool owned = false;  // reused after this object: neither the default stream nor a foreign one
};

namespace libdl {

using Stream = Ref<libdl_stream>;
void destroy(libdl_stream* stream);

// A native stream of a device and priority whose object is gone, with the work still queued on it;
// NULL: there is none.
void* take_idle_stream(Device device, int32_t priority);

// The streams of all devices that a state has set one for, at most one of each. A set never
// changes: the operators that were queued while it was current share it.
struct StreamSet : Counted {
  StreamSet() : Counted(Tag::kOther) {}
  std::vector<Stream> streams;
  libdl_stream* find(Device device) const;  // NULL: its default stream
};
using Streams = Ref<StreamSet>;  // NULL: no device has one
void destroy(StreamSet* set);

}  // namespace libdl
