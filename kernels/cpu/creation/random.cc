// SPDX-License-Identifier: Apache-2.0

// Random numbers, a tile at a time: words from Philox, a transform, a store. kernels/philox.h and
// kernels/normal.h define the value of each element; this is a fast implementation.

#include "kernels/cpu/simd/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/creation/random.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/normal.h"
#include "kernels/philox.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

// Words of the blocks [counter, counter + blocks), blocks a multiple of 8.
void fill_words(uint64_t key, uint64_t counter, int64_t blocks, uint32_t* words) {
  for (int64_t block = 0; block < blocks; ++block) {
    const PhiloxBlock drawn = philox(key, counter + static_cast<uint64_t>(block), 0);
    for (int k = 0; k < 4; ++k) words[4 * block + k] = drawn.word[k];
  }
}

#else

// Words of the blocks [counter, counter + blocks), blocks a multiple of 8. A lane of 64 bits holds
// one 32-bit word in its lower half; what the multiplications leave above is never read.
void fill_words(uint64_t key, uint64_t counter, int64_t blocks, uint32_t* words) {
  const hn::CappedTag<uint64_t, 8> wide;
  const hn::Repartition<uint32_t, decltype(wide)> narrow;
  const auto times = [=](auto a, uint32_t b) HWY_ATTR {
    return hn::MulEven(hn::BitCast(narrow, a), hn::Set(narrow, b));
  };
  const auto low = hn::Set(wide, 0xffffffffu);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(wide));
  for (int64_t block = 0; block < blocks; block += lanes) {
    auto c0 = hn::Iota(wide, counter + static_cast<uint64_t>(block));
    auto c1 = hn::ShiftRight<32>(c0);
    auto c2 = hn::Zero(wide), c3 = hn::Zero(wide);
    uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < kPhiloxRounds; ++round) {
      const auto p0 = times(c0, kPhiloxMultiplier0);
      const auto p1 = times(c2, kPhiloxMultiplier1);
      c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(wide, k0));
      c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(wide, k1));
      c1 = p1;
      c3 = p0;
      k0 += kPhiloxWeyl0;
      k1 += kPhiloxWeyl1;
    }
    const auto first = hn::Or(hn::And(c0, low), hn::ShiftLeft<32>(c1));
    const auto second = hn::Or(hn::And(c2, low), hn::ShiftLeft<32>(c3));
    hn::StoreInterleaved2(first, second, wide, reinterpret_cast<uint64_t*>(words + 4 * block));
  }
}

#endif

struct VectorMath {
  using Tag = hn::CappedTag<double, 8>;
  using Real = hn::Vec<Tag>;
  using Truth = hn::Mask<Tag>;
  using Bits = hn::RebindToUnsigned<Tag>;
  static HWY_INLINE Real set(double x) { return hn::Set(Tag(), x); }
  static HWY_INLINE Real square_root(Real x) { return hn::Sqrt(x); }
  static HWY_INLINE Real magnitude(Real x) { return hn::Abs(x); }
  static HWY_INLINE Real with_sign(Real x, Real sign) { return hn::CopySign(x, sign); }
  static HWY_INLINE Truth greater(Real a, Real b) { return hn::Gt(a, b); }
  static HWY_INLINE Real choose(Truth c, Real a, Real b) { return hn::IfThenElse(c, a, b); }
  static HWY_INLINE bool none(Truth c) { return hn::AllFalse(Tag(), c); }
  static HWY_INLINE void split(Real x, Real* mantissa, Real* exponent) {
    const Bits bits;
    const auto all = hn::BitCast(bits, x);
    // The exponent in the lowest bits of 2^52 is the number 2^52 + exponent.
    const auto biased = hn::Or(hn::ShiftRight<52>(all), hn::Set(bits, 0x4330000000000000u));
    *exponent = hn::Sub(hn::BitCast(Tag(), biased), set(4503599627370496.0 + 1023.0));
    const auto fraction = hn::And(all, hn::Set(bits, 0xfffffffffffffu));
    *mantissa = hn::BitCast(Tag(), hn::Or(fraction, hn::Set(bits, 0x3ff0000000000000u)));
  }
};

#include "kernels/normal.inc"

constexpr int64_t kMostQuantiles = 1024;

// x = normal_quantile(x), count a multiple of 8 and at most kMostQuantiles. The tails, 15 of 100,
// are computed in vectors of their own: among the others nearly every vector would hold one.
void quantiles(double* x, int64_t count) {
  const VectorMath::Tag tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  const hn::RebindToSigned<VectorMath::Tag> positions;
  int64_t place[kMostQuantiles + 8];
  size_t tails = 0;
  for (int64_t j = 0; j < count; j += lanes) {
    const auto far = hn::Gt(hn::Abs(hn::LoadU(tag, x + j)), hn::Set(tag, kNormalMiddle));
    tails += hn::CompressStore(hn::Iota(positions, j), hn::RebindMask(positions, far), positions,
                               place + tails);
  }
  alignas(64) double tail[kMostQuantiles + 8];
  for (size_t k = 0; k < tails; ++k) tail[k] = x[place[k]];
  std::fill_n(tail + tails, 8, 0.45);  // any value of the tail
  for (int64_t j = 0; j < count; j += lanes)
    hn::StoreU(normal_middle<VectorMath>(hn::LoadU(tag, x + j)), tag, x + j);
  for (size_t k = 0; k < tails; k += static_cast<size_t>(lanes))
    hn::StoreU(normal_tail<VectorMath>(hn::LoadU(tag, tail + k)), tag, tail + k);
  for (size_t k = 0; k < tails; ++k) x[place[k]] = tail[k];
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>
#include <limits>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/elements.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

namespace {

constexpr decltype(&HWY_STATIC_DISPATCH(fill_words)) kFillWords[] = LIBDL_FOR_EACH_ISA(fill_words);
constexpr decltype(&HWY_STATIC_DISPATCH(quantiles)) kQuantiles[] = LIBDL_FOR_EACH_ISA(quantiles);

constexpr int64_t kTile = 1024;      // elements at a time: whole blocks of either width
constexpr int64_t kGrain = 1 << 14;  // elements of a chunk, a multiple of kTile
constexpr int64_t kGroup = 32;  // tiles are rounded up to it, so that loops have a fixed length

// The words of one tile: element j takes word(j), or pair(j) where it takes two.
class Words {
 public:
  // `first` is a multiple of kTile, `count` of kGroup.
  Words(const RandomArgs& args, int64_t first, int64_t count, int64_t width)
      : key_(args.key),
        width_(width),
        counter_(args.offset + static_cast<uint64_t>(first / width)) {
    kFillWords[static_cast<int>(isa())](key_, counter_, count / width, words_);
  }
  uint32_t word(int64_t j) const { return words_[j]; }
  uint64_t pair(int64_t j) const { return words_[2 * j] | uint64_t{words_[2 * j + 1]} << 32; }
  uint64_t key() const { return key_; }
  uint64_t counter(int64_t j) const { return counter_ + static_cast<uint64_t>(j / width_); }

 private:
  uint64_t key_;
  int64_t width_;
  uint64_t counter_;
  alignas(64) uint32_t words_[2 * kTile];
};

// Calls make(first, count, tile) for every tile and stores its first elements; count is a multiple
// of kGroup and may reach past the end.
template <class Element, class Make>
void fill_tiles(Context& context, const View& view, const Make& make) {
  Walk<1> walk;
  for (int32_t d = 0; d < view.ndim; ++d) walk.push(view.sizes[d], {view.strides[d]});
  Element* data = static_cast<Element*>(view.data);
  in_chunks(context, element_count(view), kGrain, [&](int64_t first, int64_t last) {
    Element tile[kTile];
    for (; first < last; first += kTile) {
      const int64_t end = std::min(last, first + kTile);
      make(first, (end - first + kGroup - 1) / kGroup * kGroup, tile);
      const Element* from = tile;
      walk.run(first, end, [&](const auto& offset, int64_t count) {
        Element* out = data + offset[0];
        if (walk.inner(0) == 1) {
          std::memcpy(out, from, static_cast<size_t>(count) * sizeof(Element));
        } else {
          for (int64_t j = 0; j < count; ++j) out[j * walk.inner(0)] = from[j];
        }
        from += count;
      });
    }
  });
}

template <class Each>
void in_groups(int64_t count, const Each& each) {
  for (int64_t j = 0; j < count; j += kGroup)
    for (int64_t k = 0; k < kGroup; ++k) each(j + k);
}

// The largest element not above a value below b: rounding to nearest could reach b.
template <class Element>
Element store_below(typename Element::Compute value) {
  Element element = Element::store(value);
  if constexpr (sizeof(Element) == 2) {
    const int above = element.load() > value;  // arithmetic: half of them are, at random
    element.bits = static_cast<uint16_t>(element.bits + (element.bits & 0x8000 ? above : -above));
  }
  return element;
}

template <class Element>
void uniform(Context& context, const RandomArgs& args) {
  using Real = typename Element::Compute;
  const Real a = static_cast<Real>(args.a), b = static_cast<Real>(args.b);
  const Real width = b - a, last = std::nextafter(b, -std::numeric_limits<Real>::infinity());
  fill_tiles<Element>(context, args.out, [&](int64_t first, int64_t count, Element* tile) {
    const Words words(args, first, count, sizeof(Real) == 8 ? 2 : 4);
    in_groups(count, [&](int64_t j) {
      Real unit;
      if constexpr (sizeof(Real) == 8)
        unit = unit_double(words.pair(j));
      else
        unit = unit_float(words.word(j));
      const Real value = a + unit * width;
      const Real below = value < last ? value : last;
      tile[j] = store_below<Element>(below > a ? below : a);
    });
  });
}

template <class Element>
void normal(Context& context, const RandomArgs& args) {
  using Real = typename Element::Compute;
  fill_tiles<Element>(context, args.out, [&](int64_t first, int64_t count, Element* tile) {
    const Words words(args, first, count, sizeof(Real) == 8 ? 2 : 4);
    alignas(64) double z[kTile];
    in_groups(count, [&](int64_t j) {
      if constexpr (sizeof(Real) == 8)
        z[j] = centred(words.pair(j));
      else
        z[j] = centred(words.word(j));
    });
    kQuantiles[static_cast<int>(isa())](z, count);
    in_groups(count, [&](int64_t j) {
      tile[j] = Element::store(static_cast<Real>(args.a + args.b * z[j]));
    });
  });
}

// The chances of the elements [first, last) as doubles.
void load_chances(const View& chance, const Walk<1>& walk, int64_t first, int64_t last,
                  double* out) {
  with_element(chance.dtype, [&]<class Element>(Element) {
    if constexpr (!kIsComplex<typename Element::Compute>) {
      const Element* data = static_cast<const Element*>(chance.data);
      walk.run(first, last, [&](const auto& offset, int64_t count) {
        for (int64_t j = 0; j < count; ++j)
          *out++ = static_cast<double>(data[offset[0] + j * walk.inner(0)].load());
      });
    }
  });
}

// 1 where word * 2^-32 < chance: exact, whatever the types of chance and result.
template <class Element>
void bernoulli(Context& context, const RandomArgs& args) {
  using C = typename Element::Compute;
  constexpr double kStep = 2.3283064365386962891e-10;  // 2^-32
  using Product = std::conditional_t<std::is_integral_v<C>, int, C>;
  const auto hit = static_cast<Product>(static_cast<C>(args.b));
  const View& chance = args.probability;
  Walk<1> walk;
  if (chance.data != nullptr)
    for (int32_t d = 0; d < chance.ndim; ++d) walk.push(chance.sizes[d], {chance.strides[d]});
  const int64_t total = element_count(args.out);
  fill_tiles<Element>(context, args.out, [&](int64_t first, int64_t count, Element* tile) {
    const Words words(args, first, count, 4);
    double chances[kTile];
    std::fill_n(chances, count, args.a);
    if (chance.data != nullptr)
      load_chances(chance, walk, first, std::min(total, first + count), chances);
    in_groups(count, [&](int64_t j) {
      // Arithmetic, because a conditional would become an unpredictable branch.
      const int hits = words.word(j) * kStep < chances[j];
      tile[j] = Element::store(static_cast<C>(static_cast<Product>(hits) * hit));
    });
  });
}

template <class Element>
void randint(Context& context, const RandomArgs& args) {
  using C = typename Element::Compute;
  const uint64_t low = static_cast<uint64_t>(args.low);
  const bool wide = args.range == 0 || args.range > uint64_t{1} << 32;
  fill_tiles<Element>(context, args.out, [&](int64_t first, int64_t count, Element* tile) {
    const Words words(args, first, count, wide ? 2 : 4);
    for (int64_t j = 0; j < count; ++j) {
      const uint64_t drawn =
          wide ? below64(words.pair(j), args.range, args.key, words.counter(j), j % 2)
               : below32(words.word(j), static_cast<uint32_t>(args.range), args.key,
                         words.counter(j), j % 4);
      tile[j] = Element::store(static_cast<C>(static_cast<int64_t>(low + drawn)));
    }
  });
}

template <class Element>
void bits(Context& context, const RandomArgs& args) {
  fill_tiles<Element>(context, args.out, [&](int64_t first, int64_t count, Element* tile) {
    const Words words(args, first, count, sizeof(Element) == 8 ? 2 : 4);
    for (int64_t j = 0; j < count; ++j)
      tile[j].bits =
          static_cast<decltype(tile[j].bits)>(sizeof(Element) == 8 ? words.pair(j) : words.word(j));
  });
}

}  // namespace

void random(Context& context, const RandomArgs& args) {
  const auto distribution = static_cast<Distribution>(args.distribution);
  if (distribution == Distribution::kBits)
    return with_cell(args.out.dtype, [&]<class Element>(Element) {
      if constexpr (sizeof(Element) <= 8) bits<Element>(context, args);
    });
  with_element(args.out.dtype, [&]<class Element>(Element) {
    using C = typename Element::Compute;
    if constexpr (kIsComplex<C>) {
      return;  // operators ask for twice as many real numbers
    } else if (distribution == Distribution::kBernoulli) {
      bernoulli<Element>(context, args);
    } else if (distribution == Distribution::kRandint) {
      randint<Element>(context, args);
    } else if constexpr (std::is_floating_point_v<C>) {
      distribution == Distribution::kUniform ? uniform<Element>(context, args)
                                             : normal<Element>(context, args);
    }
  });
}

}  // namespace libdl::kernels::cpu

#endif
