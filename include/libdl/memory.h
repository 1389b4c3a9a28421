/* SPDX-License-Identifier: Apache-2.0 */

/** The memory that tensors live in. Freed memory is kept for the next tensor, because fresh pages
 *  cost more than most operators; these calls show it, limit it, and give it back.
 *
 *  A device that is NULL means the calling state's default device. */
#ifndef LIBDL_MEMORY_H
#define LIBDL_MEMORY_H

#include <libdl/abi.h>
#include <libdl/device.h>

/** What one device's memory is doing, in bytes and counts. Set struct_size to sizeof before the
 *  call; as much as fits is filled in. */
typedef struct libdl_memory_statistics {
  uint32_t struct_size;
  uint32_t reserved_for_later; /**< 0 */
  int64_t allocated;           /**< in the hands of tensors, rounded as blocks are */
  int64_t active;              /**< and what threads keep ready for small tensors */
  int64_t reserved;            /**< held from the system, driver or host, idle memory included */
  int64_t peak_allocated;      /**< since the start or libdl_memory_reset_peaks */
  int64_t peak_reserved;
  int64_t small_allocated; /**< the part of blocks up to 32 KB */
  int64_t small_reserved;
  int64_t allocations;   /**< blocks ever given out */
  int64_t frees;         /**< and given back */
  int64_t segments;      /**< address ranges */
  int64_t trims;         /**< times that idle memory went back */
  int64_t out_of_memory; /**< times that there was not enough */
  int64_t limit;         /**< bytes that may be reserved; 0 if unknown */
  int64_t packed;        /**< the part of `allocated` in second forms that tensors keep for kernels;
                              dropped first when memory runs out */
} libdl_memory_statistics;

/** One block of a snapshot. */
typedef struct libdl_memory_block {
  uint32_t struct_size; /**< as this version fills it */
  libdl_bool used;
  const void *segment; /**< the address range that the block is cut from */
  int64_t segment_bytes;
  int64_t segment_committed; /**< bytes of the segment with memory behind them */
  int64_t offset;            /**< from the segment's start */
  int64_t bytes;
  const void *stream; /**< the native stream that the segment belongs to, NULL for the default */
} libdl_memory_block;

/** A host's own source of memory on the CPU. Set struct_size to sizeof.
 *
 *  allocate    bytes aligned to `alignment` (a power of two), or NULL if there are none
 *  deallocate  gives back what allocate gave, with the same numbers
 *  destroy     runs once when nothing is held any more, or NULL
 *
 *  The functions are called from any thread, hold no lock of libdl, and are asked for whole
 *  segments of about 2 MB or more, not for each tensor. */
typedef struct libdl_allocator {
  uint32_t struct_size;
  void *ctx;
  void *(*allocate)(void *ctx, size_t bytes, size_t alignment);
  void (*deallocate)(void *ctx, void *data, size_t bytes, size_t alignment);
  void (*destroy)(void *ctx);
} libdl_allocator;

/** Called for each block of a snapshot; an error ends the walk and comes out of it. */
typedef libdl_error *(*libdl_memory_visitor)(void *ctx, const libdl_memory_block *block);

/** Called when memory runs out, before the request is tried once more: release what you can, on
 *  this thread. `bytes` are missing. A request that fails inside it is not asked about again. */
typedef void (*libdl_memory_pressure)(void *ctx, int64_t bytes);

LIBDL_BEGIN

/** Fills in what the device's memory is doing.
 *
 *  Errors: NULL (out), OPTION (struct_size too small), DEVICE, BACKEND.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_get_statistics(
    LIBDL_NULLABLE const libdl_device *device, libdl_memory_statistics *out);

/** Lets the peaks begin anew at the present values.
 *
 *  Errors: DEVICE, BACKEND.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_reset_peaks(
    LIBDL_NULLABLE const libdl_device *device);

/** Gives idle memory back to where it came from, except what other threads keep ready for their own
 *  small tensors.
 *
 *  out  the bytes that went
 *
 *  Errors: NULL (out), DEVICE, BACKEND.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_trim(LIBDL_NULLABLE const libdl_device *device,
                                                         int64_t *out);

/** Calls visit for every block, used or idle, segment by segment in the order of addresses. The
 *  blocks are those of one moment; visit may allocate and free. destroy runs once with ctx before
 *  the return, also on failure.
 *
 *  Errors: NULL (visit), DEVICE, BACKEND, OUT_OF_MEMORY, and what visit returned.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_visit(LIBDL_NULLABLE const libdl_device *device,
                                                          libdl_memory_visitor visit, void *ctx,
                                                          void (*destroy)(void *ctx));

/** Limits the host memory that libdl holds. What exceeds it is an OUT_OF_MEMORY error. Memory held
 *  already stays, idle memory goes at the next shortage.
 *
 *  bytes  0: automatic, 90 % of the smaller of the cgroup's limit and the available memory. At the
 *         start it is what the environment's LIBDL_MEMORY_LIMIT says ("512M", "4G").
 *
 *  Errors: VALUE (bytes negative).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_set_limit(int64_t bytes);

/** The limit in bytes, the automatic one as it is now. Threads: free. */
LIBDL_API int64_t libdl_memory_get_limit(void);

/** Takes host memory from the host program from now on. Blocks of the old source go back to it when
 *  they are freed; idle ones at once. The limit goes on holding.
 *
 *  allocator  copied; NULL: the system's memory again
 *
 *  If the call fails, allocator->destroy has run.
 *  Errors: NULL (a function is missing), OPTION (struct_size), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_set_allocator(
    LIBDL_NULLABLE const libdl_allocator *allocator);

/** Sets the callback for shortages in place of the present one, whose destroy then runs once its
 *  last call has returned. If the call fails, destroy has run with ctx.
 *
 *  pressure  NULL: nobody is asked
 *
 *  Errors: OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_memory_set_pressure(
    LIBDL_NULLABLE libdl_memory_pressure pressure, void *ctx, void (*destroy)(void *ctx));

/** For tests of error handling: lets the n-th allocation from now fail with OUT_OF_MEMORY, of
 *  tensor memory and of the library's own objects alike.
 *
 *  n           0: the next one; negative: switched off
 *  persistent  whether all later ones fail too
 *
 *  Threads: exclusive (of everything else). */
LIBDL_API void libdl_memory_fail_after(int64_t n, libdl_bool persistent);

/** Objects alive in the process: tensors (not numbers of other kinds of handle), their storages,
 *  nodes of histories, and the bytes that storages hold, foreign memory included, but not the
 *  second forms that are kept of them for kernels (libdl_memory_statistics::packed counts those).
 *  For tests that nothing is left. Each output may be NULL. Exact while nobody allocates.
 *
 *  Threads: free. */
LIBDL_API void libdl_memory_get_live(LIBDL_NULLABLE int64_t *tensors,
                                     LIBDL_NULLABLE int64_t *storages,
                                     LIBDL_NULLABLE int64_t *nodes, LIBDL_NULLABLE int64_t *bytes);

LIBDL_END

#endif
