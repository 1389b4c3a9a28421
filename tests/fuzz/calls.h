/* SPDX-License-Identifier: Apache-2.0 */

/* What table.py writes beside its table: every function called with parameters of any type, and
 * what host_fixtures.h has for them. Each list ends with a name that is NULL. */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include <libdl/libdl.h>

#include "raw.h"

typedef struct FuzzFunction {
  const char* name;
  Raw (*call)(const Raw* parameters);
} FuzzFunction;

LIBDL_BEGIN
extern const FuzzFunction fuzz_functions[];
extern const FixtureCallback fuzz_callbacks[];
extern const FixtureMade fuzz_made[];
extern const FixturePlace fuzz_places[];
void* fuzz_fixture(int32_t k);
int32_t* fuzz_destroyed(int32_t k);
int32_t fuzz_descriptor(void);
/* Written by the fuzzer: a callback called this function. */
void fuzz_count(const char* name, int good);
LIBDL_END

#endif
