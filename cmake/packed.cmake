# SPDX-License-Identifier: Apache-2.0
# `ninja packed`: the core where every result of three or more dimensions is born in a form alone,
# its plain bytes poisoned (libdl/tensor/forms.h). Whoever reaches for bytes without asking reads
# poison, or nothing.
libdl_variant(packed LIBDL_BORN_PACKED=1 -O1)
