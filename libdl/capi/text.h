// SPDX-License-Identifier: Apache-2.0

// The object behind libdl_text.
#pragma once

#include <libdl/text.h>

#include <string>

#include "base/counted.h"

struct libdl_text : libdl::Counted {
  explicit libdl_text(std::string text) : Counted(libdl::Tag::kText), bytes(std::move(text)) {}
  ~libdl_text() = default;
  const std::string bytes;
};
