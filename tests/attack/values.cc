// SPDX-License-Identifier: Apache-2.0

#include "values.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "handles.h"

namespace attack {

void need(libdl_error* error, const std::string& what) {
  if (error) stop(what + ": " + libdl_error_get_message(error));
}

namespace {

template <class F>
libdl_tensor* made(const char* what, F&& f) {
  libdl_tensor* out = nullptr;
  need(f(&out), what);
  return out;
}

libdl_tensor* emptied() {
  need(libdl_scope_push(), "scope");
  libdl_tensor* const x = made("emptied", [](libdl_tensor** out) {
    return libdl_ones(nullptr, 0, LIBDL_DTYPE_FLOAT64, nullptr, out);
  });
  need(libdl_scope_pop(), "scope");
  if (!libdl_tensor_is_emptied(x)) stop("a scope left its tensor");
  return x;
}

libdl_tensor* strided(libdl_tensor* x, const std::vector<int64_t>& shape,
                      const std::vector<int64_t>& strides) {
  const int64_t zero = 0;
  const auto n = static_cast<int32_t>(shape.size());
  return made("as_strided", [&](libdl_tensor** out) {
    return libdl_as_strided(x, shape.data(), n, strides.data(), n, &zero, out);
  });
}

// Of which every row is held.
libdl_tensor* sparse(libdl_tensor* values) {
  std::vector<int64_t> numbers(static_cast<size_t>(libdl_tensor_shape(values)[0]));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  const auto count = static_cast<int64_t>(numbers.size());
  libdl_tensor* const rows = made("empty", [&](libdl_tensor** out) {
    return libdl_empty(&count, 1, LIBDL_DTYPE_INT64, nullptr, out);
  });
  need(libdl_tensor_copy_in(rows, numbers.data(), count * 8), "copy_in");
  libdl_tensor* const x = made("sparse", [&](libdl_tensor** out) {
    return libdl_sparse_from_rows(rows, values, count, out);
  });
  libdl_tensor_release(rows);
  libdl_tensor_release(values);
  return x;
}

// An entry of a list in raw.h.
template <class List>
auto named(const List& list, const std::string& name) {
  const auto* entry = list;
  while (entry->name && name != entry->name) ++entry;
  if (!entry->name) stop("host_fixtures.h has no " + name);
  return entry;
}

}  // namespace

const Function& find_function(const std::string& name) {
  for (int32_t i = 0; i < attack_function_count; ++i)
    if (name == attack_functions[i].name) return attack_functions[i];
  stop("no function is called " + name);
}

// Values 0, 1, 0, 1, ...: indices, masks, probabilities and numbers at once.
libdl_tensor* filled(libdl_dtype dtype, const std::vector<int64_t>& shape) {
  libdl_tensor* const x = made("empty", [&](libdl_tensor** out) {
    return libdl_empty(shape.data(), static_cast<int32_t>(shape.size()), LIBDL_DTYPE_FLOAT64,
                       nullptr, out);
  });
  std::vector<double> all(static_cast<size_t>(libdl_tensor_numel(x)));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(i % 2);
  need(libdl_tensor_copy_in(x, all.data(), static_cast<int64_t>(all.size() * 8)), "copy_in");
  libdl_tensor* const y =
      made("to", [&](libdl_tensor** out) { return libdl_to(x, dtype, nullptr, 0, 1, out); });
  libdl_tensor_release(x);
  return y;
}

Values::~Values() {
  for (libdl_tensor* x : tensors_) libdl_tensor_release(x);
  for (const auto& [kind, handle] : to_give_up_) release_handle(kind, handle);
  for (const auto& [kind, handle] : others_) release_handle(kind, handle);
}

Raw Values::keep(const void* data, size_t bytes) {
  // Never empty: a place of no bytes would be NULL.
  memory_.push_back(std::make_unique<std::vector<char>>(bytes ? bytes : 1));
  if (bytes) std::memcpy(memory_.back()->data(), data, bytes);
  return {.p = memory_.back()->data()};
}

libdl_tensor* Values::tensor(const std::string& word) {
  const bool fresh = word[0] == '!';
  const auto found = named_.find(word);
  if (found != named_.end() && !fresh) return found->second;
  const std::string plain = split(word.substr(fresh), '#')[0];
  const Words parts = split(plain, ':');
  const std::string rest = parts.size() > 1 ? parts[1] : "";
  libdl_tensor* x = nullptr;
  if (parts[0] == "t" || parts[0] == "leaf") {
    x = filled(dtype_of(rest), integers(parts.size() > 2 ? parts[2] : ""));
    if (parts[0] == "leaf") need(libdl_tensor_set_requires_grad(x, 1), "leaf");
  } else if (parts[0] == "sparse") {
    x = sparse(filled(dtype_of(rest), integers(parts[2])));
  } else if (parts[0] == "saves") {  // its node saves values
    libdl_tensor* const leaf = tensor("leaf:f64:2,3");
    x = made("saves", [&](libdl_tensor** out) { return libdl_exp(leaf, out); });
  } else if (parts[0] == "loss") {
    libdl_tensor* const leaf = tensor("leaf:f64:2,3");
    x = made("loss", [&](libdl_tensor** out) {
      return libdl_sum(leaf, nullptr, 0, 0, LIBDL_DTYPE_NONE, out);
    });
  } else if (parts[0] == "custom") {  // behind a function of the host's
    x = tensor("loss:x");
  } else if (parts[0] == "n") {
    need(libdl_number_f64(std::atof(rest.c_str()), &x), word);
  } else if (parts[0] == "ni") {
    need(libdl_number_i64(std::atoll(rest.c_str()), &x), word);
  } else if (parts[0] == "nc") {
    need(libdl_number_c128(1, 1, &x), word);
  } else if (parts[0] == "emptied") {
    x = emptied();
  } else {
    stop("no value is called " + word);
  }
  own(x);
  if (!fresh) named_[word] = x;
  return x;
}

Raw Values::make(const std::string& word) {
  const size_t colon = word.find(':');
  const std::string kind = word.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : word.substr(colon + 1);
  if (kind == "null") return {.p = nullptr};
  if (kind == "i") return {.i = std::strtoll(rest.c_str(), nullptr, 10)};
  if (kind == "f") return {.f = std::strtod(rest.c_str(), nullptr)};
  if (kind == "ip" || kind == "ints") {
    const std::vector<int64_t> all = integers(rest);
    return keep(all.data(), all.size() * sizeof(int64_t));
  }
  if (kind == "fp") {
    const double value = std::strtod(rest.c_str(), nullptr);
    return keep(&value, sizeof value);
  }
  if (kind == "s") return keep(rest.c_str(), rest.size() + 1);
  if (kind == "dev") {
    const std::vector<int64_t> at = integers(rest);
    const libdl_device device = {static_cast<int32_t>(at[0]), static_cast<int32_t>(at[1])};
    return keep(&device, sizeof device);
  }
  if (kind == "options") {  // all zero but struct_size
    std::vector<char> bytes(512);
    const auto size = static_cast<uint32_t>(std::strtoul(rest.c_str(), nullptr, 10));
    std::memcpy(bytes.data(), &size, sizeof size);
    return keep(bytes.data(), bytes.size());
  }
  if (kind == "list") {
    std::vector<void*> items;
    for (const std::string& entry : split(rest, '|')) items.push_back(make(entry).p);
    return keep(items.data(), items.size() * sizeof(void*));
  }
  if (kind == "buffer") return keep(std::vector<char>(4096).data(), 4096);
  if (kind == "fn") return {.fn = named(attack_callbacks, rest)->fn};
  if (kind == "made") return {.p = named(attack_made, rest)->make(0)};
  if (kind == "at") return {.p = named(attack_places, rest)->tell()};
  if (kind == "fixture") return {.p = attack_fixture(0)};
  if (kind == "descriptor") return {.i = attack_descriptor()};
  if (kind == "schema") return make("s:" + fresh_schema());
  if (word == "h:op") return {.i = registered_op()};
  if (kind == "op") {
    libdl_op op = -1;
    need(libdl_op_find(rest.c_str(), -1, &op), word);
    return {.i = op};
  }
  if (kind == "values") {
    libdl_value value = {};
    value.type = LIBDL_VALUE_TENSOR;
    value.held.tensor = tensor(rest);
    return keep(&value, sizeof value);
  }
  if (kind == "values-live") {  // a handle of another kind where the value says tensor
    libdl_value value = {};
    value.type = LIBDL_VALUE_TENSOR;
    value.held.tensor = static_cast<libdl_tensor*>(make(split(rest, '|').back()).p);
    return keep(&value, sizeof value);
  }
  if (kind == "foreign") {
    const Words told = split(rest, ',');
    void* const managed = attack_foreign(told[0] == "dlpack_old", std::atoi(told[1].c_str()));
    to_give_up_.emplace_back(told[0], managed);
    return {.p = managed};
  }
  if (kind == "up") {
    to_give_up_.emplace_back(rest, made_handle(rest, this));
    return {.p = to_give_up_.back().second};
  }
  // "kind": a handle that no other parameter takes.
  const std::string handle = kind == "h" ? rest : kind == "kind" ? "generator" : kind;
  if (is_handle(handle)) {
    others_.emplace_back(handle, made_handle(handle, this));
    return {.p = others_.back().second};
  }
  return {.p = tensor(word)};
}

bool Values::destination(const std::string& fault, libdl_tensor* model, libdl_tensor* operand,
                         Raw* out) {
  const int32_t ndim = libdl_tensor_ndim(model);
  std::vector<int64_t> shape(libdl_tensor_shape(model), libdl_tensor_shape(model) + ndim);
  libdl_dtype dtype = libdl_tensor_dtype(model);
  const bool differentiable = dtype >= LIBDL_DTYPE_FLOAT16;
  if (fault == "null") return *out = {.p = nullptr}, true;
  if (fault == "kind") return *out = make("kind"), true;
  if (fault.rfind("live-", 0) == 0) return *out = make("h:" + fault.substr(5)), true;
  if (fault == "emptied" || fault == "n:1") return *out = make("!" + fault), true;
  if (fault == "shape") shape.insert(shape.begin(), 7);
  if (fault == "dtype") {
    if (dtype == LIBDL_DTYPE_BOOL) return false;  // goes into every dtype
    dtype = dtype >= LIBDL_DTYPE_COMPLEX64 ? LIBDL_DTYPE_FLOAT64
            : differentiable               ? LIBDL_DTYPE_INT64
                                           : LIBDL_DTYPE_BOOL;
  }
  if (fault == "overlap") {
    if (libdl_tensor_numel(model) < 2) return false;
    own(filled(dtype, {}));
    libdl_tensor* const one = tensors_.back();
    own(strided(one, shape, std::vector<int64_t>(shape.size(), 0)));
    return *out = {.p = tensors_.back()}, true;
  }
  if (fault == "alias") {  // shares memory with an operand, one element further on
    if (!operand || libdl_tensor_is_number(operand) || libdl_tensor_dtype(operand) != dtype)
      return false;
    const int64_t n = libdl_tensor_numel(model), most = libdl_tensor_numel(operand);
    if (n < 2 || n > most) return false;
    std::vector<int64_t> strides(shape.size());
    int64_t step = 1;  // column-major, where the operand is row-major
    for (size_t d = 0; d < shape.size(); ++d) strides[d] = step, step *= shape[d];
    own(strided(operand, shape, strides));
    libdl_tensor* const x = tensors_.back();
    bool same = ndim == libdl_tensor_ndim(operand);
    for (int32_t d = 0; same && d < ndim; ++d)
      same = libdl_tensor_shape(operand)[d] == shape[static_cast<size_t>(d)] &&
             libdl_tensor_strides(operand)[d] == strides[static_cast<size_t>(d)];
    if (same) return false;  // in place, which is no attack
    return *out = {.p = x}, true;
  }
  own(filled(dtype, shape));
  libdl_tensor* x = tensors_.back();
  if (fault == "grad") {
    if (!differentiable) return false;
    need(libdl_tensor_set_requires_grad(x, 1), "a destination that requires grad");
  }
  if (fault == "read-only") {
    const int64_t bytes = libdl_tensor_numel(x) * libdl_dtype_size(dtype);
    const Raw place =
        keep(std::vector<char>(static_cast<size_t>(bytes)).data(), static_cast<size_t>(bytes));
    libdl_tensor* y = nullptr;
    need(libdl_tensor_from_memory(place.p, bytes, shape.data(), static_cast<int32_t>(shape.size()),
                                  nullptr, 0, 0, dtype, 1, nullptr, nullptr, &y),
         "read-only memory");
    own(y);
    x = y;
  }
  *out = {.p = x};
  return true;
}

}  // namespace attack
