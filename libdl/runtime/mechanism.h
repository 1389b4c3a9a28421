// SPDX-License-Identifier: Apache-2.0

// What makes the library faster and changes no result, and can be left out by its name, to measure
// what it is worth or to look for a fault: LIBDL_DISABLE=panels,sparse_rows. Providers have names
// in the same list (device/provider.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace libdl {

enum class Mechanism : int32_t {
  kAllocator,   // "allocator": freed blocks of more than 32 kB are kept for the next request
  kPanels,      // "panels": a matrix that is multiplied by again and again stays packed
  kSparseRows,  // "sparse_rows": the gradient of a table holds the rows that were read alone
  kForms,       // "forms": images stay with the channels innermost from operator to operator
  kFusion,      // "fusion": a result is computed by what stands behind it; tensor/deferred.h
  kGrowing,     // "growing": a device's segments grow in one range of addresses
};

// Whether the environment names it; read once.
bool left_out(Mechanism mechanism);
bool left_out_by_name(std::string_view name);
// Calls f(ctx, name) for each name in the environment that no mechanism has.
void for_each_other_name(void (*f)(void* ctx, std::string_view name), void* ctx);

}  // namespace libdl
