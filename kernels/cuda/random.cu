// SPDX-License-Identifier: Apache-2.0

// Random numbers by the rules of kernels/philox.h and kernels/normal.h: a thread draws one Philox
// block and makes its two or four elements, so the bits are the same as on the CPU.

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"
#include "kernels/normal.h"
#include "kernels/philox.h"

namespace libdl::kernels::cuda {

namespace {

struct Random {
  void* out;
  const void* probability;
  int32_t dtype, probability_dtype;
  double a, b;
  double below;  // kUniform: the largest number of the compute type under b
  int64_t low;
  uint64_t range, key, offset;
  int64_t start;  // logical index of the first element
  bool wide;      // an element takes two words
  Geometry<2> geometry;
};

}  // namespace

#ifdef LIBDL_KERNELS

// One element's words.
struct Words {
  PhiloxBlock block;
  uint64_t counter;
  int word_index;  // of the element in its block
  LIBDL_DEVICE uint32_t word() const { return block.word[word_index]; }
  LIBDL_DEVICE uint64_t pair() const {
    return block.word[2 * word_index] | uint64_t{block.word[2 * word_index + 1]} << 32;
  }
};

// Calls make(words, out offset, probability offset) for every element.
template <class F>
LIBDL_DEVICE void each_element(const Random& p, F&& make) {
  const int width = p.wide ? 2 : 4;
  const int64_t end = p.start + p.geometry.numel;
  const int64_t first = p.start / width, last = (end + width - 1) / width;
  for (int64_t block = first + first_element(); block < last; block += all_threads()) {
    const uint64_t counter = p.offset + static_cast<uint64_t>(block);
    Words words{philox(p.key, counter, 0), counter, 0};
    LIBDL_UNROLL
    for (int k = 0; k < 4; ++k) {
      const int64_t i = block * width + k;
      if (k >= width || i < p.start || i >= end) continue;
      words.word_index = k;
      int64_t offset[2];
      offsets_of(p.geometry, i - p.start, offset);
      make(words, offset[0], offset[1]);
    }
  }
}

// The largest element not above a value below b: rounding to nearest could reach b.
template <class E>
LIBDL_DEVICE E below(float value) {
  E element = convert_value<E>(value);
  if (to_float(element) > value)
    element.bits = static_cast<uint16_t>(element.bits + (element.bits & 0x8000 ? 1 : -1));
  return element;
}

template <class T>
LIBDL_DEVICE T uniform(const Random& p, T unit) {
  const T a = static_cast<T>(p.a), b = static_cast<T>(p.b), last = static_cast<T>(p.below);
  const T value = a + unit * (b - a);
  const T under = value < last ? value : last;
  return under > a ? under : a;
}

LIBDL_KERNEL(random_uniform_f32, Random) {
  each_element(p, [&](const Words& words, int64_t at, int64_t) {
    const float x = uniform(p, unit_float(words.word()));
    if (p.dtype == 12) {
      static_cast<float*>(p.out)[at] = x;
    } else if (p.dtype == 10) {
      static_cast<Half*>(p.out)[at] = below<Half>(x);
    } else {
      static_cast<Bfloat*>(p.out)[at] = below<Bfloat>(x);
    }
  });
}
LIBDL_KERNEL(random_uniform_f64, Random) {
  each_element(p, [&](const Words& words, int64_t at, int64_t) {
    static_cast<double*>(p.out)[at] = uniform(p, unit_double(words.pair()));
  });
}

LIBDL_KERNEL(random_normal_f32, Random) {
  each_element(p, [&](const Words& words, int64_t at, int64_t) {
    const double z = normal_quantile(centred(words.word()));
    const float x = static_cast<float>(p.a + p.b * z);
    if (p.dtype == 12) {
      static_cast<float*>(p.out)[at] = x;
    } else if (p.dtype == 10) {
      static_cast<Half*>(p.out)[at] = to_half(x);
    } else {
      static_cast<Bfloat*>(p.out)[at] = to_bfloat(x);
    }
  });
}
LIBDL_KERNEL(random_normal_f64, Random) {
  each_element(p, [&](const Words& words, int64_t at, int64_t) {
    const double z = normal_quantile(centred(words.pair()));
    static_cast<double*>(p.out)[at] = p.a + p.b * z;
  });
}

// 1 where word * 2^-32 < chance: exact, whatever the types of chance and result.
LIBDL_KERNEL(random_bernoulli, Random) {
  constexpr double kStep = 2.3283064365386962891e-10;  // 2^-32
  each_element(p, [&](const Words& words, int64_t at, int64_t probability_at) {
    const double chance =
        p.probability ? load<double>(p.probability, probability_at, p.probability_dtype) : p.a;
    const double hit = words.word() * kStep < chance ? 1.0 : 0.0;
    with_type(p.dtype, [&](auto* type) {
      using E = std::remove_pointer_t<decltype(type)>;
      E* const out = static_cast<E*>(p.out) + at;
      if constexpr (std::is_same_v<E, Half> || std::is_same_v<E, Bfloat>) {
        *out = convert_value<E>(static_cast<float>(hit) * static_cast<float>(p.b));
      } else if constexpr (std::is_floating_point_v<E>) {
        *out = static_cast<E>(hit) * static_cast<E>(p.b);
      } else {
        *out = convert_value<E>(hit * p.b);
      }
    });
  });
}

LIBDL_KERNEL(random_randint, Random) {
  each_element(p, [&](const Words& words, int64_t at, int64_t) {
    const uint64_t drawn =
        p.wide ? below64(words.pair(), p.range, p.key, words.counter, words.word_index)
               : below32(words.word(), static_cast<uint32_t>(p.range), p.key, words.counter,
                         words.word_index);
    const auto value = static_cast<int64_t>(static_cast<uint64_t>(p.low) + drawn);
    with_type(p.dtype, [&](auto* type) {
      using E = std::remove_pointer_t<decltype(type)>;
      static_cast<E*>(p.out)[at] = convert_value<E>(value);
    });
  });
}

template <class E>
LIBDL_DEVICE void random_bits(const Random& p) {
  each_element(p, [&](const Words& words, int64_t at, int64_t) {
    if constexpr (sizeof(E) == 8) {
      static_cast<E*>(p.out)[at] = words.pair();
    } else {
      static_cast<E*>(p.out)[at] = static_cast<E>(words.word());
    }
  });
}
LIBDL_KERNEL(random_bits_1, Random) { random_bits<uint8_t>(p); }
LIBDL_KERNEL(random_bits_2, Random) { random_bits<uint16_t>(p); }
LIBDL_KERNEL(random_bits_4, Random) { random_bits<uint32_t>(p); }
LIBDL_KERNEL(random_bits_8, Random) { random_bits<uint64_t>(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

bool is_double(int32_t dtype) { return dtype == LIBDL_DTYPE_FLOAT64; }

const char* random_kernel(const RandomArgs& a) {
  switch (static_cast<Distribution>(a.distribution)) {
    case Distribution::kBits:
      switch (dtype_bytes(a.out.dtype)) {
        case 1: return "random_bits_1";
        case 2: return "random_bits_2";
        case 4: return "random_bits_4";
        default: return "random_bits_8";
      }
    case Distribution::kUniform:
      return is_double(a.out.dtype) ? "random_uniform_f64" : "random_uniform_f32";
    case Distribution::kNormal:
      return is_double(a.out.dtype) ? "random_normal_f64" : "random_normal_f32";
    case Distribution::kBernoulli: return "random_bernoulli";
    case Distribution::kRandint: return "random_randint";
  }
  return nullptr;
}

// Whether an element takes two words.
bool is_wide(const RandomArgs& a) {
  switch (static_cast<Distribution>(a.distribution)) {
    case Distribution::kBits: return dtype_bytes(a.out.dtype) == 8;
    case Distribution::kUniform:
    case Distribution::kNormal: return is_double(a.out.dtype);
    case Distribution::kRandint: return a.range == 0 || a.range > uint64_t{1} << 32;
    default: return false;
  }
}

}  // namespace

void random(Context& context, const RandomArgs& a) {
  if (numel(a.out) == 0) return;
  Random p{};
  p.dtype = a.out.dtype;
  p.probability_dtype = a.probability.dtype;
  p.a = a.a;
  p.b = a.b;
  if (is_double(a.out.dtype)) {
    p.below = std::nextafter(a.b, -std::numeric_limits<double>::infinity());
  } else {
    p.below = std::nextafter(static_cast<float>(a.b), -std::numeric_limits<float>::infinity());
  }
  p.low = a.low;
  p.range = a.range;
  p.key = a.key;
  p.offset = a.offset;
  p.wide = is_wide(a);
  const View* const views[] = {&a.out, a.probability.data ? &a.probability : nullptr};
  each_part(views, 2, p.geometry, [&](void* const* data) {
    p.out = data[0];
    p.probability = data[1];
    launch(context, random_kernel(a), grid_for(context, p.geometry.numel, p.wide ? 2 : 4), p);
    p.start += p.geometry.numel;
  });
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
