// SPDX-License-Identifier: Apache-2.0

// The arguments of kernels: views and numbers, as plain C structs that backend plugins share. All
// checks are done beforehand; a kernel only computes.
#pragma once

#include "kernels/args/batch_norm.h"
#include "kernels/args/class_loss.h"
#include "kernels/args/convolution.h"
#include "kernels/args/copy.h"
#include "kernels/args/gather.h"
#include "kernels/args/image.h"
#include "kernels/args/index.h"
#include "kernels/args/layer_norm.h"
#include "kernels/args/lists.h"
#include "kernels/args/matmul.h"
#include "kernels/args/nonzero.h"
#include "kernels/args/optimizer.h"
#include "kernels/args/pointwise.h"
#include "kernels/args/pool.h"
#include "kernels/args/program.h"
#include "kernels/args/random.h"
#include "kernels/args/reduce.h"
#include "kernels/args/rnn.h"
#include "kernels/args/scan.h"
#include "kernels/args/softmax.h"
#include "kernels/args/sort.h"
#include "kernels/args/special.h"
#include "kernels/context.h"
#include "kernels/view.h"
