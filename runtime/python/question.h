// A policy and one of its handlers, asked from numbers that stand by themselves or in columns.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/batch.h"
#include "lang/program.h"

namespace allot::python {

// A number that the handler looks at: a read, or a state (an input of the host is one).
struct Slot {
  std::string name;
  lang::Type type;
  lang::Cell* cell = nullptr;
  std::size_t index = 0;   // of the read or the state
  bool state = false;
};

class Question {
 public:
  // `handler`: its text up to the name of the subject, "wave of group"; empty: the only one of the policy.
  // Errors: the diagnostics of the text, an unknown handler, one that looks at vectors.
  static Result<std::unique_ptr<Question>> create(const std::string& text, const std::string& handler,
                                                  const std::map<std::string, std::string>& parameters, bool compiled);

  const std::vector<Slot>& slots() const { return slots_; }
  const lang::Handler& handler() const { return program_.handlers[index_]; }

  // After the cells of all slots have been filled. -1: no rule held, or a fault.
  int decide() noexcept {
    executable_->decide(static_cast<int>(index_), frame_, outcome_);
    return outcome_.rule;
  }
  bool faulted() const { return outcome_.fault != compiler::FaultKind::None; }
  std::string fault() const;   // what happened and where

  // Columns in the order of the slots. Gives the number of rows with a fault. Machine code is made once a shape.
  struct Column {
    compiler::ColumnShape shape;
    compiler::Facts facts;
  };
  Result<std::int64_t> decide(const std::vector<Column>& columns, std::int64_t count, std::int8_t* rules);

 private:
  Question() = default;
  Result<void> choose(const std::string& handler);
  Result<void> lay_out();

  lang::Program program_;
  std::vector<lang::Cell> parameters_;
  std::size_t index_ = 0;
  bool compiled_ = false;
  std::unique_ptr<compiler::Executable> executable_;
  std::vector<lang::Cell> reads_, before_, after_;
  std::vector<compiler::StateView> states_;
  std::vector<Slot> slots_;
  std::map<std::string, std::unique_ptr<compiler::Batch>> batches_;   // by the kinds of the columns
  compiler::Scratch scratch_;
  compiler::Frame frame_;
  compiler::Outcome outcome_;
};

}  // namespace allot::python
