/* SPDX-License-Identifier: Apache-2.0 */

/** The memory of tensors. Freed memory is cached for later tensors, because fresh pages cost more
 *  than most operators; these functions report it, limit it, and return it to the system.
 *
 *  Where device is NULL, the calling state's default device is meant. */
#ifndef LIBDL_MEMORY_H
#define LIBDL_MEMORY_H

#include <libdl/abi.h>
#include <libdl/device.h>
#include <libdl/text.h>

/** Memory statistics of one device, in bytes and counts. Set struct_size to sizeof(the struct)
 *  before the call; as many members as fit are filled in. */
typedef struct libdl_memory_statistics {
  uint32_t struct_size;
  uint32_t reserved_for_later; /**< 0 */
  int64_t allocated;           /**< in use by tensors, rounded up to whole blocks */
  int64_t active;              /**< allocated, plus what threads cache for small tensors */
  int64_t reserved;            /**< obtained from the system, driver or host, idle memory
                                    included */
  int64_t peak_allocated;      /**< the maximum since the start or libdl_memory_reset_peaks */
  int64_t peak_reserved;
  int64_t small_allocated; /**< the part in blocks of up to 32 KB */
  int64_t small_reserved;
  int64_t allocations;   /**< blocks allocated so far */
  int64_t frees;         /**< blocks freed so far */
  int64_t segments;      /**< address ranges */
  int64_t trims;         /**< times that idle memory was returned */
  int64_t out_of_memory; /**< times that memory ran out */
  int64_t limit;         /**< bytes that may be reserved; 0 if unknown */
  int64_t packed;        /**< the part of `allocated` in packed forms of tensors, kept for kernels;
                              dropped first when memory runs out */
} libdl_memory_statistics;

/** One block of a snapshot. */
typedef struct libdl_memory_block {
  uint32_t struct_size; /**< the bytes that this version fills in */
  libdl_bool used;
  const void *segment; /**< the address range that the block is part of */
  int64_t segment_bytes;
  int64_t segment_committed; /**< bytes of the segment that are backed by memory */
  int64_t offset;            /**< from the segment's start */
  int64_t bytes;
  const void *stream; /**< the native stream that the segment belongs to, NULL for the default */
} libdl_memory_block;

/** A host's own allocator for CPU memory. Set struct_size to sizeof(the struct).
 *
 *  allocate    returns `bytes` bytes aligned to `alignment` (a power of two), or NULL if there is
 *              no memory
 *  deallocate  frees what allocate returned, given the same bytes and alignment
 *  destroy     runs once when no memory is held any more; may be NULL
 *
 *  The functions are called on any thread, while no lock of libdl is held, and for whole segments
 *  of about 2 MB or more, not for each tensor. */
typedef struct libdl_allocator {
  uint32_t struct_size;
  void *ctx;
  void *(*allocate)(void *ctx, size_t bytes, size_t alignment);
  void (*deallocate)(void *ctx, void *data, size_t bytes, size_t alignment);
  void (*destroy)(void *ctx);
} libdl_allocator;

/** Called for each block of a snapshot; an error ends the walk, which returns it. */
typedef libdl_error *(*libdl_memory_visitor)(void *ctx, const libdl_memory_block *block);

/** Called when memory runs out, before the request is retried once: release what you can, on this
 *  thread. `bytes` is how much is missing. It is not called again for a request that fails inside
 *  it. */
typedef void (*libdl_memory_pressure)(void *ctx, int64_t bytes);

LIBDL_BEGIN

/** Fills in the device's memory statistics.
 *
 *  Errors: NULL (out), OPTION (struct_size too small), DEVICE, BACKEND.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_get_statistics(
    LIBDL_NULLABLE const libdl_device *device, libdl_memory_statistics *out);

/** Resets the peaks to the current values.
 *
 *  Errors: DEVICE, BACKEND.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_reset_peaks(
    LIBDL_NULLABLE const libdl_device *device);

/** Returns idle memory to where it came from, except what other threads cache for small tensors.
 *
 *  out  the number of bytes returned
 *
 *  Errors: NULL (out), DEVICE, BACKEND.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_trim(LIBDL_NULLABLE const libdl_device *device,
                                                         int64_t *out);

/** Calls visit for every block, used or idle, segment by segment in the order of addresses. The
 *  blocks are a snapshot of one moment; visit may allocate and free. destroy runs once with ctx
 *  before this call returns, also on failure.
 *
 *  Errors: NULL (visit), DEVICE, BACKEND, OUT_OF_MEMORY, and what visit returned.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_visit(LIBDL_NULLABLE const libdl_device *device,
                                                          libdl_memory_visitor visit, void *ctx,
                                                          void (*destroy)(void *ctx));

/** Limits the host memory that libdl holds; exceeding the limit is an OUT_OF_MEMORY error. Memory
 *  already held stays; idle memory is returned at the next shortage.
 *
 *  bytes  0: automatic, 90 % of the smaller of the cgroup's limit and the available memory. The
 *         environment variable LIBDL_MEMORY_LIMIT ("512M", "4G") sets the initial limit.
 *
 *  Errors: VALUE (bytes negative).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_set_limit(int64_t bytes);

/** The limit in bytes; an automatic one as it is now. Threads: free. */
LIBDL_API int64_t libdl_memory_get_limit(void);

/** Takes host memory from this allocator from now on. Blocks of the former one are returned to it
 *  when they are freed, idle ones at once. The limit still applies.
 *
 *  allocator  copied; NULL: the system's memory again
 *
 *  If the call fails, allocator->destroy has run.
 *  Errors: NULL (a function is missing), OPTION (struct_size), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_set_allocator(
    LIBDL_NULLABLE const libdl_allocator *allocator);

/** Sets the callback for memory shortages. It replaces the current one, whose destroy runs once its
 *  last call has returned. If this call fails, destroy has run with ctx.
 *
 *  pressure  NULL: none
 *
 *  Errors: OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_set_pressure(
    LIBDL_NULLABLE libdl_memory_pressure pressure, void *ctx, void (*destroy)(void *ctx));

/** For tests of error handling: makes the n-th allocation from now fail with OUT_OF_MEMORY,
 *  counting tensor memory and the library's own objects alike.
 *
 *  n           0: the next one; negative: off
 *  persistent  whether all later ones fail too
 *
 *  Threads: exclusive (of everything else). */
LIBDL_API void libdl_memory_fail_after(int64_t n, libdl_bool persistent);

/** Counts the objects alive in the process: tensors (but no other kinds of handle), their storages,
 *  graph nodes, and the bytes that storages hold, including foreign memory but not the packed forms
 *  kept for kernels (libdl_memory_statistics::packed counts those). For leak tests. Each output may
 *  be NULL. Exact while no other thread allocates.
 *
 *  Threads: free. */
LIBDL_API void libdl_memory_get_live(LIBDL_NULLABLE int64_t *tensors,
                                     LIBDL_NULLABLE int64_t *storages,
                                     LIBDL_NULLABLE int64_t *nodes, LIBDL_NULLABLE int64_t *bytes);

/** Describes the tensors that are alive, if the environment says LIBDL_DEBUG_HANDLES=1: a line for
 *  those that one function made with one dtype and shape, "3 x relu: float32 [2, 3]". What results
 *  hold, such as values saved for backward, is among them.
 *
 *  Errors: NULL, STATE (the environment does not say so), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_describe_live(LIBDL_NEW libdl_text **out);

LIBDL_END

#endif
