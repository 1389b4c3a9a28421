// SPDX-License-Identifier: Apache-2.0

// libFuzzer on the import of DLPack structs. An input decides every field of one. What has to
// become of it is worked out here in 128 bits: a struct is either to be refused, or all that it
// describes lies in one block, whose elements the tensor has to show.
#include <algorithm>

#include "foreign.h"

namespace libfuzzer {
namespace {

// -- what the tensor shows ------------------------------------------------------------------------

std::string expected(Foreign& foreign, const Verdict& v) {
  if (v.numel == 0) return "";
  const DLTensor& t = foreign.tensor();
  const auto* const first = static_cast<const unsigned char*>(t.data) + t.byte_offset;
  const auto size = static_cast<size_t>(libdl_dtype_size(v.dtype));
  std::string all;
  std::vector<int64_t> at(v.shape.size());
  for (Wide k = 0; k < v.numel; ++k) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * v.strides[d];
    all.append(reinterpret_cast<const char*>(first + offset * static_cast<int64_t>(size)), size);
    for (size_t d = at.size(); d-- > 0 && ++at[d] == v.shape[d];) at[d] = 0;
  }
  return all;
}

void same_metadata(const libdl_tensor* x, const Verdict& v) {
  demand(libdl_tensor_dtype(x) == v.dtype, "another dtype");
  demand(libdl_tensor_ndim(x) == static_cast<int32_t>(v.shape.size()) &&
             std::equal(v.shape.begin(), v.shape.end(), libdl_tensor_shape(x)),
         "another shape");
  demand(libdl_tensor_numel(x) == static_cast<int64_t>(v.numel), "another number of elements");
}

Tensor imported(Foreign& foreign, libdl_copy_policy copy, Error* error) {
  libdl_tensor* x = nullptr;
  libdl_error* const got = foreign.is_versioned
                               ? libdl_tensor_from_dlpack(&foreign.versioned, copy, &x)
                               : libdl_tensor_from_dlpack_unversioned(&foreign.plain, copy, &x);
  *error = checked(got);
  demand(!got == (x != nullptr), "a tensor and an error, or neither");
  return Tensor(x);
}

// Out to the world and in again: the same elements, and the memory of the first producer.
void once_more(const libdl_tensor* x, const std::string& all) {
  DLManagedTensorVersioned* managed = nullptr;
  need(libdl_tensor_to_dlpack(x, nullptr, &managed), "to_dlpack");
  libdl_tensor* y = nullptr;
  need(libdl_tensor_from_dlpack(managed, LIBDL_COPY_NEVER, &y), "what was exported");
  const Tensor held(y);
  demand(elements(y) == all, "exported, it shows something else");
}

// Ones go to every element and to nothing else.
void overwrite(libdl_tensor* x, Foreign& foreign, const Verdict& v, bool read_only) {
  if (v.copied) return;
  const bool over_itself = libdl_tensor_overlaps_itself(x);
  const std::string before(reinterpret_cast<char*>(foreign.block.get()), kBlock);
  std::string model = before;
  const auto size = static_cast<size_t>(libdl_dtype_size(v.dtype));
  const std::string ones(static_cast<size_t>(v.numel) * size, 1);
  const Error error =
      checked(libdl_tensor_copy_in(x, ones.data(), static_cast<int64_t>(ones.size())));
  demand(!error == (!read_only && !over_itself), "written, though it may not be, or not written");
  if (!error && v.numel) {
    demand(elements(x) == ones, "what was written is not there");
    const DLTensor& t = foreign.tensor();
    auto* const base = reinterpret_cast<char*>(foreign.block.get());
    const int64_t first = static_cast<char*>(t.data) + t.byte_offset - base;
    std::vector<int64_t> at(v.shape.size());
    for (Wide k = 0; k < v.numel; ++k) {
      int64_t offset = 0;
      for (size_t d = 0; d < at.size(); ++d) offset += at[d] * v.strides[d];
      const int64_t where = first + offset * static_cast<int64_t>(size);
      model.replace(static_cast<size_t>(where), size, size, 1);
      for (size_t d = at.size(); d-- > 0 && ++at[d] == v.shape[d];) at[d] = 0;
    }
  }
  demand(!std::memcmp(model.data(), foreign.block.get(), kBlock), "bytes beside it were written");
}

void read(libdl_tensor* x, Foreign& foreign, const Verdict& v, uint8_t what) {
  same_metadata(x, v);
  if (v.numel > kMostRead || v.unknown) return;
  std::string all;
  if (v.copied || foreign.deleted)  // its memory is gone, the model with it
    all = elements(x);
  else
    all = expected(foreign, v);
  if (planted("bytes") && all.size() > 20 && v.shape.size() == 3) all[11] ^= 1;
  demand(elements(x) == all, "it shows other elements");
  if (what & 1) once_more(x, all);
  if (what & 2) {
    libdl_text* text = nullptr;
    need(libdl_tensor_to_string(x, nullptr, &text), "to_string");
    demand(Text(text) && libdl_text_length(text) > 0, "no text");
  }
  const bool read_only = foreign.is_versioned && foreign.versioned.flags & kReadOnly;
  if (!v.copied && v.numel)
    demand(libdl_tensor_is_read_only(x) == read_only, "another flag of reading only");
  if (what & 4 && v.numel) overwrite(x, foreign, v, read_only);
}

// -- one input ------------------------------------------------------------------------------------

void allocate(Foreign& foreign) {
  DLManagedTensorVersioned* managed = nullptr;
  const Error error = checked(libdl_dlpack_allocate(&foreign.tensor(), &managed));
  demand(!error == (managed != nullptr), "a struct and an error, or neither");
  if (managed) {
    demand(managed->dl_tensor.ndim == foreign.tensor().ndim, "a struct of another shape");
    managed->deleter(managed);
  }
}

}  // namespace

const int64_t target_memory = kMemory;
const char* const left_by = "by an import";

void run(Input& input) {
  Foreign foreign;
  const uint8_t way = input.byte();
  static const libdl_copy_policy policies[] = {LIBDL_COPY_IF_NEEDED, LIBDL_COPY_IF_NEEDED,
                                               LIBDL_COPY_ALWAYS, LIBDL_COPY_NEVER};
  const libdl_copy_policy copy = way < 245 ? policies[way % 4] : way % 16 - 8;
  choose_struct(input, foreign);
  Verdict v = verdict_of(foreign, copy);
  lay(input, foreign, copy, &v);
  if (v.unknown) return;
  if (way & 0x40) allocate(foreign);
  if (planted("verdict") && v.shape.size() == 4 && v.numel == 16) v.refused = !v.refused;
  const std::string model =
      !v.refused && v.copied && v.numel <= kMostRead ? expected(foreign, v) : "";
  Error error;
  Tensor x = imported(foreign, copy, &error);
  if (v.refused != !x)
    wrong(x ? "it is accepted"
            : std::string("it is refused: ") + libdl_error_get_message(error.get()));
  if (!x || v.copied) demand(foreign.deleted == 1, "the deleter has not run once");
  if (x) {
    if (v.copied && v.numel <= kMostRead)
      demand(elements(x.get()) == model, "a copy of something else");
    demand(v.copied || !foreign.deleted, "the deleter has run too early");
    read(x.get(), foreign, v, input.byte());
    if (planted("leak") && v.copied && v.shape.size() == 2) libdl_tensor_retain(x.get());
  }
  x.reset();
  demand(foreign.deleted == 1, "the deleter has not run once");
}

}  // namespace libfuzzer
