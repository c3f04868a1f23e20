#include "runtime/trial/mutation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lang/difference.h"
#include "lang/format/tokens.h"
#include "runtime/trial/trial.h"

namespace allot::trial {
namespace {

using lang::Span;
using lang::format::Token;
using lang::format::TokenKind;
namespace tree = lang::tree;
using tree::ActionKind;
using tree::ExprKind;

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array swapped_comparisons{Pair{"<", ">"},   Pair{"<=", ">="}, Pair{">", "<"},
                                         Pair{">=", "<="}, Pair{"==", "!="}, Pair{"!=", "=="}};
constexpr std::array boundaries{Pair{"<", "<="}, Pair{"<=", "<"}, Pair{">", ">="}, Pair{">=", ">"}};
constexpr std::array swapped_operators{Pair{"+", "-"}, Pair{"-", "+"},    Pair{"*", "/"},
                                       Pair{"/", "*"}, Pair{"and", "or"}, Pair{"or", "and"}};
constexpr std::array swapped_functions{Pair{"min", "max"},      Pair{"max", "min"},     Pair{"any", "all"},
                                       Pair{"all", "any"},      Pair{"floor", "ceil"},  Pair{"ceil", "floor"},
                                       Pair{"top", "bottom"},   Pair{"bottom", "top"},  Pair{"mean", "max"},
                                       Pair{"variance", "std"}, Pair{"std", "variance"}};

template <std::size_t Size>
std::optional<std::string_view> partner(const std::array<Pair, Size>& pairs, std::string_view word) {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& pair) { return pair.first == word; });
  if (found == pairs.end()) return std::nullopt;
  return found->second;
}

class Maker {
 public:
  Maker(const lang::Program& program, const MutationOptions& options)
      : tree_(*program.tree), source_(*program.source), options_(options), tokens_(lang::format::tokens(source_)) {}

  std::vector<Mutant> run() {
    members();
    for (const tree::Param& param : tree_.params) expression(param.value);
    for (const tree::StateDecl& state : tree_.states) {
      expression(state.initial);
      expression(state.decay);
    }
    for (const tree::BudgetDecl& budget : tree_.budgets) expression(budget.amount);
    for (const tree::FunctionDecl& function : tree_.functions) {
      if (!function.imported) expression(function.body);
    }
    expression(tree_.hit);
    for (const tree::Handler& handler : tree_.handlers) {
      for (const tree::ExprId key : handler.keys) expression(key);
      for (const tree::Statement& each : handler.statements) statement(each);
    }
    std::stable_sort(made_.begin(), made_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Mutant> mutants;
    for (auto& [at, mutant] : made_) mutants.push_back(std::move(mutant));
    return mutants;
  }

 private:
  // ---- the text

  void replace(Span span, std::string_view by, std::string change) {
    const std::string_view text = source_.file_text(0);
    const lang::Place place = source_.place(span.begin);
    Mutant mutant{place.line, place.column, std::move(change), {}};
    mutant.text = fmt::format("{}{}{}", text.substr(0, span.begin), by, text.substr(span.end));
    made_.emplace_back(span.begin, std::move(mutant));
  }

  void swap(const Token& token, std::string_view by) {
    replace(token.span, by, fmt::format("`{}` became `{}`", token.text, by));
  }

  // The first token with this text in from..to.
  const Token* find(std::string_view text, std::uint32_t from, std::uint32_t to) const {
    auto token = std::lower_bound(tokens_.begin(), tokens_.end(), from,
                                  [](const Token& each, std::uint32_t at) { return each.span.begin < at; });
    for (; token != tokens_.end() && token->span.end <= to; ++token) {
      if (token->text == text && token->kind != TokenKind::String && token->kind != TokenKind::Comment) return &*token;
    }
    return nullptr;
  }

  const Token* between(std::string_view text, tree::ExprId left, tree::ExprId right) const {
    return find(text, tree_[left].span.end, tree_[right].span.begin);
  }

  // ---- members of a composition

  // From its name to the bracket behind what it is given.
  Span span_of(const tree::Member& member) const {
    auto token = std::lower_bound(tokens_.begin(), tokens_.end(), member.name.span.end,
                                  [](const Token& each, std::uint32_t at) { return each.span.begin < at; });
    Span span = member.name.span;
    for (int open = 0; token != tokens_.end(); ++token) {
      open += token->text == "(" ? 1 : token->text == ")" ? -1 : 0;
      if (open == 0 && token->text != ")") break;
      span.end = token->span.end;
      if (open == 0) break;
    }
    return span;
  }

  void members() {
    std::vector<Span> spans;
    for (const tree::Member& member : tree_.members) spans.push_back(span_of(member));
    for (std::size_t i = 0; i < spans.size() && spans.size() > 1; ++i) {
      const std::string change = fmt::format("`{}` was left out", tree_.members[i].name.text);
      if (i > 0) {
        replace({spans[i - 1].end, spans[i].end}, "", change);
      } else {
        replace({spans[i].begin, spans[i + 1].begin}, "", change);
      }
      made_.back().second.members = Mutant::Members::Fewer;
    }
    for (std::size_t i = 0; i + 1 < spans.size(); ++i) {
      const auto text = [&](std::uint32_t begin, std::uint32_t end) { return source_.text({begin, end}); };
      const Span first = spans[i], second = spans[i + 1];
      replace({first.begin, second.end},
              fmt::format("{}{}{}", text(second.begin, second.end), text(first.end, second.begin), text(first.begin, first.end)),
              fmt::format("`{}` came before `{}`", tree_.members[i + 1].name.text, tree_.members[i].name.text));
      made_.back().second.members = Mutant::Members::Reordered;
    }
    for (const tree::Member& member : tree_.members) {
      for (const tree::Setting& setting : member.settings) expression(setting.value);
    }
  }

  // ---- expressions

  void expression(tree::ExprId id) {
    if (id == tree::none || !seen_.insert(id).second) return;
    const tree::Expr& expr = tree_[id];
    switch (expr.kind) {
      case ExprKind::Integer:
      case ExprKind::Real:
      case ExprKind::Percent:
        number(expr);
        break;
      case ExprKind::Bool:
        replace(expr.span, expr.text == "true" ? "false" : "true", "`" + expr.text + "` was turned round");
        break;
      case ExprKind::Compare:
        comparison(expr);
        break;
      case ExprKind::Binary:
        binary(expr);
        break;
      case ExprKind::IsUndefined:
        undefined_test(expr);
        break;
      case ExprKind::Unary:
        unary(expr);
        break;
      case ExprKind::Call:
        if (const auto other = partner(swapped_functions, expr.text)) {
          if (const Token* const name = first_of(expr)) swap(*name, *other);
        }
        break;
      default:
        break;
    }
    if (expr.kind == ExprKind::String) return;  // what a message says decides nothing
    for (const tree::ExprId argument : expr.args) expression(argument);
  }

  void number(const tree::Expr& expr) {
    const Token* const token = first_of(expr);
    if (token == nullptr || token->kind != TokenKind::Number) return;
    const std::string nudged = nudge(std::string(token->text));
    if (!nudged.empty()) swap(*token, nudged);
  }

  const Token* find_at(std::uint32_t begin) const {
    const auto token = std::lower_bound(tokens_.begin(), tokens_.end(), begin,
                                        [](const Token& each, std::uint32_t at) { return each.span.begin < at; });
    return token != tokens_.end() && token->span.begin == begin ? &*token : nullptr;
  }

  // Behind the brackets that are around the whole.
  const Token* first_of(const tree::Expr& expr) const {
    const Token* token = find_at(expr.span.begin);
    const Token* const end = tokens_.data() + tokens_.size();
    while (token != nullptr && token != end && (token->text == "(" || token->kind == TokenKind::Comment)) ++token;
    return token == end ? nullptr : token;
  }

  // An int by one; a real by half of it, downwards from 1 on, so that what is a probability stays one.
  static std::string nudge(std::string text) {
    const bool percent = text.ends_with('%');
    if (percent) text.pop_back();
    std::erase(text, '_');
    const char* const end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto read = std::from_chars(text.data(), end, whole);
        read.ec == std::errc() && read.ptr == end && !percent) {
      return std::to_string(whole + 1);
    }
    double real = 0;
    if (const auto read = std::from_chars(text.data(), end, real); read.ec != std::errc() || read.ptr != end) return {};
    const double top = percent ? 100 : 1;
    const double nudged = real == 0 ? top / 2 : real * 1.5 <= top ? real * 1.5 : real / 2;
    std::string shown = fmt::format("{}", nudged);
    if (shown.find_first_of(".e") == std::string::npos && !percent) shown += ".0";
    return percent ? shown + "%" : shown;
  }

  void comparison(const tree::Expr& expr) {
    for (std::size_t i = 0; i < expr.ops.size(); ++i) {
      const Token* const token = between(expr.ops[i], expr.args[i], expr.args[i + 1]);
      if (token == nullptr) continue;
      if (const auto other = partner(swapped_comparisons, token->text)) swap(*token, *other);
      const auto edge = options_.boundaries ? partner(boundaries, token->text) : std::nullopt;
      if (edge) swap(*token, *edge);
    }
  }

  void binary(const tree::Expr& expr) {
    const Token* const token = between(expr.op, expr.args[0], expr.args[1]);
    if (token == nullptr) return;
    if (const auto other = partner(swapped_operators, expr.op)) swap(*token, *other);
    if (expr.op != "??") return;
    const tree::Expr& fallback = tree_[expr.args[1]];
    const Token* const literal = first_of(fallback);
    if (literal == nullptr || literal->kind != TokenKind::Number) return;
    seen_.insert(expr.args[1]);  // replaced here, not nudged too
    const bool zero = literal->text.find_first_not_of("0._") == std::string_view::npos;
    const bool whole = literal->text.find('.') == std::string_view::npos;
    const std::string_view by = zero ? (whole ? "1" : "1.0") : (whole ? "0" : "0.0");
    replace(literal->span, by, fmt::format("`?? {}` became `?? {}`", literal->text, by));
  }

  void undefined_test(const tree::Expr& expr) {
    const Token* const word = find("undefined", tree_[expr.args[0]].span.end, expr.span.end);
    if (word == nullptr) return;
    if (!expr.negated) {
      replace({word->span.begin, word->span.begin}, "not ", "`is undefined` became `is not undefined`");
    } else if (const Token* const negation = find("not", tree_[expr.args[0]].span.end, word->span.begin)) {
      replace(negation->span, "", "`is not undefined` became `is undefined`");
    }
  }

  void unary(const tree::Expr& expr) {
    if (expr.op != "not") return;
    const Token* const token = first_of(expr);
    if (token != nullptr) replace(token->span, "", "`not` was left out");
  }

  // ---- statements

  void statement(const tree::Statement& each) {
    if (each.kind == tree::StatementKind::Report || each.kind == tree::StatementKind::Warn) return;  // decide nothing
    expression(each.condition);
    expression(each.value);
    if (each.kind == tree::StatementKind::When) never(each);
    if (!each.verdict.actions.empty()) verdict(each.verdict);
    for (const tree::Statement& inner : each.body) statement(inner);
  }

  void never(const tree::Statement& rule) {
    const Span condition = tree_[rule.condition].span;
    replace(condition, fmt::format("false and ({})", source_.text(condition)), "the condition never holds");
  }

  void verdict(const tree::Verdict& verdict) {
    const auto& actions = verdict.actions;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      expression(actions[i].amount);
      expression(actions[i].second);
      const std::string words(source_.text(actions[i].span));
      if (actions.size() == 1) {
        opposite(actions[i], words);
      } else if (i + 1 < actions.size()) {
        replace({actions[i].span.begin, actions[i + 1].span.begin}, "", fmt::format("`{}` was left out", words));
      } else {
        replace({actions[i - 1].span.end, actions[i].span.end}, "", fmt::format("`{}` was left out", words));
      }
    }
  }

  void opposite(const tree::Action& action, const std::string& words) {
    static const std::map<ActionKind, std::string_view> opposites{
        {ActionKind::Continue, "stop"},   {ActionKind::Stop, "continue"},   {ActionKind::StopWhere, "continue"},
        {ActionKind::Train, "drop"},      {ActionKind::Drop, "train"},      {ActionKind::Defer, "train"},
        {ActionKind::SampleMore, "stop"}, {ActionKind::CompleteTo, "stop"}, {ActionKind::Refill, "leave"},
        {ActionKind::Leave, "refill"}};
    const auto other = opposites.find(action.kind);
    if (other == opposites.end()) return;
    replace(action.span, other->second, fmt::format("`{}` became `{}`", words, other->second));
  }

  const tree::File& tree_;
  const lang::Source& source_;
  const MutationOptions& options_;
  std::vector<Token> tokens_;
  std::set<tree::ExprId> seen_;
  std::vector<std::pair<std::uint32_t, Mutant>> made_;
};

}  // namespace

std::vector<Mutant> mutants(const lang::Program& program, const MutationOptions& options) {
  if (!program.tree || !program.source) return {};
  return Maker(program, options).run();
}

namespace {

// Whether all that is wrong with a mutant stands in its tests, which come after its change.
bool only_tests_fail(const lang::Program& program, const Mutant& mutant, const lang::Diagnostics& diagnostics) {
  const auto shorter = program.source->file(0).end - static_cast<std::uint32_t>(mutant.text.size());
  const auto in_test = [&](const lang::Diagnostic& each) {
    const auto around = [&](const auto& test) {
      return test.span.begin - shorter <= each.span.begin && each.span.begin < test.span.end - shorter;
    };
    const tree::File& tree = *program.tree;
    return std::any_of(tree.tests.begin(), tree.tests.end(), around) ||
           std::any_of(tree.scenarios.begin(), tree.scenarios.end(), around);
  };
  return std::all_of(diagnostics.all().begin(), diagnostics.all().end(), [&](const lang::Diagnostic& each) {
    return each.severity != lang::Severity::Error || in_test(each);
  });
}

}  // namespace

MutationReport mutate(const lang::Program& program, const MutationOptions& options) {
  MutationReport report;
  for (Mutant& mutant : mutants(program, options)) {
    lang::Diagnostics diagnostics;
    auto source = std::make_shared<const lang::Source>(program.source->name(), mutant.text);
    const auto changed = lang::check(source, diagnostics, program.library);
    const bool told_by_tests = mutant.members == Mutant::Members::Fewer && only_tests_fail(program, mutant, diagnostics);
    const bool same = changed && mutant.members == Mutant::Members::Reordered && lang::differences(program, *changed).empty();
    if ((!changed && !told_by_tests) || same) {
      ++report.refused;
      continue;
    }
    ++report.tried;
    if (!changed) continue;
    const std::vector<TestReport> tests = run(*changed);
    const bool noticed = std::any_of(tests.begin(), tests.end(), [](const TestReport& test) { return !test.passed; });
    if (!noticed) report.survivors.push_back(std::move(mutant));
  }
  return report;
}

}  // namespace allot::trial
