/* SPDX-License-Identifier: Apache-2.0 */

/** All of libdl. */
#ifndef LIBDL_LIBDL_H
#define LIBDL_LIBDL_H

#include <libdl/abi.h>
#include <libdl/activation.h>
#include <libdl/arithmetic.h>
#include <libdl/arrangement.h>
#include <libdl/attention.h>
#include <libdl/autograd.h>
#include <libdl/bitwise.h>
#include <libdl/calculus.h>
#include <libdl/comparison.h>
#include <libdl/convolution.h>
#include <libdl/copy.h>
#include <libdl/creation.h>
#include <libdl/device.h>
#include <libdl/distance.h>
#include <libdl/dropout.h>
#include <libdl/dtype.h>
#include <libdl/error.h>
#include <libdl/exchange.h>
#include <libdl/exponential.h>
#include <libdl/image.h>
#include <libdl/indexing.h>
#include <libdl/io.h>
#include <libdl/join.h>
#include <libdl/linalg.h>
#include <libdl/loss.h>
#include <libdl/memory.h>
#include <libdl/nn.h>
#include <libdl/numbers.h>
#include <libdl/op.h>
#include <libdl/optim.h>
#include <libdl/plugin.h>
#include <libdl/pointwise.h>
#include <libdl/pooling.h>
#include <libdl/profiler.h>
#include <libdl/random.h>
#include <libdl/reduction.h>
#include <libdl/rnn.h>
#include <libdl/rounding.h>
#include <libdl/sampling.h>
#include <libdl/scope.h>
#include <libdl/sequence.h>
#include <libdl/sparse.h>
#include <libdl/special.h>
#include <libdl/state.h>
#include <libdl/statistics.h>
#include <libdl/stream.h>
#include <libdl/tensor.h>
#include <libdl/text.h>
#include <libdl/threads.h>
#include <libdl/view.h>
#include <libdl/view_copy.h>

#endif
