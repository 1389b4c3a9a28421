// SPDX-License-Identifier: Apache-2.0

#include "capi/text.h"

#include "capi/arguments.h"
#include "capi/history.h"
#include "capi/op_table.h"
#include "capi/options.h"
#include "tape/saved.h"
#include "tensor/print.h"

using namespace libdl;
using namespace libdl::capi;

namespace {

// 0 is the default, -1 is none.
int64_t setting(const char* what, int64_t value, int64_t usual) {
  if (value < -1)
    fail_argument(LIBDL_ERROR_VALUE, "tensor_to_string", "options",
                  std::string("says ") + what + " " + std::to_string(value), "-1 or more");
  return value == 0 ? usual : std::max<int64_t>(value, 0);
}

PrintOptions print_options(const libdl_print_options& source) {
  constexpr int64_t kMostDigits = 1000;
  PrintOptions options;
  const int64_t precision = setting("precision", source.precision, options.precision);
  if (precision > kMostDigits || source.sci_mode < -1 || source.sci_mode > 1)
    fail_argument(LIBDL_ERROR_VALUE, "tensor_to_string", "options",
                  precision > kMostDigits ? "says precision " + std::to_string(precision)
                                          : "says sci_mode " + std::to_string(source.sci_mode),
                  precision > kMostDigits ? "at most 1000" : "-1, 0 or 1");
  options.precision = static_cast<int>(precision);
  options.threshold = setting("threshold", source.threshold, options.threshold);
  options.edgeitems = setting("edgeitems", source.edgeitems, options.edgeitems);
  options.linewidth = setting("linewidth", source.linewidth, options.linewidth);
  options.scientific = static_cast<Scientific>(source.sci_mode);
  options.default_dtype = static_cast<Dtype>(state().default_dtype);
  if (source.dtype_prefix) options.dtype_prefix = source.dtype_prefix;
  return options;
}

// log_softmax: LogSoftmaxBackward0; a host's function Mine: MineBackward
std::string pytorch_name(std::string_view op) {
  std::string name;
  bool starts_word = true;
  for (const char c : op) {
    if (c != '_') name += starts_word && c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    starts_word = c == '_';
  }
  bool known = false;
  for (int32_t i = 0; const OpEntry* entry = find_entry(i); ++i) known |= op == entry->name;
  return name + (known ? "Backward0" : "Backward");
}

}  // namespace

static bool is_text(const libdl_text* text) { return text && has_tag(text, Tag::kText); }

const char* libdl_text_data(const libdl_text* text) {
  return is_text(text) ? text->bytes.c_str() : "";
}

int64_t libdl_text_length(const libdl_text* text) {
  return is_text(text) ? static_cast<int64_t>(text->bytes.size()) : 0;
}

void libdl_text_release(libdl_text* text) {
  if (is_kind("libdl_text_release", "text", text, Tag::kText)) delete text;
}

libdl_error* libdl_tensor_to_string(const libdl_tensor* tensor, const libdl_print_options* options,
                                    libdl_text** out) {
  constexpr const char* name = "tensor_to_string";
  return door(name, [&] {
    const Tensor& x = live_tensor(name, "tensor", tensor);
    const libdl_print_options checked = read_options(name, options);
    PrintOptions how = print_options(checked);
    output(name, "out", out);
    std::string history_text;
    if (const Ref<Node> node = current_history(x)) {
      how.requires_grad = true;
      if (checked.grad_fn)
        history_text = checked.grad_fn;
      else if (!node->accumulator)
        history_text = pytorch_name(node->rule->name);
    }
    how.grad_fn = history_text;
    *out = new libdl_text(to_string(x, how));
  });
}
