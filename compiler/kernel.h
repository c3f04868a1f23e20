// The part of a batch that is machine code.
#pragma once

#include "compiler/batch.h"

namespace allot::compiler {

// A row that must be asked again by itself.
inline constexpr int ask_again = -2;

struct KernelFrame {
  const Cell* parameters = nullptr;
  const Facts* reads = nullptr;
  const Facts* states = nullptr;
  void* rules = nullptr;
  const Numbers* numbers = nullptr;
};

// Decides rows begin .. end - 1, a multiple of Kernel::lanes of them.
using KernelFunction = std::uint64_t (*)(const KernelFrame* frame, std::int64_t begin, std::int64_t end);

struct Kernel {
  virtual ~Kernel() = default;   // keeps the code
  // The quick one. Not 0: some row may fault, or only an operand that it does not need; what it wrote does not count.
  KernelFunction hasty = nullptr;
  // Knows which rows. Not 0: some rule is `ask_again`.
  KernelFunction careful = nullptr;
  std::int64_t lanes = 1;
};

// The numbers of a verdict, by Number, and where Outcome has them.
struct NumberPlace {
  lang::NodeId lang::VerdictTemplate::*node;
  Cell Outcome::*cell;
};
inline constexpr NumberPlace number_places[number_count] = {
    {&lang::VerdictTemplate::amount, &Outcome::amount},       {&lang::VerdictTemplate::up_to, &Outcome::up_to},
    {&lang::VerdictTemplate::age_limit, &Outcome::age_limit}, {&lang::VerdictTemplate::until, &Outcome::until},
    {&lang::VerdictTemplate::reward, &Outcome::reward},       {&lang::VerdictTemplate::baseline, &Outcome::baseline}};

}  // namespace allot::compiler
