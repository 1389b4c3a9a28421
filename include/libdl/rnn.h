/* SPDX-License-Identifier: Apache-2.0 */

/** Recurrent networks over sequences, and their cells.
 *
 *  The parameters of a network are a flat list: for each layer, and within it for each direction
 *  (forward, then backward), the weights [gates hidden, features] of the input and [gates hidden,
 *  hidden] of the hidden state, with has_biases also the biases [gates hidden] of both and, for an
 *  LSTM with projections, the weight [projected, hidden]. The features of later layers are the
 *  outputs of the one before, both directions side by side.
 *
 *  A packed batch of sequences of different lengths is the matrix of all their steps: of the first
 *  step as many rows as there are sequences, then of the second as many as are that long, and so
 *  on; batch_sizes says how many each step has. The sequences are in order of falling length.
 */
#ifndef LIBDL_RNN_H
#define LIBDL_RNN_H

#include <libdl/abi.h>
#include <libdl/tensor.h>

LIBDL_BEGIN

/** Long short-term memory.
 *
 *  input          [steps, batch, features], or without a batch [steps, features]; floating
 *  hx             the hidden state [layers directions, batch, hidden] that the sequences begin with
 *                 (projected instead of hidden, if there are projections) and the cell state
 *                 [layers directions, batch, hidden]; without a batch, where input is
 *  params         the weights and biases of all layers, in the order described above
 *  has_biases     whether params has biases
 *  num_layers     how many layers; each is over the outputs of the one before
 *  dropout        from 0 to 1: the share of the outputs of all layers but the last that are set to
 *                 0, by the default generator, if train
 *  train          whether dropout applies
 *  bidirectional  whether each layer has a second direction, from the last step to the first
 *  batch_first    whether input and output are [batch, steps, ...]
 *  output         [steps, batch, directions size], the hidden states of the last layer (size:
 *                 hidden, or projected)
 *  hn             the hidden states after the last step of each sequence, as hx
 *  cn             the cell states, likewise
 *
 *  With s = sigmoid and sums W x + b + V h + b':
 *    i, f, o = s(sums),  g = tanh(sum),  in the order i, f, g, o
 *    c' = f c + i g,  h' = o tanh(c'),  or its product with the projection's weight
 *
 *  16-bit numbers are computed in float32, and the results are rounded once.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (also of a sequence without steps), DTYPE (not floating, or differing dtypes),
 *  VALUE (num_layers, dropout, or the number of tensors in a list).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
 *    batch_first) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lstm(
    const libdl_tensor *input, const libdl_tensor *const *hx, int64_t hx_count,
    const libdl_tensor *const *params, int64_t params_count, libdl_bool has_biases,
    int64_t num_layers, double dropout, libdl_bool train, libdl_bool bidirectional,
    libdl_bool batch_first, LIBDL_NEW libdl_tensor **output, LIBDL_NEW libdl_tensor **hn,
    LIBDL_NEW libdl_tensor **cn);

/** libdl_lstm over a packed batch.
 *
 *  data           [rows, features], floating
 *  batch_sizes    one number a step, none larger than the one before, the last > 0; their sum is
 *                 rows
 *  hx             the hidden state [layers directions, batch, hidden] that the sequences begin with
 *                 (projected instead of hidden, if there are projections) and the cell state
 *                 [layers directions, batch, hidden]
 *  params         the weights and biases of all layers, in the order described above
 *  has_biases     whether params has biases
 *  num_layers     how many layers; each is over the outputs of the one before
 *  dropout        from 0 to 1: the share of the outputs of all layers but the last that are set to
 *                 0, by the default generator, if train
 *  train          whether dropout applies
 *  bidirectional  whether each layer has a second direction, from the last step to the first
 *  output         [rows, directions size], the hidden states of the last layer (size:
 *                 hidden, or projected)
 *  hn             the hidden states after the last step of each sequence, as hx
 *  cn             the cell states, likewise
 *
 *  16-bit numbers are computed in float32, and the results are rounded once.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE, DTYPE (of an argument, or differing dtypes), VALUE (batch_sizes, num_layers,
 *  dropout, or the number of tensors in a list).
 *  Threads: concurrent-read.
 *  Autocast: state.
 *  Python: lstm_packed(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train,
 *    bidirectional) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lstm_packed(
    const libdl_tensor *data, const int64_t *batch_sizes, int32_t batch_sizes_count,
    const libdl_tensor *const *hx, int64_t hx_count, const libdl_tensor *const *params,
    int64_t params_count, libdl_bool has_biases, int64_t num_layers, double dropout,
    libdl_bool train, libdl_bool bidirectional, LIBDL_NEW libdl_tensor **output,
    LIBDL_NEW libdl_tensor **hn, LIBDL_NEW libdl_tensor **cn);

/** Gated recurrent units.
 *
 *  input          [steps, batch, features], or without a batch [steps, features]; floating
 *  hx             [layers directions, batch, hidden], the hidden state that sequences begin with;
 *                 without a batch, where input is
 *  params         the weights and biases of all layers, in the order described above
 *  has_biases     whether params has biases
 *  num_layers     how many layers; each is over the outputs of the one before
 *  dropout        from 0 to 1: the share of the outputs of all layers but the last that are set to
 *                 0, by the default generator, if train
 *  train          whether dropout applies
 *  bidirectional  whether each layer has a second direction, from the last step to the first
 *  batch_first    whether input and output are [batch, steps, ...]
 *  output         [steps, batch, directions hidden], the hidden states of the last layer
 *  hn             the hidden states after the last step of each sequence, as hx
 *
 *  With s = sigmoid and sums W x + b + V h + b':
 *    r, z = s(sums),  n = tanh(W x + b + r (V h + b')),  in the order r, z, n
 *    h' = (1 - z) n + z h
 *
 *  16-bit numbers are computed in float32, and the results are rounded once.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (also of a sequence without steps), DTYPE (not floating, or differing dtypes),
 *  VALUE (num_layers, dropout, or the number of tensors in a list).
 *  Threads: concurrent-read.
 *  Autocast: state.
 *  Python: gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
 *    batch_first) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gru(const libdl_tensor *input, const libdl_tensor *hx,
                                                 const libdl_tensor *const *params, int64_t count,
                                                 libdl_bool has_biases, int64_t num_layers,
                                                 double dropout, libdl_bool train,
                                                 libdl_bool bidirectional, libdl_bool batch_first,
                                                 LIBDL_NEW libdl_tensor **output,
                                                 LIBDL_NEW libdl_tensor **hn);

/** libdl_gru over a packed batch.
 *
 *  data           [rows, features], floating
 *  batch_sizes    one number a step, none larger than the one before, the last > 0; their sum is
 *                 rows
 *  hx             [layers directions, batch, hidden], the hidden state that sequences begin with
 *  params         the weights and biases of all layers, in the order described above
 *  has_biases     whether params has biases
 *  num_layers     how many layers; each is over the outputs of the one before
 *  dropout        from 0 to 1: the share of the outputs of all layers but the last that are set to
 *                 0, by the default generator, if train
 *  train          whether dropout applies
 *  bidirectional  whether each layer has a second direction, from the last step to the first
 *  output         [rows, directions hidden], the hidden states of the last layer
 *  hn             the hidden states after the last step of each sequence, as hx
 *
 *  16-bit numbers are computed in float32, and the results are rounded once.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE, DTYPE (of an argument, or differing dtypes), VALUE (batch_sizes, num_layers,
 *  dropout, or the number of tensors in a list).
 *  Threads: concurrent-read.
 *  Autocast: state.
 *  Python: gru_packed(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train,
 *    bidirectional) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gru_packed(
    const libdl_tensor *data, const int64_t *batch_sizes, int32_t batch_sizes_count,
    const libdl_tensor *hx, const libdl_tensor *const *params, int64_t count, libdl_bool has_biases,
    int64_t num_layers, double dropout, libdl_bool train, libdl_bool bidirectional,
    LIBDL_NEW libdl_tensor **output, LIBDL_NEW libdl_tensor **hn);

/** Elman network: h' = tanh(W x + b + V h + b').
 *
 *  input          [steps, batch, features], or without a batch [steps, features]; floating
 *  hx             [layers directions, batch, hidden], the hidden state that sequences begin with;
 *                 without a batch, where input is
 *  params         the weights and biases of all layers, in the order described above
 *  has_biases     whether params has biases
 *  num_layers     how many layers; each is over the outputs of the one before
 *  dropout        from 0 to 1: the share of the outputs of all layers but the last that are set to
 *                 0, by the default generator, if train
 *  train          whether dropout applies
 *  bidirectional  whether each layer has a second direction, from the last step to the first
 *  batch_first    whether input and output are [batch, steps, ...]
 *  output         [steps, batch, directions hidden], the hidden states of the last layer
 *  hn             the hidden states after the last step of each sequence, as hx
 *
 *  16-bit numbers are computed in float32, and the results are rounded once.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (also of a sequence without steps), DTYPE (not floating, or differing dtypes),
 *  VALUE (num_layers, dropout, or the number of tensors in a list).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
 *    batch_first) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rnn_tanh(
    const libdl_tensor *input, const libdl_tensor *hx, const libdl_tensor *const *params,
    int64_t count, libdl_bool has_biases, int64_t num_layers, double dropout, libdl_bool train,
    libdl_bool bidirectional, libdl_bool batch_first, LIBDL_NEW libdl_tensor **output,
    LIBDL_NEW libdl_tensor **hn);

/** libdl_rnn_tanh over a packed batch.
 *
 *  data           [rows, features], floating
 *  batch_sizes    one number a step, none larger than the one before, the last > 0; their sum is
 *                 rows
 *  hx             [layers directions, batch, hidden], the hidden state that sequences begin with
 *  params         the weights and biases of all layers, in the order described above
 *  has_biases     whether params has biases
 *  num_layers     how many layers; each is over the outputs of the one before
 *  dropout        from 0 to 1: the share of the outputs of all layers but the last that are set to
 *                 0, by the default generator, if train
 *  train          whether dropout applies
 *  bidirectional  whether each layer has a second direction, from the last step to the first
 *  output         [rows, directions hidden], the hidden states of the last layer
 *  hn             the hidden states after the last step of each sequence, as hx
 *
 *  16-bit numbers are computed in float32, and the results are rounded once.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE, DTYPE (of an argument, or differing dtypes), VALUE (batch_sizes, num_layers,
 *  dropout, or the number of tensors in a list).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: rnn_tanh_packed(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train,
 *    bidirectional) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rnn_tanh_packed(
    const libdl_tensor *data, const int64_t *batch_sizes, int32_t batch_sizes_count,
    const libdl_tensor *hx, const libdl_tensor *const *params, int64_t count, libdl_bool has_biases,
    int64_t num_layers, double dropout, libdl_bool train, libdl_bool bidirectional,
    LIBDL_NEW libdl_tensor **output, LIBDL_NEW libdl_tensor **hn);

/** Elman network: h' = relu(W x + b + V h + b').
 *
 *  input          [steps, batch, features], or without a batch [steps, features]; floating
 *  hx             [layers directions, batch, hidden], the hidden state that sequences begin with;
 *                 without a batch, where input is
 *  params         the weights and biases of all layers, in the order described above
 *  has_biases     whether params has biases
 *  num_layers     how many layers; each is over the outputs of the one before
 *  dropout        from 0 to 1: the share of the outputs of all layers but the last that are set to
 *                 0, by the default generator, if train
 *  train          whether dropout applies
 *  bidirectional  whether each layer has a second direction, from the last step to the first
 *  batch_first    whether input and output are [batch, steps, ...]
 *  output         [steps, batch, directions hidden], the hidden states of the last layer
 *  hn             the hidden states after the last step of each sequence, as hx
 *
 *  16-bit numbers are computed in float32, and the results are rounded once.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (also of a sequence without steps), DTYPE (not floating, or differing dtypes),
 *  VALUE (num_layers, dropout, or the number of tensors in a list).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
 *    batch_first) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rnn_relu(
    const libdl_tensor *input, const libdl_tensor *hx, const libdl_tensor *const *params,
    int64_t count, libdl_bool has_biases, int64_t num_layers, double dropout, libdl_bool train,
    libdl_bool bidirectional, libdl_bool batch_first, LIBDL_NEW libdl_tensor **output,
    LIBDL_NEW libdl_tensor **hn);

/** libdl_rnn_relu over a packed batch.
 *
 *  data           [rows, features], floating
 *  batch_sizes    one number a step, none larger than the one before, the last > 0; their sum is
 *                 rows
 *  hx             [layers directions, batch, hidden], the hidden state that sequences begin with
 *  params         the weights and biases of all layers, in the order described above
 *  has_biases     whether params has biases
 *  num_layers     how many layers; each is over the outputs of the one before
 *  dropout        from 0 to 1: the share of the outputs of all layers but the last that are set to
 *                 0, by the default generator, if train
 *  train          whether dropout applies
 *  bidirectional  whether each layer has a second direction, from the last step to the first
 *  output         [rows, directions hidden], the hidden states of the last layer
 *  hn             the hidden states after the last step of each sequence, as hx
 *
 *  16-bit numbers are computed in float32, and the results are rounded once.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE, DTYPE (of an argument, or differing dtypes), VALUE (batch_sizes, num_layers,
 *  dropout, or the number of tensors in a list).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: rnn_relu_packed(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train,
 *    bidirectional) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rnn_relu_packed(
    const libdl_tensor *data, const int64_t *batch_sizes, int32_t batch_sizes_count,
    const libdl_tensor *hx, const libdl_tensor *const *params, int64_t count, libdl_bool has_biases,
    int64_t num_layers, double dropout, libdl_bool train, libdl_bool bidirectional,
    LIBDL_NEW libdl_tensor **output, LIBDL_NEW libdl_tensor **hn);

/** One step of libdl_lstm.
 *
 *  input  [batch, features], or [features]; floating
 *  hx     two tensors [batch, hidden], or [hidden] where input is a vector: the hidden
 *         and the cell state
 *  w_ih   [4 hidden, features]
 *  w_hh   [4 hidden, hidden]
 *  b_ih   [4 hidden]; NULL: zeros
 *  b_hh   likewise
 *  h      the hidden state after the step
 *  c      the cell state after the step
 *
 *  16-bit numbers are computed in float32, and the results are rounded once.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE, DTYPE (not floating, or differing dtypes), VALUE (the number of tensors in
 *  hx).
 *  Threads: concurrent-read.
 *  Autocast: state.
 *  Python: lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lstm_cell(
    const libdl_tensor *input, const libdl_tensor *const *hx, int64_t count,
    const libdl_tensor *w_ih, const libdl_tensor *w_hh, LIBDL_NULLABLE const libdl_tensor *b_ih,
    LIBDL_NULLABLE const libdl_tensor *b_hh, LIBDL_NEW libdl_tensor **h,
    LIBDL_NEW libdl_tensor **c);

/** One step of libdl_gru.
 *
 *  input  [batch, features], or [features]; floating
 *  hx     the hidden state [batch, hidden], or [hidden] where input is a vector
 *  w_ih   [3 hidden, features]
 *  w_hh   [3 hidden, hidden]
 *  b_ih   [3 hidden]; NULL: zeros
 *  b_hh   likewise
 *  out    the hidden state after the step
 *
 *  16-bit numbers are computed in float32, and the results are rounded once.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE, DTYPE (not floating, or differing dtypes).
 *  Threads: concurrent-read.
 *  Autocast: state.
 *  Python: gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gru_cell(
    const libdl_tensor *input, const libdl_tensor *hx, const libdl_tensor *w_ih,
    const libdl_tensor *w_hh, LIBDL_NULLABLE const libdl_tensor *b_ih,
    LIBDL_NULLABLE const libdl_tensor *b_hh, LIBDL_NEW libdl_tensor **out);

/** One step of libdl_rnn_tanh.
 *
 *  input  [batch, features], or [features]; floating
 *  hx     the hidden state [batch, hidden], or [hidden] where input is a vector
 *  w_ih   [hidden, features]
 *  w_hh   [hidden, hidden]
 *  b_ih   [hidden]; NULL: zeros
 *  b_hh   likewise
 *  out    the hidden state after the step
 *
 *  16-bit numbers are computed in float32, and the results are rounded once.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE, DTYPE (not floating, or differing dtypes).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rnn_tanh_cell(
    const libdl_tensor *input, const libdl_tensor *hx, const libdl_tensor *w_ih,
    const libdl_tensor *w_hh, LIBDL_NULLABLE const libdl_tensor *b_ih,
    LIBDL_NULLABLE const libdl_tensor *b_hh, LIBDL_NEW libdl_tensor **out);

/** One step of libdl_rnn_relu.
 *
 *  input  [batch, features], or [features]; floating
 *  hx     the hidden state [batch, hidden], or [hidden] where input is a vector
 *  w_ih   [hidden, features]
 *  w_hh   [hidden, hidden]
 *  b_ih   [hidden]; NULL: zeros
 *  b_hh   likewise
 *  out    the hidden state after the step
 *
 *  16-bit numbers are computed in float32, and the results are rounded once.
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE, DTYPE (not floating, or differing dtypes).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None) [function]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_rnn_relu_cell(
    const libdl_tensor *input, const libdl_tensor *hx, const libdl_tensor *w_ih,
    const libdl_tensor *w_hh, LIBDL_NULLABLE const libdl_tensor *b_ih,
    LIBDL_NULLABLE const libdl_tensor *b_hh, LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
