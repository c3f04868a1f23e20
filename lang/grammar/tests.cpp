#include "lang/grammar/entry.h"
#include "lang/grammar/rules.h"

namespace allot::lang::grammar {
namespace {

constexpr NameToken a_name{"a name"};
constexpr Named<&State::dotted_name> a_setting{"a name"};  // sara.size of a composition
constexpr AnyNameToken a_point{"a decision point"};
constexpr Ahead<&State::decision_here> decision_here{};

const std::vector<std::string>& test_words() {
  static const std::vector<std::string> words{"with", "given", "expect"};
  return words;
}

constexpr auto titled = [](const auto& context) {
  auto& s = state(context);
  const auto& string = x3::_attr(context);
  for (const auto& part : string.parts) {
    if (part.hole != tree::none)
      s.refuse("E0006", string.span, "the title of a test holds no values", "write the braces twice: {{ }}");
    x3::_val(context).title += part.text;
  }
};
constexpr auto reason = [](const auto& context) {
  x3::_val(context).verdict.because = state(context).add(std::move(x3::_attr(context)));
};

struct SettingTag;
struct GivenTag;
struct ExpectTag;
struct TestTag;

const Rule<tree::Setting, SettingTag> setting{"a setting"};
const Rule<tree::Given, GivenTag> given{"what is given"};
const Rule<tree::Expect, ExpectTag> expect{"an expectation"};
const Rule<tree::TestDecl, TestTag> test{"a test"};

const auto setting_def = a_setting[set_to<&tree::Setting::name>] > mark("=") > expression[set_to<&tree::Setting::value>];
const auto given_def = a_setting[set_to<&tree::Given::name>] > mark("=") > expression[set_to<&tree::Given::value>];
const auto expect_def = spanned(
    maybe("expect") >
    ((decision_here > a_point[text_to<&tree::Expect::point>] > mark("(") > a_name[set_to<&tree::Expect::subject>] >
      mark(")") > ((maybe("is") > verdict[set_to<&tree::Expect::verdict>]) | (word("because") > string[reason]))) |
     (ValueHere("a condition, or a decision such as `turn(g) is stop`") >
      expression[set_to<&tree::Expect::condition>])));
const auto test_def =
    spanned(maybe("test") > (string[titled] | Want("a title in quotes")) > mark("{") >
            *((maybe("with") > setting[push_to<&tree::TestDecl::settings>] >
               *(mark(",") > setting[push_to<&tree::TestDecl::settings>])) |
              (maybe("given") > given[push_to<&tree::TestDecl::givens>]) | expect[push_to<&tree::TestDecl::expects>]) >
            (maybe_mark("}") | Want("`with`, `given`, `expect` or `}`", test_words)));

BOOST_SPIRIT_DEFINE(setting, given, expect, test)

}  // namespace

void read_test(State& s, Iterator first, Iterator last, tree::TestDecl& found) {
  read_all(s, first, last, test, found);
}

}  // namespace allot::lang::grammar
