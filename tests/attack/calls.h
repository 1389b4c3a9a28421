/* SPDX-License-Identifier: Apache-2.0 */

/* What tests/attack/generate.py writes: every function, called with parameters of any type. */
#ifndef ATTACK_CALLS_H
#define ATTACK_CALLS_H

#include <libdl/libdl.h>

#include "raw.h"

typedef struct Function {
  const char* name;
  libdl_error* (*call)(const Raw* parameters);
} Function;

LIBDL_BEGIN
extern const Function attack_functions[];
extern const int32_t attack_function_count;
LIBDL_END

#endif
