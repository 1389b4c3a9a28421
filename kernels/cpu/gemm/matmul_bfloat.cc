// SPDX-License-Identifier: Apache-2.0

// Products of bfloat16 on the matrix unit: b is packed as a whole, or was packed by an earlier
// call, and every chunk packs 32 rows of a at a time.

#include <algorithm>

#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/gemm/tiles_amx.h"
#include "kernels/cpu/traverse/load_store.h"

namespace libdl::kernels::cpu {
namespace {

using amx::blocks, amx::kSide, amx::kStep, amx::kStepBytes;

// Values of k per block, at most: 32 rows of a of this length fit the L1 cache.
constexpr int64_t kKBlock = 768;

// How the output is cut, by sizes alone: the part of b that a chunk reads, and its sums, stay in
// the L2 cache; there are enough chunks for all threads.
struct Cut {
  int64_t rows = 256, cols = 512, across, count;

  explicit Cut(const Shape& s) {
    rows = std::min(rows, std::max<int64_t>(1, blocks(s.m)) * kSide);
    cols = std::min(cols, std::max<int64_t>(1, blocks(s.n)) * kSide);
    constexpr double kLeast = 1 << 21;  // products, beside which the overhead of a chunk is small
    const double k = static_cast<double>(s.k);
    const auto half = [](int64_t side) { return (side / kSide + 1) / 2 * kSide; };
    for (recount(s); s.batch * count < 8; recount(s)) {
      if (static_cast<double>(rows * cols) * k < 2 * kLeast) break;
      int64_t& longer = rows >= cols ? rows : cols;
      if (longer == kSide) break;
      longer = half(longer);
    }
  }

 private:
  void recount(const Shape& s) {
    across = (s.n + cols - 1) / cols;
    count = (s.m + rows - 1) / rows * across;
  }
};

struct Workspace {
  char* packed;
  float* sums;  // blocks of 32 by 32, if k has more than one block
};

int64_t panels_size(int64_t n, int64_t k) {
  const int64_t bytes = product(blocks(n), blocks(k), kStepBytes);
  return bytes == INT64_MAX ? -1 : bytes;
}

Workspace workspace_of(const MatmulArgs& args, BumpAllocator& allocator) {
  const Shape s = shape_of(args);
  Workspace workspace{};
  if (args.packed_b == nullptr) {
    const int64_t matrices = args.b.strides[0] == 0 ? std::min<int64_t>(1, s.batch) : s.batch;
    workspace.packed = static_cast<char*>(allocator.take(matrices, panels_size(s.n, s.k)));
  }
  if (s.k > kKBlock) {
    const int64_t count = product(s.batch, blocks(s.m), blocks(s.n));
    workspace.sums = static_cast<float*>(allocator.take(count, kSide * kSide * sizeof(float)));
  }
  return workspace;
}

amx::Lines rows_of(const View& a, int64_t b) {
  return {reinterpret_cast<const uint16_t*>(matrix(a, b)), a.strides[1], a.strides[2]};
}
amx::Lines columns_of(const View& m, int64_t b) {
  return {reinterpret_cast<const uint16_t*>(matrix(m, b)), m.strides[2], m.strides[1]};
}

// One chunk of the output.
class Piece {
 public:
  Piece(const MatmulArgs& args, const Workspace& workspace, const char* packed, const Cut& cut,
        int64_t chunk)
      : args_(args), s_(shape_of(args)), batch_(chunk / cut.count), sums_(workspace.sums) {
    const int64_t t = chunk % cut.count;
    i0_ = t / cut.across * cut.rows, i1_ = std::min(i0_ + cut.rows, s_.m);
    j0_ = t % cut.across * cut.cols, j1_ = std::min(j0_ + cut.cols, s_.n);
    const int64_t at = args.b.strides[0] == 0 ? 0 : batch_;
    packed_ = packed + at * blocks(s_.n) * blocks(s_.k) * kStepBytes;
    rows_ = rows_of(args.a, batch_);
    // Rows that are whole pages apart map to one cache set: they are copied if they are read often.
    const bool apart = rows_.line_stride % 2048 != 0 || j1_ - j0_ <= 2 * kSide;
    in_place_ = rows_.k_stride == 1 && apart;
  }

  void run() {
    amx::begin();
    const int64_t parts = std::max<int64_t>(1, (s_.k + kKBlock - 1) / kKBlock);
    for (int64_t part = 0; part < parts; ++part) {  // of nearly equal length
      const int64_t k0 = blocks(s_.k) * part / parts * kStep;
      const int64_t k1 = std::min(s_.k, blocks(s_.k) * (part + 1) / parts * kStep);
      for (int64_t i = i0_; i < i1_; i += kSide) row_of_blocks(i, k0, k1);
    }
    amx::end();
  }

 private:
  void row_of_blocks(int64_t i, int64_t k0, int64_t k1) {
    alignas(64) char copy[kSide * kKBlock * sizeof(uint16_t)];
    alignas(64) float c[kSide * kSide];
    const int64_t k = k1 - k0;
    const bool last = k1 == s_.k;
    amx::Block block{};
    block.rows = std::min(kSide, s_.m - i);
    block.add = k0 > 0;
    block.count = blocks(k);
    const float* before = nullptr;
    // Rows of a: in place, with only an incomplete last step packed, or all of them packed.
    amx::Lines lines = rows_;
    lines.data += i * lines.line_stride + k0 * lines.k_stride;
    if (in_place_ && block.rows % 16 == 0) {
      block.a = reinterpret_cast<const char*>(lines.data);
      block.stride = lines.line_stride * 2, block.second = 16 * block.stride;
      block.step = kStep * 2;
      if (k % kStep != 0) {
        lines.data += k / kStep * kStep;
        amx::pack_rows(copy, lines, block.rows, k % kStep);
        block.last = copy;
        --block.count;
      }
    } else {
      amx::pack_rows(copy, lines, block.rows, k);
      block.a = copy;
      block.stride = 64, block.second = kStepBytes / 2, block.step = kStepBytes;
    }
    // Multiply; after the last k finish one block of out while the next is being computed.
    for (int64_t j = j0_; j < j1_; j += kSide) {
      block.b = packed_ + (j / kSide * blocks(s_.k) + k0 / kStep) * kStepBytes;
      block.cols = std::min(kSide, s_.n - j);
      block.c = sums_ == nullptr ? c : sums_of(i, j);
      amx::multiply(block);
      if (last && j > j0_) finish(i, j - kSide, before);
      amx::store(block);
      before = block.c;
    }
    if (last) finish(i, (j1_ - 1) / kSide * kSide, before);
  }

  float* sums_of(int64_t i, int64_t j) const {
    const int64_t at = (batch_ * blocks(s_.m) + i / kSide) * blocks(s_.n) + j / kSide;
    return sums_ + at * kSide * kSide;
  }

  void finish(int64_t i, int64_t j, const float* c) const {
    const View &out = args_.out, &bias = args_.bias;
    float added[kSide];
    amx::Result r{};
    r.out = reinterpret_cast<uint16_t*>(const_cast<char*>(matrix(out, batch_)));
    r.out += i * out.strides[1] + j * out.strides[2];
    r.row_stride = out.strides[1], r.col_stride = out.strides[2];
    r.rows = std::min(kSide, s_.m - i), r.cols = std::min(kSide, s_.n - j);
    r.alpha = static_cast<float>(args_.alpha), r.beta = static_cast<float>(args_.beta);
    if (bias.data != nullptr) {
      load_tile(added,
                static_cast<const char*>(bias.data) + j * bias.strides[0] * dtype_bytes(bias.dtype),
                bias.dtype, bias.strides[0], r.cols);
      std::fill(added + r.cols, added + kSide, 0.0f);
      r.bias = added;
    }
    amx::finish(r, c);
  }

  const MatmulArgs& args_;
  Shape s_;
  int64_t batch_, i0_, i1_, j0_, j1_;
  float* sums_;
  const char* packed_;
  amx::Lines rows_;
  bool in_place_;
};

}  // namespace

int64_t bfloat_panels_size(int64_t n, int64_t k) { return panels_size(n, k); }

void pack_bfloat_panels(Context& context, char* packed, const View& b) {
  const int64_t k = b.sizes[1], n = b.sizes[2], size = blocks(k) * kStepBytes;
  const int64_t matrices = b.strides[0] == 0 ? std::min<int64_t>(1, b.sizes[0]) : b.sizes[0];
  const int64_t each = std::clamp<int64_t>((1 << 16) / std::max<int64_t>(1, size), 1, 64);
  const int64_t groups = (blocks(n) + each - 1) / each;
  for_chunks(context, matrices * groups, [&](int64_t chunk) {
    const int64_t m = chunk / groups, first = chunk % groups * each;
    const int64_t last = std::min(first + each, blocks(n));
    const amx::Lines columns = columns_of(b, m);
    // A block of k at a time: rows of b are read along, across the panels.
    for (int64_t k0 = 0; k0 < k; k0 += kStep) {
      for (int64_t panel = first; panel < last; ++panel) {
        amx::Lines part = columns;
        part.data += panel * kSide * part.line_stride + k0 * part.k_stride;
        amx::pack_columns(packed + (m * blocks(n) + panel) * size + k0 / kStep * kStepBytes, part,
                          std::min(kSide, n - panel * kSide), std::min(kStep, k - k0));
      }
    }
  });
}

void allocate_bfloat_product(const MatmulArgs& args, BumpAllocator& allocator) {
  workspace_of(args, allocator);
}

void bfloat_product(Context& context, const MatmulArgs& args, BumpAllocator allocator) {
  const Workspace workspace = workspace_of(args, allocator);
  if (workspace.packed != nullptr) pack_bfloat_panels(context, workspace.packed, args.b);
  const char* packed =
      args.packed_b != nullptr ? static_cast<const char*>(args.packed_b) : workspace.packed;
  const Cut cut(shape_of(args));
  for_chunks(context, shape_of(args).batch * cut.count,
             [&](int64_t chunk) { Piece(args, workspace, packed, cut, chunk).run(); });
}

}  // namespace libdl::kernels::cpu
