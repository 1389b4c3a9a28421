// SPDX-License-Identifier: Apache-2.0

#include "device/special.h"

namespace libdl::device_detail {

constinit std::atomic<uint8_t> special{0};

}  // namespace libdl::device_detail
