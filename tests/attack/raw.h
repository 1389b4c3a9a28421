/* SPDX-License-Identifier: Apache-2.0 */

/* A parameter of any type, for calls that are made from a table, and what
 * tests/fuzz/host_fixtures.h has for them, listed by name. Each list ends with a name that is NULL.
 */
#ifndef ATTACK_RAW_H
#define ATTACK_RAW_H

#include <stdint.h>

typedef union Raw {
  void* p;
  int64_t i;
  double f;
  void (*fn)(void);
} Raw;

typedef struct FixtureCallback {
  const char* name;
  void (*fn)(void);
} FixtureCallback;
typedef struct FixtureMade {
  const char* name;
  void* (*make)(int32_t fixture);
} FixtureMade;
typedef struct FixturePlace {
  const char* name;
  void* (*tell)(void);
} FixturePlace;

#endif
