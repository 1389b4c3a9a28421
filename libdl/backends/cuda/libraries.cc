// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/libraries.h"

#include <cuda.h>
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "backends/cuda/driver.h"

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

void* find_library(const std::string& stem, const char* wheel) {
  if (opened_driver().simulated_access) {
    const char* const simulation = std::getenv("LIBDL_CUDA_DRIVER");
    return simulation ? opened(simulation) : nullptr;
  }
  const std::string name = stem + ".so." + std::to_string(kMajor);
  if (void* const handle = opened(name)) return handle;
  std::vector<files::path> folders;
  if (const char* const path = std::getenv("LIBDL_CUDA_PATH"); path && *path)
    for (const char* below : {"", "lib64", "lib"}) folders.push_back(files::path(path) / below);
  for (files::path& folder : wheel_folders(wheel)) folders.push_back(std::move(folder));
  for (const files::path& folder : folders)
    if (void* const handle = opened((folder / name).string())) return handle;
  return nullptr;
}

const CublasLt* open_cublaslt() {
  void* const handle = find_library("libcublasLt", "cublas");
  if (!handle) return nullptr;
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

}  // namespace

const CublasLt* cublaslt() {
  static const CublasLt* const once = open_cublaslt();
  return once;
}

}  // namespace libdl::cuda
