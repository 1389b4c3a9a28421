// SPDX-License-Identifier: Apache-2.0

// The steps of the optimizers beside SGD and Adam.
#include <libdl/optim.h>

#include "steps.h"

// One of libdl's steps, with its options and lists.
typedef libdl_error* (*Call)(const void* options, Operands* lists);

static PyObject* take(Call call, const void* options, PyObject* const* objects, int count) {
  Operands lists[kLists] = {0};
  const bool read = read_lists(objects, lists, count) == 0;
  libdl_error* error = NULL;
  if (read) {
    PyThreadState* const thread = leave_python();
    error = call(options, lists);
    enter_python(thread);
  }
  return finish_step(error, lists, read);
}

static libdl_error* call_sparse_adam(const void* options, Operands* lists) {
  return libdl_sparse_adam_step(options, WRITES(lists[0]), READS(lists[1]), WRITES(lists[2]),
                                WRITES(lists[3]));
}
// sparse_adam_step(params, grads, exp_avgs, exp_avg_sqs, lr, beta1, beta2, eps, step, maximize)
static PyObject* sparse_adam_step(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* objects[4];
  libdl_sparse_adam_options o = {.struct_size = sizeof o};
  long long step;
  if (!PyArg_ParseTuple(args, "OOOOddddLp", &objects[0], &objects[1], &objects[2], &objects[3],
                        &o.lr, &o.beta1, &o.beta2, &o.eps, &step, &o.maximize))
    return NULL;
  o.step = step;
  return take(call_sparse_adam, &o, objects, 4);
}

static libdl_error* call_adamax(const void* options, Operands* lists) {
  return libdl_adamax_step(options, WRITES(lists[0]), READS(lists[1]), WRITES(lists[2]),
                           WRITES(lists[3]));
}
// adamax_step(params, grads, exp_avgs, exp_infs, lr, beta1, beta2, eps, weight_decay, step,
//     maximize)
static PyObject* adamax_step(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* objects[4];
  libdl_adamax_options o = {.struct_size = sizeof o};
  long long step;
  if (!PyArg_ParseTuple(args, "OOOOdddddLp", &objects[0], &objects[1], &objects[2], &objects[3],
                        &o.lr, &o.beta1, &o.beta2, &o.eps, &o.weight_decay, &step, &o.maximize))
    return NULL;
  o.step = step;
  return take(call_adamax, &o, objects, 4);
}

static libdl_error* call_nadam(const void* options, Operands* lists) {
  return libdl_nadam_step(options, WRITES(lists[0]), READS(lists[1]), WRITES(lists[2]),
                          WRITES(lists[3]));
}
// nadam_step(params, grads, exp_avgs, exp_avg_sqs, lr, beta1, beta2, eps, weight_decay,
//     momentum_decay, mu_product, step, decoupled, maximize)
static PyObject* nadam_step(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* objects[4];
  libdl_nadam_options o = {.struct_size = sizeof o};
  long long step;
  if (!PyArg_ParseTuple(args, "OOOOdddddddLpp", &objects[0], &objects[1], &objects[2], &objects[3],
                        &o.lr, &o.beta1, &o.beta2, &o.eps, &o.weight_decay, &o.momentum_decay,
                        &o.mu_product, &step, &o.decoupled, &o.maximize))
    return NULL;
  o.step = step;
  return take(call_nadam, &o, objects, 4);
}

static libdl_error* call_radam(const void* options, Operands* lists) {
  return libdl_radam_step(options, WRITES(lists[0]), READS(lists[1]), WRITES(lists[2]),
                          WRITES(lists[3]));
}
// radam_step(params, grads, exp_avgs, exp_avg_sqs, lr, beta1, beta2, eps, weight_decay, step,
//     decoupled, maximize)
static PyObject* radam_step(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* objects[4];
  libdl_radam_options o = {.struct_size = sizeof o};
  long long step;
  if (!PyArg_ParseTuple(args, "OOOOdddddLpp", &objects[0], &objects[1], &objects[2], &objects[3],
                        &o.lr, &o.beta1, &o.beta2, &o.eps, &o.weight_decay, &step, &o.decoupled,
                        &o.maximize))
    return NULL;
  o.step = step;
  return take(call_radam, &o, objects, 4);
}

static libdl_error* call_adagrad(const void* options, Operands* lists) {
  return libdl_adagrad_step(options, WRITES(lists[0]), READS(lists[1]), WRITES(lists[2]));
}
// adagrad_step(params, grads, sums, lr, lr_decay, weight_decay, eps, step, maximize)
static PyObject* adagrad_step(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* objects[3];
  libdl_adagrad_options o = {.struct_size = sizeof o};
  long long step;
  if (!PyArg_ParseTuple(args, "OOOddddLp", &objects[0], &objects[1], &objects[2], &o.lr,
                        &o.lr_decay, &o.weight_decay, &o.eps, &step, &o.maximize))
    return NULL;
  o.step = step;
  return take(call_adagrad, &o, objects, 3);
}

static libdl_error* call_adadelta(const void* options, Operands* lists) {
  return libdl_adadelta_step(options, WRITES(lists[0]), READS(lists[1]), WRITES(lists[2]),
                             WRITES(lists[3]));
}
// adadelta_step(params, grads, squares, deltas, lr, rho, eps, weight_decay, maximize)
static PyObject* adadelta_step(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* objects[4];
  libdl_adadelta_options o = {.struct_size = sizeof o};
  if (!PyArg_ParseTuple(args, "OOOOddddp", &objects[0], &objects[1], &objects[2], &objects[3],
                        &o.lr, &o.rho, &o.eps, &o.weight_decay, &o.maximize))
    return NULL;
  return take(call_adadelta, &o, objects, 4);
}

static libdl_error* call_asgd(const void* options, Operands* lists) {
  return libdl_asgd_step(options, WRITES(lists[0]), READS(lists[1]), WRITES(lists[2]));
}
// asgd_step(params, grads, averages, lr, lambd, alpha, t0, weight_decay, eta, mu, step,
//     maximize)
static PyObject* asgd_step(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* objects[3];
  libdl_asgd_options o = {.struct_size = sizeof o};
  long long step;
  if (!PyArg_ParseTuple(args, "OOOdddddddLp", &objects[0], &objects[1], &objects[2], &o.lr,
                        &o.lambd, &o.alpha, &o.t0, &o.weight_decay, &o.eta, &o.mu, &step,
                        &o.maximize))
    return NULL;
  o.step = step;
  return take(call_asgd, &o, objects, 3);
}

static libdl_error* call_rmsprop(const void* options, Operands* lists) {
  return libdl_rmsprop_step(options, WRITES(lists[0]), READS(lists[1]), WRITES(lists[2]),
                            WRITES_IF_ANY(lists[3]), WRITES_IF_ANY(lists[4]));
}
// rmsprop_step(params, grads, squares, momenta, means, lr, alpha, eps, weight_decay, momentum,
//     centered, maximize)
static PyObject* rmsprop_step(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* objects[5];
  libdl_rmsprop_options o = {.struct_size = sizeof o};
  if (!PyArg_ParseTuple(args, "OOOOOdddddpp", &objects[0], &objects[1], &objects[2], &objects[3],
                        &objects[4], &o.lr, &o.alpha, &o.eps, &o.weight_decay, &o.momentum,
                        &o.centered, &o.maximize))
    return NULL;
  return take(call_rmsprop, &o, objects, 5);
}

static libdl_error* call_rprop(const void* options, Operands* lists) {
  return libdl_rprop_step(options, WRITES(lists[0]), READS(lists[1]), WRITES(lists[2]),
                          WRITES(lists[3]));
}
// rprop_step(params, grads, prevs, step_sizes, etaminus, etaplus, step_size_min, step_size_max,
//     maximize)
static PyObject* rprop_step(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* objects[4];
  libdl_rprop_options o = {.struct_size = sizeof o};
  if (!PyArg_ParseTuple(args, "OOOOddddp", &objects[0], &objects[1], &objects[2], &objects[3],
                        &o.etaminus, &o.etaplus, &o.step_size_min, &o.step_size_max, &o.maximize))
    return NULL;
  return take(call_rprop, &o, objects, 4);
}

static PyMethodDef functions[] = {
    {"sparse_adam_step", sparse_adam_step, METH_VARARGS, NULL},
    {"adamax_step", adamax_step, METH_VARARGS, NULL},
    {"nadam_step", nadam_step, METH_VARARGS, NULL},
    {"radam_step", radam_step, METH_VARARGS, NULL},
    {"adagrad_step", adagrad_step, METH_VARARGS, NULL},
    {"adadelta_step", adadelta_step, METH_VARARGS, NULL},
    {"asgd_step", asgd_step, METH_VARARGS, NULL},
    {"rmsprop_step", rmsprop_step, METH_VARARGS, NULL},
    {"rprop_step", rprop_step, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int add_adaptive_steps(PyObject* module) { return PyModule_AddFunctions(module, functions); }
