// SPDX-License-Identifier: Apache-2.0

// The optimizers' rules for one element, once for every device: V is float, double or a vector of
// them. The formulas, and the order of operations, are those of torch.optim's functions over single
// tensors (_single_tensor_adam and so on); the papers are named at each rule.
//
// No include guard: the file is included inside the namespace of its user, once for each
// instruction set. The user defines LIBDL_UPDATE_RULE (how a function is declared) and, before the
// inclusion, constant<V>(double), which rounds to V's type, select(truth, a, b), square_root(V) and
// magnitude(V).

namespace update_rules {

template <class V>
struct Element {
  V param, grad, state[3];
};

template <class V>
LIBDL_UPDATE_RULE V maximum(V x, V y) {  // a NaN wins
  return select((y > x) | (y != y), y, x);
}

// mean moves towards x by `weight`; the form depends on it so that weight 1 gives x exactly.
template <class V>
struct Mean {
  bool near;
  V weight, rest;
  LIBDL_UPDATE_RULE explicit Mean(double w)
      : near(w < 0.5), weight(constant<V>(w)), rest(constant<V>(1 - w)) {}
  LIBDL_UPDATE_RULE V operator()(V mean, V x) const {
    return near ? mean + (x - mean) * weight : x - (x - mean) * rest;
  }
};

// The mean of squares, decaying by beta.
template <class V>
struct Squares {
  V beta, weight;
  LIBDL_UPDATE_RULE explicit Squares(double b) : beta(constant<V>(b)), weight(constant<V>(1 - b)) {}
  LIBDL_UPDATE_RULE V operator()(V mean, V x) const { return mean * beta + weight * x * x; }
};

// The gradient of what is minimised: with weight decay, which may also shrink the parameter apart
// from it (decoupled).
template <class V>
struct Gradient {
  bool maximize, decays, decoupled;
  V weight_decay, shrinking;
  LIBDL_UPDATE_RULE explicit Gradient(const OptimizerOptions& o)
      : maximize(o.maximize),
        decays(o.weight_decay != 0),
        decoupled(o.decoupled),
        weight_decay(constant<V>(o.weight_decay)),
        shrinking(constant<V>(1 - o.lr * o.weight_decay)) {}
  LIBDL_UPDATE_RULE V operator()(Element<V>& e) const {
    V g = maximize ? -e.grad : e.grad;
    if (!decays) return g;
    if (!decoupled) return g + e.param * weight_decay;
    e.param = e.param * shrinking;
    return g;
  }
};

// State: momentum.
template <class V>
struct Sgd {
  Gradient<V> gradient;
  V momentum, undamped, lr;
  bool has_momentum, first, nesterov;
  LIBDL_UPDATE_RULE explicit Sgd(const OptimizerOptions& o)
      : gradient(o),
        momentum(constant<V>(o.momentum)),
        undamped(constant<V>(1 - o.dampening)),
        lr(constant<V>(o.lr)),
        has_momentum(o.momentum != 0),
        first(o.first),
        nesterov(o.nesterov) {}
  LIBDL_UPDATE_RULE void operator()(Element<V>& e) const {
    V g = gradient(e);
    if (has_momentum) {
      const V m = first ? g : e.state[0] * momentum + g * undamped;
      e.state[0] = m;
      g = nesterov ? g + m * momentum : m;
    }
    e.param = e.param - g * lr;
  }
};

// Averaged stochastic gradient descent (Polyak and Juditsky 1992). State: the average.
template <class V>
struct Asgd {
  Gradient<V> gradient;
  V shrinking, rate, mu;
  bool averages;
  LIBDL_UPDATE_RULE explicit Asgd(const OptimizerOptions& o)
      : gradient(o),
        shrinking(constant<V>(1 - o.lambd * o.lr)),
        rate(constant<V>(-o.lr)),
        mu(constant<V>(o.mu)),
        averages(o.mu != 1) {}
  LIBDL_UPDATE_RULE void operator()(Element<V>& e) const {
    const V g = gradient(e);
    e.param = e.param * shrinking + g * rate;
    e.state[0] = averages ? e.state[0] + (e.param - e.state[0]) * mu : e.param;
  }
};

// Adam (Kingma and Ba 2015), AMSGrad (Reddi et al. 2018), AdamW (Loshchilov and Hutter 2019).
// State: means of the gradient and of its square, and the largest of the latter.
template <class V>
struct Adam {
  Gradient<V> gradient;
  Mean<V> mean;
  V beta2, weight2, root_bias2, eps, rate;
  bool amsgrad;
  LIBDL_UPDATE_RULE explicit Adam(const OptimizerOptions& o)
      : gradient(o),
        mean(1 - o.beta1),
        beta2(constant<V>(o.beta2)),
        weight2(constant<V>(1 - o.beta2)),
        root_bias2(constant<V>(::sqrt(o.bias2))),
        eps(constant<V>(o.eps)),
        rate(constant<V>(o.lr / o.bias1)),
        amsgrad(o.amsgrad) {}
  LIBDL_UPDATE_RULE void operator()(Element<V>& e) const {
    const V g = gradient(e);
    const V m = e.state[0] = mean(e.state[0], g);
    V v = e.state[1] = e.state[1] * beta2 + g * g * weight2;
    if (amsgrad) v = e.state[2] = maximum(e.state[2], v);
    e.param = e.param - m / (square_root(v) / root_bias2 + eps) * rate;
  }
};

// Adamax (Kingma and Ba 2015). State: the mean of the gradient, and its decaying largest size.
template <class V>
struct Adamax {
  Gradient<V> gradient;
  Mean<V> mean;
  V beta2, eps, rate;
  LIBDL_UPDATE_RULE explicit Adamax(const OptimizerOptions& o)
      : gradient(o),
        mean(1 - o.beta1),
        beta2(constant<V>(o.beta2)),
        eps(constant<V>(o.eps)),
        rate(constant<V>(-(o.lr / o.bias1))) {}
  LIBDL_UPDATE_RULE void operator()(Element<V>& e) const {
    const V g = gradient(e);
    e.state[0] = mean(e.state[0], g);
    e.state[1] = maximum(e.state[1] * beta2, magnitude(g) + eps);
    e.param = e.param + rate * e.state[0] / e.state[1];
  }
};

// Adam with Nesterov's momentum (Dozat 2016). State: as Adam's.
template <class V>
struct Nadam {
  Gradient<V> gradient;
  Mean<V> mean;
  Squares<V> squares;
  V bias2, eps, grad_rate, mean_rate;
  LIBDL_UPDATE_RULE explicit Nadam(const OptimizerOptions& o)
      : gradient(o),
        mean(1 - o.beta1),
        squares(o.beta2),
        bias2(constant<V>(o.bias2)),
        eps(constant<V>(o.eps)),
        grad_rate(constant<V>(-o.grad_rate)),
        mean_rate(constant<V>(-o.mean_rate)) {}
  LIBDL_UPDATE_RULE void operator()(Element<V>& e) const {
    const V g = gradient(e);
    e.state[0] = mean(e.state[0], g);
    e.state[1] = squares(e.state[1], g);
    const V denominator = square_root(e.state[1] / bias2) + eps;
    e.param = e.param + grad_rate * g / denominator + mean_rate * e.state[0] / denominator;
  }
};

// Rectified Adam (Liu et al. 2020). State: as Adam's.
template <class V>
struct Radam {
  Gradient<V> gradient;
  Mean<V> mean;
  Squares<V> squares;
  V bias1, root_bias2, eps, lr, rectification;
  bool is_adaptive;
  LIBDL_UPDATE_RULE explicit Radam(const OptimizerOptions& o)
      : gradient(o),
        mean(1 - o.beta1),
        squares(o.beta2),
        bias1(constant<V>(o.bias1)),
        root_bias2(constant<V>(::sqrt(o.bias2))),
        eps(constant<V>(o.eps)),
        lr(constant<V>(o.lr)),
        rectification(constant<V>(o.rectification)),
        is_adaptive(o.rectification != 0) {}
  LIBDL_UPDATE_RULE void operator()(Element<V>& e) const {
    const V g = gradient(e);
    e.state[0] = mean(e.state[0], g);
    e.state[1] = squares(e.state[1], g);
    V step = e.state[0] / bias1 * lr;
    if (is_adaptive) step = step * (root_bias2 / (square_root(e.state[1]) + eps)) * rectification;
    e.param = e.param - step;
  }
};

// Adagrad (Duchi, Hazan and Singer 2011). State: the sum of squares.
template <class V>
struct Adagrad {
  Gradient<V> gradient;
  V eps, rate;
  LIBDL_UPDATE_RULE explicit Adagrad(const OptimizerOptions& o)
      : gradient(o), eps(constant<V>(o.eps)), rate(constant<V>(-o.lr)) {}
  LIBDL_UPDATE_RULE void operator()(Element<V>& e) const {
    const V g = gradient(e);
    e.state[0] = e.state[0] + g * g;
    e.param = e.param + rate * g / (square_root(e.state[0]) + eps);
  }
};

// Adadelta (Zeiler 2012). State: the means of the squares of gradients and of steps.
template <class V>
struct Adadelta {
  Gradient<V> gradient;
  Squares<V> squares;
  V eps, rate;
  LIBDL_UPDATE_RULE explicit Adadelta(const OptimizerOptions& o)
      : gradient(o), squares(o.rho), eps(constant<V>(o.eps)), rate(constant<V>(-o.lr)) {}
  LIBDL_UPDATE_RULE void operator()(Element<V>& e) const {
    const V g = gradient(e);
    e.state[0] = squares(e.state[0], g);
    const V step = square_root(e.state[1] + eps) / square_root(e.state[0] + eps) * g;
    e.state[1] = squares(e.state[1], step);
    e.param = e.param + step * rate;
  }
};

// RMSprop (Hinton, Srivastava and Swersky 2012, lecture 6), centered by Graves (2013). State: the
// mean of squares, the momentum, and the mean of gradients.
template <class V>
struct Rmsprop {
  Gradient<V> gradient;
  Squares<V> squares;
  Mean<V> mean;
  V eps, rate, momentum;
  bool has_momentum, centered;
  LIBDL_UPDATE_RULE explicit Rmsprop(const OptimizerOptions& o)
      : gradient(o),
        squares(o.rho),
        mean(1 - o.rho),
        eps(constant<V>(o.eps)),
        rate(constant<V>(-o.lr)),
        momentum(constant<V>(o.momentum)),
        has_momentum(o.momentum > 0),
        centered(o.centered) {}
  LIBDL_UPDATE_RULE void operator()(Element<V>& e) const {
    const V g = gradient(e);
    V variance = e.state[0] = squares(e.state[0], g);
    if (centered) {
      e.state[2] = mean(e.state[2], g);
      variance = variance - e.state[2] * e.state[2];
    }
    const V size = square_root(variance) + eps;
    if (has_momentum) {
      e.state[1] = e.state[1] * momentum + g / size;
      e.param = e.param + e.state[1] * rate;
    } else {
      e.param = e.param + rate * g / size;
    }
  }
};

// Resilient backpropagation (Riedmiller and Braun 1993), without backtracking. State: the last
// gradient, 0 where the sign changed, and the step size. A NaN takes no step.
template <class V>
struct Rprop {
  bool maximize;
  V etaminus, etaplus, least, most, zero, one;
  LIBDL_UPDATE_RULE explicit Rprop(const OptimizerOptions& o)
      : maximize(o.maximize),
        etaminus(constant<V>(o.etaminus)),
        etaplus(constant<V>(o.etaplus)),
        least(constant<V>(o.step_size_min)),
        most(constant<V>(o.step_size_max)),
        zero(constant<V>(0)),
        one(constant<V>(1)) {}
  LIBDL_UPDATE_RULE void operator()(Element<V>& e) const {
    V g = maximize ? -e.grad : e.grad;
    const V agreement = g * e.state[0];
    V size =
        e.state[1] * select(agreement > zero, etaplus, select(agreement < zero, etaminus, one));
    size = select(size < least, least, size);
    size = e.state[1] = select(size > most, most, size);
    g = e.state[0] = select(agreement < zero, zero, g);
    e.param = e.param - select(g > zero, one, select(g < zero, -one, zero)) * size;
  }
};

}  // namespace update_rules
