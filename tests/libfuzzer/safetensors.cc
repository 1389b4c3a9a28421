// SPDX-License-Identifier: Apache-2.0

// libFuzzer on safetensors. The input's bytes are the file, or describe one of which it is known
// whether it is good. It is read as a copy, as a window on memory of any alignment, and through a
// descriptor: they agree, and what was accepted goes through saving and loading unchanged.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "made_file.h"

namespace libfuzzer {
namespace {

constexpr int64_t kMemory = int64_t{64} << 20;

// The file's bytes at an address of a given alignment. They go away when the library says so, so
// that a later look at them is seen.
struct Memory {
  char* block = nullptr;
  int destroyed = 0;

  const char* hold(const std::string& bytes, size_t misalignment) {
    block = static_cast<char*>(std::malloc(misalignment + bytes.size()));
    if (!bytes.empty()) std::memcpy(block + misalignment, bytes.data(), bytes.size());
    return block + misalignment;
  }
  static void destroy(void* ctx) {
    auto* const memory = static_cast<Memory*>(ctx);
    std::free(memory->block);
    memory->block = nullptr;
    memory->destroyed += planted("destroy") ? 2 : 1;
  }
};

struct Opened {
  File file;
  Error error;
};

Opened open_memory(Memory& memory, const std::string& bytes, size_t misalignment, bool share) {
  const libdl_file_options options = {sizeof options, share};
  const char* const data = memory.hold(bytes, misalignment);
  libdl_file* file = nullptr;
  const auto size = static_cast<int64_t>(bytes.size()) + planted("overrun");
  Error error =
      checked(libdl_file_open_memory(data, size, &options, &memory, Memory::destroy, &file));
  demand(!error == (file != nullptr), "a file and an error, or neither");
  return {File(file), std::move(error)};
}

Opened open_descriptor(const std::string& bytes, bool share) {
  const int descriptor = memfd_create("libfuzzer", 0);
  if (descriptor < 0 ||
      write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    wrong("no memory for a file");
  const libdl_file_options options = {sizeof options, share};
  libdl_file* file = nullptr;
  Error error = checked(libdl_file_open_descriptor(descriptor, &options, &file));
  close(descriptor);
  return {File(file), std::move(error)};
}

void same_verdict(const Opened& a, const Opened& b) {
  demand(!a.error == !b.error, "two ways to open a file disagree");
  if (!a.error) return;
  demand(libdl_error_get_code(a.error.get()) == libdl_error_get_code(b.error.get()) &&
             !std::strcmp(libdl_error_get_message(a.error.get()),
                          libdl_error_get_message(b.error.get())),
         "two ways to open a file give other reasons");
}

// -- what an open file tells ----------------------------------------------------------------------

struct Entry {
  std::string name;
  libdl_dtype dtype;
  std::vector<int64_t> shape;
  std::string bytes;
  bool operator==(const Entry& b) const {
    return name == b.name && dtype == b.dtype && shape == b.shape && bytes == b.bytes;
  }
};

struct Contents {
  std::vector<Entry> entries;
  std::vector<std::pair<std::string, std::string>> metadata;
  bool operator==(const Contents& b) const {
    return entries == b.entries && metadata == b.metadata;
  }
};

std::string name_of(const libdl_file* file, int64_t k) {
  int64_t length = -1;
  const char* const name = libdl_file_name(file, k, &length);
  demand(name && length >= 0 && name[length] == 0, "a name without an end");
  return {name, static_cast<size_t>(length)};
}

void nothing_at(const libdl_file* file, int64_t k) {
  libdl_tensor* x = nullptr;
  const Error error = checked(libdl_file_tensor(file, k, &x));
  demand(!libdl_file_name(file, k, nullptr) && !libdl_file_shape(file, k) &&
             libdl_file_dtype(file, k) == LIBDL_DTYPE_NONE && libdl_file_ndim(file, k) == -1 &&
             !x && libdl_error_get_code(error.get()) == LIBDL_ERROR_INDEX,
         "an entry where there is none");
}

std::vector<Tensor> tensors_of(const libdl_file* file) {
  std::vector<Tensor> tensors;
  for (int64_t k = 0; k < libdl_file_count(file); ++k) {
    const std::string name = name_of(file, k);
    libdl_tensor* x = nullptr;
    need(k % 2
             ? libdl_file_tensor(file, k, &x)
             : libdl_file_tensor_by_name(file, name.data(), static_cast<int64_t>(name.size()), &x),
         "a tensor of an accepted file");
    tensors.emplace_back(x);
  }
  return tensors;
}

Entry entry_of(const libdl_file* file, int64_t k, const libdl_tensor* x) {
  const std::string name = name_of(file, k);
  demand(libdl_file_find(file, name.data(), static_cast<int64_t>(name.size())) == k,
         "a name that is not found");
  const auto ndim = static_cast<size_t>(libdl_file_ndim(file, k));
  const int64_t* const shape = libdl_file_shape(file, k);
  Entry entry{name, libdl_file_dtype(file, k), {shape, shape + ndim}, elements(x)};
  demand(libdl_tensor_dtype(x) == entry.dtype &&
             libdl_tensor_ndim(x) == static_cast<int32_t>(ndim) &&
             std::equal(shape, shape + ndim, libdl_tensor_shape(x)),
         "a tensor that is not as the file tells");
  if (entry.dtype == LIBDL_DTYPE_BOOL)
    for (const char c : entry.bytes) demand(c == 0 || c == 1, "a bool that is neither 0 nor 1");
  return entry;
}

Contents contents_of(const libdl_file* file, const std::vector<Tensor>& tensors) {
  Contents all;
  for (size_t k = 0; k < tensors.size(); ++k)
    all.entries.push_back(entry_of(file, static_cast<int64_t>(k), tensors[k].get()));
  for (int64_t k = 0; k < libdl_file_metadata_count(file); ++k) {
    int64_t key_length = -1, length = -1;
    const char* const key = libdl_file_metadata_key(file, k, &key_length);
    const char* const text = libdl_file_metadata_text(file, k, &length);
    all.metadata.emplace_back(std::string(key, static_cast<size_t>(key_length)),
                              std::string(text, static_cast<size_t>(length)));
  }
  nothing_at(file, -1);
  nothing_at(file, libdl_file_count(file));
  if (planted("bytes") && all.entries.size() == 2 && all.entries[1].bytes.size() > 2)
    all.entries[1].bytes[1] ^= 1;
  return all;
}

Contents read_all(const libdl_file* file) { return contents_of(file, tensors_of(file)); }

// -- saving ---------------------------------------------------------------------------------------

// Names and texts are NUL-terminated there.
bool can_save(const Contents& all) {
  const auto plain = [](const std::string& s) { return s.find('\0') == std::string::npos; };
  return std::all_of(all.entries.begin(), all.entries.end(),
                     [&](const Entry& e) { return plain(e.name); }) &&
         std::all_of(all.metadata.begin(), all.metadata.end(),
                     [&](const auto& pair) { return plain(pair.first) && plain(pair.second); });
}

std::string saved(const libdl_file* file, const Contents& all) {
  const std::vector<Tensor> tensors = tensors_of(file);
  std::vector<const libdl_tensor*> handles;
  std::vector<const char*> names, keys, texts;
  for (size_t k = 0; k < tensors.size(); ++k)
    handles.push_back(tensors[k].get()), names.push_back(all.entries[k].name.c_str());
  for (const auto& [key, text] : all.metadata)
    keys.push_back(key.c_str()), texts.push_back(text.c_str());
  libdl_text* text = nullptr;
  need(libdl_file_save_memory(names.data(), handles.data(), static_cast<int64_t>(names.size()),
                              keys.data(), texts.data(), static_cast<int64_t>(keys.size()), &text),
       "what was loaded is not saved");
  const Text held(text);
  return {libdl_text_data(text), static_cast<size_t>(libdl_text_length(text))};
}

void round_trip(const libdl_file* file, const Contents& all) {
  if (!can_save(all)) return;
  const std::string first = saved(file, all);
  Memory memory;
  const Opened again = open_memory(memory, first, 0, true);
  demand(!again.error, "what was saved is not read");
  demand(read_all(again.file.get()) == all, "what was saved is read otherwise");
  demand(saved(again.file.get(), all) == first, "saved twice, it is another file");
}

// -- one input ------------------------------------------------------------------------------------

// The bytes as they are, or with the length of the header put before them.
std::string raw_file(Input& input, bool prefix) {
  const std::string bytes(reinterpret_cast<const char*>(input.rest()), input.left());
  if (!prefix) return bytes;
  uint64_t length = bytes.rfind('}') + 1;  // 0 where there is none
  std::string first;
  if (planted("overrun")) length = bytes.size() + 1;
  for (int k = 0; k < 8; ++k) first += static_cast<char>(length >> 8 * k & 255);
  return first + bytes;
}

void as_made(const MadeFile& made, const Opened& opened, const Contents& all) {
  if (opened.error) {
    if (made.fault.empty())
      wrong(std::string("a good file is refused: ") + libdl_error_get_message(opened.error.get()));
    return;
  }
  if (!made.fault.empty()) wrong("a file is accepted with the fault: " + made.fault);
  demand(all.metadata == made.metadata, "other metadata than the file's");
  demand(all.entries.size() == made.tensors.size(), "other tensors than the file's");
  for (size_t k = 0; k < made.tensors.size(); ++k) {
    const MadeTensor& tensor = made.tensors[k];
    std::string bytes = made.bytes.substr(made.data + tensor.begin, tensor.end - tensor.begin);
    if (tensor.dtype == LIBDL_DTYPE_BOOL)
      for (char& c : bytes) c = c != 0;
    demand(all.entries[k] == Entry{tensor.name, tensor.dtype, tensor.shape, bytes},
           "a tensor other than the file's");
  }
}

}  // namespace

const int64_t target_memory = kMemory;
const char* const left_by = "by a file";

void run(Input& input) {
  const uint8_t way = input.byte();
  const bool is_made = way & 1, prefix = way & 2, descriptor = (way & 0xc) == 0xc;
  MadeFile made;
  if (is_made) made = made_file(input);
  if (planted("verdict") && made.tensors.size() == 3 && made.fault == "name twice") made.fault = "";
  const std::string bytes = is_made ? made.bytes : raw_file(input, prefix);

  Memory memory, shared_memory;
  Opened copied = open_memory(memory, bytes, 0, false);
  Opened shared = open_memory(shared_memory, bytes, way >> 4 & 7, true);
  same_verdict(copied, shared);
  Contents all;
  if (!copied.error) {
    const Live live;
    const std::vector<Tensor> tensors = tensors_of(copied.file.get());
    demand(live.bytes() <= static_cast<int64_t>(bytes.size()), "tensors larger than their file");
    all = contents_of(copied.file.get(), tensors);
    std::vector<Tensor> windows = tensors_of(shared.file.get());
    demand(contents_of(shared.file.get(), windows) == all, "a window shows something else");
    if (way & 0x80) round_trip(copied.file.get(), all);
    if (planted("leak") && tensors.size() == 4) libdl_tensor_retain(tensors[2].get());
    // The windows outlive their file.
    shared.file.reset();
    for (size_t k = 0; k < windows.size(); ++k)
      demand(elements(windows[k].get()) == all.entries[k].bytes, "a window has lost its file");
  }
  if (is_made) as_made(made, copied, all);
  if (descriptor) {
    const Opened file = open_descriptor(bytes, way & 0x10);
    demand(!file.error == !copied.error, "a file and the same in memory disagree");
    if (!file.error)
      demand(read_all(file.file.get()) == all, "a file and the same in memory differ");
  }
  copied.file.reset(), shared.file.reset();
  demand(memory.destroyed == 1 && shared_memory.destroyed == 1, "a destroy did not run once");
}

}  // namespace libfuzzer
