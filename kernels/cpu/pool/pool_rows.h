// SPDX-License-Identifier: Apache-2.0

// Pooling along rows of pixels, for images whose channels are not adjacent. A row is read as its
// windows want it: with the padding, and sorted by phase, the position within a stride, so that
// adjacent windows read adjacent elements.
#pragma once

#include <numeric>

#include "kernels/cpu/pool/pool.h"
#include "kernels/cpu/traverse/workspaces.h"

namespace libdl::kernels::cpu {

constexpr int64_t kRowTaps = 128;           // positions of a window in a row, at most
constexpr int64_t kKeptRows = 128;          // rows of a window, at most
constexpr int64_t kRowWorkspace = 1 << 16;  // bytes of sorted rows
constexpr int64_t kRowWindows = 512;        // windows at once, at most
constexpr int64_t kVectorBytes = 64;        // of the longest vector

// Whether vectors of so many adjacent windows are worth their preparation, which is more where
// elements must be sorted.
inline bool fills_vectors(const PoolWindows& w, int64_t adjacent, int64_t enough) {
  constexpr int64_t kFew = 4;
  return adjacent >= (w.stride[2] == 1 ? kFew : enough);
}

// The same windows with a stride, if adaptive ones have one.
inline PoolWindows with_strides(const PoolWindows& w) {
  PoolWindows y = w;
  if (!w.adaptive) return y;
  for (int d = 0; d < 3; ++d) {
    if (w.in[d] % w.out[d] != 0) return w;
    y.window[d] = y.stride[d] = w.in[d] / w.out[d];
    y.padding[d] = 0, y.dilation[d] = 1;
  }
  y.adaptive = false;
  return y;
}

constexpr int64_t whole_vectors(int64_t n, int64_t lanes) {
  return (n + lanes - 1) / lanes * lanes;
}

// How many leading windows there are room for: as many as fit, from `most` down to `least` (else
// 0).
template <class F>
int64_t windows_that_fit(int64_t most, int64_t least, const F& bytes) {
  int64_t n = most;
  while (n > least && bytes(n) > kRowWorkspace) n = std::max(least, n / 2);
  return bytes(n) > kRowWorkspace ? 0 : n;
}

// The geometry of blocks of adjacent windows in a row, for elements of kBytes.
struct RowBlocks {
  int64_t block = 0;           // windows at once; 0: these windows do not go by rows
  int64_t apart;               // positions from a phase to the next
  int64_t phases;              // that are read
  int64_t length;              // elements of a phase in a block
  int64_t planes, rows, taps;  // of a window
  int64_t tap[kRowTaps];       // of the first window, in a sorted row

  RowBlocks(const PoolWindows& w, int64_t bytes) {
    if (w.adaptive) return;
    planes = w.window[0], rows = w.window[1], taps = w.window[2];
    if (taps > kRowTaps || planes > kKeptRows || rows > kKeptRows || planes * rows > kKeptRows)
      return;
    const int64_t stride = w.stride[2], dilation = w.dilation[2], last = (taps - 1) * dilation;
    if (stride > kRowWorkspace || last > kRowWorkspace) return;
    const int64_t lanes = kVectorBytes / bytes;
    apart = std::gcd(stride, dilation);
    phases = dilation == 1 ? std::min(stride, taps) : stride / apart;
    const auto length_of = [&](int64_t windows) {
      return whole_vectors(whole_vectors(windows, lanes) + last / stride, lanes);
    };
    block = windows_that_fit(
        std::min(w.out[2], kRowWindows), std::min(w.out[2], lanes), [&](int64_t windows) {
          return length_of(windows) * (planes * rows * phases + stride) * bytes;
        });
    if (block == 0) return;
    length = length_of(block);
    for (int64_t t = 0; t < taps; ++t)
      tap[t] = t * dilation % stride / apart * length + t * dilation / stride;
  }
  int64_t row_elements() const { return phases * length; }
  // How many elements the rows of a window and a row as it is read take together.
  int64_t elements(const PoolWindows& w) const {
    return planes * rows * row_elements() + w.stride[2] * length;
  }
};

// In which of `slots` numbers in a circle come that follow each other by `step`.
class RingBuffer {
 public:
  RingBuffer(int64_t first, int64_t step, int64_t slots) : slots_(slots) {
    if (slots > 1) at_ = (step == 1 ? first : first / step) % slots;
  }
  int64_t next() {
    const int64_t at = at_;
    if (++at_ == slots_) at_ = 0;
    return at;
  }

 private:
  int64_t slots_, at_ = 0;
};

// Rows [n, channel, i, j, :] of an image in blocks of `block` of their `width` places.
class RowBlockWalk {
 public:
  RowBlockWalk(const View& image, int64_t width, int64_t block)
      : c_(image.sizes[1]), d_(image.sizes[2]), h_(image.sizes[3]), width_(width), block_(block) {
    blocks_ = (width + block - 1) / block;
    count_ = image.sizes[0] * c_ * d_ * h_ * blocks_;
  }

  // f(n, channel, i, j, first place, places) for the blocks from begin to end; those of one part of
  // the rows follow each other.
  template <class F>
  void run(int64_t begin, int64_t end, F f) const {
    int64_t j = begin % h_, part = begin / h_ % blocks_, plane = begin / h_ / blocks_;
    int64_t i = plane % d_, c = plane / d_ % c_, n = plane / d_ / c_;
    for (int64_t at = begin; at < end; ++at) {
      f(n, c, i, j, part * block_, std::min(block_, width_ - part * block_));
      if (++j < h_) continue;
      j = 0;
      if (++part < blocks_) continue;
      part = 0;
      if (++i < d_) continue;
      i = 0;
      if (++c < c_) continue;
      c = 0, ++n;
    }
  }

  // make(workspace) on all threads, with a workspace of `elements`, then its result's (n, channel,
  // ...) as above. A place costs `each`.
  template <class T, class Make>
  void run_all(Context& context, int64_t each, int64_t elements, const Make& make) const {
    const int64_t cost = std::max<int64_t>(1, std::min(block_, width_) * each);
    const int64_t grain = std::max<int64_t>(1, 4 * kPoolGrain / cost);
    const int64_t workspaces = std::min<int64_t>(
        {(count_ + grain - 1) / grain, context.host->threads(), Workspaces<T>::kMost});
    const Scratch scratch(context, workspaces * elements * int64_t{sizeof(T)});
    if (scratch.failed()) return;
    Workspaces<T> free(static_cast<T*>(scratch.data()), elements, workspaces);
    in_chunks(context, count_, grain, [&](int64_t begin, int64_t end) {
      free.with_one([&](T* workspace) { run(begin, end, make(workspace)); });
    });
  }

 private:
  int64_t c_, d_, h_, width_, block_, blocks_, count_;
};

}  // namespace libdl::kernels::cpu
