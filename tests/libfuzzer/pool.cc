// SPDX-License-Identifier: Apache-2.0

#include "pool.h"

#include <algorithm>
#include <limits>

#include "tests/attack/words.h"

namespace libfuzzer {
namespace {

using Shape = std::vector<int64_t>;

const Shape kShapes[] = {{},        {3},       {2, 3},    {1},    {0},    {3, 2},         {4, 4},
                         {2, 3, 4}, {2, 1, 3}, {5, 0, 2}, {3, 3}, {3, 1}, {1, 1, 1, 1},   {16},
                         {8, 8},    {1, 3},    {64},      {4},    {2},    {2, 2, 2, 2, 2}};
const libdl_dtype kDtypes[] = {LIBDL_DTYPE_FLOAT32,  LIBDL_DTYPE_FLOAT64,    LIBDL_DTYPE_INT64,
                               LIBDL_DTYPE_FLOAT32,  LIBDL_DTYPE_BOOL,       LIBDL_DTYPE_INT32,
                               LIBDL_DTYPE_FLOAT64,  LIBDL_DTYPE_INT64,      LIBDL_DTYPE_FLOAT16,
                               LIBDL_DTYPE_BFLOAT16, LIBDL_DTYPE_COMPLEX128, LIBDL_DTYPE_COMPLEX64,
                               LIBDL_DTYPE_UINT8,    LIBDL_DTYPE_INT8,       LIBDL_DTYPE_INT16,
                               LIBDL_DTYPE_UINT16,   LIBDL_DTYPE_UINT32,     LIBDL_DTYPE_UINT64};

int64_t product(const Shape& shape) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

template <class T>
void put(unsigned char* to, size_t k, T value) {
  std::memcpy(to + k * sizeof value, &value, sizeof value);
}

// Small values, which are indices too; or any bits at all.
void fill(unsigned char* to, libdl_dtype dtype, size_t n, uint8_t with) {
  const auto size = static_cast<size_t>(libdl_dtype_size(dtype));
  if (with % 8 == 7 && dtype != LIBDL_DTYPE_BOOL) {
    for (size_t k = 0; k < n * size; ++k) to[k] = static_cast<unsigned char>((k + with) * 149 >> 1);
    return;
  }
  static const double reals[] = {0,
                                 1,
                                 -1,
                                 0.5,
                                 2,
                                 -0.0,
                                 3,
                                 1e30,
                                 std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
  for (size_t k = 0; k < n; ++k) {
    const size_t at = k * 7 / 2 + with;
    const double real = with % 8 == 6 ? reals[at % 10] : static_cast<double>(at % 5) - 1;
    const auto whole = static_cast<int64_t>(with % 4 == 1 ? at % 6 - 2 : at % 3);
    switch (dtype) {
      case LIBDL_DTYPE_BOOL: to[k] = whole & 1; break;
      case LIBDL_DTYPE_FLOAT32: put(to, k, static_cast<float>(real)); break;
      case LIBDL_DTYPE_FLOAT64: put(to, k, real); break;
      case LIBDL_DTYPE_FLOAT16: put(to, k, static_cast<uint16_t>(0x3800 + 512 * (at % 9))); break;
      case LIBDL_DTYPE_BFLOAT16: put(to, k, static_cast<uint16_t>(0x3f00 + 64 * (at % 9))); break;
      case LIBDL_DTYPE_COMPLEX64:
        put(to, 2 * k, static_cast<float>(real)), put(to, 2 * k + 1, static_cast<float>(whole));
        break;
      case LIBDL_DTYPE_COMPLEX128:
        put(to, 2 * k, real), put(to, 2 * k + 1, static_cast<double>(whole));
        break;
      default: std::memcpy(to + k * size, &whole, size);
    }
  }
}

// A tensor over a block of its own that ends where its last element does. `layout` tells how the
// elements lie: in a row, the other way round, with gaps, backwards, one for all; or read-only.
libdl_tensor* over_block(libdl_dtype dtype, const Shape& shape, uint8_t layout, uint8_t with) {
  const size_t ndim = shape.size();
  const int64_t gap = layout == 2 ? 2 : 1, n = product(shape);
  Shape strides(ndim);
  int64_t step = gap, offset = 0, reach = n ? 1 : 0;
  for (size_t k = 0; k < ndim; ++k) {
    const size_t d = layout == 1 ? k : ndim - 1 - k;
    strides[d] = layout == 4 ? 0 : step;
    step *= std::max<int64_t>(shape[d], 1);
    if (n) reach += (shape[d] - 1) * strides[d];
    if (n && layout == 3) offset += (shape[d] - 1) * strides[d], strides[d] = -strides[d];
  }
  const auto bytes = static_cast<size_t>(reach * libdl_dtype_size(dtype));
  const bool too_short = planted("overrun") && dtype == LIBDL_DTYPE_FLOAT64 && n > 8;
  auto* const block = new unsigned char[bytes - (too_short ? 8 : 0)];
  if (!too_short) fill(block, dtype, static_cast<size_t>(reach), with);
  libdl_tensor* x = nullptr;
  need(libdl_tensor_from_memory(
           block, static_cast<int64_t>(bytes), shape.data(), static_cast<int32_t>(ndim),
           strides.data(), static_cast<int32_t>(ndim), offset, dtype, layout == 5, block,
           [](void* held) { delete[] static_cast<unsigned char*>(held); }, &x),
       "a tensor of the pool");
  return x;
}

}  // namespace

Pool::~Pool() {
  // A gradient with history holds its leaf, which holds the gradient.
  for (const Tensor& x : tensors_) (void)checked(libdl_tensor_set_grad(x.get(), nullptr));
  libdl_generator_release(generator_);
}

void Pool::begin() {
  const size_t n = 1 + input_.below(5);
  for (size_t k = 0; k < n; ++k) tensors_.emplace_back(made());
}

libdl_tensor* Pool::made() {
  const uint8_t kind = input_.byte();
  if (kind >= 240) return number();
  const libdl_dtype dtype = input_.any(kDtypes);
  return made(dtype, kShapes[input_.below(std::size(kShapes))], kind);
}

libdl_tensor* Pool::made(libdl_dtype dtype, const Shape& shape, uint8_t kind) {
  const uint8_t layout = kind % 8, with = input_.byte();
  Tensor x(over_block(dtype, shape, layout, with));
  if (layout >= 6) {  // the library's own memory
    libdl_tensor* y = nullptr;
    need(libdl_clone(x.get(), &y), "clone");
    x.reset(y);
  }
  if (kind & 0x20) (void)checked(libdl_tensor_set_requires_grad(x.get(), 1));
  return x.release();
}

libdl_tensor* Pool::number() {
  libdl_tensor* x = nullptr;
  const uint8_t kind = input_.byte();
  static const double reals[] = {2,
                                 0.5,
                                 0,
                                 -1,
                                 1e300,
                                 std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(),
                                 -0.0};
  if (kind % 4 == 0) need(libdl_number_f64(input_.any(reals), &x), "number");
  if (kind % 4 == 1) need(libdl_number_i64(integer(), &x), "number");
  if (kind % 4 == 2) need(libdl_number_bool(kind & 4, &x), "number");
  if (kind % 4 == 3) need(libdl_number_c128(input_.any(reals), 1, &x), "number");
  return x;
}

void Pool::keep(libdl_tensor* result) {
  Tensor held(result);
  if (libdl_tensor_numel(result) <= kMostElements) tensors_.push_back(std::move(held));
}

libdl_tensor* Pool::like(const libdl_tensor* model) {
  if (libdl_tensor_numel(model) == 0) {  // its other sizes may be larger than any memory
    libdl_tensor* x = nullptr;
    need(libdl_detach(model, &x), "detach");
    return x;
  }
  const int64_t* const shape = libdl_tensor_shape(model);
  return over_block(libdl_tensor_dtype(model), {shape, shape + libdl_tensor_ndim(model)}, 0, 0);
}

// -- values ---------------------------------------------------------------------------------------

// Small, or so large that it is refused: what lies between would be allocated.
int64_t Pool::integer() {
  static const int64_t rare[] = {16,
                                 100,
                                 std::numeric_limits<int32_t>::max(),
                                 std::numeric_limits<int32_t>::min(),
                                 int64_t{1} << 33,
                                 -(int64_t{1} << 40),
                                 int64_t{1} << 62,
                                 std::numeric_limits<int64_t>::max(),
                                 std::numeric_limits<int64_t>::min(),
                                 -100};
  const uint8_t b = input_.byte();
  if (b < 216) return b % 9 - 2;
  return b < 250 ? input_.any(rare) : static_cast<int64_t>(input_.bits(8));
}

libdl_value Pool::value(libdl_value_type type, bool nullable) {
  const uint8_t b = input_.byte();
  if (b == 255) type = static_cast<libdl_value_type>(input_.below(13));
  if (b == 254 || (nullable && b % 3 == 2)) type = LIBDL_VALUE_NONE;
  return of_type(type);
}

libdl_tensor* Pool::sample_tensor(const std::string& word) {
  const std::string plain = words::split(word, '#')[0];
  const std::vector<std::string> parts = words::split(plain, ':');
  libdl_tensor* x = nullptr;
  if (parts[0] == "n") {
    need(libdl_number_f64(std::atof(parts[1].c_str()), &x), "number");
  } else if (parts[0] == "ni") {
    need(libdl_number_i64(std::atoll(parts[1].c_str()), &x), "number");
  } else {
    const Shape shape = words::integers(parts.size() > 2 ? parts[2] : "");
    x = made(words::dtype_of(parts[1]), shape, input_.byte());
  }
  tensors_.emplace_back(x);
  return x;
}

libdl_value Pool::sample(const std::string& word, libdl_value_type type) {
  libdl_value value;
  std::memset(&value, 0, sizeof value);
  value.type = word == "null" ? LIBDL_VALUE_NONE : type;
  const std::string rest = word.substr(word.find(':') + 1);
  switch (value.type) {
    case LIBDL_VALUE_TENSOR: value.held.tensor = sample_tensor(word); break;
    case LIBDL_VALUE_TENSORS: {
      std::vector<const libdl_tensor*>& list = lists_.emplace_back();
      for (const std::string& item : words::split(rest, '|')) list.push_back(sample_tensor(item));
      value.held.tensors = {list.data(), static_cast<int64_t>(list.size())};
      break;
    }
    case LIBDL_VALUE_INTS: {
      const std::vector<int64_t>& list = integers_.emplace_back(words::integers(rest));
      value.held.integers = {list.data(), static_cast<int64_t>(list.size())};
      break;
    }
    case LIBDL_VALUE_BOOL: value.held.boolean = std::atoi(rest.c_str()); break;
    case LIBDL_VALUE_INT: value.held.integer = std::atoll(rest.c_str()); break;
    case LIBDL_VALUE_FLOAT: value.held.number = std::atof(rest.c_str()); break;
    case LIBDL_VALUE_STRING: value.held.string = {texts_.emplace_back(rest).c_str(), -1}; break;
    case LIBDL_VALUE_DTYPE: value.held.dtype = std::atoi(rest.c_str()); break;
    default: return of_type(value.type);
  }
  return value;
}

libdl_value Pool::of_type(libdl_value_type type) {
  libdl_value value;
  std::memset(&value, 0, sizeof value);
  value.type = type;
  switch (type) {
    case LIBDL_VALUE_TENSOR: value.held.tensor = input_.one_of(100) ? nullptr : any(); break;
    case LIBDL_VALUE_TENSORS: {
      std::vector<const libdl_tensor*>& list = lists_.emplace_back(input_.below(5));
      for (const libdl_tensor*& item : list) item = input_.one_of(20) ? nullptr : any();
      value.held.tensors = {list.data(), static_cast<int64_t>(list.size())};
      if (input_.one_of(100)) value.held.tensors = {nullptr, input_.byte() - 4};
      break;
    }
    case LIBDL_VALUE_BOOL: value.held.boolean = static_cast<libdl_bool>(input_.below(3)); break;
    case LIBDL_VALUE_INT: value.held.integer = integer(); break;
    case LIBDL_VALUE_FLOAT: {
      static const double reals[] = {0.5,
                                     0,
                                     1,
                                     -1,
                                     2,
                                     1e-5,
                                     1e300,
                                     std::numeric_limits<double>::infinity(),
                                     -std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::quiet_NaN()};
      value.held.number = input_.any(reals);
      break;
    }
    case LIBDL_VALUE_INTS: {
      std::vector<int64_t>& list = integers_.emplace_back(input_.one_of(60) ? 65 : input_.below(5));
      for (int64_t& item : list) item = list.size() == 65 ? 1 : integer();
      value.held.integers = {list.data(), static_cast<int64_t>(list.size())};
      if (input_.one_of(100)) value.held.integers = {nullptr, input_.byte() - 4};
      break;
    }
    case LIBDL_VALUE_STRING: {
      static const char* const texts[] = {"mean", "sum", "none",     "trunc", "floor",
                                          "tanh", "add", "multiply", "",      "\xff%s"};
      const char* const text = input_.any(texts);
      value.held.string = {text, input_.one_of(3) ? static_cast<int64_t>(std::strlen(text)) : -1};
      if (input_.one_of(50)) value.held.string = {nullptr, -1};
      if (input_.one_of(50)) value.held.string.length = -2;
      break;
    }
    case LIBDL_VALUE_DTYPE:
      value.held.dtype = input_.one_of(40) ? static_cast<libdl_dtype>(input_.bits(4))
                                           : static_cast<libdl_dtype>(input_.below(16));
      break;
    case LIBDL_VALUE_DEVICE: {
      static const libdl_device devices[] = {{1, 0}, {1, 0}, {1, 1}, {2, 0}, {0, 0}, {-1, -1}};
      value.held.device = input_.any(devices);
      break;
    }
    case LIBDL_VALUE_GENERATOR:
      if (!generator_) need(libdl_generator_new(7, &generator_), "generator_new");
      value.held.generator = input_.one_of(50) ? nullptr : generator_;
      break;
    default: break;
  }
  return value;
}

}  // namespace libfuzzer
