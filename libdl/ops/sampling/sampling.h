// SPDX-License-Identifier: Apache-2.0

// Distributions that need rejection or logarithms. Meaning and errors: include/libdl/sampling.h.
#pragma once

#include "ops/core/call.h"
#include "tensor/generator.h"

namespace libdl {

Tensor multinomial(const Tensor& input, int64_t num_samples, bool replacement,
                   Generator* generator);
Tensor poisson(const Tensor& input, Generator* generator);
Tensor binomial(const Tensor& count, const Tensor& prob, Generator* generator);
Tensor standard_gamma(const Tensor& input, Generator* generator);
Tensor standard_log_gamma(const Tensor& input, Generator* generator);

Tensor exponential(double lambd, Generator* generator, Into into);
Tensor geometric(double p, Generator* generator, Into into);
Tensor cauchy(double median, double sigma, Generator* generator, Into into);
Tensor log_normal(double mean, double std, Generator* generator, Into into);

}  // namespace libdl
