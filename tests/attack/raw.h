/* SPDX-License-Identifier: Apache-2.0 */

/* A parameter of any type, for calls that are made from a table, and what tests/fuzz/scenes.h has
 * for them, listed by name. Each list ends with a name that is NULL. */
#ifndef ATTACK_RAW_H
#define ATTACK_RAW_H

#include <stdint.h>

typedef union Raw {
  void* p;
  int64_t i;
  double f;
  void (*fn)(void);
} Raw;

typedef struct SceneCallback {
  const char* name;
  void (*fn)(void);
} SceneCallback;
typedef struct SceneMade {
  const char* name;
  void* (*make)(int32_t scene);
} SceneMade;
typedef struct ScenePlace {
  const char* name;
  void* (*tell)(void);
} ScenePlace;

#endif
