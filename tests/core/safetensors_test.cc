// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>

#include "entries/view.h"
#include "io/checksum.h"
#include "io/safetensors.h"
#include "tensor/row_major.h"
#include "tests/core/code_of.h"
#include "tests/core/folder.h"
#include "tests/core/whole.h"

namespace libdl {
namespace {

using test::code_of;

namespace fs = std::filesystem;

using test::content, test::Folder, test::write;

// A file with that header and that many bytes 1 behind it.
std::string with_header(const std::string& json, size_t data_bytes) {
  uint64_t length = json.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  return bytes + json + std::string(data_bytes, '\1');
}

File from_bytes(const std::string& bytes, bool share = false) {
  return open_memory(bytes.data(), static_cast<int64_t>(bytes.size()), share, nullptr, nullptr);
}

Tensor bytes_tensor(Dims shape, Dtype dtype, int first = 0) {
  Tensor x = empty(shape, dtype);
  for (int64_t i = 0; i < byte_count(x); ++i)
    x.update_plain<unsigned char>()[i] =
        static_cast<unsigned char>(dtype == Dtype::kBool ? (first + i) % 2 : (first + i) % 251);
  return x;
}
Tensor bytes_tensor(std::initializer_list<int64_t> shape, Dtype dtype, int first = 0) {
  return bytes_tensor(Dims(shape.begin(), shape.size()), dtype, first);
}

std::string raw(const Tensor& x) {
  std::string bytes(static_cast<size_t>(byte_count(x)), '\0');
  read_elements(x, bytes.data());
  return bytes;
}

// Some tensors of all that the format has.
struct Sample {
  std::vector<Tensor> tensors;
  std::vector<std::string> names;
  std::vector<NamedTensor> named;
  std::vector<NamedText> metadata{{"format", "pt"}, {"k\"ey", "t\xc3\xa4xt\n"}};
  Sample() {
    for (int32_t n = 1; n < kDtypes; ++n)
      if (static_cast<Dtype>(n) != Dtype::kComplex128)
        add("t." + std::to_string(n), bytes_tensor({n % 3, 2}, static_cast<Dtype>(n), n));
    const Tensor base = bytes_tensor({3, 5}, Dtype::kInt32);
    add("transposed", alias(base, Shape{5, 3}, Shape{1, 5}, 0, Dtype::kInt32));
    add("scalar", bytes_tensor({}, Dtype::kFloat64));
    add("number", number(2.5));
    for (size_t i = 0; i < tensors.size(); ++i) named.push_back({names[i], &tensors[i]});
  }
  void add(std::string name, Tensor x) {
    names.push_back(std::move(name));
    tensors.push_back(std::move(x));
  }
};

void expect_sample(const File& file) {
  const Sample sample;
  ASSERT_EQ(file->header.tensors.size(), sample.tensors.size());
  for (size_t i = 0; i < sample.tensors.size(); ++i) {
    EXPECT_EQ(file->header.name(file->header.tensors[i]), sample.names[i]);
    EXPECT_EQ(file->header.find(sample.names[i]), i);
    const Tensor x = read_tensor(file, i);
    EXPECT_EQ(x.dtype(), sample.tensors[i].dtype());
    EXPECT_TRUE(same(x.shape(), sample.tensors[i].shape()));
    EXPECT_EQ(raw(x), raw(sample.tensors[i])) << sample.names[i];
  }
  ASSERT_EQ(file->header.metadata.size(), 2u);
  const TextEntry& entry = file->header.metadata[1];
  EXPECT_EQ(file->header.text.substr(entry.key, entry.key_length), "k\"ey");
  EXPECT_EQ(file->header.text.substr(entry.value, entry.value_length), "t\xc3\xa4xt\n");
}

TEST(Safetensors, RoundTripByEveryWay) {
  const Folder folder;
  const Sample sample;
  const std::string path = folder.file("a.safetensors");
  save_file(path, sample.named, sample.metadata);
  EXPECT_EQ(content(path), save_text(sample.named, sample.metadata));
  expect_sample(open_file(path, false));
  expect_sample(open_file(path, true));
  expect_sample(from_bytes(content(path), false));
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  const File file = open_file(descriptor, false);
  ::close(descriptor);
  expect_sample(file);
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Safetensors, DataIsAligned) {
  const Sample sample;
  const std::string bytes = save_text(sample.named, sample.metadata);
  const File file = from_bytes(bytes);
  EXPECT_EQ(file->header.data % 8, 0);
  for (const TensorEntry& entry : file->header.tensors)
    EXPECT_EQ(entry.begin % size_of(real_of(entry.dtype)), 0);
}

// What safetensors 0.8.0 from PyPI writes for
// {"b": arange(3, int16), "a": [[1.5]] float32} and metadata {"x": "y"}.
TEST(Safetensors, ReadsWhatThePackageWrites) {
  std::string bytes = with_header(
      R"({"__metadata__":{"x":"y"},"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},)"
      R"("b":{"dtype":"I16","shape":[3],"data_offsets":[4,10]}} )",
      0);
  bytes += std::string("\0\0\300\077\0\0\1\0\2\0", 10);
  const File file = from_bytes(bytes);
  EXPECT_EQ(*read_tensor(file, 0).read_plain<float>(), 1.5f);
  EXPECT_EQ(read_tensor(file, *file->header.find("b")).read_plain<int16_t>()[2], 2);
}

TEST(Safetensors, SharedTensorsKeepTheFileAndAreReadOnly) {
  const Folder folder;
  const Sample sample;
  save_file(folder.file("a"), sample.named, {});
  const LiveCounts before = live_counts();
  File file = open_file(folder.file("a"), true);
  Tensor x = read_tensor(file, *file->header.find("transposed"));
  EXPECT_TRUE(x.storage().read_only);
  EXPECT_EQ(x.read_plain<char>() - file->memory,
            file->header.data + file->header.tensors[*file->header.find("transposed")].begin);
  file = {};
  fs::remove(folder.file("a"));
  EXPECT_EQ(raw(x), raw(sample.tensors[14]));
  x = {};
  EXPECT_EQ(live_counts().storages, before.storages);
}

TEST(Safetensors, MemoryIsReleasedOnce) {
  int released = 0;
  const auto release = [](void* count) { ++*static_cast<int*>(count); };
  const std::string good =
      with_header(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2);
  File file = open_memory(good.data(), static_cast<int64_t>(good.size()), true, release, &released);
  Tensor x = read_tensor(file, 0);
  file = {};
  EXPECT_EQ(released, 0);
  EXPECT_EQ(x.read_plain<char>(), good.data() + good.size() - 2);
  x = {};
  EXPECT_EQ(released, 1);
  EXPECT_EQ(code_of([&] { open_memory("12345678", 8, true, release, &released); }),
            LIBDL_ERROR_FORMAT);
  EXPECT_EQ(released, 2);
}

TEST(Safetensors, MisalignedAndUncleanBytesAreCopied) {
  const std::string json = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                           R"("f":{"dtype":"F64","shape":[1],"data_offsets":[1,9]},)"
                           R"("t":{"dtype":"BOOL","shape":[2],"data_offsets":[9,11]}})";
  std::string bytes = with_header(json, 11);
  bytes.back() = '\377';
  for (const bool share : {false, true}) {
    const File file = from_bytes(bytes, share);
    EXPECT_EQ(raw(read_tensor(file, 1)), std::string(8, '\1'));
    EXPECT_EQ(raw(read_tensor(file, 2)), "\1\1");
    EXPECT_FALSE(read_tensor(file, 2).storage().read_only);
  }
}

TEST(SafetensorsHeader, Refusals) {
  const auto refused = [](const std::string& json, size_t data_bytes) {
    EXPECT_EQ(code_of([&] { from_bytes(with_header(json, data_bytes)); }), LIBDL_ERROR_FORMAT)
        << json;
  };
  const auto entry = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}}";
  };
  EXPECT_EQ(code_of([&] { from_bytes(with_header(entry("\"U8\"", "[2,1]", "[0,2]"), 2)); }),
            LIBDL_OK);
  refused("", 0);
  refused(" {}", 0);
  refused("[]", 0);
  refused("{", 0);
  refused("{}x", 0);
  refused("{} {}", 0);
  refused("{\"a\":1}", 0);
  refused("{\"a\":{}}", 0);
  refused("{\"a\":[]}", 0);
  refused("{\"a\":\"b\"}", 0);
  refused("{\"a\":null}", 0);
  refused("{\"\xff\":{}}", 0);
  refused(R"({"__metadata__":{"a":1}})", 0);
  refused(R"({"__metadata__":{"a":{}}})", 0);
  refused(R"({"__metadata__":"a"})", 0);
  refused(R"({"__metadata__":{"a":"b","a":"c"}})", 0);
  refused(R"({"__metadata__":{},"__metadata__":{}})", 0);
  refused(entry("\"U8\"", "[2]", "[0,2]"), 1);
  refused(entry("\"U8\"", "[2]", "[0,2]"), 3);
  refused(entry("\"U8\"", "[2]", "[1,3]"), 3);
  refused(entry("\"U8\"", "[2]", "[2,0]"), 2);
  refused(entry("\"U8\"", "[2]", "[0,3]"), 3);
  refused(entry("\"U8\"", "[2]", "[0]"), 2);
  refused(entry("\"U8\"", "[2]", "[0,2,2]"), 2);
  refused(entry("\"U8\"", "[2]", "2"), 2);
  refused(entry("\"U8\"", "[-2]", "[0,2]"), 2);
  refused(entry("\"U8\"", "[2.0]", "[0,2]"), 2);
  refused(entry("\"U8\"", "[[2]]", "[0,2]"), 2);
  refused(entry("\"U8\"", "[\"2\"]", "[0,2]"), 2);
  refused(entry("\"U8\"", "2", "[0,2]"), 2);
  refused(entry("\"F8_E4M3\"", "[2]", "[0,2]"), 2);
  refused(entry("\"u8\"", "[2]", "[0,2]"), 2);
  refused(entry("8", "[2]", "[0,2]"), 2);
  refused(entry("\"U8\"", "[18446744073709551615]", "[0,2]"), 2);
  refused(entry("\"U8\"", "[36893488147419103232]", "[0,2]"), 2);
  refused(entry("\"F64\"", "[2305843009213693952]", "[0,0]"), 0);
  refused(entry("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0);
  refused(entry("\"U8\"", "[0,9223372036854775807,2]", "[0,0]"), 0);
  std::string many = "[1";
  for (int i = 0; i < 64; ++i) many += ",1";
  refused(entry("\"U8\"", many + "]", "[0,1]"), 1);
  refused(R"({"a":{"dtype":"U8","shape":[2]}})", 2);
  refused(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2],"dtype":"U8"}})", 2);
  refused(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2],"x":1}})", 2);
  const std::string a = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  refused("{" + a + "," + a + "}", 2);
  refused("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3);
  refused("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})", 5);
  refused(std::string(100000, '{'), 0);
  refused(R"({"a":)" + std::string(100000, '['), 0);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.message();
  }
  return "no error";
}

TEST(SafetensorsHeader, MessagesSayWhatIsWrong) {
  const auto told = [](const std::string& json, size_t data_bytes) {
    return message_of([&] { from_bytes(with_header(json, data_bytes)); });
  };
  const std::pair<const char*, const char*> fields[] = {
      {R"("dtype":"U8","shape":[2],"data_offsets":[0,2,2])", "more than two data_offsets"},
      {R"("dtype":"U8","shape":[2],"data_offsets":[0])", "fewer than two data_offsets"},
      {R"("dtype":true)", "a truth value"},
      {R"("shape":[-2])", "a negative number"},
      {R"("shape":[2.0])", "a fraction, or a number beyond 64 bits"},
      {R"("shape":[18446744073709551615])", "a number beyond 63 bits"},
      {R"("x":1)", "a key besides dtype, shape and data_offsets"},
  };
  for (const auto& [field, wrong] : fields)
    EXPECT_EQ(told(std::string(R"({"a":{)") + field + "}}", 2),
              std::string("file_open_memory: the header has ") + wrong + ", in tensor \"a\"");
  EXPECT_EQ(told(R"({"a":{"dtype":"F8_E4M3"}})", 0),
            "file_open_memory: tensor \"a\" has the dtype \"F8_E4M3\", which libdl does not know");
  const std::string a = R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(told("{" + a + "," + a + "}", 0), "file_open_memory: the header names \"a\" twice");
  EXPECT_EQ(told(std::string("{}\0x", 4), 0), "file_open_memory: the header has a byte of 0");
  EXPECT_EQ(
      message_of([] { from_bytes("1234567"); }),
      "file_open_memory: the content is not a safetensors file: it has 7 bytes, such a file at "
      "least 8");
  EXPECT_EQ(
      message_of([] { from_bytes(std::string("\1\0\0\0\0\0\0\0", 8)); }),
      "file_open_memory: the content is not a safetensors file: the header's length is 1, the "
      "file's 8");
}

TEST(SafetensorsHeader, FilesOfOtherFormatsAreNamed) {
  const Folder folder;
  const std::pair<std::string, const char*> formats[] = {
      {std::string("PK\3\4", 4),
       ", but a zip archive, such as PyTorch's checkpoints and NumPy's .npz: "},
      {"\x80\4\x95", ", but a pickle: "},
      {"\x93NUMPY\1", ", but an array of NumPy's (.npy): "},
      {"\x89HDF\r\n\x1a\n", ", but HDF5, as Keras writes it: "},
      {"GGUF\3", ", but GGUF, as llama.cpp reads it: "},
      {"\x1f\x8b", ", but compressed by gzip: "},
      {"<!doctype", ", but HTML or XML, "},
      {"version https://git-lfs", ", but a pointer of Git LFS, "},
      {"some text that is no header", ": "}};
  for (const auto& [head, format] : formats) {
    write(folder.file("a"), head + std::string(100, 'x'));
    const std::string begin =
        "file_open: " + folder.file("a") + " is not a safetensors file" + format;
    EXPECT_EQ(message_of([&] { open_file(folder.file("a"), false); }).substr(0, begin.size()),
              begin);
  }
  write(folder.file("a"), with_header("[1]", 0));
  EXPECT_EQ(message_of([&] { open_file(folder.file("a"), false); }),
            "file_open: " + folder.file("a") +
                " is not a safetensors file: the header does not begin with {");
  write(folder.file("a"), with_header("{\"a\":1}", 0));
  EXPECT_EQ(message_of([&] { open_file(folder.file("a"), false); }),
            "file_open: " + folder.file("a") + ": the header has a number where none belongs");
}

// Opens and reads everything; the outcome is success or an error, whatever the bytes are.
libdl_error_code reading(const std::string& bytes, bool share) {
  return code_of([&] {
    const File file = from_bytes(bytes, share);
    for (size_t i = 0; i < file->header.tensors.size(); ++i) raw(read_tensor(file, i));
  });
}

// -- checksums --------------------------------------------------------------------------------

TEST(SafetensorsChecksums, AreThoseOfZlib) {
  EXPECT_EQ(crc32(0, "", 0), 0u);
  EXPECT_EQ(crc32(0, "123456789", 9), 0xCBF43926u);
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * 7);
  const uint32_t whole = crc32(0, bytes.data(), bytes.size());
  EXPECT_EQ(whole, 0x114AD5FFu);  // zlib.crc32(bytes(i * 7 & 255 for i in range(1000)))
  for (const size_t cut : {1, 15, 16, 17, 999}) {
    const uint32_t first = crc32(0, bytes.data(), cut);
    EXPECT_EQ(crc32(first, bytes.data() + cut, bytes.size() - cut), whole) << cut;
  }
}

TEST(SafetensorsChecksums, EveryFlippedBitIsAnError) {
  const Tensor x = bytes_tensor({3}, Dtype::kInt16), y = bytes_tensor({2, 2}, Dtype::kBool);
  const std::string whole = save_text({{"x", &x}, {"y\n", &y}}, {{"k", "v"}});
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    EXPECT_EQ(reading(changed, false), LIBDL_ERROR_FORMAT) << bit;
  }
}

TEST(SafetensorsChecksums, ErrorsTellWhatIsDamaged) {
  const Tensor x = bytes_tensor({3}, Dtype::kInt16);
  const std::string whole = save_text({{"x", &x}}, {{"k", "v"}});
  std::string changed = whole;
  changed.back() = '\77';
  EXPECT_EQ(message_of([&] { read_tensor(from_bytes(changed), 0); }),
            "file_tensor: the bytes of tensor \"x\" are not those that were written: their CRC-32 "
            "differs; the file was damaged");
  const auto told = [&](const std::string& from, const std::string& to) {
    std::string other = whole;
    other.replace(other.find(from), from.size(), to);
    return message_of([&] { from_bytes(other); });
  };
  const std::string differs = "file_open_memory: the header is not the one that was written: ";
  EXPECT_EQ(told("\"v\"", "\"w\"").substr(0, differs.size()), differs);
  const std::string damaged = "file_open_memory: the checksums in the metadata are damaged";
  EXPECT_EQ(told("\"libdl.crc32\"", "\"libdl.crc31\""), damaged);
  EXPECT_EQ(told("CRC-32 of", "CRC-33 of"), damaged);
  EXPECT_EQ(told("tensor: ", "tensor:_"), damaged);
  const std::string digits = whole.substr(whole.find("tensor: ") + 8, 8);
  EXPECT_EQ(told(digits, "0123456g"), damaged);
}

TEST(SafetensorsChecksums, AreNoneOfTheCallersMetadata) {
  const Tensor x = bytes_tensor({3}, Dtype::kInt16);
  const std::string whole = save_text({{"x", &x}}, {});
  const File file = from_bytes(whole);
  EXPECT_TRUE(file->header.metadata.empty());
  EXPECT_EQ(file->header.checksums.size(), 1u);
  EXPECT_EQ(code_of([&] { save_text({{"x", &x}}, {{"libdl.crc32", "0"}}); }), LIBDL_ERROR_VALUE);
}

// Views of a mapped file are not read when they are made.
TEST(SafetensorsChecksums, OfWindowsAreNotCompared) {
  const Folder folder;
  const Tensor x = bytes_tensor({3}, Dtype::kInt16);
  std::string bytes = save_text({{"x", &x}}, {});
  bytes.back() = '\77';
  write(folder.file("a"), bytes);
  EXPECT_EQ(code_of([&] { read_tensor(open_file(folder.file("a"), true), 0); }), LIBDL_OK);
  EXPECT_EQ(code_of([&] { read_tensor(open_file(folder.file("a"), false), 0); }),
            LIBDL_ERROR_FORMAT);
}

TEST(SafetensorsHeader, TheLengthIsCheckedBeforeAnythingIsAllocated) {
  for (const uint64_t length :
       {uint64_t{1}, uint64_t{99'999'999}, uint64_t{1} << 62, ~uint64_t{0}, ~uint64_t{0} - 7}) {
    std::string bytes(reinterpret_cast<const char*>(&length), 8);
    EXPECT_EQ(code_of([&] { from_bytes(bytes); }), LIBDL_ERROR_FORMAT);
  }
  const Folder folder;  // a header as long as it says, but over the limit; the file is sparse
  const uint64_t length = 100'000'001;
  write(folder.file("a"), std::string(reinterpret_cast<const char*>(&length), 8) + "{");
  fs::resize_file(folder.file("a"), 100'000'009);
  EXPECT_EQ(
      message_of([&] { open_file(folder.file("a"), false); }),
      "file_open: " + folder.file("a") +
          " is not a safetensors file: the header's length is 100000001, at most 100000000 are "
          "allowed");
}

TEST(SafetensorsHostile, EveryTruncation) {
  const Sample sample;
  const std::string whole = save_text(sample.named, sample.metadata);
  const Folder folder;
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(reading(whole.substr(0, n), n % 2), LIBDL_ERROR_FORMAT) << n;
    write(folder.file("a"), whole.substr(0, n));
    EXPECT_EQ(code_of([&] { open_file(folder.file("a"), n % 2); }), LIBDL_ERROR_FORMAT) << n;
  }
  EXPECT_EQ(reading(whole, false), LIBDL_OK);
  test::figure(
      "safetensors, every truncation",
      std::to_string(2 * whole.size()) + " files, all refused: " + (HasFailure() ? "no" : "yes"));
}

TEST(SafetensorsHostile, EveryHeaderByte) {
  const Tensor x = bytes_tensor({3}, Dtype::kInt16), y = bytes_tensor({2, 0}, Dtype::kBool);
  const std::string whole = save_text({{"x", &x}, {"y\n", &y}}, {{"k", "v"}});
  const size_t header = whole.size() - 6;
  int accepted = 0;
  for (size_t at = 0; at < header; ++at)
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      const libdl_error_code code = reading(changed, value % 2);
      EXPECT_TRUE(code == LIBDL_OK || code == LIBDL_ERROR_FORMAT) << at << " " << value;
      accepted += code == LIBDL_OK;
    }
  EXPECT_EQ(accepted, static_cast<int>(header));  // only the byte that was there
  test::figure("safetensors, every byte of a header with every value",
               std::to_string(256 * header) + " files, " + std::to_string(accepted) +
                   " read, the others refused: " + (HasFailure() ? "no" : "yes"));
}

TEST(SafetensorsHostile, AFileThatShrinksIsAnError) {
  const Folder folder;
  const Tensor x = bytes_tensor({1000}, Dtype::kInt32);
  save_file(folder.file("a"), {{"x", &x}}, {});
  const File file = open_file(folder.file("a"), false);
  fs::resize_file(folder.file("a"), 2000);
  EXPECT_EQ(code_of([&] { read_tensor(file, 0); }), LIBDL_ERROR_FORMAT);
}

TEST(SafetensorsHostile, WhatIsNoFile) {
  const Folder folder;
  const auto opening = [](const std::string& path) {
    return code_of([&] { open_file(path, false); });
  };
  EXPECT_EQ(opening(folder.file("absent")), LIBDL_ERROR_IO);
  EXPECT_EQ(message_of([&] { open_file(folder.file("absent"), false); }),
            "file_open: cannot open " + folder.file("absent") + ": No such file or directory");
  EXPECT_EQ(message_of([] { open_file(-1, false); }),
            "file_open_descriptor: cannot use descriptor -1: Bad file descriptor");
  EXPECT_EQ(opening(folder.file("")), LIBDL_ERROR_IO);
  EXPECT_EQ(opening("/dev/zero"), LIBDL_ERROR_IO);
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(message_of([&] { open_file(folder.file("pipe"), false); }),
            "file_open: " + folder.file("pipe") + ": this is no regular file");
  EXPECT_EQ(code_of([] { open_file(-1, false); }), LIBDL_ERROR_IO);
  write(folder.file("empty"), "");
  EXPECT_EQ(opening(folder.file("empty")), LIBDL_ERROR_FORMAT);
}

TEST(SafetensorsSave, Refusals) {
  const Tensor x = bytes_tensor({2}, Dtype::kInt16), z = bytes_tensor({2}, Dtype::kComplex128);
  using Tensors = std::vector<NamedTensor>;
  const auto saving = [](const Tensors& tensors, const std::vector<NamedText>& metadata = {}) {
    return code_of([&] { save_text(tensors, metadata); });
  };
  EXPECT_EQ(saving({{"x", &x}, {"y", &x}, {"", &x}}), LIBDL_OK);
  EXPECT_EQ(saving({{"x", &x}, {"x", &x}}), LIBDL_ERROR_VALUE);
  EXPECT_EQ(saving({{"__metadata__", &x}}), LIBDL_ERROR_VALUE);
  EXPECT_EQ(saving({{"\xff", &x}}), LIBDL_ERROR_VALUE);
  EXPECT_EQ(saving({{"z", &z}}), LIBDL_ERROR_DTYPE);
  EXPECT_EQ(saving({}, {{"a", "b"}, {"a", "b"}}), LIBDL_ERROR_VALUE);
  EXPECT_EQ(saving({}, {{"a", "\xc3"}}), LIBDL_ERROR_VALUE);
  const int64_t half[] = {int64_t{1} << 62};
  const Tensor huge = expand(bytes_tensor({1}, Dtype::kInt8), half);
  EXPECT_EQ(message_of([&] { save_text({{"a", &huge}, {"b", &huge}}, {}); }),
            "file_save_memory: the tensors together exceed 63 bits of bytes");
  EXPECT_EQ(message_of([&] { save_text({}, {{"a", std::string(100'000'000, 'x')}}); }),
            "file_save_memory: the header would exceed 100 MB");
}

TEST(SafetensorsSave, KeepsTheModeOfWhatItReplaces) {
  const Folder folder;
  const Tensor x = bytes_tensor({2}, Dtype::kInt16);
  save_file(folder.file("a"), {{"x", &x}}, {});
  ASSERT_EQ(chmod(folder.file("a").c_str(), 0600), 0);
  save_file(folder.file("a"), {{"y", &x}}, {});
  EXPECT_EQ(fs::status(folder.file("a")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(SafetensorsSave, KeepsTheOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const Folder folder;
  const Tensor x = bytes_tensor({2}, Dtype::kInt16);
  save_file(folder.file("a"), {{"x", &x}}, {});
  ASSERT_EQ(chown(folder.file("a").c_str(), 1234, 4321), 0);
  save_file(folder.file("a"), {{"y", &x}}, {});
  struct stat status;
  ASSERT_EQ(stat(folder.file("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 1234u);
  EXPECT_EQ(status.st_gid, 4321u);
}

std::string refused(const std::string& path, const Tensor& x) {
  return message_of([&] { save_file(path, {{"x", &x}}, {}); });
}

TEST(SafetensorsSave, ReplacesOnlyRegularFiles) {
  const Folder folder;
  const Tensor x = bytes_tensor({2}, Dtype::kInt16);
  const std::string fifo = folder.file("fifo"), link = folder.file("link");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(refused(fifo, x),
            "file_save: " + fifo + " is a FIFO, and only regular files are replaced");
  EXPECT_TRUE(fs::is_fifo(fifo));
  fs::create_symlink(fifo, link);  // as /dev/stdout leads to a pipe
  EXPECT_EQ(refused(link, x),
            "file_save: " + link + " is a FIFO, and only regular files are replaced");
  EXPECT_TRUE(fs::is_symlink(link) && fs::is_fifo(fifo));
  fs::create_directory(folder.file("inner"));
  EXPECT_EQ(refused(folder.file("inner"), x), "file_save: " + folder.file("inner") +
                                                  " is a folder, and only regular files are "
                                                  "replaced");
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string at = folder.file("socket");
  ASSERT_LT(at.size(), sizeof address.sun_path);
  std::copy(at.begin(), at.end(), address.sun_path);
  ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(refused(at, x),
            "file_save: " + at + " is a socket, and only regular files are replaced");
  close(listening);
  // Nothing else was made there.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.file(".")), fs::directory_iterator{}), 4);
}

// As its declaration says: the link is replaced, what it leads to stays.
TEST(SafetensorsSave, ReplacesSymbolicLinksThemselves) {
  const Folder folder;
  const Tensor x = bytes_tensor({2}, Dtype::kInt16);
  save_file(folder.file("old"), {{"old", &x}}, {});
  fs::create_symlink("old", folder.file("link"));
  fs::create_symlink("nowhere", folder.file("loose"));
  for (const char* const name : {"link", "loose"}) {
    save_file(folder.file(name), {{"new", &x}}, {});
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder.file(name))));
    EXPECT_TRUE(open_file(folder.file(name), false)->header.find("new"));
  }
  EXPECT_TRUE(open_file(folder.file("old"), false)->header.find("old"));
  EXPECT_FALSE(fs::exists(folder.file("nowhere")));
}

// -- a file system that fails -----------------------------------------------------------------

// Calls are counted; number `at` fails with `error`, and all later ones if `persistent`.
struct Failure {
  int64_t at = -1;
  int error = EIO;
  bool persistent = false;
  int64_t calls = 0;
  bool named = false;                                  // the file system has no unnamed files
  int64_t room = std::numeric_limits<int64_t>::max();  // bytes that the disk still takes
  int64_t most = std::numeric_limits<int64_t>::max();  // bytes that a call moves

  bool fails() {
    const int64_t n = calls++;
    if (at < 0 || (persistent ? n < at : n != at)) return false;
    errno = error;
    return true;
  }
};
Failure failure;
FileCalls real;

class FailingFiles : public testing::Test {
 protected:
  void SetUp() override {
    failure = {};
    real = file_calls;
    file_calls.open = [](const char* p) { return failure.fails() ? -1 : real.open(p); };
    file_calls.open_folder = [](const char* p) {
      return failure.fails() ? -1 : real.open_folder(p);
    };
    file_calls.create = [](const char* p) { return failure.fails() ? -1 : real.create(p); };
    file_calls.create_unnamed = [](const char* p) {
      if (failure.fails()) return -1;
      return failure.named ? kNoUnnamedFiles : real.create_unnamed(p);
    };
    file_calls.give_name = [](int d, const char* p) {
      return failure.fails() ? -1 : real.give_name(d, p);
    };
    file_calls.write_at = [](int d, const void* from, size_t bytes, int64_t offset) {
      const int64_t most = std::min(static_cast<int64_t>(bytes), failure.most);
      return failure.fails() ? int64_t{-1}
                             : real.write_at(d, from, static_cast<size_t>(most), offset);
    };
    file_calls.writable = [](const char* p) { return failure.fails() ? -1 : real.writable(p); };
    file_calls.size = [](int d) { return failure.fails() ? int64_t{-1} : real.size(d); };
    file_calls.read = [](int d, void* to, size_t bytes, int64_t offset) {
      const int64_t most = std::min(static_cast<int64_t>(bytes), failure.most);
      return failure.fails() ? int64_t{-1} : real.read(d, to, static_cast<size_t>(most), offset);
    };
    file_calls.write = [](int d, const void* from, size_t bytes) {
      if (failure.fails()) return int64_t{-1};
      const int64_t count = std::min({static_cast<int64_t>(bytes), failure.most, failure.room});
      if (count == 0) {
        errno = ENOSPC;
        return int64_t{-1};
      }
      failure.room -= count;
      return real.write(d, from, static_cast<size_t>(count));
    };
    file_calls.kind = [](const char* p) { return failure.fails() ? -1 : real.kind(p); };
    file_calls.copy_mode = [](const char* p, int d) {
      return failure.fails() ? -1 : real.copy_mode(p, d);
    };
    file_calls.sync = [](int d) { return failure.fails() ? -1 : real.sync(d); };
    file_calls.rename = [](const char* a, const char* b) {
      return failure.fails() ? -1 : real.rename(a, b);
    };
    file_calls.map = [](int d, size_t bytes) -> void* {
      return failure.fails() ? nullptr : real.map(d, bytes);
    };
    x = bytes_tensor({300}, Dtype::kInt32);
    y = bytes_tensor({7, 3}, Dtype::kFloat16);
    before = save_text({{"old", &y}}, {});
    after = save_text({{"x", &x}, {"y", &y}}, {{"k", "v"}});
    write(path(), before);
  }
  void TearDown() override { file_calls = real; }

  std::string path() const { return folder.file("a"); }
  void fail_everywhere(bool persistent, bool named);
  libdl_error_code save() {
    return code_of([&] { save_file(path(), {{"x", &x}, {"y", &y}}, {{"k", "v"}}); });
  }

  Folder folder;
  Tensor x, y;
  std::string before, after;
};

void FailingFiles::fail_everywhere(bool persistent, bool named) {
  for (int64_t n = 0;; ++n) {
    write(path(), before);
    failure = {};
    failure.at = n;
    failure.persistent = persistent;
    failure.named = named;
    const libdl_error_code code = save();
    const bool reached = failure.calls > n;
    failure = {};
    EXPECT_EQ(folder.count(), 1u) << n;
    if (!reached) {
      EXPECT_EQ(code, LIBDL_OK);
      // kind, writable, folder, unnamed, mode, write, write again, sync, name, rename, sync
      EXPECT_EQ(n, 11);
      EXPECT_EQ(content(path()), after);
      break;
    }
    EXPECT_EQ(code, LIBDL_ERROR_IO) << n;
    // Only the last call, the folder's sync, comes when the new file is in place.
    EXPECT_TRUE(content(path()) == before || (n == 10 && content(path()) == after)) << n;
  }
}

TEST_F(FailingFiles, AnyFailureLeavesTheOldFileOrTheNewOne) {
  for (const bool persistent : {false, true})
    for (const bool named : {false, true}) fail_everywhere(persistent, named);
}

TEST_F(FailingFiles, EachCallIsNamed) {
  const std::string steps[] = {"cannot tell what ",
                               "cannot write ",
                               "cannot open the folder ",
                               "cannot make a file in ",
                               "cannot give the new file the mode of ",
                               "cannot write ",
                               "cannot write ",
                               "cannot sync ",
                               "cannot make a file in ",
                               "cannot replace "};
  for (size_t n = 0; n < std::size(steps); ++n) {
    failure = {};
    failure.at = static_cast<int64_t>(n);
    EXPECT_NE(message_of([&] { save_file(path(), {{"x", &x}}, {}); }).find(steps[n]),
              std::string::npos)
        << n;
  }
  const std::string readings[] = {"cannot open ", "cannot tell the file's size", "cannot map "};
  for (size_t n = 0; n < std::size(readings); ++n) {
    failure = {};
    failure.at = static_cast<int64_t>(n);
    EXPECT_NE(message_of([&] { open_file(path(), true); }).find(readings[n]), std::string::npos)
        << n;
  }
}

TEST_F(FailingFiles, AFullDiskAtEveryByte) {
  for (int64_t room = 0; room < static_cast<int64_t>(after.size()); ++room) {
    failure = {};
    failure.room = room;
    EXPECT_EQ(save(), LIBDL_ERROR_IO);
    EXPECT_EQ(content(path()), before);
    EXPECT_EQ(folder.count(), 1u);
  }
  failure = {};
  failure.room = static_cast<int64_t>(after.size());
  EXPECT_EQ(save(), LIBDL_OK);
  EXPECT_EQ(content(path()), after);
}

TEST_F(FailingFiles, ShortAndInterruptedCallsAreContinued) {
  for (int64_t n = 0; n < 15; ++n) {
    write(path(), before);
    failure = {};
    failure.at = n;
    failure.error = EINTR;
    failure.most = 7;
    EXPECT_EQ(save(), LIBDL_OK) << n;
    EXPECT_EQ(content(path()), after);
    failure = {};
    failure.at = n;
    failure.error = EINTR;
    failure.most = 5;
    const File file = open_file(path(), false);
    EXPECT_EQ(raw(read_tensor(file, 0)), raw(x));
    EXPECT_EQ(raw(read_tensor(file, 1)), raw(y));
  }
}

TEST_F(FailingFiles, ReadingFailsCleanly) {
  ASSERT_EQ(save(), LIBDL_OK);
  for (const bool share : {false, true})
    for (int64_t n = 0;; ++n) {
      failure = {};
      failure.at = n;
      const libdl_error_code code = code_of([&] { read_tensor(open_file(path(), share), 1); });
      if (failure.calls <= n) {
        EXPECT_EQ(code, LIBDL_OK);
        break;
      }
      EXPECT_EQ(code, LIBDL_ERROR_IO);
    }
}

TEST_F(FailingFiles, WithoutMemoryNothingIsLeft) {
  const Tensor t = alias(y, Shape{3, 7}, Shape{1, 3}, 0, y.dtype());
  for (int64_t n = 0;; ++n) {
    const LiveCounts live = live_counts();
    fail_allocation(n, true);
    const libdl_error_code code = code_of([&] { save_file(path(), {{"t", &t}}, {}); });
    fail_allocation(-1, false);
    EXPECT_EQ(live_counts().storages, live.storages);
    EXPECT_EQ(folder.count(), 1u);
    if (code == LIBDL_OK) break;
    EXPECT_EQ(code, LIBDL_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(content(path()), before);
  }
}

}  // namespace
}  // namespace libdl
