// SPDX-License-Identifier: Apache-2.0

#include "device/device.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "base/error.h"
#include "device/launch.h"
#include "device/plugin.h"
#include "device/stream.h"
#include "device/transfer.h"
#include "runtime/thread_pool.h"

namespace libdl {
namespace {

std::string message_of(const std::function<void()>& call, libdl_error_code code) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.message();
    return error.message();
  }
  ADD_FAILURE() << "no error";
  return "";
}

// A device of the test: two of them, memory from malloc, queues that are always late by one query.
constexpr int32_t kFake = 13;

struct FakeDriver {
  int streams = 0, events = 0, copies = 0, launches = 0;
  int32_t fail_next = 0;
  void* last_stream = nullptr;
  int64_t held = 0;
} fake;

libdl_error* answer() {
  if (!fake.fail_next) return nullptr;
  fake.fail_next = 0;
  return Error(LIBDL_ERROR_BACKEND, "fake: the driver failed").release();
}

void count_launch(kernels::Context* context, const void* args) {
  ++fake.launches;
  fake.last_stream = context->stream;
  const auto& fill = *static_cast<const kernels::FillArgs*>(args);
  std::memcpy(fill.out.data, fill.value, 1);
}

void long_launch(kernels::Context* context, const void*) {
  context->parallel(1000, [](void*, int64_t, int64_t) {}, nullptr);
}

const Backend& fake_backend() {
  static Kernel table[kKernels] = {};
  table[static_cast<int>(KernelId::fill)] = count_launch;
  table[static_cast<int>(KernelId::copy)] = long_launch;
  table[static_cast<int>(KernelId::search)] = long_launch;
  static Backend backend = [] {
    Backend b = {};
    b.struct_size = sizeof b;
    b.device_type = kFake;
    b.name = "fake";
    b.build_id = "";
    b.kernel_count = kKernels;
    b.kernels = table;
    b.device_count = [](int32_t* count) -> libdl_error* {
      *count = 2;
      return nullptr;
    };
    b.properties = [](int32_t, DeviceProperties* p) -> libdl_error* {
      p->total_memory = 1 << 30;
      std::strcpy(p->name, "fake");
      return nullptr;
    };
    b.allocate = [](int32_t, size_t bytes, void** data) -> libdl_error* {
      *data = std::aligned_alloc(512, bytes);
      ++fake.held;
      return nullptr;
    };
    b.free = [](int32_t, void* data) {
      --fake.held;
      std::free(data);
    };
    b.copy = [](int32_t, void* to, const void* from, size_t bytes, void*) -> libdl_error* {
      ++fake.copies;
      std::memcpy(to, from, bytes);
      return answer();
    };
    b.fill = [](int32_t, void* to, int32_t byte, size_t bytes, void*) -> libdl_error* {
      std::memset(to, byte, bytes);
      return answer();
    };
    b.stream_create = [](int32_t, int32_t, void** stream) -> libdl_error* {
      ++fake.streams;
      *stream = &fake.streams;
      return answer();
    };
    b.stream_destroy = [](int32_t, void*) { --fake.streams; };
    b.stream_query = [](int32_t, void*, int32_t* done) -> libdl_error* {
      *done = 0;
      return answer();
    };
    b.stream_synchronize = [](int32_t, void*) -> libdl_error* { return answer(); };
    b.device_synchronize = [](int32_t) -> libdl_error* { return answer(); };
    b.event_create = [](int32_t, int32_t, void** event) -> libdl_error* {
      ++fake.events;
      *event = &fake.events;
      return nullptr;
    };
    b.event_destroy = [](int32_t, void*) { --fake.events; };
    b.event_record = [](int32_t, void*, void*) -> libdl_error* { return answer(); };
    b.stream_wait = [](int32_t, void*, void*) -> libdl_error* { return answer(); };
    b.event_query = [](int32_t, void*, int32_t* done) -> libdl_error* {
      *done = 1;
      return nullptr;
    };
    b.event_synchronize = [](int32_t, void*) -> libdl_error* { return answer(); };
    b.event_elapsed = [](int32_t, void*, void*, double* ms) -> libdl_error* {
      *ms = 2.5;
      return nullptr;
    };
    return b;
  }();
  return backend;
}

constexpr Device kCpu{LIBDL_DEVICE_CPU, 0};

TEST(Device, TheCpuIsThere) {
  EXPECT_EQ(device_count(LIBDL_DEVICE_CPU), 1);
  EXPECT_NO_THROW(check_device("test", kCpu));
  const DeviceProperties p = device_properties(kCpu);
  EXPECT_GT(p.total_memory, 0);
  EXPECT_GT(p.processors, 0);
  EXPECT_NE(p.name[0], 0);
  EXPECT_EQ(&allocator_for(kCpu), &host_allocator());
  EXPECT_NO_THROW(synchronize(kCpu));
  EXPECT_EQ(device_name(kCpu), "cpu");
  EXPECT_EQ(device_name({LIBDL_DEVICE_CUDA, 3}), "cuda:3");
}

TEST(Device, EveryCpuKernelIsInTheTable) {
  for (int32_t i = 0; i < kKernels; ++i) EXPECT_NE(cpu_backend().kernels[i], nullptr);
}

TEST(Device, DevicesThatDoNotExistAreNamed) {
  EXPECT_EQ(message_of([] { check_device("empty", {LIBDL_DEVICE_CPU, 1}); }, LIBDL_ERROR_DEVICE),
            "empty: device cpu:1 does not exist; there are 1");
  EXPECT_EQ(message_of([] { check_device("empty", {LIBDL_DEVICE_CPU, -1}); }, LIBDL_ERROR_DEVICE),
            "empty: device cpu:-1 does not exist; there are 1");
  for (int32_t type : {0, 4, 15, 16, -1, INT32_MAX, INT32_MIN}) {
    message_of([type] { check_device("empty", {type, 0}); }, LIBDL_ERROR_DEVICE);
    EXPECT_EQ(device_count(type), 0);
  }
}

TEST(Device, ABackendOfNoTypeIsRefused) {
  Backend none = {};
  none.device_type = 99;
  EXPECT_EQ(message_of([&] { register_backend(none); }, LIBDL_ERROR_DEVICE),
            "device type 99 is unknown");
}

TEST(Device, ATypeOrNameThatIsTakenIsRefused) {
  static Backend second = fake_backend();
  second.device_type = LIBDL_DEVICE_CPU;
  EXPECT_EQ(message_of([&] { register_backend(second); }, LIBDL_ERROR_DEVICE),
            "device type 1 is taken by cpu");
  second.device_type = kFake + 7;
  second.name = "cpu";
  EXPECT_EQ(message_of([&] { register_backend(second); }, LIBDL_ERROR_DEVICE),
            "device name cpu is taken by device type 1");
}

// What register_backend says of a table without this entry.
template <class T>
std::string refusal_without(T Backend::* entry) {
  static Backend lacking;
  lacking = fake_backend();
  lacking.device_type = kFake + 7;
  lacking.name = "lame";
  lacking.granule = [](int32_t) -> size_t { return 512; };
  lacking.reserve = lacking.allocate;
  lacking.commit = [](int32_t, void*, size_t, size_t, int32_t*) -> libdl_error* { return nullptr; };
  lacking.decommit = lacking.unreserve = [](int32_t, void*, size_t) {};
  lacking.host_allocate = lacking.allocate;
  lacking.host_free = lacking.free;
  lacking.*entry = nullptr;
  return message_of([] { register_backend(lacking); }, LIBDL_ERROR_BACKEND);
}

TEST(Device, ATableThatLacksAnEntryIsRefused) {
  EXPECT_EQ(refusal_without(&Backend::name), "device (no name): its table lacks name");
#define EXPECT_NEEDED(entry) \
  EXPECT_EQ(refusal_without(&Backend::entry), "device lame: its table lacks " #entry)
  EXPECT_NEEDED(kernels);
  EXPECT_NEEDED(device_count);
  EXPECT_NEEDED(properties);
  EXPECT_NEEDED(reserve);
  EXPECT_NEEDED(commit);
  EXPECT_NEEDED(decommit);
  EXPECT_NEEDED(unreserve);
  EXPECT_NEEDED(allocate);
  EXPECT_NEEDED(free);
  EXPECT_NEEDED(copy);
  EXPECT_NEEDED(fill);
  EXPECT_NEEDED(stream_create);
  EXPECT_NEEDED(stream_destroy);
  EXPECT_NEEDED(stream_query);
  EXPECT_NEEDED(stream_synchronize);
  EXPECT_NEEDED(device_synchronize);
  EXPECT_NEEDED(event_create);
  EXPECT_NEEDED(event_destroy);
  EXPECT_NEEDED(event_record);
  EXPECT_NEEDED(stream_wait);
  EXPECT_NEEDED(event_query);
  EXPECT_NEEDED(event_synchronize);
  EXPECT_NEEDED(event_elapsed);
  EXPECT_NEEDED(host_free);
#undef EXPECT_NEEDED
  EXPECT_EQ(device_count(kFake + 7), 0);
}

TEST(Device, AMissingPluginIsNamed) {
  const std::string message =
      message_of([] { open_plugin("libdl-no-such-plugin.so"); }, LIBDL_ERROR_BACKEND);
  EXPECT_EQ(message.find("plugin_open: libdl-no-such-plugin.so was not found"), 0u) << message;
}

TEST(Device, ALibraryThatIsNoPluginIsNamed) {
  static constexpr KnownPlugin kNone{LIBDL_DEVICE_CUDA, "cuda", "libm.so.6"};
  EXPECT_EQ(message_of([] { open_known(kNone); }, LIBDL_ERROR_BACKEND),
            "cuda: libm.so.6 is no libdl plugin (it lacks libdl_backend_open and "
            "libdl_provider_open)");
}

TEST(Device, CopiesOnTheCpuAreDoneAtOnce) {
  char from[5] = "abcd", to[5] = "";
  copy_bytes(to, kCpu, from, kCpu, 5, nullptr);
  EXPECT_STREQ(to, "abcd");
  copy_bytes(nullptr, kCpu, nullptr, kCpu, 0, nullptr);
}

TEST(Stream, TheCpusStreamsAreAlwaysEmpty) {
  const Stream stream = make_stream(kCpu), other = make_stream(kCpu);
  EXPECT_NE(stream->native, other->native);
  EXPECT_TRUE(query(*stream));
  EXPECT_NO_THROW(synchronize(*stream));
  const Event event = make_event(kCpu, true);
  EXPECT_TRUE(query(*event));
  wait(*stream, *event);
  record(*event, *stream);
  wait(*other, *event);
  EXPECT_TRUE(query(*event));
  EXPECT_NO_THROW(synchronize(*event));
}

TEST(Stream, TheCpusEventsMeasureTime) {
  const Stream stream = default_stream(kCpu);
  const Event first = make_event(kCpu, true), second = make_event(kCpu, true);
  message_of([&] { elapsed(*first, *second); }, LIBDL_ERROR_STATE);
  record(*first, *stream);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  record(*second, *stream);
  EXPECT_GE(elapsed(*first, *second), 10);
  EXPECT_LT(elapsed(*first, *second), 10'000);
  EXPECT_LE(elapsed(*second, *first), -10);
  const Event untimed = make_event(kCpu, false);
  record(*untimed, *stream);
  message_of([&] { elapsed(*first, *untimed); }, LIBDL_ERROR_STATE);
}

TEST(Stream, TheCurrentStreamBelongsToTheState) {
  const Stream mine = make_stream(kCpu);
  set_current_stream(mine);
  EXPECT_EQ(current_stream(kCpu).get(), mine.get());
  std::thread([] { EXPECT_EQ(current_stream(kCpu)->native, nullptr); }).join();
  set_current_stream(default_stream(kCpu));
  EXPECT_EQ(current_stream(kCpu)->native, nullptr);
  EXPECT_EQ(mine->count(), 1u);
}

TEST(Stream, AStateThatGoesGivesItsStreamBack) {
  const Stream mine = make_stream(kCpu);
  std::thread([&] { set_current_stream(mine); }).join();
  EXPECT_EQ(mine->count(), 1u);
}

class FakeDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() { register_backend(fake_backend()); }
  void SetUp() override { fake.launches = fake.copies = fake.fail_next = 0; }
  static constexpr Device kDevice{kFake, 1};
};

TEST_F(FakeDevice, HasAnAllocatorOfItsOwn) {
  Allocator& allocator = allocator_for(kDevice);
  EXPECT_NE(&allocator, &host_allocator());
  EXPECT_NE(&allocator, &allocator_for({kFake, 0}));
  EXPECT_EQ(&allocator, &allocator_for(kDevice));
  int stream, other;
  void* data = allocator.allocate(1000, &stream);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 512, 0u);
  EXPECT_EQ(fake.held, 1);
  const int events = fake.events;
  for (int i = 0; i < 3; ++i) {
    allocator.record_use(data, &other);
    allocator.deallocate(data, 1000);
    EXPECT_EQ(fake.events, events + 1) << "the event is used again";
    EXPECT_EQ(allocator.allocate(1000, &stream), data);
  }
  allocator.deallocate(data, 1000);
  allocator.trim();
  EXPECT_EQ(fake.held, 0);
  EXPECT_EQ(allocator.statistics().limit, 1 << 30);
}

TEST_F(FakeDevice, RunsItsKernelsAndLacksOthers) {
  char byte = 0;
  const char value = 7;
  launch<KernelId::fill>(kDevice, {.out = {&byte, nullptr, nullptr, 0, 0}, .value = &value});
  EXPECT_EQ(byte, 7);
  EXPECT_EQ(fake.launches, 1);
  const std::string message =
      message_of([] { launch<KernelId::matmul>(kDevice, {}); }, LIBDL_ERROR_UNSUPPORTED);
  EXPECT_NE(message.find("has no kernel matmul"), std::string::npos);
}

TEST_F(FakeDevice, TellsWhichOptionalKernelsItHas) {
  EXPECT_TRUE(has_kernel(kDevice, KernelId::search));
  EXPECT_FALSE(has_kernel(kDevice, KernelId::attention));
  EXPECT_TRUE(has_kernel({}, KernelId::attention));
  static ProvidedKernel brought[kKernels] = {};
  brought[static_cast<int>(KernelId::attention)] = {nullptr, long_launch};
  static const Provider provider = {sizeof(Provider), kFake, "attentive", "", kKernels, brought};
  register_provider(provider);
  EXPECT_TRUE(has_kernel(kDevice, KernelId::attention));
  set_provider_enabled("attentive", false);
  EXPECT_FALSE(has_kernel(kDevice, KernelId::attention));
}

TEST_F(FakeDevice, AnInterruptedKernelIsAnError) {
  const Interruption stop = {
      .ctx = nullptr, .ask = [](void*) -> int32_t { return 1; }, .destroy = nullptr};
  const int before = threads();
  set_threads(1);  // nobody else may finish the work before the hook is asked
  set_interruption(&stop);
  message_of([] { launch<KernelId::copy>(kDevice, {}); }, LIBDL_ERROR_INTERRUPTED);
  set_interruption(nullptr);
  set_threads(before);
  EXPECT_NO_THROW(launch<KernelId::copy>(kDevice, {}));
}

TEST_F(FakeDevice, FailuresOfTheDriverComeOutOnce) {
  const Stream stream = make_stream(kDevice);
  const Event event = make_event(kDevice, true);
  EXPECT_FALSE(query(*stream));
  fake.fail_next = 1;
  EXPECT_EQ(message_of([&] { synchronize(*stream); }, LIBDL_ERROR_BACKEND),
            "fake: the driver failed");
  EXPECT_NO_THROW(synchronize(*stream));
  fake.fail_next = 1;
  message_of([&] { record(*event, *stream); }, LIBDL_ERROR_BACKEND);
  EXPECT_FALSE(event->recorded);
  fake.fail_next = 1;
  message_of([&] { synchronize(kDevice); }, LIBDL_ERROR_BACKEND);
  char a = 1, b = 0;
  fake.fail_next = 1;
  message_of([&] { copy_bytes(&b, kCpu, &a, kDevice, 1, nullptr); }, LIBDL_ERROR_BACKEND);
  EXPECT_EQ(fake.copies, 1);
}

TEST_F(FakeDevice, EventsAndStreamsAreUsedAgain) {
  {
    const Stream stream = make_stream(kDevice);
    const Stream foreign = wrap_stream(kDevice, &fake);
    const Event event = make_event(kDevice, false);
    EXPECT_EQ(fake.streams, 1);
    EXPECT_EQ(foreign->native, &fake);
    message_of([&] { record(*event, *default_stream(kCpu)); }, LIBDL_ERROR_DEVICE);
    wait(*default_stream(kCpu), *event);
  }
  const int events = fake.events;
  make_event(kDevice, false);
  EXPECT_EQ(fake.events, events) << "one that was given back is used again";
  make_event(kDevice, true);
  EXPECT_EQ(fake.events, events) << "those with timing are not kept";
  EXPECT_EQ(fake.streams, 1) << "memory may still wait for its work";
  const Stream again = make_stream(kDevice);
  EXPECT_EQ(fake.streams, 1);
  const Stream other = make_stream(kDevice, 1);
  EXPECT_EQ(fake.streams, 2) << "of another priority";
}

}  // namespace
}  // namespace libdl
