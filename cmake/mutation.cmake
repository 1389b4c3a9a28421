# SPDX-License-Identifier: Apache-2.0
# `ninja mutation`: the core with checks that can be left out (libdl/base/source_location.h). Without
# optimisation, so that what follows a check that was left out is what the source says.
set(mutation_core ${PROJECT_SOURCE_DIR}/tests/mutation/left_out.cc)
set(mutation_tests ${PROJECT_SOURCE_DIR}/tests/mutation/listener.cc)
libdl_variant(mutation LIBDL_SWITCHABLE_CHECKS=1 -O0 -Wno-return-type -Wno-maybe-uninitialized)
