// SPDX-License-Identifier: Apache-2.0

#include "made_file.h"

#include <algorithm>

namespace libfuzzer {
namespace {

struct Named {
  const char* name;
  libdl_dtype dtype;
};
const Named kDtypes[] = {
    {"F32", LIBDL_DTYPE_FLOAT32}, {"BOOL", LIBDL_DTYPE_BOOL},    {"U8", LIBDL_DTYPE_UINT8},
    {"U16", LIBDL_DTYPE_UINT16},  {"U32", LIBDL_DTYPE_UINT32},   {"U64", LIBDL_DTYPE_UINT64},
    {"I8", LIBDL_DTYPE_INT8},     {"I16", LIBDL_DTYPE_INT16},    {"I32", LIBDL_DTYPE_INT32},
    {"I64", LIBDL_DTYPE_INT64},   {"F16", LIBDL_DTYPE_FLOAT16},  {"BF16", LIBDL_DTYPE_BFLOAT16},
    {"F64", LIBDL_DTYPE_FLOAT64}, {"C64", LIBDL_DTYPE_COMPLEX64}};

// What is bad about a file. Those of a tensor need one.
const char* const kOfTensor[] = {
    "begin+1",       "end+1",        "end-1",         "behind the data",  "unknown dtype",
    "small dtype",   "dtype number", "no dtype",      "no shape",         "no offsets",
    "another key",   "shape twice",  "huge size",     "overflow",         "hidden overflow",
    "negative",      "fraction",     "exponent",      "null size",        "nested sizes",
    "true size",     "leading zero", "plus",          "three offsets",    "one offset",
    "65 dimensions", "name twice",   "bad UTF-8",     "half a surrogate", "list entry",
    "text size",     "complex128",   "beyond 64 bits"};
const char* const kOfFile[] = {
    "byte more",     "byte less",      "long prefix",    "short prefix", "huge prefix",
    "space first",   "BOM first",      "garbage behind", "comma behind", "number in metadata",
    "key twice",     "metadata twice", "comment",        "nothing",      "list as header",
    "null metadata", "open end"};

std::string number(int64_t n) { return std::to_string(n); }

// As JSON writes it, in one of its ways; bytes above 127 become the code point of that number.
std::string quoted(const std::string& text, bool all_escaped) {
  std::string s = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", u);
    if (all_escaped || u < 0x20 || u == 0x7f || c == '"' || c == '\\')
      s += escape;
    else if (u < 0x80)
      s += c;
    else
      s += static_cast<char>(0xc0 | u >> 6), s += static_cast<char>(0x80 | (u & 0x3f));
  }
  return s + "\"";
}

// What libdl tells for such a name.
std::string utf8(const std::string& text) {
  std::string s;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x80)
      s += c;
    else
      s += static_cast<char>(0xc0 | u >> 6), s += static_cast<char>(0x80 | (u & 0x3f));
  }
  return s;
}

class Writer {
 public:
  explicit Writer(Input& input) : input_(input) {}

  MadeFile file() {
    choose_tensors();
    choose_fault();
    choose_metadata();
    std::vector<std::string> entries;
    for (size_t k = 0; k < file_.tensors.size(); ++k)
      entries.push_back(quoted(names_[k], spelled_[k]) + ":" + gap() + entry(k));
    add_metadata(entries);
    std::string json = "{" + gap();
    for (size_t k = 0; k < entries.size(); ++k) json += (k ? "," + gap() : "") + entries[k];
    json += gap() + "}";
    finish(json);
    return file_;
  }

 private:
  bool is(const char* fault) const { return file_.fault == fault; }
  bool is(const char* fault, size_t tensor) const { return is(fault) && tensor == faulty_; }

  std::string gap() {
    static const char* const gaps[] = {"", "", "", " ", "\n", "\t", "\r\n  "};
    return spaced_ ? input_.any(gaps) : "";
  }

  void choose_tensors() {
    const size_t n = input_.below(6);
    spaced_ = input_.one_of(4);
    for (size_t k = 0; k < n; ++k) {
      std::string name(1, static_cast<char>('a' + k));  // so that none is there twice
      name += input_.text(6);
      const Named& dtype = kDtypes[input_.below(std::size(kDtypes))];
      const size_t ndim = input_.one_of(40) ? 64 : input_.below(5);
      MadeTensor tensor{utf8(name), dtype.dtype, {}, 0, 0};
      size_t bytes = static_cast<size_t>(libdl_dtype_size(dtype.dtype));
      for (size_t d = 0; d < ndim; ++d) {
        tensor.shape.push_back(ndim == 64 ? 1 : static_cast<int64_t>(input_.below(5)));
        bytes *= static_cast<size_t>(tensor.shape.back());
      }
      tensor.begin = file_.data, tensor.end = file_.data += bytes;  // from the first byte of data
      names_.push_back(name), spelled_.push_back(input_.one_of(5));
      dtypes_.push_back(dtype.name);
      file_.tensors.push_back(tensor);
    }
    total_ = file_.data;
    if (n && input_.one_of(3)) {  // the header's order is not the data's
      std::swap(file_.tensors[0], file_.tensors[n - 1]);
      std::swap(names_[0], names_[n - 1]), std::swap(dtypes_[0], dtypes_[n - 1]);
    }
  }

  void choose_fault() {
    if (!input_.one_of(2)) return;
    const bool of_file = file_.tensors.empty() || input_.one_of(3);
    file_.fault = of_file ? input_.any(kOfFile) : input_.any(kOfTensor);
    faulty_ = file_.tensors.empty() ? 0 : input_.below(file_.tensors.size());
  }

  void choose_metadata() {
    if (!input_.one_of(3)) return;
    has_metadata_ = true;
    const size_t n = input_.below(4);
    for (size_t k = 0; k < n; ++k) {
      const std::string key = std::string(1, static_cast<char>('k' + k)) + input_.text(4);
      file_.metadata.emplace_back(key, input_.text(9));
    }
  }

  std::string dtype(size_t k) const {
    if (is("unknown dtype", k)) return "\"F31\"";
    if (is("small dtype", k)) return "\"f32\"";
    if (is("complex128", k)) return "\"C128\"";
    if (is("dtype number", k)) return "12";
    return "\"" + dtypes_[k] + "\"";
  }

  std::string shape(size_t k) const {
    std::vector<std::string> sizes;
    for (const int64_t n : file_.tensors[k].shape) sizes.push_back(number(n));
    static const std::pair<const char*, const char*> more[] = {
        {"huge size", "9223372036854775808"},
        {"negative", "-1"},
        {"fraction", "1.0"},
        {"exponent", "1e0"},
        {"null size", "null"},
        {"nested sizes", "[1]"},
        {"true size", "true"},
        {"leading zero", "01"},
        {"plus", "+1"},
        {"text size", "\"1\""},
        {"beyond 64 bits", "18446744073709551617"}};
    for (const auto& [fault, size] : more)
      if (is(fault, k)) sizes.insert(sizes.begin(), size);
    if (is("65 dimensions", k)) sizes.resize(65, "1");
    if (is("overflow", k)) sizes.insert(sizes.end(), 3, "4611686018427387904");
    if (is("hidden overflow", k)) sizes = {"0", "4294967296", "4294967296"};
    std::string s = "[";
    for (size_t d = 0; d < sizes.size(); ++d) s += (d ? "," : "") + sizes[d];
    return s + "]";
  }

  std::string offsets(size_t k) const {
    size_t begin = file_.tensors[k].begin, end = file_.tensors[k].end;
    if (is("begin+1", k)) ++begin;
    if (is("end+1", k)) ++end;
    if (is("end-1", k)) --end;
    if (is("behind the data", k)) begin += total_ + 1, end += total_ + 1;
    std::string s = "[" + std::to_string(begin);
    if (!is("one offset", k)) s += "," + std::to_string(end);
    if (is("three offsets", k)) s += ",0";
    return s + "]";
  }

  std::string entry(size_t k) {
    if (is("list entry", k)) return "[]";
    std::vector<std::string> fields;
    if (!is("no dtype", k)) fields.push_back("\"dtype\":" + gap() + dtype(k));
    if (!is("no shape", k)) fields.push_back("\"shape\":" + gap() + shape(k));
    if (!is("no offsets", k)) fields.push_back("\"data_offsets\":" + gap() + offsets(k));
    if (is("another key", k)) fields.push_back("\"order\":\"C\"");
    if (is("shape twice", k)) fields.push_back(fields[1]);
    if (input_.one_of(3)) std::swap(fields.front(), fields.back());
    std::string s = "{";
    for (size_t f = 0; f < fields.size(); ++f) s += (f ? "," + gap() : "") + fields[f];
    s += "}";
    if (is("name twice", k)) s += "," + quoted(names_[k], !spelled_[k]) + ":" + s;
    if (is("bad UTF-8", k)) s += ",\"\xc3(\":" + s;
    if (is("half a surrogate", k)) s += ",\"\\ud800\":" + s;
    return s;
  }

  void add_metadata(std::vector<std::string>& entries) {
    std::vector<std::string> pairs;
    for (auto& [key, text] : file_.metadata) {
      pairs.push_back(quoted(key, false) + ":" + quoted(text, false));
      key = utf8(key), text = utf8(text);
    }
    if (is("number in metadata")) pairs.push_back("\"a\":1");
    if (is("key twice")) pairs.insert(pairs.end(), 2, "\"a\":\"\"");
    std::string s = "\"__metadata__\":{";
    for (size_t k = 0; k < pairs.size(); ++k) s += (k ? "," : "") + pairs[k];
    s += "}";
    if (is("null metadata")) s = "\"__metadata__\":null";
    const bool wanted = has_metadata_ || !pairs.empty() || is("null metadata");
    const size_t at = entries.empty() ? 0 : input_.below(entries.size() + 1);
    if (wanted) entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(at), s);
    if (is("metadata twice")) entries.insert(entries.end(), 2, "\"__metadata__\":{}");
  }

  void finish(std::string json) {
    if (is("space first")) json = " " + json;
    if (is("BOM first")) json = "\xef\xbb\xbf" + json;
    if (is("garbage behind")) json += "}";
    if (is("comma behind")) json += ",";
    if (is("comment")) json += "/**/";
    if (is("nothing")) json = "";
    if (is("list as header")) json = "[]";
    if (is("open end")) json.pop_back();
    json.append(input_.below(9), ' ');
    uint64_t length = json.size();
    std::string data;
    while (data.size() < total_)
      data += static_cast<char>(input_.empty() ? data.size() * 37 : input_.byte());
    if (is("byte more")) data += 'x';
    if (is("byte less")) data.empty() ? json.pop_back() : data.pop_back();
    if (is("long prefix")) ++length;
    if (is("short prefix")) --length;
    if (is("huge prefix")) length |= uint64_t{0x80} << 8 * (3 + input_.below(5));
    for (int k = 0; k < 8; ++k) file_.bytes += static_cast<char>(length >> 8 * k & 255);
    file_.data = 8 + json.size();
    file_.bytes += json + data;
  }

  Input& input_;
  MadeFile file_{"", 0, "", {}, {}};
  std::vector<std::string> names_, dtypes_;
  std::vector<bool> spelled_;
  size_t total_ = 0, faulty_ = 0;
  bool spaced_ = false, has_metadata_ = false;
};

}  // namespace

MadeFile made_file(Input& input) { return Writer(input).file(); }

}  // namespace libfuzzer
