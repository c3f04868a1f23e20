#include <fmt/format.h>

#include "lang/grammar/entry.h"
#include "lang/grammar/rules.h"
#include "lang/limits.h"
#include "lang/words.h"

namespace allot::lang::grammar {
namespace {

using Kind = tree::StatementKind;
using tree::Statement;

constexpr NameToken a_name{"a name"};
constexpr OneOf point{point_words, "a decision point"};
constexpr OneOf subject{subject_words, "`group`, `batch`, `rollout`, `micro_batch` or `pool`"};
constexpr Ahead<&State::action_here> action_here{};

const std::vector<std::string>& block_words() {
  static const auto words = [] {
    auto all = statement_words();
    all.insert(all.end(), action_words().begin(), action_words().end());
    return all;
  }();
  return words;
}

template <Kind kind>
constexpr auto is_a = [](const auto& context) { x3::_val(context).kind = kind; };
constexpr auto condition = set_to<&Statement::condition>;
constexpr auto value = set_to<&Statement::value>;

bool is_rule(const Statement& statement) {
  return statement.kind == Kind::When || statement.kind == Kind::Otherwise || statement.kind == Kind::Bare;
}

void check_statement(State& s, const std::vector<Statement>& before, const Statement& statement) {
  if (before.size() >= static_cast<std::size_t>(limits.statements)) {
    s.refuse("E0024", statement.span, fmt::format("more than {} statements in one block", limits.statements));
  }
  if (statement.kind != Kind::Bare || before.empty() || !is_rule(before.back())) return;
  s.refuse("E0027", statement.span, "a verdict right after another",
           "join actions of one verdict with `,`; begin the next rule with `when` or `otherwise`");
}

constexpr auto push_statement = [](const auto& context) {
  check_statement(state(context), x3::_val(context), x3::_attr(context));
  x3::_val(context).push_back(std::move(x3::_attr(context)));
};

constexpr auto target_name = [](const auto& context) {
  auto& s = state(context);
  const auto& name = x3::_attr(context);
  tree::Expr expr;
  expr.kind = tree::ExprKind::Name;
  expr.text = name.text;
  expr.span = name.span;
  x3::_val(context).target = s.add(std::move(expr));
};
constexpr auto target_key = [](const auto& context) {
  auto& s = state(context);
  const auto base = x3::_val(context).target;
  tree::Expr expr;
  expr.kind = tree::ExprKind::Index;
  expr.args = {base, x3::_attr(context)};
  expr.span = {s.at(base).span.begin, s.at(x3::_attr(context)).span.end + 1};
  x3::_val(context).target = s.add(std::move(expr));
};
constexpr auto warn_reason = [](const auto& context) {
  x3::_val(context).verdict.because = state(context).add(std::move(x3::_attr(context)));
};

constexpr auto head = [](const auto& context) {
  auto& handler = x3::_val(context);
  handler = std::move(x3::_attr(context));
  handler.point_span = handler.span;
};
constexpr auto every = [](const auto& context) { x3::_val(context).every = true; };
constexpr auto tokens = [](const auto& context) { x3::_val(context).point = "tokens"; };
constexpr auto ahead = [](const auto& context) { x3::_val(context).ahead_runs = true; };
constexpr auto turn = [](const auto& context) { x3::_val(context).point = "turn"; };

struct StatementTag;
struct LetTag;
struct RuleTag;
struct RememberTag;
struct MetricTag;
struct LoopTag;
struct HeadTag;
struct HandlerTag;

const Rule<Statement, StatementTag> statement{"a statement"};
const Rule<Statement, LetTag> let{"let"};
const Rule<Statement, RuleTag> a_rule{"a rule"};
const Rule<Statement, RememberTag> remember{"remember"};
const Rule<Statement, MetricTag> metric{"a metric"};
const Rule<Statement, LoopTag> loop{"for each"};
const Rule<tree::Handler, HeadTag> head_rule{"a decision point"};
const Rule<tree::Handler, HandlerTag> handler{"a handler"};

const auto statement_def = spanned(let | a_rule | remember | metric | loop);
const auto let_def = maybe("let")[is_a<Kind::Let>] > a_name[set_to<&Statement::name>] > mark("=") > expression[value];
const auto a_rule_def = (maybe("when")[is_a<Kind::When>] > ValueHere("a condition") > expression[condition] >
                         word("then") > verdict[set_to<&Statement::verdict>]) |
                        (maybe("otherwise")[is_a<Kind::Otherwise>] > verdict[set_to<&Statement::verdict>]) |
                        (action_here >> x3::eps[is_a<Kind::Bare>] >> verdict[set_to<&Statement::verdict>]);
const auto remember_def = maybe("remember")[is_a<Kind::Remember>] > a_name[target_name] >
                          -(maybe_mark("[") > expression[target_key] > mark("]")) > mark("=") > expression[value];
const auto metric_def =
    (maybe("report")[is_a<Kind::Report>] > a_name[set_to<&Statement::name>] > mark("=") > expression[value]) |
    (maybe("warn")[is_a<Kind::Warn>] > word("when") > ValueHere("a condition") > expression[condition] >
     word("because") > (string[warn_reason] | Want("a string")));
const auto loop_def = maybe("for")[is_a<Kind::ForEach>] > word("each") > a_name[set_to<&Statement::name>] >
                      word("in") > expression[value] > block[set_to<&Statement::body>];
const auto block_def = level >> mark("{") > *statement[push_statement] >
                       (maybe_mark("}") | Want("a statement", block_words) | Want("`}`"));

const auto head_rule_def =
    spanned(((maybe("every")[every] >
              ((maybe("turn")[turn]) | (count[set_to<&tree::Handler::number>] > word("tokens")[tokens]))) |
             (point[text_to<&tree::Handler::point>] > -(!maybe("of") >> count[set_to<&tree::Handler::number>]))) >
            word("of") > subject[text_to<&tree::Handler::subject>] > a_name[set_to<&tree::Handler::variable>]);
const auto handler_def =
    spanned(maybe("on") > head_rule[head] > -(maybe("by") > expression[push_to<&tree::Handler::keys>] >
                                              *(mark(",") > expression[push_to<&tree::Handler::keys>])) >
            -((maybe_mark(",") >> maybe("ahead")) > mark(":") > word("run")[ahead]) >
            block[set_to<&tree::Handler::statements>]);

BOOST_SPIRIT_DEFINE(statement, let, a_rule, remember, metric, loop, head_rule, handler)

}  // namespace

BOOST_SPIRIT_DEFINE(block)
BOOST_SPIRIT_INSTANTIATE(decltype(block), Iterator, Context)

void read_handler(State& s, Iterator first, Iterator last, tree::Handler& found) {
  read_all(s, first, last, handler, found);
}

}  // namespace allot::lang::grammar
