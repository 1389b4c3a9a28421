// SPDX-License-Identifier: Apache-2.0

// Objects behind handles, but for tensors, which are many and have cells of their own. With
// LIBDL_DEBUG_HANDLES=1 the memory of one that was released is kept for a while, and tagged so: who
// gives it again is told what it was.
#pragma once

#include <new>

#include "base/counted.h"

namespace libdl {

bool environment_tracks_handles();
// What environment_tracks_handles() said when the library was loaded.
extern const bool handles_are_tracked;

// What takes the place of a destroyed object.
struct Tombstone {
  Tag tag = Tag::kReleased;
  Tag was;
};

// Keeps the memory until many others have followed.
[[gnu::cold]] void leave_tombstone(void* memory, Tag was) noexcept;

template <class T>
class Handle : public Counted {
 public:
  static void operator delete(Handle* handle, std::destroying_delete_t) noexcept {
    static_assert(sizeof(T) >= sizeof(Tombstone));
    T* const object = static_cast<T*>(handle);
    const Tag was = object->tag();
    object->~T();
    if (handles_are_tracked) [[unlikely]]
      leave_tombstone(object, was);
    else
      ::operator delete(object);
  }

 private:
  friend T;
  explicit Handle(Tag tag) : Counted(tag) {}
};

}  // namespace libdl
