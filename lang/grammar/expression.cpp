#include "lang/grammar/entry.h"
#include "lang/grammar/rules.h"
#include "lang/limits.h"

namespace allot::lang::grammar {
namespace {

struct Arguments {
  std::vector<tree::ExprId> args;
  std::vector<std::string> labels;
};

struct Argument {
  std::string label;
  tree::ExprId value = tree::none;
};

struct Tail {  // `for x in xs where c`
  std::string variable;
  tree::ExprId source = tree::none;
  tree::ExprId where = tree::none;
};

using Kind = tree::ExprKind;

constexpr NameToken a_name{"a name"};
constexpr AnyNameToken a_field{"a name after `.`"};
constexpr AnyNameToken a_label{"the name of a field"};
constexpr Token<tree::Name, &State::operand_name> operand_name{};
constexpr Token<tree::Expr, &State::number> number{};
constexpr Token<tree::Expr, &State::integer> integer{};
constexpr Token<std::string, &State::label> label{};
constexpr Token<std::string, &State::record_name> record_name{};
constexpr Token<Symbol, &State::prefix> prefix{};
constexpr Token<Symbol, &State::infix> infix{};
constexpr Token<Symbol, &State::undefined_test> undefined_test{};
constexpr Token<std::string, &State::text_piece> text_piece{};
constexpr Plain<&State::hole_begin> hole_begin{};
constexpr Plain<&State::string_end> string_end{};
constexpr Plain<&State::dot> dot{};

struct IndexRest {  // `]`, or `, COLUMN]`
  tree::ExprId second = tree::none;
  Span bracket;
};

// A parser of its own, so that an index within an index costs no more of the stack than it has to.
struct IndexEnd : x3::parser<IndexEnd> {
  using attribute_type = IndexRest;
  static constexpr bool has_attribute = true;
  template <typename AnyContext, typename Outer>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, IndexRest& rest) const {
    auto& s = state(context);
    if (s.mark(first, last, ",", false) && !expression.parse(first, last, context, x3::unused, rest.second)) return false;
    return s.span_of_mark(first, last, "]", rest.bracket);
  }
};
constexpr IndexEnd index_end{};

// What follows `(`: a value and `)`. The brackets belong to the value's place, so that what is cut out of the text by
// places holds both or neither. A parser of its own for the same reason.
struct InBrackets : x3::parser<InBrackets> {
  using attribute_type = tree::ExprId;
  static constexpr bool has_attribute = true;
  template <typename AnyContext, typename Outer>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, tree::ExprId& id) const {
    auto& s = state(context);
    const std::uint32_t begin = s.offset(first) - 1;
    Span closing;
    if (!expression.parse(first, last, context, x3::unused, id)) return false;
    if (!s.span_of_mark(first, last, ")", closing)) return false;
    s.tree().exprs[static_cast<std::size_t>(id)].span = {begin, closing.end};
    return true;
  }
};
constexpr InBrackets in_brackets{};

struct Closing : x3::parser<Closing> {
  using attribute_type = Span;
  static constexpr bool has_attribute = true;
  const char* text;
  constexpr explicit Closing(const char* t) : text(t) {}
  template <typename AnyContext, typename Outer>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, Span& span) const {
    return state(context).span_of_mark(first, last, text, span);
  }
};
constexpr Closing closing_parenthesis{")"};

// ---- actions

constexpr auto as_prefix = [](const auto& context) {
  x3::_val(context).push_back(Link{Link::Kind::Prefix, x3::_attr(context), tree::none});
};
constexpr auto as_infix = [](const auto& context) {
  x3::_val(context).push_back(Link{Link::Kind::Infix, x3::_attr(context), tree::none});
};
constexpr auto as_test = [](const auto& context) {
  x3::_val(context).push_back(Link{Link::Kind::Test, x3::_attr(context), tree::none});
};
constexpr auto as_operand = [](const auto& context) {
  x3::_val(context).push_back(Link{Link::Kind::Operand, {}, x3::_attr(context)});
};
constexpr auto climbed = [](const auto& context) { x3::_val(context) = climb(x3::_attr(context), state(context)); };

// Postfixes nest in the tree, so their number is its depth.
void check_postfixes(State& s, tree::ExprId base, Span span) {
  int depth = 0;
  for (auto id = base; s.at(id).kind == Kind::Field || s.at(id).kind == Kind::Index; id = s.at(id).args[0]) ++depth;
  if (depth >= limits.depth) {
    s.refuse("E0007", span, "nested more than " + std::to_string(limits.depth) + " deep",
             "name the inner parts with `let`");
  }
}

constexpr auto as_field = [](const auto& context) {
  auto& s = state(context);
  const auto& field = x3::_attr(context);
  const auto base = x3::_val(context);
  check_postfixes(s, base, field.span);
  tree::Expr expr;
  expr.kind = Kind::Field;
  expr.text = field.text;
  expr.args = {base};
  expr.span = {s.at(base).span.begin, field.span.end};
  x3::_val(context) = s.add(std::move(expr));
};
constexpr auto as_index = [](const auto& context) {
  auto& s = state(context);
  const auto base = x3::_val(context);
  check_postfixes(s, base, s.at(x3::_attr(context)).span);
  tree::Expr expr;
  expr.kind = Kind::Index;
  expr.args = {base, x3::_attr(context)};
  expr.span = {s.at(base).span.begin, s.at(x3::_attr(context)).span.end};
  x3::_val(context) = s.add(std::move(expr));
};
// The bracket belongs to the index that has just been made.
constexpr auto extend = [](const auto& context) {
  auto& s = state(context);
  tree::Expr& index = s.tree().exprs[static_cast<std::size_t>(x3::_val(context))];
  index.span.end = x3::_attr(context).bracket.end;
  if (x3::_attr(context).second != tree::none) index.args.push_back(x3::_attr(context).second);
};

constexpr auto close = [](const auto& context) {
  state(context).tree().exprs[static_cast<std::size_t>(x3::_val(context))].span.end = x3::_attr(context).end;
};

// `gates.soft(…)`: a function of an imported file has its name with that of the file before it.
constexpr auto as_function_of = [](const auto& context) {
  auto& s = state(context);
  tree::Expr& made = s.tree().exprs[static_cast<std::size_t>(x3::_val(context))];
  std::string name = made.text;
  auto id = made.args.front();
  for (; s.at(id).kind == Kind::Field; id = s.at(id).args.front()) name = s.at(id).text + "." + name;
  if (s.at(id).kind != Kind::Name) {
    s.refuse("E0106", made.span, "only functions are called", "write the call first: `f(x)`");
  }
  made.kind = Kind::Call;
  made.text = s.at(id).text + "." + name;
  made.args.clear();
};
constexpr auto called_with = [](const auto& context) {
  tree::Expr& call = state(context).tree().exprs[static_cast<std::size_t>(x3::_val(context))];
  call.args = std::move(x3::_attr(context).args);
  call.labels = std::move(x3::_attr(context).labels);
};

constexpr auto callee = [](const auto& context) {
  auto& expr = x3::_val(context);
  expr.text = x3::_attr(context).text;
  expr.kind = expr.text == "undefined"                      ? Kind::Undefined
              : expr.text == "true" || expr.text == "false" ? Kind::Bool
                                                            : Kind::Name;
};
constexpr auto as_call = [](const auto& context) { x3::_val(context).kind = Kind::Call; };
constexpr auto given_arguments = [](const auto& context) {
  x3::_val(context).args = std::move(x3::_attr(context).args);
  x3::_val(context).labels = std::move(x3::_attr(context).labels);
};
constexpr auto push_argument = [](const auto& context) {
  x3::_val(context).args.push_back(x3::_attr(context).value);
  x3::_val(context).labels.push_back(std::move(x3::_attr(context).label));
};
// `ties: seeded "name"`: the draw of that name. Only a labelled argument and the end of an allotment may be written so.
constexpr auto as_draw = [](const auto& context) {
  x3::_val(context).kind = Kind::Call;
  x3::_val(context).text = "draw";
};
constexpr auto push_name = [](const auto& context) {
  x3::_val(context).args.push_back(state(context).add(std::move(x3::_attr(context))));
  x3::_val(context).labels.emplace_back();
};
constexpr auto drawn_argument = [](const auto& context) {
  x3::_val(context).value = state(context).add(std::move(x3::_attr(context)));
};
// The argument before `for` becomes the body of a comprehension.
constexpr auto comprehended = [](const auto& context) {
  auto& s = state(context);
  auto& arguments = x3::_val(context);
  const auto& tail = x3::_attr(context);
  tree::Expr expr;
  expr.kind = Kind::Comprehension;
  expr.text = tail.variable;
  expr.args = {arguments.args[0], tail.source};
  if (tail.where != tree::none) expr.args.push_back(tail.where);
  expr.span = {s.at(arguments.args[0]).span.begin, s.at(expr.args.back()).span.end};
  arguments.args[0] = s.add(std::move(expr));
};

template <Kind kind>
constexpr auto is_a = [](const auto& context) { x3::_val(context).kind = kind; };
constexpr auto push_arg = [](const auto& context) { x3::_val(context).args.push_back(x3::_attr(context)); };
constexpr auto push_draw = [](const auto& context) {
  x3::_val(context).args.push_back(state(context).add(std::move(x3::_attr(context))));
};
constexpr auto push_label = [](const auto& context) { x3::_val(context).labels.push_back(x3::_attr(context).text); };
constexpr auto push_text = [](const auto& context) {
  x3::_val(context).parts.push_back({std::move(x3::_attr(context)), tree::none});
};
constexpr auto push_hole = [](const auto& context) { x3::_val(context).parts.push_back({"", x3::_attr(context)}); };
constexpr auto named_text = [](const auto& context) { x3::_val(context).text = std::move(x3::_attr(context)); };
template <const char* word_text>
constexpr auto with_text = [](const auto& context) { x3::_val(context).text = word_text; };
constexpr char maximizing[] = "maximizing";
constexpr char minimizing[] = "minimizing";
constexpr char proportion[] = "in proportion to";

// ---- rules

struct ChainTag;
struct PostfixTag;
struct ValueTag;
struct CallTag;
struct ArgumentsTag;
struct ArgumentTag;
struct SeededTag;
struct TailTag;
struct IfTag;
struct ListTag;
struct RecordTag;
struct AllotTag;

const Rule<Chain, ChainTag> chain{"a value"};
const Rule<tree::ExprId, PostfixTag> postfix{"a value"};
const Rule<tree::ExprId, ValueTag> value{"a value"};
const Rule<tree::Expr, CallTag> call{"a name or call"};
const Rule<Arguments, ArgumentsTag> arguments{"arguments"};
const Rule<Argument, ArgumentTag> argument{"an argument"};
const Rule<tree::Expr, SeededTag> seeded{"a seeded order"};
const Rule<Tail, TailTag> tail{"a comprehension"};
const Rule<tree::Expr, IfTag> conditional{"a conditional"};
const Rule<tree::Expr, ListTag> list{"a list"};
const Rule<tree::Expr, RecordTag> record{"a record"};
const Rule<tree::Expr, AllotTag> allot{"an allotment"};

const auto expression_def = level >> chain[climbed];
const auto chain_def = *prefix[as_prefix] >> postfix[as_operand] >>
                       *(undefined_test[as_test] | (infix[as_infix] > *prefix[as_prefix] > postfix[as_operand]));
const auto function_of_file = maybe_mark("(")[as_function_of] >
                              -(!maybe_mark(")") >> arguments[called_with]) > closing_parenthesis[close];
const auto postfix_def = value[set] >> *((dot > a_field[as_field] > -function_of_file) |
                                         (maybe_mark("[") > expression[as_index] > index_end[extend]));
const auto value_def = number[add] | string[add] | list[add] | (maybe_mark("(") > in_brackets[set]) |
                       conditional[add] | allot[add] | record[add] | call[add] | Want("a value");

const auto call_def = spanned(
    operand_name[callee] >> -(maybe_mark("(")[as_call] > (maybe_mark(")") | (arguments[given_arguments] > mark(")")))));
const auto arguments_def = argument[push_argument] >> (tail[comprehended] | *(mark(",") > argument[push_argument]));
const auto seeded_def = spanned(maybe("seeded")[as_draw] >> string[push_name]);
const auto argument_def = (label[set_to<&Argument::label>] >> seeded[drawn_argument]) |
                          (-label[set_to<&Argument::label>] >> expression[set_to<&Argument::value>]);
const auto tail_def = maybe("for") > a_name[text_to<&Tail::variable>] > word("in") > expression[set_to<&Tail::source>] >
                      -(maybe("where") > expression[set_to<&Tail::where>]);
const auto conditional_def = spanned(maybe("if")[is_a<Kind::If>] > ValueHere("a condition") > expression[push_arg] >
                                     word("then") > expression[push_arg] > word("else") > expression[push_arg]);
const auto list_def =
    spanned(maybe_mark("[")[is_a<Kind::List>] > (maybe_mark("]") | (arguments[given_arguments] > mark("]"))));
const auto record_def =
    spanned(record_name[named_text] > maybe_mark("{")[is_a<Kind::Record>] >
            (maybe_mark("}") | (a_label[push_label] > mark(":") > expression[push_arg] >
                                *(mark(",") > a_label[push_label] > mark(":") > expression[push_arg]) > mark("}"))));
const auto allot_def =
    spanned(maybe("allot")[is_a<Kind::Allot>] >> !maybe_mark("(") >> ValueHere("a budget") >> expression[push_arg] >
            word("over") > a_name[push_label] > word("in") > expression[push_arg] > mark(",") > a_name[push_label] >
            word("in") > expression[push_arg] > mark("..") > expression[push_arg] >
            ((maybe("maximizing")[with_text<maximizing>] > expression[push_arg]) |
             (maybe("minimizing")[with_text<minimizing>] > expression[push_arg]) |
             (word("in")[with_text<proportion>] > word("proportion") > word("to") > expression[push_arg])) >
            -(maybe("ties") > mark(":") > (seeded[push_draw] | Want("`seeded \"name\"`"))));

const auto string_def =
    spanned(maybe_mark("\"")[is_a<Kind::String>] >
            *(text_piece[push_text] | (hole_begin > expression[push_hole] > mark("}"))) > string_end);
const auto count_def =
    integer[add] | (maybe_mark("(") > in_brackets[set]) | (!maybe("of") >> call[add]) | Want("a number");

BOOST_SPIRIT_DEFINE(chain, postfix, value, call, arguments, argument, seeded, tail, conditional, list, record, allot)

}  // namespace

BOOST_SPIRIT_DEFINE(expression, string, count)
BOOST_SPIRIT_INSTANTIATE(decltype(expression), Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(decltype(string), Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(decltype(count), Iterator, Context)

void read_expression(State& s, Iterator first, Iterator last, tree::ExprId& found) {
  read_all(s, first, last, expression, found);
}

}  // namespace allot::lang::grammar
