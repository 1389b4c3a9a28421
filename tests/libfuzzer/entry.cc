// SPDX-License-Identifier: Apache-2.0

// What libFuzzer calls, for each of the targets.
#include "target.h"

// Before the first input: one thread, so that an input does the same each time, and little memory,
// so that none is large.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  libfuzzer::need(libdl_set_threads(1), "set_threads");
  libfuzzer::need(libdl_memory_set_limit(libfuzzer::target_memory), "set_limit");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const libfuzzer::Live live;
  libfuzzer::Input input(data, bytes);
  libfuzzer::run(input);
  live.same(libfuzzer::left_by);
  return 0;
}
