#include "lang/grammar/entry.h"
#include "lang/grammar/rules.h"

namespace allot::lang::grammar {
namespace {

using Words = std::vector<std::string>;

struct Range {
  tree::ExprId low = tree::none;
  tree::ExprId high = tree::none;
};

constexpr NameToken a_name{"a name"};
constexpr NameToken a_type{"a type"};
constexpr Named<&State::dotted_name> a_policy{"the name of a policy"};
constexpr Named<&State::dotted_name> a_file{"the name of a file"};
constexpr Token<std::string, &State::size_number> size_number{};

const Words& scopes() {
  static const Words words{"group", "prompt", "category", "run"};
  return words;
}
const Words& periods() {
  static const Words words{"run", "iteration"};
  return words;
}
const Words& fallbacks() {
  static const Words words{"train_partial", "skip_update", "abort"};
  return words;
}
constexpr OneOf scope{scopes, "`group`, `prompt`, `category` or `run`"};
constexpr OneOf period{periods, "`run` or `iteration`"};
constexpr OneOf fallback{fallbacks, "`train_partial`, `skip_update` or `abort`"};

const auto typed = maybe_mark(":") | Want("`:` and a type");

constexpr auto optional_type = [](const auto& context) { x3::_val(context).optional = true; };
constexpr auto carried = [](const auto& context) { x3::_val(context).carry_over = true; };
// Without `as` a file is called by the last word of its name.
constexpr auto imported = [](const auto& context) {
  auto& import = x3::_val(context);
  import.file = std::move(x3::_attr(context));
  import.alias = {import.file.text.substr(import.file.text.rfind('.') + 1), import.file.span};
};
constexpr auto in_range = [](const auto& context) {
  auto& type = x3::_val(context).type;
  const auto& range = x3::_attr(context);
  if (type.low != tree::none) {
    auto& s = state(context);
    s.refuse("E0026", s.at(range.low).span, "a second range", "give the range once");
  }
  type.low = range.low;
  type.high = range.high;
};

constexpr auto refined = [](const auto& context) {
  x3::_val(context).low = x3::_attr(context).low;
  x3::_val(context).high = x3::_attr(context).high;
};

struct TypeTag;
struct RangeTag;
struct FunctionParamTag;
struct PolicyTag;
struct MemberTag;
struct ArgumentsTag;
struct SettingTag;
struct ImportTag;
struct MigrateTag;
struct ParamTag;
struct StateDeclTag;
struct InputTag;
struct BudgetTag;
struct RefillTag;
struct FunctionTag;
struct HitTag;
struct FlatTag;

const Rule<tree::TypeName, TypeTag> type{"a type"};
const Rule<Range, RangeTag> range{"a range"};
const Rule<tree::Param, FunctionParamTag> function_param{"a parameter"};
const Rule<PolicyLine, PolicyTag> policy{"policy"};
const Rule<tree::Member, MemberTag> member{"a policy"};
const Rule<tree::Setting, SettingTag> setting{"a parameter"};
const Rule<tree::ImportDecl, ImportTag> import{"import"};
const Rule<tree::MigrateDecl, MigrateTag> migrate{"migrate"};
const Rule<tree::Param, ParamTag> param{"param"};
const Rule<tree::StateDecl, StateDeclTag> state_decl{"state"};
const Rule<tree::InputDecl, InputTag> input{"input"};
const Rule<tree::BudgetDecl, BudgetTag> budget{"budget"};
const Rule<tree::RefillDecl, RefillTag> refill{"refill"};
const Rule<tree::FunctionDecl, FunctionTag> function{"fn"};
const Rule<tree::ExprId, HitTag> hit{"hit"};
const Rule<tree::ExprId, FlatTag> flat{"flat"};

const auto type_argument =
    nested(size_number[push_to<&tree::TypeName::sizes>] | type[push_to<&tree::TypeName::arguments>]);
const auto type_def = spanned(a_type[text_to<&tree::TypeName::name>] >>
                              -(maybe_mark("<") > type_argument > *(mark(",") > type_argument) > mark(">")) >>
                              -range[refined] >> -maybe_mark("?")[optional_type]);
const auto range_def = maybe("in") > expression[set_to<&Range::low>] > mark("..") > expression[set_to<&Range::high>];

const auto setting_def = a_policy[set_to<&tree::Setting::name>] > mark(":") >
                         expression[set_to<&tree::Setting::value>];
const auto member_def =
    a_policy[set_to<&tree::Member::name>] >
    -(maybe_mark("(") > (maybe_mark(")") | (setting[push_to<&tree::Member::settings>] >
                                            *(mark(",") > setting[push_to<&tree::Member::settings>]) > mark(")"))));
const auto policy_def = maybe("policy") > a_name[set_to<&PolicyLine::name>] >
                        -(maybe_mark("=") > member[push_to<&PolicyLine::members>] >
                          *(word("then") > member[push_to<&PolicyLine::members>]));
const auto import_def = maybe("import") > a_file[imported] > -(word("as") > a_name[set_to<&tree::ImportDecl::alias>]);
const auto migrate_def = maybe("migrate") > a_policy[set_to<&tree::MigrateDecl::state>] > word("from") >
                         type[set_to<&tree::MigrateDecl::from>] > mark("=") >
                         expression[set_to<&tree::MigrateDecl::value>];
const auto param_def = maybe("param") > a_name[set_to<&tree::Param::name>] > typed > type[set_to<&tree::Param::type>] >
                       -range[in_range] > mark("=") > expression[set_to<&tree::Param::value>] > -range[in_range];
const auto state_decl_def = maybe("state") > a_name[set_to<&tree::StateDecl::name>] > typed >
                            type[set_to<&tree::StateDecl::type>] >
                            word("per") > scope[text_to<&tree::StateDecl::scope>] >
                            mark("=") > expression[set_to<&tree::StateDecl::initial>] >
                            -(maybe("decay") > expression[set_to<&tree::StateDecl::decay>]);
const auto input_def = maybe("input") > a_name[set_to<&tree::InputDecl::name>] > typed >
                       type[set_to<&tree::InputDecl::type>] > word("per") > scope[text_to<&tree::InputDecl::scope>];
const auto budget_def =
    spanned(maybe("budget") > ValueHere("an amount") > expression[set_to<&tree::BudgetDecl::amount>] > word("per") >
            period[text_to<&tree::BudgetDecl::period>] > -((maybe_mark(",") > word("carry") > word("over"))[carried]));
const auto refill_def = spanned(maybe("refill") > word("at") > word("most") > count[set_to<&tree::RefillDecl::rounds>] >
                                word("rounds") > word("then") > fallback[text_to<&tree::RefillDecl::then>]);
const auto function_param_def = a_name[set_to<&tree::Param::name>] > typed > type[set_to<&tree::Param::type>];
const auto function_def = maybe("fn") > a_name[set_to<&tree::FunctionDecl::name>] > mark("(") >
                          (maybe_mark(")") | (function_param[push_to<&tree::FunctionDecl::params>] >
                                              *(mark(",") > function_param[push_to<&tree::FunctionDecl::params>]) >
                                              mark(")"))) > mark("->") > type[set_to<&tree::FunctionDecl::result>] >
                          mark("=") > expression[set_to<&tree::FunctionDecl::body>];
const auto hit_def = maybe("hit") > word("when") > ValueHere("a condition") > expression[set];
const auto flat_def = maybe("flat") > word("within") > expression[set];

BOOST_SPIRIT_DEFINE(type, range, function_param, setting, member, policy, import, migrate, param, state_decl, input, budget, refill, function, hit, flat)

}  // namespace

void read_policy(State& s, Iterator first, Iterator last, PolicyLine& found) {
  read_all(s, first, last, policy, found);
}
void read_import(State& s, Iterator first, Iterator last, tree::ImportDecl& found) {
  read_all(s, first, last, import, found);
}
void read_migrate(State& s, Iterator first, Iterator last, tree::MigrateDecl& found) {
  read_all(s, first, last, migrate, found);
}
void read_param(State& s, Iterator first, Iterator last, tree::Param& found) {
  read_all(s, first, last, param, found);
}
void read_state(State& s, Iterator first, Iterator last, tree::StateDecl& found) {
  read_all(s, first, last, state_decl, found);
}
void read_input(State& s, Iterator first, Iterator last, tree::InputDecl& found) {
  read_all(s, first, last, input, found);
}
void read_budget(State& s, Iterator first, Iterator last, tree::BudgetDecl& found) {
  read_all(s, first, last, budget, found);
}
void read_refill(State& s, Iterator first, Iterator last, tree::RefillDecl& found) {
  read_all(s, first, last, refill, found);
}
void read_function(State& s, Iterator first, Iterator last, tree::FunctionDecl& found) {
  read_all(s, first, last, function, found);
}
void read_hit(State& s, Iterator first, Iterator last, tree::ExprId& found) {
  read_all(s, first, last, hit, found);
}
void read_flat(State& s, Iterator first, Iterator last, tree::ExprId& found) {
  read_all(s, first, last, flat, found);
}

}  // namespace allot::lang::grammar
