// SPDX-License-Identifier: Apache-2.0

#include "memory/allocator.h"

#include <pthread.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/slab.h"
#include "base/thread_end.h"
#include "memory/poison.h"
#include "memory/pressure.h"
#include "memory/thread_bins.h"
#include "runtime/log.h"
#include "runtime/mechanism.h"

namespace libdl {
namespace {

// Blocks up to this size have separate heaps, so that a long-lived small block does not split a
// large range.
constexpr size_t kSmall = BinClasses::kMost;

// Under AddressSanitizer each block is followed by bytes that must not be touched.
constexpr size_t kRedZone = kPoisons ? 64 : 0;

alignas(64) char nothing[64];  // the block of no bytes

bool injected_failure() {
  return slab::fail_countdown.load(std::memory_order_relaxed) >= 0 && slab::fails();
}

}  // namespace

// All allocators, so that a fork finds each in a consistent state.
struct AllAllocators {
  std::mutex mutex;
  Allocator* first = nullptr;

  static AllAllocators& instance() {
    static AllAllocators* const all = new AllAllocators;
    return *all;
  }
  static void lock() {
    instance().mutex.lock();
    for (Allocator* a = instance().first; a; a = a->next_) {
      a->trimming_.lock();
      a->mutex_.lock();
    }
  }
  static void unlock() {
    for (Allocator* a = instance().first; a; a = a->next_) {
      a->mutex_.unlock();
      a->trimming_.unlock();
    }
    instance().mutex.unlock();
  }
  void add(Allocator* a) {
    std::lock_guard guard(mutex);
    a->next_ = first;
    if (first) first->previous_ = a;
    first = a;
  }
  void remove(Allocator* a) {
    std::lock_guard guard(mutex);
    (a->previous_ ? a->previous_->next_ : first) = a->next_;
    if (a->next_) a->next_->previous_ = a->previous_;
  }
};
// The child's other threads are gone: what lies in their bins stays lost there.
[[maybe_unused]] static const int allocators_fork_safe =
    pthread_atfork(AllAllocators::lock, AllAllocators::unlock, AllAllocators::unlock);

Allocator::Allocator(std::string name, std::shared_ptr<Source> source, size_t rounding)
    : name_(std::move(name)), rounding_(rounding), has_bins_(false), source_(std::move(source)) {
  AllAllocators::instance().add(this);
}

Allocator::Allocator(Host)
    : name_("cpu"),
      rounding_(BinClasses::kUnit),
      has_bins_(true),
      source_(std::make_shared<HostSource>(host_budget())) {
  AllAllocators::instance().add(this);
}

Allocator::~Allocator() {
  trim();
  AllAllocators::instance().remove(this);
}

Allocator& host_allocator() {
  // Never destroyed: threads and static objects may still free into it.
  static Allocator* const instance = new Allocator(Allocator::Host{});
  return *instance;
}

void set_host_allocator(const HostAllocator* callbacks) {
  std::shared_ptr<Source> source;
  if (callbacks) {
    source = std::make_shared<CallbackSource>(host_budget(), *callbacks);
  } else {
    source = std::make_shared<HostSource>(host_budget());
  }
  host_allocator().set_source(std::move(source));
}

size_t Allocator::block_bytes(size_t bytes) const {
  const size_t padded = bytes + kRedZone;
  if (has_bins_ && padded <= kSmall) return BinClasses::bytes(BinClasses::of(padded));
  return (padded + rounding_ - 1) & ~(rounding_ - 1);
}

void* Allocator::allocate(size_t bytes, void* stream) {
  if (bytes == 0) return nothing;
  if (injected_failure() || bytes > PTRDIFF_MAX / 2) out_of_memory(bytes);
  void* data;
  ThreadBins* bins;
  if (has_bins_ && bytes + kRedZone <= kSmall && (bins = ThreadBins::mine())) {
    const int bin = BinClasses::of(bytes + kRedZone);
    ThreadBins::Bin& stock = bins->bins[bin];
    data = stock.count ? stock.stack[--stock.count] : refill(*bins, bin, bytes);
    bins->count_allocation(BinClasses::bytes(bin));
  } else {
    data = obtain(block_bytes(bytes), has_bins_ ? nullptr : stream, bytes);
  }
  unpoison(data, bytes);
  return data;
}

void Allocator::deallocate(void* data, size_t bytes) noexcept {
  if (bytes == 0) return;
  const size_t block = block_bytes(bytes);
  poison(data, block);
  if (has_bins_ && block <= kSmall) {
    if (ThreadBins* bins = ThreadBins::mine()) {
      const int bin = BinClasses::of(block);
      ThreadBins::Bin& stock = bins->bins[bin];
      if (stock.count == stock.capacity) spill(*bins, bin);
      stock.stack[stock.count++] = data;
      bins->count_free(block);
      return;
    }
  }
  bool too_much;
  {
    std::lock_guard lock(mutex_);
    if (has_bins_) fold(thread_bins);
    count_free(block);
    give_back(data);
    too_much = has_bins_ && idle() > kept_at_most();
  }
  if (too_much || left_out(Mechanism::kAllocator)) [[unlikely]]
    trim();
}

// The memory behind free blocks, but for what threads keep in bins.
size_t Allocator::idle() const {
  int64_t bytes = -small_.active - large_.active;
  for (const auto& heap : heaps_) bytes += static_cast<int64_t>(heap->reserved());
  return static_cast<size_t>(std::max<int64_t>(bytes, 0));
}

// Tries free memory, new memory, memory idle in other heaps, and memory that the host can free.
void* Allocator::obtain(size_t block, void* stream, size_t bytes) {
  if (void* data = take_or_grow(block, stream)) return data;
  trim();
  if (void* data = take_or_grow(block, stream)) return data;
  if (logging())
    log(LogLevel::kWarning, "%s: memory is short, the host is asked to free %s", name_.c_str(),
        readable_bytes(static_cast<int64_t>(block)).c_str());
  relieve_pressure(static_cast<int64_t>(block));
  trim();
  if (void* data = take_or_grow(block, stream)) return data;
  out_of_memory(bytes);
}

void* Allocator::take_or_grow(size_t block, void* stream) {
  std::shared_ptr<Source> source;
  {
    std::lock_guard lock(mutex_);
    if (has_bins_) fold(thread_bins);
    bool refused = false;
    if (void* data = take(block, stream, refused)) {
      count_allocation(block);
      return data;
    }
    if (refused) return nullptr;
    source = source_;
  }
  size_t reserved = block;
  void* base = source->reserve(reserved, block <= kSmall);
  if (!base) return nullptr;
  poison(base, reserved);
  {
    std::lock_guard lock(mutex_);
    if (heap(stream, block <= kSmall).add(source, base, reserved)) {
      bool refused = false;
      void* data = take(block, stream, refused);
      if (data) count_allocation(block);
      return data;
    }
  }
  unpoison(base, reserved);
  source->release(base, reserved);
  return nullptr;
}

Heap& Allocator::heap(void* stream, bool small) {
  for (auto& heap : heaps_) {
    if (heap->stream() == stream && heap->small() == small) return *heap;
  }
  heaps_.push_back(std::make_unique<Heap>(cells_, rounding_, stream, small));
  return *heaps_.back();
}

void* Allocator::take(size_t block, void* stream, bool& refused) {
  const bool small = block <= kSmall;
  refused = !used_.ensure();
  if (refused) return nullptr;
  Block* taken = heap(stream, small).allocate(block, refused);
  if (!taken) return nullptr;
  used_.insert(taken);
  (small ? small_ : large_).active += static_cast<int64_t>(block);
  int64_t reserved = 0;
  for (const auto& heap : heaps_) reserved += static_cast<int64_t>(heap->reserved());
  peak_reserved_ = std::max(peak_reserved_, reserved);
  return taken->data;
}

void Allocator::give_back(void* data) {
  Block* block = used_.find(data);
  if (!block) return;  // not ours: a forged pointer
  used_.erase(block);
  Heap& heap = *block->segment->heap;
  (heap.small() ? small_ : large_).active -= static_cast<int64_t>(block->bytes);
  heap.free(block);
}

void Allocator::count_allocation(size_t block) {
  (block <= kSmall ? small_ : large_).allocated += static_cast<int64_t>(block);
  ++allocations_;
  peak_allocated_ = std::max(peak_allocated_, small_.allocated + large_.allocated);
}

void Allocator::count_free(size_t block) {
  (block <= kSmall ? small_ : large_).allocated -= static_cast<int64_t>(block);
  ++frees_;
}

size_t Allocator::trim() {
  Segment* leaving = nullptr;
  size_t gone = 0;
  {
    std::lock_guard one(trimming_);
    std::shared_ptr<Source> source;
    {
      std::lock_guard lock(mutex_);
      if (has_bins_ && thread_bins) empty(*thread_bins);
      for (auto& heap : heaps_) heap->set_aside();
      source = source_;
    }
    source->synchronize();
    std::lock_guard lock(mutex_);
    for (auto& heap : heaps_) gone += heap->trim(leaving);
    ++trims_;
  }
  while (Segment* segment = leaving) {
    leaving = segment->next;
    unpoison(segment->base, segment->bytes);
    segment->source->release(segment->base, segment->bytes);
    delete segment;
  }
  if (logging())
    log(LogLevel::kDebug, "%s: idle memory went back, %s", name_.c_str(),
        readable_bytes(static_cast<int64_t>(gone)).c_str());
  return gone;
}

void Allocator::set_source(std::shared_ptr<Source> source) {
  {
    std::lock_guard lock(mutex_);
    if (has_bins_ && thread_bins) empty(*thread_bins);
    for (auto& heap : heaps_) heap->close();
    source_.swap(source);
  }
  trim();
}

void Allocator::record_use(void* data, void* stream) {
  auto use = std::unique_ptr<Use>(new (std::nothrow) Use{stream, nullptr, nullptr});
  if (!use) out_of_memory(sizeof(Use));
  std::lock_guard lock(mutex_);
  Block* block = used_.find(data);
  if (!block || block->segment->heap->stream() == stream) return;
  for (const Use* known = block->uses; known; known = known->next) {
    if (known->stream == stream) return;
  }
  use->next = block->uses;
  block->uses = use.release();
}

// -- threads -----------------------------------------------------------------------------------

namespace {

constinit thread_local bool ended = false;

// At the end of the thread its blocks go back. Whatever is freed later (by other libraries'
// cleanup) takes the slow path.
void leave() noexcept {
  ended = true;
  ThreadBins* const bins = std::exchange(thread_bins, nullptr);
  host_allocator().leave(bins);
  delete bins;
}
constinit thread_local ThreadEnd thread_end{EndOrder::kBlocks, leave};

}  // namespace

ThreadBins* ThreadBins::make() {
  if (ended) return nullptr;
  ThreadBins* bins = new (std::nothrow) ThreadBins;
  if (!bins) return nullptr;
  if (!at_thread_end(thread_end)) {
    delete bins;
    return nullptr;
  }
  host_allocator().join(bins);
  thread_bins = bins;
  return bins;
}

}  // namespace libdl
