// SPDX-License-Identifier: Apache-2.0

// Every operand becomes a tensor with all dimensions of the equation, of size 1 where it lacks one:
// first those of the result, then those that are summed. Pairs are multiplied from left to right by
// bmm, and a dimension is summed as soon as no later operand has it.
#include <algorithm>

#include "entries/copy.h"
#include "entries/linalg.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/view/view.h"

namespace libdl {

namespace {

using Axes = std::vector<int64_t>;
using Parts = std::initializer_list<const Axes*>;

constexpr const char* kEinsumName = "einsum";
constexpr int kDots = -1;

// A term's labels; a letter is itself, "..." is kDots.
using Term = std::vector<int>;

LIBDL_NORETURN void bad_equation(std::string_view equation, const std::string& wanted) {
  fail_argument(LIBDL_ERROR_VALUE, kEinsumName, "equation", "is \"" + std::string(equation) + "\"",
                wanted);
}

Term parse(std::string_view equation, std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    const bool letter = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
    if (letter) {
      term.push_back(text[i]);
    } else if (text.substr(i, 3) == "..." && std::ranges::find(term, kDots) == term.end()) {
      term.push_back(kDots);
      i += 2;
    } else {
      bad_equation(equation, "letters, and \"...\" at most once in each term");
    }
  }
  return term;
}

std::vector<Term> parse_inputs(std::string_view equation, std::string_view left) {
  std::vector<Term> terms;
  for (;;) {
    const size_t comma = left.find(',');
    terms.push_back(parse(equation, left.substr(0, comma)));
    if (comma == std::string_view::npos) return terms;
    left.remove_prefix(comma + 1);
  }
}

// Where no result is given: "..." and the letters that occur once, in order.
Term implied(const std::vector<Term>& inputs) {
  int count[128] = {};
  Term term;
  for (const Term& input : inputs)
    for (const int label : input) {
      if (label == kDots)
        term = {kDots};
      else
        ++count[label];
    }
  for (int label = 0; label < 128; ++label)
    if (count[label] == 1) term.push_back(label);
  return term;
}

// The dimensions of the whole equation: letters, and -1, -2, ... from the last one that "..."
// stands for.
struct Dimensions {
  std::vector<int> labels;
  size_t kept = 0;  // the first ones are the result's
  size_t index_of(int label) const {
    return static_cast<size_t>(std::ranges::find(labels, label) - labels.begin());
  }
};

// A term with as many numbers in the place of "..." as the tensor has further dimensions.
Term spelled(const Term& term, int dots) {
  Term all;
  for (const int label : term)
    if (label != kDots)
      all.push_back(label);
    else
      for (int d = dots; d > 0; --d) all.push_back(-d);
  return all;
}

Tensor one_of_each(std::string_view equation, Tensor x, Term term) {
  for (size_t i = 0; i < term.size(); ++i)
    for (size_t j = i + 1; j < term.size();) {
      if (term[i] != term[j]) {
        ++j;
        continue;
      }
      const int first = static_cast<int>(i), second = static_cast<int>(j);
      if (x.size(first) != x.size(second))
        fail_argument(LIBDL_ERROR_SHAPE, kEinsumName, "tensors",
                      "holds shape " + to_string(x.shape()),
                      "equal sizes for a letter that \"" + std::string(equation) + "\" repeats");
      x = movedim(diagonal(x, 0, first, second), Dims(std::to_array<int64_t>({-1})),
                  Dims(std::to_array<int64_t>({first})));
      term.erase(term.begin() + second);
    }
  return x;
}

// With all dimensions, in the equation's order.
Tensor aligned(const Tensor& x, const Term& term, const Dimensions& dimensions) {
  Term unique;
  for (const int label : term)
    if (std::ranges::find(unique, label) == unique.end()) unique.push_back(label);
  std::vector<int64_t> order;
  Shape shape;
  for (const int label : dimensions.labels) {
    const auto at = std::ranges::find(unique, label);
    if (at == unique.end()) {
      shape.push_back(1);
      continue;
    }
    order.push_back(at - unique.begin());
    shape.push_back(x.size(static_cast<int>(order.back())));
  }
  return reshape(permute(x, order), shape);
}

// a b, summed over the dimensions marked.
Tensor multiplied(const Tensor& a, const Tensor& b, const std::vector<bool>& summed) {
  std::vector<int64_t> batch, inner, left, right, alone_a, alone_b;
  for (int d = 0; d < a.ndim(); ++d) {
    const bool in_a = a.size(d) != 1, in_b = b.size(d) != 1, sums = summed[static_cast<size_t>(d)];
    if (sums && in_a && in_b)
      inner.push_back(d);
    else if (sums)
      (in_a ? alone_a : alone_b).push_back(d);
    else
      (in_a && in_b ? batch : in_b ? right : left).push_back(d);
  }
  Tensor x = alone_a.empty() ? a : sum(a, Dims(alone_a), true);
  Tensor y = alone_b.empty() ? b : sum(b, Dims(alone_b), true);
  if (x.dtype() != y.dtype()) {  // sums of small integers are int64
    const Dtype common = promote(x.dtype(), y.dtype());
    x = cast(x, common);
    y = cast(y, common);
  }
  const auto size = [](const Tensor& t, const std::vector<int64_t>& dims) {
    int64_t n = 1;
    for (const int64_t d : dims) n *= t.size(static_cast<int>(d));
    return n;
  };
  const auto arranged = [&](const Tensor& t, const std::vector<int64_t>& second,
                            const std::vector<int64_t>& third) {
    std::vector<int64_t> order;
    for (const Axes* part : Parts{&batch, &second, &third})
      order.insert(order.end(), part->begin(), part->end());
    const int64_t flat[] = {size(t, batch), size(t, second), size(t, third)};
    std::vector<int64_t> others;  // of size 1
    for (int64_t d = 0; d < t.ndim(); ++d)
      if (std::ranges::find(order, d) == order.end()) others.push_back(d);
    order.insert(order.end(), others.begin(), others.end());
    return reshape(permute(t, order), flat);
  };
  const Tensor product = bmm(arranged(x, left, inner), arranged(y, inner, right));
  // [batch, left, right] back to the equation's order
  std::vector<int64_t> order;
  for (const Axes* part : Parts{&batch, &left, &right})
    order.insert(order.end(), part->begin(), part->end());
  Shape shape;
  for (const int64_t d : order)
    shape.push_back(std::max(x.size(static_cast<int>(d)), y.size(static_cast<int>(d))));
  for (size_t i = 0; i < order.size(); ++i) {  // sizes of 0 are below 1
    const int d = static_cast<int>(order[i]);
    if (x.size(d) == 0 || y.size(d) == 0) shape[i] = 0;
  }
  for (int64_t d = 0; d < a.ndim(); ++d)
    if (summed[static_cast<size_t>(d)]) order.push_back(d), shape.push_back(1);
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return permute(reshape(product, shape), back);
}

void check_sizes(std::string_view equation, const std::vector<Tensor>& operands) {
  for (int d = 0; d < operands[0].ndim(); ++d) {
    int64_t size = 1;
    for (size_t i = 0; i < operands.size(); ++i) {
      const int64_t n = operands[i].size(d);
      if (n != 1 && size != 1 && n != size)
        fail_argument(
            LIBDL_ERROR_SHAPE, kEinsumName, "tensors",
            "has size " + std::to_string(n) + " at position " + std::to_string(i),
            std::to_string(size) + " for the same letter of \"" + std::string(equation) + "\"");
      if (n != 1) size = n;
    }
  }
}

Dimensions dimensions_of(std::string_view equation, const Term& result,
                         const std::vector<Term>& inputs) {
  Dimensions all{result, result.size()};
  for (size_t i = 0; i < result.size(); ++i)
    if (std::ranges::count(result, result[i]) > 1)
      bad_equation(equation, "each letter at most once in the result");
  for (const Term& term : inputs)
    for (const int label : term)
      if (all.index_of(label) == all.labels.size()) all.labels.push_back(label);
  for (size_t i = 0; i < all.kept; ++i) {
    bool missing = all.labels[i] < 0;
    for (const Term& term : inputs) missing |= std::ranges::find(term, all.labels[i]) != term.end();
    if (!missing) bad_equation(equation, "letters in the result that tensors have");
  }
  return all;
}

Tensor contracted(const std::vector<Tensor>& operands, size_t kept) {
  const size_t n = static_cast<size_t>(operands[0].ndim());
  Tensor y = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    std::vector<bool> summed(n);
    for (size_t d = kept; d < n; ++d) {
      summed[d] = true;
      for (size_t later = i + 1; later < operands.size(); ++later)
        if (operands[later].size(static_cast<int>(d)) != 1) summed[d] = false;
    }
    y = multiplied(y, operands[i], summed);
  }
  std::vector<int64_t> rest;
  for (size_t d = kept; d < n; ++d) rest.push_back(static_cast<int64_t>(d));
  if (rest.empty()) return y;
  if (operands.size() == 1) return sum(y, Dims(rest));
  return squeeze(y, Dims(rest));  // they were summed
}

}  // namespace

Tensor einsum_impl(std::string_view equation, TensorSpan tensors) {
  if (tensors.empty())
    fail_argument(LIBDL_ERROR_VALUE, kEinsumName, "tensors", "is empty", "at least one tensor");
  const size_t arrow = equation.find("->");
  const std::vector<Term> inputs = parse_inputs(equation, equation.substr(0, arrow));
  if (inputs.size() != tensors.size())
    bad_equation(equation, "a term for each of " + std::to_string(tensors.size()) + " tensors");
  std::vector<Term> terms;
  int most_dots = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].dtype() != tensors[0].dtype())
      fail_argument(LIBDL_ERROR_DTYPE, kEinsumName, "tensors",
                    std::string("holds ") + name_of(tensors[i].dtype()),
                    std::string(name_of(tensors[0].dtype())) + ", as the first");
    const bool dotted = std::ranges::find(inputs[i], kDots) != inputs[i].end();
    const int dots = tensors[i].ndim() - static_cast<int>(inputs[i].size()) + dotted;
    if (dots < 0 || (dots > 0 && !dotted))
      fail_argument(
          LIBDL_ERROR_SHAPE, kEinsumName, "tensors",
          "holds shape " + to_string(tensors[i].shape()) + " at position " + std::to_string(i),
          "the dimensions of term " + std::to_string(i) + " of \"" + std::string(equation) + "\"");
    most_dots = std::max(most_dots, dots);
    terms.push_back(spelled(inputs[i], dots));
  }
  const Term result =
      spelled(arrow == std::string_view::npos ? implied(inputs)
                                              : parse(equation, equation.substr(arrow + 2)),
              most_dots);
  const Dimensions dimensions = dimensions_of(equation, result, terms);
  const Named named(kEinsumName);
  return rename_error(kEinsumName, {{"input", "tensors"}, {"mat2", "tensors"}}, [&] {
    std::vector<Tensor> operands;
    operands.reserve(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i)
      operands.push_back(
          aligned(one_of_each(equation, tensors[i], terms[i]), terms[i], dimensions));
    check_sizes(equation, operands);
    return named(own(contracted(operands, dimensions.kept)));
  });
}

}  // namespace libdl
