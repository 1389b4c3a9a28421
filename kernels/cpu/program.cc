// SPDX-License-Identifier: Apache-2.0

// A fused chain of expressions, interpreted tile by tile: the registers of a tile stay in cache.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/stage.h"
#include "kernels/cpu/tiles.h"

namespace libdl::kernels::cpu {
namespace {

constexpr int kMaxSources = 8, kMaxConstants = 8;
constexpr int kMaxRegisters = kMaxSources + kMaxConstants + kMaxInstructions;
constexpr int64_t kFileBytes = 65536;
constexpr int64_t kSlotAlign = 16;  // elements
static_assert(kFileBytes / kMaxRegisters / 16 >= kSlotAlign);

struct Launch {
  const ProgramArgs* args;
  TileTable table;
  ConvertFn truth;  // bytes to the compute class, or NULL
  Class result;
  int64_t tile;     // elements a register
  Geometry geometry;
};

class Machine {
 public:
  Machine(const Launch& launch, char* file, void* raw, uint8_t* truths)
      : launch_(launch), args_(*launch.args), truths_(truths) {
    const Class compute = static_cast<Class>(args_.compute);
    const int64_t slot = launch.tile * dtype_bytes(class_dtype(compute));
    const Geometry& g = launch.geometry;
    const int registers = args_.inputs + args_.constants + args_.length;
    for (int r = 0; r < registers; ++r) register_[r] = slot_[r] = file + r * slot;
    for (int k = 0; k < args_.inputs; ++k) {
      source_[k].open(g, g.operand[k + 1], compute, slot_[k], raw);
    }
    for (int k = 0; k < args_.constants; ++k) {
      fill(compute, slot_[args_.inputs + k], args_.constant[k]);
    }
    sink_.open(g, g.operand[0], launch.result, slot_[registers - 1], raw);
  }

  void run(const Tile& tile) {
    for (int k = 0; k < args_.inputs; ++k) register_[k] = source_[k].load(tile);
    const int first = args_.inputs + args_.constants;
    for (int k = 0; k + 1 < args_.length; ++k) step(args_.code[k], first + k, tile.n);
    void* out = sink_.place(tile);
    call(args_.code[args_.length - 1], out, tile.n);
    sink_.finish(out, tile);
  }

 private:
  void call(const Instruction& code, void* out, int64_t n) const {
    const void* in[kMaxInputs];
    const int inputs = kExpressionInfo[code.expression].inputs;
    for (int j = 0; j < inputs; ++j) in[j] = register_[code.in[j]];
    launch_.table[code.expression](in, out, n);
  }
  void step(const Instruction& code, int r, int64_t n) {
    if (kExpressionInfo[code.expression].truth && launch_.truth != nullptr) {
      call(code, truths_, n);
      launch_.truth(truths_, slot_[r], n);
    } else {
      call(code, slot_[r], n);
    }
  }
  void fill(Class compute, char* slot, double value) const {
    ConvertFn convert = convert_to_class(LIBDL_DTYPE_FLOAT64, compute);
    const int bytes = dtype_bytes(class_dtype(compute));
    char element[16];
    if (convert != nullptr) {
      convert(&value, element, 1);
    } else {
      std::memcpy(element, &value, sizeof(value));
    }
    std::memcpy(slot, element, bytes);
    for (int64_t made = 1; made < launch_.tile; made *= 2) {  // by doubling
      std::memcpy(slot + made * bytes, slot, std::min(made, launch_.tile - made) * bytes);
    }
  }

  const Launch& launch_;
  const ProgramArgs& args_;
  uint8_t* truths_;
  Source source_[kMaxSources];
  Sink sink_;
  char* slot_[kMaxRegisters];
  const void* register_[kMaxRegisters];
};

void run_machine(void* arg, int64_t first, int64_t last) {
  const Launch& launch = *static_cast<const Launch*>(arg);
  alignas(64) char file[kFileBytes];
  alignas(64) char raw[kRawBytes];
  alignas(64) uint8_t truths[kTile];
  Machine machine(launch, file, raw, truths);
  for (TileWalk walk(launch.geometry, first, last, launch.tile); walk.more(); walk.next()) {
    machine.run(walk.tile());
  }
}

}  // namespace

void program(Context& context, const ProgramArgs& args) {
  if (numel(args.out) == 0) return;
  Launch launch;
  const Class compute = static_cast<Class>(args.compute);
  launch.args = &args;
  launch.table = tile_table(compute);
  launch.truth = convert_to_class(LIBDL_DTYPE_BOOL, compute);
  const bool truth = kExpressionInfo[args.code[args.length - 1].expression].truth;
  launch.result = truth ? Class::kBool : compute;
  const int64_t registers = args.inputs + args.constants + args.length;
  const int64_t room = kFileBytes / (registers * dtype_bytes(class_dtype(compute)));
  launch.tile = std::min(tile_elements(compute), room / kSlotAlign * kSlotAlign);
  const View* views[kMaxSources + 1] = {&args.out};
  for (int k = 0; k < args.inputs; ++k) views[k + 1] = &args.in[k];
  run_tiles(context, launch, views, args.inputs + 1, launch.tile, run_machine);
}

}  // namespace libdl::kernels::cpu
