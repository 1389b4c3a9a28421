/* SPDX-License-Identifier: Apache-2.0 */

/* DLPack, mappings and host memory as a C program meets them. The structs are written once more,
 * from the specification: a program that includes upstream's dlpack.h sees the same. */
#include "check.h"
#include "dlpack_structs.h"

static int destroyed, deleted;
static void on_destroy(void *ctx) {
  (void)ctx;
  ++destroyed;
}
static void on_delete(struct DLManagedTensorVersioned *self) {
  (void)self;
  ++deleted;
}
static void on_delete_old(struct DLManagedTensor *self) {
  (void)self;
  ++deleted;
}

static float elements[6] = {0, 1, 2, 3, 4, 5};
static const int64_t shape[2] = {2, 3};

static libdl_tensor *wrap(libdl_bool read_only) {
  libdl_tensor *x = NULL;
  GOOD(libdl_tensor_from_memory(elements, sizeof elements, shape, 2, NULL, 0, 0,
                                LIBDL_DTYPE_FLOAT32, read_only, NULL, on_destroy, &x));
  return x;
}

/* The tensor, the exported struct, what was imported from it and a mapping, let go in each of the
 * 24 orders: the memory goes with the last. */
static void every_order_of_release(void) {
  for (int order = 0; order < 24; ++order) {
    int rest[4] = {0, 1, 2, 3}, code = order;
    libdl_tensor *x = wrap(0), *y = NULL;
    struct DLManagedTensorVersioned *managed = NULL, *again = NULL;
    libdl_mapping *mapping = NULL;
    void *data = NULL;
    GOOD(libdl_tensor_to_dlpack(x, NULL, &managed));
    GOOD(libdl_tensor_to_dlpack(x, NULL, &again));
    GOOD(libdl_tensor_from_dlpack(again, LIBDL_COPY_IF_NEEDED, &y));
    GOOD(libdl_tensor_map(y, LIBDL_ACCESS_WRITE, &data, &mapping));
    CHECK(data == elements && managed->dl_tensor.data == elements);
    destroyed = 0;
    for (int left = 4; left > 0; code /= left, --left) {
      const int at = code % left;
      const int what = rest[at];
      rest[at] = rest[left - 1];
      CHECK(destroyed == 0);
      if (what == 0) libdl_tensor_release(x);
      if (what == 1) managed->deleter(managed);
      if (what == 2) libdl_tensor_release(y);
      if (what == 3) libdl_tensor_unmap(mapping);
    }
    CHECK(destroyed == 1);
  }
}

static void exported_structs(void) {
  libdl_tensor *x = wrap(0), *read_only = wrap(1);
  struct DLManagedTensorVersioned *managed = NULL;
  struct DLManagedTensor *old = NULL;
  libdl_dlpack_options options = {0};
  options.struct_size = sizeof options;

  GOOD(libdl_tensor_to_dlpack(x, &options, &managed));
  CHECK(managed->major == 1 && managed->minor == 3 && managed->flags == 0);
  CHECK(managed->dl_tensor.ndim == 2 && managed->dl_tensor.strides[0] == 3);
  CHECK(managed->dl_tensor.code == 2 && managed->dl_tensor.bits == 32);
  CHECK(managed->dl_tensor.byte_offset == 0);
  managed->deleter(managed);
  CHECK(libdl_tensor_version(x) == 1);

  GOOD(libdl_tensor_to_dlpack(read_only, NULL, &managed));
  CHECK(managed->flags == 1);
  managed->deleter(managed);
  BAD_ARGUMENT(libdl_tensor_to_dlpack_unversioned(read_only, NULL, &old), READ_ONLY, 1);
  GOOD(libdl_tensor_to_dlpack_unversioned(x, NULL, &old));
  CHECK(old->dl_tensor.data == elements);
  old->deleter(old);

  options.copy = LIBDL_COPY_ALWAYS;
  GOOD(libdl_tensor_to_dlpack(x, &options, &managed));
  CHECK(managed->flags == 2 && managed->dl_tensor.data != elements);
  managed->deleter(managed);

  BAD_ARGUMENT(libdl_tensor_to_dlpack(NULL, NULL, &managed), NULL, 1);
  BAD_ARGUMENT(libdl_tensor_to_dlpack(x, NULL, NULL), NULL, 3);
  options.copy = 3;
  BAD_ARGUMENT(libdl_tensor_to_dlpack(x, &options, &managed), VALUE, 2);
  options.copy = 0;
  options.struct_size = 2;
  BAD_ARGUMENT(libdl_tensor_to_dlpack(x, &options, &managed), OPTION, 2);

  libdl_tensor_release(x);
  libdl_tensor_release(read_only);
}

/* Options of a later version: accepted as long as what is not known is zero. */
static void options_of_another_version(void) {
  struct {
    libdl_dlpack_options known;
    int64_t later;
  } longer;
  libdl_tensor *x = wrap(0);
  struct DLManagedTensorVersioned *managed = NULL;
  memset(&longer, 0, sizeof longer);
  longer.known.struct_size = sizeof longer;
  GOOD(libdl_tensor_to_dlpack(x, &longer.known, &managed));
  managed->deleter(managed);
  longer.later = 1;
  BAD_ARGUMENT(libdl_tensor_to_dlpack(x, &longer.known, &managed), OPTION, 2);
  longer.known.struct_size = 8; /* so old that it ends behind copy */
  GOOD(libdl_tensor_to_dlpack(x, &longer.known, &managed));
  managed->deleter(managed);
  libdl_tensor_release(x);
}

static void gradients_are_not_lost(void) {
  libdl_tensor *x = wrap(0);
  struct DLManagedTensorVersioned *managed = NULL;
  DLTensor view;
  libdl_dlpack_options options = {0};
  options.struct_size = sizeof options;
  options.detach = 1;
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  BAD_ARGUMENT(libdl_tensor_to_dlpack(x, NULL, &managed), AUTOGRAD, 1);
  BAD_ARGUMENT(libdl_tensor_borrow_dlpack(x, LIBDL_ACCESS_READ, &view), AUTOGRAD, 1);
  BAD_ARGUMENT(libdl_tensor_copy_in(x, elements, sizeof elements), AUTOGRAD, 1);
  GOOD(libdl_tensor_to_dlpack(x, &options, &managed));
  managed->deleter(managed);
  libdl_tensor_release(x);
}

static void imports(void) {
  int64_t sizes[2] = {2, 3};
  struct DLManagedTensorVersioned managed = {0};
  struct DLManagedTensor old = {0};
  libdl_tensor *x = NULL;
  managed.major = 1;
  managed.deleter = on_delete;
  managed.dl_tensor.data = elements;
  managed.dl_tensor.device_type = 1;
  managed.dl_tensor.ndim = 2;
  managed.dl_tensor.code = 2;
  managed.dl_tensor.bits = 32;
  managed.dl_tensor.lanes = 1;
  managed.dl_tensor.shape = sizes;
  old.dl_tensor = managed.dl_tensor;
  old.deleter = on_delete_old;

  deleted = 0;
  GOOD(libdl_tensor_from_dlpack(&managed, LIBDL_COPY_NEVER, &x));
  CHECK(libdl_tensor_shape(x)[1] == 3 && libdl_tensor_strides(x)[0] == 3 && deleted == 0);
  libdl_tensor_release(x);
  CHECK(deleted == 1);
  GOOD(libdl_tensor_from_dlpack_unversioned(&old, LIBDL_COPY_ALWAYS, &x));
  CHECK(deleted == 2);
  libdl_tensor_release(x);

  BAD_ARGUMENT(libdl_tensor_from_dlpack(&managed, LIBDL_COPY_NEVER, NULL), NULL, 3);
  CHECK(deleted == 3);
  BAD_ARGUMENT(libdl_tensor_from_dlpack(&managed, -1, &x), VALUE, 2);
  CHECK(deleted == 4);
  BAD_ARGUMENT(libdl_tensor_from_dlpack(NULL, LIBDL_COPY_NEVER, &x), NULL, 1);
  managed.major = 2;
  managed.dl_tensor.ndim = -7;
  BAD_ARGUMENT(libdl_tensor_from_dlpack(&managed, LIBDL_COPY_NEVER, &x), UNSUPPORTED, 1);
  CHECK(deleted == 5);
  old.dl_tensor.lanes = 4;
  BAD_ARGUMENT(libdl_tensor_from_dlpack_unversioned(&old, LIBDL_COPY_NEVER, &x), DTYPE, 1);
  CHECK(deleted == 6);
}

static void exchange_table(void) {
  libdl_tensor *x = wrap(0);
  struct DLManagedTensorVersioned *made = NULL;
  DLTensor view;
  void *stream = &view;
  GOOD(libdl_tensor_borrow_dlpack(x, LIBDL_ACCESS_READ, &view));
  CHECK(view.shape == libdl_tensor_shape(x) && view.strides == libdl_tensor_strides(x));
  CHECK(libdl_tensor_version(x) == 0);
  GOOD(libdl_tensor_borrow_dlpack(x, LIBDL_ACCESS_WRITE, &view));
  CHECK(libdl_tensor_version(x) == 1);
  GOOD(libdl_dlpack_allocate(&view, &made));
  CHECK(made->dl_tensor.shape[1] == 3 && made->dl_tensor.data != elements);
  made->deleter(made);
  GOOD(libdl_dlpack_current_stream(LIBDL_DEVICE_CPU, 0, &stream));
  CHECK(stream == NULL);
  libdl_tensor_release(x);
}

/* What comes in from outside belongs to the scope, as what operators make. */
static void scopes(void) {
  libdl_tensor *x = NULL, *y = NULL;
  struct DLManagedTensorVersioned *managed = NULL;
  GOOD(libdl_scope_push());
  x = wrap(0);
  GOOD(libdl_tensor_to_dlpack(x, NULL, &managed));
  GOOD(libdl_tensor_from_dlpack(managed, LIBDL_COPY_IF_NEEDED, &y));
  destroyed = 0;
  GOOD(libdl_scope_pop());
  CHECK(destroyed == 1);
  BAD_ARGUMENT(libdl_tensor_to_dlpack(y, NULL, &managed), EMPTIED, 1);
  libdl_tensor_release(x);
  libdl_tensor_release(y);
}

static void bytes(void) {
  libdl_tensor *x = wrap(0), *read_only = wrap(1), *n = NULL;
  libdl_mapping *mapping = NULL;
  void *data = NULL;
  DLTensor view;
  BAD(libdl_tensor_borrow_dlpack(read_only, LIBDL_ACCESS_WRITE, &view), READ_ONLY,
      "tensor_borrow_dlpack: argument 1 (tensor) may not be written, wanted a tensor that may");
  float copy[6];
  GOOD(libdl_tensor_map(read_only, LIBDL_ACCESS_READ, &data, &mapping));
  CHECK(data == elements);
  libdl_tensor_unmap(mapping);
  BAD_ARGUMENT(libdl_tensor_map(read_only, LIBDL_ACCESS_WRITE, &data, &mapping), READ_ONLY, 1);
  BAD_ARGUMENT(libdl_tensor_map(x, 3, &data, &mapping), VALUE, 2);
  libdl_tensor_unmap(NULL);
  GOOD(libdl_tensor_data(x, LIBDL_ACCESS_WRITE, &data));
  BAD_ARGUMENT(libdl_tensor_data(read_only, LIBDL_ACCESS_WRITE, &data), READ_ONLY, 1);
  GOOD(libdl_tensor_copy_out(x, copy, sizeof copy));
  CHECK(memcmp(copy, elements, sizeof copy) == 0);
  BAD_ARGUMENT(libdl_tensor_copy_out(x, copy, 23), VALUE, 2);
  GOOD(libdl_tensor_copy_in(x, copy, sizeof copy));
  CHECK(libdl_tensor_version(x) == 1);
  BAD_ARGUMENT(libdl_tensor_copy_in(read_only, copy, sizeof copy), READ_ONLY, 1);
  GOOD(libdl_number_f64(2.5, &n));
  GOOD(libdl_tensor_map(n, LIBDL_ACCESS_READ, &data, &mapping));
  CHECK(*(double *)data == 2.5);
  libdl_tensor_unmap(mapping);
  BAD_ARGUMENT(libdl_tensor_copy_in(n, copy, 8), VALUE, 1);
  libdl_tensor_release(n);
  libdl_tensor_release(x);
  libdl_tensor_release(read_only);
}

static void refused_memory_is_given_back(void) {
  libdl_tensor *x = NULL;
  destroyed = 0;
  BAD_ARGUMENT(libdl_tensor_from_memory(elements, 23, shape, 2, NULL, 0, 0, LIBDL_DTYPE_FLOAT32, 0,
                                        NULL, on_destroy, &x),
               VALUE, 0);
  BAD_ARGUMENT(libdl_tensor_from_memory(elements, 24, shape, -1, NULL, 0, 0, LIBDL_DTYPE_FLOAT32, 0,
                                        NULL, on_destroy, &x),
               VALUE, 2);
  BAD_ARGUMENT(libdl_tensor_from_memory(elements, 24, shape, 2, NULL, 0, 0, LIBDL_DTYPE_NONE, 0,
                                        NULL, on_destroy, &x),
               DTYPE, 5);
  const int64_t empty[] = {0};
  BAD(libdl_tensor_from_memory(elements, 24, empty, 1, NULL, 0, -1, LIBDL_DTYPE_FLOAT32, 0, NULL,
                               on_destroy, &x),
      VALUE, "tensor_from_memory: argument 4 (offset) is -1, wanted 0 or more");
  BAD_ARGUMENT(libdl_tensor_from_memory(elements, 24, NULL, 2, NULL, 0, 0, LIBDL_DTYPE_FLOAT32, 0,
                                        NULL, on_destroy, &x),
               NULL, 2);
  BAD_ARGUMENT(
      libdl_tensor_from_memory(elements, 24, shape, 2, NULL, 0, 0, 99, 0, NULL, on_destroy, &x),
      DTYPE, 5);
  BAD_ARGUMENT(libdl_tensor_from_memory(NULL, 24, shape, 2, NULL, 0, 0, LIBDL_DTYPE_FLOAT32, 0,
                                        NULL, on_destroy, &x),
               NULL, 1);
  BAD_ARGUMENT(libdl_tensor_from_memory(elements, 24, shape, 2, NULL, 0, 0, LIBDL_DTYPE_FLOAT32, 0,
                                        NULL, on_destroy, NULL),
               NULL, 8);
  CHECK(destroyed == 8 && x == NULL);
}

int main(void) {
  every_order_of_release();
  exported_structs();
  options_of_another_version();
  gradients_are_not_lost();
  imports();
  exchange_table();
  scopes();
  bytes();
  refused_memory_is_given_back();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
