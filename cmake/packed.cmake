# SPDX-License-Identifier: Apache-2.0
# Two builds of the core that prove who says what it does to bytes (libdl/base/test_hooks.h).
#
# `ninja packed`: every result of three or more dimensions is born in a form alone, its plain bytes
# poisoned. Whoever reaches for bytes without asking reads poison, or nothing.
set(packed_tests ${PROJECT_SOURCE_DIR}/tests/core/threads_stress_test.cc)
libdl_variant(packed LIBDL_BORN_PACKED=1 -O1)
# `ninja shifting`: forms appear and go at random, at every look at a storage. Whoever reads one of
# another version, or counts on one to be there, gives another result.
set(shifting_core ${PROJECT_SOURCE_DIR}/tests/forms/chance.cc)
set(shifting_tests ${packed_tests})
libdl_variant(shifting "LIBDL_BORN_PACKED=1;LIBDL_RANDOM_FORMS=1" -O1)
