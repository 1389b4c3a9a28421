// SPDX-License-Identifier: Apache-2.0

#include "io/header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

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

namespace {

// Takes the JSON parser's events. It knows where in the header it stands and refuses what does not
// belong there at once, so that nothing nests deeper than the format does.
class HeaderReader {
 public:
  HeaderReader(Header& header, const char* function) : header_(header), function_(function) {}

  bool start_object(size_t) {
    if (place_ == Place::kStart) {
      place_ = Place::kRoot;
    } else if (place_ == Place::kName) {
      place_ = is_metadata_ ? Place::kMetadata : Place::kTensor;
      fields_ = 0;
    } else {
      bad("an object where none belongs");
    }
    return true;
  }

  bool key(std::string& name) {
    switch (place_) {
      case Place::kRoot: begin_entry(name); break;
      case Place::kMetadata:
        header_.metadata.push_back({keep(name), length_of(name), 0, 0});
        place_ = Place::kText;
        break;
      case Place::kTensor: begin_field(name); break;
      default: bad("a key where none belongs");
    }
    return true;
  }

  bool string(std::string& value) {
    if (place_ == Place::kText) {
      TextEntry& entry = header_.metadata.back();
      entry.value = keep(value);
      entry.value_length = length_of(value);
      place_ = Place::kMetadata;
    } else if (place_ == Place::kDtype) {
      entry_.dtype = dtype_named(value);
      if (entry_.dtype == Dtype::kNone)
        fail(LIBDL_ERROR_FORMAT, function_,
             "tensor " + in_quotes(header_.name(entry_)) + " has the dtype " + in_quotes(value) +
                 ", which libdl does not know");
      place_ = Place::kTensor;
    } else {
      bad("a text where none belongs");
    }
    return true;
  }

  bool start_array(size_t) {
    if (place_ == Place::kShape)
      place_ = Place::kSizes;
    else if (place_ == Place::kRange)
      place_ = Place::kOffsets;
    else
      bad("a list where none belongs");
    return true;
  }

  bool number_unsigned(uint64_t number) {
    if (place_ == Place::kSizes) {
      if (entry_.ndim == kMaxDims) bad("a tensor of more than 64 dimensions");
      header_.sizes.push_back(checked(number));
      ++entry_.ndim;
    } else if (place_ == Place::kOffsets) {
      if (offsets_ == 2) bad("more than two data_offsets");
      (offsets_ == 0 ? entry_.begin : entry_.end) = checked(number);
      ++offsets_;
    } else {
      bad("a number where none belongs");
    }
    return true;
  }

  bool end_array() {
    if (place_ == Place::kOffsets && offsets_ != 2) bad("fewer than two data_offsets");
    place_ = Place::kTensor;
    return true;
  }

  bool end_object() {
    if (place_ == Place::kTensor) end_entry();
    place_ = place_ == Place::kRoot ? Place::kEnd : Place::kRoot;
    return true;
  }

  bool null() { bad("a null"); }
  bool boolean(bool) { bad("a truth value"); }
  bool number_integer(int64_t) { bad("a negative number"); }
  bool number_float(double, const std::string&) { bad("a fraction, or a number beyond 64 bits"); }
  bool binary(nlohmann::json::binary_t&) { bad("binary data"); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    fail(LIBDL_ERROR_FORMAT, function_,
         "the header is no JSON (at its byte " + std::to_string(position) + ")");
  }

 private:
  enum class Place {
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
    const bool inside = place_ >= Place::kTensor && place_ < Place::kEnd;
    if (inside) message += ", in tensor " + in_quotes(header_.name(entry_));
    fail(LIBDL_ERROR_FORMAT, function_, message LIBDL_SAME_SOURCE_LOCATION);
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
    place_ = Place::kName;
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
    place_ = field == kHasDtype   ? Place::kDtype
             : field == kHasShape ? Place::kShape
                                  : Place::kRange;
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
  const char* const function_;
  Place place_ = Place::kStart;
  TensorEntry entry_{};
  int fields_ = 0, offsets_ = 0;
  bool is_metadata_ = false, has_metadata_ = false;
};

// Sorted by place in the file, each tensor begins where the one before ends.
void check_places(const Header& header, int64_t data_bytes, const char* function) {
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
      fail(LIBDL_ERROR_FORMAT, function,
           "tensor " + in_quotes(header.name(entry)) +
               (entry.begin < end ? " overlaps the one before" : " follows a hole"));
    end = entry.end;
  }
  if (end != data_bytes)
    fail(LIBDL_ERROR_FORMAT, function,
         "the header describes " + std::to_string(end) + " bytes of data, the file has " +
             std::to_string(data_bytes));
}

void sort_names(Header& header, const char* function) {
  header.by_name.resize(header.tensors.size());
  std::iota(header.by_name.begin(), header.by_name.end(), 0);
  const auto name = [&](uint32_t i) { return header.name(header.tensors[i]); };
  std::sort(header.by_name.begin(), header.by_name.end(),
            [&](uint32_t a, uint32_t b) { return name(a) < name(b); });
  for (size_t i = 1; i < header.by_name.size(); ++i)
    if (name(header.by_name[i - 1]) == name(header.by_name[i]))
      fail(LIBDL_ERROR_FORMAT, function,
           "the header names " + in_quotes(name(header.by_name[i])) + " twice");
}

void check_keys(const Header& header, const char* function) {
  std::vector<std::string_view> keys;
  keys.reserve(header.metadata.size());
  for (const TextEntry& entry : header.metadata)
    keys.push_back(std::string_view(header.text).substr(entry.key, entry.key_length));
  std::sort(keys.begin(), keys.end());
  if (std::adjacent_find(keys.begin(), keys.end()) != keys.end())
    fail(LIBDL_ERROR_FORMAT, function, "the metadata have a key twice");
}

}  // namespace

std::optional<size_t> Header::find(std::string_view wanted) const {
  const auto at = std::lower_bound(
      by_name.begin(), by_name.end(), wanted,
      [&](uint32_t i, std::string_view name) { return this->name(tensors[i]) < name; });
  if (at == by_name.end() || name(tensors[*at]) != wanted) return std::nullopt;
  return *at;
}

int64_t header_bytes(const unsigned char (&prefix)[kPrefixBytes], int64_t file_bytes,
                     const char* function) {
  uint64_t length = 0;
  for (int i = kPrefixBytes; i-- > 0;) length = length << 8 | prefix[i];
  if (length > static_cast<uint64_t>(file_bytes - kPrefixBytes))
    fail(LIBDL_ERROR_FORMAT, function,
         "the header's length is " + std::to_string(length) + ", the file's " +
             std::to_string(file_bytes));
  if (length > static_cast<uint64_t>(kMaxHeaderBytes))
    fail(LIBDL_ERROR_FORMAT, function,
         "the header's length is " + std::to_string(length) + ", at most " +
             std::to_string(kMaxHeaderBytes) + " are allowed");
  return static_cast<int64_t>(length);
}

Header parse_header(std::string_view json, int64_t file_bytes, const char* function) {
  if (json.empty() || json[0] != '{')
    fail(LIBDL_ERROR_FORMAT, function, "the header does not begin with {");
  if (json.find('\0') != std::string_view::npos)  // the parser would take it for the end
    fail(LIBDL_ERROR_FORMAT, function, "the header has a byte of 0");
  Header header;
  HeaderReader reader(header, function);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  header.data = kPrefixBytes + static_cast<int64_t>(json.size());
  check_places(header, file_bytes - header.data, function);
  sort_names(header, function);
  check_keys(header, function);
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

static std::string metadata_text(const std::vector<NamedText>& metadata, const char* function) {
  std::vector<std::string_view> keys;
  std::string text;
  for (const NamedText& entry : metadata) {
    keys.push_back(entry.key);
    text += (text.empty() ? "" : ",") + escaped(entry.key, "a key of the metadata", function) +
            ":" + escaped(entry.value, "a text of the metadata", function);
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
  std::string json = metadata.empty() ? "" : metadata_text(metadata, function);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    if (name == "__metadata__")
      fail(LIBDL_ERROR_VALUE, function, "__metadata__ cannot be a tensor's name");
    if (!kNames[static_cast<int>(tensor->dtype())])
      fail(LIBDL_ERROR_DTYPE, function,
           "tensor " + in_quotes(name) + " is " + name_of(tensor->dtype()) +
               ", which safetensors does not have");
    names.push_back(name);
    json += (json.empty() ? "" : ",") + escaped(name, "a tensor's name", function) + ":" +
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
  return plan;
}

}  // namespace libdl
