// SPDX-License-Identifier: Apache-2.0

// The defaults of option structs, PyTorch's. Each function writes the members of version 0.1, the
// version that it came with, and no more: a caller's struct may be of that version. If a struct
// grows, the default of what is new is zero, and whoever sets it sets struct_size, too.

#include <libdl/libdl.h>

namespace {

template <size_t kSize, class T>
void set(T& options) {
  static_assert(sizeof(T) == kSize, "a caller's struct may be shorter: write kSize bytes only");
  options = T{};
  options.struct_size = kSize;
}

}  // namespace

void libdl_sgd_options_init(libdl_sgd_options* options) {
  if (!options) return;
  set<48>(*options);
  options->lr = 0.001;
}

void libdl_adam_options_init(libdl_adam_options* options) {
  if (!options) return;
  set<64>(*options);
  options->lr = 0.001;
  options->beta1 = 0.9;
  options->beta2 = 0.999;
  options->eps = 1e-8;
  options->step = 1;
}

void libdl_sparse_adam_options_init(libdl_sparse_adam_options* options) {
  if (!options) return;
  set<48>(*options);
  options->lr = 0.001;
  options->beta1 = 0.9;
  options->beta2 = 0.999;
  options->eps = 1e-8;
  options->step = 1;
}

void libdl_adamax_options_init(libdl_adamax_options* options) {
  if (!options) return;
  set<56>(*options);
  options->lr = 0.002;
  options->beta1 = 0.9;
  options->beta2 = 0.999;
  options->eps = 1e-8;
  options->step = 1;
}

void libdl_nadam_options_init(libdl_nadam_options* options) {
  if (!options) return;
  set<80>(*options);
  options->lr = 0.002;
  options->beta1 = 0.9;
  options->beta2 = 0.999;
  options->eps = 1e-8;
  options->momentum_decay = 0.004;
  options->step = 1;
}

void libdl_radam_options_init(libdl_radam_options* options) {
  if (!options) return;
  set<64>(*options);
  options->lr = 0.001;
  options->beta1 = 0.9;
  options->beta2 = 0.999;
  options->eps = 1e-8;
  options->step = 1;
}

void libdl_adagrad_options_init(libdl_adagrad_options* options) {
  if (!options) return;
  set<48>(*options);
  options->lr = 0.01;
  options->eps = 1e-10;
  options->step = 1;
}

void libdl_adadelta_options_init(libdl_adadelta_options* options) {
  if (!options) return;
  set<40>(*options);
  options->lr = 1;
  options->rho = 0.9;
  options->eps = 1e-6;
}

void libdl_asgd_options_init(libdl_asgd_options* options) {
  if (!options) return;
  set<72>(*options);
  options->lr = 0.01;
  options->lambd = 1e-4;
  options->alpha = 0.75;
  options->t0 = 1e6;
  options->step = 1;
}

void libdl_rmsprop_options_init(libdl_rmsprop_options* options) {
  if (!options) return;
  set<56>(*options);
  options->lr = 0.01;
  options->alpha = 0.99;
  options->eps = 1e-8;
}

void libdl_rprop_options_init(libdl_rprop_options* options) {
  if (!options) return;
  set<40>(*options);
  options->etaminus = 0.5;
  options->etaplus = 1.2;
  options->step_size_min = 1e-6;
  options->step_size_max = 50;
}

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
