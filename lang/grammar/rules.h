// Spirit's side of the grammar: one iterator, one context, tokens that ask State, and the rules that cross files.
// Only the .cpp files of this folder include it.
#pragma once

#include <boost/spirit/home/x3.hpp>

#include "lang/grammar/climb.h"
#include "lang/grammar/state.h"

namespace allot::lang::grammar {

namespace x3 = boost::spirit::x3;

struct StateTag;
using Context = x3::context<StateTag, State, x3::unused_type>;

template <typename AnyContext>
State& state(const AnyContext& context) {
  return x3::get<StateTag>(context);
}

// ---- tokens

struct Word : x3::parser<Word> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  const char* text;
  bool wanted;
  constexpr Word(const char* t, bool w) : text(t), wanted(w) {}
  template <typename AnyContext, typename Outer, typename Attribute>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, Attribute&) const {
    return state(context).word(first, last, text, wanted);
  }
};
constexpr Word word(const char* text) {
  return {text, true};
}
constexpr Word maybe(const char* text) {
  return {text, false};
}  // first word of an alternative

struct Mark : x3::parser<Mark> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  const char* text;
  bool wanted;
  constexpr Mark(const char* t, bool w) : text(t), wanted(w) {}
  template <typename AnyContext, typename Outer, typename Attribute>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, Attribute&) const {
    return state(context).mark(first, last, text, wanted);
  }
};
constexpr Mark mark(const char* text) {
  return {text, true};
}
constexpr Mark maybe_mark(const char* text) {
  return {text, false};
}

// A token with a value: `bool State::function(first, last, value)`.
template <typename Value, bool (State::*function)(Iterator&, Iterator, Value&)>
struct Token : x3::parser<Token<Value, function>> {
  using attribute_type = Value;
  static constexpr bool has_attribute = true;
  template <typename AnyContext, typename Outer>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, Value& value) const {
    return (state(context).*function)(first, last, value);
  }
  template <typename AnyContext, typename Outer>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, x3::unused_type) const {
    Value ignored{};
    return (state(context).*function)(first, last, ignored);
  }
};

// A token without one.
template <bool (State::*function)(Iterator&, Iterator)>
struct Plain : x3::parser<Plain<function>> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  template <typename AnyContext, typename Outer, typename Attribute>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, Attribute&) const {
    return (state(context).*function)(first, last);
  }
};

// Looks ahead.
template <bool (State::*function)(Iterator, Iterator)>
struct Ahead : x3::parser<Ahead<function>> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  template <typename AnyContext, typename Outer, typename Attribute>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, Attribute&) const {
    return (state(context).*function)(first, last);
  }
};

// A token that says what it wants: `bool State::function(first, last, what, name)`.
template <bool (State::*function)(Iterator&, Iterator, std::string_view, tree::Name&)>
struct Named : x3::parser<Named<function>> {
  using attribute_type = tree::Name;
  static constexpr bool has_attribute = true;
  const char* what;
  constexpr explicit Named(const char* w) : what(w) {}
  template <typename AnyContext, typename Outer>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, tree::Name& found) const {
    return (state(context).*function)(first, last, what, found);
  }
};
using NameToken = Named<&State::name>;
using AnyNameToken = Named<&State::any_name>;

struct OneOf : x3::parser<OneOf> {
  using attribute_type = tree::Name;
  static constexpr bool has_attribute = true;
  const std::vector<std::string>& (*words)();
  const char* what;
  constexpr OneOf(const std::vector<std::string>& (*w)(), const char* t) : words(w), what(t) {}
  template <typename AnyContext, typename Outer>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, tree::Name& found) const {
    return state(context).one_of(first, last, words(), what, found);
  }
};

// Last alternative of a choice: never matches, notes what was wanted.
struct Want : x3::parser<Want> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  const char* what;
  const std::vector<std::string>& (*words)();
  constexpr explicit Want(const char* w, const std::vector<std::string>& (*c)() = nullptr) : what(w), words(c) {}
  template <typename AnyContext, typename Outer, typename Attribute>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, Attribute&) const {
    if (words != nullptr)
      state(context).want(first, last, what, words());
    else
      state(context).want(first, last, what);
    return false;
  }
};

// A value can begin here, else `what` is missing.
struct ValueHere : x3::parser<ValueHere> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  const char* what;
  constexpr explicit ValueHere(const char* w) : what(w) {}
  template <typename AnyContext, typename Outer, typename Attribute>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, Attribute&) const {
    return state(context).value_here(first, last, what);
  }
};

// A level of what nests begins here.
struct Level : x3::parser<Level> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  template <typename AnyContext, typename Outer, typename Attribute>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, const Outer&, Attribute&) const {
    state(context).check_stack(first, last);
    return true;
  }
};
constexpr Level level{};

// The same, counted, around what nests within no bracket. What is read goes where its own actions put it.
template <typename Subject>
struct Nested : x3::unary_parser<Subject, Nested<Subject>> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  explicit constexpr Nested(const Subject& subject) : x3::unary_parser<Subject, Nested<Subject>>(subject) {}
  template <typename AnyContext, typename Outer, typename Attribute>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, Outer& value, Attribute&) const {
    state(context).enter_level(first, last);
    const bool read = this->subject.parse(first, last, context, value, x3::unused);
    state(context).leave_level();
    return read;
  }
};
template <typename Subject>
auto nested(const Subject& subject) {
  return Nested<typename x3::extension::as_parser<Subject>::value_type>(x3::as_parser(subject));
}

// ---- annotations

// Gives the value of a rule its span, from its first token to its last. Written around the whole definition: Spirit's
// own `on_success` is not told the value where a definition has actions.
template <typename Subject>
struct SpannedParser : x3::unary_parser<Subject, SpannedParser<Subject>> {
  using attribute_type = typename x3::traits::attribute_of<Subject, Context>::type;
  static constexpr bool has_attribute = Subject::has_attribute;
  explicit constexpr SpannedParser(const Subject& subject)
      : x3::unary_parser<Subject, SpannedParser<Subject>>(subject) {}
  template <typename AnyContext, typename Outer, typename Attribute>
  bool parse(Iterator& first, const Iterator& last, const AnyContext& context, Outer& value,
             Attribute& attribute) const {
    const auto begin = first;
    if (!this->subject.parse(first, last, context, value, attribute)) return false;
    auto& s = state(context);
    value.span = s.span(s.skip(begin, last), first);
    return true;
  }
};
template <typename Subject>
auto spanned(const Subject& subject) {
  return SpannedParser<typename x3::extension::as_parser<Subject>::value_type>(x3::as_parser(subject));
}

// ---- actions

inline constexpr auto set = [](const auto& context) { x3::_val(context) = std::move(x3::_attr(context)); };
inline constexpr auto push = [](const auto& context) { x3::_val(context).push_back(std::move(x3::_attr(context))); };
inline constexpr auto add = [](const auto& context) {
  x3::_val(context) = state(context).add(std::move(x3::_attr(context)));
};
// `set_to<&Action::amount>`: the attribute becomes a member.
template <auto member>
inline constexpr auto set_to = [](const auto& context) { x3::_val(context).*member = std::move(x3::_attr(context)); };
template <auto member>
inline constexpr auto push_to =
    [](const auto& context) { (x3::_val(context).*member).push_back(std::move(x3::_attr(context))); };
template <auto member>
inline constexpr auto text_to = [](const auto& context) { x3::_val(context).*member = x3::_attr(context).text; };

// ---- rules that cross files

template <typename Attribute, typename Tag>
using Rule = x3::rule<Tag, Attribute>;

struct ExpressionTag;
struct StringTag;
struct CountTag;
struct VerdictTag;
struct BlockTag;

const Rule<tree::ExprId, ExpressionTag> expression{"a value"};
const Rule<tree::Expr, StringTag> string{"a string"};
const Rule<tree::ExprId, CountTag> count{"a number"};  // digits, a name or something in brackets; no unit
const Rule<tree::Verdict, VerdictTag> verdict{"a verdict"};
const Rule<std::vector<tree::Statement>, BlockTag> block{"a block"};

BOOST_SPIRIT_DECLARE(decltype(expression), decltype(string), decltype(count), decltype(verdict), decltype(block))

// Reads one item with `rule` and nothing after it.
template <typename RuleType, typename Attribute>
void read_all(State& s, Iterator first, Iterator last, const RuleType& rule, Attribute& attribute) {
  const Context context(s);
  const auto begin = first;
  bool read = false;
  try {
    read = rule.parse(first, last, context, x3::unused, attribute);
  } catch (const x3::expectation_failure<Iterator>&) {
    throw Refused{s.explain(begin, last)};  // where it failed is known to State alone
  }
  if (!read || s.skip(first, last) != last) throw Refused{s.explain(read ? first : begin, last)};
}

}  // namespace allot::lang::grammar
