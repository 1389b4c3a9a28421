// SPDX-License-Identifier: Apache-2.0

// A chain of expressions over one shape in one pass: every thread walks the instructions.

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"

#ifdef LIBDL_KERNELS
#include "kernels/cuda/math.h"
#endif

namespace libdl::kernels::cuda {

namespace {

// What fits the parameters; derivative rules need far fewer.
constexpr int kSteps = 24, kProgramInputs = 5, kConstants = 8;

struct Step {
  int8_t expression, in[3];
};
struct ProgramLaunch {
  int32_t inputs, numbers, length;
  int32_t out_dtype, in_dtype[kProgramInputs];
  uint32_t host_inputs;
  Element host[kProgramInputs];
  double number[kConstants];
  Step step[kSteps];
  void* out;
  const void* in[kProgramInputs];
  Geometry<kProgramInputs + 1> geometry;
};

}  // namespace

#ifdef LIBDL_KERNELS

template <class V>
LIBDL_DEVICE void run(const ProgramLaunch& p) {
  V value[kProgramInputs + kConstants + kSteps];
  for (int64_t i = first_element(); i < p.geometry.numel; i += all_threads()) {
    int64_t offset[kProgramInputs + 1];
    offsets_of(p.geometry, i, offset);
    for (int k = 0; k < p.inputs; ++k)
      value[k] = p.host_inputs >> k & 1 ? load<V>(&p.host[k], 0, p.in_dtype[k])
                                        : load<V>(p.in[k], offset[k + 1], p.in_dtype[k]);
    for (int k = 0; k < p.numbers; ++k) value[p.inputs + k] = value_of<V>(p.number[k]);
    V y{};
    for (int s = 0; s < p.length; ++s) {
      const Step& step = p.step[s];
      bool truth = false;
      y = evaluate<V>(step.expression, value[step.in[0]], value[step.in[1]], value[step.in[2]],
                      truth);
      value[p.inputs + p.numbers + s] = y;
    }
    store(p.out, offset[0], p.out_dtype, y);
  }
}
LIBDL_KERNEL(program_bool, ProgramLaunch) { run<Bool>(p); }
LIBDL_KERNEL(program_i64, ProgramLaunch) { run<Int64>(p); }
LIBDL_KERNEL(program_u64, ProgramLaunch) { run<Uint64>(p); }
LIBDL_KERNEL(program_f32, ProgramLaunch) { run<float>(p); }
LIBDL_KERNEL(program_f64, ProgramLaunch) { run<double>(p); }
LIBDL_KERNEL(program_c128, ProgramLaunch) { run<Complex>(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

static_assert(sizeof(ProgramLaunch) <= 4096, "a launch's parameters hold 4 KB");

void program(Context& context, const ProgramArgs& a) {
  static constexpr const char* kNames[kClasses] = {"program_bool", "program_i64", "program_u64",
                                                   "program_f32",  "program_f64", "program_c128"};
  if (numel(a.out) == 0) return;
  if (a.length > kSteps || a.inputs > kProgramInputs || a.constants > kConstants)
    return refuse(context, "program: more steps, inputs or constants than a launch holds");
  ProgramLaunch p{};
  p.inputs = a.inputs;
  p.numbers = a.constants;
  p.length = a.length;
  p.out_dtype = a.out.dtype;
  p.host_inputs = a.host_inputs;
  std::memcpy(p.number, a.constant, sizeof p.number);
  for (int s = 0; s < a.length; ++s) {
    p.step[s].expression = static_cast<int8_t>(a.code[s].expression);
    for (int k = 0; k < 3; ++k) p.step[s].in[k] = static_cast<int8_t>(a.code[s].in[k]);
  }
  const View* views[kProgramInputs + 1] = {&a.out};
  for (int k = 0; k < a.inputs; ++k) {
    const bool number = a.host_inputs >> k & 1;
    p.in_dtype[k] = a.in[k].dtype;
    if (number) p.host[k] = host_element(a.in[k]);
    views[k + 1] = number ? nullptr : &a.in[k];
  }
  each_part(views, a.inputs + 1, p.geometry, [&](void* const* data) {
    p.out = data[0];
    for (int k = 0; k < a.inputs; ++k) p.in[k] = data[k + 1];
    launch(context, kNames[a.compute], grid_for(context, p.geometry.numel), p);
  });
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
