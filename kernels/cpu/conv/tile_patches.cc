// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/conv/tile_patches.h"

#include <algorithm>

#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/gemm/tiles_amx.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/traverse/load_store.h"

namespace libdl::kernels::cpu {
namespace {

using amx::kSide, amx::kStep, amx::kStepBytes, amx::steps;

int64_t blocks(int64_t n) { return ceil_div(n, kSide); }

Patches<uint16_t> bits_of(const Patches<Bfloat>& p) {
  Patches<uint16_t> b{};
  b.data = reinterpret_cast<const uint16_t*>(p.data), b.channels = p.channels;
  std::copy_n(p.strides, 4, b.strides);
  for (int d = 0; d < 3; ++d) {
    b.sizes[d] = p.sizes[d], b.step[d] = p.step[d], b.start[d] = p.start[d];
    b.taps[d] = p.taps[d], b.dilation[d] = p.dilation[d];
  }
  b.lattice = p.lattice;
  return b;
}

// Sums of a block, rounded into rows that lie anywhere.
void finish_block(const float* sums, Bfloat* const* rows, int64_t count, int64_t columns,
                  const float* bias) {
  const bool even =
      count < 2 || std::all_of(
                       rows + 1, rows + count,
                       [&](Bfloat* const& row) { return row - (&row)[-1] == rows[1] - rows[0]; });
  amx::Result r{};
  r.col_stride = 1, r.alpha = 1, r.bias = bias, r.cols = columns;
  if (even) {
    r.out = reinterpret_cast<uint16_t*>(rows[0]);
    r.row_stride = count > 1 ? rows[1] - rows[0] : 0, r.rows = count;
    return amx::finish(r, sums);
  }
  r.rows = 1;
  for (int64_t i = 0; i < count; ++i) {
    r.out = reinterpret_cast<uint16_t*>(rows[i]);
    amx::finish(r, sums + i * kSide);
  }
}

// -- weights --------------------------------------------------------------------------------------

// One panel of the matrix [(tap, row), column] of weights.
class Panel {
 public:
  Panel(const Taps<Bfloat>& taps, int64_t panel)
      : t_(taps),
        from_(reinterpret_cast<const uint16_t*>(taps.weights) + panel * kSide * taps.col_stride),
        columns_(std::min(kSide, taps.columns - panel * kSide)) {}

  void pack(char* to) const {
    if (is_one_line()) {
      amx::pack_columns(to, {from_, t_.col_stride, t_.row_stride}, columns_, t_.all_rows());
    } else if (t_.rows % kStep == 0) {
      by_taps(to);
    } else {
      across_taps(to);
    }
  }

 private:
  // Whether k goes through memory in steps of one length.
  bool is_one_line() const {
    int64_t next = t_.row_stride * t_.rows;
    for (int d = 2; d >= 0; --d) {
      if (t_.counts[d] > 1 && t_.strides[d] != next) return false;
      next *= t_.counts[d];
    }
    return true;
  }
  const uint16_t* tap(int64_t n) const {
    const int64_t k = n % t_.counts[2], j = n / t_.counts[2] % t_.counts[1];
    const int64_t i = n / t_.counts[2] / t_.counts[1];
    return from_ + i * t_.strides[0] + j * t_.strides[1] + k * t_.strides[2];
  }
  void by_taps(char* to) const {
    const int64_t count = t_.all_rows() / t_.rows;
    for (int64_t n = 0; n < count; ++n, to += t_.rows / kStep * kStepBytes)
      amx::pack_columns(to, {tap(n), t_.col_stride, t_.row_stride}, columns_, t_.rows);
  }
  // Steps that more than one tap shares.
  void across_taps(char* to) const {
    uint16_t lines[kSide][kStep];
    const int64_t all = t_.all_rows();
    for (int64_t k0 = 0; k0 < all; k0 += kStep, to += kStepBytes) {
      const int64_t here = std::min(kStep, all - k0);
      int64_t n = k0 / t_.rows, row = k0 % t_.rows;
      const uint16_t* from = tap(n) + row * t_.row_stride;
      for (int64_t k = 0; k < here; ++k) {
        for (int64_t c = 0; c < columns_; ++c) lines[c][k] = from[c * t_.col_stride];
        from += t_.row_stride;
        if (++row == t_.rows && k + 1 < here) row = 0, from = tap(++n);
      }
      amx::pack_columns(to, {lines[0], kStep, 1}, columns_, here);
    }
  }

  const Taps<Bfloat>& t_;
  const uint16_t* from_;
  int64_t columns_;
};

// -- patches times weights ------------------------------------------------------------------------

// A chunk of the result: the part of the weights that it multiplies with at a time, and its sums,
// stay in the L2 cache. Cut by sizes alone, into enough chunks for all threads.
struct Cut {
  static constexpr int64_t kRows = 256, kColumns = 256, kEnough = 8;
  int64_t rows, columns, down, across;

  Cut(int64_t all_rows, int64_t all_columns)
      : rows(std::min(kRows, blocks(all_rows) * kSide)),
        columns(std::min(kColumns, blocks(all_columns) * kSide)) {
    for (count(all_rows, all_columns); down * across < kEnough; count(all_rows, all_columns)) {
      int64_t& longer = rows >= columns ? rows : columns;
      if (longer == kSide) break;
      longer = ceil_div(longer / kSide, 2) * kSide;
    }
  }

 private:
  void count(int64_t all_rows, int64_t all_columns) {
    down = ceil_div(all_rows, rows), across = ceil_div(all_columns, columns);
  }
};

// Blocks of the result, if k has more than one part: their sums so far.
int64_t sum_count(int64_t rows, int64_t columns, int64_t k) {
  return k > kPatchRowBlock ? product(blocks(rows), blocks(columns), kSide * kSide) : 0;
}

class Chunk {
 public:
  Chunk(const PatchesTimesMatrix<Bfloat>& p, const char* packed, float* sums, int64_t i0,
        int64_t i1, int64_t j0, int64_t j1)
      : p_(p), bits_(bits_of(p.a)), packed_(packed), sums_(sums), k_(p.a.columns()) {
    i0_ = i0, i1_ = i1, j0_ = j0, j1_ = j1;
  }

  void run() {
    amx::begin();
    const int64_t parts = ceil_div(k_, kPatchRowBlock);
    for (int64_t part = 0; part < parts; ++part) {  // of nearly equal length
      const int64_t k0 = steps(k_) * part / parts * kStep;
      const int64_t k1 = std::min(k_, steps(k_) * (part + 1) / parts * kStep);
      for (int64_t i = i0_; i < i1_; i += kSide) row_of_blocks(i, k0, k1);
    }
    amx::end();
  }

 private:
  void row_of_blocks(int64_t i, int64_t k0, int64_t k1) {
    amx::Block block{};
    block.rows = std::min(kSide, i1_ - i);
    gather_rows(rows_, bits_, i, block.rows, k0, k1);
    complete(block.rows, k1 - k0);
    block.a = reinterpret_cast<const char*>(rows_);
    block.stride = kPatchRowStride * 2, block.second = 16 * block.stride, block.step = kStep * 2;
    block.count = steps(k1 - k0);
    block.add = k0 > 0;
    const bool last = k1 == k_;
    if (last) place(i, block.rows);
    alignas(64) float c[kSide * kSide];
    const float* before = nullptr;
    for (int64_t j = j0_; j < j1_;
         j += kSide) {  // one block is finished while the next is computed
      block.b = packed_ + (j / kSide * steps(k_) + k0 / kStep) * kStepBytes;
      block.cols = std::min(kSide, j1_ - j);
      block.c = sums_ == nullptr ? c : sums_of(i, j);
      amx::multiply(block);
      if (last && j > j0_) finish(before, j - kSide, block.rows);
      amx::store(block);
      before = block.c;
    }
    if (last) finish(before, (j1_ - 1) / kSide * kSide, block.rows);
  }

  float* sums_of(int64_t i, int64_t j) const {
    return sums_ + (i / kSide * blocks(p_.j1) + j / kSide) * kSide * kSide;
  }

  // Zeros behind an incomplete step, and rows that a tile has and the result has not.
  void complete(int64_t rows, int64_t k) {
    const int64_t end = steps(k) * kStep;
    for (int64_t r = 0; r < rows; ++r)
      std::fill(rows_ + r * kPatchRowStride + k, rows_ + r * kPatchRowStride + end, uint16_t{0});
    for (int64_t r = rows; r % 16 != 0; ++r)
      std::fill_n(rows_ + r * kPatchRowStride, end, uint16_t{0});
  }

  // Where the rows of the result lie.
  void place(int64_t i, int64_t rows) {
    const Lattice& lattice = p_.a.lattice;
    Pixel pixel(lattice, i);
    for (int64_t r = 0; r < rows; ++r, pixel.advance(lattice)) {
      at_[r] = p_.out + pixel.image * p_.out_strides[0];
      for (int d = 0; d < 3; ++d) at_[r] += pixel.at[d] * p_.out_strides[d + 1];
    }
  }

  void finish(const float* sums, int64_t j, int64_t rows) const {
    const int64_t columns = std::min(kSide, j1_ - j);
    alignas(64) float bias[kSide] = {};
    if (p_.bias != nullptr)
      load_tile(bias, reinterpret_cast<const char*>(p_.bias + j), kStoredDtype<Bfloat>, 1, columns);
    Bfloat* to[kSide];
    for (int64_t r = 0; r < rows; ++r) to[r] = at_[r] + j;
    finish_block(sums, to, rows, columns, p_.bias != nullptr ? bias : nullptr);
  }

  const PatchesTimesMatrix<Bfloat>& p_;
  const Patches<uint16_t> bits_;
  const char* packed_;
  float* sums_;  // blocks of 32 by 32, or NULL
  int64_t k_, i0_, i1_, j0_, j1_;
  Bfloat* at_[kSide];
  alignas(64) uint16_t rows_[kSide * kPatchRowStride];
};

// Whether the patches are the pixels themselves, in equal steps through memory.
bool is_matrix(const Patches<Bfloat>& p, const int64_t* out_strides) {
  int64_t in = p.strides[3], out = out_strides[3];
  for (int d = 2; d >= 0; --d) {
    if (p.taps[d] != 1 || p.step[d] != 1 || p.start[d] != 0) return false;
    if (p.lattice.sizes[d] != p.sizes[d]) return false;
    in *= p.sizes[d], out *= p.sizes[d];
    if (p.strides[d] != in || out_strides[d] != out) return false;
  }
  return true;
}

void multiply_pixels(Context& context, const PatchesTimesMatrix<Bfloat>& p,
                     const Taps<Bfloat>& taps) {
  const int32_t dtype = kStoredDtype<Bfloat>;
  const int64_t rows = p.i1, columns = taps.columns, k = taps.rows;
  const int64_t a_sizes[] = {1, rows, k}, a_strides[] = {0, p.a.strides[3], 1};
  const int64_t b_sizes[] = {1, k, columns}, b_strides[] = {0, taps.row_stride, taps.col_stride};
  const int64_t out_sizes[] = {1, rows, columns}, out_strides[] = {0, p.out_strides[3], 1};
  const int64_t bias_strides[] = {1};
  MatmulArgs m{};
  m.out = {p.out, out_sizes, out_strides, 3, dtype};
  m.a = {const_cast<Bfloat*>(p.a.data), a_sizes, a_strides, 3, dtype};
  m.b = {const_cast<Bfloat*>(taps.weights), b_sizes, b_strides, 3, dtype};
  m.bias = {const_cast<Bfloat*>(p.bias), &columns, bias_strides, 1, dtype};
  matmul(context, m);
}

}  // namespace

bool fills_tiles(int64_t rows, int64_t columns, int64_t k) {
  return columns >= 8 && k >= 16 && product(rows, columns, k) >= 4096;
}

void multiply_patches_in_tiles(Context& context, const PatchesTimesMatrix<Bfloat>& p,
                               const Taps<Bfloat>& taps) {
  if (is_matrix(p.a, p.out_strides)) return multiply_pixels(context, p, taps);
  const int64_t rows = p.i1, columns = taps.columns;
  const int64_t panel = steps(taps.all_rows()) * kStepBytes;
  const Scratch weights(context, product(blocks(columns), panel));
  const Scratch room(context, product(sum_count(rows, columns, p.a.columns()), sizeof(float)));
  if (weights.failed() || room.failed()) return;
  char* const packed = static_cast<char*>(weights.data());
  float* const sums = static_cast<float*>(room.data());
  for_chunks(context, blocks(columns), [&](int64_t n) { Panel(taps, n).pack(packed + n * panel); });
  const Cut cut(rows, columns);
  for_chunks(context, cut.down * cut.across, [&](int64_t chunk) {
    const int64_t i = chunk / cut.across * cut.rows, j = chunk % cut.across * cut.columns;
    Chunk(p, packed, sums, i, std::min(i + cut.rows, rows), j, std::min(j + cut.columns, columns))
        .run();
  });
}

// -- a matrix times patches -----------------------------------------------------------------------

namespace {

// How the result is cut: by columns, and where these are few also by pixels, each part summed
// apart.
struct Parts {
  static constexpr int64_t kPixels = 256;  // gathered at once
  int64_t across, count, pixels;

  Parts(int64_t columns, int64_t all_pixels) : across(ceil_div(columns, kPatchColumnBlock)) {
    constexpr int64_t kEnough = 16;
    const int64_t most = ceil_div(all_pixels, kPixels);
    pixels = ceil_div(most, std::clamp<int64_t>(kEnough / across, 1, most)) * kPixels;
    count = ceil_div(all_pixels, pixels);
  }
};

// The matrix's columns as lines of 32 pixels a step; chunks of pixels.
void pack_matrix(Context& context, char* to, const MatrixTimesPatches<Bfloat>& p) {
  constexpr int64_t kSteps = 16;
  const int64_t all = steps(p.r1), groups = ceil_div(all, kSteps);
  for_chunks(context, groups, [&](int64_t chunk) {
    const int64_t first = chunk * kSteps, r = first * kStep;
    const int64_t pixels = std::min(p.r1 - r, kSteps * kStep);
    for (int64_t i = 0; i < blocks(p.i1); ++i) {
      const auto* const from = reinterpret_cast<const uint16_t*>(p.a) + r * p.a_stride + i * kSide;
      amx::pack_rows(to + (i * all + first) * kStepBytes, {from, 1, p.a_stride},
                     std::min(kSide, p.i1 - i * kSide), pixels);
    }
  });
}

class ColumnChunk {
 public:
  ColumnChunk(const MatrixTimesPatches<Bfloat>& p, const char* packed, float* sums)
      : p_(p), bits_(bits_of(p.b)), packed_(packed), sums_(sums) {}

  // Pixels [r0, r1) and columns [j0, j1).
  void run(int64_t r0, int64_t r1, int64_t j0, int64_t j1) {
    amx::begin();
    for (int64_t r = r0; r < r1; r += Parts::kPixels) {
      const int64_t pixels = std::min(Parts::kPixels, r1 - r);
      gather_columns(gathered_, bits_, r, pixels, j0, j1);
      for (int64_t j = 0; j < blocks(j1 - j0); ++j)
        amx::pack_columns(panels_ + j * kPanelBytes, {gathered_ + j * kSide, 1, kPatchColumnStride},
                          std::min(kSide, j1 - j0 - j * kSide), pixels);
      add_products(r, pixels, j1 - j0, r > r0);
    }
    amx::end();
  }

 private:
  static constexpr int64_t kPanelBytes = Parts::kPixels / kStep * kStepBytes;

  void add_products(int64_t r, int64_t pixels, int64_t columns, bool add) {
    amx::Block block{};
    block.stride = 64, block.second = kStepBytes / 2, block.step = kStepBytes;
    block.count = steps(pixels), block.add = add;
    float* c = sums_;
    for (int64_t i = 0; i < blocks(p_.i1); ++i) {
      block.a = packed_ + (i * steps(p_.r1) + r / kStep) * kStepBytes;
      block.rows = std::min(kSide, p_.i1 - i * kSide);
      for (int64_t j = 0; j < blocks(columns); ++j, c += kSide * kSide) {
        block.b = panels_ + j * kPanelBytes;
        block.cols = std::min(kSide, columns - j * kSide);
        block.c = c;
        amx::multiply(block);
        amx::store(block);
      }
    }
  }

  const MatrixTimesPatches<Bfloat>& p_;
  const Patches<uint16_t> bits_;
  const char* packed_;
  float* sums_;
  alignas(64) uint16_t gathered_[Parts::kPixels * kPatchColumnStride];
  alignas(64) char panels_[kPatchColumnBlock / kSide * kPanelBytes];
};

// The sums of all parts of one chunk of columns, rounded.
void finish_columns(const MatrixTimesPatches<Bfloat>& p, Bfloat* out, int64_t j0, int64_t j1,
                    const float* sums, int64_t parts, int64_t size) {
  const int64_t columns = p.j1;
  alignas(64) float c[kSide * kSide];
  for (int64_t i = 0; i < blocks(p.i1); ++i) {
    for (int64_t j = j0; j < j1; j += kSide, sums += kSide * kSide) {
      std::copy_n(sums, kSide * kSide, c);
      for (int64_t part = 1; part < parts; ++part)
        for (int64_t e = 0; e < kSide * kSide; ++e) c[e] += sums[part * size + e];
      Bfloat* rows[kSide];
      const int64_t count = std::min(kSide, p.i1 - i * kSide);
      for (int64_t r = 0; r < count; ++r) rows[r] = out + (i * kSide + r) * columns + j;
      finish_block(c, rows, count, std::min(kSide, j1 - j), nullptr);
    }
  }
}

}  // namespace

void multiply_by_patches_in_tiles(Context& context, const MatrixTimesPatches<Bfloat>& p,
                                  Bfloat* out) {
  const Parts parts(p.j1, p.r1);
  const int64_t matrix = product(blocks(p.i1), steps(p.r1), kStepBytes);
  // Tiles that are not written (with 16 rows or columns, or fewer) are not read either.
  const int64_t chunk = blocks(p.i1) * (kPatchColumnBlock / kSide) * kSide * kSide;
  const int64_t size = product(parts.across, chunk);
  const Scratch packed(context, matrix), room(context, product(parts.count, size, sizeof(float)));
  if (packed.failed() || room.failed()) return;
  pack_matrix(context, static_cast<char*>(packed.data()), p);
  float* const sums = static_cast<float*>(room.data());
  const auto columns = [&](int64_t n) {
    const int64_t j0 = n * kPatchColumnBlock;
    return std::pair(j0, std::min(j0 + kPatchColumnBlock, p.j1));
  };
  for_chunks(context, parts.count * parts.across, [&](int64_t n) {
    const int64_t part = n / parts.across, across = n % parts.across;
    const auto [j0, j1] = columns(across);
    ColumnChunk(p, static_cast<const char*>(packed.data()), sums + part * size + across * chunk)
        .run(part * parts.pixels, std::min((part + 1) * parts.pixels, p.r1), j0, j1);
  });
  if (context.stopped) return;
  for_chunks(context, parts.across, [&](int64_t n) {
    const auto [j0, j1] = columns(n);
    finish_columns(p, out, j0, j1, sums + n * chunk, parts.count, size);
  });
}

}  // namespace libdl::kernels::cpu
