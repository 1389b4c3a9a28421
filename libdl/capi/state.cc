// SPDX-License-Identifier: Apache-2.0

// States, defaults and generators.

#include <libdl/state.h>

#include <cstring>
#include <utility>

#include "capi/arguments.h"
#include "capi/scope.h"
#include "memory/account.h"
#include "ops/core/call.h"
#include "ops/creation/creation.h"
#include "ops/primitive/result.h"
#include "tensor/generator.h"

using namespace libdl;
using namespace libdl::capi;

// -- state handles --------------------------------------------------------------------------------

void libdl::capi::release_generator(State& s) {
  if (s.generator && s.generator->drop()) destroy(s.generator);
  s.generator = nullptr;
}

libdl_error* libdl_state_new(libdl_state** out) {
  return door("state_new", [&] {
    output("state_new", "out", out);
    auto made = Ref<State>::take(new State);
    attach_to(*made);
    *out = made.release();
  });
}

libdl_error* libdl_state_copy_current(libdl_state** out) {
  return door("state_copy_current", [&] {
    output("state_copy_current", "out", out);
    const State& s = state();
    auto made = Ref<State>::take(new State);
    attach_to(*made);
    made->mode = s.mode & ~static_cast<uint32_t>(kModeScope | kModeForward);
    made->default_dtype = s.default_dtype;
    made->autocast_dtype = s.autocast_dtype;
    made->autocast_cache = s.autocast_cache;
    made->default_device = s.default_device;
    made->account = s.account;
    if (s.account) s.account->retain();
    made->interruption = s.interruption;
    if (s.generator) s.generator->retain();
    made->generator = s.generator;
    *out = made.release();
  });
}

libdl_state* libdl_state_retain(libdl_state* handle) {
  if (!is_kind("libdl_state_retain", "state", handle, Tag::kState)) return nullptr;
  handle->retain();
  return handle;
}

void libdl_state_release(libdl_state* handle) {
  if (is_kind("libdl_state_release", "state", handle, Tag::kState) && handle->drop())
    destroy(handle);
}

libdl_error* libdl_state_swap(libdl_state* next, libdl_state** previous) {
  return door("state_swap", [&] {
    if (next) check_kind("state_swap", "next", next, Tag::kState);
    State* const before = swap_state(next);
    if (previous) *previous = before;
  });
}

State& libdl::capi::state_or_current(const char* function, libdl_state* given) {
  if (given) check_kind(function, "state", given, Tag::kState);
  State& found = given ? *given : state();
  end_with_thread(found);
  return found;
}

libdl_error* libdl_state_set_memory_limit(libdl_state* handle, int64_t bytes) {
  constexpr const char* function = "state_set_memory_limit";
  return door(function, [&] {
    State& s = state_or_current(function, handle);
    if (bytes < 0)
      fail_argument(LIBDL_ERROR_VALUE, function, "bytes", "is " + std::to_string(bytes),
                    "0 or more");
    if (!s.account) s.account = new Account;
    s.account->set_limit(bytes ? bytes : INT64_MAX);
  });
}

int64_t libdl_state_get_memory_limit(const libdl_state* handle) {
  if (handle && !is_kind("libdl_state_get_memory_limit", "state", handle, Tag::kState)) return 0;
  const Account* const account = handle ? handle->account : current_account();
  return account && account->limit() != INT64_MAX ? account->limit() : 0;
}

int64_t libdl_state_memory(const libdl_state* handle) {
  if (handle && !is_kind("libdl_state_memory", "state", handle, Tag::kState)) return 0;
  const Account* const account = handle ? handle->account : current_account();
  return account ? account->taken() : 0;
}

// -- defaults -------------------------------------------------------------------------------------

libdl_dtype libdl_default_dtype(void) { return state().default_dtype; }

static void check_floating(const char* function, libdl_dtype dtype LIBDL_SOURCE_LOCATION) {
  if (is_dtype(dtype) && is_floating(static_cast<Dtype>(dtype))) return;
  fail_argument(LIBDL_ERROR_DTYPE, function, "dtype",
                is_dtype(dtype) ? std::string("is ") + name_of(static_cast<Dtype>(dtype))
                                : "is " + std::to_string(dtype),
                "a floating dtype" LIBDL_SAME_SOURCE_LOCATION);
}

libdl_error* libdl_set_default_dtype(libdl_dtype dtype) {
  return door("set_default_dtype", [&] {
    check_floating("set_default_dtype", dtype);
    state().default_dtype = dtype;
  });
}

libdl_device libdl_default_device(void) {
  const Device device = state().default_device;
  return {device.type, device.index};
}

libdl_error* libdl_set_default_device(const libdl_device* device) {
  return door("set_default_device", [&] {
    const char* const name = "set_default_device";
    not_null(name, "device", device, "a device");
    state().default_device = device_or_default(name, Device{device->type, device->index});
  });
}

// -- autocast -------------------------------------------------------------------------------------

static void check_autocast_device(const char* function, int32_t type LIBDL_SOURCE_LOCATION) {
  if (type != LIBDL_DEVICE_CPU)
    fail_argument(LIBDL_ERROR_DEVICE, function, "device_type", "is " + std::to_string(type),
                  "that of the CPU, the only one with autocast" LIBDL_SAME_SOURCE_LOCATION);
}

libdl_bool libdl_autocast_enabled(int32_t device_type) {
  return device_type == LIBDL_DEVICE_CPU && (state().mode & kModeAutocast);
}

libdl_error* libdl_set_autocast_enabled(int32_t device_type, libdl_bool enabled) {
  return door("set_autocast_enabled", [&] {
    check_autocast_device("set_autocast_enabled", device_type);
    State& s = state();
    s.mode = enabled ? s.mode | kModeAutocast : s.mode & ~static_cast<uint32_t>(kModeAutocast);
  });
}

libdl_dtype libdl_autocast_dtype(int32_t device_type) {
  return device_type == LIBDL_DEVICE_CPU ? state().autocast_dtype : LIBDL_DTYPE_NONE;
}

libdl_error* libdl_set_autocast_dtype(int32_t device_type, libdl_dtype dtype) {
  return door("set_autocast_dtype", [&] {
    check_autocast_device("set_autocast_dtype", device_type);
    check_floating("set_autocast_dtype", dtype);
    state().autocast_dtype = dtype;
  });
}

libdl_bool libdl_autocast_cache_enabled(void) { return state().autocast_cache; }
libdl_bool libdl_set_autocast_cache_enabled(libdl_bool enabled) {
  return std::exchange(state().autocast_cache, enabled != 0);
}

// -- generators -----------------------------------------------------------------------------------

static Generator& generator_of(const char* function, const libdl_generator* handle) {
  check_kind(function, "generator", handle, Tag::kGenerator);
  return *const_cast<libdl_generator*>(handle);
}

libdl_error* libdl_generator_new(uint64_t seed, libdl_generator** out) {
  return door("generator_new", [&] {
    output("generator_new", "out", out);
    *out = new Generator(seed);
  });
}

libdl_generator* libdl_generator_retain(libdl_generator* generator) {
  if (!is_kind("libdl_generator_retain", "generator", generator, Tag::kGenerator)) return nullptr;
  generator->retain();
  return generator;
}

void libdl_generator_release(libdl_generator* generator) {
  if (is_kind("libdl_generator_release", "generator", generator, Tag::kGenerator) &&
      generator->drop())
    destroy(generator);
}

libdl_generator* libdl_generator_default(void) {
  try {
    return libdl_generator_retain(&default_generator());
  } catch (...) {
    return nullptr;
  }
}

libdl_error* libdl_generator_set_default(libdl_generator* generator) {
  return door("generator_set_default", [&] {
    State& s = state();
    attach_to(s);
    if (generator) generator_of("generator_set_default", generator).retain();
    release_generator(s);
    s.generator = generator;
  });
}

libdl_error* libdl_generator_set_seed(libdl_generator* generator, uint64_t seed) {
  return door("generator_set_seed",
              [&] { set_seed(generator_of("generator_set_seed", generator), seed); });
}

uint64_t libdl_generator_get_seed(const libdl_generator* generator) {
  return generator && has_tag(generator, Tag::kGenerator) ? generator->seed.load() : 0;
}

int64_t libdl_generator_state_size(const libdl_generator* generator) {
  return generator && has_tag(generator, Tag::kGenerator) ? sizeof(GeneratorState) : 0;
}

libdl_error* libdl_generator_get_state(const libdl_generator* generator, void* data,
                                       int64_t count) {
  return door("generator_get_state", [&] {
    const char* const name = "generator_get_state";
    const Generator& g = generator_of(name, generator);
    not_null(name, "data", data, "a buffer");
    constexpr int64_t kSize = sizeof(GeneratorState);
    if (count < kSize)
      fail_argument(LIBDL_ERROR_VALUE, name, "count", "is " + std::to_string(count),
                    "at least " + std::to_string(kSize));
    const GeneratorState bytes = get_state(g);
    std::memcpy(data, bytes.data(), bytes.size());
  });
}

libdl_error* libdl_generator_set_state(libdl_generator* generator, const void* data,
                                       int64_t count) {
  return door("generator_set_state", [&] {
    const char* const name = "generator_set_state";
    Generator& g = generator_of(name, generator);
    not_null(name, "data", data, "a buffer");
    constexpr int64_t kSize = sizeof(GeneratorState);
    if (count != kSize)
      fail_argument(LIBDL_ERROR_VALUE, name, "count", "is " + std::to_string(count),
                    std::to_string(kSize));
    set_state(g, static_cast<const std::byte*>(data), static_cast<size_t>(count));
  });
}
