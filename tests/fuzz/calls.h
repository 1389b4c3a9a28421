/* SPDX-License-Identifier: Apache-2.0 */

/* What table.py writes beside its table: every function called with parameters of any type, and
 * what scenes.h has for them. Each list ends with a name that is NULL. */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include <libdl/libdl.h>

#include "raw.h"

typedef struct FuzzFunction {
  const char* name;
  Raw (*call)(const Raw* parameters);
} FuzzFunction;
typedef struct FuzzCallback {
  const char* name;
  void (*fn)(void);
} FuzzCallback;
typedef struct FuzzMade {
  const char* name;
  void* (*make)(int32_t scene);
} FuzzMade;
typedef struct FuzzPlace {
  const char* name;
  void* (*tell)(void);
} FuzzPlace;

LIBDL_BEGIN
extern const FuzzFunction fuzz_functions[];
extern const FuzzCallback fuzz_callbacks[];
extern const FuzzMade fuzz_made[];
extern const FuzzPlace fuzz_places[];
void* fuzz_scene(int32_t k);
int32_t* fuzz_destroyed(int32_t k);
int32_t fuzz_descriptor(void);
/* Written by the fuzzer: a callback called this function. */
void fuzz_count(const char* name, int good);
LIBDL_END

#endif
