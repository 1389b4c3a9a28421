// SPDX-License-Identifier: Apache-2.0

// The object behind libdl_text.
#pragma once

#include <libdl/text.h>

#include <string>

#include "base/handle.h"

struct libdl_text : libdl::Handle<libdl_text> {
  explicit libdl_text(std::string text) : Handle(libdl::Tag::kText), bytes(std::move(text)) {}
  ~libdl_text() = default;
  const std::string bytes;
};
