// SPDX-License-Identifier: Apache-2.0

// No lock of the library is held while it calls the host: the host may hold a lock of its own that
// another thread wants before it comes to the library's. Every callback that can be given is given
// here, and asks. (Sanitizer builds ask at each operator's start, too.)
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <libdl/libdl.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "base/lock.h"
#include "device/device.h"
#include "tests/core/handle.h"

namespace {

void (*while_opening)() = nullptr;  // in the place of what a plugin's constructors run

}  // namespace

// Stands before the system's for this program: a backend's plugin is opened by it.
extern "C" __attribute__((visibility("default"))) void* dlopen(const char* name, int flags) {
  using Open = void* (*)(const char*, int);
  static const auto real = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  if (while_opening && name && std::string_view(name).ends_with("libdlcuda.so")) while_opening();
  return real(name, flags);
}

namespace {

int asked = 0, violations = 0;
void ask() {
  ++asked;
  violations += libdl::locks_held() != 0;
}

T filled(std::vector<int64_t> shape, double value) {
  T number, x;
  good(libdl_number_f64(value, number.out()));
  good(libdl_full(shape.data(), static_cast<int32_t>(shape.size()), number.get(),
                  LIBDL_DTYPE_FLOAT32, nullptr, x.out()));
  return x;
}
T leaf(std::vector<int64_t> shape, double value) {
  T x = filled(std::move(shape), value);
  good(libdl_tensor_set_requires_grad(x.get(), 1));
  return x;
}
T mul(const T& a, const T& b) {
  T y;
  good(libdl_mul(a.get(), b.get(), y.out()));
  return y;
}
T matmul(const T& a, const T& b) {
  T y;
  good(libdl_matmul(a.get(), b.get(), y.out()));
  return y;
}
T sum(const T& a) {
  T y;
  good(libdl_sum(a.get(), nullptr, 0, 0, LIBDL_DTYPE_NONE, y.out()));
  return y;
}
void backward(const T& y, bool create_graph = false) {
  const libdl_tensor* const outputs[] = {y.get()};
  libdl_backward_options options = {};
  options.struct_size = sizeof options;
  options.create_graph = create_graph;
  options.retain_graph = create_graph;
  good(libdl_backward(outputs, 1, nullptr, 0, nullptr, 0, &options));
}

// -- the host's side ------------------------------------------------------------------------------

void destroyed(void*) { ask(); }
void tell_site(void*, char* buffer, int64_t capacity) {
  ask();
  if (capacity > 0) buffer[0] = 0;
}
void tell_log(void*, libdl_log_level, const char*, int64_t) { ask(); }
void warn(void*, libdl_warning_code, const char*) { ask(); }
int32_t go_on(void*) {
  ask();
  return 0;
}
void relieve(void*, int64_t) { ask(); }
void run_task(void*, void (*task)(void*), void* argument) {
  ask();
  task(argument);
}
void* allocate(void*, size_t bytes, size_t alignment) {
  ask();
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void deallocate(void*, void* data, size_t, size_t) {
  ask();
  std::free(data);
}
libdl_error* gradient_hook(void*, libdl_tensor**, int64_t, libdl_tensor* const*, int64_t) {
  ask();
  return nullptr;
}
libdl_error* pack(void*, const libdl_tensor* value, void** packed) {
  ask();
  return libdl_clone(value, reinterpret_cast<libdl_tensor**>(packed));
}
libdl_error* unpack(void*, void* packed, libdl_tensor** value) {
  ask();
  *value = libdl_tensor_retain(static_cast<libdl_tensor*>(packed));
  return nullptr;
}
void forget(void*, void* packed) {
  ask();
  libdl_tensor_release(static_cast<libdl_tensor*>(packed));
}
libdl_error* intercept(void*, libdl_op, const libdl_value*, int32_t, libdl_tensor* const*,
                       libdl_value*, int32_t, libdl_bool* handled) {
  ask();
  *handled = 0;
  return nullptr;
}
libdl_error* kernel(void*, const libdl_value* arguments, int32_t, libdl_tensor** results, int32_t) {
  ask();
  return libdl_mul(arguments[0].held.tensor, arguments[0].held.tensor, &results[0]);
}
libdl_error* vjp(void*, const libdl_value*, int32_t, const libdl_tensor* const*,
                 const libdl_tensor* const* grads, int32_t, const libdl_bool*, libdl_tensor** out,
                 int32_t) {
  ask();
  return libdl_clone(grads[0], &out[0]);
}

// Foreign memory whose end asks.
T foreign(int64_t rows) {
  T x;
  const int64_t shape[] = {rows, rows};
  void* const data = std::calloc(static_cast<size_t>(rows * rows), 4);
  good(libdl_tensor_from_memory(
      data, rows * rows * 4, shape, 2, nullptr, 0, 0, LIBDL_DTYPE_FLOAT32, 0, data,
      [](void* p) {
        ask();
        std::free(p);
      },
      x.out()));
  return x;
}

class NoLock : public ::testing::Test {
 protected:
  void SetUp() override {
    asked = violations = 0;
    good(libdl_set_site_hook(tell_site, this, destroyed));
    good(libdl_set_log_handler(tell_log, this, destroyed));
    good(libdl_set_warning_handler(warn, this, destroyed));
    good(libdl_set_interruption(go_on, this, destroyed));
    good(libdl_memory_set_pressure(relieve, this, destroyed));
    libdl_executor executor = {};
    executor.struct_size = sizeof executor;
    executor.run = run_task;
    executor.concurrency = 2;
    executor.destroy = destroyed;
    good(libdl_set_executor(&executor));
    libdl_allocator allocator = {};
    allocator.struct_size = sizeof allocator;
    allocator.allocate = allocate;
    allocator.deallocate = deallocate;
    allocator.destroy = destroyed;
    good(libdl_memory_set_allocator(&allocator));
    libdl_set_anomaly_mode(1);
    libdl_set_check_copies(1);
  }
  void TearDown() override {
    libdl_set_check_copies(0);
    libdl_set_anomaly_mode(0);
    int64_t freed = 0;
    good(libdl_memory_set_allocator(nullptr));
    good(libdl_memory_trim(nullptr, &freed));
    good(libdl_set_executor(nullptr));
    good(libdl_memory_set_pressure(nullptr, nullptr, nullptr));
    good(libdl_set_interruption(nullptr, nullptr, nullptr));
    good(libdl_set_warning_handler(nullptr, nullptr, nullptr));
    good(libdl_set_log_handler(nullptr, nullptr, nullptr));
    good(libdl_set_site_hook(nullptr, nullptr, nullptr));
    EXPECT_GT(asked, 10);
    EXPECT_EQ(violations, 0);
  }
};

TEST_F(NoLock, WhereGradientsAreAdded) {
  const T x = leaf({300, 300}, 1);
  for (int pass = 0; pass < 3; ++pass) backward(sum(mul(x, x)));
  good(libdl_tensor_set_grad(x.get(), nullptr));
  for (int pass = 0; pass < 3; ++pass) backward(sum(mul(x, x)), true);
  good(libdl_tensor_set_grad(x.get(), foreign(300).get()));
  backward(sum(mul(x, x)));
  good(libdl_tensor_set_grad(x.get(), nullptr));
}

TEST_F(NoLock, WhereGradientsOfResultsAreKept) {
  const T x = leaf({300, 300}, 1), y = mul(x, x);
  good(libdl_tensor_retain_grad(y.get()));
  for (int pass = 0; pass < 3; ++pass) backward(sum(mul(y, y)), true);
}

TEST_F(NoLock, WhereAViewLearnsOfAWriteToItsBase) {
  const T x = leaf({300, 300}, 1), base = mul(x, x);
  T view;
  good(libdl_transpose(base.get(), 0, 1, view.out()));
  good(libdl_mul_into(base.get(), filled({300, 300}, 2).get(), base.get()));
  backward(sum(view));
  good(libdl_tensor_set_requires_grad(x.get(), 0));
}

TEST_F(NoLock, WhereHooksRunAndGo) {
  const T x = leaf({300, 300}, 1), y = mul(x, x);
  std::array<libdl_hook*, 4> hooks = {};
  libdl_node* const node = libdl_tensor_node(y.get(), nullptr);
  good(
      libdl_tensor_add_hook(x.get(), LIBDL_HOOK_TENSOR, gradient_hook, this, destroyed, &hooks[0]));
  good(libdl_tensor_add_hook(x.get(), LIBDL_HOOK_ACCUMULATED, gradient_hook, this, destroyed,
                             &hooks[1]));
  good(libdl_node_add_hook(node, LIBDL_HOOK_NODE_PRE, gradient_hook, this, destroyed, &hooks[2]));
  good(libdl_node_add_hook(node, LIBDL_HOOK_NODE_POST, gradient_hook, this, destroyed, &hooks[3]));
  backward(sum(y));
  for (libdl_hook* hook : hooks) {
    libdl_hook_remove(hook);
    libdl_hook_release(hook);
  }
  libdl_node_release(node);
}

TEST_F(NoLock, WhereSavedValuesAreTheHosts) {
  libdl_saved_hooks hooks = {};
  hooks.struct_size = sizeof hooks;
  hooks.pack = pack;
  hooks.unpack = unpack;
  hooks.forget = forget;
  hooks.destroy = destroyed;
  good(libdl_saved_hooks_push(&hooks));
  const T x = leaf({300, 300}, 1), y = mul(x, x);
  good(libdl_saved_hooks_pop());
  backward(sum(y));
}

TEST_F(NoLock, WherePackedFormsComeAndGo) {
  const T x = filled({40, 256}, 1), weight = filled({256, 256}, 1);
  for (int i = 0; i < 3; ++i) matmul(x, weight);
  good(libdl_mul_into(weight.get(), weight.get(), weight.get()));
  for (int i = 0; i < 3; ++i) matmul(x, weight);
  T outside = foreign(256);
  for (int i = 0; i < 3; ++i) matmul(x, outside);
  outside = T();
  for (int i = 0; i < 3; ++i) matmul(x, weight);
  good(libdl_memory_set_limit(int64_t{1} << 20));  // want of memory takes forms, and asks the host
  const int64_t huge[] = {int64_t{1} << 24};
  T none;
  libdl_error* const error = libdl_empty(huge, 1, LIBDL_DTYPE_FLOAT64, nullptr, none.out());
  EXPECT_EQ(libdl_error_get_code(error), LIBDL_ERROR_OUT_OF_MEMORY);
  libdl_error_release(error);
  good(libdl_memory_set_limit(0));
}

TEST_F(NoLock, WhereExportsEnd) {
  const T x = leaf({300, 300}, 1), y = mul(x, x), z = mul(y, y);
  void* data = nullptr;
  libdl_mapping* mapping = nullptr;
  good(libdl_tensor_map(y.get(), LIBDL_ACCESS_WRITE, &data, &mapping));
  static_cast<float*>(data)[0] = 7;
  const T loss = sum(z);
  const libdl_tensor* const outputs[] = {loss.get()};
  libdl_error* const error = libdl_backward(outputs, 1, nullptr, 0, nullptr, 0, nullptr);
  libdl_error_release(error);
  libdl_tensor_unmap(mapping);
}

TEST_F(NoLock, WhereTheHostsOperatorsRun) {
  static libdl_op op = -1;
  if (op < 0) {
    good(libdl_op_register("locks::square(tensor input) -> tensor out", -1, &op));
    good(libdl_op_set_kernel(op, LIBDL_DEVICE_CPU, kernel, nullptr, nullptr));
    good(libdl_op_set_vjp(op, vjp, nullptr, nullptr));
  }
  // Refused, so that ctx ends here.
  libdl_error* const error = libdl_op_set_vjp(op, vjp, this, destroyed);
  EXPECT_EQ(libdl_error_get_code(error), LIBDL_ERROR_STATE);
  libdl_error_release(error);
  good(libdl_interceptor_push(intercept, this, destroyed));
  const T x = leaf({300, 300}, 1);
  libdl_value argument = {}, result = {};
  argument.type = LIBDL_VALUE_TENSOR;
  argument.held.tensor = x.get();
  good(libdl_op_call(op, &argument, 1, &result, 1));
  const T y(result.held.tensor);
  good(libdl_interceptor_pop());
  backward(sum(y));
}

// What a plugin runs may ask for the very backend, and other threads' turn comes after it. A
// process opens it once: the test plugin_opens has one of its own.
TEST_F(NoLock, WhereAPluginOpens) {
  static int32_t found;
  found = -1;
  while_opening = [] {
    ask();
    found = libdl::device_count(LIBDL_DEVICE_CUDA);
  };
  std::thread others[3];
  for (std::thread& other : others)
    other = std::thread([] { libdl::device_count(LIBDL_DEVICE_CUDA); });
  const int32_t count = libdl::device_count(LIBDL_DEVICE_CUDA);
  for (std::thread& other : others) other.join();
  while_opening = nullptr;
  ask();
  if (found == -1 && !std::getenv("LIBDL_TEST_ALONE"))
    GTEST_SKIP() << "another test has opened it, with " << count << " devices";
  EXPECT_EQ(found, 0);
}

TEST_F(NoLock, WhereAThreadEnds) {
  std::thread([&] {
    good(libdl_scope_push());
    T x = foreign(8);
    good(libdl_interceptor_push(intercept, this, destroyed));
    libdl_tensor_release(libdl_tensor_retain(x.get()));
  }).join();
}

}  // namespace
