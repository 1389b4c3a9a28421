/* SPDX-License-Identifier: Apache-2.0 */

/** Streams order a device's work, events mark points in it. The CPU has both: its work is done when
 *  a call returns, so its streams are always empty and its events are points in time.
 *
 *  Where device is NULL, the calling state's default device is meant. */
#ifndef LIBDL_STREAM_H
#define LIBDL_STREAM_H

#include <libdl/abi.h>
#include <libdl/device.h>

typedef struct libdl_stream libdl_stream;
typedef struct libdl_event libdl_event;

LIBDL_BEGIN

/** Makes a stream.
 *
 *  priority  lower numbers run first if the device supports priorities; usually 0
 *  out       new
 *
 *  Errors: NULL (out), DEVICE, BACKEND, OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_stream_new(LIBDL_NULLABLE const libdl_device *device,
                                                        int32_t priority,
                                                        LIBDL_NEW libdl_stream **out);

/** The device's default stream, as a handle of its own.
 *
 *  Errors: NULL (out), DEVICE, BACKEND, OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_stream_default(
    LIBDL_NULLABLE const libdl_device *device, LIBDL_NEW libdl_stream **out);

/** A handle for a stream that libdl does not own; its owner must keep it alive for longer than
 *  libdl uses it.
 *
 *  native  the device driver's own handle (CUDA: a CUstream); NULL: the default stream
 *
 *  Errors: NULL (out), DEVICE, BACKEND, OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_stream_wrap(LIBDL_NULLABLE const libdl_device *device,
                                                         LIBDL_NULLABLE void *native,
                                                         LIBDL_NEW libdl_stream **out);

/** The stream on which the calling state's operators run on the device.
 *
 *  Errors: NULL (out), DEVICE, BACKEND, OUT_OF_MEMORY.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_stream_current(
    LIBDL_NULLABLE const libdl_device *device, LIBDL_NEW libdl_stream **out);

/** Makes the calling state's operators on the stream's device run on this stream from now on.
 *
 *  Errors: NULL, KIND.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_stream_set_current(libdl_stream *stream);

/** Adds a reference and returns the same stream. NULL stays NULL. Threads: free. */
LIBDL_API LIBDL_NEW libdl_stream *libdl_stream_retain(libdl_stream *stream);

/** Releases one reference; NULL is allowed. Threads: free. */
LIBDL_API void libdl_stream_release(libdl_stream *stream);

/** The stream's device. Errors: NULL, KIND. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_stream_get_device(const libdl_stream *stream,
                                                               libdl_device *out);

/** The driver's handle, NULL for the default stream. Errors: NULL, KIND. Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_stream_get_native(const libdl_stream *stream,
                                                               LIBDL_BORROWED void **out);

/** Whether all work queued so far is done.
 *
 *  Errors: NULL, KIND, and those of the work itself.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_stream_query(const libdl_stream *stream,
                                                          libdl_bool *out);

/** Waits until all work queued so far is done.
 *
 *  Errors: NULL, KIND, and those of the work itself.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_stream_synchronize(const libdl_stream *stream);

/** Makes the stream's later work wait for the event as it was last recorded. An event that was
 *  never recorded causes no wait.
 *
 *  Errors: NULL, KIND, DEVICE (of different kinds), BACKEND.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_stream_wait(const libdl_stream *stream,
                                                         const libdl_event *event);

/** Makes an event.
 *
 *  timing  whether it also records the time, for libdl_event_elapsed
 *  out     new, not recorded
 *
 *  Errors: NULL (out), DEVICE, BACKEND, OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_event_new(LIBDL_NULLABLE const libdl_device *device,
                                                       libdl_bool timing,
                                                       LIBDL_NEW libdl_event **out);

/** Adds a reference and returns the same event. NULL stays NULL. Threads: free. */
LIBDL_API LIBDL_NEW libdl_event *libdl_event_retain(libdl_event *event);

/** Releases one reference; NULL is allowed. Threads: free. */
LIBDL_API void libdl_event_release(libdl_event *event);

/** Marks the current end of the stream's work; an earlier mark is forgotten.
 *
 *  Errors: NULL, KIND, DEVICE (event and stream of different devices), BACKEND.
 *  Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_event_record(libdl_event *event,
                                                          const libdl_stream *stream);

/** Whether the work before the mark is done; true for an event that was never recorded.
 *
 *  Errors: NULL, KIND, and those of the work itself.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_event_query(const libdl_event *event, libdl_bool *out);

/** Waits until the work before the mark is done.
 *
 *  Errors: NULL, KIND, and those of the work itself.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_event_synchronize(const libdl_event *event);

/** Milliseconds from the first mark to the second.
 *
 *  Errors: NULL, KIND, DEVICE (of different devices), STATE (made without timing, not recorded, or
 *  not done).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_event_elapsed(const libdl_event *first,
                                                           const libdl_event *second, double *out);

LIBDL_END

#endif
