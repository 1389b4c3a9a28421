// SPDX-License-Identifier: Apache-2.0

// Tells a simulated driver what the kernels queued next read and write, so that it can report
// accesses that no event orders. Does nothing on a real driver.
#pragma once

#include "device/backend.h"

namespace libdl::cuda {

void note_accesses(const kernels::Context& context, KernelId id, const kernels::PointwiseArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::ProgramArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::CopyArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::FillArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::ReduceArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::ScanArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::MatmulArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::SoftmaxArgs& a);
void note_accesses(const kernels::Context& context, KernelId id,
                   const kernels::SoftmaxBackwardArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::LayerNormArgs& a);
void note_accesses(const kernels::Context& context, KernelId id,
                   const kernels::LayerNormBackwardArgs& a);
void note_accesses(const kernels::Context& context, KernelId id,
                   const kernels::BatchStatisticsArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::BatchNormArgs& a);
void note_accesses(const kernels::Context& context, KernelId id,
                   const kernels::BatchNormBackwardArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::MaxPoolArgs& a);
void note_accesses(const kernels::Context& context, KernelId id,
                   const kernels::MaxPoolBackwardArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::AvgPoolArgs& a);
void note_accesses(const kernels::Context& context, KernelId id,
                   const kernels::AvgPoolBackwardArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::ConvolutionArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::RnnStepArgs& a);
void note_accesses(const kernels::Context& context, KernelId id,
                   const kernels::RnnStepBackwardArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::ResampleArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::GridSampleArgs& a);
void note_accesses(const kernels::Context& context, KernelId id,
                   const kernels::GridSampleBackwardArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::GatherArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::ScatterArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::IndexArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::CheckIndexArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::NonzeroArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::SortArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::RandomArgs& a);
void note_accesses(const kernels::Context& context, KernelId id, const kernels::OptimizerArgs& a);

}  // namespace libdl::cuda
