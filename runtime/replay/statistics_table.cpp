#include "runtime/replay/statistics_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "compiler/executable.h"
#include "runtime/engine/points.h"
#include "runtime/engine/question.h"
#include "runtime/engine/verdict.h"

namespace allot::replay {

using lang::Cell;
using lang::Fact;
using lang::Handler;
using lang::ReadKey;

namespace {

constexpr std::string_view finished = "finished_fraction";

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool absent(std::string_view text) {
  return text.empty() || text == "nan" || text == "NaN" || text == "null";
}

class Table {
 public:
  Table(const lang::Program& program, const std::vector<Cell>& parameters, const Csv& csv, const Mapping& mapping)
      : program_(program),
        parameters_(parameters),
        csv_(csv),
        mapping_(mapping),
        points_(program, parameters),
        evaluator_(compiler::evaluate(program)) {}

  Result<Report> run() {
    if (auto read = read_groups(); !read) return read.error();
    if (auto fit = check_handlers(); !fit) return fit.error();
    Report report;
    report.lateness_known = knows_lateness();
    for (const std::string& group : order_) {
      auto outcome = decide(group);
      if (!outcome) return outcome.error();
      report.outcomes.push_back(*std::move(outcome));
    }
    report.mapped.assign(mapped_.begin(), mapped_.end());
    note(report);
    return report;
  }

 private:
  // Rows of a group by turn; 0 where the table has no column for the turn.
  using Rows = std::map<int, std::size_t>;

  std::string place(std::size_t row) const { return fmt::format("line {}", csv_.lines[row]); }

  Result<void> read_groups() {
    for (std::size_t row = 0; row < csv_.rows.size(); ++row) {
      const std::string& group = csv_.rows[row][mapping_.group];
      int turn = 0;
      if (mapping_.turn) {
        const std::string& text = csv_.rows[row][*mapping_.turn];
        const auto value = number(text);
        if (!value || *value < 1 || *value > 1e6 || *value != std::floor(*value)) {
          return Error{fmt::format("{}: '{}' is no turn", place(row), text), "turns are whole numbers from 1"};
        }
        turn = static_cast<int>(*value);
      }
      auto [rows, is_new] = groups_.try_emplace(group);
      if (is_new) order_.push_back(group);
      if (!rows->second.emplace(turn, row).second) {
        return Error{fmt::format("{}: group '{}' has a second row{}", place(row), group,
                                 turn > 0 ? fmt::format(" for turn {}", turn) : ""),
                     mapping_.turn ? "" : "say which column is the turn: --map turn=COLUMN"};
      }
      if (turn > 0) turns_.insert(turn);
    }
    for (const auto& [name, source] : mapping_.facts) {
      if (source.turn) turns_.insert(*source.turn);
    }
    if (order_.empty()) return Error{"the table has no row below its header", ""};
    return {};
  }

  bool can_ask(int handler) const {
    return handler != engine::no_handler && asks_after_turns(program_.handlers[static_cast<std::size_t>(handler)]);
  }

  // The turns at which each handler of `turn` is asked.
  std::vector<std::pair<int, int>> schedule() const {
    std::set<std::pair<int, int>> asked;
    for (const int handler : points_.turn_handlers()) {
      if (can_ask(handler)) asked.emplace(points_.number(handler), handler);
    }
    for (const int turn : turns_) {
      const int handler = points_.find(lang::Point::Turn, turn);
      if (can_ask(handler)) asked.emplace(turn, handler);
    }
    return {asked.begin(), asked.end()};
  }

  Result<void> check_handlers() {
    schedule_ = schedule();
    if (schedule_.empty()) {
      return Error{fmt::format("policy {} has no `on turn` of a group, and a table of statistics knows no other point",
                               program_.name),
                   "back-test it on logged rollouts: --rollouts FILE.jsonl"};
    }
    for (const auto& [turn, index] : schedule_) {
      const Handler& handler = program_.handlers[static_cast<std::size_t>(index)];
      const std::string who = fmt::format("`on {}` at turn {}", handler.text, turn);
      const bool some = std::any_of(handler.rules.begin(), handler.rules.end(), [](const lang::Rule& rule) {
        return rule.verdict.rollouts == lang::RolloutsField::StopWhere;
      });
      if (some) {
        return Error{fmt::format("{} stops some of the rollouts, and a table of statistics has no rollouts", who),
                     "back-test it on logged rollouts: --rollouts FILE.jsonl"};
      }
      if (!handler.columns.empty()) {
        return Error{fmt::format("{} reads {} of every rollout, and a table of statistics has no rollouts", who,
                                 handler.columns.front().text),
                     "back-test it on logged rollouts: --rollouts FILE.jsonl"};
      }
      for (const ReadKey& key : handler.reads) {
        if (auto known = check_read(who, key, turn); !known) return known;
      }
    }
    return {};
  }

  Result<void> check_read(const std::string& who, const ReadKey& key, int turn) {
    if (key.fact == Fact::Turn || key.fact == Fact::PromptKey) return {};
    const int about = turn_of(key, parameters_, turn);
    const std::string name = short_name(key);
    const Mapping::Source* source = mapping_.find(name, about);
    if (source == nullptr) {
      return Error{fmt::format("{} reads {}, and the table has no column for it", who, key.text),
                   fmt::format("name the column: --map '{}{}=COLUMN'; the columns are {}", name,
                               mapping_.turn ? "" : fmt::format("@{}", about), fmt::join(csv_.header, ", "))};
    }
    if (!source->turn && !turns_.contains(about)) {
      return Error{fmt::format("{} reads {}, and the table has no row for turn {}", who, key.text, about),
                   fmt::format("it has the turns {}; parameters are set with --set", fmt::join(turns_, ", "))};
    }
    mapped_.insert(fmt::format("{} at turn {} is column {}", name, about, csv_.header[source->column]));
    return {};
  }

  bool knows_lateness() const {
    return std::all_of(schedule_.begin(), schedule_.end(), [&](const auto& asked) {
      const Mapping::Source* source = mapping_.find(finished, asked.first);
      return source != nullptr && (source->turn || turns_.contains(asked.first));
    });
  }

  // Where the number of a group at a turn stands; none: this group has no row for that turn.
  std::optional<std::size_t> row_of(const std::string& group, const Mapping::Source& source, int turn) const {
    const Rows& rows = groups_.find(group)->second;
    if (!mapping_.turn) return rows.begin()->second;
    if (source.turn && !rows.contains(turn)) return rows.begin()->second;
    const auto row = rows.find(turn);
    if (row == rows.end()) return std::nullopt;
    return row->second;
  }

  Result<Cell> cell(const std::string& group, const ReadKey& key, int turn) const {
    if (key.fact == Fact::Turn) return Cell::of(static_cast<std::int64_t>(turn));
    if (key.fact == Fact::PromptKey) return Cell::of(std::int64_t{0});
    const int about = turn_of(key, parameters_, turn);
    const Mapping::Source& source = *mapping_.find(short_name(key), about);
    const auto row = row_of(group, source, about);
    if (!row) return Error{fmt::format("group '{}' has no row for turn {}", group, about), ""};
    return value(*row, source.column, key);
  }

  Result<Cell> value(std::size_t row, std::size_t column, const ReadKey& key) const {
    const std::string& text = csv_.rows[row][column];
    const auto wrong = [&](std::string_view wanted) {
      return Error{fmt::format("{}: '{}' in column {} is not {}, and {} is", place(row), text, csv_.header[column],
                               wanted, key.text),
                   ""};
    };
    if (absent(text)) return key.type.optional ? Result<Cell>(Cell::undefined()) : Result<Cell>(wrong("a value"));
    if (key.type.base == lang::Base::Bool) {
      if (text != "0" && text != "1" && text != "true" && text != "false") return wrong("true or false");
      return Cell::of(text == "1" || text == "true");
    }
    const auto read = number(text);
    if (!read) return wrong("a finite number");
    if (key.type.prob && (*read < 0 || *read > 1)) return wrong("in 0..1");
    if (key.type.base == lang::Base::Real) return Cell::of(*read);
    if (*read != std::floor(*read) || std::abs(*read) > 1e15) return wrong("a whole number");
    return Cell::of(static_cast<std::int64_t>(*read));
  }

  Result<Outcome> decide(const std::string& group) {
    Outcome outcome;
    outcome.group = group;
    auto flat = flatness(groups_.find(group)->second.begin()->second);
    if (!flat) return flat.error();
    outcome.flat = *flat;
    states_.clear();
    for (const lang::State& state : program_.states) states_.push_back(state.initial);
    for (const auto& [turn, handler] : schedule_) {
      if (auto asked = ask(group, handler, turn, outcome); !asked) return asked.error();
      if (outcome.stopped) break;
    }
    return outcome;
  }

  // One question; the frame holds what the handler reads and nothing else.
  Result<void> ask(const std::string& group, int index, int turn, Outcome& outcome) {
    const Handler& handler = program_.handlers[static_cast<std::size_t>(index)];
    std::vector<Cell> reads;
    for (const ReadKey& key : handler.reads) {
      auto read = cell(group, key, turn);
      if (!read) return read.error();
      reads.push_back(*read);
    }
    const std::vector<std::vector<Cell>> before = states_;
    std::vector<compiler::StateView> views;
    for (std::size_t i = 0; i < states_.size(); ++i) views.push_back({before[i].data(), states_[i].data(), 1});
    const std::array<std::int64_t, lang::scope_count> sizes{};
    scratch_.reset();
    const compiler::Frame frame{parameters_.data(), reads.data(), nullptr, sizes.data(), views.data(), &scratch_};
    engine::Answer answer;
    answer.prepare(program_, handler);
    evaluator_->decide(index, frame, answer.outcome);
    const engine::Verdict verdict = engine::resolve(program_, handler, answer, {group});
    outcome.asked = true;
    outcome.turn = turn;
    if (answer.outcome.fault != compiler::FaultKind::None) {
      outcome.fault = fmt::format("{}: {}", engine::place_of(program_, handler, answer.outcome.fault_node),
                                  engine::words(answer.outcome.fault));
    }
    outcome.stopped = verdict.rollouts == lang::RolloutsField::Stop;
    outcome.dropped = verdict.group == lang::GroupField::Drop;
    outcome.reason = verdict.reason;
    outcome.rule = verdict.where;
    if (outcome.stopped) outcome.late = none_alive(group, turn);
    // State of prompts and of the run is written at barriers, which a table has none of.
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (program_.states[i].scope != lang::StateScope::Group) states_[i] = before[i];
    }
    return {};
  }

  bool none_alive(const std::string& group, int turn) const {
    const Mapping::Source* source = mapping_.find(finished, turn);
    if (source == nullptr) return false;
    const auto row = row_of(group, *source, turn);
    const auto share = row ? number(csv_.rows[*row][source->column]) : std::nullopt;
    return share.value_or(0) >= 1;
  }

  Result<std::optional<bool>> flatness(std::size_t row) const {
    if (mapping_.label) {
      const std::string& text = csv_.rows[row][*mapping_.label];
      for (const std::string_view flat : {"all_fail", "all_succeed", "flat", "true", "1"}) {
        if (text == flat) return std::optional<bool>(true);
      }
      for (const std::string_view mixed : {"mixed", "false", "0"}) {
        if (text == mixed) return std::optional<bool>(false);
      }
      if (absent(text)) return std::optional<bool>();
      return Error{fmt::format("{}: '{}' is no label", place(row), text),
                   "a label is all_fail, all_succeed or mixed; or flat: true or false"};
    }
    if (!mapping_.variance) return std::optional<bool>();
    const auto variance = number(csv_.rows[row][*mapping_.variance]);
    return variance ? std::optional<bool>(*variance == 0) : std::nullopt;
  }

  void note(Report& report) const {
    for (const std::string& handler : handlers_not_asked(program_, {})) {
      report.notes.push_back(fmt::format("`{}` is not asked: a table tells of turns only", handler));
    }
    if (!mapping_.label && !mapping_.variance) {
      report.notes.push_back("nothing tells which groups were flat: map label or variance for precision and recall");
    }
    if (!report.lateness_known) {
      report.notes.push_back(
          "nothing tells which groups had no rollout alive any more: map finished_fraction for the "
          "figures of stoppable groups");
    }
    if (std::any_of(program_.states.begin(), program_.states.end(),
                    [](const lang::State& state) { return state.scope != lang::StateScope::Group; })) {
      report.notes.push_back("state per prompt and per run stays at its initial value: a table has no iterations");
    }
  }

  const lang::Program& program_;
  const std::vector<Cell>& parameters_;
  const Csv& csv_;
  const Mapping& mapping_;
  engine::Points points_;
  std::unique_ptr<compiler::Executable> evaluator_;
  compiler::Scratch scratch_;
  std::vector<std::vector<Cell>> states_;
  std::map<std::string, Rows> groups_;
  std::vector<std::string> order_;
  std::set<int> turns_;
  std::vector<std::pair<int, int>> schedule_;  // turn, handler
  std::set<std::string> mapped_;
};

}  // namespace

Result<Report> replay_table(const lang::Program& program, const std::vector<Cell>& parameters, const Csv& csv,
                            const Mapping& mapping) {
  return Table(program, parameters, csv, mapping).run();
}

}  // namespace allot::replay
