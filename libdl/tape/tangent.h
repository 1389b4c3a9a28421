// SPDX-License-Identifier: Apache-2.0

// Forward mode: the open levels of dual numbers, and the tangents that tensors carry in them.
//
// A tangent belongs to a tensor and a level. One in an inner level is itself a tensor that may have
// tangents in the outer ones, and that is how levels nest. Of a tensor and its views one, the root,
// owns the tangent; ops/core/tangent.h derives those of the views.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/tensor.h"

namespace libdl {

struct TangentCell;

// An open level; the state points to the innermost. Tangents end with it, whoever holds tensors:
// that also opens the cycles through saved results.
struct DualLevel : Counted {
  DualLevel() : Counted(Tag::kOther) {}

  uint64_t id = 0;              // of no other level in the process, before or after
  int32_t depth = 1;            // 1: the outermost
  DualLevel* outer = nullptr;   // the next one that is visible from inside; NULL: none
  DualLevel* before = nullptr;  // where the state goes back to; owned
  bool was_visible = false;     // whether the state looked at levels when this one opened
  std::atomic<bool> closed{false};

  std::mutex mutex;              // of the list; a tensor may end on any thread
  TangentCell* first = nullptr;  // every tangent in the level; not owned
};
void destroy(DualLevel* level);

// Where a tensor keeps its tangent in one level.
struct TangentCell {
  explicit TangentCell(DualLevel& level);
  ~TangentCell();
  TangentCell(const TangentCell&) = delete;
  TangentCell& operator=(const TangentCell&) = delete;

  Ref<DualLevel> level;
  Tensor value;             // undefined: none (any more)
  uint64_t generation = 0;  // of the value: a view's cell has the root's when it was derived
  TangentCell *previous = nullptr, *next = nullptr;  // in the level's list
  bool listed = true;
};

// What a tensor that forward mode concerns has in its Meta.
struct Duality {
  std::vector<std::unique_ptr<TangentCell>> cells;
  Tensor root;             // views of an alias that make_dual or unpack_dual made: that alias
  uint64_t own_level = 0;  // such an alias: the level in which it shares no tangent with its source
  bool apart = false;      // a view that was detached in place: it shares none in any level
  Duality() = default;
  ~Duality();  // apart: every tensor with a history has a place for one, few have one
};

// Opens a level in the thread's state, and closes a state's innermost. There must be one.
DualLevel& open_level();
void close_level(State& s = state()) noexcept;

// The tensor that owns x's tangent in the level: x, or what it is a view of.
const Tensor& tangent_root(const Tensor& x, const DualLevel& level);

// x's own cell in the level, or NULL; it may be empty.
TangentCell* find_cell(const Tensor& x, const DualLevel& level);
// Made when absent.
TangentCell& cell_of(const Tensor& x, DualLevel& level);
// The cell takes a tangent, or none; what views have derived is old now.
void set_cell(TangentCell& cell, Tensor tangent) noexcept;

// x, an alias, becomes its own root in the level; in the others it stays a view of its source.
void own_tangent(const Tensor& x, const DualLevel& level);

// An alias of a saved value carries what the value does.
void share_cells(const Tensor& from, const Tensor& to);
// x has no tangent any more, nor its source's.
void detach_tangents(const Tensor& x);

}  // namespace libdl
