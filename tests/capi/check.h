/* SPDX-License-Identifier: Apache-2.0 */

/* What these programs ask of a call. A failure is told and counted; main returns whether there was
 * one. Codes are written without LIBDL_ERROR_. */
#ifndef CHECK_H
#define CHECK_H

#include <libdl/libdl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

/* The call succeeds; else the program ends, for the outputs that it goes on with do not exist. */
#define GOOD(call) good((call), __FILE__, __LINE__)

static inline void good(libdl_error *error, const char *file, int line) {
  if (!error) return;
  fprintf(stderr, "%s:%d: %s\n", file, line, libdl_error_get_message(error));
  exit(EXIT_FAILURE);
}

/* The call fails with this code, and with this message, a message that begins so, or at this
 * argument (counted from 1; 0 is none). */
#define BAD_CODE(call, code) bad((call), LIBDL_ERROR_##code, "", 0, -1, __FILE__, __LINE__)
#define BAD(call, code, message) \
  bad((call), LIBDL_ERROR_##code, (message), -1, -1, __FILE__, __LINE__)
#define BAD_BEGINS(call, code, message) \
  bad((call), LIBDL_ERROR_##code, (message), (int)strlen(message), -1, __FILE__, __LINE__)
#define BAD_ARGUMENT(call, code, argument) \
  bad((call), LIBDL_ERROR_##code, "", 0, (argument), __FILE__, __LINE__)

/* length: of the message that counts, -1 for all of it; argument: -1 for any. */
static inline void bad(libdl_error *error, libdl_error_code code, const char *message, int length,
                       int argument, const char *file, int line) {
  const char *const found = libdl_error_get_message(error);
  const int named = libdl_error_get_argument(error);
  const int same =
      length < 0 ? strcmp(found, message) == 0 : strncmp(found, message, (size_t)length) == 0;
  if (libdl_error_get_code(error) != code || !same || (argument >= 0 && named != argument)) {
    fprintf(stderr, "%s:%d: found %d '%s' (argument %d)\n        wanted %d '%s' (argument %d)\n",
            file, line, (int)libdl_error_get_code(error), found, named, (int)code, message,
            argument);
    ++failures;
  }
  libdl_error_release(error);
}

#endif
