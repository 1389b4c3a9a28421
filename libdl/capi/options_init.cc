// SPDX-License-Identifier: Apache-2.0

// The defaults of option structs beside optimizers', which are generated (tools/steps.py). Each
// function writes the members of version 0.1, the version that it came with, and no more: a
// caller's struct may be of that version. If a struct grows, the default of what is new is zero,
// and whoever sets it sets struct_size, too.

#include <libdl/libdl.h>

namespace {

template <size_t kSize, class T>
void set(T& options) {
  static_assert(sizeof(T) == kSize, "a caller's struct may be shorter: write kSize bytes only");
  options = T{};
  options.struct_size = kSize;
}

}  // namespace

void libdl_backward_options_init(libdl_backward_options* options) {
  if (!options) return;
  set<24>(*options);
}

void libdl_gradcheck_options_init(libdl_gradcheck_options* options) {
  if (!options) return;
  set<48>(*options);
  options->eps = 1e-6;
  options->atol = 1e-5;
  options->rtol = 1e-3;
}

void libdl_dlpack_options_init(libdl_dlpack_options* options) {
  if (!options) return;
  set<40>(*options);
}

void libdl_file_options_init(libdl_file_options* options) {
  if (!options) return;
  set<8>(*options);
}

void libdl_interceptor_options_init(libdl_interceptor_options* options) {
  if (!options) return;
  set<40>(*options);
}

void libdl_profiler_options_init(libdl_profiler_options* options) {
  if (!options) return;
  set<8>(*options);
}

void libdl_print_options_init(libdl_print_options* options) {
  if (!options) return;
  set<56>(*options);
  options->precision = 4;
  options->threshold = 1000;
  options->edgeitems = 3;
  options->linewidth = 80;
}
