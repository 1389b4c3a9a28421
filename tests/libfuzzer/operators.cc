// SPDX-License-Identifier: Apache-2.0

// libFuzzer on the call of operators by number. An input makes a few tensors, calls operators with
// their samples and any values for their arguments, new and into, and runs a backward pass. A call
// succeeds and tells what its declaration promises, or names what was wrong and has written
// nothing.
#include <algorithm>

#include "pool.h"

namespace libfuzzer {
namespace {

// What does not fit is refused; what fits is written in milliseconds.
constexpr int64_t kMemory = int64_t{12} << 20;
constexpr unsigned char kUntouched = 0xA5;

struct Call {
  libdl_op op = 0;
  std::vector<libdl_value> arguments;
  std::vector<uint64_t> updated;  // storages that the call may write to, as a layer's averages
  int32_t results = 0;
  const char* name() const { return libdl_op_name(op); }
};

Call chosen(Input& input, Pool& pool) {
  Call call;
  const int32_t count = libdl_op_count();
  call.op = static_cast<libdl_op>(input.bits(2) % (static_cast<uint64_t>(count) + 1));
  if (call.op == count) {  // there is none of that number
    call.results = 1;
    return call;
  }
  int32_t n = libdl_op_argument_count(call.op);
  const int32_t told = n;
  call.results = libdl_op_result_count(call.op);
  const uint8_t way = input.byte();
  if (way >= 250) n = static_cast<int32_t>(input.below(static_cast<size_t>(n) + 2));
  if (way % 64 == 63) call.results = static_cast<int32_t>(input.below(4));
  // Half of the calls are the operator's sample, but for a few arguments.
  const bool sample = way % 2 == 1;
  demand(!std::strcmp(kSamples[call.op].name, call.name()), "samples of another library");
  const uint64_t others = sample ? input.bits(2) & input.bits(2) : ~uint64_t{0};
  for (int32_t k = 0; k < n; ++k) {
    const libdl_value_type type = libdl_op_argument_type(call.op, k);
    const bool any = k >= told || (others >> k & 1);
    call.arguments.push_back(any ? pool.value(type, libdl_op_argument_is_nullable(call.op, k))
                                 : pool.sample(kSamples[call.op].words[k], type));
    const libdl_value& value = call.arguments.back();
    const bool updates = k < told && kSamples[call.op].words[k][0] == '!';
    if (updates && value.type == LIBDL_VALUE_TENSOR && value.held.tensor)
      call.updated.push_back(libdl_tensor_storage_id(value.held.tensor));
  }
  return call;
}

// -- errors ---------------------------------------------------------------------------------------

bool names_an_argument(const Call& call, const std::string& name) {
  for (int32_t k = 0; k < libdl_op_argument_count(call.op); ++k)
    if (name == libdl_op_argument_name(call.op, k)) return true;
  for (int32_t k = 0; k < libdl_op_result_count(call.op); ++k) {
    const std::string result = libdl_op_result_name(call.op, k);
    if (name == result || name == result + "_dst") return true;
  }
  return name == "dst";
}

// Errors say what Python says: "fill_" for fill, and "max" for max_dim. One about memory has no
// name.
bool is_name_of(const Call& call, const std::string& told) {
  const std::string name = call.name();
  return told.empty() || told == name || told == name + "_" || name == told + "_dim" ||
         told + "fill" == name;
}

// The error of a call: it names the operator, and an argument that the operator has.
void told(const Call& call, libdl_error* got) {
  if (planted("silence") && call.name() && !std::strcmp(call.name(), "cat")) {
    libdl_error_release(got);
    got = libdl_error_new(LIBDL_ERROR_VALUE, "", -1, nullptr, nullptr);
  }
  const Error error = checked(got);
  const std::string message = libdl_error_get_message(error.get());
  if (!call.name()) return;
  if (!is_name_of(call, libdl_error_get_operator(error.get())))
    wrong(std::string(call.name()) + " is refused in the name of another operator, " +
          libdl_error_get_operator(error.get()) + ": " + message);
  if (libdl_error_get_argument(error.get()) &&
      !names_an_argument(call, libdl_error_get_argument_name(error.get())))
    wrong(std::string(call.name()) + " has no such argument: " + message);
}

bool untouched(const void* at, size_t bytes) {
  const auto* const from = static_cast<const unsigned char*>(at);
  return std::all_of(from, from + bytes, [](unsigned char c) { return c == kUntouched; });
}

// -- results --------------------------------------------------------------------------------------

void read(const libdl_tensor* x) {
  const libdl_dtype dtype = libdl_tensor_dtype(x);
  demand(dtype > LIBDL_DTYPE_NONE && dtype <= LIBDL_DTYPE_COMPLEX128, "a result of no dtype");
  demand(libdl_tensor_ndim(x) <= 64, "a result of too many dimensions");
  if (libdl_tensor_numel(x) <= kMostElements) (void)elements(x);
}

// Takes the results of a call over, of the types that the operator has told.
void take(const Call& call, std::vector<libdl_value>& results, Pool& pool) {
  for (int32_t k = 0; k < call.results; ++k) {
    const libdl_value& value = results[static_cast<size_t>(k)];
    const libdl_value_type type = libdl_op_result_type(call.op, k);
    const bool is_list = value.type == LIBDL_VALUE_TENSOR_LIST;
    demand(value.type == type || (is_list && type == LIBDL_VALUE_TENSORS), "a result's type");
    if (value.type == LIBDL_VALUE_TENSOR) {
      read(value.held.tensor);
      if (planted("leak") && !std::strcmp(call.name(), "softmax"))
        libdl_tensor_retain(value.held.tensor);
      pool.keep(value.held.tensor);
    }
    if (!is_list) continue;
    const List list(value.held.list);
    for (int64_t i = 0; i < libdl_tensor_list_count(list.get()); ++i) {
      Tensor item(libdl_tensor_list_get(list.get(), i));
      read(item.get());
      if (i < 3) pool.keep(item.release());
    }
  }
}

std::vector<uint64_t> versions(const Pool& pool, const std::vector<uint64_t>& but = {}) {
  std::vector<uint64_t> all;
  for (size_t k = 0; k < pool.size(); ++k) {
    const uint64_t storage = libdl_tensor_storage_id(pool[k]);
    const bool left_out = std::find(but.begin(), but.end(), storage) != but.end();
    all.push_back(left_out ? 0 : libdl_tensor_version(pool[k]));
  }
  return all;
}

bool call_new(const Call& call, Pool& pool, std::vector<libdl_value>* results) {
  results->resize(std::max<size_t>(1, static_cast<size_t>(call.results)));
  std::memset(results->data(), kUntouched, results->size() * sizeof(libdl_value));
  const std::vector<uint64_t> before = versions(pool), others = versions(pool, call.updated);
  libdl_error* const error =
      libdl_op_call(call.op, call.arguments.data(), static_cast<int32_t>(call.arguments.size()),
                    results->data(), call.results);
  demand(error ? versions(pool) == before : versions(pool, call.updated) == others,
         "a call of the new form has written to a tensor");
  if (!error) return true;
  if (planted("output") && call.name() && !std::strcmp(call.name(), "matmul"))
    results->front().type = LIBDL_VALUE_NONE;
  if (!untouched(results->data(), results->size() * sizeof(libdl_value)))
    wrong(std::string("a result was written, and yet it failed: ") +
          libdl_error_get_message(error));
  told(call, error);
  return false;
}

// -- into -----------------------------------------------------------------------------------------

struct Before {
  uint64_t version;
  std::string elements;
  explicit Before(const libdl_tensor* x)
      : version(libdl_tensor_version(x)), elements(libfuzzer::elements(x)) {}
  bool operator==(const Before& b) const { return version == b.version && elements == b.elements; }
};

bool random(const Call& call) {
  for (int32_t k = 0; k < libdl_op_argument_count(call.op); ++k)
    if (libdl_op_argument_type(call.op, k) == LIBDL_VALUE_GENERATOR) return true;
  return false;
}

bool call_into(const Call& call, const std::vector<libdl_tensor*>& dsts) {
  std::vector<Before> before;
  for (const libdl_tensor* dst : dsts) before.emplace_back(dst);
  libdl_error* const error = libdl_op_call_into(call.op, call.arguments.data(),
                                                static_cast<int32_t>(call.arguments.size()),
                                                dsts.data(), static_cast<int32_t>(dsts.size()));
  if (!error) return true;
  if (planted("changed") && dsts.size() == 2) before[1].elements += "?";
  for (size_t k = 0; k < dsts.size(); ++k)
    if (!(before[k] == Before(dsts[k])))
      wrong(std::string("a destination was written, and yet it failed: ") +
            libdl_error_get_message(error));
  told(call, error);
  return false;
}

// Into any tensors; most of them do not fit.
void into_any(const Call& call, Pool& pool) {
  std::vector<libdl_tensor*> dsts;
  for (int32_t k = 0; k < call.results; ++k) dsts.push_back(pool.any());
  (void)call_into(call, dsts);
}

// Into new tensors like those that the new form gave: the same elements arrive.
void into_like(const Call& call, const std::vector<libdl_value>& results, Pool& pool) {
  std::vector<Tensor> held;
  std::vector<libdl_tensor*> dsts;
  for (int32_t k = 0; k < call.results; ++k) {
    const libdl_value& value = results[static_cast<size_t>(k)];
    if (value.type != LIBDL_VALUE_TENSOR || libdl_tensor_numel(value.held.tensor) > kMostElements)
      return;
    held.emplace_back(pool.like(value.held.tensor));
    dsts.push_back(held.back().get());
  }
  if (!call_into(call, dsts) || random(call)) return;
  for (size_t k = 0; k < dsts.size(); ++k) {
    std::string written = elements(dsts[k]);
    if (planted("into") && written.size() > 8 && !std::strcmp(call.name(), "mul")) written[3] ^= 1;
    if (written != elements(results[k].held.tensor))
      wrong(std::string(call.name()) + " writes into a tensor what its new form does not return");
  }
}

void call_any(Input& input, Pool& pool) {
  const Call call = chosen(input, pool);
  const uint8_t way = input.byte();
  if (way % 4 == 3) return into_any(call, pool);
  std::vector<libdl_value> results;
  if (!call_new(call, pool, &results)) return;
  if (way % 4 == 2 && libdl_op_has_into(call.op)) into_like(call, results, pool);
  take(call, results, pool);
}

// -- backward -------------------------------------------------------------------------------------

void same_geometry(const libdl_tensor* x, const libdl_tensor* grad) {
  demand(libdl_tensor_dtype(x) == libdl_tensor_dtype(grad) &&
             libdl_tensor_ndim(x) == libdl_tensor_ndim(grad) &&
             std::equal(libdl_tensor_shape(x), libdl_tensor_shape(x) + libdl_tensor_ndim(x),
                        libdl_tensor_shape(grad)),
         "a gradient unlike its tensor");
}

void backward(Input& input, Pool& pool) {
  const libdl_tensor* const x = pool[pool.size() - 1 - input.below(pool.size())];
  const uint8_t way = input.byte();
  const Tensor gradient(libdl_tensor_is_number(x) ? nullptr : pool.like(x));
  const libdl_tensor* const gradients[] = {way % 8 == 7 ? nullptr : gradient.get()};
  const libdl_backward_options options = {sizeof options, way >> 3 & 1, way >> 4 & 1, way >> 5 & 1,
                                          way >> 6 & 1};
  if (way < 128) {
    (void)checked(libdl_backward(&x, 1, gradients, 1, nullptr, 0, &options));
  } else {
    const libdl_tensor* const with_respect_to = pool.any();
    libdl_tensor_list* list = nullptr;
    const Error error =
        checked(libdl_grad(&x, 1, &with_respect_to, 1, gradients, 1, &options, &list));
    demand(!error == (list != nullptr), "a list and an error, or neither");
    const List held(list);
    if (list && libdl_tensor_list_count(list) != 1) wrong("gradients, but not one an input");
    Tensor grad(list ? libdl_tensor_list_get(list, 0) : nullptr);
    if (grad) {
      same_geometry(with_respect_to, grad.get());
      read(grad.get());
      pool.keep(grad.release());
    }
  }
  for (size_t k = 0; k < pool.size(); ++k) {
    const Tensor grad(libdl_tensor_grad(pool[k]));
    if (!grad) continue;
    same_geometry(pool[k], grad.get());
    read(grad.get());
  }
}

}  // namespace

const int64_t target_memory = kMemory;
const char* const left_by = "by calls";

void run(Input& input) {
  Pool pool(input);
  pool.begin();
  for (int calls = 0; calls < 5 && !input.empty(); ++calls) {
    call_any(input, pool);
    if (input.one_of(3)) backward(input, pool);
  }
  if (planted("node") && pool.size() > 1) (void)libdl_tensor_node(pool[pool.size() - 1], nullptr);
}

}  // namespace libfuzzer
