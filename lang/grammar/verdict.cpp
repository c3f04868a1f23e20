#include "lang/grammar/rules.h"
#include "lang/words.h"

namespace allot::lang::grammar {
namespace {

using Kind = tree::ActionKind;
using tree::Action;

constexpr AnyNameToken a_target{"the name of what is set"};
constexpr Ahead<&State::subset_here> subset_here{};

template <Kind kind>
constexpr auto is_a = [](const auto& context) { x3::_val(context).kind = kind; };
template <const char* text>
constexpr auto target = [](const auto& context) { x3::_val(context).target = text; };
constexpr char group_target[] = "group";
constexpr char subset_target[] = "subset";
constexpr char where_target[] = "where";
constexpr char by_target[] = "by";
constexpr char weight_target[] = "by weight";
constexpr char good_target[] = "for good";

constexpr auto amount = set_to<&Action::amount>;
constexpr auto second = set_to<&Action::second>;
constexpr auto third = set_to<&Action::third>;

struct ActionTag;
struct PromptActionTag;
const Rule<Action, ActionTag> action{"an action"};
const Rule<Action, PromptActionTag> later_action{"an action"};

const auto action_def = spanned(
    maybe("continue")[is_a<Kind::Continue>] |
    (maybe("stop")[is_a<Kind::Stop>] >
     -(maybe("where")[is_a<Kind::StopWhere>] > ValueHere("a condition") > expression[amount])) |
    (maybe("sample")[is_a<Kind::SampleMore>] > expression[amount] > word("more")) |
    (maybe("complete")[is_a<Kind::CompleteTo>] > word("to") > expression[amount]) |
    (maybe("start")[is_a<Kind::Start>] > expression[amount] > word("each") >
     -((maybe_mark(",") >> maybe("up")) > word("to") > expression[second])) |
    (maybe("train")[is_a<Kind::Train>] > -(subset_here > expression[amount]) >
     -((maybe_mark(",") >> maybe("normalize")) > word("over") >
       (maybe("subset")[target<subset_target>] | maybe("group")[target<group_target>] | Want("`subset` or `group`")))) |
    maybe("drop")[is_a<Kind::Drop>] |
    (maybe("defer")[is_a<Kind::Defer>] > word("at") > word("most") > count[amount] > word("iterations")) |
    maybe("refill")[is_a<Kind::Refill>] | maybe("leave")[is_a<Kind::Leave>] | later_action[set] |
    Want("a verdict", action_words));

const auto where_third = maybe("where") > ValueHere("a condition") > expression[third];
const auto later_action_def =
    spanned((maybe("branch")[is_a<Kind::Branch>] > expression[amount]) |
            (maybe("evict")[is_a<Kind::Evict>] > -where_third >
             -((maybe("until") > expression[amount]) | (maybe("for")[target<good_target>] > word("good")))) |
            (maybe("readmit")[is_a<Kind::Readmit>] > -where_third) |
            (maybe("take")[is_a<Kind::Take>] >
             ((maybe("where")[target<where_target>] > ValueHere("a condition") > expression[amount]) |
              (expression[amount] >
               -(maybe("by")[target<by_target>] > -maybe("weight")[target<weight_target>] > expression[second])))) |
            (maybe("set")[is_a<Kind::Set>] > a_target[text_to<&Action::target>] > mark("=") > expression[amount]) |
            (maybe("replay")[is_a<Kind::Replay>] > word("up") > word("to") > expression[amount] > word("by") >
             expression[second] > -((maybe_mark(",") >> maybe("max_age")) > expression[third])));

constexpr auto reason = [](const auto& context) {
  x3::_val(context).because = state(context).add(std::move(x3::_attr(context)));
};

const auto verdict_def =
    spanned(action[push_to<&tree::Verdict::actions>] >> *(mark(",") > action[push_to<&tree::Verdict::actions>]) >>
            -(word("because") > (string[reason] | Want("a string"))));

BOOST_SPIRIT_DEFINE(action, later_action)

}  // namespace

BOOST_SPIRIT_DEFINE(verdict)
BOOST_SPIRIT_INSTANTIATE(decltype(verdict), Iterator, Context)

}  // namespace allot::lang::grammar
