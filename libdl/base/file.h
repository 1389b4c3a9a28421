// SPDX-License-Identifier: Apache-2.0

// Files. All system calls go through one table, so that tests can make each of them fail; short
// reads and writes and interruptions are handled here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/source_location.h"

namespace libdl {

// As in POSIX: negative results and errno.
struct FileCalls {
  int (*open)(const char* path);              // to read
  int (*open_folder)(const char* path);       // to sync
  int (*create)(const char* path);            // to write; EEXIST if it is there
  int (*create_unnamed)(const char* folder);  // to write; kNoUnnamedFiles: the system has none
  int (*give_name)(int descriptor, const char* path);  // to an unnamed file; EEXIST as for create
  int (*duplicate)(int descriptor);
  int (*close)(int descriptor);
  int64_t (*size)(int descriptor);  // ESPIPE unless it is a regular file
  int64_t (*read)(int descriptor, void* to, size_t bytes, int64_t offset);
  int64_t (*write)(int descriptor, const void* from, size_t bytes);
  int64_t (*write_at)(int descriptor, const void* from, size_t bytes, int64_t offset);
  int (*writable)(const char* path);           // 0: it is, or does not exist
  int (*copy_mode)(const char* from, int to);  // and the owner; nothing if there is no such file
  int (*kind)(const char* path);  // the file's type (S_IFMT) after links; 0: it does not exist
  int (*sync)(int descriptor);
  int (*rename)(const char* from, const char* to);
  int (*remove)(const char* path);
  void* (*map)(int descriptor, size_t bytes);  // to read; NULL on failure
  int (*unmap)(void* data, size_t bytes);
};
extern FileCalls file_calls;
constexpr int kNoUnnamedFiles = -2;

// Throws IO. `function` is the calling function's name, for the message.
LIBDL_NORETURN [[gnu::cold]] void fail_io(const char* function, const std::string& what,
                                          int error_number LIBDL_SOURCE_LOCATION);

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number, std::string path = {})
      : number_(number), path_(std::move(path)) {}
  Descriptor(Descriptor&& other) noexcept
      : number_(other.release()), path_(std::move(other.path_)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  static Descriptor open(const char* function, const std::string& path);
  static Descriptor duplicate(const char* function, int number);

  int number() const { return number_; }
  int release();
  // Of a regular file. Throws IO for others.
  int64_t size(const char* function) const;
  int64_t end_before(int64_t at) const;
  // Reads exactly that many bytes. Throws FORMAT if the file is shorter.
  void read(const char* function, void* to, size_t bytes, int64_t offset) const;

 private:
  void close_now() noexcept;
  std::string prefix() const { return path_.empty() ? path_ : path_ + ": "; }

  int number_ = -1;
  std::string path_;  // for errors; empty where it is not known
};

// Replaces a file atomically: the new one is written, synced and renamed. Until commit() has
// succeeded the old file is untouched; if commit() is not reached the new one is removed. Where the
// file system can, the new file has no name before commit(), so that a process that is killed
// leaves nothing behind; elsewhere it lies beside the old one. Throws IO if the path leads to
// anything but a regular file: renaming over a device, a pipe or a socket would destroy it.
class Replacement {
 public:
  Replacement(const char* function, std::string path);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void write(const void* from, size_t bytes);
  // Writes once more what begins at that byte, of what was written before.
  void write_again(const void* from, size_t bytes, int64_t offset);
  void commit();

 private:
  void create();
  template <class Put>
  void put_all(const void* from, size_t bytes, const Put& put);
  void write_out(const void* from, size_t bytes);
  void flush();
  void abandon() noexcept;

  const char* const function_;
  const std::string path_, folder_name_;
  std::string temporary_;  // the new file's name, if it has one
  Descriptor folder_, file_;
  std::string pending_;  // small writes, gathered
};

}  // namespace libdl
