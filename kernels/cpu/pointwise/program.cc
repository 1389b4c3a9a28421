// SPDX-License-Identifier: Apache-2.0

// A fused chain of expressions, interpreted block by block: a block's values stay in the L1 cache.
// Pairs of instructions are run as one tile function if there is one for the pair.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/pointwise/tile_pairs.h"
#include "kernels/cpu/tiles/tiles.h"
#include "kernels/cpu/traverse/stage.h"

namespace libdl::kernels::cpu {
namespace {

constexpr int kMaxSources = 8, kMaxConstants = 8;
constexpr int kMaxRegisters = kMaxSources + kMaxConstants + kMaxInstructions;
constexpr int kMostInputs = 2 * kMaxInputs;  // of a pair
// Elements per block: all instructions run on one block before the next. A launch whose operands
// come from memory has small blocks, so that all operands are read continuously; a small launch has
// larger ones, for fewer calls.
constexpr int64_t kBlock = 128, kSmallLaunchBlock = 512;
constexpr int64_t kSlotAlign = 16;  // elements
constexpr int64_t kFileBytes = 65536;
constexpr int64_t kSlotBytes = 40960;  // of them for slots, at most; the rest is for whole tiles
static_assert(kSlotBytes / kMaxRegisters / 16 >= kSlotAlign);
static_assert((kFileBytes - kSlotBytes) / (kMaxSources + 1) / 16 >= kSlotAlign);

// One call. Registers: the sources, the constants, then slots, which results share in turn.
struct Step {
  TileFn fn;
  int32_t inputs;
  int32_t in[kMostInputs];
  int32_t out;
  bool truth;  // bytes that become numbers
};

struct Launch {
  const ProgramArgs* args;
  ConvertFn truth;  // bytes to the compute class, or NULL
  Class result;
  int64_t tile, block;  // elements
  int32_t length, slots;
  Step step[kMaxInstructions];
  Geometry geometry;
};

// -- compiling ------------------------------------------------------------------------------------

class Compiler {
 public:
  explicit Compiler(Launch& launch)
      : launch_(launch), args_(*launch.args), first_(args_.inputs + args_.constants) {
    for (int k = 0; k < args_.length; ++k)
      for (int j = 0; j < inputs(k); ++j)
        if (args_.code[k].in[j] >= first_) ++uses_[args_.code[k].in[j] - first_];
  }

  void run() {
    int& n = launch_.length = 0;
    for (int k = 0; k < args_.length; ++k) {
      if (k + 1 < args_.length && pair(k, launch_.step[n])) {
        ++k;
      } else {
        single(k, launch_.step[n]);
      }
      place(k, launch_.step[n++]);
    }
    launch_.slots = used_;
  }

 private:
  const ExpressionInfo& info(int k) const { return kExpressionInfo[args_.code[k].expression]; }
  int inputs(int k) const { return info(k).inputs; }

  void single(int k, Step& step) {
    const Class compute = static_cast<Class>(args_.compute);
    const int32_t e = args_.code[k].expression;
    step.fn = tile_table(compute)[e];
    step.truth = false;
    if (info(k).truth && k + 1 < args_.length && launch_.truth != nullptr) {
      const TileFn counted = counted_tile(compute, e);
      step.truth = counted == nullptr;
      if (counted != nullptr) step.fn = counted;
    }
    step.inputs = inputs(k);
    std::copy(args_.code[k].in, args_.code[k].in + step.inputs, step.in);
  }

  // Instructions k and k + 1 as one, if nothing else reads the first one's result.
  bool pair(int k, Step& step) const {
    const Instruction &code = args_.code[k], &next = args_.code[k + 1];
    if (uses_[k] != 1) return false;
    int at = 0;
    while (at < inputs(k + 1) && next.in[at] != first_ + k) ++at;
    if (at == inputs(k + 1)) return false;
    step.fn = pair_tile(static_cast<Class>(args_.compute), static_cast<Expression>(code.expression),
                        static_cast<Expression>(next.expression), at);
    if (step.fn == nullptr) return false;
    step.truth = false;
    step.inputs = inputs(k);
    std::copy(code.in, code.in + step.inputs, step.in);
    for (int j = 0; j < inputs(k + 1); ++j)
      if (j != at) step.in[step.inputs++] = next.in[j];
    return true;
  }

  // Gives the result of instruction k a slot; slots that it reads for the last time are free.
  void place(int k, Step& step) {
    for (int j = 0; j < step.inputs; ++j) {
      if (step.in[j] < first_) continue;
      const int made = step.in[j] - first_;
      step.in[j] = slot_[made];
      if (--uses_[made] == 0) free_[frees_++] = slot_[made];
    }
    step.out = slot_[k] = frees_ > 0 ? free_[--frees_] : first_ + used_++;
    if (uses_[k] == 0) free_[frees_++] = slot_[k];
  }

  Launch& launch_;
  const ProgramArgs& args_;
  const int first_;  // instruction's register, as args number them
  int uses_[kMaxInstructions] = {};
  int slot_[kMaxInstructions];
  int free_[kMaxInstructions];
  int frees_ = 0, used_ = 0;
};

// -- running --------------------------------------------------------------------------------------

class Machine {
 public:
  Machine(const Launch& launch, char* file, void* raw, uint8_t* truths)
      : launch_(launch), args_(*launch.args), truths_(truths) {
    const Class compute = static_cast<Class>(args_.compute);
    const Geometry& g = launch.geometry;
    bytes_ = dtype_bytes(class_dtype(compute));
    out_bytes_ = dtype_bytes(class_dtype(launch.result));
    const int first = args_.inputs + args_.constants;
    for (int r = args_.inputs; r < first + launch.slots; ++r) {
      base_[r] = file;
      step_[r] = 0;
      file += launch.block * bytes_;
    }
    for (int k = 0; k < args_.constants; ++k)
      fill(compute, base_[args_.inputs + k], args_.constant[k]);
    for (int k = 0; k < args_.inputs; ++k) {
      source_[k].open(g, g.operand[k + 1], compute, file, raw);
      step_[k] = bytes_;
      file += launch.tile * bytes_;
    }
    sink_.open(g, g.operand[0], launch.result, file, raw);
  }

  void run(const Tile& tile) {
    for (int k = 0; k < args_.inputs; ++k)
      base_[k] = static_cast<char*>(const_cast<void*>(source_[k].load(tile)));
    char* const out = static_cast<char*>(sink_.place(tile));
    const Step* const last = launch_.step + launch_.length - 1;
    for (int64_t at = 0; at < tile.n; at += launch_.block) {
      const int64_t n = std::min(launch_.block, tile.n - at);
      for (const Step* s = launch_.step; s != last; ++s) {
        if (s->truth) {
          call(*s, truths_, at, n);
          launch_.truth(truths_, base_[s->out], n);
        } else {
          call(*s, base_[s->out], at, n);
        }
      }
      call(*last, out + at * out_bytes_, at, n);
    }
    sink_.finish(out, tile);
  }

 private:
  void call(const Step& s, void* out, int64_t at, int64_t n) const {
    const void* in[kMostInputs];
    for (int j = 0; j < s.inputs; ++j) in[j] = base_[s.in[j]] + at * step_[s.in[j]];
    s.fn(in, out, n);
  }
  void fill(Class compute, char* slot, double value) const {
    ConvertFn convert = convert_to_class(LIBDL_DTYPE_FLOAT64, compute);
    char element[16];
    if (convert != nullptr) {
      convert(&value, element, 1);
    } else {
      std::memcpy(element, &value, sizeof(value));
    }
    repeat_value(element, bytes_, launch_.block, slot);
  }

  const Launch& launch_;
  const ProgramArgs& args_;
  uint8_t* truths_;
  int64_t bytes_, out_bytes_;  // of an element
  Source source_[kMaxSources];
  Sink sink_;
  char* base_[kMaxRegisters];
  int64_t step_[kMaxRegisters];  // bytes from an element to the next; 0: a slot, of one block
};

void run_machine(void* arg, int64_t first, int64_t last) {
  const Launch& launch = *static_cast<const Launch*>(arg);
  alignas(64) char file[kFileBytes];
  alignas(64) char raw[kRawBytes];
  alignas(64) uint8_t truths[kSmallLaunchBlock];
  Machine machine(launch, file, raw, truths);
  for (TileWalk walk(launch.geometry, first, last, launch.tile); walk.more(); walk.next()) {
    machine.run(walk.tile());
  }
}

// Operands that need no change, in order: a tile needs no memory of its own.
bool is_direct(const Launch& launch) {
  const Geometry& g = launch.geometry;
  for (int k = 0; k < g.operands; ++k) {
    const Class c = k == 0 ? launch.result : static_cast<Class>(launch.args->compute);
    if (!g.operand[k].dense || g.operand[k].dtype != class_dtype(c)) return false;
  }
  return true;
}

}  // namespace

void program(Context& context, const ProgramArgs& args) {
  if (numel(args.out) == 0) return;
  Launch launch;
  const Class compute = static_cast<Class>(args.compute);
  const int64_t bytes = dtype_bytes(class_dtype(compute));
  launch.args = &args;
  launch.truth = convert_to_class(LIBDL_DTYPE_BOOL, compute);
  const bool truth = kExpressionInfo[args.code[args.length - 1].expression].truth;
  launch.result = truth ? Class::kBool : compute;
  Compiler(launch).run();
  const auto aligned = [](int64_t elements) { return elements / kSlotAlign * kSlotAlign; };
  const int64_t slots = std::max(1, args.constants + launch.slots);
  const int64_t block = numel(args.out) <= kAlone ? kSmallLaunchBlock : kBlock;
  launch.block = std::min(block, aligned(kSlotBytes / (slots * bytes)));
  const int64_t room = (kFileBytes - slots * launch.block * bytes) / ((args.inputs + 1) * bytes);
  launch.tile = std::min(tile_elements(compute), aligned(room));
  const View* views[kMaxSources + 1] = {&args.out};
  for (int k = 0; k < args.inputs; ++k) views[k + 1] = &args.in[k];
  plan(launch.geometry, views, args.inputs + 1);
  const int64_t tile = launch.tile;
  if (is_direct(launch)) launch.tile = kChunk;
  run_planned(context, launch, tile, run_machine);
}

}  // namespace libdl::kernels::cpu
