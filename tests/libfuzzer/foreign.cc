// SPDX-License-Identifier: Apache-2.0

#include "foreign.h"

#include <algorithm>
#include <limits>

namespace libfuzzer {
namespace {

struct Type {
  uint8_t code, bits;
  libdl_dtype dtype;
};
const Type kTypes[] = {
    {2, 32, LIBDL_DTYPE_FLOAT32},   {0, 8, LIBDL_DTYPE_INT8},         {0, 16, LIBDL_DTYPE_INT16},
    {0, 32, LIBDL_DTYPE_INT32},     {0, 64, LIBDL_DTYPE_INT64},       {1, 8, LIBDL_DTYPE_UINT8},
    {1, 16, LIBDL_DTYPE_UINT16},    {1, 32, LIBDL_DTYPE_UINT32},      {1, 64, LIBDL_DTYPE_UINT64},
    {2, 16, LIBDL_DTYPE_FLOAT16},   {2, 64, LIBDL_DTYPE_FLOAT64},     {4, 16, LIBDL_DTYPE_BFLOAT16},
    {5, 64, LIBDL_DTYPE_COMPLEX64}, {5, 128, LIBDL_DTYPE_COMPLEX128}, {6, 8, LIBDL_DTYPE_BOOL}};

libdl_dtype dtype_of(const DLTensor& t) {
  for (const Type& type : kTypes)
    if (type.code == t.code && type.bits == t.bits && t.lanes == 1) return type.dtype;
  return LIBDL_DTYPE_NONE;
}
int64_t alignment_of(libdl_dtype dtype) {
  const int64_t size = libdl_dtype_size(dtype);
  return dtype >= LIBDL_DTYPE_COMPLEX64 ? size / 2 : size;
}

// -- what an input describes ----------------------------------------------------------------------

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

int64_t any_size(Input& input) {
  static const int64_t rare[] = {-1,         kLeast,           kMost,        int64_t{1} << 62,
                                 1 << 30,    int64_t{1} << 33, -(1 << 20),   1000,
                                 kMost / 16, int64_t{1} << 48, (1 << 20) + 1};
  const uint8_t b = input.byte();
  if (b < 200) return b % 6;
  return b < 250 ? input.any(rare) : static_cast<int64_t>(input.bits(8));
}

int64_t any_stride(Input& input) {
  static const int64_t rare[] = {kLeast,
                                 kMost,
                                 int64_t{1} << 48,
                                 -(int64_t{1} << 48),
                                 (int64_t{1} << 48) + 1,
                                 int64_t{1} << 60,
                                 int64_t{1} << 31,
                                 -(int64_t{1} << 40),
                                 kMost / 2};
  const uint8_t b = input.byte();
  if (b < 220) return b % 13 - 4;
  return b < 250 ? input.any(rare) : static_cast<int64_t>(input.bits(8));
}

void choose_dtype(Input& input, DLTensor& t) {
  const Type& type = kTypes[input.below(std::size(kTypes))];
  t.code = type.code, t.bits = type.bits, t.lanes = 1;
  const uint8_t b = input.byte();
  if (b == 255) t.lanes = static_cast<uint16_t>(input.bits(2));
  if (b == 254) t.code = input.byte();
  if (b == 253) t.bits = input.byte();
}

void choose_geometry(Input& input, Foreign& foreign) {
  DLTensor& t = foreign.tensor();
  const uint8_t b = input.byte();
  static const int32_t rare[] = {
      64, 65, -1, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min(), 8, 33};
  t.ndim = b < 230 ? b % 5 : input.any(rare);
  const bool readable = t.ndim >= 0 && t.ndim <= 64;
  const auto n = static_cast<size_t>(readable ? t.ndim : 0);
  foreign.shape.reset(new int64_t[n]);
  foreign.strides.reset(new int64_t[n]);
  for (size_t d = 0; d < n; ++d) foreign.shape[d] = n > 8 ? 1 : any_size(input);
  for (size_t d = 0; d < n; ++d) foreign.strides[d] = any_stride(input);
  const uint8_t pointers = input.byte();
  t.shape = pointers % 16 == 15 ? nullptr : foreign.shape.get();
  t.strides = pointers / 16 % 4 == 0 ? nullptr : foreign.strides.get();
}

}  // namespace

void choose_struct(Input& input, Foreign& foreign) {
  const uint8_t way = input.byte();
  foreign.is_versioned = way % 4 != 3;
  foreign.versioned.major = way < 240 ? 1 : input.byte();
  foreign.versioned.minor = way % 8 == 7 ? static_cast<uint32_t>(input.bits(4)) : 3;
  const uint8_t flags = input.byte();
  foreign.versioned.flags = flags < 240 ? flags % 4 : input.bits(8);
  foreign.versioned.manager_ctx = foreign.plain.manager_ctx = &foreign;
  foreign.versioned.deleter = Foreign::end;
  foreign.plain.deleter = Foreign::end_plain;
  DLTensor& t = foreign.tensor();
  const uint8_t device = input.byte();
  t.device_type = device < 230   ? 1
                  : device < 250 ? device % 20 - 1
                                 : static_cast<int32_t>(input.bits(4));
  t.device_id = device % 16 == 9 ? input.byte() : 0;
  choose_dtype(input, t);
  choose_geometry(input, foreign);
}

// -- what has to become of it ---------------------------------------------------------------------

namespace {

bool host(int32_t type) { return type == 1 || type == 3 || type == 11; }

// Bytes that 63 bits do not hold are refused; sizes count as at least 1.
bool fits(const Verdict& v) {
  Wide bytes = libdl_dtype_size(v.dtype);
  for (const int64_t n : v.shape) {
    bytes *= std::max<int64_t>(n, 1);
    if (bytes > kMost) return false;
  }
  return true;
}

// Of what has elements: how far they reach, or false if further than any memory.
bool reach(const DLTensor& t, Verdict* v) {
  Wide step = 1;
  v->strides.resize(v->shape.size());
  for (size_t d = v->shape.size(); d-- > 0;) {
    const bool given = t.strides && v->shape[d] > 1;
    const Wide stride = given ? Wide{t.strides[d]} : step;
    step *= v->shape[d];
    v->strides[d] = static_cast<int64_t>(stride);
    if (given && (stride > Wide{1} << 48 || stride < -(Wide{1} << 48))) return false;
    const Wide span = stride * (v->shape[d] - 1);
    (span < 0 ? v->low : v->high) += span;
  }
  const Wide size = libdl_dtype_size(v->dtype);
  return v->low * size >= kLeast && (v->high - v->low + 1) * size <= kMost;
}

}  // namespace

Verdict verdict_of(Foreign& foreign, libdl_copy_policy copy) {
  Verdict v;
  const DLTensor& t = foreign.tensor();
  v.dtype = dtype_of(t);
  v.refused = copy < LIBDL_COPY_IF_NEEDED || copy > LIBDL_COPY_NEVER ||
              (foreign.is_versioned && foreign.versioned.major != 1) || !host(t.device_type) ||
              v.dtype == LIBDL_DTYPE_NONE || t.ndim < 0 || t.ndim > 64 || (t.ndim > 0 && !t.shape);
  if (v.refused) return v;
  v.shape.assign(t.shape, t.shape + t.ndim);
  for (const int64_t n : v.shape) v.refused |= n < 0;
  v.refused = v.refused || !fits(v);
  if (v.refused) return v;
  for (const int64_t n : v.shape) v.numel *= n;
  v.refused = v.numel != 0 && !reach(t, &v);
  return v;
}

void lay(Input& input, Foreign& foreign, libdl_copy_policy copy, Verdict* v) {
  DLTensor& t = foreign.tensor();
  const size_t fill = input.byte();
  foreign.block.reset(new unsigned char[kBlock]);
  for (size_t k = 0; k < kBlock; ++k)
    foreign.block[k] =
        static_cast<unsigned char>(v->dtype == LIBDL_DTYPE_BOOL ? (k ^ fill) & 1 : k * 41 + fill);
  const uint8_t place = input.byte();
  const uint64_t offset = place < 250 ? place % 5 * 8 : input.bits(8);
  t.byte_offset = offset;
  t.data = place % 16 == 15 ? nullptr : foreign.block.get();
  if (v->refused || v->numel == 0) {
    v->copied = copy == LIBDL_COPY_ALWAYS;
    return;
  }
  if (!t.data) {
    v->refused = true;
    return;
  }
  const Wide size = libdl_dtype_size(v->dtype);
  const Wide bytes = (v->high - v->low + 1) * size, address = reinterpret_cast<intptr_t>(t.data);
  // Where the first element stands from the block's start.
  Wide first = -v->low * size + input.byte() % 32;
  if (bytes > Wide{kBlock}) first = 0;
  if (first + (v->high + 1) * size > Wide{kBlock}) first = -v->low * size;
  if (offset <= static_cast<uint64_t>(first)) {
    t.data = foreign.block.get() + static_cast<size_t>(first) - offset;
  } else if (offset < kBlock) {
    t.byte_offset = static_cast<uint64_t>(first);
  } else {  // so far that no block is there: refused, if the address is none
    const Wide start = address + offset + v->low * size;
    v->refused = address + Wide{offset} > (Wide{1} << 64) - 1 || start < 0 ||
                 start + bytes > (Wide{1} << 64) - 1;
    v->unknown = !v->refused;
    if (v->refused) return;
  }
  const auto at = static_cast<Wide>(reinterpret_cast<intptr_t>(t.data)) + t.byte_offset;
  const Wide start = at + v->low * size;
  v->refused = v->refused || start < 0 || start + bytes > (Wide{1} << 64) - 1;
  const bool inside = start >= address && start + bytes <= address + Wide{kBlock};
  if (v->refused) return;
  v->unknown = v->unknown || !inside;
  const bool aligned = start % alignment_of(v->dtype) == 0;
  v->copied = !aligned || copy == LIBDL_COPY_ALWAYS;
  v->refused = !aligned && copy == LIBDL_COPY_NEVER;
  // A copy of overlapping elements may be large. One beyond the limit is refused.
  if (v->copied && v->numel * size > kMemory) v->refused = true;
  if (v->copied && v->numel * size > kMemory / 8) v->unknown = !v->refused;
}

}  // namespace libfuzzer
