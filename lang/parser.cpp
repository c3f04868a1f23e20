#include "lang/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/grammar/entry.h"
#include "lang/scanner.h"
#include "lang/words.h"

namespace allot::lang {
namespace {

using grammar::Iterator;
using grammar::Refused;
using grammar::State;

class Parser {
 public:
  Parser(const Source& source, Diagnostics& diagnostics, std::uint32_t begin)
      : source_(source), diagnostics_(diagnostics), begin_(begin) {}

  tree::File run(const Scan& scan) {
    for (const auto& item : scan.items) {
      if (item.broken)
        remember_name(item);
      else
        read(item);
    }
    // Where the file begins with something that is no item, that has been said, and is most likely the same mistake.
    const bool begins_well = scan.items.empty() || is_item_word(scan.items.front().word);
    if (!has_policy_ && begins_well) {
      diagnostics_.add({.code = "E0017",
                        .span = {begin_, begin_},
                        .message = "this file names no policy",
                        .help = "begin with `policy` and a name"});
    }
    return std::move(file_);
  }

 private:
  void read(const Item& item) {
    State state(source_, file_);
    try {
      read(item, state);
    } catch (const Refused& refused) {
      diagnostics_.add(refused.diagnostic);
      remember_name(item);
      if (item.word == "policy") has_policy_ = true;
    }
  }

  // One item with the function that reads its kind.
  void read(const Item& item, State& state) {
    const Iterator first = source_.text().data() + item.span.begin;
    const Iterator last = source_.text().data() + item.span.end;
    const auto with = [&](auto reader, auto found) {
      reader(state, first, last, found);
      return found;
    };
    const auto& word = item.word;
    if (word == "policy") return policy(item, state, first, last);
    if (word == "param") {
      auto param = with(grammar::read_param, tree::Param{});
      param.doc = item.doc;
      file_.params.push_back(std::move(param));
    } else if (word == "state") {
      file_.states.push_back(with(grammar::read_state, tree::StateDecl{}));
    } else if (word == "input") {
      file_.inputs.push_back(with(grammar::read_input, tree::InputDecl{}));
    } else if (word == "budget") {
      file_.budgets.push_back(with(grammar::read_budget, tree::BudgetDecl{}));
    } else if (word == "refill") {
      file_.refills.push_back(with(grammar::read_refill, tree::RefillDecl{}));
    } else if (word == "fn") {
      file_.functions.push_back(with(grammar::read_function, tree::FunctionDecl{}));
    } else if (word == "on") {
      file_.handlers.push_back(with(grammar::read_handler, tree::Handler{}));
    } else if (word == "test") {
      file_.tests.push_back(with(grammar::read_test, tree::TestDecl{}));
    } else if (word == "scenario") {
      file_.scenarios.push_back(with(grammar::read_scenario, tree::ScenarioDecl{}));
    } else if (word == "import") {
      file_.imports.push_back(with(grammar::read_import, tree::ImportDecl{}));
    } else if (word == "migrate") {
      file_.migrations.push_back(with(grammar::read_migrate, tree::MigrateDecl{}));
    } else if (word == "hit") {
      const auto hit = with(grammar::read_hit, tree::none);
      once(file_.hit != tree::none, item, file_.hit_span);
      file_.hit = hit;
      file_.hit_span = item.span;
    } else if (word == "flat") {
      const auto within = with(grammar::read_flat, tree::none);
      once(file_.flat_within != tree::none, item, flat_span_);
      file_.flat_within = within;
      flat_span_ = item.span;
    } else {
      refuse(item, state, first);
    }
  }

  void policy(const Item& item, State& state, Iterator first, Iterator last) {
    const Span word{item.span.begin, item.span.begin + 6};
    if (has_policy_) {
      throw Refused{{.code = "E0018",
                     .span = word,
                     .message = "a second `policy`",
                     .help = "a file holds one policy",
                     .contexts = {{file_.policy.span, "the first"}}}};
    }
    grammar::PolicyLine line;
    grammar::read_policy(state, first, last, line);
    file_.policy = std::move(line.name);
    file_.members = std::move(line.members);
    has_policy_ = true;
    file_.doc = item.doc;
  }

  void once(bool again, const Item& item, Span first) const {
    if (!again) return;
    throw Refused{
        {.code = "E0026",
         .span = {item.span.begin, item.span.begin + static_cast<std::uint32_t>(item.word.size())},
         .message = fmt::format("a second `{}`", item.word),
         .help = fmt::format("a policy says `{}` once", item.word),
         .contexts = {{{first.begin, first.begin + static_cast<std::uint32_t>(item.word.size())}, "the first"}}}};
  }

  // Something stands where an item should begin.
  void refuse(const Item& item, const State& state, Iterator first) const {
    const auto size = static_cast<std::uint32_t>(item.word.size());
    const Span span{state.offset(first), state.offset(first) + size};
    std::string near = near_match(item.word, item_words());
    for (const auto& point : point_words()) {
      if (item.word == "on" + point) near = "on " + point;
    }
    for (const auto& word : item_words()) {
      if (item.word.size() > word.size() && item.word.starts_with(word) && word.size() > near.size()) near = word;
    }
    if (item.word == "const" || item.word == "let" || item.word == "var") near = "param";
    if (item.word == "def" || item.word == "function" || item.word == "fun" || item.word == "func") near = "fn";
    const bool statement = is_statement_word(item.word) || is_action_word(item.word);
    throw Refused{{.code = "E0002",
                   .span = span,
                   .message = fmt::format("`{}` begins no declaration, handler or test", item.word),
                   .help = !near.empty() ? fmt::format("did you mean `{}`?", near)
                           : statement   ? "rules stand in a handler: on finish of group g { … }"
                                       : "a policy is made of policy, import, param, hit, flat, budget, refill, "
                                         "state, migrate, input, fn, on, test and scenario"}};
  }

  // The name that a broken item would have declared, so that no later message blames those who use it.
  void remember_name(const Item& item) {
    static const std::vector<std::string> declaring{"param", "state", "input", "fn"};
    if (item.word == "policy") has_policy_ = true;
    if (std::find(declaring.begin(), declaring.end(), item.word) == declaring.end()) return;
    tree::File ignored;
    State state(source_, ignored);
    tree::Name name;
    Iterator first = source_.text().data() + item.span.begin + item.word.size();
    if (state.any_name(first, source_.text().data() + item.span.end, "a name", name)) file_.unread.push_back(name.text);
  }

  const Source& source_;
  Diagnostics& diagnostics_;
  std::uint32_t begin_;
  tree::File file_;
  Span flat_span_;
  bool has_policy_ = false;
};

}  // namespace

std::optional<tree::File> parse(const Source& source, Diagnostics& diagnostics, std::size_t file) {
  const auto scanned = scan(source, diagnostics, file);
  // A file with too many parts is not read any further: what it would cost is what the limit is for.
  const auto& found = diagnostics.all();
  const bool too_many = std::any_of(found.begin(), found.end(), [](const auto& each) { return each.code == "E0024"; });
  if (!scanned || too_many) return std::nullopt;
  return Parser(source, diagnostics, source.file(file).begin).run(*scanned);
}

tree::ExprId parse_expression(const Source& source, tree::File& into, Diagnostics& diagnostics) {
  const auto scanned = scan_expression(source, diagnostics);
  if (!scanned || diagnostics.has_errors()) return tree::none;
  State state(source, into);
  const auto item = scanned->items.front().span;
  auto found = tree::none;
  try {
    grammar::read_expression(state, source.text().data() + item.begin, source.text().data() + item.end, found);
  } catch (const Refused& refused) {
    diagnostics.add(refused.diagnostic);
    return tree::none;
  }
  return found;
}

}  // namespace allot::lang
