// SPDX-License-Identifier: Apache-2.0

// What the three targets share: how an input is read, what is wrong, and what may not be left.
#pragma once

#include <libdl/libdl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace libfuzzer {

// An input fails by one clear line; libFuzzer keeps it.
[[noreturn]] inline void wrong(const std::string& what) {
  std::fprintf(stderr, "libfuzzer: WRONG: %s\n", what.c_str());
  std::abort();
}
inline void demand(bool holds, const char* what) {
  if (!holds) wrong(what);
}

// Errors that run.py plants, by name, to see that they are found.
inline bool planted(const char* name) {
  static const char* const chosen = std::getenv("LIBDL_PLANTED");
  return chosen && std::strcmp(chosen, name) == 0;
}

// The bytes of an input, taken from the front; zeros when there are no more.
class Input {
 public:
  Input(const uint8_t* data, size_t bytes) : at_(data), end_(data + bytes) {}
  bool empty() const { return at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  uint8_t byte() { return empty() ? uint8_t{0} : *at_++; }
  size_t below(size_t n) { return byte() % n; }
  bool one_of(size_t n) { return below(n) == n - 1; }  // never for zeros, unless n is 1
  uint64_t bits(size_t bytes) {
    uint64_t all = 0;
    for (size_t k = 0; k < bytes; ++k) all = all << 8 | byte();
    return all;
  }
  template <class T, size_t n>
  T any(const T (&choices)[n]) {
    return choices[below(n)];
  }
  std::string text(size_t most) {
    const size_t n = below(most + 1);
    std::string s;
    for (size_t k = 0; k < n; ++k) s += static_cast<char>(byte());
    return s;
  }
  const uint8_t* rest() const { return at_; }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

// -- handles --------------------------------------------------------------------------------------

template <auto release>
struct Releases {
  template <class T>
  void operator()(T* handle) const {
    release(handle);
  }
};
using Tensor = std::unique_ptr<libdl_tensor, Releases<libdl_tensor_release>>;
using List = std::unique_ptr<libdl_tensor_list, Releases<libdl_tensor_list_release>>;
using Text = std::unique_ptr<libdl_text, Releases<libdl_text_release>>;
using File = std::unique_ptr<libdl_file, Releases<libdl_file_release>>;
using Error = std::unique_ptr<libdl_error, Releases<libdl_error_release>>;

// An error that says something; no input may meet a defect of the library.
inline Error checked(libdl_error* error) {
  Error held(error);
  if (!error) return held;
  if (!libdl_error_get_code(error) || !libdl_error_get_message(error)[0])
    wrong("an error that tells nothing");
  if (libdl_error_get_code(error) == LIBDL_ERROR_INTERNAL)
    wrong(std::string("a defect of the library: ") + libdl_error_get_message(error));
  if (libdl_error_get_argument(error) < 0 ||
      (libdl_error_get_argument(error) > 0 && !libdl_error_get_argument_name(error)[0]))
    wrong(std::string("an argument without a name: ") + libdl_error_get_message(error));
  return held;
}

inline void need(libdl_error* error, const char* what) {
  if (error) wrong(std::string(what) + ": " + libdl_error_get_message(error));
}

// Every element in row-major order.
inline std::string elements(const libdl_tensor* x) {
  std::string all;
  all.resize(static_cast<size_t>(libdl_tensor_numel(x) * libdl_dtype_size(libdl_tensor_dtype(x))));
  need(libdl_tensor_copy_out(x, all.data(), static_cast<int64_t>(all.size())), "copy_out");
  return all;
}

// What lives at the beginning of an input lives at its end, and no more.
class Live {
 public:
  Live() { count(before_); }
  void same(const char* when) const {
    int64_t now[4];
    count(now);
    static const char* const of[4] = {"tensors", "storages", "nodes", "bytes"};
    for (int k = 0; k < 4; ++k)
      if (now[k] != before_[k])
        wrong("left behind " + std::string(when) + ": " + std::to_string(now[k] - before_[k]) +
              " " + of[k]);
  }
  int64_t bytes() const {
    int64_t now[4];
    count(now);
    return now[3] - before_[3];
  }

 private:
  static void count(int64_t* to) { libdl_memory_get_live(to, to + 1, to + 2, to + 3); }
  int64_t before_[4];
};

// -- what a target is (entry.cc) ------------------------------------------------------------------

extern const int64_t target_memory;  // the limit while it runs
extern const char* const left_by;    // whose remains are told: "by a file"
void run(Input& input);

}  // namespace libfuzzer
