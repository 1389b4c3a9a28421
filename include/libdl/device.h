/* SPDX-License-Identifier: Apache-2.0 */

/** Devices, numbered as in DLPack. */
#ifndef LIBDL_DEVICE_H
#define LIBDL_DEVICE_H

#include <libdl/abi.h>

enum {
  LIBDL_DEVICE_CPU = 1,
  LIBDL_DEVICE_CUDA = 2,
  LIBDL_DEVICE_CUDA_HOST = 3 /**< pinned host memory */
};

/** A device: a LIBDL_DEVICE_ constant and its index among those of its type. */
typedef struct libdl_device {
  int32_t type;
  int32_t index;
} libdl_device;

#endif
