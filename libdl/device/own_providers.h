// SPDX-License-Identifier: Apache-2.0

// Ways of the CPU to compute a kernel that are quicker for some arguments, with names of their own
// so that they can be left out as plugins' providers can: LIBDL_DISABLE=winograd.
#pragma once

namespace libdl {

// Once; later calls do nothing. Whoever launches a kernel that one of them may serve calls this
// first: so programs that launch no such kernel never look for providers.
void register_own_providers();

}  // namespace libdl
