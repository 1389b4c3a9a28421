// SPDX-License-Identifier: Apache-2.0

// Distributions that need rejection or logarithms, one element at a time, for the host. An element
// owns one block of Philox (kernels/philox.h), whose further attempts number its further draws.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/normal.h"
#include "kernels/philox.h"
#include "kernels/special.h"

namespace libdl::kernels {

class ElementDraws {
 public:
  ElementDraws(uint64_t key, uint64_t counter) : key_(key), counter_(counter) {}
  // In (0, 1), in steps of 2^-53.
  double unit() { return centre() + 0.5; }
  double normal() { return normal_quantile(centre()); }

 private:
  double centre() {
    if (left_ == 0) block_ = philox(key_, counter_, attempt_++), left_ = 2;
    const int at = 2 * (2 - left_--);
    return centred(uint64_t{block_.word[at]} | uint64_t{block_.word[at + 1]} << 32);
  }
  uint64_t key_, counter_, attempt_ = 0;
  PhiloxBlock block_{};
  int left_ = 0;
};

inline double draw_exponential(ElementDraws& draws, double rate) {
  return -std::log(draws.unit()) / rate;
}

inline double draw_geometric(ElementDraws& draws, double p) {
  return std::fmax(1.0, std::ceil(std::log(draws.unit()) / std::log1p(-p)));
}

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000). Below 1 the number
// for alpha + 1 is multiplied by u^(1 / alpha).
inline double draw_gamma(ElementDraws& draws, double alpha) {
  if (alpha < 1) {
    const double u = draws.unit();
    return draw_gamma(draws, alpha + 1) * std::exp(std::log(u) / alpha);
  }
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = draws.normal(), u = draws.unit(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) return d * v;
  }
}

// Its logarithm, of which nothing underflows however small alpha is.
inline double draw_log_gamma(ElementDraws& draws, double alpha) {
  if (!(alpha < 1)) return std::log(draw_gamma(draws, alpha));
  const double u = draws.unit();
  return std::log(draw_gamma(draws, alpha + 1)) + std::log(u) / alpha;
}

// Below 10 uniform numbers are multiplied until e^-mean; above, Hörmann's transformed rejection,
// "The transformed rejection method for generating Poisson random variables" (1993), PTRS.
inline double draw_poisson(ElementDraws& draws, double mean) {
  if (mean == 0) return 0;
  if (mean < 10) {
    const double limit = std::exp(-mean);
    double product = draws.unit(), count = 0;
    for (; product > limit; ++count) product *= draws.unit();
    return count;
  }
  const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = draws.unit() - 0.5, v = draws.unit(), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <=
        k * std::log(mean) - mean - special::lgamma(k + 1))
      return k;
  }
}

// Few successes: the waiting times for them are added up. Else Hörmann's transformed rejection,
// "The generation of binomial random variates" (1993), BTRS.
inline double draw_binomial(ElementDraws& draws, double count, double p) {
  if (count < 1 || p <= 0) return 0;
  if (p > 0.5) return count - draw_binomial(draws, count, 1 - p);
  if (count * p < 10) {
    const double scale = std::log1p(-p);
    double trials = 0, successes = -1;
    for (; trials <= count; ++successes)
      trials += std::fmax(1.0, std::ceil(std::log(draws.unit()) / scale));
    return successes;
  }
  const double spread = std::sqrt(count * p * (1 - p)), b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5;
  const double v_r = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread, odds = p / (1 - p);
  const double mode = std::floor((count + 1) * p);
  const auto log_factorial = [](double n) { return special::lgamma(n + 1); };
  for (;;) {
    const double u = draws.unit() - 0.5, v = draws.unit(), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (k < 0 || k > count) continue;
    if (us >= 0.07 && v <= v_r) return k;
    if (std::log(v * alpha / (a / (us * us) + b)) <=
        log_factorial(mode) + log_factorial(count - mode) - log_factorial(k) -
            log_factorial(count - k) + (k - mode) * std::log(odds))
      return k;
  }
}

// d log(x)/dalpha of a gamma number x at a fixed quantile, -(dP/dalpha) / density / x, by the
// series
//   P = x^alpha e^-x sum of x^k / Gamma(alpha + k + 1),
// and for large alpha by the first terms of Cornish and Fisher's expansion of the quantile.
inline double log_gamma_derivative(double alpha, double log_x) {
  const double x = std::exp(log_x);
  if (alpha > 1e4) {
    const double root = std::sqrt(alpha);
    double w = (x - alpha) / root;
    for (int k = 0; k < 3; ++k)  // x = alpha + w root + (w^2 - 1) / 3 + ...
      w = (x - alpha - (w * w - 1) / 3 - (w * w * w - 7 * w) / (36 * root)) / root;
    return (1 + w / (2 * root) - (w * w * w - 7 * w) / (72 * alpha * root)) / x;
  }
  double term = 1 / alpha, psi = special::digamma(alpha + 1), sum = 0, size = 0;
  for (int k = 0; k < 100000; ++k) {
    const double part = term * (psi - log_x);
    sum += part;
    size = std::fmax(size, std::fabs(sum));
    if (k > x && std::fabs(part) < 1e-17 * size) break;
    psi += 1 / (alpha + k + 1);
    term *= x / (alpha + k + 1);
  }
  return sum;
}

}  // namespace libdl::kernels
