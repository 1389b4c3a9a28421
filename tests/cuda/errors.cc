// SPDX-License-Identifier: Apache-2.0

// The names and texts of results, as the driver gives them.

#include <cuda.h>

namespace {

struct Text {
  CUresult result;
  const char *name, *text;
};
#define TEXT(name, text) {name, #name, text}
constexpr Text kTexts[] = {
    TEXT(CUDA_SUCCESS, "no error"),
    TEXT(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    TEXT(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    TEXT(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    TEXT(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    TEXT(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    TEXT(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    TEXT(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    TEXT(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    TEXT(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    TEXT(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    TEXT(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    TEXT(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    TEXT(CUDA_ERROR_NOT_READY, "device not ready"),
    TEXT(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    TEXT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    TEXT(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    TEXT(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    TEXT(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
    TEXT(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"),
    TEXT(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    TEXT(CUDA_ERROR_INVALID_ADDRESS_SPACE,
         "operation not supported on global/shared address space"),
    TEXT(CUDA_ERROR_INVALID_PC, "invalid program counter"),
    TEXT(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    TEXT(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    TEXT(CUDA_ERROR_UNKNOWN, "unknown error"),
};

const Text* text_of(CUresult result) {
  for (const Text& text : kTexts)
    if (text.result == result) return &text;
  return nullptr;
}

}  // namespace

CUresult cuGetErrorName(CUresult result, const char** name) {
  const Text* const found = text_of(result);
  *name = found ? found->name : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult result, const char** text) {
  const Text* const found = text_of(result);
  *text = found ? found->text : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
