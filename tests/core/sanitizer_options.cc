// SPDX-License-Identifier: Apache-2.0

// Settings that the tests need when they run under a sanitizer: forked children go on with threads
// of their own, and a refused allocation is an answer.

extern "C" {
__attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "die_after_fork=0";
}
__attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
}
