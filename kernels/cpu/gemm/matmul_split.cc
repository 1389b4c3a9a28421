// SPDX-License-Identifier: Apache-2.0

// Products of float32 on the matrix unit (split_amx.h). A part of b that fits the caches is split
// first, for all threads; then every tile of the result splits 32 rows of a at a time.
#include <algorithm>

#include "hwy/cache_control.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/gemm/matrix_unit.h"
#include "kernels/cpu/gemm/split_row.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/cpu/traverse/workspaces.h"

namespace libdl::kernels::cpu {
namespace {

using split::kKBlock, split::kSide;

// The part of b that is split at once, and how the result's columns there are cut into tiles. By
// sizes alone, into enough tiles for all threads.
struct Cut {
  int64_t part_k, part_n;
  int64_t rows, cols, down;

  explicit Cut(const Shape& s) {
    constexpr int64_t kPartBytes = 6 << 20, kMostColumns = 2048, kEnough = 8;
    part_n = std::min(ceil(s.n, kSide) * kSide, kMostColumns);
    const int64_t most = std::max<int64_t>(1, kPartBytes / (part_n / kSide * split::kBlockBytes));
    part_k = std::min(most, split::blocks(s.k)) * kKBlock;
    // A tile's part of b stays in the L2 cache.
    rows = std::min<int64_t>(ceil(s.m, kSide) * kSide, 256), cols = std::min<int64_t>(part_n, 512);
    const auto count = [&] { return (down = ceil(s.m, rows)) * ceil(part_n, cols); };
    while (count() < kEnough && (rows > 2 * kSide || cols > 4 * kSide)) {
      // Each part of the columns splits its rows of a anew.
      const bool low = s.m >= 256 ? rows > 2 * kSide : cols <= 4 * kSide || 2 * cols < rows;
      int64_t& side = low ? rows : cols;
      side = ceil(side, 2 * kSide) * kSide;
    }
  }
  static int64_t ceil(int64_t a, int64_t b) { return (a + b - 1) / b; }
};

struct Memory {
  char* panels;
  split::Workspace* workspaces;
};

int64_t workspaces_of(const Cut& cut) {
  return std::min<int64_t>(Workspaces<split::Workspace>::kMost,
                           cut.down * Cut::ceil(cut.part_n, cut.cols));
}
Memory carve(const Cut& cut, BumpAllocator& allocator) {
  Memory r{};
  r.panels = static_cast<char*>(
      allocator.take(product(cut.part_n / kSide, split::blocks(cut.part_k)), split::kBlockBytes));
  r.workspaces =
      static_cast<split::Workspace*>(allocator.take(workspaces_of(cut), sizeof(split::Workspace)));
  return r;
}

split::Lines at(const View& m, int64_t batch, int line, int64_t first, int64_t k0) {
  const int k = 3 - line;
  const auto* const data = reinterpret_cast<const float*>(matrix(m, batch));
  return {data + first * m.strides[line] + k0 * m.strides[k], m.strides[line], m.strides[k]};
}

// Whether the result is larger than caches are, written once and in whole lines.
bool streams(const MatmulArgs& args) {
  constexpr int64_t kLarge = 16 << 20;
  const Shape s = shape_of(args);
  const int64_t row = args.out.strides[1] * static_cast<int64_t>(sizeof(float));
  return product(s.m, s.n, sizeof(float)) >= kLarge && s.k <= kKBlock && row % 64 == 0 &&
         reinterpret_cast<uintptr_t>(args.out.data) % 64 == 0 &&
         (s.batch == 1 || args.out.strides[0] % 16 == 0);
}

// One matrix of the batch.
class Product {
 public:
  Product(Context& context, const MatmulArgs& args, const Cut& cut, const Memory& workspaces,
          int64_t batch)
      : context_(context),
        a_(args),
        s_(shape_of(args)),
        cut_(cut),
        workspaces_(workspaces),
        batch_(batch),
        stream_(streams(args)) {}

  void run() {
    for (n0_ = 0; n0_ < s_.n; n0_ += cut_.part_n) {
      n1_ = std::min(n0_ + cut_.part_n, s_.n);
      for (k0_ = 0; k0_ < s_.k; k0_ += cut_.part_k) {
        k1_ = std::min(k0_ + cut_.part_k, s_.k);
        split_part();
        if (!context_.stopped) multiply_part();
        if (context_.stopped) return;
      }
    }
  }

 private:
  int64_t panel_bytes() const { return split::panel_bytes(k1_ - k0_); }

  void split_part() {
    for_chunks(context_, Cut::ceil(n1_ - n0_, kSide), [&](int64_t panel) {
      const int64_t j = n0_ + panel * kSide, columns = std::min(kSide, n1_ - j);
      split::Lines b = at(a_.b, batch_, 2, j, k0_);
      if (a_.packed_b != nullptr) {  // the same numbers, in the panels of gemm.h
        static_assert(kPanel<float> == kSide);
        const int64_t all = Cut::ceil(s_.n, kSide) * kSide * s_.k;
        const int64_t first = (a_.b.strides[0] == 0 ? 0 : batch_ * all) + j * s_.k + k0_ * kSide;
        b = {static_cast<const float*>(a_.packed_b) + first, 1, kSide};
      }
      split::pack_panel(workspaces_.panels + panel * panel_bytes(), b, columns, k1_ - k0_);
    });
  }

  void multiply_part() {
    const int64_t across = Cut::ceil(n1_ - n0_, cut_.cols);
    Workspaces<split::Workspace> free(workspaces_.workspaces, 1, workspaces_of(cut_));
    for_chunks(context_, cut_.down * across, [&](int64_t chunk) {
      const int64_t i = chunk / across * cut_.rows, j = n0_ + chunk % across * cut_.cols;
      free.with_one([&](split::Workspace* workspace) {
        tile(i, std::min(i + cut_.rows, s_.m), j, std::min(j + cut_.cols, n1_), workspace);
      });
    });
  }

  void tile(int64_t i0, int64_t i1, int64_t j0, int64_t j1, split::Workspace* workspace) {
    amx::begin();
    for (int64_t k0 = k0_; k0 < k1_; k0 += kKBlock)
      for (int64_t i = i0; i < i1; i += kSide)
        row_of_blocks(i, std::min(kSide, i1 - i), k0, j0, j1, workspace);
    amx::end();
    if (stream_) hwy::FlushStream();  // before other threads are told
  }

  void row_of_blocks(int64_t i, int64_t rows, int64_t k0, int64_t j0, int64_t j1,
                     split::Workspace* workspace) {
    const int64_t k = std::min(kKBlock, k1_ - k0);
    split::Row row{workspace->a, {}, rows, k, nullptr, panel_bytes(), 0, 0};
    row.range = split::pack_rows(workspace->a, at(a_.a, batch_, 1, i, k0), rows, k);
    row.b = workspaces_.panels + (j0 - n0_) / kSide * panel_bytes() +
            (k0 - k0_) / kKBlock * split::kBlockBytes;
    row.panels = Cut::ceil(j1 - j0, kSide), row.last_cols = (j1 - j0 - 1) % kSide + 1;
    float* to[kSide];
    const View& out = a_.out;
    for (int64_t r = 0; r < rows; ++r)
      to[r] = reinterpret_cast<float*>(const_cast<char*>(matrix(out, batch_))) +
              (i + r) * out.strides[1] + j0;
    const float beta = k0 == 0 ? static_cast<float>(a_.beta) : 1;
    const bool last = k0 + k == s_.k && a_.bias.data != nullptr;
    float bias[kSide];
    multiply_row(
        row,
        [&](int64_t n, const float* c) {
          float* at_column[kSide];
          for (int64_t r = 0; r < rows; ++r) at_column[r] = to[r] + n * kSide;
          const int64_t columns = std::min(kSide, j1 - j0 - n * kSide);
          split::Result result{at_column,
                               rows,
                               columns,
                               static_cast<float>(a_.alpha),
                               beta,
                               nullptr,
                               stream_ && beta == 0 && columns == kSide};
          if (last) result.bias = bias_at(bias, j0 + n * kSide, columns);
          split::finish(result, c);
        },
        [&](int64_t n) {
          const int64_t j = j0 + n * kSide;
          GemmTile<float> tile{};
          tile.a = operand(a_.a, batch_), tile.b = operand(a_.b, batch_);
          tile.a.data = at(a_.a, batch_, 1, 0, k0).data;
          tile.b.data = at(a_.b, batch_, 2, 0, k0).data;
          tile.out = reinterpret_cast<float*>(const_cast<char*>(matrix(out, batch_)));
          tile.out_stride = out.strides[1];
          if (last) tile.bias = static_cast<const float*>(a_.bias.data);
          if (last) tile.bias_stride = a_.bias.strides[0];
          tile.k = k, tile.i0 = i, tile.i1 = i + rows, tile.j0 = j;
          tile.j1 = std::min(j + kSide, j1);
          tile.alpha = static_cast<float>(a_.alpha), tile.beta = beta;
          gemm_tile(tile);
        });
  }

  const float* bias_at(float* workspace, int64_t j, int64_t count) const {
    const int64_t step = a_.bias.strides[0];
    const float* const from = static_cast<const float*>(a_.bias.data) + j * step;
    if (step == 1) return from;
    for (int64_t c = 0; c < count; ++c) workspace[c] = from[c * step];
    return workspace;
  }

  Context& context_;
  const MatmulArgs& a_;
  const Shape s_;
  const Cut& cut_;
  const Memory& workspaces_;
  const int64_t batch_;
  const bool stream_;
  int64_t n0_ = 0, n1_ = 0, k0_ = 0, k1_ = 0;
};

}  // namespace

bool split_serves(const MatmulArgs& args) {
  const Shape s = shape_of(args);
  if (!split_pays(s.batch, s.m, s.n, s.k) || args.out.strides[2] != 1) return false;
  // Of small results every tile would split its part of a long operand anew.
  if (std::max(s.m, s.n) <= 512 && has_long_sums<float>(s)) return false;
  const auto single = [](const View& v) {
    return v.data == nullptr || v.dtype == LIBDL_DTYPE_FLOAT32;
  };
  return single(args.a) && single(args.b) && single(args.out) && single(args.bias) &&
         splits_products();
}

void carve_split_product(const MatmulArgs& args, BumpAllocator& allocator) {
  carve(Cut(shape_of(args)), allocator);
}

void split_product(Context& context, const MatmulArgs& args, BumpAllocator allocator) {
  const Shape s = shape_of(args);
  const Cut cut(s);
  const Memory workspaces = carve(cut, allocator);
  for (int64_t b = 0; b < s.batch && !context.stopped; ++b)
    Product(context, args, cut, workspaces, b).run();
}

}  // namespace libdl::kernels::cpu
