// SPDX-License-Identifier: Apache-2.0

// What SWIG makes of the public headers. A language's typemaps say how values pass; what they
// cannot say (callbacks, structs that own something) the language's folder writes by hand.
%module _C

#if defined(SWIGPYTHON)
%include "python/typemaps.i"
#endif

%rename("%(strip:[libdl_])s") "";

// Owned and released by the wrappers' own objects.
%rename("$ignore", regextarget = 1) "^libdl_.*_(retain|release)$";
%rename("$ignore", regextarget = 1) "^libdl_(error|number|tensor_list|hook|node|function)_.*";
%rename("$ignore", regextarget = 1) "^libdl_(saved_hooks|backward_context|interceptor)_.*";
%rename("$ignore", regextarget = 1) "^libdl_op_(call|call_into|register|set_kernel|set_vjp)$";
%rename("$ignore", regextarget = 1, fullname = 1) "^libdl_value";
%ignore libdl_device;
%ignore libdl_function;
%ignore libdl_saved_hooks;
%ignore libdl_backward_options;
%ignore libdl_backward;
%ignore libdl_grad;
%ignore libdl_history_beyond;
%ignore libdl_set_site_hook;
%ignore libdl_tensor_visit_contexts;
%ignore libdl_tensor_drop_hooks;
%ignore libdl_gradcheck;
%ignore libdl_gradcheck_options;
%ignore libdl_tensor_shape;
%ignore libdl_tensor_strides;
%ignore libdl_tensor_host_object;
%ignore libdl_tensor_set_host_object;
%ignore libdl_tensor_node;
%ignore libdl_tensor_add_hook;
%ignore libdl_tensor_become_view;
%ignore libdl_tensor_set_data;
%ignore libdl_tensor_set_grad;
%ignore libdl_forward_enter;
%ignore libdl_forward_unpack_dual;
%ignore libdl_forward_unpack_dual_at;

%rename("$ignore", regextarget = 1) "^libdl_(generator|state)_.*";
%ignore libdl_set_warning_handler;
%ignore libdl_set_log_handler;
%ignore libdl_executor;
%ignore libdl_set_executor;
%ignore libdl_set_interruption;
%ignore libdl_allocator;
%ignore libdl_memory_statistics;
%ignore libdl_memory_block;
%ignore libdl_memory_get_statistics;
%ignore libdl_memory_visit;
%ignore libdl_memory_set_allocator;
%ignore libdl_memory_set_pressure;
%ignore libdl_memory_get_live;

%include "libdl/abi.h"
%include "libdl/dtype.h"
%include "libdl/device.h"
%include "libdl/plugin.h"
%include "libdl/error.h"
%include "libdl/tensor.h"
%include "libdl/autograd.h"
%include "libdl/scope.h"
%include "libdl/memory.h"
%include "libdl/threads.h"
%include "libdl/state.h"
%include "libdl/op.h"
%include "libdl/creation.h"
%include "libdl/random.h"
%include "libdl/arithmetic.h"
%include "libdl/exponential.h"
%include "libdl/activation.h"
%include "libdl/rounding.h"
%include "libdl/comparison.h"
%include "libdl/bitwise.h"
%include "libdl/reduction.h"
%include "libdl/view.h"
%include "libdl/join.h"
%include "libdl/copy.h"
%include "libdl/linalg.h"
%include "libdl/indexing.h"
%include "libdl/nn.h"
%include "libdl/convolution.h"
%include "libdl/rnn.h"
%include "libdl/pooling.h"
%include "libdl/image.h"
%include "libdl/loss.h"
%include "libdl/dropout.h"
%include "libdl/distance.h"
%include "libdl/special.h"
%include "libdl/sampling.h"
%include "libdl/attention.h"
%include "libdl/sparse.h"
%include "libdl/numbers.h"
%include "libdl/arrangement.h"
%include "libdl/sequence.h"
%include "libdl/calculus.h"
%include "libdl/statistics.h"
%include "libdl/view_copy.h"
