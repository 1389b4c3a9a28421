/* SPDX-License-Identifier: Apache-2.0 */
// clang-format Language: C

/* Files, foreign memory and what else is pointed to; and the end of every sequence. Behind
 * host_fixtures.h in each C program. */

/* -- files ------------------------------------------------------------------------------------ */

static const char fixture_header[] =
    "{\"__metadata__\":{\"k\":\"v\"},"
    "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}";
enum { FIXTURE_HEADER = 80, FIXTURE_FILE = 8 + FIXTURE_HEADER + 2 };

FIXTURE_PLACE void *file_bytes(void) {
  static char bytes[FIXTURE_FILE];
  memset(bytes, ' ', sizeof bytes);
  memset(bytes, 0, 8);
  bytes[0] = FIXTURE_HEADER;
  memcpy(bytes + 8, fixture_header, strlen(fixture_header));
  memcpy(bytes + 8 + FIXTURE_HEADER, "ab", 2);
  return bytes;
}
FIXTURE_PLACE void *file_path(void) {
  static char path[] = "fixture.safetensors";
  if (access(path, R_OK) == 0) return path;
  FILE *const file = fopen(path, "wb");
  if (!file || fwrite(file_bytes(), 1, FIXTURE_FILE, file) != FIXTURE_FILE) abort();
  fclose(file);
  return path;
}
static __attribute__((unused)) int32_t fixture_descriptor(void) {
  static int32_t descriptor = -1;
  if (descriptor < 0) descriptor = open((const char *)file_path(), O_RDONLY);
  return descriptor;
}

/* -- DLPack ------------------------------------------------------------------------------------ */

FIXTURE_CALL void fixture_dlpack_release(struct DLManagedTensorVersioned *managed) {
  if (managed && managed->deleter) managed->deleter(managed);
}
FIXTURE_CALL void fixture_dlpack_old_release(struct DLManagedTensor *managed) {
  if (managed && managed->deleter) managed->deleter(managed);
}

/* Foreign tensors: 0 is good, the others are each bad in one way. */
static DLTensor fixture_dl(int32_t which) {
  static int64_t shape[65] = {2, 3}, strides[65] = {3, 1}, negative[2] = {2, -3};
  static int64_t huge[2] = {INT64_MAX, INT64_MAX};
  DLTensor x = {fixture_buffer, 1, 0, 2, 2, 32, 1, shape, strides, 0};
  switch (which) {
    case 1: x.ndim = -1; break;
    case 2: x.ndim = 65; break;
    case 3: x.lanes = 4; break;
    case 4: x.code = 77; break;
    case 5: x.bits = 7; break;
    case 6: x.device_type = 2; break;
    case 7: x.device_type = -5; break;
    case 8: x.shape = negative; break;
    case 9: x.shape = huge; break;
    case 10: x.data = fixture_buffer + 1; break;
    case 11: x.strides = huge; break;
    case 12: x.shape = NULL; break;
    case 13: x.data = NULL; break;
    case 14: x.strides = NULL; break;
    default: break;
  }
  return x;
}
static void fixture_free(struct DLManagedTensorVersioned *self) { free(self); }
static void fixture_free_old(struct DLManagedTensor *self) { free(self); }

FIXTURE_CALL libdl_error *fixture_dlpack(int32_t which, struct DLManagedTensorVersioned **out) {
  *out = (struct DLManagedTensorVersioned *)calloc(1, sizeof **out);
  (*out)->major = which == 15 ? 9 : 1;
  (*out)->deleter = fixture_free;
  (*out)->dl_tensor = fixture_dl(which);
  return NULL;
}
FIXTURE_CALL libdl_error *fixture_dlpack_old(int32_t which, struct DLManagedTensor **out) {
  *out = (struct DLManagedTensor *)calloc(1, sizeof **out);
  (*out)->deleter = fixture_free_old;
  (*out)->dl_tensor = fixture_dl(which);
  return NULL;
}
FIXTURE_PLACE void *prototype(void) {
  static DLTensor x;
  x = fixture_dl(0);
  return &x;
}
FIXTURE_PLACE void *bad_prototype(void) {
  static DLTensor x;
  static int32_t which;
  x = fixture_dl(1 + which++ % 9);
  return &x;
}

/* -- other pointers --------------------------------------------------------------------------- */

FIXTURE_PLACE void *buffer(void) { return fixture_buffer; }
FIXTURE_PLACE void *generator_state(void) {
  static char state[24];
  libdl_generator *generator = NULL;
  libdl_error *error = libdl_generator_new(7, &generator);
  if (!error) error = libdl_generator_get_state(generator, state, sizeof state);
  libdl_generator_release(generator);
  fixture_drop(error);
  return state;
}
static __attribute__((unused)) int32_t fixture_asked(void *ctx) { return (void)ctx, 0; }
/* The number of an interruption, as a pointer's bits. */
FIXTURE_PLACE void *interruption(void) {
  int64_t number = 0;
  fixture_drop(libdl_interruption_add(fixture_asked, NULL, NULL, &number));
  return (void *)(intptr_t)number;
}
/* The identity of the innermost open level, likewise. */
FIXTURE_PLACE void *forward_level(void) { return (void *)(uintptr_t)libdl_forward_level(0); }
FIXTURE_PLACE void *sgd(void) {
  static libdl_sgd_options options = {.struct_size = sizeof options, .lr = 0.1};
  return &options;
}
FIXTURE_PLACE void *adam(void) {
  static libdl_adam_options options = {.struct_size = sizeof options,
                                       .lr = 0.1,
                                       .beta1 = 0.9,
                                       .beta2 = 0.999,
                                       .eps = 1e-8,
                                       .step = 1};
  return &options;
}
FIXTURE_PLACE void *adam_of_step_0(void) {
  static libdl_adam_options options = {.struct_size = sizeof options, .lr = 0.1, .beta1 = 0.9};
  return &options;
}
FIXTURE_PLACE void *sparse_adam(void) {
  static libdl_sparse_adam_options options = {.struct_size = sizeof options,
                                              .lr = 0.1,
                                              .beta1 = 0.9,
                                              .beta2 = 0.999,
                                              .eps = 1e-8,
                                              .step = 1};
  return &options;
}
FIXTURE_PLACE void *adamax(void) {
  static libdl_adamax_options options = {.struct_size = sizeof options,
                                         .lr = 0.1,
                                         .beta1 = 0.9,
                                         .beta2 = 0.999,
                                         .eps = 1e-8,
                                         .step = 1};
  return &options;
}
FIXTURE_PLACE void *nadam(void) {
  static libdl_nadam_options options = {.struct_size = sizeof options,
                                        .lr = 0.1,
                                        .beta1 = 0.9,
                                        .beta2 = 0.999,
                                        .eps = 1e-8,
                                        .step = 2};
  return &options;
}
FIXTURE_PLACE void *radam(void) {
  static libdl_radam_options options = {
      .struct_size = sizeof options, .lr = 0.1, .beta1 = 0.9, .beta2 = 0.9, .eps = 1e-8, .step = 9};
  return &options;
}
FIXTURE_PLACE void *adagrad(void) {
  static libdl_adagrad_options options = {
      .struct_size = sizeof options, .lr = 0.1, .lr_decay = 0.1, .eps = 1e-10, .step = 2};
  return &options;
}
FIXTURE_PLACE void *adadelta(void) {
  static libdl_adadelta_options options = {
      .struct_size = sizeof options, .lr = 1, .rho = 0.9, .eps = 1e-6};
  return &options;
}
FIXTURE_PLACE void *asgd(void) {
  static libdl_asgd_options options = {
      .struct_size = sizeof options, .lr = 0.1, .lambd = 1e-4, .alpha = 0.75, .t0 = 1, .step = 3};
  return &options;
}
FIXTURE_PLACE void *rmsprop(void) {
  static libdl_rmsprop_options options = {
      .struct_size = sizeof options, .lr = 0.1, .alpha = 0.99, .eps = 1e-8};
  return &options;
}
FIXTURE_PLACE void *rprop(void) {
  static libdl_rprop_options options = {.struct_size = sizeof options,
                                        .etaminus = 0.5,
                                        .etaplus = 1.2,
                                        .step_size_min = 1e-6,
                                        .step_size_max = 50};
  return &options;
}
FIXTURE_PLACE void *retain_graph(void) {
  static libdl_backward_options options = {
      .struct_size = sizeof options, .retain_graph = 1, .allow_unused = 1};
  return &options;
}
FIXTURE_PLACE void *create_graph(void) {
  static libdl_backward_options options = {
      .struct_size = sizeof options, .create_graph = 1, .materialize = 1};
  return &options;
}
FIXTURE_PLACE void *second_order(void) {
  static libdl_gradcheck_options options = {
      .struct_size = sizeof options, .forward = 1, .second_order = 1};
  return &options;
}
static void *fixture_allocate(void *ctx, size_t bytes, size_t alignment) {
  (void)ctx;
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
static void fixture_deallocate(void *ctx, void *data, size_t bytes, size_t alignment) {
  (void)ctx, (void)bytes, (void)alignment;
  free(data);
}
FIXTURE_PLACE void *allocator(void) {
  static libdl_allocator source = {sizeof source, NULL, fixture_allocate, fixture_deallocate, NULL};
  return &source;
}
FIXTURE_PLACE void *half_allocator(void) {
  static libdl_allocator source = {sizeof source, NULL, fixture_allocate, NULL, NULL};
  return &source;
}

/* Any options: all zero but struct_size. */
static __attribute__((unused)) void *fixture_options(uint32_t size) {
  static _Alignas(64) char bytes[512];
  memcpy(bytes, &size, sizeof size);
  return bytes;
}
static __attribute__((unused)) libdl_op fixture_op(const char *name) {
  libdl_op op = -1;
  fixture_drop(libdl_op_find(name, -1, &op));
  return op;
}

/* -- the end ---------------------------------------------------------------------------------- */

enum { FIXTURE_LIMIT = 32 << 20 };

static int fixture_popped(libdl_error *error) {
  const int popped = !error;
  fixture_drop(error);
  return popped;
}
static void fixture_close_state(void) {
  while (fixture_popped(libdl_scope_pop())) {
  }
  while (fixture_popped(libdl_interceptor_pop())) {
  }
  while (fixture_popped(libdl_saved_hooks_pop())) {
  }
  (void)fixture_popped(libdl_profiler_stop(NULL, NULL, NULL));
  while (fixture_popped(libdl_forward_exit())) {
  }
}
/* What belongs to the thread and to the process is put back as it was at first. */
FIXTURE_CALL void fixture_end(void) {
  libdl_memory_fail_after(-1, 0);
  libdl_state *previous = NULL;
  fixture_close_state();
  fixture_drop(libdl_state_swap(NULL, &previous));
  if (previous) fixture_close_state();
  const libdl_device cpu = {LIBDL_DEVICE_CPU, 0};
  libdl_set_grad_enabled(1);
  libdl_set_inference_mode(0);
  libdl_set_anomaly_mode(0);
  libdl_set_anomaly_check_nan(1);
  libdl_set_check_copies(0);
  fixture_drop(libdl_set_autocast_enabled(LIBDL_DEVICE_CPU, 0));
  fixture_drop(libdl_set_autocast_dtype(LIBDL_DEVICE_CPU, LIBDL_DTYPE_BFLOAT16));
  libdl_set_autocast_cache_enabled(1);
  libdl_set_phase(LIBDL_PHASE_FORWARD);
  fixture_drop(libdl_set_default_dtype(LIBDL_DTYPE_FLOAT32));
  fixture_drop(libdl_set_default_device(&cpu));
  fixture_drop(libdl_generator_set_default(NULL));
  fixture_drop(libdl_state_set_interruption(NULL, NULL, NULL, NULL));
  fixture_drop(libdl_state_set_memory_limit(NULL, 0));
  libdl_generator *const generator = libdl_generator_default();
  fixture_drop(libdl_generator_set_seed(generator, 0));
  libdl_generator_release(generator);
  libdl_stream *stream = NULL;
  fixture_drop(libdl_stream_default(&cpu, &stream));
  fixture_drop(libdl_stream_set_current(stream));
  libdl_stream_release(stream);
}
/* The first of all calls, and the last but for releases. */
FIXTURE_CALL void fixture_end_process(void) {
  fixture_drop(libdl_memory_set_limit(FIXTURE_LIMIT));
  fixture_drop(libdl_memory_set_allocator(NULL));
  fixture_drop(libdl_memory_set_pressure(NULL, NULL, NULL));
  fixture_drop(libdl_set_site_hook(NULL, NULL, NULL));
  fixture_drop(libdl_set_warning_handler(NULL, NULL, NULL));
  fixture_drop(libdl_set_log_handler(NULL, NULL, NULL));
  fixture_drop(libdl_set_executor(NULL));
  fixture_drop(libdl_set_interruption(NULL, NULL, NULL));
  static int64_t removed = 0;
  const int64_t last = (int64_t)(intptr_t)interruption();
  while (removed < last) fixture_drop(libdl_interruption_remove(++removed));
  fixture_drop(libdl_set_threads(1));
}

static int64_t fixture_live[4];
static __attribute__((unused)) void fixture_begin(void) {
  fixture_end_process();
  libdl_memory_get_live(fixture_live, fixture_live + 1, fixture_live + 2, fixture_live + 3);
}
/* A call that failed has written none of its places, which were zero before. */
typedef struct Place {
  const void *at;
  size_t bytes;
} Place;
static __attribute__((unused)) void fixture_ends(libdl_error *error, const Place *places,
                                                 int count) {
  static const char zeros[4096];
  fixture_check(error);
  for (int k = 0; error && k < count; ++k)
    if (memcmp(places[k].at, zeros, places[k].bytes) != 0) {
      fprintf(stderr, "an output was written, and yet: %s\n", libdl_error_get_message(error));
      exit(1);
    }
}
/* Whether all that was made is gone, and each destroy that is named by its fixture ran once. */
static __attribute__((unused)) int fixture_is_clean(const int *expected, int count) {
  int64_t now[4];
  int clean = 1;
  libdl_memory_get_live(now, now + 1, now + 2, now + 3);
  for (int k = 0; k < 4; ++k)
    if (now[k] != fixture_live[k])
      clean = 0, fprintf(stderr, "left behind: %lld %s\n", (long long)(now[k] - fixture_live[k]),
                         (const char *[]){"tensors", "storages", "nodes", "bytes"}[k]);
  for (int k = 0; k < count; ++k)
    if (fixtures[expected[k]].destroyed != 1)
      clean = 0, fprintf(stderr, "a destroy ran %d times\n", (int)fixtures[expected[k]].destroyed);
  return clean;
}
