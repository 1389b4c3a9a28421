// SPDX-License-Identifier: Apache-2.0

// CUDA's words for kernels that run on the host, block after block and thread after thread: what a
// kernel computes is tried without a device, though not how fast. Threads that wait for each other
// are fibers, switched at the waits.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#define __shared__ static
#define __restrict__

namespace emulator {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

constexpr unsigned kMostThreads = 1024;  // of a block

// A kernel and how to call it.
struct Kernel {
  const char* name;
  size_t bytes;   // of its parameters
  bool block;     // its threads wait for each other
  unsigned most;  // threads of a block: its launch bounds
  void (*run)(const void* params);
  const Kernel* next = nullptr;
};
void enter(Kernel& kernel);
const Kernel* find(const char* name);

// In an order of blocks, and of their threads between waits, that is drawn from the seed.
void run(const Kernel& kernel, Index grid, Index block, const void* params, uint64_t seed);

// Where the kernels' __shared__ variables lie: filled with 0xff before each block.
void set_shared_memory(char* first, char* end);

// Until all threads of the block, or the warp, that have not ended are here.
void wait_block();
void wait_warp();
unsigned lane();
// The slot of a lane of this warp for a value that is handed over.
void* slot(unsigned lane);

template <class T>
T exchange(T value, unsigned from) {
  static_assert(sizeof(T) <= 16);
  std::memcpy(slot(lane()), &value, sizeof value);
  wait_warp();
  if (from < 32) std::memcpy(&value, slot(from), sizeof value);
  wait_warp();
  return value;
}

}  // namespace emulator

extern emulator::Index threadIdx, blockIdx, blockDim, gridDim;
constexpr int warpSize = 32;

inline void __syncthreads() { emulator::wait_block(); }
inline void __syncwarp(unsigned = ~0u) { emulator::wait_warp(); }
inline void __threadfence() {}
inline void __threadfence_system() {}

template <class T>
T __shfl_sync(unsigned, T value, int from) {
  return emulator::exchange(value, static_cast<unsigned>(from) % 32);
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned by) {
  return emulator::exchange(value, emulator::lane() + by);
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned by) {
  return emulator::exchange(value, by > emulator::lane() ? 32 : emulator::lane() - by);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, unsigned mask) {
  return emulator::exchange(value, emulator::lane() ^ mask);
}
inline unsigned __ballot_sync(unsigned, bool truth) {
  unsigned all = 0;
  for (unsigned from = 0; from < 32; ++from)
    all |= static_cast<unsigned>(emulator::exchange(static_cast<int>(truth), from)) << from;
  return all;
}
// Lanes of the warp that gave the same value.
template <class T>
unsigned __match_any_sync(unsigned, T value) {
  std::memcpy(emulator::slot(emulator::lane()), &value, sizeof value);
  emulator::wait_warp();
  unsigned same = 0;
  for (unsigned from = 0; from < 32; ++from)
    same |= static_cast<unsigned>(std::memcmp(emulator::slot(from), &value, sizeof value) == 0)
            << from;
  emulator::wait_warp();
  return same;
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(unsigned x) { return __builtin_ffs(static_cast<int>(x)); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }

template <class T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  const T before = *at;
  *at = before + value;
  return before;
}
template <class T>
T atomicExch(T* at, std::type_identity_t<T> value) {
  const T before = *at;
  *at = value;
  return before;
}
template <class T>
T atomicCAS(T* at, std::type_identity_t<T> wanted, std::type_identity_t<T> value) {
  const T before = *at;
  if (before == wanted) *at = value;
  return before;
}
template <class T>
T atomicMax(T* at, std::type_identity_t<T> value) {
  const T before = *at;
  if (before < value) *at = value;
  return before;
}
template <class T>
T atomicMin(T* at, std::type_identity_t<T> value) {
  const T before = *at;
  if (value < before) *at = value;
  return before;
}

#define LIBDL_EMULATED_KERNEL(name, Params, block, most)                             \
  static void name(const Params& p);                                                 \
  static constinit emulator::Kernel name##_entry{                                    \
      #name, sizeof(Params), block, most,                                            \
      [](const void* params) { name(*static_cast<const Params*>(params)); }};        \
  [[gnu::constructor]] static void name##_enter() { emulator::enter(name##_entry); } \
  static void name([[maybe_unused]] const Params& p)
#define LIBDL_KERNEL(name, Params) \
  LIBDL_EMULATED_KERNEL(name, Params, false, emulator::kMostThreads)
#define LIBDL_BLOCK_KERNEL(name, Params) \
  LIBDL_EMULATED_KERNEL(name, Params, true, emulator::kMostThreads)
