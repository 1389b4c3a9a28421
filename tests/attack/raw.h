/* SPDX-License-Identifier: Apache-2.0 */

/* A parameter of any type, for calls that are made from a table. */
#ifndef ATTACK_RAW_H
#define ATTACK_RAW_H

#include <stdint.h>

typedef union Raw {
  void* p;
  int64_t i;
  double f;
  void (*fn)(void);
} Raw;

#endif
