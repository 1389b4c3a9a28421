// SPDX-License-Identifier: Apache-2.0

// Scalar functions applied to each element by the host, in doubles.
#pragma once

#include <algorithm>

#include "device/launch.h"
#include "device/meta.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "runtime/thread_pool.h"

namespace libdl {

// body(i) for each i below count, on the pool's threads.
template <class Body>
void each_index(int64_t count, const Body& body) {
  constexpr int64_t kGrain = 4096;
  struct Work {
    const Body& body;
    int64_t count;
  } work{body, count};
  const bool whole = parallel((count + kGrain - 1) / kGrain,
                              [](void* arg, int64_t first, int64_t last) {
                                const Work& w = *static_cast<const Work*>(arg);
                                const int64_t end = std::min(w.count, last * kGrain);
                                for (int64_t i = first * kGrain; i < end; ++i) w.body(i);
                              },
                              &work);
  if (!whole) device_detail::raise_interrupted();
}

// The elements in row-major order, in the host's memory; NULL on meta, where there are none.
inline const double* elements_of(Tensor& held, const Tensor& x) {
  if (is_meta(x.device())) return nullptr;
  held = plain(on_host(x), Dtype::kFloat64);
  return held.read_plain<double>();
}

}  // namespace libdl
