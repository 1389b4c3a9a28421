// SPDX-License-Identifier: Apache-2.0

// Random numbers. Meaning and errors: include/libdl/random.h.
#pragma once

#include "ops/core/call.h"
#include "tensor/generator.h"

namespace libdl {

Tensor rand(Dims shape, Generator* generator, Dtype dtype, std::optional<Device> device,
            Into into = {});
Tensor randn(Dims shape, Generator* generator, Dtype dtype, std::optional<Device> device,
             Into into = {});
Tensor randint(std::optional<int64_t> low, int64_t high, Dims shape, Generator* generator,
               Dtype dtype, std::optional<Device> device, Into into = {});
Tensor randperm(int64_t n, Generator* generator, Dtype dtype, std::optional<Device> device,
                Into into = {});
Tensor rand_like(const Tensor& input, Generator* generator, Dtype dtype,
                 std::optional<Device> device);
Tensor randn_like(const Tensor& input, Generator* generator, Dtype dtype,
                  std::optional<Device> device);
Tensor randint_like(const Tensor& input, std::optional<int64_t> low, int64_t high,
                    Generator* generator, Dtype dtype, std::optional<Device> device);

Tensor bernoulli(const Tensor& input, std::optional<double> p, Generator* generator,
                 Into into = {});
Tensor bernoulli_fill(const Tensor& p, Generator* generator, Into into);
Tensor uniform(double low, double high, Generator* generator, Into into);
Tensor normal(double mean, double std, Generator* generator, Into into);

}  // namespace libdl
