// SPDX-License-Identifier: Apache-2.0

// Views and a launch context for tests that call CPU kernels directly.
#pragma once

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "kernels/args.h"
#include "tests/core/kernel_context.h"

namespace libdl::kernels::testing {

// Runs chunks on `threads` real threads, dealt in turn, so that a dependence on who runs what
// shows.
class Launch : public Context {
 public:
  explicit Launch(int64_t threads = 1)
      : Context(
            test::context_with([](Context& context, int64_t chunks, test::Body body, void* arg) {
              return static_cast<Launch&>(context).deal(chunks, body, arg);
            })),
        threads_(threads) {}

 private:
  bool deal(int64_t chunks, test::Body body, void* arg) const {
    std::vector<std::thread> crew;
    for (int64_t t = 0; t < threads_; ++t)
      crew.emplace_back([=, threads = threads_] {
        for (int64_t chunk = chunks - 1 - t; chunk >= 0; chunk -= threads)
          body(arg, chunk, chunk + 1);
      });
    for (std::thread& member : crew) member.join();
    return true;
  }
  const int64_t threads_;
};

// An array with a shape, and any strides over it.
template <class T>
struct Array {
  std::vector<int64_t> sizes, strides;
  std::vector<T> data;
  int32_t dtype;

  Array(int32_t dtype, std::vector<int64_t> shape, std::vector<T> values = {})
      : sizes(std::move(shape)), strides(sizes.size()), data(std::move(values)), dtype(dtype) {
    int64_t count = 1;
    for (size_t d = sizes.size(); d-- > 0;) {
      strides[d] = count;
      count *= sizes[d];
    }
    data.resize(static_cast<size_t>(count));
  }

  int64_t count() const {
    int64_t product = 1;
    for (int64_t size : sizes) product *= size;
    return product;
  }
  // The same values with the dimensions' order in memory reversed and gaps between elements.
  Array scattered() const {
    Array other = *this;
    int64_t step = 2;
    for (size_t d = 0; d < sizes.size(); ++d) {
      other.strides[d] = step;
      step *= sizes[d];
    }
    other.data.assign(static_cast<size_t>(step), T{});
    for (int64_t i = 0; i < count(); ++i) other[i] = (*this)[i];
    return other;
  }
  // The row-major i-th element.
  T& operator[](int64_t i) { return data[offset(i)]; }
  const T& operator[](int64_t i) const { return data[offset(i)]; }
  std::vector<T> list() const {
    std::vector<T> all;
    for (int64_t i = 0; i < count(); ++i) all.push_back((*this)[i]);
    return all;
  }
  View view() {
    return {data.data(), sizes.data(), strides.data(), static_cast<int32_t>(sizes.size()), dtype};
  }
  View view() const { return const_cast<Array*>(this)->view(); }

 private:
  size_t offset(int64_t i) const {
    int64_t sum = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      sum += i % sizes[d] * strides[d];
      i /= sizes[d];
    }
    return static_cast<size_t>(sum);
  }
};

}  // namespace libdl::kernels::testing
