// SPDX-License-Identifier: Apache-2.0

// Running a whole reduction: its units one after another, or distributed over threads.
#if defined(LIBDL_KERNELS_CPU_REDUCTION_REDUCE_RUN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_RUN_INL_H
#undef LIBDL_KERNELS_CPU_REDUCTION_REDUCE_RUN_INL_H
#else
#define LIBDL_KERNELS_CPU_REDUCTION_REDUCE_RUN_INL_H
#endif

#include <algorithm>

#include "kernels/cpu/reduction/reduce_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
using Finish = void (*)(const Job<T>& job, int64_t first, int64_t last);

// What is reduced: kValues(job, unit, none, result) gives the values of a unit's columns.
template <auto kValues, class T>
void finish_values(const Job<T>& job, int64_t unit) {
  static constexpr T none[kWidth<T>] = {};
  T result[kWidth<T>];
  kValues(job, unit, none, result);
  const View& out = job.args->out;
  if (job.out.ndim == 0) return store_tile(out.data, out.dtype, 1, result, 1);
  store_range(result, static_cast<char*>(out.data), out.dtype, dtype_bytes(out.dtype), job.out,
              job.first(unit), job.width(unit));
}

template <auto kValues, class T>
Finish<T> each_unit(const Job<T>&) {
  return [](const Job<T>& job, int64_t first, int64_t last) {
    for (int64_t unit = first; unit < last; ++unit) finish_values<kValues>(job, unit);
  };
}

// finish(job) is how a range of units is finished.
template <class T>
void run(Context& context, const ReduceArgs& args, Load load, Finish<T> (*finish)(const Job<T>&)) {
  Job<T> job(context, args, load);
  const int64_t room = room_across(job);
  const int64_t rooms = room ? std::min<int64_t>(context.host->threads(), Rooms<T>::kMost) : 0;
  const Scratch scratch(context, rooms * room * int64_t{sizeof(T)});
  if (scratch.failed()) return;
  Rooms<T> free(static_cast<T*>(scratch.data()), room, rooms);
  if (room) job.rooms = &free;
  struct Task {
    const Job<T>* job;
    Finish<T> finish;
    int64_t grain;
  } task{&job, finish(job), 1};
  if (job.split || job.rows * job.n < 4 * kGrain) return task.finish(job, 0, job.units);
  const int64_t each = std::max<int64_t>(1, job.n * job.rows / std::max<int64_t>(1, job.units));
  task.grain = std::max<int64_t>(1, kGrain / each);
  context.parallel((job.units + task.grain - 1) / task.grain,
                   [](void* arg, int64_t first, int64_t last) {
                     const Task& t = *static_cast<Task*>(arg);
                     t.finish(*t.job, first * t.grain, std::min(last * t.grain, t.job->units));
                   },
                   &task);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
