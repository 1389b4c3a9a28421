// SPDX-License-Identifier: Apache-2.0

#include "engine/gradcheck.h"

#include <cmath>
#include <complex>
#include <cstdio>
#include <string>
#include <utility>

#include "device/device.h"
#include "engine/backward.h"
#include "engine/element.h"
#include "engine/forward.h"
#include "entries/random.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/core/tangent.h"
#include "tensor/generator.h"

namespace libdl {
namespace {

constexpr const char* kName = "libdl_gradcheck";

std::string readable(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// One function at one place.
class Check {
 public:
  // Names tell outputs and inputs in messages.
  Check(const CheckedFunction& f, TensorSpan inputs, const GradcheckOptions& options,
        std::vector<std::string> input_names, std::vector<std::string> output_names)
      : f_(f),
        options_(options),
        given_(inputs.begin(), inputs.end()),
        input_names_(std::move(input_names)),
        output_names_(std::move(output_names)) {
    for (size_t n = 0; n < given_.size(); ++n)
      if (has_history(given_[n])) checked_.push_back(n);
  }

  void run() {
    differentiate();
    for (size_t c = 0; c < checked_.size(); ++c) {
      const Tensor& x = given_[checked_[c]];
      for (int64_t i = 0; i < x.numel(); ++i)
        for (const Complex axis : axes_of(x.dtype())) compare(c, i, axis);
    }
  }

 private:
  // The gradients of one part of one element of an output, one column a checked input; no columns
  // where the output has no history.
  struct Row {
    size_t output;
    int64_t element;
    Complex axis;
    std::vector<Column> gradients;
  };
  struct Kind {
    Shape shape;
    Dtype dtype;
  };

  std::vector<Tensor> call(const std::vector<Tensor>& inputs) const {
    std::vector<Tensor> outputs = f_(inputs);
    for (size_t k = 0; k < outputs.size(); ++k)
      if (outputs[k].device() != Device{})
        fail(LIBDL_ERROR_DEVICE, kName,
             output_names_[k] + " is on " + device_name(outputs[k].device()) + ", wanted the CPU");
    for (size_t k = 0; k < kinds_.size(); ++k)
      if (!same(outputs[k].shape(), kinds_[k].shape) || outputs[k].dtype() != kinds_[k].dtype)
        fail(LIBDL_ERROR_CALLBACK, kName,
             output_names_[k] + " has shape " + to_string(outputs[k].shape()) + " and dtype " +
                 name_of(outputs[k].dtype()) + ", at first " + to_string(kinds_[k].shape) +
                 " and " + name_of(kinds_[k].dtype));
    return outputs;
  }

  // By backward passes: fills rows_.
  void differentiate() {
    std::vector<Tensor> inputs = given_, leaves;
    for (const size_t n : checked_) leaves.push_back(inputs[n] = moved(given_[n]));
    const std::vector<Tensor> outputs = call(inputs);
    bool recorded = false;
    for (const Tensor& y : outputs) {
      kinds_.push_back({Shape(y.shape()), y.dtype()});
      recorded |= has_history(y);
    }
    for (size_t k = 0; k < outputs.size(); ++k) {
      const Tensor& y = outputs[k];
      if (!is_inexact(y.dtype())) continue;
      if (!has_history(y) && recorded && !options_.strict) continue;
      for (int64_t j = 0; j < y.numel(); ++j)
        for (const Complex axis : axes_of(y.dtype())) {
          rows_.push_back({k, j, axis, {}});
          if (has_history(y)) rows_.back().gradients = gradients(y, leaves, rows_.back());
        }
    }
  }

  std::vector<Column> gradients(const Tensor& y, const std::vector<Tensor>& leaves,
                                const Row& row) const {
    const Tensor seed = unit(y, row.element, row.axis);
    std::vector<Column> found, again;
    for (std::vector<Column>* pass : {&found, &again}) {
      const std::vector<Tensor> grads =
          grad({&y, 1}, leaves, {&seed, 1}, {.retain_graph = true, .allow_unused = true});
      for (size_t c = 0; c < leaves.size(); ++c)
        pass->push_back(grads[c].defined() ? elements(grads[c])
                                           : Column(static_cast<size_t>(leaves[c].numel())));
    }
    for (size_t c = 0; c < leaves.size(); ++c)
      for (size_t i = 0; i < found[c].size(); ++i)
        if (std::abs(found[c][i] - again[c][i]) > options_.nondet_tol)
          fail(LIBDL_ERROR_AUTOGRAD, kName,
               place(row, c, static_cast<int64_t>(i), row.axis, false) +
                   ": two backward passes differ by " +
                   readable(std::abs(found[c][i] - again[c][i])));
    return found;
  }

  // By central differences, one column an output.
  std::vector<Column> differences(size_t n, int64_t i, Complex axis) const {
    std::vector<Column> columns(kinds_.size());
    for (const double sign : {1.0, -1.0}) {
      std::vector<Tensor> inputs = given_;
      for (const size_t other : checked_)
        inputs[other] = moved(given_[other], i, other == n ? sign * options_.eps * axis : 0);
      const std::vector<Tensor> outputs = call(inputs);
      for (size_t k = 0; k < outputs.size(); ++k) {
        if (!is_inexact(kinds_[k].dtype)) continue;
        const Column values = elements(outputs[k]);
        columns[k].resize(values.size());
        for (size_t j = 0; j < values.size(); ++j)
          columns[k][j] += values[j] * (sign / (2 * options_.eps));
      }
    }
    return columns;
  }

  // By dual numbers, one column an output, empty where no tangent arrived.
  std::vector<Column> tangents(size_t n, int64_t i, Complex axis) const {
    const ForwardLevel open;
    std::vector<Tensor> inputs = given_;
    for (const size_t other : checked_) inputs[other] = moved(given_[other]);
    inputs[n] = make_dual(inputs[n], unit(given_[n], i, axis), open.level(), kName);
    std::vector<Column> columns;
    for (const Tensor& y : call(inputs)) {
      const Tensor tangent = tangent_of(y);
      columns.push_back(tangent.defined() ? elements(tangent) : Column());
    }
    return columns;
  }

  void compare(size_t c, int64_t i, Complex axis) const {
    const size_t n = checked_[c];
    const std::vector<Column> wanted = differences(n, i, axis);
    for (const Row& row : rows_) {
      const size_t at = static_cast<size_t>(i);
      const Complex found = row.gradients.empty() ? 0 : row.gradients[c][at];
      agree(row, c, i, axis, part(found, axis), wanted, "analytical");
    }
    if (!options_.forward) return;
    const std::vector<Column> ahead = tangents(n, i, axis);
    for (const Row& row : rows_) {
      const Column& tangent = ahead[row.output];
      const Complex found = tangent.empty() ? 0 : tangent[static_cast<size_t>(row.element)];
      agree(row, c, i, axis, part(found, row.axis), wanted, "forward");
    }
  }

  void agree(const Row& row, size_t c, int64_t i, Complex axis, double found,
             const std::vector<Column>& columns, const char* way) const {
    const double wanted = part(columns[row.output][static_cast<size_t>(row.element)], row.axis);
    // Written so that a NaN disagrees.
    if (std::abs(found - wanted) <= options_.atol + options_.rtol * std::abs(wanted)) return;
    fail(LIBDL_ERROR_AUTOGRAD, kName,
         place(row, c, i, axis, true) + ": the " + way + " derivative is " + readable(found) +
             ", the numerical one " + readable(wanted));
  }

  // "output 1, element 0, by input 2, element 3 (imaginary part)"
  std::string place(const Row& row, size_t c, int64_t i, Complex axis, bool input_part) const {
    const auto named = [](bool complex, Complex along) {
      return !complex ? "" : along.imag() == 0 ? " (real part)" : " (imaginary part)";
    };
    return output_names_[row.output] + ", element " + std::to_string(row.element) +
           named(is_complex(kinds_[row.output].dtype), row.axis) + ", by " +
           input_names_[checked_[c]] + ", element " + std::to_string(i) +
           named(input_part && given_[checked_[c]].is_complex(), axis);
  }

  const CheckedFunction& f_;
  const GradcheckOptions& options_;
  std::vector<Tensor> given_;
  std::vector<size_t> checked_;
  std::vector<std::string> input_names_, output_names_;
  std::vector<Kind> kinds_;
  std::vector<Row> rows_;
};

std::vector<std::string> numbered(const char* what, size_t count) {
  std::vector<std::string> names;
  for (size_t n = 1; n <= count; ++n) names.push_back(what + std::to_string(n));
  return names;
}

void refuse_unfit(TensorSpan inputs) {
  bool any = false;
  for (const Tensor& x : inputs) {
    if (!has_history(x)) continue;
    any = true;
    const auto unfit = [&](libdl_error_code code, const std::string& found,
                           const char* wanted LIBDL_SOURCE_LOCATION) {
      const auto number = std::to_string(&x - inputs.data());
      fail_argument(code, kName, "inputs", "has at " + number + " " + found,
                    wanted LIBDL_SAME_SOURCE_LOCATION);
    };
    if (x.dtype() != Dtype::kFloat64 && x.dtype() != Dtype::kComplex128)
      unfit(LIBDL_ERROR_DTYPE, std::string("one of ") + name_of(x.dtype()),
            "float64 or complex128");
    if (x.device() != Device{}) unfit(LIBDL_ERROR_DEVICE, "one on another device", "the CPU");
    if (overlaps_itself(x))
      unfit(LIBDL_ERROR_OVERLAP, "one whose elements share memory", "memory for each element");
  }
  if (!any) fail(LIBDL_ERROR_AUTOGRAD, kName, "no input requires grad");
}

// Inputs and output gradients as inputs; the gradients of the inputs as outputs.
void check_second_order(const CheckedFunction& f, TensorSpan inputs,
                        const GradcheckOptions& options) {
  // Their own generator: a check leaves the host's numbers as they were.
  const Ref<Generator> generator = Ref<Generator>::take(new Generator(kFirstSeed));
  std::vector<Tensor> all;
  for (const Tensor& x : inputs) all.push_back(has_history(x) ? moved(x) : x);
  std::vector<std::string> names = numbered("input ", all.size()), outputs;
  std::vector<size_t> weighted;  // outputs that backward can start from
  const std::vector<Tensor> first = f(all);
  for (size_t k = 0; k < first.size(); ++k) {
    if (!has_history(first[k])) continue;
    const ModeGuard unrecorded(kModeGrad);
    const Dtype dtype = is_complex(first[k].dtype()) ? Dtype::kComplex128 : Dtype::kFloat64;
    all.push_back(randn(first[k].shape(), generator.get(), dtype, Device{}));
    set_requires_grad(all.back(), true);
    weighted.push_back(k);
    names.push_back("the gradient of output " + std::to_string(k + 1));
  }
  if (weighted.empty()) return;
  for (size_t n = 0; n < inputs.size(); ++n)
    if (has_history(inputs[n]))
      outputs.push_back("second order: the gradient of input " + std::to_string(n + 1));

  const CheckedFunction gradients = [&](TensorSpan args) {
    const std::vector<Tensor> made = f(args.first(inputs.size()));
    std::vector<Tensor> roots, weights, wanted;
    for (size_t w = 0; w < weighted.size(); ++w) {
      const Tensor& y = made[weighted[w]];
      if (!has_history(y)) continue;
      roots.push_back(y);
      weights.push_back(cast(args[inputs.size() + w], y.dtype()));
    }
    for (size_t n = 0; n < inputs.size(); ++n)
      if (has_history(inputs[n])) wanted.push_back(args[n]);
    return grad(roots, wanted, weights,
                {.create_graph = true, .allow_unused = true, .materialize = true});
  };
  GradcheckOptions inner = options;
  inner.forward = false;
  inner.strict = true;  // a gradient that is not recorded must be constant
  Check(gradients, all, inner, std::move(names), std::move(outputs)).run();
}

}  // namespace

void gradcheck(const CheckedFunction& f, TensorSpan inputs, size_t outputs,
               const GradcheckOptions& options) {
  refuse_unfit(inputs);
  if (options.forward && state().dual_level)
    fail(LIBDL_ERROR_UNSUPPORTED, kName,
         "a level is open already; forward mode is checked in none");
  const ModeGuard recording(kModeInference | kModeGradAside | kModeForward, kModeGrad);
  Check(f, inputs, options, numbered("input ", inputs.size()), numbered("output ", outputs)).run();
  if (options.second_order) check_second_order(f, inputs, options);
}

}  // namespace libdl
