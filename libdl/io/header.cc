// SPDX-License-Identifier: Apache-2.0

#include "io/header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "device/meta.h"
#include "io/checksum.h"
#include "tensor/row_major.h"

namespace libdl {

// -- names of dtypes ------------------------------------------------------------------------

static constexpr const char* kNames[kDtypes] = {nullptr, "BOOL", "U8",  "U16",  "U32", "U64",
                                                "I8",    "I16",  "I32", "I64",  "F16", "BF16",
                                                "F32",   "F64",  "C64", nullptr};

static Dtype dtype_named(std::string_view name) {
  for (int number = 1; number < kDtypes; ++number)
    if (kNames[number] && name == kNames[number]) return static_cast<Dtype>(number);
  return Dtype::kNone;
}

// Names come from files: what is shown of them is short.
static std::string in_quotes(std::string_view name) {
  constexpr size_t kShown = 80;
  if (name.size() <= kShown) return "\"" + std::string(name) + "\"";
  return "\"" + std::string(name.substr(0, kShown)) + "…\"";
}

// -- reading --------------------------------------------------------------------------------

// What a file is that begins so; NULL: nobody knows.
static const char* format_of(std::string_view head) {
  static constexpr std::pair<std::string_view, const char*> kFormats[] = {
      {"PK\3\4", "a zip archive, such as PyTorch's checkpoints and NumPy's .npz"},
      {"\x80\2", "a pickle, such as PyTorch wrote before 1.6"},
      {"\x80\3", "a pickle"},
      {"\x80\4", "a pickle"},
      {"\x80\5", "a pickle"},
      {"\x93NUMPY", "an array of NumPy's (.npy)"},
      {"\x89HDF\r\n", "HDF5, as Keras writes it"},
      {"GGUF", "GGUF, as llama.cpp reads it"},
      {"\x1f\x8b", "compressed by gzip"},
      {"version ", "a pointer of Git LFS, which stands for a file that was not fetched"},
      {"<", "HTML or XML, perhaps a page that was downloaded instead of the file"}};
  for (const auto& [begin, format] : kFormats)
    if (head.starts_with(begin)) return format;
  return nullptr;
}

void Origin::other_format(std::string_view head,
                          const std::string& what LIBDL_PASSED_SOURCE_LOCATION) const {
  const std::string subject = path.empty() ? "the content" : path;
  const char* const format = format_of(head);
  fail(LIBDL_ERROR_FORMAT, function,
       subject + " is not a safetensors file" + (format ? std::string(", but ") + format : "") +
           ": " + what LIBDL_SAME_SOURCE_LOCATION);
}

void Origin::damaged(const std::string& what LIBDL_PASSED_SOURCE_LOCATION) const {
  const std::string subject = path.empty() ? "" : path + ": ";
  fail(LIBDL_ERROR_FORMAT, function, subject + what LIBDL_SAME_SOURCE_LOCATION);
}

namespace {

// Takes the JSON parser's events. It knows where in the header it stands and refuses what does not
// belong there at once, so that nothing nests deeper than the format does.
class HeaderReader {
 public:
  HeaderReader(Header& header, const Origin& origin) : header_(header), origin_(origin) {}

  bool start_object(size_t) {
    if (state_ == State::kStart) {
      state_ = State::kRoot;
    } else if (state_ == State::kName) {
      state_ = is_metadata_ ? State::kMetadata : State::kTensor;
      fields_ = 0;
    } else {
      bad("an object where none belongs");
    }
    return true;
  }

  bool key(std::string& name) {
    switch (state_) {
      case State::kRoot: begin_entry(name); break;
      case State::kMetadata:
        header_.metadata.push_back({keep(name), length_of(name), 0, 0});
        state_ = State::kText;
        break;
      case State::kTensor: begin_field(name); break;
      default: bad("a key where none belongs");
    }
    return true;
  }

  bool string(std::string& value) {
    if (state_ == State::kText) {
      TextEntry& entry = header_.metadata.back();
      entry.value = keep(value);
      entry.value_length = length_of(value);
      state_ = State::kMetadata;
    } else if (state_ == State::kDtype) {
      entry_.dtype = dtype_named(value);
      if (entry_.dtype == Dtype::kNone)
        origin_.damaged("tensor " + in_quotes(header_.name(entry_)) + " has the dtype " +
                        in_quotes(value) + ", which libdl does not know");
      state_ = State::kTensor;
    } else {
      bad("a text where none belongs");
    }
    return true;
  }

  bool start_array(size_t) {
    if (state_ == State::kShape)
      state_ = State::kSizes;
    else if (state_ == State::kRange)
      state_ = State::kOffsets;
    else
      bad("a list where none belongs");
    return true;
  }

  bool number_unsigned(uint64_t number) {
    if (state_ == State::kSizes) {
      if (entry_.ndim == kMaxDims) bad("a tensor of more than 64 dimensions");
      header_.sizes.push_back(checked(number));
      ++entry_.ndim;
    } else if (state_ == State::kOffsets) {
      if (offsets_ == 2) bad("more than two data_offsets");
      (offsets_ == 0 ? entry_.begin : entry_.end) = checked(number);
      ++offsets_;
    } else {
      bad("a number where none belongs");
    }
    return true;
  }

  bool end_array() {
    if (state_ == State::kOffsets && offsets_ != 2) bad("fewer than two data_offsets");
    state_ = State::kTensor;
    return true;
  }

  bool end_object() {
    if (state_ == State::kTensor) end_entry();
    state_ = state_ == State::kRoot ? State::kEnd : State::kRoot;
    return true;
  }

  bool null() { bad("a null"); }
  bool boolean(bool) { bad("a truth value"); }
  bool number_integer(int64_t) { bad("a negative number"); }
  bool number_float(double, const std::string&) { bad("a fraction, or a number beyond 64 bits"); }
  bool binary(nlohmann::json::binary_t&) { bad("binary data"); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    origin_.damaged("the header is no JSON (at its byte " + std::to_string(position) + ")");
  }

 private:
  enum class State {
    kStart,
    kRoot,
    kName,
    kMetadata,
    kText,
    kTensor,
    kDtype,
    kShape,
    kSizes,
    kRange,
    kOffsets,
    kEnd
  };
  enum Field { kHasDtype = 1, kHasShape = 2, kHasOffsets = 4 };

  LIBDL_NORETURN void bad(const char* what LIBDL_SOURCE_LOCATION) {
    std::string message = std::string("the header has ") + what;
    const bool inside = state_ >= State::kTensor && state_ < State::kEnd;
    if (inside) message += ", in tensor " + in_quotes(header_.name(entry_));
    origin_.damaged(message LIBDL_SAME_SOURCE_LOCATION);
  }

  int64_t checked(uint64_t number) {
    if (number > INT64_MAX) bad("a number beyond 63 bits");
    return static_cast<int64_t>(number);
  }

  uint32_t keep(const std::string& text) {
    const auto at = static_cast<uint32_t>(header_.text.size());
    header_.text.append(text.c_str(), text.size() + 1);
    return at;
  }
  static uint32_t length_of(const std::string& text) { return static_cast<uint32_t>(text.size()); }

  void begin_entry(const std::string& name) {
    is_metadata_ = name == "__metadata__";
    state_ = State::kName;
    if (is_metadata_) {
      if (has_metadata_) bad("__metadata__ twice");
      has_metadata_ = true;
      return;
    }
    entry_ = {};
    entry_.name = keep(name);
    entry_.name_length = length_of(name);
    entry_.shape = static_cast<uint32_t>(header_.sizes.size());
  }

  void begin_field(const std::string& name) {
    const int field = name == "dtype"          ? kHasDtype
                      : name == "shape"        ? kHasShape
                      : name == "data_offsets" ? kHasOffsets
                                               : 0;
    if (!field) bad("a key besides dtype, shape and data_offsets");
    if (fields_ & field) bad("a key twice");
    fields_ |= field;
    offsets_ = 0;
    state_ = field == kHasDtype   ? State::kDtype
             : field == kHasShape ? State::kShape
                                  : State::kRange;
  }

  void end_entry() {
    if (fields_ != (kHasDtype | kHasShape | kHasOffsets))
      bad("no dtype, no shape or no data_offsets");
    // As for every tensor, sizes count as at least 1, so that strides do not overflow either.
    int64_t bytes = size_of(entry_.dtype), held = bytes;
    for (const int64_t n : header_.shape(entry_)) {
      if (__builtin_mul_overflow(bytes, std::max<int64_t>(n, 1), &bytes))
        bad("a shape whose bytes do not fit into 63 bits");
      held *= n;
    }
    if (entry_.end < entry_.begin || entry_.end - entry_.begin != held)
      bad("data_offsets that do not fit dtype and shape");
    header_.tensors.push_back(entry_);
  }

  Header& header_;
  const Origin& origin_;
  State state_ = State::kStart;
  TensorEntry entry_{};
  int fields_ = 0, offsets_ = 0;
  bool is_metadata_ = false, has_metadata_ = false;
};

// Sorted by place in the file, each tensor begins where the one before ends.
void check_offsets(const Header& header, int64_t data_bytes, const Origin& origin) {
  std::vector<uint32_t> order(header.tensors.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const TensorEntry &x = header.tensors[a], &y = header.tensors[b];
    return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
  });
  int64_t end = 0;
  for (const uint32_t i : order) {
    const TensorEntry& entry = header.tensors[i];
    if (entry.begin != end)
      origin.damaged("tensor " + in_quotes(header.name(entry)) +
                     (entry.begin < end ? " overlaps the one before" : " follows a hole"));
    end = entry.end;
  }
  if (end != data_bytes)
    origin.damaged("the header describes " + std::to_string(end) + " bytes of data, the file has " +
                   std::to_string(data_bytes));
}

void sort_names(Header& header, const Origin& origin) {
  header.by_name.resize(header.tensors.size());
  std::iota(header.by_name.begin(), header.by_name.end(), 0);
  const auto name = [&](uint32_t i) { return header.name(header.tensors[i]); };
  std::sort(header.by_name.begin(), header.by_name.end(),
            [&](uint32_t a, uint32_t b) { return name(a) < name(b); });
  for (size_t i = 1; i < header.by_name.size(); ++i)
    if (name(header.by_name[i - 1]) == name(header.by_name[i]))
      origin.damaged("the header names " + in_quotes(name(header.by_name[i])) + " twice");
}

void check_keys(const Header& header, const Origin& origin) {
  std::vector<std::string_view> keys;
  keys.reserve(header.metadata.size());
  for (const TextEntry& entry : header.metadata)
    keys.push_back(std::string_view(header.text).substr(entry.key, entry.key_length));
  std::sort(keys.begin(), keys.end());
  if (std::adjacent_find(keys.begin(), keys.end()) != keys.end())
    origin.damaged("the metadata have a key twice");
}

// -- checksums

constexpr size_t kDigits = 8;  // of a checksum, and a space before it

// The checksum of the header whose own digits begin at `own`, as if they were 0.
uint32_t checksum_of(std::string_view json, size_t own) {
  uint32_t crc = crc32(0, json.data(), own);
  crc = crc32(crc, "00000000", kDigits);
  return crc32(crc, json.data() + own + kDigits, json.size() - own - kDigits);
}

std::optional<uint32_t> number_of(std::string_view digits) {
  uint32_t number = 0;
  if (digits[0] != ' ') return std::nullopt;
  for (const char c : digits.substr(1)) {
    const bool decimal = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
    if (!decimal && !letter) return std::nullopt;
    number = number << 4 | static_cast<uint32_t>(decimal ? c - '0' : c - 'a' + 10);
  }
  return number;
}

// Fills `checksums` with the header's own and the tensors'; false: the text is of another form.
bool read_checksums(std::string_view text, size_t tensors, std::vector<uint32_t>& checksums) {
  if (!text.starts_with(kChecksums)) return false;
  text.remove_prefix(kChecksums.size());
  if (text.size() != (tensors + 1) * (kDigits + 1)) return false;
  checksums.reserve(tensors + 1);
  for (; !text.empty(); text.remove_prefix(kDigits + 1)) {
    const std::optional<uint32_t> number = number_of(text.substr(0, kDigits + 1));
    if (!number) return false;
    checksums.push_back(*number);
  }
  return true;
}

// Takes the pair of checksums out of the metadata. The pair is known by its key and by its text, so
// that damage to either of them shows.
void take_checksums(Header& header, std::string_view json, const Origin& origin) {
  const auto text = [&](uint32_t at, uint32_t length) {
    return std::string_view(header.text).substr(at, length);
  };
  const auto pair =
      std::find_if(header.metadata.begin(), header.metadata.end(), [&](const TextEntry& entry) {
        return text(entry.key, entry.key_length) == kChecksumKey ||
               text(entry.value, entry.value_length).starts_with(kChecksums);
      });
  if (pair == header.metadata.end()) return;
  const std::string_view value = text(pair->value, pair->value_length);
  if (text(pair->key, pair->key_length) != kChecksumKey ||
      !read_checksums(value, header.tensors.size(), header.checksums))
    origin.damaged("the checksums in the metadata are damaged");
  const std::string mark =
      "\"" + std::string(kChecksumKey) + "\":\"" + std::string(kChecksums) + " ";
  const size_t at = json.find(mark);
  if (at == std::string_view::npos ||
      checksum_of(json, at + mark.size()) != header.checksums.front())
    origin.damaged(
        "the header is not the one that was written: its CRC-32 differs; the file was "
        "damaged, or another program wrote it with the metadata " +
        std::string(kChecksumKey) + " of a file of libdl's");
  header.checksums.erase(header.checksums.begin());
  header.metadata.erase(pair);
}

}  // namespace

std::optional<size_t> Header::find(std::string_view requested_name) const {
  const auto at = std::lower_bound(
      by_name.begin(), by_name.end(), requested_name,
      [&](uint32_t i, std::string_view name) { return this->name(tensors[i]) < name; });
  if (at == by_name.end() || name(tensors[*at]) != requested_name) return std::nullopt;
  return *at;
}

int64_t header_bytes(std::string_view head, int64_t file_bytes, const Origin& origin) {
  uint64_t length = 0;
  for (size_t i = kPrefixBytes; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(head[i]);
  if (length > static_cast<uint64_t>(file_bytes - kPrefixBytes))
    origin.other_format(head, "the header's length is " + std::to_string(length) + ", the file's " +
                                  std::to_string(file_bytes));
  if (length > static_cast<uint64_t>(kMaxHeaderBytes))
    origin.other_format(head, "the header's length is " + std::to_string(length) + ", at most " +
                                  std::to_string(kMaxHeaderBytes) + " are allowed");
  return static_cast<int64_t>(length);
}

Header parse_header(std::string_view json, int64_t file_bytes, const Origin& origin) {
  if (json.empty() || json[0] != '{') origin.other_format({}, "the header does not begin with {");
  if (json.find('\0') != std::string_view::npos)  // the parser would take it for the end
    origin.damaged("the header has a byte of 0");
  Header header;
  HeaderReader reader(header, origin);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  header.data = kPrefixBytes + static_cast<int64_t>(json.size());
  check_offsets(header, file_bytes - header.data, origin);
  sort_names(header, origin);
  check_keys(header, origin);
  take_checksums(header, json, origin);
  return header;
}

// -- writing --------------------------------------------------------------------------------

static std::string escaped(std::string_view text, const char* what, const char* function) {
  try {
    return nlohmann::json(std::string(text)).dump();
  } catch (const nlohmann::json::exception&) {
    fail(LIBDL_ERROR_VALUE, function, std::string(what) + " is not valid UTF-8");
  }
}

static void check_distinct(std::vector<std::string_view> names, const char* function) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    fail(LIBDL_ERROR_VALUE, function, in_quotes(*twice) + " is named twice");
}

static std::string entry_text(const Tensor& x, int64_t begin, int64_t end) {
  std::string shape = "[";
  for (int d = 0; d < x.ndim(); ++d) shape += (d ? "," : "") + std::to_string(x.size(d));
  return std::string("{\"dtype\":\"") + kNames[static_cast<int>(x.dtype())] +
         "\",\"shape\":" + shape + "],\"data_offsets\":[" + std::to_string(begin) + "," +
         std::to_string(end) + "]}";
}

static std::string metadata_text(const std::vector<NamedText>& metadata, size_t tensors,
                                 const char* function) {
  std::vector<std::string_view> keys;
  std::string text = "\"" + std::string(kChecksumKey) + "\":\"" + std::string(kChecksums);
  for (size_t i = 0; i <= tensors; ++i) text += " 00000000";
  text += "\"";
  for (const NamedText& entry : metadata) {
    if (entry.key == kChecksumKey)
      fail(LIBDL_ERROR_VALUE, function,
           "the metadata have the key " + in_quotes(kChecksumKey) +
               ", under which the checksums are saved; wanted another");
    keys.push_back(entry.key);
    text += "," + escaped(entry.key, "a key of the metadata", function) + ":" +
            escaped(entry.value, "a text of the metadata", function);
  }
  check_distinct(std::move(keys), function);
  return "\"__metadata__\":{" + text + "}";
}

HeaderPlan plan_header(const std::vector<NamedTensor>& tensors,
                       const std::vector<NamedText>& metadata, const char* function) {
  HeaderPlan plan;
  plan.order.resize(tensors.size());
  std::iota(plan.order.begin(), plan.order.end(), 0);
  const auto width = [&](size_t i) { return size_of(tensors[i].tensor->dtype()); };
  std::sort(plan.order.begin(), plan.order.end(),
            [&](size_t a, size_t b) { return width(a) == width(b) ? a < b : width(a) > width(b); });
  std::vector<int64_t> begin(tensors.size());
  int64_t end = 0;
  for (const size_t i : plan.order) {
    begin[i] = end;
    if (__builtin_add_overflow(end, byte_count(*tensors[i].tensor), &end))
      fail(LIBDL_ERROR_OVERFLOW, function, "the tensors together exceed 63 bits of bytes");
  }
  std::vector<std::string_view> names;
  std::string json = metadata_text(metadata, tensors.size(), function);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    if (name == "__metadata__")
      fail(LIBDL_ERROR_VALUE, function, "__metadata__ cannot be a tensor's name");
    if (!kNames[static_cast<int>(tensor->dtype())])
      fail(LIBDL_ERROR_DTYPE, function,
           "tensor " + in_quotes(name) + " is " + name_of(tensor->dtype()) +
               ", which safetensors does not have");
    check_has_values(function, tensor->device());
    names.push_back(name);
    json += "," + escaped(name, "a tensor's name", function) + ":" +
            entry_text(*tensor, begin[i], begin[i] + byte_count(*tensor));
  }
  check_distinct(std::move(names), function);
  json = "{" + json + "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  if (json.size() > static_cast<size_t>(kMaxHeaderBytes))
    fail(LIBDL_ERROR_OVERFLOW, function, "the header would exceed 100 MB");
  uint64_t length = json.size();
  for (int i = 0; i < kPrefixBytes; ++i, length >>= 8)
    plan.prefix_and_json.push_back(static_cast<char>(length & 255));
  plan.prefix_and_json += json;
  plan.digits = plan.prefix_and_json.find(kChecksums) + kChecksums.size();
  return plan;
}

static void put_digits(uint32_t number, char* to) {
  for (size_t i = kDigits; i-- > 0; number >>= 4) to[i] = "0123456789abcdef"[number & 15];
}

void HeaderPlan::set_checksums(const std::vector<uint32_t>& checksums) {
  char* at = prefix_and_json.data() + digits + 1;  // the header's own
  for (size_t i = 0; i < checksums.size(); ++i)
    put_digits(checksums[i], at + (i + 1) * (kDigits + 1));
  const std::string_view json = std::string_view(prefix_and_json).substr(kPrefixBytes);
  put_digits(checksum_of(json, digits + 1 - kPrefixBytes), at);
}

}  // namespace libdl
