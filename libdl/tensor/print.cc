// SPDX-License-Identifier: Apache-2.0

#include "tensor/print.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "device/device.h"
#include "device/meta.h"
#include "tensor/row_major.h"

namespace libdl {

namespace {

// -- elements -------------------------------------------------------------------------------

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double half_to_double(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

double real_at(const char* at, Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat16: return half_to_double(load<uint16_t>(at));
    case Dtype::kBfloat16: return std::bit_cast<float>(uint32_t{load<uint16_t>(at)} << 16);
    case Dtype::kFloat32: return load<float>(at);
    default: return load<double>(at);
  }
}

std::string integer_at(const char* at, Dtype dtype) {
  switch (dtype) {
    case Dtype::kBool: return *at ? "True" : "False";
    case Dtype::kUint8: return std::to_string(load<uint8_t>(at));
    case Dtype::kUint16: return std::to_string(load<uint16_t>(at));
    case Dtype::kUint32: return std::to_string(load<uint32_t>(at));
    case Dtype::kUint64: return std::to_string(load<uint64_t>(at));
    case Dtype::kInt8: return std::to_string(load<int8_t>(at));
    case Dtype::kInt16: return std::to_string(load<int16_t>(at));
    case Dtype::kInt32: return std::to_string(load<int32_t>(at));
    default: return std::to_string(load<int64_t>(at));
  }
}

// As printf's %f and %e, whatever the host's locale; NaN has no sign.
std::string decimal(double value, std::chars_format format, int precision) {
  if (std::isnan(value)) return "nan";
  std::string text(static_cast<size_t>(precision) + 330, '\0');  // 1e308 has 309 digits
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  text.resize(static_cast<size_t>(end.ptr - text.data()));
  return text;
}

// -- how wide, and in which notation ----------------------------------------------------------

// One for real elements, one each for the parts of complex ones. It sees all that will be shown
// before it formats anything.
class Column {
 public:
  explicit Column(const PrintOptions& options) : options_(options) {}

  void see(const std::string& text) { width_ = std::max(width_, text.size()); }
  void see(double value) {
    if (!std::isfinite(value) || value == 0) return;
    const double size = std::abs(value);
    low_ = std::min(low_, size);
    high_ = std::max(high_, size);
    whole_ = whole_ && value == std::ceil(value);
  }
  void choose() {
    if (high_ == 0) return;
    scientific_ = options_.scientific == Scientific::kAuto
                      ? high_ / low_ > 1000 || high_ > 1e8 || low_ < 1e-4
                      : options_.scientific == Scientific::kOn;
  }
  // A second look, once the notation is chosen.
  void measure(double value) {
    if (!std::isfinite(value) || value == 0) return;
    width_ = std::max(width_, number_text(value, scientific_).size());
  }
  size_t width() const { return width_; }
  std::string format(double value) const { return padded(number_text(value, scientific_)); }
  std::string padded(std::string text) const {
    if (text.size() < width_) text.insert(0, width_ - text.size(), ' ');
    return text;
  }

 private:
  std::string number_text(double value, bool scientific) const {
    if (scientific) return decimal(value, std::chars_format::scientific, options_.precision);
    if (!whole_) return decimal(value, std::chars_format::fixed, options_.precision);
    std::string text = decimal(value, std::chars_format::fixed, 0);
    if (std::isfinite(value)) text += '.';
    return text;
  }

  const PrintOptions& options_;
  size_t width_ = 1;
  double low_ = std::numeric_limits<double>::infinity(), high_ = 0;
  bool whole_ = true, scientific_ = false;
};

// -- the brackets -----------------------------------------------------------------------------

class Printer {
 public:
  Printer(const Tensor& x, const PrintOptions& options)
      : x_(x),
        options_(options),
        summarize_(x.numel() > options.threshold),
        real_(options),
        imaginary_(options) {
    look([this](const char* at) { see(at); });
    if (!is_inexact(x.dtype())) return;
    real_.choose();
    imaginary_.choose();
    look([this](const char* at) { measure(at); });
  }

  std::string text(int64_t indent) const {
    if (x_.ndim() > 0) return block(0, x_.read_plain<char>(), indent);
    const std::string element = formatted(x_.read_plain<char>());
    return element.substr(std::min(element.find_first_not_of(' '), element.size()));
  }

 private:
  Dtype part() const { return real_of(x_.dtype()); }
  double imaginary_at(const char* at) const { return real_at(at + size_of(part()), part()); }

  void see(const char* at) {
    if (!is_inexact(x_.dtype())) return real_.see(integer_at(at, x_.dtype()));
    real_.see(real_at(at, part()));
    if (x_.is_complex()) imaginary_.see(imaginary_at(at));
  }
  void measure(const char* at) {
    real_.measure(real_at(at, part()));
    if (x_.is_complex()) imaginary_.measure(imaginary_at(at));
  }

  // How many entries of a dimension are shown at its start; the others at its end. -1: all.
  int64_t edge(int dim) const {
    if (!summarize_ || x_.size(dim) / 2 < options_.edgeitems) return -1;
    return x_.size(dim) > 2 * options_.edgeitems ? options_.edgeitems : -1;
  }
  const char* entry(int dim, const char* at, int64_t index) const {
    return at + index * x_.stride(dim) * size_of(x_.dtype());
  }

  template <class F>
  void look(const F& f) {
    look(0, x_.read_plain<char>(), f);
  }
  template <class F>
  void look(int dim, const char* at, const F& f) {
    if (dim == x_.ndim()) return f(at);
    const int64_t n = x_.size(dim), shown = edge(dim);
    for (int64_t i = 0; i < n; ++i) {
      if (i == shown) i = n - shown;
      if (i < n) look(dim + 1, entry(dim, at, i), f);
    }
  }

  std::string formatted(const char* at) const {
    if (!is_inexact(x_.dtype())) return real_.padded(integer_at(at, x_.dtype()));
    std::string real = real_.format(real_at(at, part()));
    if (!x_.is_complex()) return real;
    std::string imaginary = imaginary_.format(imaginary_at(at)) + "j";
    imaginary.erase(0, imaginary.find_first_not_of(' '));
    return real + (imaginary[0] == '-' ? "" : "+") + imaginary;
  }

  std::string block(int dim, const char* at, int64_t indent) const {
    return dim + 1 == x_.ndim() ? line(dim, at, indent) : blocks(dim, at, indent);
  }

  std::string blocks(int dim, const char* at, int64_t indent) const {
    const int64_t n = x_.size(dim), shown = edge(dim);
    const std::string between = "," + std::string(static_cast<size_t>(x_.ndim() - dim - 1), '\n') +
                                std::string(static_cast<size_t>(indent + 1), ' ');
    std::string text = "[";
    for (int64_t i = 0; i < n; ++i) {
      if (i > 0) text += between;
      if (i == shown) {
        text += "...";
        i = n - shown - 1;
      } else {
        text += block(dim + 1, entry(dim, at, i), indent + 1);
      }
    }
    return text + "]";
  }

  std::string line(int dim, const char* at, int64_t indent) const {
    const int64_t n = x_.size(dim), shown = edge(dim);
    auto width = static_cast<int64_t>(real_.width()) + 2;
    if (x_.is_complex()) width += static_cast<int64_t>(imaginary_.width()) + 1;
    const int64_t a_line = std::max<int64_t>(1, (options_.linewidth - indent) / width);
    const std::string new_line = ",\n" + std::string(static_cast<size_t>(indent + 1), ' ');
    std::string text = "[";
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i, ++count) {
      if (count > 0) text += count % a_line ? ", " : new_line;
      if (i == shown) {
        text += options_.edgeitems ? " ..." : "...";
        i = n - shown - 1;
      } else {
        text += formatted(entry(dim, at, i));
      }
    }
    return text + "]";
  }

  const Tensor& x_;
  const PrintOptions& options_;
  const bool summarize_;
  Column real_, imaginary_;
};

// -- what follows the elements ------------------------------------------------------------------

// As Python writes a tuple: "(0, 3)", "(3,)".
std::string size_text(Dims shape) {
  std::string text = to_string(shape);
  text.front() = '(';
  text.back() = ')';
  if (shape.size() == 1) text.insert(text.size() - 1, ",");
  return text;
}

bool is_default(Dtype dtype, const PrintOptions& options) {
  return dtype == options.default_dtype || dtype == complex_of(options.default_dtype) ||
         dtype == Dtype::kInt64 || dtype == Dtype::kBool;
}

std::vector<std::string> suffixes_of(const Tensor& x, const PrintOptions& options) {
  std::vector<std::string> suffixes;
  if (!x.device().is_cpu()) suffixes.push_back("device='" + device_name(x.device()) + "'");
  const bool empty = x.numel() == 0;
  if (is_meta(x.device()) || (empty ? x.ndim() != 1 : options.edgeitems == 0))
    suffixes.push_back("size=" + size_text(x.shape()));
  const bool unseen = empty || is_meta(x.device());  // no elements show their dtype
  if (unseen ? x.dtype() != options.default_dtype : !is_default(x.dtype(), options))
    suffixes.push_back("dtype=" + std::string(options.dtype_prefix) + name_of(x.dtype()));
  if (!options.grad_fn.empty())
    suffixes.push_back("grad_fn=<" + std::string(options.grad_fn) + ">");
  else if (options.requires_grad)
    suffixes.push_back("requires_grad=True");
  return suffixes;
}

std::string elements_text(const Tensor& x, const PrintOptions& options, int64_t indent) {
  if (is_meta(x.device())) return "...";
  if (x.numel() == 0) return "[]";
  const Tensor seen = x.device().is_cpu() ? x : row_major_copy(x);
  return Printer(seen, options).text(indent);
}

}  // namespace

std::string to_string(const Tensor& x, const PrintOptions& options) {
  constexpr std::string_view kPrefix = "tensor(";
  constexpr auto kIndent = static_cast<int64_t>(kPrefix.size());
  std::string text(kPrefix);
  text += elements_text(x, options, kIndent);
  // The line is taken to be 2 longer than it is (1 after a line break): so does PyTorch.
  const size_t last_break = text.rfind('\n');
  auto length = static_cast<int64_t>(last_break == text.npos ? text.size() + 2
                                                             : text.size() - last_break + 1);
  for (const std::string& suffix : suffixes_of(x, options)) {
    const auto added = static_cast<int64_t>(suffix.size());
    if (length + added + 2 > options.linewidth) {
      text += ",\n" + std::string(kPrefix.size(), ' ') + suffix;
      length = kIndent + added;
    } else {
      text += ", " + suffix;
      length += added + 2;
    }
  }
  return text + ")";
}

}  // namespace libdl
