// SPDX-License-Identifier: Apache-2.0

// Views of all elements, in several parts.
#include "ops/view/parts.h"

#include <algorithm>

#include "entries/copy.h"
#include "entries/join.h"
#include "entries/view.h"
#include "memory/host_source.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/view/view_rule.h"

namespace libdl {

// -- the gradient: all parts are outputs of one node ----------------------------------------------

namespace {
struct PartsAttr {
  int at;
  std::vector<Shape> shapes;  // of the parts
};
}  // namespace

// The parts' gradients in a row; zeros where none arrived.
static std::vector<Tensor> arrived(Backward& b) {
  const auto& shapes = b.attr<PartsAttr>().shapes;
  Tensor nothing;
  std::vector<Tensor> parts(shapes.size());
  for (size_t k = 0; k < parts.size() && !nothing.defined(); ++k)
    if (const Tensor& dy = b.dy(static_cast<int>(k)); dy.defined())
      nothing = zeros({}, dy.dtype(), dy.device());
  for (size_t k = 0; k < parts.size(); ++k) {
    const Tensor& dy = b.dy(static_cast<int>(k));
    parts[k] = dy.defined() ? dy : expand(nothing, b.batched(shapes[k]));
  }
  return parts;
}
static int place_of(const Backward& b) { return b.attr<PartsAttr>().at + b.lead(); }
static void split_vjp(Backward& b) { b.set_grad(0, cat(arrived(b), place_of(b))); }
static void unbind_vjp(Backward& b) { b.set_grad(0, stack(arrived(b), place_of(b))); }
static const Rule kSplit{.name = "split", .vjp = split_vjp, .takes_batch = true};
static const Rule kUnbind{.name = "unbind", .vjp = unbind_vjp, .takes_batch = true};

// -- the views ------------------------------------------------------------------------------------

void require_room(const char* op, const char* name, int64_t parts) {
  constexpr size_t kPart = 512;  // bytes, at least
  const size_t most = std::min(host_budget().limit() / kPart, size_t{INT32_MAX});
  if (static_cast<size_t>(parts) > most)
    fail_argument(LIBDL_ERROR_LIMIT, op, name, "asks for " + std::to_string(parts) + " tensors",
                  "at most " + std::to_string(most) + ", which memory holds");
}

namespace {
class Parts {
 public:
  Parts(const char* op, const Tensor& input, int at) : op_(op), input_(input), at_(at) {}

  // The next `length` of the dimension.
  void add(int64_t length) {
    ViewCall call{ViewCall::kSlice};
    follow(part(op_, input_, at_, start_, length, 1, call), call);
    start_ += length;
  }
  // The next one, without the dimension.
  void add_slice() {
    ViewCall call{ViewCall::kSelect};
    follow(selected(op_, input_, at_, start_++, call), call);
    slices_ = true;
  }
  std::vector<Tensor> recorded();

 private:
  void follow(Tensor y, const ViewCall& call) {
    wanted_ |= follow_view(input_, y, call, ViewKind::kPlain, ViewOrigin::kMultiOutput);
    parts_.push_back(std::move(y));
  }

  const char* op_;
  const Tensor& input_;
  int at_;
  int64_t start_ = 0;
  bool slices_ = false, wanted_ = false;
  std::vector<Tensor> parts_;
};

std::vector<Tensor> Parts::recorded() {
  if (!wanted_) return std::move(parts_);
  const int count = static_cast<int>(parts_.size());
  PartsAttr attr{at_, {}};
  for (const Tensor& y : parts_) attr.shapes.emplace_back(y.shape());
  const Ref<Node> node =
      Ref<Node>::take(make_node(slices_ ? kUnbind : kSplit, 1, count, 0, std::move(attr)));
  const Tensor* const inputs[] = {&input_};
  connect_inputs(*node, inputs);
  for (int k = 0; k < count; ++k) set_maker(parts_[k], node, k);
  return std::move(parts_);
}
}  // namespace

std::vector<Tensor> split_with_sizes_impl(const Tensor& input, Dims split_sizes, int32_t dim) {
  require_dim("split_with_sizes", input);
  const int at = checked_axis("split_with_sizes", "dim", dim, input.ndim());
  int64_t rest = input.size(at);
  bool fits = true;
  for (const int64_t n : split_sizes) {
    fits &= n >= 0 && n <= rest;
    if (fits) rest -= n;
  }
  if (!fits || rest != 0)
    fail_argument(LIBDL_ERROR_SHAPE, "split_with_sizes", "split_sizes",
                  "is " + to_string(split_sizes),
                  "sizes of 0 or more that add up to " + std::to_string(input.size(at)));
  Parts parts("split", input, at);
  for (const int64_t n : split_sizes) parts.add(n);
  return parts.recorded();
}

std::vector<Tensor> split_impl(const Tensor& input, int64_t split_size, int32_t dim) {
  require_dim("split", input);
  const int at = checked_axis("split", "dim", dim, input.ndim());
  const int64_t n = input.size(at);
  if (split_size < 0 || (split_size == 0 && n > 0))
    fail_argument(LIBDL_ERROR_VALUE, "split", "split_size", "is " + std::to_string(split_size),
                  "1 or more");
  if (n > 0) require_room("split", "split_size", (n - 1) / split_size + 1);
  Parts parts("split", input, at);
  int64_t rest = n;
  do {
    parts.add(std::min(split_size, rest));
    rest -= split_size;
  } while (rest > 0);
  return parts.recorded();
}

std::vector<Tensor> chunk_impl(const Tensor& input, int64_t chunks, int32_t dim) {
  require_dim("chunk", input);
  if (chunks <= 0)
    fail_argument(LIBDL_ERROR_VALUE, "chunk", "chunks", "is " + std::to_string(chunks),
                  "1 or more");
  const int at = checked_axis("chunk", "dim", dim, input.ndim());
  const int64_t n = input.size(at);
  require_room("chunk", "chunks", n == 0 ? chunks : std::min(n, chunks));
  if (n == 0) return split_with_sizes(input, Shape(static_cast<size_t>(chunks), 0), dim);
  return split(input, (n - 1) / chunks + 1, dim);
}

std::vector<Tensor> unbind_impl(const Tensor& input, int32_t dim) {
  require_dim("unbind", input);
  const int at = checked_axis("unbind", "dim", dim, input.ndim());
  require_room("unbind", "dim", input.size(at));
  Parts parts("unbind", input, at);
  for (int64_t i = 0; i < input.size(at); ++i) parts.add_slice();
  return parts.recorded();
}

}  // namespace libdl
