#include "runtime/lsp/symbols.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "lang/words.h"
#include "runtime/lsp/values.h"

namespace allot::lsp {

namespace tree = lang::tree;
using lang::Span;
using lang::format::Token;
using lang::format::TokenKind;

namespace {

bool contains(Span outer, std::uint32_t offset) {
  return outer.begin <= offset && offset < outer.end;
}
std::uint32_t width(Span span) {
  return span.end - span.begin;
}

// Whether one of the spans, which are ascending and stand apart, holds the offset.
bool one_contains(const std::vector<Span>& spans, std::uint32_t offset) {
  const auto after = std::partition_point(spans.begin(), spans.end(), [&](Span each) { return each.begin <= offset; });
  return after != spans.begin() && contains(*std::prev(after), offset);
}

class Finder {
 public:
  Finder(const lang::Source& source, const tree::File& file, const std::vector<Token>& tokens, bool well_formed)
      : source_(source),
        file_(file),
        tokens_(tokens),
        whole_{0, static_cast<std::uint32_t>(source.text().size())},
        well_formed_(well_formed) {}

  Symbols run() {
    for (const tree::Param& param : file_.params) {
      declare(Symbol::Kind::Parameter, param.name, whole_, line_of(param.name.span), param.doc);
      types_.push_back(param.type.span);
    }
    for (const tree::StateDecl& state : file_.states) {
      declare(Symbol::Kind::State, state.name, whole_, line_of(state.name.span));
      types_.push_back(state.type.span);
    }
    for (const tree::InputDecl& input : file_.inputs) {
      declare(Symbol::Kind::Input, input.name, whole_, line_of(input.name.span));
      types_.push_back(input.type.span);
    }
    for (const tree::FunctionDecl& function : file_.functions) declare_function(function);
    for (const tree::Handler& handler : file_.handlers) declare_handler(handler);
    for (const tree::TestDecl& test : file_.tests) declare_test(test);
    for (const tree::Expr& expr : file_.exprs) declare_variables(expr);
    for (std::size_t i = 0; i < found_.all.size(); ++i) by_name_[found_.all[i].name].all.push_back(i);
    const auto begin_of = [&](std::size_t i) { return found_.all[i].scope.begin; };
    for (auto& [name, named] : by_name_) {
      std::stable_sort(named.all.begin(), named.all.end(),
                       [&](std::size_t a, std::size_t b) { return begin_of(a) < begin_of(b); });
    }
    std::sort(types_.begin(), types_.end(), [](Span a, Span b) { return a.begin < b.begin; });
    std::sort(readers_.begin(), readers_.end(),
              [](const Reader& a, const Reader& b) { return a.condition.begin < b.condition.begin; });
    values_ = places_of_values(file_, tokens_);
    for (const tree::ScenarioDecl& scenario : file_.scenarios) scenarios_.push_back(scenario.span);
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      follow_brackets(i);
      use(i);
    }
    return std::move(found_);
  }

 private:
  // The first token that begins there or later.
  std::size_t first_token(std::uint32_t begin) const {
    const auto found = std::partition_point(tokens_.begin(), tokens_.end(),
                                            [&](const Token& token) { return token.span.begin < begin; });
    return static_cast<std::size_t>(found - tokens_.begin());
  }

  // The line of a declaration, from its first word.
  Span line_of(Span name) const {
    const std::string_view line = source_.line(source_.place(name.begin).line);
    const auto begin = static_cast<std::uint32_t>(line.data() - source_.text().data());
    std::size_t end = line.size();
    for (std::size_t i = first_token(begin); i < tokens_.size() && tokens_[i].span.begin < begin + end; ++i) {
      if (tokens_[i].kind == TokenKind::Comment) end = tokens_[i].span.begin - begin;
    }
    while (end > 0 && line[end - 1] == ' ') --end;
    return {begin, begin + static_cast<std::uint32_t>(end)};
  }

  Symbol& declare(Symbol::Kind kind, const tree::Name& name, Span scope, Span text, std::string doc = {}) {
    found_.all.push_back({kind, name.text, name.span, scope, text, std::move(doc), {}, {}});
    return found_.all.back();
  }

  void declare_function(const tree::FunctionDecl& function) {
    declare(Symbol::Kind::Function, function.name, whole_, line_of(function.name.span));
    types_.push_back(function.result.span);
    const std::uint32_t end = function.body == tree::none ? function.name.span.end : file_[function.body].span.end;
    for (const tree::Param& argument : function.params) {
      declare(Symbol::Kind::Argument, argument.name, {function.name.span.begin, end},
              {argument.name.span.begin, std::max(argument.name.span.end, argument.type.span.end)});
      types_.push_back(argument.type.span);
    }
  }

  void declare_handler(const tree::Handler& handler) {
    Symbol& variable = declare(Symbol::Kind::Variable, handler.variable, handler.span, handler.point_span);
    variable.subject = handler.subject;
    for (const tree::Statement& statement : handler.statements) declare_statement(statement, handler.span);
  }

  void declare_statement(const tree::Statement& statement, Span scope) {
    if (statement.kind == tree::StatementKind::Let) {
      declare(Symbol::Kind::Let, statement.name, scope, statement.span);
    } else if (statement.kind == tree::StatementKind::ForEach) {
      declare(Symbol::Kind::Variable, statement.name, statement.span, head_of(statement)).subject = "group";
      for (const tree::Statement& inner : statement.body) declare_statement(inner, statement.span);
    }
  }

  Span head_of(const tree::Statement& loop) const {
    return {loop.span.begin, loop.value == tree::none ? loop.name.span.end : file_[loop.value].span.end};
  }

  void declare_test(const tree::TestDecl& test) {
    const auto named = [](const auto& all, const tree::Name& name) {
      return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.name.text == name.text; });
    };
    for (const tree::Given& given : test.givens) {
      if (named(file_.states, given.name) || named(file_.inputs, given.name)) continue;
      Symbol& record = declare(Symbol::Kind::Record, given.name, test.span, line_of(given.name.span));
      if (given.value != tree::none) record.subject = file_[given.value].text;
      if (record.subject == "group") read_lets(test, given.name);
    }
  }

  // Conditions of a test see the lets of the first group handler that has some and calls its group as the test does.
  void read_lets(const tree::TestDecl& test, const tree::Name& group) {
    const auto is_let = [](const tree::Statement& each) { return each.kind == tree::StatementKind::Let; };
    const auto handler = std::find_if(file_.handlers.begin(), file_.handlers.end(), [&](const tree::Handler& each) {
      return each.variable.text == group.text && each.subject == "group" &&
             std::any_of(each.statements.begin(), each.statements.end(), is_let);
    });
    if (handler == file_.handlers.end()) return;
    for (const tree::Expect& expect : test.expects) {
      if (expect.condition == tree::none) continue;
      readers_.push_back({expect.span, handler->span, handler->variable.span.begin, group.span.begin});
    }
  }

  // `… for x in XS`, `allot … over x in XS, n in LO..HI`: the variable stands right before `in`.
  void declare_variables(const tree::Expr& expr) {
    const bool walks = expr.kind == tree::ExprKind::Comprehension;
    if (!walks && expr.kind != tree::ExprKind::Allot) return;
    for (std::size_t i = std::max<std::size_t>(1, first_token(expr.span.begin)); i + 1 < tokens_.size(); ++i) {
      if (!contains(expr.span, tokens_[i].span.begin)) break;
      if (tokens_[i + 1].text != "in") continue;
      const std::string_view before = tokens_[i - 1].text;
      if (walks ? before != "for" || tokens_[i].text != expr.text : before != "over" && before != ",") continue;
      Symbol& variable = declare(Symbol::Kind::Variable, {std::string(tokens_[i].text), tokens_[i].span}, expr.span,
                                 {tokens_[i - 1].span.begin, std::min(expr.span.end, tokens_[i + 1].span.end + 60)});
      variable.text = {tokens_[i - 1].span.begin, end_of_source(i + 1, expr.span.end)};
      const std::string_view source = source_.text(variable.text);
      if (source.ends_with("rollouts")) variable.subject = "rollout";
      if (source.ends_with("groups") || source.ends_with("ended")) variable.subject = "group";
    }
  }

  std::uint32_t end_of_source(std::size_t in, std::uint32_t end) const {
    std::size_t i = in + 1;
    while (i < tokens_.size() && tokens_[i].span.end <= end && tokens_[i].text != "where" && tokens_[i].text != "," &&
           tokens_[i].text != "maximizing" && tokens_[i].text != "minimizing") {
      ++i;
    }
    return tokens_[i - 1].span.end;
  }

  // ---- uses

  std::string_view text(std::size_t i) const { return i < tokens_.size() ? tokens_[i].text : std::string_view(); }

  // What follows in the same hole of a message, or outside of all: the next token may be one of the next hole.
  std::string_view next_to(std::size_t i) const {
    if (i + 1 >= tokens_.size()) return {};
    const bool hole_ends = source_.text(Span{tokens_[i].span.end, tokens_[i + 1].span.begin}).find('}') != std::string_view::npos;
    return hole_ends ? std::string_view() : tokens_[i + 1].text;
  }

  // After `expect`: a decision (`wave 2 (a) is drop`, `turn(g) because "…"`) or the group of a fate (`a is dropped`);
  // everything else is a condition.
  bool is_decision_or_fate(std::size_t i) const {
    const auto says_what = [&](std::size_t word) { return text(word) != "undefined" && text(word) != "not"; };
    if (text(i + 1) == "is") return says_what(i + 2);
    if (i + 1 < tokens_.size() && tokens_[i + 1].kind == TokenKind::Number) ++i;
    if (text(i + 1) != "(" || text(i + 3) != ")") return false;
    return text(i + 4) == "because" || (text(i + 4) == "is" && says_what(i + 5));
  }

  bool is_meant_as_name(std::size_t i) const {
    const Token& token = tokens_[i];
    if (token.kind != TokenKind::Word) return false;
    // The tree of a text with a mistake lacks what stands around it.
    return well_formed_ || looks_like_name(i);
  }

  bool looks_like_name(std::size_t i) const {
    const Token& token = tokens_[i];
    const std::string_view before = i > 0 ? tokens_[i - 1].text : std::string_view();
    for (const std::string_view word : {".", "on", "of", "per", "report", "every", "policy"}) {
      if (before == word) return false;
    }
    if (before == "expect" && is_decision_or_fate(i)) return false;
    if (i > 0 && tokens_[i - 1].kind == TokenKind::Number && !lang::unit_named(token.text).empty()) return false;
    return !one_contains(types_, token.span.begin);
  }

  // Whether the tree has a value there. Where it has none the word is one of the grammar, of a type, of a field.
  bool is_value(std::size_t i) const {
    return !well_formed_ || std::binary_search(values_.begin(), values_.end(), tokens_[i].span.begin);
  }

  // A scenario sets parameters, and looks at state; other names of its own are those of groups and of the ledger.
  bool is_seen(const Symbol& symbol, std::size_t i) const {
    if (scenarios_.empty() || !one_contains(scenarios_, tokens_[i].span.begin)) return true;
    if (symbol.kind == Symbol::Kind::State || symbol.kind == Symbol::Kind::Input) return text(i + 1) != ".";
    return symbol.kind == Symbol::Kind::Function || text(i + 1) == "=";
  }

  // Symbols of one name, by where their scopes begin. Those that are open are kept as the walk over the tokens goes on.
  struct Named {
    std::vector<std::size_t> all;  // into found_.all
    std::size_t next = 0;
    std::vector<std::size_t> open;
  };

  const std::vector<std::size_t>& open_at(Named& named, std::uint32_t offset) {
    const auto scope = [&](std::size_t i) { return found_.all[i].scope; };
    while (named.next < named.all.size() && scope(named.all[named.next]).begin <= offset) {
      named.open.push_back(named.all[named.next++]);
    }
    std::erase_if(named.open, [&](std::size_t i) { return !contains(scope(i), offset); });
    return named.open;
  }

  // Of each bracket that is open, the word before it where that is a function of this file, or may be.
  void follow_brackets(std::size_t i) {
    const Token& token = tokens_[i];
    if (token.kind != TokenKind::Symbol) return;
    if (token.text == "(" || token.text == "[" || token.text == "{") {
      const bool call = i > 0 && tokens_[i - 1].kind == TokenKind::Word && next_to(i - 1) == "(" &&
                        (i == 1 || tokens_[i - 2].text != ".");
      calls_.push_back(call ? tokens_[i - 1].text : std::string_view());
    } else if ((token.text == ")" || token.text == "]" || token.text == "}") && !calls_.empty()) {
      calls_.pop_back();
    }
  }

  // The argument that a label names: `x` of `worth(x: 0.4)`, where this file declares `worth`.
  Symbol* labelled(const Named& named) {
    const auto functions = calls_.empty() ? by_name_.end() : by_name_.find(calls_.back());
    if (functions == by_name_.end()) return nullptr;
    const auto function = std::find_if(functions->second.all.begin(), functions->second.all.end(), [&](std::size_t of) {
      return found_.all[of].kind == Symbol::Kind::Function;
    });
    if (function == functions->second.all.end()) return nullptr;
    const std::uint32_t begin = found_.all[*function].declared.begin;  // where the scopes of its arguments begin
    const auto scope_of = [&](std::size_t index) { return found_.all[index].scope.begin; };
    auto index = std::partition_point(named.all.begin(), named.all.end(),
                                      [&](std::size_t each) { return scope_of(each) < begin; });
    for (; index != named.all.end() && scope_of(*index) == begin; ++index) {
      if (found_.all[*index].kind == Symbol::Kind::Argument) return &found_.all[*index];
    }
    return nullptr;
  }

  void use(std::size_t i) {
    if (!is_meant_as_name(i)) return;
    const Token& token = tokens_[i];
    const bool called = next_to(i) == "(";
    const bool label = next_to(i) == ":";
    const bool value = !label && is_value(i);
    Symbol* best = nullptr;
    const auto named = by_name_.find(token.text);
    if (named == by_name_.end()) return;
    for (const std::size_t index : open_at(named->second, token.span.begin)) {
      Symbol& symbol = found_.all[index];
      const bool here = symbol.declared.begin == token.span.begin;
      const bool fits = value && called == (symbol.kind == Symbol::Kind::Function) && is_seen(symbol, i);
      if (!here && !fits) continue;
      if (here || best == nullptr || width(symbol.scope) < width(best->scope)) best = &symbol;
      if (here) break;
    }
    if (best == nullptr && label) best = labelled(named->second);
    if (best == nullptr && value && !called) best = let_of_condition(named->second, token.span.begin);
    if (best != nullptr) best->uses.push_back(token.span);
  }

  Symbol* let_of_condition(const Named& named, std::uint32_t offset) {
    auto reader = std::partition_point(readers_.begin(), readers_.end(),
                                       [&](const Reader& each) { return each.condition.begin <= offset; });
    while (reader != readers_.begin() && contains((--reader)->condition, offset)) {
      const auto scope = [&](std::size_t index) { return found_.all[index].scope; };
      auto index = std::partition_point(named.all.begin(), named.all.end(), [&](std::size_t each) {
        return scope(each).begin < reader->handler.begin;
      });
      for (; index != named.all.end() && scope(*index).begin == reader->handler.begin; ++index) {
        Symbol& symbol = found_.all[*index];
        if (symbol.kind != Symbol::Kind::Let || symbol.scope.end != reader->handler.end) continue;
        found_.read_by_name.insert(found_.read_by_name.end(), {reader->variable, reader->record});
        return &symbol;
      }
    }
    return nullptr;
  }

  const lang::Source& source_;
  const tree::File& file_;
  const std::vector<Token>& tokens_;
  Span whole_;
  bool well_formed_;
  // A condition of a test, the handler whose lets it sees, and where the handler and the test name the group.
  struct Reader {
    Span condition;
    Span handler;
    std::uint32_t variable = 0;
    std::uint32_t record = 0;
  };

  std::vector<Span> types_;  // in order, once all are there
  std::vector<Span> scenarios_;
  std::vector<std::uint32_t> values_;  // where they begin, ascending
  std::vector<Reader> readers_;
  std::vector<std::string_view> calls_;  // whose brackets are open; of other brackets none
  std::map<std::string, Named, std::less<>> by_name_;
  Symbols found_;
};

}  // namespace

std::string_view name(Symbol::Kind kind) {
  switch (kind) {
    case Symbol::Kind::Parameter:
      return "parameter";
    case Symbol::Kind::State:
      return "state";
    case Symbol::Kind::Input:
      return "input";
    case Symbol::Kind::Function:
      return "function";
    case Symbol::Kind::Argument:
      return "argument";
    case Symbol::Kind::Let:
      return "let";
    case Symbol::Kind::Variable:
      return "variable";
    case Symbol::Kind::Record:
      return "record of a test";
  }
  return "name";
}

const Symbol* Symbols::at(std::uint32_t offset) const {
  for (const Symbol& symbol : all) {
    for (const Span use : symbol.uses) {
      if (use.begin <= offset && offset <= use.end) return &symbol;
    }
  }
  return nullptr;
}

const Symbol* Symbols::argument(const Symbol& function, std::string_view name) const {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Symbol& each) {
    return each.kind == Symbol::Kind::Argument && each.scope.begin == function.declared.begin && each.name == name;
  });
  return found == all.end() ? nullptr : &*found;
}

std::vector<const Symbol*> Symbols::visible(std::uint32_t offset) const {
  std::vector<const Symbol*> here;
  for (const Symbol& symbol : all) {
    if (symbol.scope.begin <= offset && offset <= symbol.scope.end) here.push_back(&symbol);
  }
  return here;
}

Symbols find_symbols(const lang::Source& source, const tree::File& tree, const std::vector<Token>& tokens,
                     bool well_formed) {
  return Finder(source, tree, tokens, well_formed).run();
}

}  // namespace allot::lsp
