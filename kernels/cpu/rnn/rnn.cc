// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <algorithm>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/walk.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rnn/rnn.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/math/math-inl.h"
#include "kernels/cpu/simd/lanes-inl.h"
#include "kernels/cpu/traverse/first-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kColumns = 512;  // of a row, at most, that are computed in one go
constexpr int64_t kGrain = 2048;   // elements of the state worth a chunk of their own

// Where the view's rows are; data NULL: nowhere.
template <class T>
struct Matrix {
  T* data;
  int64_t stride;

  explicit Matrix(const View& v)
      : data(static_cast<T*>(v.data)), stride(v.data == nullptr ? 0 : v.strides[0]) {}
  explicit operator bool() const { return data != nullptr; }
  T* at(int64_t row, int64_t column) const { return data + row * stride + column; }
};

// A vector of columns, or the first few columns of one.
template <class T>
struct Whole {
  using V = Lanes<T>;
  HWY_INLINE V load(const T* p) const { return hn::LoadU(typename V::Tag(), p); }
  HWY_INLINE void store(V x, T* p) const { hn::StoreU(x.raw, typename V::Tag(), p); }
};
template <class T>
struct Some {
  using V = Lanes<T>;
  int64_t count;
  HWY_INLINE V load(const T* p) const { return first::load(typename V::Tag(), count, p); }
  HWY_INLINE void store(V x, T* p) const { first::store(x.raw, typename V::Tag(), count, p); }
};

// step(part, row, column) for all vectors of the state, on all threads.
template <class T, class Step>
void for_state(Context& context, const View& state, const Step& step) {
  constexpr int64_t n = hn::MaxLanes(typename Lanes<T>::Tag());
  const int64_t rows = state.sizes[0], columns = state.sizes[1];
  if (columns == 0) return;
  const int64_t blocks = (columns + kColumns - 1) / kColumns;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::min(columns, kColumns));
  in_chunks(context, rows * blocks, grain, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      const int64_t row = part / blocks, begin = part % blocks * kColumns;
      const int64_t end = std::min(begin + kColumns, columns);
      int64_t j = begin;
      for (; j + n <= end; j += n) step(Whole<T>(), row, j);
      if (j < end) step(Some<T>{end - j}, row, j);
    }
  });
}

// -- forward --------------------------------------------------------------------------------------

template <class T>
struct Step {
  using V = Lanes<T>;
  Matrix<T> gates, recurrent, h, c, h_before, c_before, inner, out;
  int64_t size;  // of the state: from one gate to the next

  explicit Step(const RnnStepArgs& a)
      : gates(a.gates),
        recurrent(a.recurrent),
        h(a.h),
        c(a.c),
        h_before(a.h_before),
        c_before(a.c_before),
        inner(a.inner),
        out(a.out),
        size(a.out.sizes[1]) {}

  template <class Part>
  HWY_INLINE void finish(Part part, int64_t row, int64_t j, V after) const {
    if (h_before) part.store(part.load(h.at(row, j)), h_before.at(row, j));
    if (h) part.store(after, h.at(row, j));
    part.store(after, out.at(row, j));
  }
};

template <class T>
struct TanhStep : Step<T> {
  using Step<T>::Step;
  template <class Part>
  HWY_INLINE void operator()(Part part, int64_t row, int64_t j) const {
    T* const gate = this->gates.at(row, j);
    const auto after = math::tanh(part.load(gate));
    part.store(after, gate);
    this->finish(part, row, j, after);
  }
};

template <class T>
struct ReluStep : Step<T> {
  using Step<T>::Step;
  template <class Part>
  HWY_INLINE void operator()(Part part, int64_t row, int64_t j) const {
    using V = Lanes<T>;
    T* const gate = this->gates.at(row, j);
    const V sum = part.load(gate);
    const V after = select(sum < V(), V(), sum);  // a NaN stays
    part.store(after, gate);
    this->finish(part, row, j, after);
  }
};

template <class T>
struct LstmStep : Step<T> {
  using Step<T>::Step;
  template <class Part>
  HWY_INLINE void operator()(Part part, int64_t row, int64_t j) const {
    using V = Lanes<T>;
    T* const gate = this->gates.at(row, j);
    T* const cell = this->c.at(row, j);
    const int64_t size = this->size;
    const V i = math::sigmoid(part.load(gate)), f = math::sigmoid(part.load(gate + size));
    const V g = math::tanh(part.load(gate + 2 * size));
    const V o = math::sigmoid(part.load(gate + 3 * size));
    part.store(i, gate);
    part.store(f, gate + size);
    part.store(g, gate + 2 * size);
    part.store(o, gate + 3 * size);
    const V before = part.load(cell), after = f * before + i * g;
    if (this->c_before) part.store(before, this->c_before.at(row, j));
    part.store(after, cell);
    this->finish(part, row, j, o * math::tanh(after));
  }
};

template <class T>
struct GruStep : Step<T> {
  using Step<T>::Step;
  template <class Part>
  HWY_INLINE void operator()(Part part, int64_t row, int64_t j) const {
    using V = Lanes<T>;
    T* const gate = this->gates.at(row, j);
    const T* const sum = this->recurrent.at(row, j);
    const int64_t size = this->size;
    const V r = math::sigmoid(part.load(gate) + part.load(sum));
    const V z = math::sigmoid(part.load(gate + size) + part.load(sum + size));
    const V within = part.load(sum + 2 * size);
    const V n = math::tanh(part.load(gate + 2 * size) + r * within);
    part.store(r, gate);
    part.store(z, gate + size);
    part.store(n, gate + 2 * size);
    if (this->inner) part.store(within, this->inner.at(row, j));
    this->finish(part, row, j, n + z * (part.load(this->h.at(row, j)) - n));
  }
};

template <class T>
void forward(Context& context, const RnnStepArgs& a) {
  switch (a.cell) {
    case RnnCell::kTanh: return for_state<T>(context, a.out, TanhStep<T>(a));
    case RnnCell::kRelu: return for_state<T>(context, a.out, ReluStep<T>(a));
    case RnnCell::kLstm: return for_state<T>(context, a.out, LstmStep<T>(a));
    case RnnCell::kGru: return for_state<T>(context, a.out, GruStep<T>(a));
  }
}

// -- backward -------------------------------------------------------------------------------------

template <class T>
struct StepBackward {
  using V = Lanes<T>;
  Matrix<T> dgates, drecurrent, dh, dc, dy, gates, h_before, c_before, inner;
  int64_t size;

  explicit StepBackward(const RnnStepBackwardArgs& a)
      : dgates(a.dgates),
        drecurrent(a.drecurrent),
        dh(a.dh),
        dc(a.dc),
        dy(a.dy),
        gates(a.gates),
        h_before(a.h_before),
        c_before(a.c_before),
        inner(a.inner),
        size(a.dh.sizes[1]) {}

  // The gradient of h'.
  template <class Part>
  HWY_INLINE V arrived(Part part, int64_t row, int64_t j) const {
    const V later = part.load(dh.at(row, j));
    return dy ? later + part.load(dy.at(row, j)) : later;
  }
};

template <class T>
struct TanhBackward : StepBackward<T> {
  using StepBackward<T>::StepBackward;
  template <class Part>
  HWY_INLINE void operator()(Part part, int64_t row, int64_t j) const {
    using V = Lanes<T>;
    const V y = part.load(this->gates.at(row, j));
    part.store(this->arrived(part, row, j) * (V(1) - y * y), this->dgates.at(row, j));
  }
};

template <class T>
struct ReluBackward : StepBackward<T> {
  using StepBackward<T>::StepBackward;
  template <class Part>
  HWY_INLINE void operator()(Part part, int64_t row, int64_t j) const {
    using V = Lanes<T>;
    const V y = part.load(this->gates.at(row, j));
    part.store(select(y <= V(), V(), this->arrived(part, row, j)), this->dgates.at(row, j));
  }
};

// With d for the gradient of what follows it:
//   do = dh' tanh(c'),  dc' += dh' o (1 - tanh(c')^2),  di = dc' g,  df = dc' c,  dg = dc' i,
//   dc = dc' f,  and of the sums di i (1 - i), dg (1 - g^2), ...
template <class T>
struct LstmBackward : StepBackward<T> {
  using StepBackward<T>::StepBackward;
  template <class Part>
  HWY_INLINE void operator()(Part part, int64_t row, int64_t j) const {
    using V = Lanes<T>;
    const int64_t size = this->size;
    const T* const gate = this->gates.at(row, j);
    const V i = part.load(gate), f = part.load(gate + size), g = part.load(gate + 2 * size);
    const V o = part.load(gate + 3 * size), before = part.load(this->c_before.at(row, j));
    const V top = math::tanh(f * before + i * g), one(1);
    const V dh = this->arrived(part, row, j);
    const V dc = part.load(this->dc.at(row, j)) + dh * o * (one - top * top);
    T* const to = this->dgates.at(row, j);
    part.store(dc * g * i * (one - i), to);
    part.store(dc * before * f * (one - f), to + size);
    part.store(dc * i * (one - g * g), to + 2 * size);
    part.store(dh * top * o * (one - o), to + 3 * size);
    part.store(dc * f, this->dc.at(row, j));
  }
};

// With h' = n + z (h - n) and n = tanh(sum + r inner):
//   dz = dh' (h - n),  dn = dh' (1 - z),  dr = dn (1 - n^2) inner,  dh = dh' z
template <class T>
struct GruBackward : StepBackward<T> {
  using StepBackward<T>::StepBackward;
  template <class Part>
  HWY_INLINE void operator()(Part part, int64_t row, int64_t j) const {
    using V = Lanes<T>;
    const int64_t size = this->size;
    const T* const gate = this->gates.at(row, j);
    const V r = part.load(gate), z = part.load(gate + size), n = part.load(gate + 2 * size);
    const V before = part.load(this->h_before.at(row, j)), one(1);
    const V within = part.load(this->inner.at(row, j));
    const V dh = this->arrived(part, row, j);
    const V dn = dh * (one - z) * (one - n * n);
    const V dz = dh * (before - n) * z * (one - z), dr = dn * within * r * (one - r);
    T *const to = this->dgates.at(row, j), *const inside = this->drecurrent.at(row, j);
    for (T* both : {to, inside}) {
      part.store(dr, both);
      part.store(dz, both + size);
    }
    part.store(dn, to + 2 * size);
    part.store(dn * r, inside + 2 * size);
    part.store(dh * z, this->dh.at(row, j));
  }
};

template <class T>
void backward(Context& context, const RnnStepBackwardArgs& a) {
  switch (a.cell) {
    case RnnCell::kTanh: return for_state<T>(context, a.dh, TanhBackward<T>(a));
    case RnnCell::kRelu: return for_state<T>(context, a.dh, ReluBackward<T>(a));
    case RnnCell::kLstm: return for_state<T>(context, a.dh, LstmBackward<T>(a));
    case RnnCell::kGru: return for_state<T>(context, a.dh, GruBackward<T>(a));
  }
}

void rnn_step_on(Context& context, const RnnStepArgs& a) {
  if (a.gates.dtype == LIBDL_DTYPE_FLOAT64) return forward<double>(context, a);
  forward<float>(context, a);
}
void rnn_step_backward_on(Context& context, const RnnStepBackwardArgs& a) {
  if (a.gates.dtype == LIBDL_DTYPE_FLOAT64) return backward<double>(context, a);
  backward<float>(context, a);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

void rnn_step(Context& context, const RnnStepArgs& args) {
  LIBDL_ON_ISA(rnn_step_on, context, args);
}
void rnn_step_backward(Context& context, const RnnStepBackwardArgs& args) {
  LIBDL_ON_ISA(rnn_step_backward_on, context, args);
}

}  // namespace libdl::kernels::cpu
#endif
