// SPDX-License-Identifier: Apache-2.0

#include "optim/lists.h"

#include <algorithm>
#include <vector>

#include "device/meta.h"
#include "ops/core/call.h"
#include "optim/addresses.h"
#include "runtime/thread_pool.h"

namespace libdl {

// -- checks ---------------------------------------------------------------------------------------

void check_factor(const char* op, const char* name, double value, bool below_one) {
  if (!(value >= 0) || (below_one && value >= 1) || std::isinf(value))
    fail_argument(LIBDL_ERROR_VALUE, op, name, "is " + std::to_string(value),
                  below_one ? "0 or more and below 1" : "0 or more and finite");
}

void check_step(const char* op, int64_t step) {
  if (step < 1)
    fail_argument(LIBDL_ERROR_VALUE, op, "step", "is " + std::to_string(step), "1 or more");
}

std::string at_position(size_t i) { return " at position " + std::to_string(i); }

static void check_written(const char* op, const char* name, TensorSpan list) {
  for (size_t i = 0; i < list.size(); ++i) {
    const Tensor& x = list[i];
    if (x.is_number())
      fail_argument(LIBDL_ERROR_VALUE, op, name, "holds a host number" + at_position(i), "tensors");
    if (x.dtype() != Dtype::kFloat32 && x.dtype() != Dtype::kFloat64)
      fail_argument(LIBDL_ERROR_DTYPE, op, name,
                    std::string("holds ") + name_of(x.dtype()) + at_position(i),
                    "float32 or float64");
    if (x.device() != list[0].device())
      fail_argument(LIBDL_ERROR_DEVICE, op, name,
                    "holds a tensor on " + device_name(x.device()) + at_position(i),
                    device_name(list[0].device()) + ", as at position 0");
    if (!x.is_contiguous())
      fail_argument(LIBDL_ERROR_SHAPE, op, name,
                    "holds strides " + to_string(x.strides()) + at_position(i),
                    "contiguous tensors");
    if (x.storage().read_only)
      fail_argument(LIBDL_ERROR_READ_ONLY, op, name, "holds read-only memory" + at_position(i),
                    "memory to write to");
  }
}

static void check_like(const char* op, const char* name, TensorSpan list, TensorSpan params) {
  if (list.size() != params.size())
    fail_argument(LIBDL_ERROR_SHAPE, op, name, "has " + std::to_string(list.size()) + " tensors",
                  std::to_string(params.size()) + ", one a parameter");
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].defined()) continue;  // the gradient of an unused parameter
    if (!same(list[i].shape(), params[i].shape()))
      fail_argument(LIBDL_ERROR_SHAPE, op, name,
                    "holds shape " + to_string(list[i].shape()) + at_position(i),
                    to_string(params[i].shape()));
    if (list[i].dtype() != params[i].dtype())
      fail_argument(LIBDL_ERROR_DTYPE, op, name,
                    std::string("holds ") + name_of(list[i].dtype()) + at_position(i),
                    name_of(params[i].dtype()));
    if (list[i].device() != params[i].device())
      fail_argument(LIBDL_ERROR_DEVICE, op, name,
                    "holds a tensor on " + device_name(list[i].device()) + at_position(i),
                    device_name(params[i].device()));
  }
}

static void check_state(const char* op, const char* name, TensorSpan list, TensorSpan params) {
  check_written(op, name, list);
  check_like(op, name, list, params);
}

namespace {

// Bytes of one list's tensor.
struct Range {
  const char *begin, *end;
  bool written;
};

// Storages that were met, in a table of twice their number or more.
class Met {
 public:
  explicit Met(size_t most) {
    while (capacity_ < 2 * most + 1) capacity_ *= 2;
    table_.resize(capacity_);
  }
  bool again(const Storage& storage) {
    size_t at = reinterpret_cast<uintptr_t>(&storage) / kCell * 0x9E3779B97F4A7C15 >> 32;
    for (;; ++at) {
      const Storage*& slot = table_[at & (capacity_ - 1)];
      if (slot == &storage) return true;
      if (slot) continue;
      slot = &storage;
      return false;
    }
  }

 private:
  size_t capacity_ = 16;
  std::vector<const Storage*> table_;
};

}  // namespace

static bool is_in_memory(const Tensor& x) { return x.defined() && x.numel() && !x.is_number(); }

static bool is_foreign(const Tensor& x) { return x.storage().release && !is_meta(x.device()); }

// Each storage is met once and has memory of libdl's own, or none. Of others the sort tells whether
// they touch.
static bool storages_are_apart(std::initializer_list<TensorSpan> lists) {
  size_t most = 0;
  for (const TensorSpan list : lists) most += list.size();
  Met met(most);
  for (const TensorSpan list : lists)
    for (const Tensor& x : list)
      if (is_in_memory(x) && (is_foreign(x) || met.again(x.storage()))) return false;
  return true;
}

// No byte is written twice, and none is read through another list: sorted by address, neighbours
// must not touch. (name: the list to blame.)
static void check_disjoint(const Step& s) {
  const TensorSpan a = s.params, b = s.states[0].list, c = s.states[1].list, d = s.states[2].list;
  if (storages_are_apart({a, b, c, d, s.grads})) return;
  std::vector<Range> ranges;
  const auto add_all = [&](TensorSpan list, bool writes) {
    for (const Tensor& x : list)
      if (is_in_memory(x)) {
        const char* const first = x.read_plain<char>();
        ranges.push_back({first, first + x.numel() * size_of(x.dtype()), writes});
      }
  };
  for (const TensorSpan list : {a, b, c, d}) add_all(list, true);
  for (const Tensor& x : s.grads)
    if (x.defined() && x.is_contiguous()) add_all({&x, 1}, false);
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  const char* written_end = nullptr;
  const char* end = nullptr;
  for (const Range& r : ranges) {
    if (r.begin < written_end || (r.written && r.begin < end))
      fail_argument(LIBDL_ERROR_OVERLAP, s.op, "params", "or state shares memory within the lists",
                    "tensors with memory of their own");
    end = std::max(end, r.end);
    if (r.written) written_end = std::max(written_end, r.end);
  }
}

// -- launches -------------------------------------------------------------------------------------

static void wrote(const Step& s, TensorSpan list) {
  for (size_t i = 0; i < list.size(); ++i)
    if (s.grads[i].defined()) written(list[i], s.op);
}

void take_step(const Step& step, void (*launch)(Device, const kernels::OptimizerArgs&),
               const kernels::OptimizerOptions& options) {
  const TensorSpan params = step.params;
  check_written(step.op, "params", params);
  check_like(step.op, "grads", step.grads, params);
  Step used = step;
  for (int k = 0; k < 3; ++k) {
    States& s = used.states[static_cast<size_t>(k)];
    if (s.name) {
      check_state(step.op, s.name, s.list, params);
    } else {
      s.list = {};
    }
  }
  check_disjoint(used);
  if (params.empty()) return;
  const ModeGuard off(kModeGrad | kModeForward);
  const Addresses addresses(used);
  const Uninterruptible whole;  // a step is taken or not
  addresses.launch_all(params[0].device(), launch, options);
  wrote(used, params);
  for (const States& s : used.states) wrote(used, s.list);
}

}  // namespace libdl
