// SPDX-License-Identifier: Apache-2.0

// Every operator with every combination of small shapes and two dtypes for its tensors: 0-d beside
// one dimension of 0, 1 or 2. Elements end where a page ends that has a forbidden one behind it, so
// that one element too many is a fault in any build; gradients are taken of what succeeds.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "handle.h"
#include "kernel_runs.h"
#include "tests/core/whole.h"

namespace {

char running[512];  // the call, for who reads of the fault
void tell_fault(int) {
  (void)!write(STDERR_FILENO, running, std::strlen(running));
  _exit(1);
}

// One page, and behind it one that nobody may touch.
class Page {
 public:
  Page() : size_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    memory_ = static_cast<char*>(
        mmap(nullptr, 2 * size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + size_, size_, PROT_NONE);
  }
  ~Page() { munmap(memory_, 2 * size_); }
  Page(const Page&) = delete;
  void* last(int64_t bytes) const { return memory_ + size_ - bytes; }

 private:
  size_t size_;
  char* memory_;
};

struct Kind {
  std::vector<int64_t> shape;
  libdl_dtype dtype;
  bool absent = false;
};
std::string to_string(const Kind& kind) {
  if (kind.absent) return "none";
  std::string text = kind.dtype == LIBDL_DTYPE_FLOAT32 ? "f[" : "i[";
  for (const int64_t size : kind.shape) text += std::to_string(size) + ",";
  return text + "]";
}

const std::vector<Kind>& kinds(bool few) {
  static const auto made = [](const std::vector<std::vector<int64_t>>& shapes) {
    std::vector<Kind> all;
    for (const auto& shape : shapes)
      for (const libdl_dtype dtype : {LIBDL_DTYPE_FLOAT32, LIBDL_DTYPE_INT64})
        all.push_back({shape, dtype});
    return all;
  };
  static const auto all = made({{}, {0}, {1}, {2}, {1, 0}, {0, 1}, {2, 1}, {2, 2}});
  static const auto short_list = made({{}, {0}, {2}});
  return few ? short_list : all;
}

constexpr size_t kMost = 6;  // tensors of a call

T made(const Page& page, const Kind& kind, bool leaf) {
  if (kind.absent) return {};
  int64_t bytes = libdl_dtype_size(kind.dtype);
  for (const int64_t size : kind.shape) bytes *= size;
  void* const data = page.last(bytes);
  std::memset(data, 0, static_cast<size_t>(bytes));  // 0 is an index, too
  T x;
  good(libdl_tensor_from_memory(data, bytes, kind.shape.data(),
                                static_cast<int32_t>(kind.shape.size()), nullptr, 0, 0, kind.dtype,
                                0, nullptr, nullptr, x.out()));
  good(libdl_tensor_set_requires_grad(x.get(), leaf && kind.dtype == LIBDL_DTYPE_FLOAT32));
  return x;
}

// The arguments that are no tensors: small ones, those of one dimension, or none where that may be.
libdl_value plain_value(libdl_value_type type, bool nullable, int way) {
  static constexpr int64_t kOnes[] = {1, 1};
  libdl_value value{};
  if (nullable && way == 2) return value;
  value.type = type;
  switch (type) {
    case LIBDL_VALUE_BOOL: value.held.boolean = way == 1; break;
    case LIBDL_VALUE_INT: value.held.integer = way == 1; break;
    case LIBDL_VALUE_FLOAT: value.held.number = way == 1 ? 1 : 0.5; break;
    case LIBDL_VALUE_INTS: value.held.integers = {kOnes, way}; break;
    case LIBDL_VALUE_STRING: value.held.string = {way == 1 ? "sum" : "mean", -1}; break;
    case LIBDL_VALUE_DEVICE: value.held.device = {LIBDL_DEVICE_CPU, 0}; break;
    default: break;
  }
  return value;
}

class Calls {
 public:
  explicit Calls(libdl_op op) : op_(op) {
    for (int32_t k = 0; k < libdl_op_argument_count(op); ++k) {
      const libdl_value_type type = libdl_op_argument_type(op, k);
      const size_t n = type == LIBDL_VALUE_TENSOR ? 1 : type == LIBDL_VALUE_TENSORS ? 2 : 0;
      for (size_t i = 0; i < n; ++i) nullable_.push_back(libdl_op_argument_is_nullable(op, k));
    }
  }
  int64_t succeeded() const { return succeeded_; }

  // The first time every call; then those that succeeded, for the others reach no kernel.
  void run(bool into) {
    const size_t count = nullable_.size() + (into ? results() : 0);
    if (count == 0 || count > kMost || results() == 0) return;
    repeated_ = !holds_.empty();
    next_ = 0;
    for (int way = 0; way < 3; ++way) {
      std::vector<Kind> chosen(count);
      choose(chosen, 0, into, way);
    }
  }

 private:
  size_t results() const { return static_cast<size_t>(libdl_op_result_count(op_)); }

  void choose(std::vector<Kind>& chosen, size_t k, bool into, int way) {
    if (k == chosen.size()) {
      if (!repeated_ || holds_[next_]) call(chosen, into, way);
      ++next_;
      return;
    }
    for (const Kind& kind : kinds(chosen.size() > (into ? 2u : 3u))) {
      chosen[k] = kind;
      choose(chosen, k + 1, into, way);
    }
    if (k >= nullable_.size() || !nullable_[k]) return;
    chosen[k] = {{}, 0, true};
    choose(chosen, k + 1, into, way);
  }

  void call(const std::vector<Kind>& chosen, bool into, int way) {
    std::string text = std::string(libdl_op_name(op_)) + (into ? " into" : "");
    for (const Kind& kind : chosen) text += " " + to_string(kind);
    text += ", way " + std::to_string(way) + "\n";
    std::strncpy(running, text.c_str(), sizeof running - 1);

    std::vector<T> tensors;
    for (size_t i = 0; i < chosen.size(); ++i) tensors.push_back(made(pages_[i], chosen[i], !into));
    std::vector<const libdl_tensor*> given;
    for (const T& x : tensors) given.push_back(x.get());
    std::vector<libdl_value> arguments;
    size_t next = 0;
    for (int32_t k = 0; k < libdl_op_argument_count(op_); ++k) {
      const libdl_value_type type = libdl_op_argument_type(op_, k);
      libdl_value value = plain_value(type, libdl_op_argument_is_nullable(op_, k), way);
      if (type == LIBDL_VALUE_TENSOR) {
        value = {};
        value.type = given[next] ? LIBDL_VALUE_TENSOR : LIBDL_VALUE_NONE;
        value.held.tensor = tensors[next++].get();
      } else if (type == LIBDL_VALUE_TENSORS) {
        value.type = type;
        value.held.tensors = {&given[next], 2};
        next += 2;
      }
      arguments.push_back(value);
    }
    const auto n = static_cast<int32_t>(arguments.size());
    if (into) {
      std::vector<libdl_tensor*> dsts;
      for (; next < tensors.size(); ++next) dsts.push_back(tensors[next].get());
      end(libdl_op_call_into(op_, arguments.data(), n, dsts.data(),
                             static_cast<int32_t>(dsts.size())));
      return;
    }
    std::vector<libdl_value> made(results());
    if (end(libdl_op_call(op_, arguments.data(), n, made.data(),
                          static_cast<int32_t>(made.size()))))
      take(made);
  }

  bool end(libdl_error* error) {
    libdl_error_release(error);
    succeeded_ += error == nullptr;
    if (!repeated_) holds_.push_back(error == nullptr);
    return error == nullptr;
  }

  // The gradients of a result with history, of ones.
  void take(std::vector<libdl_value>& made) {
    for (libdl_value& value : made) {
      if (value.type == LIBDL_VALUE_TENSOR_LIST) libdl_tensor_list_release(value.held.list);
      if (value.type != LIBDL_VALUE_TENSOR) continue;
      const T y(value.held.tensor);
      if (!libdl_tensor_requires_grad(y.get())) continue;
      T ones;
      good(libdl_ones_like(y.get(), LIBDL_DTYPE_NONE, nullptr, ones.out()));
      const libdl_tensor *const outputs[] = {y.get()}, *const seeds[] = {ones.get()};
      libdl_error_release(libdl_backward(outputs, 1, seeds, 1, nullptr, 0, nullptr));
    }
  }

  libdl_op op_;
  std::vector<bool> nullable_;
  Page pages_[kMost];
  int64_t succeeded_ = 0;
  std::vector<bool> holds_;  // of each call in turn
  size_t next_ = 0;
  bool repeated_ = false;
};

void run_all(bool into) {
  struct sigaction fault{}, before{};
  fault.sa_handler = tell_fault;
  sigaction(SIGSEGV, &fault, &before);
  int64_t ops = 0;
  for (libdl_op op = 0; op < libdl_op_count(); ++op) {
    if (into ? !libdl_op_has_into(op) : !libdl_op_has_new(op)) continue;
    if (!libdl::test::in_turn(op, 3)) continue;
    Calls calls(op);
    libdl::kernels::test::for_isas([&](auto) { calls.run(into); });
    ops += calls.succeeded() > 0;
  }
  EXPECT_GT(ops, libdl::test::is_whole() ? 100 : 25) << "operators of which a call succeeds";
  sigaction(SIGSEGV, &before, nullptr);
}

TEST(SmallShapes, NoOperatorTouchesWhatLiesBehindItsTensors) { run_all(false); }
TEST(SmallShapes, NoIntoFormTouchesWhatLiesBehindItsTensors) { run_all(true); }

}  // namespace
