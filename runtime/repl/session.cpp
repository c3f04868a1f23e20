#include "runtime/repl/session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "compiler/executable.h"
#include "lang/format/tokens.h"
#include "lang/program.h"
#include "lang/reference/reference.h"
#include "lang/scanner.h"
#include "lang/words.h"
#include "runtime/engine/question.h"
#include "runtime/engine/verdict.h"
#include "runtime/trial/record.h"

namespace allot::repl {

using lang::Cell;
using lang::format::Token;
using lang::format::TokenKind;

namespace {

constexpr std::size_t nothing_shown = static_cast<std::size_t>(-1);

std::vector<Token> tokens_of(const lang::Source& source) {
  std::vector<Token> tokens = lang::format::tokens(source);
  std::erase_if(tokens, [](const Token& token) { return token.kind == TokenKind::Comment; });
  return tokens;
}

bool declares(std::string_view word) {
  for (const std::string_view known :
       {"param", "state", "fn", "hit", "flat", "budget", "refill", "input", "let", "given"}) {
    if (word == known) return true;
  }
  return false;
}

constexpr std::string_view asks_a_group = "a session asks about a group: given g = group { … }\n";

// Why the line is nothing that a session can hold; empty where it may be.
std::string why_not(const std::vector<Token>& tokens) {
  const std::string_view word = tokens.front().text;
  const auto text = [&](std::size_t i) { return i < tokens.size() ? tokens[i].text : std::string_view(); };
  const bool record = tokens.size() > 4 && tokens[3].kind == TokenKind::Word && text(4) == "{";
  if (word == "given" && record && text(3) != "group") return std::string(asks_a_group);
  if (!lang::is_item_word(word) || declares(word) || tokens.size() < 2) return {};
  // `test is undefined`: a value may have such a name.
  const bool item = tokens[1].kind == TokenKind::String ||
                    (tokens[1].kind == TokenKind::Word && !lang::joins_operands(tokens[1].text));
  return item ? fmt::format("`{}` stands in a policy; a session holds let, given, param, state, input, fn, hit, flat, budget "
                            "and refill\n", word)
              : std::string();
}

// Mistakes as if the line stood alone; those that lie elsewhere are about what was declared before.
std::string mistakes(const lang::Diagnostics& found, const std::string& line, std::size_t begin) {
  const lang::Source shown("line", line);
  std::string text;
  for (lang::Diagnostic diagnostic : found.all()) {
    if (diagnostic.severity != lang::Severity::Error) continue;
    const bool inside = diagnostic.span.begin >= begin && diagnostic.span.begin <= begin + line.size();
    const auto shift = static_cast<std::uint32_t>(begin);
    const auto size = static_cast<std::uint32_t>(line.size());
    diagnostic.span.begin = inside ? diagnostic.span.begin - shift : 0;
    diagnostic.span.end = inside ? std::min(std::max(diagnostic.span.end, shift) - shift, size) : size;
    diagnostic.contexts.clear();
    text += lang::render(diagnostic, shown);
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

// The group that was given, or one of four rollouts that still run.
constexpr std::string_view plain_group = "given g = group { started: 4 }";

// The name under which a session's handler has the expression: a `let`, for that can be of any type.
constexpr std::string_view asked_name = "asked_of_this_session";

// The expression becomes what the handler of an `allot eval` has: a report, or the amount of a rule where it is a vector.
lang::NodeId make_asked(lang::Program& program) {
  lang::Handler& handler = program.handlers.front();
  const auto let = std::find_if(handler.lets.begin(), handler.lets.end(),
                                [](const lang::Let& each) { return each.name == asked_name; });
  const lang::NodeId value = let->value;
  if (handler.nodes[static_cast<std::size_t>(value)].type.vector()) {
    lang::Rule rule;
    rule.verdict.amount = value;
    handler.rules = {std::move(rule)};
  } else {
    lang::Effect effect;
    effect.kind = lang::EffectKind::Report;
    effect.index = 0;
    effect.value = value;
    handler.effects = {std::move(effect)};
    program.reports = {"value"};
  }
  return value;
}

struct Asked {
  const lang::Program& program;
  std::vector<Cell> parameters;
  std::unique_ptr<compiler::Executable> evaluator;
  engine::StateStore store;
};

void score_hits(const Asked& asked, engine::LiveGroup& group, const engine::RunFacts& run) {
  if (!asked.program.hit) return;
  for (std::size_t sample = 0; sample < group.log.rollouts.size(); ++sample) {
    engine::RolloutLog& rollout = group.log.rollouts[sample];
    if (!rollout.scored()) continue;
    engine::Question question;
    question.fill_hit(*asked.program.hit, group.facts(0), static_cast<int>(sample), run);
    const Cell hit = asked.evaluator->hit(question.frame());
    if (hit.defined != 0) rollout.hit = hit.truth();
  }
}

// What is given of states, for the group that is asked about.
std::optional<Error> give_states(Asked& asked, engine::LiveGroup& group, trial::Allowance& allowance) {
  const lang::tree::File& tree = *asked.program.tree;
  for (const lang::tree::Given& given : tree.tests.front().givens) {
    for (std::size_t i = 0; i < asked.program.states.size(); ++i) {
      const lang::State& state = asked.program.states[i];
      if (state.name != given.name.text) continue;
      auto value = trial::literal(tree, given.value, allowance);
      if (!value) return value.error();
      const std::vector<Cell> cells = value->cells(state.type.base);
      if (static_cast<std::int64_t>(cells.size()) != state.type.cells()) {
        return Error{fmt::format("`{}` is {}; a session's group has one prompt.", state.name, lang::to_text(state.type)), ""};
      }
      switch (state.scope) {
        case lang::StateScope::Group: group.state[i] = cells; break;
        case lang::StateScope::Prompt: asked.store.write_prompt(group.log.prompt, i, cells); break;
        case lang::StateScope::Run: asked.store.write_run(i, cells); break;
        case lang::StateScope::Category: asked.store.write_category(group.log.category, i, cells); break;
      }
    }
  }
  return std::nullopt;
}

std::string with_unit(const Cell& value, const lang::Type& type) {
  const std::string unit = lang::to_text(type.unit);
  const std::string text = lang::show(value, type);
  return value.defined == 0 || unit.empty() ? text : text + " " + unit;
}

std::string with_unit(const compiler::Column& value, lang::Type type) {
  if (type.matrix() && type.columns == 0) type.columns = static_cast<std::int16_t>(value.width);
  const bool undefined = type.missing && value.size == 0;
  const std::string unit = undefined ? "" : lang::to_text(type.unit);
  return lang::show(std::span(value.cells, static_cast<std::size_t>(value.size)), type) + (unit.empty() ? "" : " " + unit);
}

// `given belief = beta(1, 2)`: the value of a state that is declared, and no record.
bool is_state(const std::vector<std::string>& states, std::string_view name) {
  return std::find(states.begin(), states.end(), name) != states.end();
}

}  // namespace

bool Session::unfinished(std::string_view text) {
  const lang::Source source("line", std::string(text));
  int open = 0;
  for (const Token& token : tokens_of(source)) {
    if (token.kind != TokenKind::Symbol) continue;
    open += token.text == "(" || token.text == "[" || token.text == "{";
    open -= token.text == ")" || token.text == "]" || token.text == "}";
  }
  return open > 0;
}

// The handler's `report` holds the expression; `shown` is the piece that the user has just written.
Session::Written Session::policy(const std::vector<Piece>& pieces, const std::string& expression,
                                 std::size_t shown) const {
  Written written{"policy session\n", 0};
  const auto add = [&](std::size_t i) {
    if (i == shown) written.begin = written.text.size();
    written.text += pieces[i].text + "\n";
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].word != "let" && pieces[i].word != "given") add(i);
  }
  const std::vector<std::string> states = states_of(pieces);
  const auto record = std::find_if(pieces.rbegin(), pieces.rend(), [&](const Piece& each) {
    return each.word == "given" && !each.name.empty() && !is_state(states, each.name);
  });
  written.text += fmt::format("on finish of group {} {{\n", record == pieces.rend() ? "g" : record->name);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].word == "let") add(i);
  }
  written.text += fmt::format("let {} = ", asked_name);
  if (shown == nothing_shown) written.begin = written.text.size();
  written.text += expression + "\n}\ntest \"session\" {\n";
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].word == "given") add(i);
  }
  if (record == pieces.rend()) written.text += std::string(plain_group) + "\n";
  written.text += "expect 1 < 2\n}\n";
  return written;
}

std::vector<std::string> Session::states_of(const std::vector<Piece>& pieces) {
  std::vector<std::string> states;
  for (const Piece& piece : pieces) {
    if (piece.word == "state" || piece.word == "input") states.push_back(piece.name);
  }
  return states;
}

Reply Session::declare(Piece piece) {
  std::vector<Piece> pieces = pieces_;
  const std::vector<std::string> states = states_of(pieces_);
  const auto is_record = [&](const Piece& each) { return each.word == "given" && !is_state(states, each.name); };
  // A session has one record; what is given of a state stands beside the state; any other name is declared once.
  std::erase_if(pieces, [&](const Piece& each) {
    if (piece.word == "given" || each.word == "given") {
      const bool same_state = each.word == piece.word && each.name == piece.name;
      return same_state || (is_record(piece) && is_record(each));
    }
    return piece.name.empty() ? piece.word == each.word : each.name == piece.name;
  });
  const std::string line = piece.text;
  pieces.push_back(std::move(piece));
  const Written written = policy(pieces, "0", pieces.size() - 1);
  lang::Diagnostics diagnostics;
  const auto source = std::make_shared<const lang::Source>("session", written.text);
  if (!lang::check(source, diagnostics)) return {mistakes(diagnostics, line, written.begin), true, false};
  pieces_ = std::move(pieces);
  return {};
}

Reply Session::value(const std::string& expression) const {
  const Written written = policy(pieces_, expression, nothing_shown);
  lang::Diagnostics diagnostics;
  const auto source = std::make_shared<const lang::Source>("session", written.text);
  auto program = lang::check(source, diagnostics);
  if (!program) return {mistakes(diagnostics, expression, written.begin), true, false};
  const lang::NodeId asked_for = make_asked(*program);
  auto parameters = lang::bind(*program, {});
  if (!parameters) return {parameters.error().text() + "\n", true, false};
  Asked asked{*program, *std::move(parameters), compiler::evaluate(*program), engine::StateStore(*program)};
  trial::Allowance allowance;
  const lang::tree::Given* subject = nullptr;
  for (const lang::tree::Given& given : program->tree->tests.front().givens) {
    if (program->tree->operator[](given.value).kind == lang::tree::ExprKind::Record) subject = &given;
  }
  if (subject == nullptr) return {std::string(asks_a_group), true, false};
  auto record = trial::read_record(*program, asked.parameters, *subject, allowance);
  if (!record) return {record.error().text() + "\n", true, false};
  if (!record->is_group()) return {std::string(asks_a_group), true, false};
  if (auto error = give_states(asked, *record->group, allowance)) return {error->text() + "\n", true, false};

  const lang::Handler& handler = program->handlers.front();
  engine::LiveGroup& group = *record->group;
  const engine::Ledger ledger(*program, asked.parameters, 1, false);
  const engine::RunFacts run{&*program, &asked.parameters, &ledger, 0, 8, 0};
  score_hits(asked, group, run);
  engine::Question question;
  question.fill(handler, group.facts(record->turn), run, asked.store, group.state);
  for (const auto& [fact, given] : record->facts)
    question.replace(handler, fact, given.cell(lang::row(fact).type.base));
  engine::Answer answer;
  answer.prepare(*program, handler);
  asked.evaluator->decide(0, question.frame(), answer.outcome);
  if (answer.outcome.fault != compiler::FaultKind::None) {
    return {fmt::format("no value: {}. In a policy this is a fault: the default of the point stands.\n",
                        engine::words(answer.outcome.fault)),
            true, false};
  }
  const lang::Type& type = handler.nodes[static_cast<std::size_t>(asked_for)].type;
  const std::string shown =
      type.vector() ? with_unit(answer.outcome.amounts, type) : with_unit(answer.reports().front(), type);
  return {shown + "\n", false, false};
}

Reply Session::line(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos || text[begin] == '#') return {};
  if (text[begin] == ':') return command(std::string_view(text).substr(begin + 1));
  const lang::Source source("line", text);
  const std::vector<Token> tokens = tokens_of(source);
  const std::string word(tokens.front().text);
  if (std::string why = why_not(tokens); !why.empty()) return {std::move(why), true, false};
  if (!declares(word)) return value(text);
  const bool named = word != "hit" && word != "flat" && word != "budget" && word != "refill" && tokens.size() > 1;
  return declare({word, named ? std::string(tokens[1].text) : std::string(), text});
}

Reply Session::load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) return {fmt::format("cannot read {}: {}\n", path, std::strerror(errno)), true, false};
  lang::Diagnostics diagnostics;
  const lang::Source source(path, text);
  const auto items = lang::scan(source, diagnostics);
  int taken = 0;
  for (const lang::Item& item : items ? items->items : std::vector<lang::Item>()) {
    if (!declares(item.word)) continue;
    if (const Reply reply = line(std::string(source.text(item.span))); reply.failed) return reply;
    ++taken;
  }
  return {fmt::format("{} declarations of {}\n", taken, path), false, false};
}

Reply Session::command(std::string_view words) {
  while (words.ends_with(' ')) words.remove_suffix(1);
  const std::string_view verb = words.substr(0, words.find(' '));
  const std::string rest(words.size() > verb.size() ? words.substr(verb.size() + 1) : std::string_view());
  if (verb == "quit" || verb == "q") return {"", false, true};
  if (verb == "load") return load(rest);
  if (verb == "clear") {
    pieces_.clear();
    return {};
  }
  if (verb == "list") {
    std::string text;
    for (const Piece& piece : pieces_) text += piece.text + "\n";
    return {text, false, false};
  }
  if (verb == "help" && !rest.empty()) {
    std::string text;
    for (const bool after_dot : {false, true}) {
      for (const auto* entry : lang::reference::find(rest, after_dot))
        text += entry->signature + "\n    " + entry->doc + "\n";
    }
    return text.empty() ? Reply{fmt::format("there is no name {}\n", rest), true, false} : Reply{text, false, false};
  }
  return {
      "an expression                 its value\n"
      "let x = EXPR                  a name for a value\n"
      "param, state, fn, hit, flat   as in a policy\n"
      "given g = group { … }         the group that expressions ask about: g.reward_mean\n"
      ":load FILE  :list  :clear     declarations of a policy; those that hold; none\n"
      ":help NAME  :quit\n",
      verb != "help", false};
}

std::vector<std::string> Session::completions(std::string_view before) const {
  std::size_t begin = before.size();
  while (begin > 0 && lang::is_name_char(before[begin - 1])) --begin;
  const std::string_view letters = before.substr(begin);
  const bool after_dot = begin > 0 && before[begin - 1] == '.';
  std::set<std::string> found;
  for (const lang::reference::Entry& entry : lang::reference::entries()) {
    const bool dotted = lang::reference::stands_after_dot(entry);
    const bool of_group = entry.subject == lang::Subject::Group || !dotted;
    if (entry.kind == lang::reference::Kind::Operator) continue;
    if (dotted == after_dot && of_group && entry.name.starts_with(letters)) found.insert(entry.name);
  }
  for (const Piece& piece : pieces_) {
    if (!after_dot && !piece.name.empty() && piece.name.starts_with(letters)) found.insert(piece.name);
  }
  return {found.begin(), found.end()};
}

}  // namespace allot::repl
