// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/error.h"

namespace libdl {

// -- the calls ------------------------------------------------------------------------------

static int64_t regular_size(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status)) return -1;
  if (S_ISREG(status.st_mode)) return status.st_size;
  errno = ESPIPE;
  return -1;
}

static int copy_mode(const char* from, int to) {
  struct stat status;
  if (stat(from, &status)) return errno == ENOENT ? 0 : -1;
  return fchmod(to, status.st_mode & 0777);
}

static int kind_of_file(const char* path) {
  struct stat status;
  if (stat(path, &status)) return errno == ENOENT ? 0 : -1;
  return static_cast<int>(status.st_mode & S_IFMT);
}

static void* map_to_read(int descriptor, size_t bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  return data == MAP_FAILED ? nullptr : data;
}

FileCalls file_calls = {
    [](const char* path) {
      return ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    },  // pipes must not hold us up
    [](const char* path) { return ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); },
    [](const char* path) { return ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); },
    [](int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); },
    [](int descriptor) { return ::close(descriptor); },
    regular_size,
    [](int descriptor, void* to, size_t bytes, int64_t offset) {
      return static_cast<int64_t>(pread(descriptor, to, bytes, offset));
    },
    [](int descriptor, const void* from, size_t bytes) {
      return static_cast<int64_t>(::write(descriptor, from, bytes));
    },
    copy_mode,
    kind_of_file,
    [](int descriptor) { return fsync(descriptor); },
    [](const char* from, const char* to) { return ::rename(from, to); },
    [](const char* path) { return unlink(path); },
    map_to_read,
    [](void* data, size_t bytes) { return munmap(data, bytes); },
};

void fail_io(const char* function, const std::string& what,
             int error_number LIBDL_GIVEN_SOURCE_LOCATION) {
  fail(LIBDL_ERROR_IO, function,
       what + ": " + std::generic_category().message(error_number) LIBDL_SAME_SOURCE_LOCATION);
}

// EINTR is no failure, but for close, which has closed all the same.
template <class F>
static auto uninterrupted(F&& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// -- descriptors ----------------------------------------------------------------------------

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) file_calls.close(number_);
    number_ = other.release();
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) file_calls.close(number_);
}

int Descriptor::release() {
  const int number = number_;
  number_ = -1;
  return number;
}

Descriptor Descriptor::open(const char* function, const std::string& path) {
  const int number = uninterrupted([&] { return file_calls.open(path.c_str()); });
  if (number < 0) fail_io(function, "cannot open " + path, errno);
  return Descriptor(number);
}

Descriptor Descriptor::duplicate(const char* function, int number) {
  const int copy = uninterrupted([&] { return file_calls.duplicate(number); });
  if (copy < 0) fail_io(function, "cannot use descriptor " + std::to_string(number), errno);
  return Descriptor(copy);
}

int64_t Descriptor::size(const char* function) const {
  const int64_t size = uninterrupted([&] { return file_calls.size(number_); });
  if (size < 0 && errno == ESPIPE) fail(LIBDL_ERROR_IO, function, "this is no regular file");
  if (size < 0) fail_io(function, "cannot tell the file's size", errno);
  return size;
}

void Descriptor::read(const char* function, void* to, size_t bytes, int64_t offset) const {
  char* at = static_cast<char*>(to);
  while (bytes > 0) {
    const int64_t got = uninterrupted([&] { return file_calls.read(number_, at, bytes, offset); });
    if (got < 0) fail_io(function, "cannot read at byte " + std::to_string(offset), errno);
    if (got == 0)
      fail(LIBDL_ERROR_FORMAT, function,
           "the file ends at byte " + std::to_string(offset) + ", " + std::to_string(bytes) +
               " bytes too early");
    at += got;
    bytes -= static_cast<size_t>(got);
    offset += got;
  }
}

// -- replacing ------------------------------------------------------------------------------

constexpr size_t kGathered = size_t{1} << 18;

static std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return "./";
  return path.substr(0, slash + 1);
}

static const char* called(int kind) {
  switch (kind) {
    case S_IFDIR: return "a folder";
    case S_IFIFO: return "a FIFO";
    case S_IFSOCK: return "a socket";
    case S_IFCHR:
    case S_IFBLK: return "a device";
    default: return "no regular file";
  }
}

static void check_replaceable(const char* function, const std::string& path) {
  const int kind = uninterrupted([&] { return file_calls.kind(path.c_str()); });
  if (kind < 0) fail_io(function, "cannot tell what " + path + " is", errno);
  if (kind == 0 || kind == S_IFREG) return;
  fail(LIBDL_ERROR_IO, function,
       path + " is " + called(kind) + ", and only regular files are replaced");
}

Replacement::Replacement(const char* function, std::string path)
    : function_(function), path_(std::move(path)) {
  static std::atomic<uint32_t> ordinal{0};
  const std::string folder = folder_of(path_);
  check_replaceable(function_, path_);
  pending_.reserve(kGathered);
  folder_ = Descriptor(uninterrupted([&] { return file_calls.open_folder(folder.c_str()); }));
  if (folder_.number() < 0) fail_io(function_, "cannot open the folder " + folder, errno);
  int number = -1;
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = folder + ".libdl-" + std::to_string(getpid()) + "-" +
                 std::to_string(ordinal.fetch_add(1)) + ".tmp";
    number = uninterrupted([&] { return file_calls.create(temporary_.c_str()); });
    if (number >= 0 || errno != EEXIST) break;
  }
  if (number < 0) fail_io(function_, "cannot make a file in " + folder, errno);
  file_ = Descriptor(number);
  // Before the first byte, so that a private file's content is never readable by others.
  if (uninterrupted([&] { return file_calls.copy_mode(path_.c_str(), number); }) < 0) {
    const int reason = errno;
    abandon();
    fail_io(function_, "cannot give the new file the mode of " + path_, reason);
  }
}

Replacement::~Replacement() { abandon(); }

void Replacement::abandon() noexcept {
  if (file_.number() < 0 || temporary_.empty()) return;
  file_ = {};
  file_calls.remove(temporary_.c_str());
}

void Replacement::write(const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (pending_.size() + bytes > kGathered) flush();
  if (bytes > kGathered)
    write_out(from, bytes);
  else
    pending_.append(static_cast<const char*>(from), bytes);
}

void Replacement::flush() {
  write_out(pending_.data(), pending_.size());
  pending_.clear();
}

void Replacement::write_out(const void* from, size_t bytes) {
  const char* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const int64_t put = uninterrupted([&] { return file_calls.write(file_.number(), at, bytes); });
    if (put <= 0) fail_io(function_, "cannot write " + path_, put < 0 ? errno : ENOSPC);
    at += put;
    bytes -= static_cast<size_t>(put);
  }
}

void Replacement::commit() {
  flush();
  const int file = file_.number();
  if (uninterrupted([&] { return file_calls.sync(file); }) < 0)
    fail_io(function_, "cannot sync " + path_, errno);
  if (uninterrupted([&] { return file_calls.rename(temporary_.c_str(), path_.c_str()); }) < 0)
    fail_io(function_, "cannot replace " + path_, errno);
  temporary_.clear();
  // The new file is in its place and whole; only its name is not yet sure to survive a power cut.
  // EINVAL: file systems that cannot sync a folder.
  if (uninterrupted([&] { return file_calls.sync(folder_.number()); }) < 0 && errno != EINVAL)
    fail_io(function_, path_ + " is replaced, but its folder cannot be synced", errno);
}

}  // namespace libdl
