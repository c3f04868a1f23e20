// `scenario "…" { slots 2 … iteration { group a: rewards 1, 0, ?; expect … } }`: tests over time.
#include "lang/grammar/entry.h"
#include "lang/grammar/rules.h"

namespace allot::lang::grammar {
namespace {

using Words = std::vector<std::string>;

constexpr NameToken a_name{"a name"};
constexpr AnyNameToken a_point{"a decision point"};
constexpr Named<&State::dotted_name> a_setting{"a name"};
constexpr Token<tree::Expr, &State::integer> integer{};
constexpr Token<tree::Expr, &State::score> score_number{};
constexpr Ahead<&State::timed_decision_here> decision_here{};
constexpr Ahead<&State::fate_here> fate_here{};

const Words& scenario_words() {
  static const Words words{"with",  "given",  "slots", "pool",     "seed",
                           "size",  "budget", "turn_limit", "turn_tokens", "iteration"};
  return words;
}
const Words& host_words() {
  static const Words words{"slots", "seed", "size", "turn_limit", "turn_tokens"};
  return words;
}
const Words& iteration_words() {
  static const Words words{"group", "expect"};
  return words;
}
const Words& part_words() {
  static const Words words{"rewards", "actions"};
  return words;
}
const Words& fates() {
  static const Words words{"trained", "dropped", "deferred", "surplus", "cancelled"};
  return words;
}
constexpr OneOf fate{fates, "`trained`, `dropped`, `deferred`, `surplus` or `cancelled`"};
constexpr OneOf host_word{host_words, "`slots`, `pool`, `seed`, `size`, `turn_limit`, `turn_tokens` or `budget`"};

std::string plain_text(State& s, const tree::Expr& string, std::string_view what) {
  std::string text;
  for (const auto& part : string.parts) {
    if (part.hole != tree::none) {
      s.refuse("E0006", string.span, std::string(what) + " holds no values", "write the braces twice: {{ }}");
    }
    text += part.text;
  }
  return text;
}

constexpr auto titled = [](const auto& context) {
  x3::_val(context).title = plain_text(state(context), x3::_attr(context), "the title of a scenario");
};
// Prompts are called by a word, or by any text in quotes.
constexpr auto quoted_name = [](const auto& context) {
  auto& s = state(context);
  const tree::Expr& string = x3::_attr(context);
  x3::_val(context) = {plain_text(s, string, "the name of a prompt"), string.span};
};
constexpr auto prompt_value = [](const auto& context) {
  const tree::Name& name = x3::_attr(context);
  tree::Expr string;
  string.kind = tree::ExprKind::String;
  string.parts = {{name.text, tree::none}};
  string.span = name.span;
  x3::_val(context).values.push_back(state(context).add(std::move(string)));
};
constexpr auto reward = [](const auto& context) {
  x3::_val(context).reward = state(context).add(std::move(x3::_attr(context)));
};
constexpr auto unscored = [](const auto& context) { x3::_val(context).kind = tree::Score::Kind::Unscored; };
constexpr auto failed = [](const auto& context) { x3::_val(context).kind = tree::Score::Kind::Failed; };
constexpr auto numbered = [](const auto& context) {
  x3::_val(context).number = state(context).add(std::move(x3::_attr(context)));
};
constexpr auto reason = [](const auto& context) {
  x3::_val(context).because = state(context).add(std::move(x3::_attr(context)));
};
constexpr auto set_word = [](const char* text) {
  return [text](const auto& context) { x3::_val(context).name.text = text; };
};

struct PromptTag;
struct SettingTag;
struct GivenTag;
struct HostTag;
struct PoolTag;
struct ScoreTag;
struct GroupTag;
struct ExpectTag;
struct IterationTag;
struct ScenarioTag;

const Rule<tree::Name, PromptTag> prompt{"a prompt"};
const Rule<tree::Setting, SettingTag> setting{"a setting"};
const Rule<tree::KeyedGiven, GivenTag> given{"what is given"};
const Rule<tree::HostSetting, HostTag> host{"a setting of the host"};
const Rule<tree::HostSetting, PoolTag> pool{"the pool"};
const Rule<tree::Score, ScoreTag> score{"a reward"};
const Rule<tree::ScenarioGroup, GroupTag> group{"a group"};
const Rule<tree::ScenarioExpect, ExpectTag> expect{"an expectation"};
const Rule<tree::Iteration, IterationTag> iteration{"an iteration"};
const Rule<tree::ScenarioDecl, ScenarioTag> scenario{"a scenario"};

const auto separator = -maybe_mark(";");
const auto prompt_def = string[quoted_name] | a_name[set];
const auto setting_def = a_setting[set_to<&tree::Setting::name>] > mark("=") >
                         expression[set_to<&tree::Setting::value>];
const auto given_def = a_setting[set_to<&tree::KeyedGiven::name>] >
                       -(maybe_mark("[") > expression[set_to<&tree::KeyedGiven::key>] > mark("]")) > mark("=") >
                       expression[set_to<&tree::KeyedGiven::value>];
const auto pool_def = maybe("pool")[set_word("pool")] > prompt[prompt_value] > *(mark(",") > prompt[prompt_value]);
// Counts without a unit, so that the word after them stays that of the next line.
const auto host_def = (maybe("budget")[set_word("budget")] > expression[push_to<&tree::HostSetting::values>]) |
                      (host_word[set_to<&tree::HostSetting::name>] > count[push_to<&tree::HostSetting::values>]);
const auto score_def = maybe_mark("?")[unscored] | maybe_mark("!")[failed] |
                       score_number[reward];
const auto rewards = maybe("rewards") > score[push_to<&tree::ScenarioGroup::scores>] >
                     *(mark(",") > score[push_to<&tree::ScenarioGroup::scores>]);
const auto actions = maybe("actions") > expression[set_to<&tree::ScenarioGroup::actions>];
const auto group_def = spanned(maybe("group") > prompt[set_to<&tree::ScenarioGroup::name>] > mark(":") >
                               -(actions > separator) > (rewards | Want("`rewards` or `actions`", part_words)) >
                               separator);
const auto decision = decision_here > a_point[text_to<&tree::ScenarioExpect::point>] > -integer[numbered] > mark("(") >
                      prompt[set_to<&tree::ScenarioExpect::group>] > mark(")") >
                      ((maybe("is") > verdict[set_to<&tree::ScenarioExpect::verdict>]) |
                       (word("because") > string[reason]));
const auto becomes = fate_here > prompt[set_to<&tree::ScenarioExpect::group>] > word("is") >
                     fate[text_to<&tree::ScenarioExpect::fate>] > -(maybe("because") > string[reason]);
const auto holds = ValueHere("a condition, a decision such as `wave(a) is drop`, or a fate such as `a is dropped`") >
                   expression[set_to<&tree::ScenarioExpect::condition>];
const auto expect_def = spanned(maybe("expect") > (decision | becomes | holds)) ;
const auto iteration_def =
    spanned(maybe("iteration") > mark("{") >
            *group[push_to<&tree::Iteration::groups>] > *(expect[push_to<&tree::Iteration::expects>] > separator) >
            (maybe_mark("}") | Want("`group`, `expect` or `}`", iteration_words)));
const auto scenario_def =
    spanned(maybe("scenario") > (string[titled] | Want("a title in quotes")) > mark("{") >
            *((maybe("with") > setting[push_to<&tree::ScenarioDecl::settings>] >
               *(mark(",") > setting[push_to<&tree::ScenarioDecl::settings>]) > separator) |
              (maybe("given") > given[push_to<&tree::ScenarioDecl::givens>] > separator) |
              (pool[push_to<&tree::ScenarioDecl::host>] > separator) |
              (iteration[push_to<&tree::ScenarioDecl::iterations>] > separator) |
              (host[push_to<&tree::ScenarioDecl::host>] > separator)) >
            (maybe_mark("}") | Want("`with`, `given`, `slots`, `pool`, `seed`, `size`, `turn_limit`, `turn_tokens`, `budget`, `iteration` or `}`",
                                    scenario_words)));

BOOST_SPIRIT_DEFINE(prompt, setting, given, host, pool, score, group, expect, iteration, scenario)

}  // namespace

void read_scenario(State& s, Iterator first, Iterator last, tree::ScenarioDecl& found) {
  read_all(s, first, last, scenario, found);
}

}  // namespace allot::lang::grammar
