// SPDX-License-Identifier: Apache-2.0

// Argument checks of functions that are not operators: outputs, devices, and sized structs.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "capi/arguments.h"
#include "device/device.h"

namespace libdl::capi {

// NULL: the state's default device. Throws backend()'s errors too.
inline Device in_device(const char* function, const libdl_device* device) {
  const Device chosen = device ? Device{device->type, device->index} : state().default_device;
  int32_t count = 0;
  try {
    check_backend(backend(chosen.type).device_count(&count));
  } catch (const Error& error) {
    if (error.code() != LIBDL_ERROR_DEVICE && error.code() != LIBDL_ERROR_BACKEND) throw;
    fail_argument(error.code(), function, "device", "is " + device_name(chosen),
                  "a device that exists: " + error.message());
  }
  if (chosen.index >= 0 && chosen.index < count) return chosen;
  const std::string type = backend(chosen.type).name;
  fail_argument(
      LIBDL_ERROR_DEVICE, function, "device", "is " + type + ":" + std::to_string(chosen.index),
      count == 1 ? type + ":0" : type + ":0 to " + type + ":" + std::to_string(count - 1));
}

LIBDL_NORETURN [[gnu::cold]] inline void refuse_size(const char* function, const char* name,
                                                     uint32_t found,
                                                     size_t requested LIBDL_SOURCE_LOCATION) {
  fail_argument(LIBDL_ERROR_OPTION, function, name, "has struct_size " + std::to_string(found),
                "at least " + std::to_string(requested) LIBDL_SAME_SOURCE_LOCATION);
}

// An output struct: writes as much of `values` as fits the caller's version. `first` is the size of
// the struct in the first version.
template <class T>
void give_sized(const char* function, T* out, T values, size_t first) {
  output(function, "out", out);
  if (out->struct_size < first) refuse_size(function, "out", out->struct_size, first);
  values.struct_size = out->struct_size;
  std::memcpy(out, &values, std::min<size_t>(out->struct_size, sizeof(T)));
}

// An input struct: members that an older caller lacks read as zero; members of a newer caller that
// this version does not know must be zero.
template <class T>
T take_sized(const char* function, const char* name, const T* in, size_t first) {
  if (in->struct_size < first) refuse_size(function, name, in->struct_size, first);
  const char* bytes = reinterpret_cast<const char*>(in);
  for (size_t i = sizeof(T); i < in->struct_size; ++i) {
    if (bytes[i] == 0) continue;
    fail_argument(LIBDL_ERROR_OPTION, function, name,
                  "sets a field that this version does not know",
                  "zeros after byte " + std::to_string(sizeof(T)));
  }
  T taken = {};
  std::memcpy(&taken, in, std::min<size_t>(in->struct_size, sizeof(T)));
  return taken;
}

}  // namespace libdl::capi
