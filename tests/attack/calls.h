/* SPDX-License-Identifier: Apache-2.0 */

/* What tests/attack/generate.py writes: every function called with parameters of any type, and what
 * tests/fuzz/host_fixtures.h has for them. */
#ifndef ATTACK_CALLS_H
#define ATTACK_CALLS_H

#include <libdl/libdl.h>

#include "raw.h"

typedef struct Function {
  const char* name;
  void* (*call)(const Raw* parameters); /* what it returns, if that is a handle of the caller's */
  const char* result;                   /* its type: "error", "tensor", ...; "" if it is none */
  int fallible;                         /* it returns an error or NULL */
} Function;

LIBDL_BEGIN
extern const Function attack_functions[];
extern const int32_t attack_function_count;
extern const FixtureCallback attack_callbacks[];
extern const FixtureMade attack_made[];
extern const FixturePlace attack_places[];
void* attack_fixture(int32_t k);
int32_t* attack_destroyed(int32_t k);
/* A tensor of another library, in one of DLPack's structs; 0 is good, 1 to 15 are bad. */
void* attack_foreign(int unversioned, int which);
int32_t attack_descriptor(void);
/* Closes all that a call has opened for its thread and set for the process. */
void attack_restore(void);
LIBDL_END

#endif
