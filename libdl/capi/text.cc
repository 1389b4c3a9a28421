// SPDX-License-Identifier: Apache-2.0

#include "capi/text.h"

const char* libdl_text_data(const libdl_text* text) { return text ? text->bytes.c_str() : ""; }

int64_t libdl_text_length(const libdl_text* text) {
  return text ? static_cast<int64_t>(text->bytes.size()) : 0;
}

void libdl_text_release(libdl_text* text) { delete text; }
