// SPDX-License-Identifier: Apache-2.0

// Results that nobody has computed yet: a form (tensor/packed.h) that holds their producer instead
// of bytes. An operator that knows the producer computes them in its own pass: a relu behind a
// batch normalisation writes its result without the normalised image ever being in memory. Whoever
// else reads such a tensor gets it computed first, with the same bits.
//
// What a producer reads are forms of other tensors, which it holds (BorrowedForm). Whoever writes
// to those tensors leaves these forms alone (writable_form_of), so nobody sees that it comes late.
#pragma once

#include <memory>

#include "tensor/forms.h"

namespace libdl {

// What a result is made from. Only the operators that defer results know more of it.
class Producer {
 public:
  Producer() = default;
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;
  virtual ~Producer() = default;
  // Writes the result, of that geometry and with the channels innermost. Throws OUT_OF_MEMORY,
  // INTERRUPTED.
  virtual void compute(const PackedKey& key, void* to) const = 0;
};

// A new tensor that will be computed.
Tensor defer(Dims shape, Dtype dtype, std::unique_ptr<const Producer> producer);

// The only form of x where it is a producer; empty otherwise.
PackedReader deferred_form_of(const Tensor& x);
const Producer& producer_in(const PackedReader& form);

// Whether out, of x's shape and dtype, may get a form in the place of x's: it is x itself, or a new
// tensor that nobody has seen.
bool takes_form(const Tensor& out, const Tensor& x);
// For such an out, where `form` is x's. Nothing happens if false is returned: another thread was
// first.
// out becomes what another producer computes now, with a mark (Packed::mark).
bool compute_into(const Tensor& out, const Tensor& x, const PackedReader& form,
                  const Producer& producer, uint64_t mark);
// out becomes what another producer will compute.
bool defer_into(const Tensor& out, const Tensor& x, PackedReader form,
                std::unique_ptr<const Producer> producer);

}  // namespace libdl
