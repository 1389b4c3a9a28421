/* SPDX-License-Identifier: Apache-2.0 */

/* Plugins as a C program sees them: the device and the provider of examples/plugins. */
#include <dlfcn.h>

#include "check.h"
#include "tensors.h"

static const libdl_device cpu = {LIBDL_DEVICE_CPU, 0}, abacus = {12, 0};

static void what_is_no_plugin_is_refused(void) {
  libdl_error *error = libdl_plugin_open("libdl-no-such-plugin.so");
  CHECK(libdl_error_get_code(error) == LIBDL_ERROR_BACKEND);
  CHECK(
      strstr(libdl_error_get_message(error), "plugin_open: libdl-no-such-plugin.so was not found"));
  libdl_error_release(error);
  BAD(libdl_plugin_open(NULL), NULL,
      "plugin_open: argument 1 (library) is NULL, wanted a path or a name");
  BAD(libdl_plugin_open("libm.so.6"), BACKEND,
      "plugin_open: libm.so.6 is no libdl plugin (it lacks libdl_backend_open and "
      "libdl_provider_open)");
  BAD_CODE(libdl_plugin_open(""), BACKEND);
  BAD_BEGINS(libdl_plugin_open(REFUSED "other_build.so"), BACKEND,
             "plugin_open: " REFUSED
             "other_build.so"
             " is of build of another time, wanted ");
  BAD_BEGINS(libdl_plugin_open(REFUSED "other_build.so"), BACKEND,
             "plugin_open: " REFUSED
             "other_build.so"
             " gives a table with struct_size 8, wanted at least ");
  BAD_BEGINS(libdl_plugin_open(REFUSED "other_build.so"), BACKEND,
             "plugin_open: " REFUSED
             "other_build.so"
             " gives a table of 1 kernels, wanted ");
  libdl_error *const without_code = libdl_plugin_open(REFUSED "other_build.so");
  CHECK(strcmp(libdl_error_get_operator(without_code), "plugin_open") == 0);
  BAD_CODE(without_code, VALUE);
  for (int k = 0; k < 2; ++k)
    BAD(libdl_plugin_open(REFUSED "lacking.so"), BACKEND,
        "device abacus: its table lacks allocate");
  BAD(libdl_provider_set_enabled("rotations", 1), VALUE,
      "provider_set_enabled: argument 1 (name) is \"rotations\", wanted a provider: a plugin's, "
      "or \"winograd\"");
  BAD_CODE(libdl_provider_set_enabled(NULL, 1), NULL);
}

/* Before the first convolution, which is when the library's own is needed: one that comes first
 * must not take its name. */
static void the_name_of_the_own_provider_is_taken(void) {
  const int64_t shape[] = {1, 4, 16, 16}, window[] = {4, 4, 3, 3};
  libdl_tensor *x, *w, *y;
  for (int k = 0; k < 2; ++k)
    BAD(libdl_plugin_open(REFUSED "namesake.so"), BACKEND,
        "provider winograd: another one has this name");
  CHECK(libdl_device_type_named("abacus") == 0); /* nothing of it is there */
  GOOD(libdl_ones(shape, 4, LIBDL_DTYPE_FLOAT32, NULL, &x));
  GOOD(libdl_ones(window, 4, LIBDL_DTYPE_FLOAT32, NULL, &w));
  GOOD(libdl_conv2d(x, w, NULL, (int64_t[]){1, 1}, 2, (int64_t[]){0, 0}, 2, (int64_t[]){1, 1}, 2, 1,
                    &y));
  CHECK(total(y) == 4 * 14 * 14 * 36);
  GOOD(libdl_provider_set_enabled("winograd", 1));
  libdl_tensor_release(x);
  libdl_tensor_release(w);
  libdl_tensor_release(y);
}

static void devices_have_names(void) {
  CHECK(libdl_device_type_named("cpu") == LIBDL_DEVICE_CPU);
  CHECK(libdl_device_type_named("cuda") == LIBDL_DEVICE_CUDA);
  CHECK(strcmp(libdl_device_type_name(LIBDL_DEVICE_CUDA), "cuda") == 0);
  CHECK(libdl_device_type_named("abacus") == 0 && libdl_device_type_named("") == 0);
  CHECK(libdl_device_type_named(NULL) == 0);
  CHECK(!libdl_device_type_name(12) && !libdl_device_type_name(-1) && !libdl_device_type_name(99));
}

/* How often the provider was asked for a product of batch 3 by 3 matrices; its sum is checked. */
static int64_t asked_for(int64_t batch, int64_t side, libdl_dtype dtype, int64_t (*done)(void)) {
  const int64_t shape[] = {batch, side, side}, before = done();
  libdl_tensor *x, *y;
  GOOD(libdl_ones(shape, 3, dtype, NULL, &x));
  GOOD(libdl_matmul(x, x, &y));
  CHECK(total(y) == (double)(batch * side * side * side));
  libdl_tensor_release(x);
  libdl_tensor_release(y);
  return done() - before;
}

static void a_provider_does_what_it_serves(void) {
  int64_t (*done)(void);
  void *library;
  GOOD(libdl_plugin_open(PLUGINS "rotations.so"));
  GOOD(libdl_plugin_open(PLUGINS "rotations.so"));
  library = dlopen(PLUGINS "rotations.so", RTLD_NOW | RTLD_NOLOAD);
  CHECK(library);
  *(void **)&done = dlsym(library, "rotations_done");
  CHECK(asked_for(5, 3, LIBDL_DTYPE_FLOAT32, done) == 1);
  CHECK(asked_for(2000, 3, LIBDL_DTYPE_FLOAT32, done) == 1);
  CHECK(asked_for(5, 4, LIBDL_DTYPE_FLOAT32, done) == 0);
  CHECK(asked_for(5, 3, LIBDL_DTYPE_FLOAT64, done) == 0);
  GOOD(libdl_provider_set_enabled("rotations", 0));
  CHECK(asked_for(5, 3, LIBDL_DTYPE_FLOAT32, done) == 0);
  GOOD(libdl_provider_set_enabled("rotations", 1));
  CHECK(asked_for(5, 3, LIBDL_DTYPE_FLOAT32, done) == 1);
  dlclose(library);
}

static void a_device_comes_with_its_plugin(void) {
  const int64_t shape[] = {2, 3};
  libdl_device_properties properties = {.struct_size = sizeof properties};
  libdl_tensor *x, *y, *back, *sorted, *places;
  CHECK(libdl_device_count(abacus.type) == 0);
  BAD_CODE(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT32, &abacus, &x), DEVICE);
  GOOD(libdl_plugin_open(PLUGINS "abacus.so"));
  GOOD(libdl_plugin_open(PLUGINS "abacus.so"));
  CHECK(libdl_device_type_named("abacus") == abacus.type);
  CHECK(strcmp(libdl_device_type_name(abacus.type), "abacus") == 0);
  CHECK(libdl_device_count(abacus.type) == 1);
  GOOD(libdl_device_get_properties(&abacus, &properties));
  CHECK(strcmp(properties.name, "an abacus") == 0);

  GOOD(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT32, &abacus, &x));
  CHECK(libdl_tensor_device(x).type == abacus.type);
  GOOD(libdl_add(x, x, NULL, &y));
  GOOD(libdl_to(y, LIBDL_DTYPE_NONE, &cpu, 0, 0, &back));
  CHECK(total(back) == 12);
  BAD(libdl_sort(x, -1, 0, 0, &sorted, &places), UNSUPPORTED,
      "abacus:0: the backend has no kernel sort");
  BAD(libdl_exp2(x, &sorted), UNSUPPORTED, "abacus: it cannot count this expression");
  BAD_CODE(libdl_add(x, back, NULL, &sorted), DEVICE);
  BAD_CODE(libdl_searchsorted(x, back, 0, 0, NULL, 0, NULL, &sorted), DEVICE);
  libdl_tensor_release(x);
  libdl_tensor_release(y);
  libdl_tensor_release(back);
}

int main(void) {
  the_name_of_the_own_provider_is_taken(); /* first: others look for the own provider */
  what_is_no_plugin_is_refused();
  devices_have_names();
  a_provider_does_what_it_serves();
  a_device_comes_with_its_plugin();
  if (failures) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
