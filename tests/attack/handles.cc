// SPDX-License-Identifier: Apache-2.0

#include "handles.h"

#include <cstring>
#include <functional>

namespace attack {
namespace {

// Both structs of DLPack, as far as a deleter is found in them.
struct Unversioned {
  char tensor[48];
  void* manager;
  void (*deleter)(void*);
};
struct Versioned {
  uint32_t version[2];
  void* manager;
  void (*deleter)(void*);
};
template <class Struct>
void delete_foreign(void* p) {
  auto* const managed = static_cast<Struct*>(p);
  if (managed->deleter) managed->deleter(managed);
}

struct Kind {
  std::function<void*(Values*)> make;
  std::function<void(void*)> release;
};

template <class Handle, class F>
Kind kind(F make, void (*release)(Handle*)) {
  return {[make](Values* values) -> void* {
            Handle* out = nullptr;
            need(make(values, &out), "a handle");
            return out;
          },
          [release](void* p) { release(static_cast<Handle*>(p)); }};
}
// Where a function returns the handle.
template <class Handle, class F>
Kind kind_returned(F make, void (*release)(Handle*)) {
  return {[make](Values* values) -> void* { return make(values); },
          [release](void* p) { release(static_cast<Handle*>(p)); }};
}

libdl_tensor* tensor_of(Values* values, const char* word) {
  return static_cast<libdl_tensor*>(values->make(word).p);
}
libdl_error* passes(void*, libdl_tensor**, int64_t, libdl_tensor* const*, int64_t) {
  return nullptr;
}

const std::map<std::string, Kind>& kinds() {
  static const std::map<std::string, Kind> all = {
      {"tensor", kind_returned<libdl_tensor>(
                     [](Values* v) { return libdl_tensor_retain(tensor_of(v, "t:f64:2,3")); },
                     libdl_tensor_release)},
      {"list",
       kind<libdl_tensor_list>(
           [](Values* v, auto** out) { return libdl_split(tensor_of(v, "t:f64:2,3"), 1, 0, out); },
           libdl_tensor_list_release)},
      {"error", kind_returned<libdl_error>(
                    [](Values*) {
                      return libdl_error_new(LIBDL_ERROR_CALLBACK, "meant", -1, nullptr, nullptr);
                    },
                    libdl_error_release)},
      {"generator",
       kind<libdl_generator>([](Values*, auto** out) { return libdl_generator_new(7, out); },
                             libdl_generator_release)},
      {"state", kind<libdl_state>([](Values*, auto** out) { return libdl_state_new(out); },
                                  libdl_state_release)},
      {"stream",
       kind<libdl_stream>([](Values*, auto** out) { return libdl_stream_default(nullptr, out); },
                          libdl_stream_release)},
      {"event",
       kind<libdl_event>([](Values*, auto** out) { return libdl_event_new(nullptr, 1, out); },
                         libdl_event_release)},
      {"recorded", kind<libdl_event>(
                       [](Values* v, auto** out) {
                         need(libdl_event_new(nullptr, 1, out), "event");
                         return libdl_event_record(*out,
                                                   static_cast<libdl_stream*>(v->make("stream").p));
                       },
                       libdl_event_release)},
      {"file", kind<libdl_file>(
                   [](Values* v, auto** out) {
                     return libdl_file_open_memory(v->make("at:file_bytes").p, 90, nullptr, nullptr,
                                                   nullptr, out);
                   },
                   libdl_file_release)},
      {"node", kind_returned<libdl_node>(
                   [](Values* v) {
                     const libdl_bool recording = libdl_set_grad_enabled(1);  // off inside a pass
                     libdl_node* const node = libdl_tensor_node(tensor_of(v, "saves:x"), nullptr);
                     libdl_set_grad_enabled(recording);
                     return node;
                   },
                   libdl_node_release)},
      {"hook", kind<libdl_hook>(
                   [](Values* v, auto** out) {
                     return libdl_tensor_add_hook(tensor_of(v, "leaf:f64:2,3"), LIBDL_HOOK_TENSOR,
                                                  passes, nullptr, nullptr, out);
                   },
                   libdl_hook_release)},
      {"text", kind<libdl_text>(
                   [](Values* v, auto** out) {
                     return libdl_tensor_to_string(tensor_of(v, "t:f64:2,3"), nullptr, out);
                   },
                   libdl_text_release)},
      {"mapping", kind<libdl_mapping>(
                      [](Values* v, auto** out) {
                        void* data = nullptr;
                        return libdl_tensor_map(tensor_of(v, "t:f64:2,3"), LIBDL_ACCESS_READ, &data,
                                                out);
                      },
                      libdl_tensor_unmap)},
      {"dlpack", {[](Values*) { return attack_foreign(0, 0); }, delete_foreign<Versioned>}},
      {"dlpack_old", {[](Values*) { return attack_foreign(1, 0); }, delete_foreign<Unversioned>}},
  };
  return all;
}

}  // namespace

bool is_handle(const std::string& kind) { return kinds().count(kind); }

void* made_handle(const std::string& kind, Values* values) {
  const auto found = kinds().find(kind);
  if (found == kinds().end()) stop("no handle is called " + kind);
  void* const handle = found->second.make(values);
  if (!handle) stop("no " + kind + " was made");
  return handle;
}

void release_handle(const std::string& kind, void* handle) {
  const auto found = kinds().find(kind);
  if (found == kinds().end()) stop("no handle is called " + kind);
  found->second.release(handle);
}

std::string fresh_schema() {
  static int made = 0;
  return "attack::op" + std::to_string(made++) + "(tensor a) -> tensor out";
}

libdl_op registered_op() {
  libdl_op op = -1;
  need(libdl_op_register(fresh_schema().c_str(), -1, &op), "a registered operator");
  return op;
}

}  // namespace attack
