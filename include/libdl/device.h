/* SPDX-License-Identifier: Apache-2.0 */

/** Devices, numbered as in DLPack where it has them. Plugins may add more types. */
#ifndef LIBDL_DEVICE_H
#define LIBDL_DEVICE_H

#include <libdl/abi.h>

enum {
  LIBDL_DEVICE_CPU = 1,
  LIBDL_DEVICE_CUDA = 2,
  LIBDL_DEVICE_CUDA_HOST = 3, /**< pinned host memory */
  /** Tensors without elements: shape, strides, dtype and history, but no memory, whatever their
   *  size. Operators on them give results of the right shapes and dtypes at once, and so does
   *  backward. Values may be copied to such a tensor, which ignores them; whatever needs its own
   *  (an item, a copy to another device, a result whose shape depends on values) is the error
   *  UNSUPPORTED. There is one such device, which each program has. Not a number of DLPack's, with
   *  which these tensors cannot be exchanged. */
  LIBDL_DEVICE_META = 31
};

/** A device: a LIBDL_DEVICE_ constant and its index among those of its type. */
typedef struct libdl_device {
  int32_t type;
  int32_t index;
} libdl_device;

/** Properties of a device. Set struct_size to sizeof(the struct) before the call; as many members
 *  as fit are filled in. */
typedef struct libdl_device_properties {
  uint32_t struct_size;
  int32_t processors;                         /**< CPUs, or a GPU's multiprocessors */
  int64_t total_memory;                       /**< bytes */
  int64_t free_memory;                        /**< bytes, at the moment */
  int32_t capability_major, capability_minor; /**< CUDA's compute capability; 0 on the CPU */
  char name[128];
} libdl_device_properties;

LIBDL_BEGIN

/** The number of devices of a type; 0 if the backend or its driver is missing.
 *  Threads: free. */
LIBDL_API int32_t libdl_device_count(int32_t type);

/** The number of a device type by its name: "cpu", "cuda", "meta", or the name that a plugin gives
 *  its own (libdl_plugin_open). 0 if there is no type of that name, or it is NULL.
 *  Threads: free. */
LIBDL_API int32_t libdl_device_type_named(LIBDL_NULLABLE const char *name);

/** The name of a device type, valid for the life of the process; NULL if there is no such type.
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_device_type_name(int32_t type);

/** Fills in a device's properties.
 *
 *  device  NULL: the calling state's default device
 *
 *  Errors: NULL (out), OPTION (struct_size too small), DEVICE, BACKEND.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_device_get_properties(
    LIBDL_NULLABLE const libdl_device *device, libdl_device_properties *out);

/** Waits until all work of the device is done.
 *
 *  device  NULL: the calling state's default device
 *
 *  Errors: DEVICE, BACKEND, and those of the work itself.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_device_synchronize(
    LIBDL_NULLABLE const libdl_device *device);

/** What happens where a call must wait for a device because its result depends on values there,
 *  such as an item, a mask's number of elements, or a copy to the CPU: one of the LIBDL_SYNC_
 *  constants. Waits that are asked for (libdl_device_synchronize, of streams and events) are not
 *  meant. */
typedef int32_t libdl_sync_debug_mode;
enum {
  LIBDL_SYNC_ALLOWED = 0, /**< nothing; so it is at first */
  LIBDL_SYNC_WARNS = 1,   /**< a warning (libdl_set_warning_handler), then it waits */
  LIBDL_SYNC_FAILS = 2    /**< error STATE instead of the wait */
};

/** The mode, which all threads share. Threads: free. */
LIBDL_API libdl_sync_debug_mode libdl_get_sync_debug_mode(void);
/** Errors: OPTION (no such mode). Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_sync_debug_mode(libdl_sync_debug_mode mode);

LIBDL_END

#endif
