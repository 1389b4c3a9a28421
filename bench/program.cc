// SPDX-License-Identifier: Apache-2.0

// What a fused chain costs: gelu(x * w + b) + r over float32 as one program, as one kernel a step,
// and as a loop written by hand, on one thread. LIBDL_CPU chooses the instruction set.
#include "kernels/cpu/simd/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/program.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/tiles/tiles_float-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {

void by_hand(const void* const* in, void* out, int64_t n) {
  using V = Lanes<float>;
  const auto at = [&](int k) { return static_cast<const float*>(in[k]); };
  const float *x = at(0), *w = at(1), *b = at(2), *r = at(3);
  const typename V::Tag d;
  float* to = static_cast<float*>(out);
  const auto load = [&](const float* from) { return V(hn::LoadU(d, from)); };
  for (int64_t i = 0; i < n; i += static_cast<int64_t>(hn::Lanes(d))) {
    const V y = expression::gelu(load(x + i) * load(w + i) + load(b + i)) + load(r + i);
    hn::StoreU(y.raw, d, to + i);
  }
}
extern const TileFn hand_table;
const TileFn hand_table = by_hand;

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include <libdl/device.h>
#include <libdl/dtype.h>

#include "kernels/cpu/kernels.h"

namespace libdl::kernels::cpu {
namespace {

const TileFn hand[kIsas] = LIBDL_FOR_EACH_ISA(hand_table);

template <class Body>
double best_us(int64_t n, const Body& body) {
  double best = 1e30;
  const int calls = static_cast<int>(std::max<int64_t>(1, 1'000'000 / n));
  for (int round = 0; round < 60; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) body();
    const std::chrono::duration<double, std::micro> spent =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count() / calls);
  }
  return best;
}

void measure(int64_t n) {
  const int64_t length = (n + 63) / 64 * 64, one = 1;
  std::vector<std::vector<float>> memory(7, std::vector<float>(static_cast<size_t>(length)));
  const auto view = [&](int k) { return View{memory[k].data(), &n, &one, 1, LIBDL_DTYPE_FLOAT32}; };
  for (int k = 0; k < 4; ++k)
    for (int64_t i = 0; i < n; ++i)
      memory[k][i] = static_cast<float>((i * 7919 + k * 104729) % 2000) / 500.0f - 2;
  const auto number = [](Expression e) { return static_cast<int32_t>(e); };
  const Instruction code[] = {{number(Expression::mul), {0, 1}},
                              {number(Expression::add), {4, 2}},
                              {number(Expression::gelu), {5}},
                              {number(Expression::add), {6, 3}}};
  static constexpr Host one_thread{
      LIBDL_DEVICE_CPU,
      [](Context&, int64_t chunks, void (*body)(void*, int64_t, int64_t), void* arg) {
        body(arg, 0, chunks);
        return true;
      },
      nullptr, nullptr};
  Context context{&one_thread};
  ProgramArgs program_args{};
  program_args.compute = static_cast<int32_t>(Class::kF32);
  program_args.inputs = 4;
  program_args.length = 4;
  program_args.code = code;
  program_args.out = view(4);
  for (int k = 0; k < 4; ++k) program_args.in[k] = view(k);
  const auto step = [&](Expression e, int a, int b, int out) {
    PointwiseArgs args{};
    args.expression = number(e);
    args.compute = static_cast<int32_t>(Class::kF32);
    args.inputs = b < 0 ? 1 : 2;
    args.out = view(out);
    args.in[0] = view(a);
    if (b >= 0) args.in[1] = view(b);
    pointwise(context, args);
  };
  const auto apart = [&] {
    step(Expression::mul, 0, 1, 5);
    step(Expression::add, 5, 2, 5);
    step(Expression::gelu, 5, -1, 5);
    step(Expression::add, 5, 3, 5);
  };
  const void* in[] = {memory[0].data(), memory[1].data(), memory[2].data(), memory[3].data()};
  const double fused = best_us(n, [&] { program(context, program_args); });
  const double steps = best_us(n, apart);
  const double loop = best_us(n, [&] { hand[static_cast<int>(isa())](in, memory[6].data(), n); });
  const bool equal = std::memcmp(memory[4].data(), memory[5].data(), 4 * n) == 0;
  std::printf(
      "gelu(x * w + b) + r, %8lld floats: program %8.2f us, steps %8.2f, by hand %8.2f: "
      "%.2f of it, bits %s\n",
      static_cast<long long>(n), fused, steps, loop, fused / loop, equal ? "equal" : "DIFFER");
}

}  // namespace
}  // namespace libdl::kernels::cpu

int main() {
  for (const int64_t n : {100, 1'000, 10'000, 100'000, 1'000'000}) libdl::kernels::cpu::measure(n);
}
#endif
