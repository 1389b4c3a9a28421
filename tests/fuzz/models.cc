// SPDX-License-Identifier: Apache-2.0

// What the destination of an into form is like: the results of the operator as it is meant.
#include <cstring>
#include <sstream>

#include "chooser.h"
#include "shrink.h"

namespace fuzz {

std::vector<Word> Chooser::models_of(const Info& into) {
  const std::string name = into.name.substr(0, into.name.size() - 5);
  Statement statement;
  statement.function = -1;
  for (int32_t plain : library_.plain)
    if (library_[plain].name == name) statement.function = plain;
  if (statement.function < 0) return {};  // it only overwrites
  as_meant_ = true;
  machine_.begin();
  current_ = &library_[statement.function];
  for (const Parameter& parameter : current_->parameters)
    statement.arguments.push_back(make(parameter.good[0], &parameter));
  current_ = nullptr;
  std::vector<Word> models;
  if (emit(statement) == Ran::good)
    for (const Operand& operand : statement.arguments) {
      if (operand.is != Is::out || operand.i < 0) continue;
      const auto* const x =
          static_cast<libdl_tensor*>(machine_.handle(static_cast<int32_t>(operand.i)));
      Word& model = models.emplace_back();
      model.kind = "t", model.dtype = libdl_tensor_dtype(x);
      model.shape.assign(libdl_tensor_shape(x), libdl_tensor_shape(x) + libdl_tensor_ndim(x));
    }
  machine_.finish();
  as_meant_ = false;
  return models;
}

namespace {

void tell(int32_t function, const Word& model) {
  std::string line = std::to_string(function) + " " + std::to_string(model.dtype) + " " +
                     std::to_string(model.shape.size());
  for (int64_t size : model.shape) line += " " + std::to_string(size);
  line += "\n";
  std::memcpy(shared->trace + shared->traced, line.data(), line.size());
  shared->traced += line.size();
}

}  // namespace

// In a child, and in the next one from where the last died: the library may be at fault already.
void learn_models(Library* library, const std::string& folder) {
  shared->traced = 0;
  for (size_t first = 0; first < library->into.size(); ++first) {
    shared->current[0] = static_cast<int64_t>(library->into.size());
    (void)in_child(
        [&] {
          settle(*library, folder);
          Machine machine(*library);
          Chooser chooser(*library, &machine, 0, [](const Statement&) {}, [](int32_t, bool) {});
          for (size_t k = first; k < library->into.size(); ++k) {
            shared->current[0] = static_cast<int64_t>(k);
            for (const Word& model : chooser.models_of((*library)[library->into[k]]))
              tell(library->into[k], model);
          }
          shared->current[0] = static_cast<int64_t>(library->into.size());
        },
        false);
    first = static_cast<size_t>(shared->current[0]);
  }
  std::istringstream in(std::string(shared->trace, shared->traced));
  size_t function, dimensions;
  Word model;
  model.kind = "t";
  while (in >> function >> model.dtype >> dimensions) {
    model.shape.resize(dimensions);
    for (int64_t& size : model.shape) in >> size;
    library->functions[function].models.push_back(model);
  }
}

}  // namespace fuzz
