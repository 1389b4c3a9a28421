/* SPDX-License-Identifier: Apache-2.0 */

/* libdl_neg with an error that LIBDL_FUZZ_PLANTED names: a fuzzer that finds none of them finds
 * nothing. It stands before the library's own in the program that is linked with this file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libdl/libdl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef libdl_error *(*Neg)(const libdl_tensor *input, libdl_tensor **out);

static void *volatile lost;

libdl_error *libdl_neg(const libdl_tensor *input, libdl_tensor **out) {
  const char *const planted = getenv("LIBDL_FUZZ_PLANTED");
  const char *const kind = planted ? planted : "";
  Neg own;
  *(void **)&own = dlsym(RTLD_NEXT, "libdl_neg");
  libdl_error *const error = own(input, out);
  /* Anything but NULL, which a C program has there already. */
  if (error && strcmp(kind, "output") == 0 && out)
    *out = (libdl_tensor *)(input ? input : (void *)out);
  if (error) return error;
  if (strcmp(kind, "death") == 0 && libdl_anomaly_mode()) abort();
  if (strcmp(kind, "hang") == 0)
    for (;;) pause();
  /* A result with a history would keep its operand, too. */
  if (strcmp(kind, "reference") == 0 && !libdl_tensor_requires_grad(*out))
    libdl_tensor_retain(*out);
  if (strcmp(kind, "block") == 0) lost = malloc(77);
  if (strcmp(kind, "block") == 0) lost = NULL;
  if (strcmp(kind, "overrun") == 0) {
    volatile char *const bytes = malloc(7);
    lost = (void *)bytes;
    ((volatile char *)lost)[libdl_tensor_numel(input) ? 7 : 0] = 1;
    free(lost);
  }
  if (strcmp(kind, "silence") == 0) {
    libdl_tensor_release(*out);
    *out = NULL;
    return libdl_error_new(LIBDL_ERROR_VALUE, "", 0, NULL, NULL);
  }
  return NULL;
}
