// SPDX-License-Identifier: Apache-2.0

// Norms and clipping of many tensors at once. Each thread block takes a part of one tensor; of a
// norm it leaves a number, and the last block combines these.

#include <algorithm>
#include <cmath>

#include "kernels/cuda/device.h"
#include "kernels/cuda/last_block.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/tensor_table.h"
#include "kernels/cuda/warp.h"

#ifdef LIBDL_KERNELS
#include "kernels/cuda/math.h"
#endif

namespace libdl::kernels::cuda {

namespace {

constexpr int64_t kPart = 8192;  // elements of a thread block

struct Listed {
  void* data;
  int64_t numel;
  int32_t dtype, blocks_before;
};
constexpr size_t kBesides = 64;  // bytes of what follows, at most, without its table
template <size_t kBytes>
struct ListNorm {
  double order;
  double* parts;     // one a block, of all launches
  int64_t first;     // the part of this launch's first block
  unsigned* of_all;  // the stream's arrival counter
  double* total;
  void* out;
  int32_t out_dtype;
  int32_t finishes;  // the list ends with this launch
  TensorTable<Listed, entries_that_fit<Listed>(kBytes, kBesides)> table;
};
template <size_t kBytes>
struct ListClip {
  double limit;
  const void* total;  // NULL: there is none
  int32_t total_dtype;
  TensorTable<Listed, entries_that_fit<Listed>(kBytes, kBesides)> table;
};
static_assert(sizeof(ListNorm<kShortParams>) <= kShortParams);
static_assert(sizeof(ListClip<kShortParams>) <= kShortParams);
static_assert(sizeof(ListNorm<kLongParams>) <= kLongParams);
static_assert(sizeof(ListClip<kLongParams>) <= kLongParams);

}  // namespace

#ifdef LIBDL_KERNELS

// What |x| adds to the norm, and how two such numbers are joined: sums, or extrema in which a NaN
// wins.
struct Norm1 {
  static LIBDL_DEVICE double of(double x, double) { return ::fabs(x); }
  static LIBDL_DEVICE double join(double a, double x) { return a + x; }
};
struct Norm2 {
  static LIBDL_DEVICE double of(double x, double) { return x * x; }
  static LIBDL_DEVICE double join(double a, double x) { return a + x; }
};
struct NormOfOrder {
  static LIBDL_DEVICE double of(double x, double order) { return ::pow(::fabs(x), order); }
  static LIBDL_DEVICE double join(double a, double x) { return a + x; }
};
struct NormMax {
  static LIBDL_DEVICE double of(double x, double) { return ::fabs(x); }
  static LIBDL_DEVICE double join(double a, double x) { return x > a || x != x ? x : a; }
};

template <class N>
LIBDL_DEVICE double over_block(double x) {
  return joined_over_block(x, [](double a, double b) { return N::join(a, b); });
}

// Calls four(i) for each group of four elements that is this thread's, and one(i) for the others.
template <class E, class F, class G>
LIBDL_DEVICE void each_of_portion(const void* data, const Portion& at, F&& four, G&& one) {
  const int64_t fours = is_aligned_to(data, sizeof(Four<E>)) ? (at.end - at.first) / 4 : 0;
  for (int64_t k = threadIdx.x; k < fours; k += blockDim.x) four(at.first + 4 * k);
  for (int64_t i = at.first + 4 * fours + threadIdx.x; i < at.end; i += blockDim.x) one(i);
}

// What the block's elements add, for its first thread.
template <class N, class Params>
LIBDL_DEVICE double norm_of_part(const Params& p) {
  const Portion at = portion_of_block<kPart>(p.table);
  const Listed& tensor = p.table.entry[at.at];
  double sum = 0;
  with_floating(tensor.dtype, [&](auto* type) {
    using E = std::remove_pointer_t<decltype(type)>;
    const E* const x = static_cast<const E*>(tensor.data);
    const auto take = [&](E value) {
      sum = N::join(sum, N::of(static_cast<double>(value_of<ComputedIn<E>>(value)), p.order));
    };
    each_of_portion<E>(
        x, at,
        [&](int64_t i) {
          const Four<E> values = *reinterpret_cast<const Four<E>*>(x + i);
          LIBDL_UNROLL
          for (int k = 0; k < 4; ++k) take(values.of[k]);
        },
        [&](int64_t i) { take(x[i]); });
  });
  return over_block<N>(sum);
}

// A list without elements is one block without a tensor.
template <class N, class Params>
LIBDL_DEVICE void norm_of_list(const Params& p) {
  const double part = p.table.tensors ? norm_of_part<N>(p) : 0;
  if (threadIdx.x == 0) p.parts[p.first + blockIdx.x] = part;
  if (!p.finishes || !is_last_block(p.of_all)) return;
  const int64_t count = p.first + gridDim.x;
  double sum = 0;
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) sum = N::join(sum, p.parts[i]);
  sum = over_block<N>(sum);
  if (threadIdx.x != 0) return;
  if constexpr (std::is_same_v<N, Norm2>) sum = ::sqrt(sum);
  if constexpr (std::is_same_v<N, NormOfOrder>) sum = ::pow(sum, 1 / p.order);
  *p.total = sum;
  store_called(p.out, 0, p.out_dtype, sum);
}

// x = f(x) for the block's elements; f takes and returns what is computed with.
template <class E, class F>
LIBDL_DEVICE void change(void* data, const Portion& at, const F& f) {
  E* const x = static_cast<E*>(data);
  const auto changed = [&](E value) { return element_of<E>(f(value_of<ComputedIn<E>>(value))); };
  each_of_portion<E>(
      x, at,
      [&](int64_t i) {
        auto& four = *reinterpret_cast<Four<E>*>(x + i);
        Four<E> values = four;
        LIBDL_UNROLL
        for (int k = 0; k < 4; ++k) values.of[k] = changed(values.of[k]);
        four = values;
      },
      [&](int64_t i) { x[i] = changed(x[i]); });
}

template <class Params>
LIBDL_DEVICE void clip_by_norm(const Params& p) {
  const double factor = p.limit / (load_called<double>(p.total, 0, p.total_dtype) + 1e-6);
  if (factor >= 1) return;
  const Portion at = portion_of_block<kPart>(p.table);
  const Listed& tensor = p.table.entry[at.at];
  with_floating(tensor.dtype, [&](auto* type) {
    using E = std::remove_pointer_t<decltype(type)>;
    const auto by = static_cast<ComputedIn<E>>(factor);
    change<E>(tensor.data, at, [by](auto x) { return x * by; });
  });
}

template <class Params>
LIBDL_DEVICE void clip_each(const Params& p) {
  const Portion at = portion_of_block<kPart>(p.table);
  const Listed& tensor = p.table.entry[at.at];
  with_floating(tensor.dtype, [&](auto* type) {
    using E = std::remove_pointer_t<decltype(type)>;
    const auto high = static_cast<ComputedIn<E>>(p.limit), low = -high;
    change<E>(tensor.data, at, [=](auto x) { return x < low ? low : x > high ? high : x; });
  });
}

#define LIST_NORM(suffix, N)                                                             \
  LIBDL_BLOCK_KERNEL(list_norm_##suffix, ListNorm<kShortParams>) { norm_of_list<N>(p); } \
  LIBDL_BLOCK_KERNEL(list_norm_##suffix##_long, ListNorm<kLongParams>) { norm_of_list<N>(p); }
LIST_NORM(1, Norm1)
LIST_NORM(2, Norm2)
LIST_NORM(max, NormMax)
LIST_NORM(of_order, NormOfOrder)

LIBDL_KERNEL(list_clip_norm, ListClip<kShortParams>) { clip_by_norm(p); }
LIBDL_KERNEL(list_clip_norm_long, ListClip<kLongParams>) { clip_by_norm(p); }
LIBDL_KERNEL(list_clip_each, ListClip<kShortParams>) { clip_each(p); }
LIBDL_KERNEL(list_clip_each_long, ListClip<kLongParams>) { clip_each(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

// Short params if a short table has room for the list, else long ones: queue(params).
template <template <size_t> class Params, class Queue>
void with_params(const TensorList& list, Queue&& queue) {
  constexpr int kFew = entries_that_fit<Listed>(kShortParams, kBesides);
  if (list.count <= kFew) {
    Params<kShortParams> params{};
    queue(params, false);
  } else {
    Params<kLongParams> params{};
    queue(params, true);
  }
}

template <class Params, class Send>
void send_list(const TensorList& list, Params& params, Send&& send) {
  Filling<kPart, Params, Send> filling(params, send);
  for (int32_t t = 0; t < list.count; ++t)
    if (list.numel[t] > 0) filling.add(Listed{list.data[t], list.numel[t], list.dtype[t], 0});
  filling.flush();
}

int64_t parts_of(const TensorList& list) {
  int64_t parts = 0;
  for (int32_t t = 0; t < list.count; ++t) parts += (list.numel[t] + kPart - 1) / kPart;
  return parts;
}

struct NormNames {
  const char *few, *many;
};
#define NAMES(suffix) {"list_norm_" suffix, "list_norm_" suffix "_long"}
NormNames names_of(double order) {
  if (order == 1) return NAMES("1");
  if (order == 2) return NAMES("2");
  if (order == INFINITY) return NAMES("max");
  return NAMES("of_order");
}

}  // namespace

void list_norm(Context& context, const ListNormArgs& a) {
  int64_t elements = 0;
  for (int32_t t = 0; t < a.list.count; ++t) elements += a.list.numel[t];
  const int64_t count = std::max<int64_t>(1, parts_of(a.list));
  const Scratch scratch(context, count * int64_t{sizeof(double)});
  if (scratch.failed()) return;
  unsigned* const of_all = arrival_counter(context);
  // One element's norm is its magnitude: its power might overflow.
  const NormNames names = names_of(elements == 1 ? 1 : a.order);
  with_params<ListNorm>(a.list, [&](auto& params, bool many) {
    params.order = a.order;
    params.parts = static_cast<double*>(scratch.data());
    params.of_all = of_all;
    params.total = static_cast<double*>(a.total.data);
    params.out = a.out.data;
    params.out_dtype = a.out.dtype;
    const auto send = [&](auto& filled, int64_t blocks) {
      filled.finishes = filled.first + blocks == count;
      launch(context, many ? names.many : names.few, {blocks, kThreads, 1}, filled);
      filled.first += blocks;
    };
    if (elements == 0) return send(params, 1);
    send_list(a.list, params, send);
  });
}

void list_clip(Context& context, const ListClipArgs& a) {
  const bool by_norm = a.total.data != nullptr;
  with_params<ListClip>(a.list, [&](auto& params, bool many) {
    params.limit = a.limit;
    params.total = a.total.data;
    params.total_dtype = a.total.dtype;
    const char* const few = by_norm ? "list_clip_norm" : "list_clip_each";
    const char* const long_one = by_norm ? "list_clip_norm_long" : "list_clip_each_long";
    send_list(a.list, params, [&](auto& filled, int64_t blocks) {
      launch(context, many ? long_one : few, {blocks, kThreads, 1}, filled);
    });
  });
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
