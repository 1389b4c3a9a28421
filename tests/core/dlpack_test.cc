// SPDX-License-Identifier: Apache-2.0

#include "tensor/dlpack.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "tensor/mapping.h"
#include "tensor/row_major.h"
#include "tests/core/code_of.h"

namespace libdl {
namespace {

using test::code_of;

using dlpack::Managed;
using dlpack::ManagedVersioned;

constexpr int64_t kBig = std::numeric_limits<int64_t>::max();

// A producer that counts how often it is told to let go. It lives on, so that a second call is
// seen.
struct Producer {
  alignas(64) float elements[64];
  int64_t shape[70] = {2, 3}, strides[70] = {3, 1};
  int deleted = 0;
  ManagedVersioned versioned{};
  Managed old{};

  Producer() {
    for (int i = 0; i < 64; ++i) elements[i] = static_cast<float>(i);
    versioned.version = {1, 3};
    versioned.manager_ctx = this;
    versioned.deleter = [](ManagedVersioned* m) {
      ++static_cast<Producer*>(m->manager_ctx)->deleted;
    };
    old.manager_ctx = this;
    old.deleter = [](Managed* m) { ++static_cast<Producer*>(m->manager_ctx)->deleted; };
    versioned.tensor.data = elements;
    versioned.tensor.device_type = dlpack::kCpu;
    versioned.tensor.ndim = 2;
    versioned.tensor.dtype = {dlpack::kFloat, 32, 1};
    versioned.tensor.shape = shape;
    versioned.tensor.strides = strides;
  }
  Tensor take(CopyPolicy copy = CopyPolicy::kIfNeeded) { return from_dlpack(&versioned, copy); }
  Tensor take_old(CopyPolicy copy = CopyPolicy::kIfNeeded) {
    old.tensor = versioned.tensor;
    return from_dlpack(&old, copy);
  }
};

Tensor iota(Dims shape) {
  Tensor x = empty(shape, Dtype::kFloat32);
  for (int64_t i = 0; i < x.numel(); ++i) x.update_plain<float>()[i] = static_cast<float>(i);
  return x;
}
Tensor iota(std::initializer_list<int64_t> shape) {
  return iota(Dims(shape.begin(), shape.size()));
}

std::vector<float> values(const Tensor& x) {
  std::vector<float> out(static_cast<size_t>(x.numel()));
  read_elements(x, out.data());
  return out;
}

TEST(RowMajor, EveryKindOfStrides) {
  const Tensor x = iota({4, 3, 2});
  const Tensor t = alias(x, Shape{2, 3, 4}, Shape{1, 2, 6}, 0, x.dtype());
  EXPECT_EQ(values(t), (std::vector<float>{0, 6, 12, 18, 2, 8, 14, 20, 4, 10, 16, 22,
                                           1, 7, 13, 19, 3, 9, 15, 21, 5, 11, 17, 23}));
  const Tensor back = alias(x, Shape{3}, Shape{-2}, 4, x.dtype());
  EXPECT_EQ(values(back), (std::vector<float>{4, 2, 0}));
  const Tensor wide = alias(x, Shape{2, 1, 3}, Shape{0, 77, 1}, 3, x.dtype());
  EXPECT_EQ(values(wide), (std::vector<float>{3, 4, 5, 3, 4, 5}));
  const Tensor rows = alias(x, Shape{2, 2, 2}, Shape{12, 6, 1}, 1, x.dtype());
  EXPECT_EQ(values(rows), (std::vector<float>{1, 2, 7, 8, 13, 14, 19, 20}));
  EXPECT_EQ(values(alias(x, Shape{}, Shape{}, 5, x.dtype())), std::vector<float>{5});
  EXPECT_TRUE(values(alias(x, Shape{3, 0}, Shape{1, 1}, 0, x.dtype())).empty());
}

TEST(RowMajor, WritingIsTheReverseOfReading) {
  const Tensor x = iota({3, 4});
  const Tensor t = alias(x, Shape{4, 3}, Shape{1, 4}, 0, x.dtype());
  std::vector<float> numbers(12);
  for (int i = 0; i < 12; ++i) numbers[static_cast<size_t>(i)] = static_cast<float>(100 + i);
  copy_in(t, numbers.data(), 48);
  EXPECT_EQ(values(t), numbers);
  EXPECT_EQ(x.read_plain<float>()[1], 103);
  EXPECT_EQ(x.storage().version, 1u);
}

TEST(DlpackExport, DescribesTheTensor) {
  const Tensor x = iota({4, 6});
  const Tensor view = alias(x, Shape{2, 3}, Shape{1, 6}, 7, x.dtype());
  ManagedVersioned* const m = to_dlpack(view, {});
  EXPECT_EQ(m->version.major, 1u);
  EXPECT_EQ(m->version.minor, 3u);
  EXPECT_EQ(m->flags, 0u);
  EXPECT_EQ(m->tensor.data, view.read_plain());
  EXPECT_EQ(m->tensor.byte_offset, 0u);
  EXPECT_EQ(m->tensor.ndim, 2);
  EXPECT_EQ(m->tensor.shape[0], 2);
  EXPECT_EQ(m->tensor.strides[1], 6);
  EXPECT_EQ(m->tensor.device_type, dlpack::kCpu);
  EXPECT_EQ(m->tensor.dtype.code, dlpack::kFloat);
  EXPECT_EQ(m->tensor.dtype.bits, 32);
  EXPECT_EQ(m->tensor.dtype.lanes, 1);
  m->deleter(m);
}

TEST(DlpackExport, EmptyAndScalarTensors) {
  ManagedVersioned* m = to_dlpack(iota({0, 3}), {});
  EXPECT_EQ(m->tensor.data, nullptr);
  EXPECT_NE(m->tensor.strides, nullptr);
  m->deleter(m);
  m = to_dlpack(iota(std::initializer_list<int64_t>{}), {});
  EXPECT_EQ(m->tensor.ndim, 0);
  EXPECT_NE(m->tensor.strides, nullptr);
  EXPECT_NE(m->tensor.data, nullptr);
  m->deleter(m);
}

TEST(DlpackExport, EveryDtypeComesBackAsItself) {
  for (int32_t number = 1; number < kDtypes; ++number) {
    const Tensor x = empty(Shape{3}, static_cast<Dtype>(number));
    std::memset(x.overwrite_plain(), 0, static_cast<size_t>(byte_count(x)));
    const Tensor shared = from_dlpack(to_dlpack(x, {}), CopyPolicy::kNever);
    EXPECT_EQ(shared.dtype(), x.dtype());
    EXPECT_EQ(shared.read_plain(), x.read_plain());
    const Tensor copied = from_dlpack(to_dlpack_unversioned(x, {}), CopyPolicy::kAlways);
    EXPECT_EQ(copied.dtype(), x.dtype());
    EXPECT_NE(copied.read_plain(), x.read_plain());
  }
}

TEST(DlpackExport, OutlivesTheTensorAndEndsOnAnyThread) {
  const LiveCounts before = live_counts();
  Tensor x = iota({100});
  ManagedVersioned* const m = to_dlpack(x, {});
  x = {};
  EXPECT_EQ(static_cast<float*>(m->tensor.data)[99], 99);
  std::thread([m] { m->deleter(m); }).join();
  EXPECT_EQ(live_counts().storages, before.storages);
  EXPECT_EQ(live_counts().bytes, before.bytes);
}

TEST(DlpackExport, WritableExportsAreCountedAndTheirEndIsAWrite) {
  const Tensor x = iota({8});
  ManagedVersioned* const a = to_dlpack(x, {});
  Managed* const b = to_dlpack_unversioned(x, {});
  ExportOptions reading;
  reading.read_only = true;
  ManagedVersioned* const c = to_dlpack(x, reading);
  EXPECT_EQ(c->flags, dlpack::kReadOnly);
  EXPECT_EQ(x.storage().writable_exports, 2);
  EXPECT_EQ(x.storage().version, 0u);
  a->deleter(a);
  EXPECT_EQ(x.storage().writable_exports, 1);
  EXPECT_EQ(x.storage().version, 1u);
  c->deleter(c);
  EXPECT_EQ(x.storage().version, 1u);
  b->deleter(b);
  EXPECT_EQ(x.storage().writable_exports, 0);
  EXPECT_EQ(x.storage().version, 2u);
}

TEST(DlpackExport, ReadOnlyMemorySaysSoOrRefuses) {
  static const float constant[2] = {1, 2};
  const Tensor x = from_memory(const_cast<float*>(constant), 8, Shape{2}, {}, 0, Dtype::kFloat32,
                               true, nullptr, nullptr);
  const int32_t before = x.storage().writable_exports;  // its owner may write it
  ManagedVersioned* const m = to_dlpack(x, {});
  EXPECT_EQ(m->flags, dlpack::kReadOnly);
  EXPECT_EQ(x.storage().writable_exports, before);
  m->deleter(m);
  EXPECT_EQ(code_of([&] { to_dlpack_unversioned(x, {}); }), LIBDL_ERROR_READ_ONLY);
  ExportOptions copying;
  copying.copy = CopyPolicy::kAlways;
  Managed* const copy = to_dlpack_unversioned(x, copying);
  EXPECT_NE(copy->tensor.data, constant);
  copy->deleter(copy);
}

TEST(DlpackExport, CopiesVersionsStreamsAndDevices) {
  const Tensor x = iota({2});
  ExportOptions options;
  options.copy = CopyPolicy::kAlways;
  ManagedVersioned* m = to_dlpack(x, options);
  EXPECT_EQ(m->flags, dlpack::kIsCopied);
  EXPECT_NE(m->tensor.data, x.read_plain());
  m->deleter(m);

  m = to_dlpack(number(2.5), {});
  EXPECT_EQ(m->flags, dlpack::kIsCopied);
  EXPECT_EQ(*static_cast<double*>(m->tensor.data), 2.5);
  m->deleter(m);
  options.copy = CopyPolicy::kNever;
  EXPECT_EQ(code_of([&] { to_dlpack(number(2.5), options); }), LIBDL_ERROR_VALUE);

  options = {};
  options.max_major = 1;
  m = to_dlpack(x, options);
  EXPECT_EQ(m->version.minor, 0u);
  m->deleter(m);
  options.max_major = 7;
  m = to_dlpack(x, options);
  EXPECT_EQ(m->version.minor, 3u);
  m->deleter(m);
  options.max_major = 0;
  options.max_minor = 8;
  EXPECT_EQ(code_of([&] { to_dlpack(x, options); }), LIBDL_ERROR_UNSUPPORTED);

  options = {};
  options.stream = -1;
  m = to_dlpack(x, options);
  m->deleter(m);
  options.stream = 1;
  EXPECT_EQ(code_of([&] { to_dlpack(x, options); }), LIBDL_ERROR_VALUE);
  options = {};
  options.device = {LIBDL_DEVICE_CUDA, 0};
  EXPECT_EQ(code_of([&] { to_dlpack(x, options); }), LIBDL_ERROR_DEVICE);
  EXPECT_EQ(x.storage().writable_exports, 0);
}

TEST(DlpackExport, WithoutMemoryNothingIsCounted) {
  const Tensor x = iota({200});
  for (const CopyPolicy copy : {CopyPolicy::kIfNeeded, CopyPolicy::kAlways}) {
    ExportOptions options;
    options.copy = copy;
    for (int64_t n = 0;; ++n) {
      const LiveCounts before = live_counts();
      fail_allocation(n, true);
      ManagedVersioned* m = nullptr;
      try {
        m = to_dlpack(x, options);
      } catch (const std::bad_alloc&) {
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), LIBDL_ERROR_OUT_OF_MEMORY);
      }
      fail_allocation(-1, false);
      if (m) {
        m->deleter(m);
        break;
      }
      EXPECT_EQ(x.storage().writable_exports, 0);
      EXPECT_EQ(live_counts().storages, before.storages);
      EXPECT_EQ(live_counts().tensors, before.tensors);
    }
  }
}

TEST(DlpackImport, SharesTheMemory) {
  Producer p;
  Tensor x = p.take();
  EXPECT_EQ(values(x), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(x.read_plain(), p.elements);
  EXPECT_FALSE(x.storage().read_only);
  EXPECT_GT(x.storage().writable_exports, 0);  // the producer may write at any time
  Tensor y = alias(x);
  x = {};
  EXPECT_EQ(p.deleted, 0);
  y = {};
  EXPECT_EQ(p.deleted, 1);
}

TEST(DlpackImport, TheOldStruct) {
  Producer p;
  p.versioned.tensor.strides = nullptr;
  Tensor x = p.take_old();
  EXPECT_EQ(x.stride(0), 3);
  EXPECT_EQ(values(x), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  std::thread([y = std::move(x)]() mutable { y = {}; }).join();
  EXPECT_EQ(p.deleted, 1);
}

TEST(DlpackImport, OffsetsNegativeStridesAndZeroStrides) {
  Producer p;
  p.versioned.tensor.byte_offset = 40;
  p.strides[0] = -6;
  p.strides[1] = 2;
  Tensor x = p.take();
  EXPECT_EQ(values(x), (std::vector<float>{10, 12, 14, 4, 6, 8}));
  EXPECT_EQ(x.offset(), 6);
  EXPECT_EQ(x.storage().bytes, 11 * sizeof(float));
  Producer q;
  q.strides[0] = 0;
  EXPECT_EQ(values(q.take()), (std::vector<float>{0, 1, 2, 0, 1, 2}));
}

TEST(DlpackImport, Flags) {
  Producer p;
  p.versioned.flags = dlpack::kReadOnly | dlpack::kIsCopied;
  const Tensor x = p.take();
  EXPECT_TRUE(x.storage().read_only);
  EXPECT_EQ(x.storage().writable_exports, 0);  // nobody else has the copy
  EXPECT_EQ(code_of([&] { copy_in(x, p.elements, 24); }), LIBDL_ERROR_READ_ONLY);
}

TEST(DlpackImport, CopyingLetsGoAtOnce) {
  Producer p;
  const Tensor x = p.take(CopyPolicy::kAlways);
  EXPECT_EQ(p.deleted, 1);
  EXPECT_EQ(values(x), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(x.storage().writable_exports, 0);
}

TEST(DlpackImport, MisalignedMemoryIsCopiedOrRefused) {
  Producer p;
  p.versioned.tensor.byte_offset = 2;
  std::memcpy(reinterpret_cast<char*>(p.elements) + 2, "\0\0\200\077", 4);  // 1.0f
  const Tensor x = p.take();
  EXPECT_EQ(p.deleted, 1);
  EXPECT_EQ(values(x)[0], 1.0f);
  Producer q;
  q.versioned.tensor.byte_offset = 2;
  EXPECT_EQ(code_of([&] { q.take(CopyPolicy::kNever); }), LIBDL_ERROR_VALUE);
  EXPECT_EQ(q.deleted, 1);
}

TEST(DlpackImport, EmptyTensorsAndSizesOfOne) {
  Producer p;
  p.versioned.tensor.data = nullptr;
  p.shape[0] = 0;
  p.strides[0] = kBig;
  Tensor x = p.take();
  EXPECT_EQ(x.numel(), 0);
  EXPECT_EQ(x.stride(0), 3);
  x = {};
  EXPECT_EQ(p.deleted, 1);
  Producer q;
  q.shape[0] = 1;
  q.strides[0] = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(values(q.take()), (std::vector<float>{0, 1, 2}));
}

TEST(DlpackImport, OurOwnMemoryComesBackAsItsStorage) {
  const Tensor x = iota({4, 6});
  const Tensor view = alias(x, Shape{2, 2}, Shape{-12, 2}, 13, x.dtype());
  const Tensor back = from_dlpack(to_dlpack(view, {}), CopyPolicy::kIfNeeded);
  EXPECT_EQ(&back.storage(), &x.storage());
  EXPECT_EQ(back.offset(), 13);
  EXPECT_EQ(values(back), values(view));
  EXPECT_EQ(x.storage().writable_exports, 0);
  EXPECT_EQ(overlap(back, view), Overlap::kFull);
}

TEST(DlpackImport, OurMemoryByAnotherNameStillOverlaps) {
  const Tensor x = iota({6});
  Producer p;  // as if another library had wrapped x
  p.versioned.tensor.data = x.update_plain();
  const Tensor y = p.take();
  EXPECT_NE(&y.storage(), &x.storage());
  EXPECT_EQ(overlap(x, y), Overlap::kPartial);
}

TEST(DlpackImport, EveryRefusalLetsGoOnce) {
  struct Case {
    const char* what;
    libdl_error_code code;
    std::function<void(Producer&)> spoil;
  };
  const std::vector<Case> cases = {
      {"device", LIBDL_ERROR_DEVICE, [](Producer& p) { p.versioned.tensor.device_type = 2; }},
      {"device 0", LIBDL_ERROR_DEVICE, [](Producer& p) { p.versioned.tensor.device_type = 0; }},
      {"code", LIBDL_ERROR_DTYPE, [](Producer& p) { p.versioned.tensor.dtype.code = 7; }},
      {"handles", LIBDL_ERROR_DTYPE, [](Producer& p) { p.versioned.tensor.dtype.code = 3; }},
      {"bits", LIBDL_ERROR_DTYPE, [](Producer& p) { p.versioned.tensor.dtype.bits = 4; }},
      {"lanes", LIBDL_ERROR_DTYPE, [](Producer& p) { p.versioned.tensor.dtype.lanes = 2; }},
      {"no lanes", LIBDL_ERROR_DTYPE, [](Producer& p) { p.versioned.tensor.dtype.lanes = 0; }},
      {"ndim", LIBDL_ERROR_SHAPE, [](Producer& p) { p.versioned.tensor.ndim = 65; }},
      {"ndim < 0", LIBDL_ERROR_SHAPE, [](Producer& p) { p.versioned.tensor.ndim = -1; }},
      {"no shape", LIBDL_ERROR_NULL, [](Producer& p) { p.versioned.tensor.shape = nullptr; }},
      {"size < 0", LIBDL_ERROR_VALUE, [](Producer& p) { p.shape[1] = -3; }},
      {"numel", LIBDL_ERROR_OVERFLOW, [](Producer& p) { p.shape[0] = p.shape[1] = kBig / 2; }},
      {"bytes", LIBDL_ERROR_OVERFLOW, [](Producer& p) { p.shape[0] = kBig / 4; }},
      {"empty", LIBDL_ERROR_OVERFLOW,
       [](Producer& p) {
         p.shape[0] = 0;
         p.shape[1] = kBig;
         p.shape[2] = 2;
         p.versioned.tensor.ndim = 3;
       }},
      {"stride", LIBDL_ERROR_OVERFLOW, [](Producer& p) { p.strides[0] = kBig; }},
      {"stride < 0", LIBDL_ERROR_OVERFLOW,
       [](Producer& p) { p.strides[0] = std::numeric_limits<int64_t>::min(); }},
      {"reach", LIBDL_ERROR_OVERFLOW,
       [](Producer& p) {
         p.shape[0] = int64_t{1} << 20;
         p.strides[0] = int64_t{1} << 46;
       }},
      {"below 0", LIBDL_ERROR_OVERFLOW, [](Producer& p) { p.strides[0] = -(int64_t{1} << 47); }},
      {"byte_offset", LIBDL_ERROR_OVERFLOW,
       [](Producer& p) { p.versioned.tensor.byte_offset = ~uint64_t{0} - 7; }},
      {"no data", LIBDL_ERROR_NULL, [](Producer& p) { p.versioned.tensor.data = nullptr; }},
  };
  for (const Case& c : cases) {
    for (const bool old : {false, true}) {
      for (const CopyPolicy copy : {CopyPolicy::kIfNeeded, CopyPolicy::kAlways}) {
        SCOPED_TRACE(c.what);
        const LiveCounts before = live_counts();
        Producer p;
        c.spoil(p);
        EXPECT_EQ(code_of([&] { old ? p.take_old(copy) : p.take(copy); }), c.code);
        EXPECT_EQ(p.deleted, 1);
        EXPECT_EQ(live_counts().storages, before.storages);
      }
    }
  }
}

TEST(DlpackImport, OfAnotherMajorVersionOnlyTheDeleterIsUsed) {
  Producer p;
  p.versioned.version.major = 2;
  std::memset(&p.versioned.flags, 0xee, sizeof p.versioned - offsetof(ManagedVersioned, flags));
  EXPECT_EQ(code_of([&] { p.take(); }), LIBDL_ERROR_UNSUPPORTED);
  EXPECT_EQ(p.deleted, 1);
}

TEST(DlpackImport, ADeleterMayBeAbsent) {
  Producer p;
  p.versioned.deleter = nullptr;
  EXPECT_EQ(values(p.take()).size(), 6u);
}

TEST(DlpackImport, WithoutMemoryTheDeleterStillRunsOnce) {
  for (const CopyPolicy copy : {CopyPolicy::kIfNeeded, CopyPolicy::kAlways}) {
    for (int64_t n = 0;; ++n) {
      const LiveCounts before = live_counts();
      Producer p;
      bool failed = false;
      fail_allocation(n, true);
      try {
        p.take(copy);
      } catch (const std::bad_alloc&) {
        failed = true;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), LIBDL_ERROR_OUT_OF_MEMORY);
        failed = true;
      }
      fail_allocation(-1, false);
      EXPECT_EQ(p.deleted, 1);
      EXPECT_EQ(live_counts().storages, before.storages);
      EXPECT_EQ(live_counts().tensors, before.tensors);
      if (!failed) break;
    }
  }
}

TEST(DlpackTable, BorrowedViewsPointIntoTheTensor) {
  const Tensor x = iota({2, 3});
  dlpack::Tensor t = borrow_dlpack(x, false);
  EXPECT_EQ(t.shape, x.shape().data());
  EXPECT_EQ(t.strides, x.strides().data());
  EXPECT_EQ(x.storage().version, 0u);
  borrow_dlpack(x, true);
  EXPECT_EQ(x.storage().version, 1u);
  EXPECT_EQ(code_of([&] { borrow_dlpack(number(1.0), false); }), LIBDL_ERROR_VALUE);
}

TEST(DlpackTable, AllocatesLikeThePrototype) {
  Producer p;
  p.versioned.tensor.data = nullptr;
  ManagedVersioned* const m = allocate_dlpack(p.versioned.tensor);
  EXPECT_EQ(m->tensor.shape[1], 3);
  EXPECT_EQ(m->tensor.strides[0], 3);
  std::memset(m->tensor.data, 0, 24);
  m->deleter(m);
  p.shape[0] = -1;
  EXPECT_EQ(code_of([&] { allocate_dlpack(p.versioned.tensor); }), LIBDL_ERROR_VALUE);
}

// -- mappings and host memory -----------------------------------------------------------------

TEST(Mapping, WritingEndsWithANewVersion) {
  const Tensor x = iota({4});
  auto reading = std::make_unique<libdl_mapping>(x, false);
  EXPECT_EQ(x.storage().writable_exports, 0);
  reading.reset();
  EXPECT_EQ(x.storage().version, 0u);
  auto writing = std::make_unique<libdl_mapping>(x, true);
  EXPECT_EQ(writing->data(), x.read_plain());
  EXPECT_EQ(x.storage().writable_exports, 1);
  writing.reset();
  EXPECT_EQ(x.storage().version, 1u);
  EXPECT_EQ(x.storage().writable_exports, 0);
}

TEST(Mapping, KeepsTheBytesAndReadsNumbers) {
  Tensor x = iota({4});
  const libdl_mapping mapping(x, true);
  x = {};
  EXPECT_EQ(static_cast<float*>(mapping.data())[3], 3);
  const libdl_mapping of_number(number(int64_t{7}), false);
  EXPECT_EQ(*static_cast<int64_t*>(of_number.data()), 7);
  EXPECT_EQ(code_of([] { libdl_mapping(number(1.0), true); }), LIBDL_ERROR_VALUE);
}

struct Memory {
  alignas(16) int32_t elements[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  int released = 0;
  static void release(void* self) { ++static_cast<Memory*>(self)->released; }
  Tensor wrap(Shape shape, std::optional<Shape> strides = {}, int64_t offset = 0,
              int64_t bytes = 48, void* data = nullptr, Dtype dtype = Dtype::kInt32) {
    std::optional<Dims> steps;
    if (strides) steps = Dims(strides->data(), strides->size());
    return from_memory(data ? data : elements, bytes, Dims(shape.data(), shape.size()), steps,
                       offset, dtype, false, release, this);
  }
};

TEST(HostMemory, AnyGeometryInside) {
  Memory m;
  Tensor x = m.wrap({3, 4});
  EXPECT_EQ(x.read_plain<int32_t>()[11], 11);
  x = {};
  EXPECT_EQ(m.released, 1);
  x = m.wrap({3, 2}, Shape{-4, 1}, 8);
  EXPECT_EQ(x.read_plain<int32_t>()[-3], 5);
  x = m.wrap({0, 4}, {}, 0, 0);
  EXPECT_EQ(m.released, 2);
}

TEST(HostMemory, EveryRefusalReleasesOnce) {
  Memory m;
  int refusals = 0;
  const auto refused = [&](libdl_error_code code, const std::function<void()>& call) {
    EXPECT_EQ(code_of(call), code);
    EXPECT_EQ(m.released, ++refusals);
  };
  refused(LIBDL_ERROR_VALUE, [&] { m.wrap({13}); });
  refused(LIBDL_ERROR_VALUE, [&] { m.wrap({3, 4}, {}, 1); });
  refused(LIBDL_ERROR_VALUE, [&] { m.wrap({2}, Shape{-1}, 0); });
  refused(LIBDL_ERROR_VALUE, [&] { m.wrap({1}, {}, -1); });
  refused(LIBDL_ERROR_VALUE, [&] { m.wrap({1}, {}, kBig); });
  refused(LIBDL_ERROR_VALUE, [&] { m.wrap({-1}); });
  refused(LIBDL_ERROR_VALUE, [&] { m.wrap({1}, {}, 0, -4); });
  refused(LIBDL_ERROR_VALUE, [&] { m.wrap({1}, {}, 0, 40, m.elements + 1, Dtype::kInt64); });
  refused(LIBDL_ERROR_OVERFLOW, [&] { m.wrap({kBig, 4}); });
  refused(LIBDL_ERROR_OVERFLOW, [&] { m.wrap({3}, Shape{kBig}); });
  refused(LIBDL_ERROR_SHAPE, [&] { m.wrap({3}, Shape{1, 1}); });
  refused(LIBDL_ERROR_SHAPE, [&] { m.wrap(Shape(65, 1)); });
}

TEST(HostMemory, CopiesCountTheirBytes) {
  const Tensor x = iota({2, 2});
  float buffer[4] = {9, 9, 9, 9};
  copy_out(x, buffer, 16);
  EXPECT_EQ(buffer[3], 3);
  EXPECT_EQ(code_of([&] { copy_out(x, buffer, 15); }), LIBDL_ERROR_VALUE);
  EXPECT_EQ(code_of([&] { copy_out(x, nullptr, 16); }), LIBDL_ERROR_NULL);
  EXPECT_EQ(code_of([&] { copy_in(x, buffer, 17); }), LIBDL_ERROR_VALUE);
  const Tensor wide = alias(x, Shape{2, 2}, Shape{0, 1}, 0, x.dtype());
  EXPECT_EQ(code_of([&] { copy_in(wide, buffer, 16); }), LIBDL_ERROR_OVERLAP);
  EXPECT_EQ(x.storage().version, 0u);
  const Tensor none = empty(Shape{0}, Dtype::kFloat32);
  copy_out(none, nullptr, 0);
  copy_in(none, nullptr, 0);
}

}  // namespace
}  // namespace libdl
