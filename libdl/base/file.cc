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
#include "base/uncancelled.h"

namespace libdl {

// -- the calls ------------------------------------------------------------------------------

static int64_t regular_size(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status)) return -1;
  if (S_ISREG(status.st_mode)) return status.st_size;
  errno = ESPIPE;
  return -1;
}

// The owner is kept where the process may give files away, and else the group where it may.
static void copy_owner(const struct stat& from, int to) {
  struct stat now;
  if (fstat(to, &now) || (now.st_uid == from.st_uid && now.st_gid == from.st_gid)) return;
  if (fchown(to, from.st_uid, from.st_gid) && fchown(to, static_cast<uid_t>(-1), from.st_gid))
    errno = 0;  // the new file is the writer's
}

static int copy_mode(const char* from, int to) {
  struct stat status;
  if (stat(from, &status)) return errno == ENOENT ? 0 : -1;
  copy_owner(status, to);
  return fchmod(to, status.st_mode & 0777);
}

// As open would say it, which need not be what the mode says: root writes everything, and nobody
// writes to a file system that is mounted to be read.
static int writable(const char* path) {
  return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) && errno != ENOENT ? -1 : 0;
}

static std::string by_descriptor(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

static int create_unnamed(const char* folder) {
#ifdef O_TMPFILE
  const int descriptor = ::open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor < 0)  // file systems without such files, and kernels
    return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL ? kNoUnnamedFiles : -1;
  if (access(by_descriptor(descriptor).c_str(), F_OK) == 0) return descriptor;
  ::close(descriptor);  // without /proc it could not get a name
#else
  (void)folder;
#endif
  errno = EOPNOTSUPP;
  return kNoUnnamedFiles;
}

static int give_name(int descriptor, const char* path) {
  return linkat(AT_FDCWD, by_descriptor(descriptor).c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
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
    create_unnamed,
    give_name,
    [](int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); },
    [](int descriptor) { return ::close(descriptor); },
    regular_size,
    [](int descriptor, void* to, size_t bytes, int64_t offset) {
      return static_cast<int64_t>(pread(descriptor, to, bytes, offset));
    },
    [](int descriptor, const void* from, size_t bytes) {
      return static_cast<int64_t>(::write(descriptor, from, bytes));
    },
    [](int descriptor, const void* from, size_t bytes, int64_t offset) {
      return static_cast<int64_t>(pwrite(descriptor, from, bytes, offset));
    },
    writable,
    copy_mode,
    kind_of_file,
    [](int descriptor) { return fsync(descriptor); },
    [](const char* from, const char* to) { return ::rename(from, to); },
    [](const char* path) { return unlink(path); },
    map_to_read,
    [](void* data, size_t bytes) { return munmap(data, bytes); },
};

void fail_io(const char* function, const std::string& what,
             int error_number LIBDL_PASSED_SOURCE_LOCATION) {
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

// A release of the host's may come here, too: whoever cancels the thread must not unwind it.
void Descriptor::close_now() noexcept {
  if (number_ < 0) return;
  const Uncancelled whole;
  file_calls.close(number_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close_now();
    number_ = other.release();
    path_ = std::move(other.path_);
  }
  return *this;
}

Descriptor::~Descriptor() { close_now(); }

int Descriptor::release() {
  const int number = number_;
  number_ = -1;
  return number;
}

Descriptor Descriptor::open(const char* function, const std::string& path) {
  const int number = uninterrupted([&] { return file_calls.open(path.c_str()); });
  if (number < 0) fail_io(function, "cannot open " + path, errno);
  return Descriptor(number, path);
}

Descriptor Descriptor::duplicate(const char* function, int number) {
  const int copy = uninterrupted([&] { return file_calls.duplicate(number); });
  if (copy < 0) fail_io(function, "cannot use descriptor " + std::to_string(number), errno);
  return Descriptor(copy);
}

int64_t Descriptor::size(const char* function) const {
  const int64_t size = uninterrupted([&] { return file_calls.size(number_); });
  if (size < 0 && errno == ESPIPE)
    fail(LIBDL_ERROR_IO, function, prefix() + "this is no regular file");
  if (size < 0) fail_io(function, prefix() + "cannot tell the file's size", errno);
  return size;
}

// Where the file ends, of which nothing was read at byte `at`: it may have been cut far before.
int64_t Descriptor::end_before(int64_t at) const {
  const int64_t size = uninterrupted([&] { return file_calls.size(number_); });
  return size < 0 || size > at ? at : size;
}

void Descriptor::read(const char* function, void* to, size_t bytes, int64_t offset) const {
  char* at = static_cast<char*>(to);
  while (bytes > 0) {
    const int64_t got = uninterrupted([&] { return file_calls.read(number_, at, bytes, offset); });
    if (got < 0)
      fail_io(function, prefix() + "cannot read at byte " + std::to_string(offset), errno);
    if (got == 0)
      fail(LIBDL_ERROR_FORMAT, function,
           prefix() + "the file ends at byte " + std::to_string(end_before(offset)) + ", wanted " +
               std::to_string(offset + static_cast<int64_t>(bytes)) + " bytes");
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
  if (kind == 0) return;
  if (kind == S_IFREG) {
    if (uninterrupted([&] { return file_calls.writable(path.c_str()); }) < 0)
      fail_io(function, "cannot write " + path, errno);
    return;
  }
  fail(LIBDL_ERROR_IO, function,
       path + " is " + called(kind) + ", and only regular files are replaced");
}

// Tries names in the folder until one is free: make(name) is as open's, or a link's.
template <class Make>
static int with_new_name(const std::string& folder, std::string& name, const Make& make) {
  static std::atomic<uint32_t> ordinal{0};
  int descriptor = -1;
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = folder + ".libdl-" + std::to_string(getpid()) + "-" +
           std::to_string(ordinal.fetch_add(1)) + ".tmp";
    descriptor = uninterrupted([&] { return make(name.c_str()); });
    if (descriptor >= 0 || errno != EEXIST) break;
  }
  if (descriptor < 0) name.clear();
  return descriptor;
}

Replacement::Replacement(const char* function, std::string path)
    : function_(function), path_(std::move(path)), folder_name_(folder_of(path_)) {
  check_replaceable(function_, path_);
  pending_.reserve(kGathered);
  folder_ = Descriptor(uninterrupted([&] { return file_calls.open_folder(folder_name_.c_str()); }));
  if (folder_.number() < 0) fail_io(function_, "cannot open the folder " + folder_name_, errno);
  create();
  // Before the first byte, so that a private file's content is never readable by others.
  if (uninterrupted([&] { return file_calls.copy_mode(path_.c_str(), file_.number()); }) < 0) {
    const int reason = errno;
    abandon();
    fail_io(function_, "cannot give the new file the mode of " + path_, reason);
  }
}

void Replacement::create() {
  int number = uninterrupted([&] { return file_calls.create_unnamed(folder_name_.c_str()); });
  if (number == kNoUnnamedFiles)
    number = with_new_name(folder_name_, temporary_, file_calls.create);
  if (number < 0) fail_io(function_, "cannot make a file in " + folder_name_, errno);
  file_ = Descriptor(number);
}

Replacement::~Replacement() { abandon(); }

void Replacement::abandon() noexcept {
  if (file_.number() < 0) return;
  file_ = {};
  if (!temporary_.empty()) file_calls.remove(temporary_.c_str());
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

// Calls put(from, bytes, done) until all is written.
template <class Put>
void Replacement::put_all(const void* from, size_t bytes, const Put& put) {
  for (size_t done = 0; done < bytes;) {
    const char* const at = static_cast<const char*>(from) + done;
    const int64_t count = uninterrupted([&] { return put(at, bytes - done, done); });
    if (count <= 0) fail_io(function_, "cannot write " + path_, count < 0 ? errno : ENOSPC);
    done += static_cast<size_t>(count);
  }
}

void Replacement::write_out(const void* from, size_t bytes) {
  put_all(from, bytes, [&](const char* at, size_t rest, size_t) {
    return file_calls.write(file_.number(), at, rest);
  });
}

void Replacement::write_again(const void* from, size_t bytes, int64_t offset) {
  flush();
  put_all(from, bytes, [&](const char* at, size_t rest, size_t done) {
    return file_calls.write_at(file_.number(), at, rest, offset + static_cast<int64_t>(done));
  });
}

void Replacement::commit() {
  flush();
  const int file = file_.number();
  if (uninterrupted([&] { return file_calls.sync(file); }) < 0)
    fail_io(function_, "cannot sync " + path_, errno);
  if (temporary_.empty()) {
    const auto name = [&](const char* path) { return file_calls.give_name(file, path); };
    if (with_new_name(folder_name_, temporary_, name) < 0)
      fail_io(function_, "cannot make a file in " + folder_name_, errno);
  }
  if (uninterrupted([&] { return file_calls.rename(temporary_.c_str(), path_.c_str()); }) < 0)
    fail_io(function_, "cannot replace " + path_, errno);
  temporary_.clear();
  file_ = {};
  // The new file is in its place and whole; only its name is not yet sure to survive a power cut.
  // EINVAL: file systems that cannot sync a folder.
  if (uninterrupted([&] { return file_calls.sync(folder_.number()); }) < 0 && errno != EINVAL)
    fail_io(function_, path_ + " is replaced, but its folder cannot be synced", errno);
}

}  // namespace libdl
