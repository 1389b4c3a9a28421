// SPDX-License-Identifier: Apache-2.0

// The tables of the kinds of devices: the core's own, and what plugins have registered.
#pragma once

#include <cstdint>
#include <string>

#include "device/backend.h"
#include "device/device_id.h"

namespace libdl {

// Registers a kind of device; the table must stay valid. Throws Error(DEVICE) for a type or a name
// that is taken, Error(BACKEND) for a table that lacks an entry.
void register_backend(const Backend& backend);

// A device type's number by its name (0 if unknown), and its name by number (NULL if unknown). The
// core knows the names of plugins that it has not opened yet.
int32_t device_type_named(const char* name);
const char* device_type_name(int32_t type);
// "cuda"; "device type 7" for one without a name.
std::string name_or_number(int32_t type);

// The table of a type, if there is one now; NULL: a plugin may still bring it.
const Backend* registered_backend(int32_t type);

// Throws the error that a backend's function returned, if any.
void check_backend(libdl_error* error);

}  // namespace libdl
