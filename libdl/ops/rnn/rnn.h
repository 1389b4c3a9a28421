// SPDX-License-Identifier: Apache-2.0

// Meaning and errors: include/libdl/rnn.h.
#pragma once

#include "ops/core/call.h"

namespace libdl {

using LstmResult = std::tuple<Tensor, Tensor, Tensor>;
LstmResult lstm(const Tensor& input, TensorSpan hx, TensorSpan params, bool has_biases,
                int64_t num_layers, double dropout, bool train, bool bidirectional,
                bool batch_first);
LstmResult lstm_packed(const Tensor& data, Dims batch_sizes, TensorSpan hx, TensorSpan params,
                       bool has_biases, int64_t num_layers, double dropout, bool train,
                       bool bidirectional);

using RnnResult = std::tuple<Tensor, Tensor>;
RnnResult gru(const Tensor& input, const Tensor& hx, TensorSpan params, bool has_biases,
              int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first);
RnnResult gru_packed(const Tensor& data, Dims batch_sizes, const Tensor& hx, TensorSpan params,
                     bool has_biases, int64_t num_layers, double dropout, bool train,
                     bool bidirectional);
RnnResult rnn_tanh(const Tensor& input, const Tensor& hx, TensorSpan params, bool has_biases,
                   int64_t num_layers, double dropout, bool train, bool bidirectional,
                   bool batch_first);
RnnResult rnn_tanh_packed(const Tensor& data, Dims batch_sizes, const Tensor& hx, TensorSpan params,
                          bool has_biases, int64_t num_layers, double dropout, bool train,
                          bool bidirectional);
RnnResult rnn_relu(const Tensor& input, const Tensor& hx, TensorSpan params, bool has_biases,
                   int64_t num_layers, double dropout, bool train, bool bidirectional,
                   bool batch_first);
RnnResult rnn_relu_packed(const Tensor& data, Dims batch_sizes, const Tensor& hx, TensorSpan params,
                          bool has_biases, int64_t num_layers, double dropout, bool train,
                          bool bidirectional);

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorSpan hx, const Tensor& w_ih,
                                     const Tensor& w_hh, const Tensor* b_ih, const Tensor* b_hh);
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor* b_ih, const Tensor* b_hh);
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor* b_ih, const Tensor* b_hh);
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor* b_ih, const Tensor* b_hh);

}  // namespace libdl
