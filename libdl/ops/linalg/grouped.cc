// SPDX-License-Identifier: Apache-2.0

// Products of groups of rows or columns, whose sizes are data.
#include "device/meta.h"
#include "entries/join.h"
#include "entries/linalg.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"

namespace libdl {

// -- checks ---------------------------------------------------------------------------------------

static constexpr const char* kGroupedMmName = "grouped_mm";

static void bad_shape(const char* name, const Tensor& x,
                      const std::string& wanted LIBDL_SOURCE_LOCATION) {
  fail_argument(LIBDL_ERROR_SHAPE, kGroupedMmName, name, "has shape " + to_string(x.shape()),
                wanted LIBDL_SAME_SOURCE_LOCATION);
}

static void bad_dtype(const char* name, Dtype found,
                      const std::string& wanted LIBDL_SOURCE_LOCATION) {
  fail_argument(LIBDL_ERROR_DTYPE, kGroupedMmName, name, std::string("is ") + name_of(found),
                wanted LIBDL_SAME_SOURCE_LOCATION);
}

static void check_operand(const char* name, const Tensor& x) {
  if (x.ndim() != 2 && x.ndim() != 3) bad_shape(name, x, "2 or 3 dimensions");
  if (x.dtype() != Dtype::kFloat32 && x.dtype() != Dtype::kFloat16 && x.dtype() != Dtype::kBfloat16)
    bad_dtype(name, x.dtype(), "float32, float16 or bfloat16");
}

static void check_operands(const Tensor& a, const Tensor& b) {
  check_operand("mat_a", a);
  check_operand("mat_b", b);
  const std::string as_first = std::string(name_of(a.dtype())) + " as mat_a is";
  if (b.dtype() != a.dtype()) bad_dtype("mat_b", b.dtype(), as_first);
  const int64_t inner = a.size(a.ndim() - 1);
  if (b.size(b.ndim() - 2) != inner)
    bad_shape("mat_b", b, std::to_string(inner) + " rows, the columns of mat_a");
  if (a.ndim() == 3 && b.ndim() == 3 && a.size(0) != b.size(0))
    fail_argument(LIBDL_ERROR_SHAPE, kGroupedMmName, "mat_b",
                  "has " + std::to_string(b.size(0)) + " groups",
                  std::to_string(a.size(0)) + " as mat_a");
}

static void check_offs(const Tensor* offs, bool cut) {
  if (!offs && cut)
    fail_argument(LIBDL_ERROR_VALUE, kGroupedMmName, "offs", "is None",
                  "a tensor, for an operand is a matrix");
  if (offs && !cut)
    fail_argument(LIBDL_ERROR_VALUE, kGroupedMmName, "offs", "is a tensor",
                  "None for 3-d operands");
  if (offs && (offs->dtype() != Dtype::kInt32 || offs->ndim() != 1))
    fail_argument(
        LIBDL_ERROR_DTYPE, kGroupedMmName, "offs",
        std::string("is ") + name_of(offs->dtype()) + " of shape " + to_string(offs->shape()),
        "int32, 1-d");
}

// -- groups ---------------------------------------------------------------------------------------

namespace {
struct Group {
  int64_t start, length;
};
}  // namespace

// Where each group ends. On meta the last one has all.
static std::vector<int64_t> ends_of(const Tensor& offs, int64_t whole) {
  std::vector<int64_t> ends(static_cast<size_t>(offs.numel()));
  if (is_meta(offs.device())) {
    if (!ends.empty()) ends.back() = whole;
    return ends;
  }
  const Tensor host = plain(on_host(offs));
  const auto* const values = static_cast<const int32_t*>(host.plain(Access::kRead));
  ends.assign(values, values + ends.size());
  return ends;
}

// The parts of a dimension of size `whole`; `count` of them, unless that is negative.
static std::vector<Group> groups_of(const Tensor& offs, int64_t whole, int64_t count) {
  const std::vector<int64_t> ends = ends_of(offs, whole);
  const auto entry = static_cast<int64_t>(ends.size());
  if (count >= 0 && entry != count)
    fail_argument(LIBDL_ERROR_SHAPE, kGroupedMmName, "offs",
                  "has " + std::to_string(entry) + " elements",
                  std::to_string(count) + ", one a group");
  std::vector<Group> groups;
  int64_t start = 0;
  for (const int64_t end : ends) {
    if (end < start || end > whole)
      fail_argument(LIBDL_ERROR_INDEX, kGroupedMmName, "offs", "is " + to_string(Dims(ends)),
                    "ends that ascend, " + std::to_string(whole) + " at most");
    groups.push_back({start, end - start});
    start = end;
  }
  return groups;
}

static Tensor part(const Tensor& x, int32_t dim, Group g) {
  return narrow(x, dim, g.start, g.length);
}

// -- products -------------------------------------------------------------------------------------

// One for each group of the inner dimension.
static Tensor stacked(const Tensor& a, const Tensor& b, const std::vector<Group>& groups) {
  if (groups.empty())
    fail_argument(LIBDL_ERROR_VALUE, kGroupedMmName, "offs", "is empty", "one group at least");
  std::vector<Tensor> products;
  products.reserve(groups.size());
  for (const Group g : groups) products.push_back(mm(part(a, 1, g), part(b, 0, g)));
  return stack(products);
}

// The groups' products beside each other along dim, 0: of a's rows, 1: of b's columns, and zeros
// for what is in no group.
static Tensor joined(const Tensor& a, const Tensor& b, const std::vector<Group>& groups, int dim) {
  std::vector<Tensor> products;
  int64_t end = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto n = static_cast<int64_t>(i);
    products.push_back(dim == 0 ? mm(part(a, 0, groups[i]), select(b, 0, n))
                                : mm(select(a, 0, n), part(b, 1, groups[i])));
    end = groups[i].start + groups[i].length;
  }
  const int64_t rows = a.size(a.ndim() - 2), columns = b.size(b.ndim() - 1);
  const Shape rest = dim == 0 ? Shape{rows - end, columns} : Shape{rows, columns - end};
  products.push_back(zeros(rest, a.dtype(), a.device()));
  return cat(products, dim);
}

Tensor grouped_mm_impl(const Tensor& mat_a, const Tensor& mat_b, const Tensor* offs,
                       const Tensor* bias, Dtype dtype) {
  check_operands(mat_a, mat_b);
  const bool first = mat_a.ndim() == 3, second = mat_b.ndim() == 3;  // has its groups apart
  check_offs(offs, !first || !second);
  if (bias)
    fail_argument(LIBDL_ERROR_UNSUPPORTED, kGroupedMmName, "bias", "is a tensor",
                  "None: PyTorch takes none yet, nor does libdl");
  if (dtype != Dtype::kNone && dtype != mat_a.dtype())
    bad_dtype("dtype", dtype, std::string(name_of(mat_a.dtype())) + " as mat_a is");
  const Named named(kGroupedMmName);
  if (!offs) return named(bmm(mat_a, mat_b));
  if (first) {
    return named(joined(mat_a, mat_b, groups_of(*offs, mat_b.size(1), mat_a.size(0)), 1));
  }
  if (second) return named(joined(mat_a, mat_b, groups_of(*offs, mat_a.size(0), mat_b.size(0)), 0));
  return named(stacked(mat_a, mat_b, groups_of(*offs, mat_a.size(1), -1)));
}

}  // namespace libdl
