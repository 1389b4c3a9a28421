# SPDX-License-Identifier: Apache-2.0
"""Arguments in sequences, for the functions that want what other calls or the host made before.

Words as in tests/attack/valid_arguments.py, and besides: h:KIND a live handle of the sequence, made first
where there is none; out:KIND a place for a new one; fn:, made:, at: and fixture what host_fixtures.h has;
op:? an operator's number; '~' before a word: one of them or the next, with even chances.
"""

from __future__ import annotations

_FIXTURE = ["fixture", "fn:fixture_destroy"]
_TENSORS = "list:t:f64:2,3#a|t:f64:2,3#b"
_FRESH = "list:!t:f64:2,3#a|!t:f64:2,3#b"
_MANAGED, _OLD = "h:dlpack", "h:dlpack_old"

# Good words, one list a parameter; a list instead of a word: any of them.
CALLS: dict[str, list] = {
    "libdl_error_new": ["i:100", "s:a message", "i:-1", *_FIXTURE],
    "libdl_error_retain": ["h:error"],
    "libdl_tensor_add_hook": ["leaf:f64:2,3", "i:0", ["fn:hook_passes", "fn:hook_replaces",
                              "fn:hook_fails"], *_FIXTURE, "out:hook"],
    "libdl_node_add_hook": ["h:node", ["i:1", "i:2"], ["fn:hook_passes", "fn:hook_fails"], *_FIXTURE,
                            "out:hook"],
    "libdl_tensor_visit_contexts": ["t:f64:2,3", "fn:fixture_destroy", "fn:visit_context", "null"],
    "libdl_tensor_drop_hooks": ["t:f64:2,3", "fn:fixture_destroy"],
    "libdl_tensor_alias_data": ["t:f64:2,3", "out:tensor"],
    "libdl_saved_hooks_push": ["made:saved_hooks_of"],
    "libdl_saved_hooks_pop": [],
    "libdl_function_record": ["made:function_of", "list:leaf:f64:2,3", "i:1", "list:!t:f64:2,3",
                              "i:1", "null", "list:t:f64:2,3", "i:1", "out:plain"],
    "libdl_backward_context_saved": ["null", "i:0", "out:tensor"],
    "libdl_backward_context_zeros": ["null", "i:0", "out:tensor"],
    "libdl_backward_context_needs": ["null", "i:0"],
    "libdl_forward_enter": ["out:plain"],
    "libdl_forward_exit": [],
    "libdl_forward_make_dual": ["t:f64:2,3", "t:f64:2,3", "out:tensor"],
    "libdl_forward_unpack_dual": ["t:f64:2,3", "out:tensor", "out:tensor"],
    "libdl_forward_level": [["i:0", "i:1", "i:2"]],
    "libdl_forward_make_dual_at": ["t:f64:2,3", "t:f64:2,3", "at:forward_level", "out:tensor"],
    "libdl_forward_unpack_dual_at": ["t:f64:2,3", "at:forward_level", "out:tensor", "out:tensor"],
    "libdl_forward_set_tangent": ["!t:f64:2,3", ["t:f64:2,3", "null"], "at:forward_level"],
    "libdl_history_beyond": [["list:loss:x", "list:custom:x"], "i:1", "list:leaf:f64:2,3", "i:1"],
    "libdl_gradcheck": ["fn:square", *_FIXTURE, "list:leaf:f64:2", "i:1", "i:1",
                        ["null", "at:second_order"]],
    "libdl_set_site_hook": ["fn:tell_site", *_FIXTURE],
    "libdl_backward": [["list:loss:x", "list:custom:x"], "i:1", "null", "i:0", "null", "i:0",
                       ["null", "at:retain_graph", "at:create_graph"]],
    "libdl_grad": [["list:loss:x", "list:custom:x"], "i:1", "list:leaf:f64:2,3", "i:1", "null",
                   "i:0", ["at:retain_graph", "at:create_graph"], "out:list"],
    "libdl_tensor_to_dlpack": ["t:f64:2,3", "null", "out:dlpack"],
    "libdl_tensor_to_dlpack_unversioned": ["t:f64:2,3", "null", "out:dlpack_old"],
    "libdl_tensor_from_dlpack": [_MANAGED, ["i:0", "i:1", "i:2"], "out:tensor"],
    "libdl_tensor_from_dlpack_unversioned": [_OLD, ["i:0", "i:1", "i:2"], "out:tensor"],
    "libdl_tensor_borrow_dlpack": ["t:f64:2,3", ["i:1", "i:2"], "out:plain"],
    "libdl_dlpack_allocate": ["at:prototype", "out:dlpack"],
    "libdl_tensor_from_memory": ["at:buffer", "i:48", "ints:2,3", "i:2", "null", "i:0", "i:0",
                                 "i:13", "i:0", *_FIXTURE, "out:tensor"],
    "libdl_file_open": ["at:file_path", "i:-1", "null", "out:file"],
    "libdl_file_open_descriptor": ["descriptor", "null", "out:file"],
    "libdl_file_open_memory": ["at:file_bytes", "i:90", "null", *_FIXTURE, "out:file"],
    "libdl_file_save": ["s:saved.safetensors", "i:-1", "list:s:a|s:b", _TENSORS, "i:2", "null",
                        "null", "i:0"],
    "libdl_file_tensor": ["h:file", "i:0", "out:tensor"],
    "libdl_file_tensor_by_name": ["h:file", "s:a", "i:1", "out:tensor"],
    "libdl_memory_set_limit": [["i:33554432", "i:1048576", "i:1"]],
    "libdl_memory_set_allocator": ["at:allocator"],
    "libdl_memory_set_pressure": ["fn:under_pressure", *_FIXTURE],
    "libdl_memory_visit": ["dev:1,0", ["fn:visit", "fn:visit_fails"], *_FIXTURE],
    "libdl_op_call": ["op:call", "values", "count", "results", "count"],
    "libdl_op_call_into": ["op:into", "values", "count", "dsts", "count"],
    "libdl_op_argument_get_default": ["op:clamp", "i:1", "result"],
    "libdl_op_register": ["schema", "i:-1", "out:op"],
    "libdl_op_set_kernel": ["h:op", "i:1", "fn:twice", "null", "null"],
    "libdl_op_set_vjp": ["h:op", "fn:twice_vjp", "null", "null"],
    "libdl_op_set_jvp": ["h:op", "fn:twice_jvp", "null", "null"],
    "libdl_interceptor_push": [["fn:look_on", "fn:look_on", "fn:intercept_fails"], *_FIXTURE],
    "libdl_interceptor_push_options": ["made:onlooker_of"],
    "libdl_interceptor_pop": [],
    "libdl_sgd_step": ["at:sgd", _FRESH, "i:2", _TENSORS, "i:2", "null", "i:0"],
    "libdl_adam_step": ["at:adam", _FRESH, "i:2", _TENSORS, "i:2", "list:!t:f64:2,3#m|!t:f64:2,3#n",
                        "i:2", "list:!t:f64:2,3#v|!t:f64:2,3#w", "i:2", "null", "i:0"],
    "libdl_scope_push": [],
    "libdl_scope_push_owner": [],
    "libdl_scope_return": ["null", "h:tensor", "out:tensor"],
    "libdl_scope_pop": [],
    "libdl_scope_keep": ["h:tensor"],
    "libdl_state_swap": [["h:state", "null"], "out:plain"],
    "libdl_generator_set_default": [["gen", "null"]],
    "libdl_generator_set_state": ["gen", "at:generator_state", "i:24"],
    "libdl_check_abi": ["i:0", "i:1"],
    "libdl_set_warning_handler": ["fn:take_warning", *_FIXTURE],
    "libdl_set_log_handler": ["fn:take_log", *_FIXTURE],
    "libdl_event_elapsed": ["h:event", "h:event", "out:plain"],
    "libdl_event_record": ["h:event", "h:stream"],
    "libdl_tensor_set_host_object": ["h:tensor", "i:1", "at:buffer"],
    "libdl_set_executor": [["made:executor_of", "null"]],
    "libdl_set_interruption": [["fn:go_on", "fn:go_on", "fn:stop_now"], *_FIXTURE],
    "libdl_interruption_add": [["fn:go_on", "fn:stop_now"], *_FIXTURE, "out:plain"],
    "libdl_interruption_remove": ["at:interruption"],
    "libdl_host_new": ["out:plain"],
    "libdl_set_threads": [["i:1", "i:2", "i:3"]],
    # Functions without an error, where a number behind the handle matters.
    "libdl_memory_fail_after": [["i:0", "i:1", "i:3", "i:9", "i:-1"], ["i:0", "i:0", "i:1"]],
    "libdl_device_count": ["i:1"],
    "libdl_device_type_named": ["s:cpu"],
    "libdl_device_type_name": [["i:1", "i:2", "i:12"]],
    "libdl_plugin_open": ["s:no-such-plugin.so"],
    "libdl_provider_set_enabled": ["s:none", "i:1"],
    "libdl_dtype_name": ["i:13"],
    "libdl_dtype_size": ["i:13"],
    "libdl_file_find": ["h:file", "s:a", "i:-1"],
}  # fmt: skip

# One bad value a line: parameter and word.
BAD: dict[str, list[tuple[int, str]]] = {
    "libdl_error_new": [(0, "i:0"), (0, "i:-1"), (0, "i:99999"), (1, "null")],
    "libdl_tensor_add_hook": [(1, "i:1"), (1, "i:3"), (1, "i:99")],
    "libdl_node_add_hook": [(1, "i:0"), (1, "i:99")],
    "libdl_function_record": [(2, "i:-1"), (4, "i:-1"), (7, "i:-1")],
    "libdl_gradcheck": [(4, "i:-1"), (5, "i:0"), (5, "i:-1"), (5, "i:9223372036854775807")],
    "libdl_tensor_from_dlpack": [(1, "i:99"), (1, "i:-1"), (0, "h:bad_dlpack")],
    "libdl_tensor_from_dlpack_unversioned": [(1, "i:99"), (1, "i:-1"), (0, "h:bad_dlpack_old")],
    "libdl_tensor_borrow_dlpack": [(1, "i:0"), (1, "i:99")],
    "libdl_dlpack_allocate": [(0, "at:bad_prototype")],
    "libdl_file_open": [(0, "s:no/such/file"), (0, "s:"), (1, "i:-2"), (2, "options:0")],
    "libdl_file_open_descriptor": [(0, "i:-1"), (0, "i:99999"), (1, "options:0")],
    "libdl_file_open_memory": [(1, "i:-1"), (1, "i:0"), (1, "i:7"), (1, "i:89"), (2, "options:0")],
    "libdl_file_save": [(0, "s:no/such/folder/file"), (1, "i:-2"), (4, "i:-1"), (7, "i:-1")],
    "libdl_memory_set_limit": [(0, "i:-1"), (0, "i:-9223372036854775808")],
    "libdl_memory_set_allocator": [(0, "at:half_allocator"), (0, "options:0")],
    "libdl_op_argument_get_default": [(0, "i:-1"), (1, "i:-1"), (1, "i:0"), (1, "i:99")],
    "libdl_op_register": [(0, "s:"), (0, "s:no schema"), (0, "s:add(tensor a) -> tensor out"),
                          (0, "s:fuzz::x(tensor"), (1, "i:-2")],
    "libdl_op_set_kernel": [(0, "op:?"), (0, "i:-1"), (0, "i:99999"), (1, "i:-1"), (1, "i:99")],
    "libdl_op_set_vjp": [(0, "op:?"), (0, "i:-1"), (0, "i:99999")],
    "libdl_op_set_jvp": [(0, "op:?"), (0, "i:-1"), (0, "i:99999")],
    "libdl_op_call": [(0, "i:-1"), (0, "i:99999"), (2, "i:-1"), (2, "i:0"), (4, "i:-1"),
                      (4, "i:0")],
    "libdl_op_call_into": [(0, "i:-1"), (0, "i:99999"), (2, "i:-1"), (2, "i:0"), (4, "i:-1"),
                           (4, "i:0")],
    "libdl_sgd_step": [(0, "options:0")],
    "libdl_adam_step": [(0, "options:0"), (0, "options:72"), (0, "at:adam_of_step_0"), (2, "i:-1")],
    "libdl_generator_set_state": [(1, "at:buffer"), (2, "i:23"), (2, "i:-1")],
    "libdl_check_abi": [(0, "i:9"), (1, "i:99"), (1, "i:-1"), (0, "i:-2147483648")],
    "libdl_tensor_set_host_object": [(1, "i:-1"), (1, "i:-2147483648"), (1, "i:2147483647")],
    "libdl_interruption_remove": [(0, "i:0"), (0, "i:-1"), (0, "i:9223372036854775807")],
    "libdl_set_executor": [(0, "options:0"), (0, "options:40")],
    "libdl_set_threads": [(0, "i:0"), (0, "i:-1"), (0, "i:1025"), (0, "i:-2147483648")],
    "libdl_saved_hooks_push": [(0, "options:0"), (0, "options:48")],
    "libdl_interceptor_push_options": [(0, "options:0"), (0, "options:48")],
    "libdl_file_find": [(1, "s:b"), (1, "null"), (2, "i:-2")],
}  # fmt: skip

# What a function wants to have been called before, most of the time.
WANTS = {
    "libdl_scope_pop": "libdl_scope_push",
    "libdl_scope_keep": "libdl_scope_push",
    "libdl_scope_return": "libdl_scope_push",
    "libdl_interceptor_pop": "libdl_interceptor_push",
    "libdl_saved_hooks_pop": "libdl_saved_hooks_push",
    "libdl_forward_exit": "libdl_forward_enter",
    "libdl_forward_make_dual": "libdl_forward_enter",
    "libdl_forward_make_dual_at": "libdl_forward_enter",
    "libdl_forward_unpack_dual_at": "libdl_forward_enter",
    "libdl_forward_set_tangent": "libdl_forward_enter",
}

# Functions that take as long as hundreds of others, or leave something behind in the process, are
# called less often: one call of so many.
SELDOM = {
    "libdl_op_register": 8,  # lasts as long as the process
    "libdl_op_set_kernel": 4,
    "libdl_op_set_vjp": 4,
    "libdl_op_set_jvp": 4,
    "libdl_file_save": 8,  # the file is synced
    "libdl_set_threads": 8,  # starts threads
    "libdl_memory_trim": 4,  # system calls
    "libdl_memory_set_allocator": 4,
    "libdl_memory_set_limit": 2,
    "libdl_memory_fail_after": 2,
    "libdl_set_interruption": 2,
    "libdl_gradcheck": 2,
    "libdl_scope_push_owner": 0,  # what is made inside must not be released, and a sequence does
}

# Handles by the type behind "libdl_", as words and results name them.
KINDS = (
    "tensor", "list", "error", "generator", "state", "stream", "event", "file", "node", "hook",
    "text", "mapping", "dlpack", "dlpack_old", "op",
)  # fmt: skip
