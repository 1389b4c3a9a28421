// SPDX-License-Identifier: Apache-2.0

#include "device/allocator.h"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/slab.h"
#include "device/hook.h"
#include "device/log.h"
#include "device/poison.h"
#include "device/thread_bins.h"

namespace libdl {
namespace {

// Blocks up to here have heaps of their own, lest a small block that stays keeps a large range
// apart.
constexpr size_t kSmall = BinClasses::kMost;

// Where the sanitizer watches, each block is followed by bytes that nobody may touch.
constexpr size_t kRedZone = kPoisons ? 64 : 0;

alignas(64) char nothing[64];  // the block of no bytes

constinit Hook<PressureCallback> pressure_hook;
std::atomic<void (*)(int64_t)> pressure_handlers[8];
thread_local constinit bool relieving = false;

void relieve_pressure(int64_t bytes) {
  if (relieving) return;  // a callback that itself runs out of memory
  relieving = true;
  for (auto& handler : pressure_handlers) {
    if (auto* relieve = handler.load(std::memory_order_acquire)) relieve(bytes);
  }
  if (const auto callback = pressure_hook.get()) callback->relieve(callback->ctx, bytes);
  relieving = false;
}

std::string readable(int64_t bytes) {
  const char* const units[] = {"bytes", "KB", "MB", "GB", "TB"};
  double number = static_cast<double>(bytes);
  int unit = 0;
  for (; number >= 1024 && unit < 4; ++unit) number /= 1024;
  char text[40];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", number, units[unit]);
  return text;
}

bool injected_failure() {
  return slab::fail_countdown.load(std::memory_order_relaxed) >= 0 && slab::fails();
}

}  // namespace

// All allocators, so that a fork finds each in a whole state.
struct AllAllocators {
  std::mutex mutex;
  Allocator* first = nullptr;

  static AllAllocators& instance() {
    static AllAllocators* const all = new AllAllocators;
    return *all;
  }
  static void lock() {
    pressure_hook.before_fork();
    instance().mutex.lock();
    for (Allocator* a = instance().first; a; a = a->next_) a->mutex_.lock();
  }
  static void unlock() {
    for (Allocator* a = instance().first; a; a = a->next_) a->mutex_.unlock();
    instance().mutex.unlock();
    pressure_hook.after_fork();
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
[[maybe_unused]] static const int fork_safe =
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

Allocator::~Allocator() { AllAllocators::instance().remove(this); }

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

void set_pressure_callback(const PressureCallback* callback) { pressure_hook.set(callback); }

void add_pressure_handler(void (*relieve)(int64_t bytes)) {
  for (auto& handler : pressure_handlers) {
    void (*expected)(int64_t) = nullptr;
    if (handler.compare_exchange_strong(expected, relieve) || expected == relieve) return;
  }
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
  std::lock_guard lock(mutex_);
  if (has_bins_) fold(thread_bins);
  count_free(block);
  give_back(data);
}

// One block for the caller and some for the next calls.
void* Allocator::refill(ThreadBins& bins, int bin, size_t bytes) {
  const size_t block = BinClasses::bytes(bin);
  ThreadBins::Bin& stock = bins.bins[bin];
  {
    std::lock_guard lock(mutex_);
    fold(&bins);
    bool refused = false;
    const uint32_t most = std::min<uint32_t>(stock.capacity / 2, 32);
    while (stock.count < most) {
      void* data = take(block, nullptr, refused);
      if (!data) break;
      stock.stack[stock.count++] = data;
    }
  }
  if (stock.count > 0) return stock.stack[--stock.count];
  void* data = obtain(block, nullptr, bytes);
  std::lock_guard lock(mutex_);
  small_.allocated -= static_cast<int64_t>(block);  // the bins count it
  --allocations_;
  return data;
}

// The older half goes back.
void Allocator::spill(ThreadBins& bins, int bin) {
  ThreadBins::Bin& stock = bins.bins[bin];
  const uint32_t half = stock.capacity / 2;
  std::lock_guard lock(mutex_);
  fold(&bins);
  for (uint32_t i = 0; i < half; ++i) give_back(stock.stack[i]);
  stock.count -= half;
  std::memmove(stock.stack, stock.stack + half, stock.count * sizeof(void*));
}

// From free memory, new memory, memory that others have idle, memory that the host can free.
void* Allocator::obtain(size_t block, void* stream, size_t bytes) {
  if (void* data = take_or_grow(block, stream)) return data;
  if (trim() > 0) {
    if (void* data = take_or_grow(block, stream)) return data;
  }
  if (logging())
    log(LogLevel::kWarning, "%s: memory is short, the host is asked to free %s", name_.c_str(),
        readable(static_cast<int64_t>(block)).c_str());
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

void Allocator::out_of_memory(size_t bytes) {
  MemoryStatistics s;
  {
    std::lock_guard lock(mutex_);
    ++failures_;
    s = gather();
  }
  const int64_t asked = static_cast<int64_t>(std::min<size_t>(bytes, PTRDIFF_MAX));
  Error error(LIBDL_ERROR_OUT_OF_MEMORY,
              std::string("out of memory on ") + name_ + ": wanted " + readable(asked) +
                  "; allocated " + readable(s.allocated) + " (at most " +
                  readable(s.peak_allocated) + "), reserved " + readable(s.reserved) +
                  (s.limit ? ", limit " + readable(s.limit) : std::string()));
  log(LogLevel::kError, "%s", error.message().c_str());
  throw error;
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

// Takes over what the calling thread's bins have counted.
void Allocator::fold(ThreadBins* bins) {
  if (!bins) return;
  const auto take = [](std::atomic<int64_t>& counter) {
    const int64_t value = counter.load(std::memory_order_relaxed);
    counter.store(0, std::memory_order_relaxed);
    return value;
  };
  peak_allocated_ =
      std::max(peak_allocated_, small_.allocated + large_.allocated + take(bins->highest));
  small_.allocated += take(bins->allocated);
  allocations_ += take(bins->allocations);
  frees_ += take(bins->frees);
}

void Allocator::empty(ThreadBins& bins) {
  fold(&bins);
  for (ThreadBins::Bin& stock : bins.bins) {
    while (stock.count > 0) give_back(stock.stack[--stock.count]);
  }
}

void Allocator::join(ThreadBins* bins) {
  std::lock_guard lock(mutex_);
  bins->next = threads_;
  if (threads_) threads_->previous = bins;
  threads_ = bins;
}

void Allocator::leave(ThreadBins* bins) {
  std::lock_guard lock(mutex_);
  empty(*bins);
  (bins->previous ? bins->previous->next : threads_) = bins->next;
  if (bins->next) bins->next->previous = bins->previous;
}

size_t Allocator::trim() {
  Segment* leaving = nullptr;
  size_t gone = 0;
  {
    std::lock_guard lock(mutex_);
    if (has_bins_ && thread_bins) empty(*thread_bins);
    source_->synchronize();
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
        readable(static_cast<int64_t>(gone)).c_str());
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

MemoryStatistics Allocator::gather() const {
  MemoryStatistics s;
  s.small = small_;
  s.large = large_;
  s.allocations = allocations_;
  s.frees = frees_;
  int64_t highest = 0;
  for (const ThreadBins* bins = threads_; bins; bins = bins->next) {
    s.small.allocated += bins->allocated.load(std::memory_order_relaxed);
    s.allocations += bins->allocations.load(std::memory_order_relaxed);
    s.frees += bins->frees.load(std::memory_order_relaxed);
    highest += bins->highest.load(std::memory_order_relaxed);
  }
  for (const auto& heap : heaps_) {
    (heap->small() ? s.small : s.large).reserved += static_cast<int64_t>(heap->reserved());
    for (const Segment* segment = heap->segments(); segment; segment = segment->next) ++s.segments;
  }
  s.allocated = s.small.allocated + s.large.allocated;
  s.active = s.small.active + s.large.active;
  s.reserved = s.small.reserved + s.large.reserved;
  s.peak_allocated = std::max(peak_allocated_, small_.allocated + large_.allocated + highest);
  s.peak_reserved = std::max(peak_reserved_, s.reserved);
  s.trims = trims_;
  s.out_of_memory = failures_;
  s.limit = static_cast<int64_t>(std::min<size_t>(source_->limit(), PTRDIFF_MAX));
  return s;
}

MemoryStatistics Allocator::statistics() const {
  std::lock_guard lock(mutex_);
  return gather();
}

void Allocator::reset_peaks() {
  std::lock_guard lock(mutex_);
  for (ThreadBins* bins = threads_; bins; bins = bins->next) {
    bins->highest.store(std::max<int64_t>(0, bins->allocated.load(std::memory_order_relaxed)),
                        std::memory_order_relaxed);
  }
  peak_allocated_ = peak_reserved_ = 0;
  const MemoryStatistics now = gather();
  peak_allocated_ = now.allocated;
  peak_reserved_ = now.reserved;
}

std::vector<SegmentSnapshot> Allocator::snapshot() const {
  std::lock_guard lock(mutex_);
  std::vector<SegmentSnapshot> segments;
  for (const auto& heap : heaps_) {
    for (const Segment* s = heap->segments(); s; s = s->next) {
      SegmentSnapshot& shot = segments.emplace_back();
      shot.base = s->base;
      shot.bytes = static_cast<int64_t>(s->bytes);
      shot.committed = static_cast<int64_t>(s->committed);
      shot.stream = heap->stream();
      shot.small = heap->small();
      for (const Block* block = s->first; block; block = block->after) {
        shot.blocks.push_back(
            {block->data - s->base, static_cast<int64_t>(block->bytes), !block->free});
      }
    }
  }
  return segments;
}

size_t Allocator::BlockTable::home(const void* data) const {
  return (reinterpret_cast<uintptr_t>(data) >> 6) * 0x9E3779B97F4A7C15u >> 20 & (size_ - 1);
}

// Where the block lies, or the empty slot where it would.
size_t Allocator::BlockTable::slot(const void* data) const {
  size_t i = home(data);
  while (slots_[i] && slots_[i]->data != data) i = (i + 1) & (size_ - 1);
  return i;
}

bool Allocator::BlockTable::ensure() {
  if (2 * count_ < size_) return true;
  const size_t larger = size_ ? 2 * size_ : 1024;
  std::unique_ptr<Block*[]> slots(new (std::nothrow) Block*[larger]());
  if (!slots) return false;
  slots.swap(slots_);
  const size_t old = std::exchange(size_, larger);
  for (size_t i = 0; i < old; ++i) {
    if (slots[i]) slots_[slot(slots[i]->data)] = slots[i];
  }
  return true;
}

void Allocator::BlockTable::insert(Block* block) {
  slots_[slot(block->data)] = block;
  ++count_;
}

Block* Allocator::BlockTable::find(const void* data) const {
  return size_ ? slots_[slot(data)] : nullptr;
}

// Moves later members of the run back, so that no mark of the gone one is needed.
void Allocator::BlockTable::erase(const Block* block) {
  size_t gap = slot(block->data);
  --count_;
  for (size_t i = gap;;) {
    i = (i + 1) & (size_ - 1);
    if (!slots_[i]) break;
    const size_t from_home = (i - home(slots_[i]->data)) & (size_ - 1);
    if (from_home < ((i - gap) & (size_ - 1))) continue;
    slots_[gap] = slots_[i];
    gap = i;
  }
  slots_[gap] = nullptr;
}

}  // namespace libdl
