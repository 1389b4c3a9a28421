// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/traverse/indexed.h"

namespace libdl::kernels::cpu {

namespace {

// Copies the elements [first, last) of the rest dimensions at one position.
template <class Element>
void copy_rest(const Walk<2>& rest, Element* values, const Element* base, int64_t first,
               int64_t last) {
  const int64_t in_step = rest.inner(0), out_step = rest.inner(1);
  rest.run(first, last, [&](const auto& offset, int64_t count) {
    const Element* in = base + offset[0];
    Element* out = values + offset[1];
    if (in_step == 1 && out_step == 1) {
      std::memcpy(out, in, static_cast<size_t>(count) * sizeof(Element));
    } else {
      for (int64_t j = 0; j < count; ++j) out[j * out_step] = in[j * in_step];
    }
  });
}

// Short rows without a call: 16 bytes at a time, the last 16 overlapping those before.
void copy_row(void* to, const void* from, size_t bytes) {
  constexpr size_t kStep = 16, kShort = 128;
  if (bytes < kStep || bytes > kShort) {
    std::memcpy(to, from, bytes);
    return;
  }
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  size_t at = 0;
  for (; at + kStep < bytes; at += kStep) std::memcpy(out + at, in + at, kStep);
  std::memcpy(out + bytes - kStep, in + bytes - kStep, kStep);
}

// Rows of a length known here: a few moves in line, without a loop.
template <size_t kBytes, class Element>
void copy_rows(const Indexed& indexed, Element* values, const Element* base, int64_t first,
               int64_t last) {
  indexed.run(first, last,
              [=](int64_t from, int64_t to) { std::memcpy(values + to, base + from, kBytes); });
}

// Rows of `row` contiguous elements: an embedding's.
template <class Element>
void copy_rows(const Indexed& indexed, Element* values, const Element* base, int64_t row,
               int64_t first, int64_t last) {
  const size_t bytes = static_cast<size_t>(row) * sizeof(Element);
  switch (bytes) {
    case 16: return copy_rows<16>(indexed, values, base, first, last);
    case 32: return copy_rows<32>(indexed, values, base, first, last);
    case 64: return copy_rows<64>(indexed, values, base, first, last);
    case 128: return copy_rows<128>(indexed, values, base, first, last);
    default:
      indexed.run(first, last,
                  [=](int64_t from, int64_t to) { copy_row(values + to, base + from, bytes); });
  }
}

}  // namespace

void index_get(Context& context, const IndexArgs& args) {
  constexpr int64_t kGrain = 1 << 14;
  const Indexed indexed(args);
  const Walk<2>& rest = indexed.rest();
  const int64_t row = indexed.rest_count();
  if (row == 0) return;

  with_cell(args.base.dtype, [&]<class Element>(Element) {
    const Element* base = static_cast<const Element*>(args.base.data);
    Element* values = static_cast<Element*>(args.values.data);
    const bool rows = rest.is_line() && rest.inner(0) == 1 && rest.inner(1) == 1;

    if (indexed.count() < 16 && row > kGrain) {  // few positions, much at each
      indexed.run(0, indexed.count(), [&](int64_t from, int64_t to) {
        in_chunks(context, row, kGrain, [&](int64_t first, int64_t last) {
          copy_rest(rest, values + to, base + from, first, last);
        });
      });
      return;
    }
    const int64_t grain = std::max<int64_t>(1, kGrain / row);
    in_chunks(context, indexed.count(), grain, [&](int64_t first, int64_t last) {
      if (row == 1) {
        const auto one = [=](int64_t from, int64_t to) { values[to] = base[from]; };
        if (!indexed.run_line(first, last, one)) indexed.run(first, last, one);
        return;
      }
      if (rows) return copy_rows(indexed, values, base, row, first, last);
      indexed.run(first, last, [&](int64_t from, int64_t to) {
        copy_rest(rest, values + to, base + from, 0, row);
      });
    });
  });
}

}  // namespace libdl::kernels::cpu
