// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/tiles/tiles.h"
#include "kernels/cpu/traverse/combine.h"
#include "kernels/cpu/traverse/indexed.h"

namespace libdl::kernels::cpu {

namespace {

// In blocks of a fixed length, which compilers turn into vectors, without a loop if it is unrolled
// first; base and values never overlap.
template <class Element, class Update>
void put_row(Element* __restrict out, const Element* __restrict in, int64_t count,
             const Update& update) {
  constexpr int64_t kBlock = 16;
  int64_t j = 0;
  for (; j + kBlock <= count; j += kBlock)
#pragma GCC unroll 16
    for (int64_t k = 0; k < kBlock; ++k) update(out[j + k], in[j + k]);
  for (; j < count; ++j) update(out[j], in[j]);
}

// What an element becomes, and neighbouring ones at once.
template <class Element>
struct Replaced {
  void operator()(Element& out, const Element& in) const { out = in; }
  void row(Element* out, const Element* in, int64_t count) const {
    constexpr int64_t kCalled = 256;  // bytes worth a call
    const int64_t bytes = count * static_cast<int64_t>(sizeof(Element));
    if (bytes < kCalled) return put_row(out, in, count, *this);
    std::memcpy(static_cast<void*>(out), in, static_cast<size_t>(bytes));
  }
};
template <class Element>
struct Accumulated {
  void operator()(Element& out, const Element& in) const { out = sum(out, in); }
  void row(Element* out, const Element* in, int64_t count) const { put_row(out, in, count, *this); }
};
// Of the 16-bit floats: rows by the vectors of add, which have the same bits. The baseline has
// none.
template <class Element>
struct AccumulatedShort : Accumulated<Element> {
  TileFn add;

  explicit AccumulatedShort(int32_t dtype)
      : add(short_tile(dtype, ShortForm::kPlain, static_cast<int32_t>(Expression::add))) {}
  void row(Element* out, const Element* in, int64_t count) const {
    if (add == nullptr) return put_row(out, in, count, *this);
    const void* const operands[kMaxInputs] = {out, in};
    add(operands, out, count);
  }
};

// One value everywhere.
template <class Element, class Update>
void put_same(Element* out, const Element* in, int64_t count, const Update& update) {
  constexpr int64_t kBlock = 16;
  const Element one = *in;
  int64_t j = 0;
  for (; j + kBlock <= count; j += kBlock)
#pragma GCC unroll 16
    for (int64_t k = 0; k < kBlock; ++k) update(out[j + k], one);
  for (; j < count; ++j) update(out[j], one);
}

// The same place may occur more than once, so the positions are always followed in order, and only
// the rest dimensions, which never overlap, are split among threads.
template <class Element, class Update>
void put(Context& context, const IndexArgs& args, const Update& update) {
  constexpr int64_t kNarrow = 64;      // elements of a row that are worth a chunk of their own,
  constexpr int64_t kWorth = 1 << 16;  // and of all rows
  const Indexed indexed(args);
  const Walk<2>& rest = indexed.rest();
  const int64_t row = indexed.rest_count();
  if (row == 0) return;
  Element* base = static_cast<Element*>(args.base.data);
  const Element* values = static_cast<const Element*>(args.values.data);

  if (row == 1) {
    const auto one = [=](int64_t to, int64_t from) { update(base[to], values[from]); };
    if (!indexed.run_line(0, indexed.count(), one)) indexed.run(0, indexed.count(), one);
    return;
  }
  const int64_t base_step = rest.inner(0), values_step = rest.inner(1);
  const int64_t grain =
      std::max({kNarrow, (row + 7) / 8, kWorth / std::max<int64_t>(1, indexed.count())});
  in_chunks(context, row, grain, [&](int64_t first, int64_t last) {
    if (rest.is_line() && base_step == 1 && values_step == 1) {
      indexed.run(0, indexed.count(), [=](int64_t to, int64_t from) {
        update.row(base + to + first, values + from + first, last - first);
      });
      return;
    }
    if (rest.is_line() && base_step == 1 && values_step == 0) {
      indexed.run(0, indexed.count(), [=](int64_t to, int64_t from) {
        put_same(base + to + first, values + from, last - first, update);
      });
      return;
    }
    indexed.run(0, indexed.count(), [&](int64_t to, int64_t from) {
      rest.run(first, last, [&](const auto& offset, int64_t count) {
        Element* out = base + to + offset[0];
        const Element* in = values + from + offset[1];
        if (base_step == 1 && values_step == 1) {
          update.row(out, in, count);
        } else {
          for (int64_t j = 0; j < count; ++j) update(out[j * base_step], in[j * values_step]);
        }
      });
    });
  });
}

}  // namespace

void index_put(Context& context, const IndexArgs& args) {
  if (args.accumulate) {
    with_element(args.base.dtype, [&]<class Element>(Element) {
      if constexpr (std::is_same_v<typename Element::Compute, float> && sizeof(Element) == 2) {
        put<Element>(context, args, AccumulatedShort<Element>(args.base.dtype));
      } else {
        put<Element>(context, args, Accumulated<Element>());
      }
    });
  } else {
    with_cell(args.base.dtype,
              [&]<class Element>(Element) { put<Element>(context, args, Replaced<Element>()); });
  }
}

}  // namespace libdl::kernels::cpu
