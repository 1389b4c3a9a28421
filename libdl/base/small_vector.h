// SPDX-License-Identifier: Apache-2.0

// A vector of trivial values that stores up to N in place; shapes rarely need more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace libdl {

template <class T, size_t N>
class SmallVector {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  SmallVector() = default;
  explicit SmallVector(size_t n, T value = T()) { resize(n, value); }
  SmallVector(std::initializer_list<T> values) { assign(std::span<const T>(values)); }
  SmallVector(std::span<const T> values) { assign(values); }
  SmallVector(const SmallVector& other) {
    if (other.heap_) {
      assign(other);
    } else {
      copy_inline(other);
      size_ = other.size_;
    }
  }
  SmallVector(SmallVector&& other) noexcept { steal(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) steal(other);
    return *this;
  }

  void assign(std::span<const T> values) {
    size_ = 0;
    reserve(values.size());
    std::copy(values.begin(), values.end(), data());
    size_ = values.size();
  }
  void resize(size_t n, T value = T()) {
    reserve(n);
    if (n > size_) std::fill(data() + size_, data() + n, value);
    size_ = n;
  }
  void reserve(size_t n) {
    if (n <= capacity_) return;
    const size_t capacity = std::max(n, 2 * capacity_);
    std::unique_ptr<T[]> grown(new T[capacity]);
    std::copy(begin(), end(), grown.get());
    heap_ = std::move(grown);
    capacity_ = capacity;
  }
  void push_back(T value) {
    reserve(size_ + 1);
    data()[size_++] = value;
  }
  void insert(size_t at, T value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return heap_ ? heap_.get() : inline_; }
  const T* data() const { return heap_ ? heap_.get() : inline_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  bool operator==(const SmallVector& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  // Copies all N, used or not: a copy of constant length is a few moves, a variable one is a call
  // of memcpy.
  void copy_inline(const SmallVector& other) noexcept {
    std::copy(other.inline_, other.inline_ + N, inline_);
  }
  void steal(SmallVector& other) noexcept {
    if (other.heap_) {
      heap_ = std::move(other.heap_);
      capacity_ = std::exchange(other.capacity_, N);
    } else if (!heap_) {
      copy_inline(other);
    } else {
      std::copy(other.begin(), other.end(), data());
    }
    size_ = std::exchange(other.size_, 0);
  }

  T inline_[N];
  std::unique_ptr<T[]> heap_;
  size_t size_ = 0, capacity_ = N;
};

}  // namespace libdl
