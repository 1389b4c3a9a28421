// SPDX-License-Identifier: Apache-2.0

// What forward mode keeps: the open levels of dual numbers, and the tangents of tensors in them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/tensor.h"

namespace libdl {

struct TangentCell;

// An open level; the state points to the innermost. When it closes all its tangents are freed, even
// if the tensors live on: that also breaks cycles through saved results.
struct DualLevel : Counted {
  DualLevel() : Counted(Tag::kOther) {}

  uint64_t id = 0;              // unique in the process; never reused
  int32_t depth = 1;            // 1: the outermost
  DualLevel* outer = nullptr;   // the next visible level outwards; NULL: none
  DualLevel* before = nullptr;  // the state's level to restore on closing; owned
  bool was_visible = false;     // whether levels were visible to the state when this one opened
  std::atomic<bool> closed{false};

  std::mutex mutex;              // guards the list; a tensor may be destroyed on any thread
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
  uint64_t generation = 0;  // of the value; in a view's cell the root's at the time of deriving it
  TangentCell *previous = nullptr, *next = nullptr;  // in the level's list
  bool listed = true;
};

// The forward-mode part of a tensor's Meta.
struct Duality {
  std::vector<std::unique_ptr<TangentCell>> cells;
  Tensor root;             // views of an alias that make_dual or unpack_dual made: that alias
  uint64_t own_level = 0;  // such an alias: the level in which it shares no tangent with its source
  bool apart = false;      // a view detached in place: it shares no tangent in any level
  Duality() = default;
  ~Duality();  // out of line: every tensor with a history has a pointer to one, but few have one
};

// Puts a tangent (or none) into the cell; tangents derived from it by views are then stale.
void set_cell(TangentCell& cell, Tensor tangent) noexcept;

}  // namespace libdl
