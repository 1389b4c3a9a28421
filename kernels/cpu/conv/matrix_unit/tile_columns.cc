// SPDX-License-Identifier: Apache-2.0

// A matrix times patches on the matrix unit: k goes through the pixels.
#include <algorithm>

#include "kernels/cpu/conv/matrix_unit/tile_steps.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/gemm/tiles_amx.h"

namespace libdl::kernels::cpu {
namespace {

using amx::blocks, amx::kSide, amx::kStep, amx::kStepBytes, amx::steps;

constexpr int64_t kPixels = 256;  // that a chunk packs at once
constexpr int64_t kPanels = kPatchColumnBlock / kSide;
constexpr int64_t kPanelBytes = kPixels / kStep * kStepBytes;

// How the result is cut: by columns, and where these are few also by pixels, each part summed
// apart.
struct Parts {
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
  const int64_t all = steps(p.r1);
  for_chunks(context, ceil_div(all, kSteps), [&](int64_t chunk) {
    const int64_t first = chunk * kSteps, r = first * kStep;
    const int64_t pixels = std::min(p.r1 - r, kSteps * kStep);
    for (int64_t i = 0; i < blocks(p.i1); ++i) {
      const auto* const from = reinterpret_cast<const uint16_t*>(p.a) + r * p.a_stride + i * kSide;
      amx::pack_rows(to + (i * all + first) * kStepBytes, {from, 1, p.a_stride},
                     std::min(kSide, p.i1 - i * kSide), pixels);
    }
  });
}

// Where the pixels' first taps lie in memory, and which taps lie inside of the image: a bit for
// each place along each dimension. For whole steps of pixels.
struct Corners {
  int64_t* at = nullptr;
  uint64_t* valid = nullptr;

  // They are needed where every panel is of one tap.
  static bool serve(const Patches<Bfloat>& p) {
    return p.channels % kSide == 0 && p.taps[0] + p.taps[1] + p.taps[2] <= 64;
  }
  static uint64_t bit(const Patches<Bfloat>& p, int d, int64_t tap) {
    const int64_t first = d == 0 ? 0 : d == 1 ? p.taps[0] : p.taps[0] + p.taps[1];
    return uint64_t{1} << (first + tap);
  }

  void fill(Context& context, const Patches<Bfloat>& p, int64_t pixels) const {
    in_chunks(context, steps(pixels) * kStep, 1 << 12, [&](int64_t first, int64_t last) {
      Pixel pixel(p.lattice, first);
      for (int64_t r = first; r < last; ++r, pixel.advance(p.lattice)) {
        at[r] = pixel.image * p.strides[0], valid[r] = 0;
        for (int d = 0; d < 3 && r < pixels; ++d) {
          const int64_t i = pixel.at[d] * p.step[d] + p.start[d];
          at[r] += i * p.strides[d + 1];
          for (int64_t t = 0; t < p.taps[d]; ++t)
            if (static_cast<uint64_t>(i + t * p.dilation[d]) < static_cast<uint64_t>(p.sizes[d]))
              valid[r] |= bit(p, d, t);
        }
      }
    });
  }
};

// Panels of 32 columns of patches, packed for up to kPixels rows.
class Columns {
 public:
  Columns(const Patches<Bfloat>& p, const Corners& corners)
      : p_(p), bits_(bits_of(p)), corners_(corners) {}

  // Columns [j0 + 32 j, ...) up to j1 of rows [r, r + pixels), for every j.
  void pack(char* panels, int64_t r, int64_t pixels, int64_t j0, int64_t j1) {
    if (corners_.at == nullptr) gather_columns(gathered_, bits_, r, pixels, j0, j1);
    for (int64_t j = j0; j < j1; j += kSide, panels += kPanelBytes) {
      if (corners_.at != nullptr) {
        pack_tap(panels, r, pixels, j);
      } else {
        amx::pack_columns(panels, {gathered_ + (j - j0), 1, kPatchColumnStride},
                          std::min(kSide, j1 - j), pixels);
      }
    }
  }

 private:
  // Straight from the image.
  void pack_tap(char* to, int64_t r, int64_t pixels, int64_t j) const {
    const int64_t n = j / p_.channels, last = p_.taps[2];
    const int64_t tap[] = {n / last / p_.taps[1], n / last % p_.taps[1], n % last};
    amx::Scattered x{bits_.data + j % p_.channels, corners_.at + r, corners_.valid + r, 0};
    for (int d = 0; d < 3; ++d) {
      x.data += tap[d] * p_.dilation[d] * p_.strides[d + 1];
      x.wanted |= Corners::bit(p_, d, tap[d]);
    }
    for (int64_t s = 0; s < pixels; s += kStep, to += kStepBytes) {
      amx::pack_scattered(to, x);
      x.at += kStep, x.valid += kStep;
    }
  }

  const Patches<Bfloat>& p_;
  const Patches<uint16_t> bits_;
  const Corners corners_;
  alignas(64) uint16_t gathered_[kPixels * kPatchColumnStride];
};

class Chunk {
 public:
  Chunk(const MatrixTimesPatches<Bfloat>& p, const Corners& corners, const char* packed,
        float* sums)
      : p_(p), packed_(packed), sums_(sums), columns_(p.b, corners) {}

  // Pixels [r0, r1) and columns [j0, j1).
  void run(int64_t r0, int64_t r1, int64_t j0, int64_t j1) {
    amx::begin();
    for (int64_t r = r0; r < r1; r += kPixels) {
      const int64_t pixels = std::min(kPixels, r1 - r);
      columns_.pack(panels_, r, pixels, j0, j1);
      add_products(r, pixels, j1 - j0, r > r0);
    }
    amx::end();
  }

 private:
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
  const char* packed_;
  float* sums_;
  Columns columns_;
  alignas(64) char panels_[kPanels * kPanelBytes];
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
  const int64_t chunk = blocks(p.i1) * kPanels * kSide * kSide;
  const int64_t size = product(parts.across, chunk);
  const Scratch packed(context, matrix), room(context, product(parts.count, size, sizeof(float)));
  const int64_t pixels = Corners::serve(p.b) ? steps(p.r1) * kStep : 0;
  const Scratch spots(context, product(pixels, sizeof(int64_t) + sizeof(uint64_t)));
  if (packed.failed() || room.failed() || spots.failed()) return;
  Corners corners;
  if (pixels > 0) {
    corners.at = static_cast<int64_t*>(spots.data());
    corners.valid = reinterpret_cast<uint64_t*>(corners.at + pixels);
    corners.fill(context, p.b, p.r1);
  }
  pack_matrix(context, static_cast<char*>(packed.data()), p);
  float* const sums = static_cast<float*>(room.data());
  const auto columns = [&](int64_t n) {
    const int64_t j0 = n * kPatchColumnBlock;
    return std::pair(j0, std::min(j0 + kPatchColumnBlock, p.j1));
  };
  for_chunks(context, parts.count * parts.across, [&](int64_t n) {
    const int64_t part = n / parts.across, across = n % parts.across;
    const auto [j0, j1] = columns(across);
    Chunk(p, corners, static_cast<const char*>(packed.data()), sums + part * size + across * chunk)
        .run(part * parts.pixels, std::min((part + 1) * parts.pixels, p.r1), j0, j1);
  });
  if (context.stopped) return;
  for_chunks(context, parts.across, [&](int64_t n) {
    const auto [j0, j1] = columns(n);
    finish_columns(p, out, j0, j1, sums + n * chunk, parts.count, size);
  });
}

}  // namespace libdl::kernels::cpu
