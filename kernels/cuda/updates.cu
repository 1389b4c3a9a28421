// SPDX-License-Identifier: Apache-2.0

// Updates in the order of their positions, done by many threads. For plain writes the last position
// of each target wins. Sums and extrema of integers do not depend on the order and use atomics. All
// else is sorted by target, and one thread handles all positions with the same target, in order.

#include <bit>

#include "kernels/cuda/combine.h"
#include "kernels/cuda/indexed.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/radix.h"

namespace libdl::kernels::cuda {

namespace {

struct Order {
  int64_t count, targets;
  int64_t* offset;
  const int64_t* target;
  int64_t* winner;  // [targets]
  void* pairs;      // [count], target and position
};

struct Update {
  void* base;
  const void* values;
  const int64_t* offset;
  const void* pairs;
  int64_t count, targets, step;  // of values from one position to the next
  int32_t dtype, op;
  Geometry<2> rest;  // base, values
};

}  // namespace

#ifdef LIBDL_KERNELS

// -- the last one wins --------------------------------------------------------------------------

LIBDL_KERNEL(update_winners, Order) {
  for (int64_t i = first_element(); i < p.count; i += all_threads())
    if (p.target[i] >= 0)
      atomicMax(reinterpret_cast<long long*>(&p.winner[p.target[i]]), static_cast<long long>(i));
}
LIBDL_KERNEL(update_losers, Order) {
  for (int64_t i = first_element(); i < p.count; i += all_threads())
    if (p.target[i] >= 0 && p.winner[p.target[i]] != i) p.offset[i] = kNowhere;
}

// Positions to skip come last.
template <class Pair>
LIBDL_DEVICE void make_pairs(const Order& p) {
  for (int64_t i = first_element(); i < p.count; i += all_threads()) {
    const int64_t target = p.target[i] < 0 ? p.targets : p.target[i];
    static_cast<Pair*>(p.pairs)[i] = Pair::of(static_cast<uint64_t>(target), i);
  }
}
LIBDL_KERNEL(update_pairs_short, Order) { make_pairs<ShortPair>(p); }
LIBDL_KERNEL(update_pairs_long, Order) { make_pairs<LongPair>(p); }

template <class Pair>
LIBDL_DEVICE void mark_losers(const Order& p) {
  const Pair* const pairs = static_cast<const Pair*>(p.pairs);
  for (int64_t i = first_element(); i + 1 < p.count; i += all_threads())
    if (pairs[i].key() == pairs[i + 1].key()) p.offset[pairs[i].at()] = kNowhere;
}
LIBDL_KERNEL(update_losers_short, Order) { mark_losers<ShortPair>(p); }
LIBDL_KERNEL(update_losers_long, Order) { mark_losers<LongPair>(p); }

// -- integers, in any order ---------------------------------------------------------------------

template <class T>
LIBDL_DEVICE void update_at(T* at, T value, int32_t op) {
  if (op == static_cast<int32_t>(ScatterOp::kAdd)) {
    using Bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
    atomicAdd(reinterpret_cast<Bits*>(at), static_cast<Bits>(value));
  } else {
    using Number =
        std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int, unsigned>,
                           std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>>;
    auto* const to = reinterpret_cast<Number*>(at);
    if (op == static_cast<int32_t>(ScatterOp::kMax))
      atomicMax(to, static_cast<Number>(value));
    else
      atomicMin(to, static_cast<Number>(value));
  }
}

template <class T>
LIBDL_DEVICE void update_in_no_order(const Update& p) {
  const int64_t row = p.rest.numel, total = p.count * row;
  for (int64_t i = first_element(); i < total; i += all_threads()) {
    const int64_t at = quotient_of(i, row, total), start = p.offset[at];
    if (start == kNowhere) continue;
    int64_t offset[2];
    offsets_of(p.rest, i - at * row, offset);
    update_at(static_cast<T*>(p.base) + start + offset[0],
              static_cast<const T*>(p.values)[at * p.step + offset[1]], p.op);
  }
}
LIBDL_KERNEL(update_i32, Update) { update_in_no_order<int32_t>(p); }
LIBDL_KERNEL(update_u32, Update) { update_in_no_order<uint32_t>(p); }
LIBDL_KERNEL(update_i64, Update) { update_in_no_order<int64_t>(p); }
LIBDL_KERNEL(update_u64, Update) { update_in_no_order<uint64_t>(p); }

// -- in order -----------------------------------------------------------------------------------

// All updates from sorted position j on that have the same target; values are fetched ahead.
template <class T, class Pair>
LIBDL_DEVICE void follow(const Update& p, int64_t j, const int64_t* offset) {
  constexpr int kAhead = 4;
  const Pair* const pairs = static_cast<const Pair*>(p.pairs);
  const T* const values = static_cast<const T*>(p.values) + offset[1];
  T* const to = static_cast<T*>(p.base) + p.offset[pairs[j].at()] + offset[0];
  const uint64_t target = pairs[j].key();
  T so_far = *to;
  for (; j + kAhead <= p.count && pairs[j + kAhead - 1].key() == target; j += kAhead) {
    T value[kAhead];
    LIBDL_UNROLL
    for (int k = 0; k < kAhead; ++k) value[k] = values[pairs[j + k].at() * p.step];
    LIBDL_UNROLL
    for (int k = 0; k < kAhead; ++k) so_far = combined(p.op, so_far, value[k]);
  }
  for (; j < p.count && pairs[j].key() == target; ++j)
    so_far = combined(p.op, so_far, values[pairs[j].at() * p.step]);
  *to = so_far;
}

template <class Pair>
LIBDL_DEVICE void update_in_order(const Update& p) {
  const Pair* const pairs = static_cast<const Pair*>(p.pairs);
  const int64_t row = p.rest.numel, total = p.count * row;
  for (int64_t i = first_element(); i < total; i += all_threads()) {
    const int64_t j = quotient_of(i, row, total);
    const uint64_t target = pairs[j].key();
    if (target == static_cast<uint64_t>(p.targets)) continue;
    if (j > 0 && pairs[j - 1].key() == target) continue;
    int64_t offset[2];
    offsets_of(p.rest, i - j * row, offset);
    with_type(p.dtype, [&](auto* type) {
      follow<std::remove_pointer_t<decltype(type)>, Pair>(p, j, offset);
    });
  }
}
LIBDL_KERNEL(update_short, Update) { update_in_order<ShortPair>(p); }
LIBDL_KERNEL(update_long, Update) { update_in_order<LongPair>(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

const char* unordered_kernel(int32_t dtype, ScatterOp op) {
  if (op == ScatterOp::kMul) return nullptr;
  switch (dtype) {
    case LIBDL_DTYPE_INT32: return "update_i32";
    case LIBDL_DTYPE_UINT32: return "update_u32";
    case LIBDL_DTYPE_INT64: return "update_i64";
    case LIBDL_DTYPE_UINT64: return "update_u64";
  }
  return nullptr;
}

// Targets and positions in the order of targets; of one target, of positions.
class Sorted {
 public:
  Sorted(Context& context, Order& order)
      : is_short_(order.targets <= UINT32_MAX && order.count <= UINT32_MAX),
        scratch_(context, 2 * order.count * pair_bytes(is_short_)) {
    if (!scratch_.data()) return;
    order.pairs = scratch_.data();
    launch(context, is_short_ ? "update_pairs_short" : "update_pairs_long",
           grid_for(context, order.count), order);
    void* const spare = static_cast<char*>(order.pairs) + order.count * pair_bytes(is_short_);
    order.pairs = radix_sort(context, is_short_, order.pairs, spare, 1, order.count,
                             std::bit_width(static_cast<uint64_t>(order.targets)));
  }
  bool is_short() const { return is_short_; }

 private:
  bool is_short_;
  Scratch scratch_;
};

// Leaves only the last position of each target.
void keep_last(Context& context, Order& order) {
  if (order.targets <= 4 * order.count + (1 << 16)) {
    const Scratch winners(context, 8 * order.targets);
    if (!winners.data()) return;
    order.winner = static_cast<int64_t*>(winners.data());
    static constexpr int64_t kOne = 1, kNone = -1;
    fill(context, {{order.winner, &order.targets, &kOne, 1, LIBDL_DTYPE_INT64}, &kNone});
    launch(context, "update_winners", grid_for(context, order.count), order);
    launch(context, "update_losers", grid_for(context, order.count), order);
    return;
  }
  const Sorted sorted(context, order);
  if (context.error) return;
  launch(context, sorted.is_short() ? "update_losers_short" : "update_losers_long",
         grid_for(context, order.count), order);
}

}  // namespace

void apply_updates(Context& context, const Updates& u) {
  const int leading = u.values.ndim - u.base.ndim;
  const WithoutGaps dense(context, u.values, !Split(u.values, leading).is_even);
  if (context.error) return;
  const Split values(dense.view(), leading);
  Order order{};
  order.count = u.positions.count;
  order.targets = u.positions.targets;
  order.offset = u.positions.offset;
  order.target = u.positions.target;
  // Plain writes: only the last position of each target counts.
  if (u.op == ScatterOp::kSet) {
    keep_last(context, order);
    Rows rows{};
    rows.base = u.base;
    rows.values = values.rest;
    rows.count = order.count;
    rows.values_step = values.step;
    rows.offset = order.offset;
    return put_rows(context, rows);
  }

  Update p{};
  p.offset = order.offset;
  p.count = order.count;
  p.targets = order.targets;
  p.step = values.step;
  p.dtype = u.base.dtype;
  p.op = static_cast<int32_t>(u.op);
  const auto each = [&](const char* name) {
    const View* const views[] = {&u.base, &values.rest};
    each_part(views, 2, p.rest, [&](void* const* data) {
      p.base = data[0];
      p.values = data[1];
      launch(context, name, grid_for(context, p.count * p.rest.numel), p);
    });
  };
  // Integers in any order.
  if (const char* const name = unordered_kernel(p.dtype, u.op)) return each(name);
  // All else sorted by target.
  const Sorted sorted(context, order);
  if (context.error) return;
  p.pairs = order.pairs;
  each(sorted.is_short() ? "update_short" : "update_long");
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
