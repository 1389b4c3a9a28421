# SPDX-License-Identifier: Apache-2.0
# `ninja checks`: the core with checks that can be left out (libdl/base/source_location.h). Without
# optimisation, so that what follows a check that was left out is what the source says.
set(checks_core ${PROJECT_SOURCE_DIR}/tests/mutation/left_out.cc)
set(checks_tests ${PROJECT_SOURCE_DIR}/tests/mutation/listener.cc)
libdl_variant(checks LIBDL_SWITCHABLE_CHECKS=1 -O0 -Wno-return-type -Wno-maybe-uninitialized)
