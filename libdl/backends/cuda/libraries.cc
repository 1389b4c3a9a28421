// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/libraries.h"

#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "backends/cuda/driver.h"
#include "backends/cuda/host.h"
#include "backends/cuda/test_hooks.h"

namespace libdl::cuda {

namespace {

namespace files = std::filesystem;

constexpr int kMajor = CUDA_VERSION / 1000;

void* opened(const std::string& path) {
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

// Wheels are in a folder nvidia beside other packages: one per library (CUDA 12) or one for all
// (CUDA 13).
std::vector<files::path> wheel_folders(const char* wheel) {
  std::vector<files::path> found;
  Dl_info own;
  if (!dladdr(reinterpret_cast<const void*>(&cublaslt), &own) || !own.dli_fname) return found;
  std::error_code none;
  files::path folder = files::absolute(own.dli_fname, none).parent_path();
  constexpr int kLevels = 4;
  for (int level = 0; level < kLevels && folder != folder.parent_path();
       ++level, folder = folder.parent_path()) {
    found.push_back(folder / "nvidia" / ("cu" + std::to_string(kMajor)) / "lib");
    found.push_back(folder / "nvidia" / wheel / "lib");
  }
  return found;
}

// Where a library may be, in the order in which it is looked for.
std::vector<std::string> places_of(const std::string& stem, const char* wheel) {
  if (opened_driver().simulated_access) return {simulated_library()};
  const std::string name = stem + ".so." + std::to_string(kMajor);
  std::vector<std::string> places = {name};
  std::vector<files::path> folders;
  if (const char* const path = std::getenv("LIBDL_CUDA_PATH"); path && *path)
    for (const char* below : {"", "lib64", "lib"}) folders.push_back(files::path(path) / below);
  for (files::path& folder : wheel_folders(wheel)) folders.push_back(std::move(folder));
  for (const files::path& folder : folders) places.push_back((folder / name).string());
  return places;
}

struct Opened {
  const CublasLt* table = nullptr;
  std::string why;  // if there is none
};

const CublasLt* table_in(void* handle) {
  auto* const table = new CublasLt;
  bool whole = true;
#define FUNCTION(name)                                                         \
  table->name = reinterpret_cast<decltype(table->name)>(dlsym(handle, #name)); \
  whole &= table->name != nullptr;
  LIBDL_CUBLASLT_FUNCTIONS(FUNCTION)
#undef FUNCTION
  if (whole) return table;
  delete table;
  return nullptr;
}

Opened open_cublaslt() {
  Opened found;
  std::string tried;
  for (const std::string& place : places_of("libcublasLt", "cublas")) {
    void* const handle = opened(place);
    if (handle && (found.table = table_in(handle))) return found;
    tried += (tried.empty() ? "" : ", ") + place + (handle ? " (it lacks functions)" : "");
  }
  found.why =
      "cuda: cuBLASLt was not found, and products run on libdl's own kernels, which are far "
      "slower; "
      "pip install nvidia-cublas, or set LIBDL_CUDA_PATH. Tried: " +
      tried;
  return found;
}

}  // namespace

const CublasLt* cublaslt() {
  static const Opened once = open_cublaslt();
  static std::atomic<bool> told{false};
  if (!once.table && !told.exchange(true)) host().warn(once.why.c_str());
  return once.table;
}

}  // namespace libdl::cuda
