/* SPDX-License-Identifier: Apache-2.0 */

/* What the optimizers' steps and the clipping of gradients refuse, before anything is written. */
#include <math.h>

#include "check.h"

static const int64_t two[] = {2};
static float memory[2];

static libdl_tensor *made(int64_t size, libdl_dtype dtype) {
  libdl_tensor *x;
  GOOD(libdl_ones(&size, 1, dtype, NULL, &x));
  return x;
}

enum {
  kGood,
  kOther,
  kNumber,
  kInteger,
  kDouble,
  kComplex,
  kStrided,
  kReadOnly,
  kLong,
  kSpread,
  kInfinite,
  kCount
};
static libdl_tensor *all[kCount];

static void make_all(void) {
  const int64_t strides[] = {2}, none[] = {0};
  for (int i = 0; i < kCount; ++i) all[i] = NULL;
  all[kGood] = made(2, LIBDL_DTYPE_FLOAT32);
  all[kOther] = made(2, LIBDL_DTYPE_FLOAT32);
  GOOD(libdl_number_f64(1, &all[kNumber]));
  all[kInteger] = made(2, LIBDL_DTYPE_INT64);
  all[kDouble] = made(2, LIBDL_DTYPE_FLOAT64);
  all[kComplex] = made(2, LIBDL_DTYPE_COMPLEX64);
  GOOD(libdl_empty_strided(two, 1, strides, 1, LIBDL_DTYPE_FLOAT32, NULL, &all[kStrided]));
  GOOD(libdl_tensor_from_memory(memory, sizeof memory, two, 1, NULL, 0, 0, LIBDL_DTYPE_FLOAT32, 1,
                                NULL, NULL, &all[kReadOnly]));
  all[kLong] = made(3, LIBDL_DTYPE_FLOAT32);
  libdl_tensor *one = made(1, LIBDL_DTYPE_FLOAT32);
  GOOD(libdl_as_strided(one, two, 1, none, 1, NULL, &all[kSpread]));
  libdl_tensor_release(one);
  libdl_tensor *infinity;
  GOOD(libdl_number_f64(1e300, &infinity));
  GOOD(libdl_mul(all[kGood], infinity, &all[kInfinite]));
  libdl_tensor_release(infinity);
}

/* A step with one parameter, its gradient and its buffer. */
static libdl_error *step(libdl_sgd_options options, int param, int grad, int buffer) {
  options.struct_size = sizeof options;
  const libdl_tensor *grads[] = {all[grad]};
  return libdl_sgd_step(&options, &all[param], 1, grads, 1, &all[buffer], 1);
}

static void steps(void) {
  const libdl_sgd_options plain = {.momentum = 0.5};
  BAD(step((libdl_sgd_options){.lr = -1}, kGood, kOther, kOther), VALUE,
      "sgd_step: argument 1 (lr) is -1.000000, wanted 0 or more and finite");
  BAD(step((libdl_sgd_options){.nesterov = 1}, kGood, kOther, kOther), VALUE,
      "sgd_step: argument 1 (nesterov) is set, wanted a momentum above 0 and no dampening with it");
  BAD(step(plain, kNumber, kGood, kOther), VALUE,
      "sgd_step: argument 2 (params) holds a host number at position 0, wanted tensors");
  BAD(step(plain, kInteger, kGood, kOther), DTYPE,
      "sgd_step: argument 2 (params) holds int64 at position 0, wanted float32 or float64");
  BAD(step(plain, kStrided, kGood, kOther), SHAPE,
      "sgd_step: argument 2 (params) holds strides [2] at position 0, wanted contiguous tensors");
  BAD(step(plain, kReadOnly, kGood, kOther), READ_ONLY,
      "sgd_step: argument 2 (params) holds read-only memory at position 0, wanted memory to write "
      "to");
  BAD(step(plain, kGood, kLong, kOther), SHAPE,
      "sgd_step: argument 3 (grads) holds shape [3] at position 0, wanted [2]");
  BAD(step(plain, kGood, kDouble, kOther), DTYPE,
      "sgd_step: argument 3 (grads) holds float64 at position 0, wanted float32");
  BAD(step(plain, kGood, kOther, kGood), OVERLAP,
      "sgd_step: argument 2 (params) or state shares memory within the lists, wanted tensors with "
      "memory "
      "of their own");
  const libdl_tensor *grads[] = {all[kOther], all[kOther]};
  const libdl_sgd_options options = {.struct_size = sizeof options};
  BAD(libdl_sgd_step(&options, &all[kGood], 1, grads, 2, NULL, 0), SHAPE,
      "sgd_step: argument 3 (grads) has 2 tensors, wanted 1, one a parameter");
  const libdl_adam_options adam = {.struct_size = sizeof adam};
  BAD(libdl_adam_step(&adam, &all[kGood], 1, grads, 1, &all[kOther], 1, &all[kOther], 1, NULL, 0),
      VALUE, "adam_step: argument 1 (step) is 0, wanted 1 or more");
}

/* The steps beside SGD and Adam refuse what their options and lists may not hold. */
static void other_steps(void) {
  const libdl_tensor *grads[] = {all[kOther]};
  libdl_tensor **p = &all[kGood], *state = made(2, LIBDL_DTYPE_FLOAT32),
               *second = made(2, LIBDL_DTYPE_FLOAT32);
  libdl_adamax_options adamax = {.struct_size = sizeof adamax, .beta1 = 1};
  BAD(libdl_adamax_step(&adamax, p, 1, grads, 1, &state, 1, &second, 1), VALUE,
      "adamax_step: argument 1 (beta1) is 1.000000, wanted 0 or more and below 1");
  adamax.beta1 = 0.5;
  BAD(libdl_adamax_step(&adamax, p, 1, grads, 1, &state, 1, &second, 1), VALUE,
      "adamax_step: argument 1 (step) is 0, wanted 1 or more");
  adamax.step = 1;
  BAD(libdl_adamax_step(&adamax, p, 1, grads, 1, &state, 1, &all[kLong], 1), SHAPE,
      "adamax_step: argument 5 (exp_infs) holds shape [3] at position 0, wanted [2]");
  libdl_nadam_options nadam = {.struct_size = sizeof nadam, .step = 1, .momentum_decay = -1};
  BAD(libdl_nadam_step(&nadam, p, 1, grads, 1, &state, 1, &second, 1), VALUE,
      "nadam_step: argument 1 (momentum_decay) is -1.000000, wanted 0 or more and finite");
  nadam.momentum_decay = 0, nadam.mu_product = 1;
  BAD(libdl_nadam_step(&nadam, p, 1, grads, 1, &state, 1, &second, 1), VALUE,
      "nadam_step: argument 1 (mu_product) is 1.000000, wanted 0 or more and below 1");
  const libdl_radam_options radam = {.struct_size = sizeof radam, .step = 1};
  BAD(libdl_radam_step(&radam, p, 1, grads, 1, &state, 1, &all[kDouble], 1), DTYPE,
      "radam_step: argument 5 (exp_avg_sqs) holds float64 at position 0, wanted float32");
  const libdl_adagrad_options adagrad = {.struct_size = sizeof adagrad, .step = 1, .lr_decay = -1};
  BAD(libdl_adagrad_step(&adagrad, p, 1, grads, 1, &state, 1), VALUE,
      "adagrad_step: argument 1 (lr_decay) is -1.000000, wanted 0 or more and finite");
  libdl_adadelta_options adadelta = {.struct_size = sizeof adadelta, .rho = 1.5};
  BAD(libdl_adadelta_step(&adadelta, p, 1, grads, 1, &state, 1, &second, 1), VALUE,
      "adadelta_step: argument 1 (rho) is 1.500000, wanted 0 to 1");
  adadelta.rho = 0.5;
  BAD(libdl_adadelta_step(&adadelta, p, 1, grads, 1, &state, 1, &state, 1), OVERLAP,
      "adadelta_step: argument 2 (params) or state shares memory within the lists, wanted tensors "
      "with "
      "memory of their own");
  const libdl_asgd_options asgd = {.struct_size = sizeof asgd, .alpha = -1, .step = 1};
  BAD(libdl_asgd_step(&asgd, p, 1, grads, 1, &state, 1), VALUE,
      "asgd_step: argument 1 (alpha) is -1.000000, wanted 0 or more and finite");
  const libdl_rmsprop_options rmsprop = {.struct_size = sizeof rmsprop, .centered = 1};
  BAD(libdl_rmsprop_step(&rmsprop, p, 1, grads, 1, &state, 1, NULL, 0, NULL, 0), SHAPE,
      "rmsprop_step: argument 6 (grad_avgs) has 0 tensors, wanted 1, one a parameter");
  libdl_rprop_options rprop = {.struct_size = sizeof rprop, .etaminus = 1, .etaplus = 2};
  BAD(libdl_rprop_step(&rprop, p, 1, grads, 1, &state, 1, &second, 1), VALUE,
      "rprop_step: argument 1 (etaminus) is 1.000000, wanted more than 0 and below 1");
  rprop.etaminus = 0.5, rprop.etaplus = 1;
  BAD(libdl_rprop_step(&rprop, p, 1, grads, 1, &state, 1, &second, 1), VALUE,
      "rprop_step: argument 1 (etaplus) is 1.000000, wanted more than 1 and finite");
  libdl_tensor_release(state);
  libdl_tensor_release(second);
}

static float first_of(const libdl_tensor *x) {
  float values[2];
  GOOD(libdl_tensor_copy_out(x, values, sizeof values));
  return values[0];
}

/* Numbers that the library computes where the caller gives 0: 30 steps of a gradient of 1. */
static void computed_numbers(void) {
  libdl_tensor *p[2], *states[4];
  for (int i = 0; i < 2; ++i) p[i] = made(2, LIBDL_DTYPE_FLOAT32);
  for (int i = 0; i < 4; ++i) GOOD(libdl_zeros(two, 1, LIBDL_DTYPE_FLOAT32, NULL, &states[i]));
  const libdl_tensor *grads[] = {all[kOther]};
  double product = 1, eta = 0.5;
  for (int64_t step = 1; step <= 30; ++step) {
    product *= 0.5 * (1 - 0.5 * pow(0.96, (double)step));
    libdl_nadam_options o = {.struct_size = sizeof o, .lr = 0.25, .beta1 = 0.5, .beta2 = 0.5};
    o.momentum_decay = 1, o.step = step;
    GOOD(libdl_nadam_step(&o, &p[0], 1, grads, 1, &states[0], 1, &states[1], 1));
    o.mu_product = product;
    GOOD(libdl_nadam_step(&o, &p[1], 1, grads, 1, &states[2], 1, &states[3], 1));
  }
  CHECK(first_of(p[0]) == first_of(p[1]) && first_of(p[0]) < 0);
  for (int64_t step = 1; step <= 30; ++step) {
    libdl_asgd_options o = {.struct_size = sizeof o, .lr = 0.5, .lambd = 0.25, .alpha = 0.5};
    o.t0 = 4, o.step = step;
    GOOD(libdl_asgd_step(&o, &p[0], 1, grads, 1, &states[0], 1));
    o.eta = eta, o.mu = step < 6 ? 1 : 1.0 / (double)(step - 5);
    GOOD(libdl_asgd_step(&o, &p[1], 1, grads, 1, &states[1], 1));
    eta = 0.5 / pow(1 + 0.125 * (double)step, 0.5);
  }
  CHECK(first_of(p[0]) == first_of(p[1]) && first_of(states[0]) == first_of(states[1]));
  for (int i = 0; i < 2; ++i) libdl_tensor_release(p[i]);
  for (int i = 0; i < 4; ++i) libdl_tensor_release(states[i]);
}

/* Memory of others may lie over memory of others; a storage's parts may lie apart. */
static void storages(void) {
  static float shared[3];
  libdl_tensor *foreign[2], *parts[2], *whole = made(4, LIBDL_DTYPE_FLOAT32);
  for (int i = 0; i < 2; ++i) {
    GOOD(libdl_tensor_from_memory(shared + i, 2 * sizeof *shared, two, 1, NULL, 0, 0,
                                  LIBDL_DTYPE_FLOAT32, 0, NULL, NULL, &foreign[i]));
    const int64_t start = 2 * i, end = start + 2;
    GOOD(libdl_slice(whole, 0, &start, &end, 1, &parts[i]));
  }
  const libdl_tensor *grads[] = {all[kGood], all[kGood]};
  const libdl_sgd_options options = {.struct_size = sizeof options, .lr = 0.5};
  BAD(libdl_sgd_step(&options, foreign, 2, grads, 2, NULL, 0), OVERLAP,
      "sgd_step: argument 2 (params) or state shares memory within the lists, wanted tensors with "
      "memory of their own");
  GOOD(libdl_sgd_step(&options, parts, 2, grads, 2, NULL, 0));
  float values[4];
  GOOD(libdl_tensor_copy_out(whole, values, sizeof values));
  for (int i = 0; i < 4; ++i) CHECK(values[i] == 0.5f);
  for (int i = 0; i < 2; ++i) {
    libdl_tensor_release(foreign[i]);
    libdl_tensor_release(parts[i]);
  }
  libdl_tensor_release(whole);
}

static void clipping(void) {
  libdl_tensor *norm = NULL;
  BAD(libdl_clip_grad_norm(&all[kGood], 1, 1, 0, 0, &norm), VALUE,
      "clip_grad_norm: argument 3 (norm_type) is 0.000000, wanted a positive number");
  BAD(libdl_clip_grad_norm(&all[kInteger], 1, 1, 2, 0, &norm), DTYPE,
      "clip_grad_norm: argument 1 (grads) holds int64 at position 0, wanted floating tensors");
  BAD(libdl_clip_grad_norm(&all[kReadOnly], 1, 1, 2, 0, &norm), READ_ONLY,
      "clip_grad_norm: argument 1 (grads) holds read-only memory at position 0, wanted memory to "
      "write to");
  BAD(libdl_clip_grad_norm(&all[kSpread], 1, 1, 2, 0, &norm), OVERLAP,
      "clip_grad_norm: argument 1 (grads) holds an overlapping tensor at position 0, wanted "
      "clones");
  BAD(libdl_clip_grad_norm(&all[kInfinite], 1, 1, 2, 1, &norm), VALUE,
      "clip_grad_norm: argument 1 (grads) have norm inf, wanted a finite norm");
  const libdl_tensor *integers[] = {all[kInteger]}, *infinite[] = {all[kInfinite]};
  BAD(libdl_total_norm(integers, 1, 2, 0, &norm), DTYPE,
      "total_norm: argument 1 (tensors) holds int64 at position 0, wanted floating tensors");
  BAD(libdl_total_norm(infinite, 1, -1, 0, &norm), VALUE,
      "total_norm: argument 2 (norm_type) is -1.000000, wanted a positive number");
  BAD(libdl_total_norm(infinite, 1, 2, 1, &norm), VALUE,
      "total_norm: argument 1 (tensors) have norm inf, wanted a finite norm");
  BAD(libdl_clip_grads_with_norm(&all[kGood], 1, -1, all[kOther]), VALUE,
      "clip_grads_with_norm: argument 2 (max_norm) is -1.000000, wanted 0 or more and finite");
  BAD(libdl_clip_grads_with_norm(&all[kGood], 1, 1, all[kOther]), SHAPE,
      "clip_grads_with_norm: argument 3 (total_norm) has shape [2], wanted one element");
  BAD(libdl_clip_grads_with_norm(&all[kGood], 1, 1, all[kComplex]), DTYPE,
      "clip_grads_with_norm: argument 3 (total_norm) is complex64, wanted a real number");
  BAD(libdl_clip_grad_value(&all[kComplex], 1, 1), DTYPE,
      "clip_grad_value: argument 1 (grads) holds a complex tensor at position 0, wanted real ones: "
      "complex numbers have no order");
}

static float first(const libdl_tensor *x) {
  float values[2] = {0, 0};
  GOOD(libdl_tensor_copy_out(x, values, sizeof values));
  return values[0];
}

/* The parameter of a NULL gradient, its state and their versions stay as they are. */
static void unused_parameters(void) {
  libdl_tensor *params[] = {made(2, LIBDL_DTYPE_FLOAT32), made(2, LIBDL_DTYPE_FLOAT32)};
  libdl_tensor *m[] = {made(2, LIBDL_DTYPE_FLOAT32), made(2, LIBDL_DTYPE_FLOAT32)};
  libdl_tensor *v[] = {made(2, LIBDL_DTYPE_FLOAT32), made(2, LIBDL_DTYPE_FLOAT32)};
  libdl_tensor *const given = made(2, LIBDL_DTYPE_FLOAT32);
  const libdl_tensor *const grads[] = {NULL, given}, *const none[] = {NULL, NULL};
  const uint64_t version = libdl_tensor_version(params[0]);
  libdl_adam_options adam;
  libdl_adam_options_init(&adam);
  adam.lr = 0.25;
  GOOD(libdl_adam_step(&adam, params, 2, grads, 2, m, 2, v, 2, NULL, 0));
  CHECK(first(params[0]) == 1 && first(m[0]) == 1 && first(v[0]) == 1);
  CHECK(libdl_tensor_version(params[0]) == version && libdl_tensor_version(m[0]) == version);
  CHECK(first(params[1]) < 1 && libdl_tensor_version(params[1]) > version);
  libdl_sgd_options sgd;
  libdl_sgd_options_init(&sgd);
  sgd.momentum = 0.5, sgd.weight_decay = 0.5;
  const float before = first(params[1]);
  GOOD(libdl_sgd_step(&sgd, params, 2, none, 2, m, 2));
  CHECK(first(params[0]) == 1 && first(params[1]) == before && first(m[0]) == 1);
  libdl_sparse_adam_options sparse;
  libdl_sparse_adam_options_init(&sparse);
  GOOD(libdl_sparse_adam_step(&sparse, params, 2, none, 2, m, 2, v, 2));
  BAD_BEGINS(libdl_sparse_adam_step(&sparse, params, 2, grads, 2, m, 2, v, 2), VALUE,
             "sparse_adam_step: argument 3 (grads) holds a dense gradient at position 1");
  /* Positions are those of the caller's list. */
  const libdl_tensor *const wrong[] = {NULL, all[kLong]};
  BAD(libdl_sgd_step(&sgd, params, 2, wrong, 2, m, 2), SHAPE,
      "sgd_step: argument 3 (grads) holds shape [3] at position 1, wanted [2]");
  BAD(libdl_sgd_step(NULL, params, 2, grads, 2, m, 2), NULL,
      "sgd_step: argument 1 (options) is NULL, wanted a libdl_sgd_options");
  /* Clipping passes over them, too. */
  libdl_tensor *clipped[] = {NULL, given}, *norm;
  GOOD(libdl_clip_grad_norm(clipped, 2, 0.5, 2, 0, &norm));
  CHECK(first(given) < 0.36f && first(given) > 0.35f);
  GOOD(libdl_clip_grads_with_norm(clipped, 2, 0.25, norm));
  CHECK(first(given) < 0.1f);
  GOOD(libdl_clip_grad_value(clipped, 2, 0.01));
  CHECK(first(given) == 0.01f);
  libdl_tensor_release(norm);
  GOOD(libdl_clip_grad_norm(clipped, 1, 0.5, 2, 0, &norm));
  libdl_tensor_release(norm);
  libdl_tensor *wrongs[] = {NULL, all[kComplex]};
  BAD_BEGINS(libdl_clip_grad_value(wrongs, 2, 1), DTYPE,
             "clip_grad_value: argument 1 (grads) holds a complex tensor at position 1");
  wrongs[1] = all[kReadOnly];
  BAD_BEGINS(libdl_clip_grad_norm(wrongs, 2, 1, 2, 0, &norm), READ_ONLY,
             "clip_grad_norm: argument 1 (grads) holds read-only memory at position 1");
  for (int i = 0; i < 2; ++i)
    libdl_tensor_release(params[i]), libdl_tensor_release(m[i]), libdl_tensor_release(v[i]);
  libdl_tensor_release(given);
}

/* With what init sets, a step is PyTorch's default one: from p = 1 with gradient 1. */
static void defaults(void) {
  libdl_tensor *p = made(2, LIBDL_DTYPE_FLOAT32), *a = NULL, *b = NULL;
  libdl_tensor *const g = made(2, LIBDL_DTYPE_FLOAT32);
  const libdl_tensor *const grads[] = {g};
#define STEP(name, wanted, ...)                                                \
  do {                                                                         \
    libdl_##name##_options options;                                            \
    memset(&options, 0xff, sizeof options);                                    \
    libdl_##name##_options_init(&options);                                     \
    libdl_##name##_options_init(NULL);                                         \
    CHECK(options.struct_size == sizeof options);                              \
    libdl_tensor_release(p), libdl_tensor_release(a), libdl_tensor_release(b); \
    p = made(2, LIBDL_DTYPE_FLOAT32);                                          \
    GOOD(libdl_zeros_like(p, LIBDL_DTYPE_NONE, NULL, &a));                     \
    GOOD(libdl_zeros_like(p, LIBDL_DTYPE_NONE, NULL, &b));                     \
    GOOD(libdl_##name##_step(&options, &p, 1, grads, 1, __VA_ARGS__));         \
    CHECK(fabsf(first(p) - (wanted)) < 2e-7f);                                 \
  } while (0)
  STEP(sgd, 0.999f, NULL, 0);
  STEP(adam, 0.999f, &a, 1, &b, 1, NULL, 0);
  STEP(adamax, 0.998f, &a, 1, &b, 1);
  STEP(nadam, 0.99788713f, &a, 1, &b, 1);
  STEP(radam, 0.999f, &a, 1, &b, 1);
  STEP(adagrad, 0.99f, &a, 1);
  STEP(adadelta, 0.9968377f, &a, 1, &b, 1);
  STEP(asgd, 0.989999f, &a, 1);
  STEP(rmsprop, 0.9f, &a, 1, NULL, 0, NULL, 0);
#undef STEP
  libdl_rprop_options rprop;
  libdl_rprop_options_init(&rprop);
  CHECK(rprop.etaminus == 0.5 && rprop.etaplus == 1.2);
  CHECK(rprop.step_size_min == 1e-6 && rprop.step_size_max == 50);
  libdl_sparse_adam_options sparse;
  libdl_sparse_adam_options_init(&sparse);
  CHECK(sparse.lr == 1e-3 && sparse.beta1 == 0.9 && sparse.beta2 == 0.999 && sparse.eps == 1e-8);
  CHECK(sparse.step == 1 && sparse.struct_size == sizeof sparse);
  libdl_tensor_release(p), libdl_tensor_release(a), libdl_tensor_release(b);
  libdl_tensor_release(g);
}

/* A struct of the others that init has filled means the same as none. */
static void other_options(void) {
#define INIT(name)                    \
  libdl_##name##_options name;        \
  memset(&name, 0xff, sizeof name);   \
  libdl_##name##_options_init(&name); \
  libdl_##name##_options_init(NULL);  \
  CHECK(name.struct_size == sizeof name);
  INIT(print)
  INIT(dlpack)
  INIT(file)
  INIT(backward)
  INIT(gradcheck)
  INIT(profiler)
  INIT(interceptor)
  INIT(rprop)
#undef INIT
  libdl_text *usual, *filled;
  GOOD(libdl_tensor_to_string(all[kGood], NULL, &usual));
  GOOD(libdl_tensor_to_string(all[kGood], &print, &filled));
  CHECK(strcmp(libdl_text_data(usual), libdl_text_data(filled)) == 0);
  libdl_text_release(usual), libdl_text_release(filled);
  CHECK(print.precision == 4 && print.threshold == 1000 && print.edgeitems == 3);
  CHECK(print.linewidth == 80 && !print.sci_mode && !print.grad_fn);
  CHECK(gradcheck.eps == 1e-6 && gradcheck.atol == 1e-5 && gradcheck.rtol == 1e-3);
  CHECK(!dlpack.detach && !dlpack.stream && !dlpack.max_major && !file.share);
  CHECK(!backward.retain_graph && !profiler.recorded && !interceptor.before);
}

int main(void) {
  make_all();
  unused_parameters();
  defaults();
  other_options();
  steps();
  other_steps();
  computed_numbers();
  storages();
  clipping();
  for (int i = 0; i < kCount; ++i) libdl_tensor_release(all[i]);
  if (failures) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
