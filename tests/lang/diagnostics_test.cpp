#include "lang/diagnostics.h"
#include "lang/limits.h"

#include <catch2/catch.hpp>

using namespace allot::lang;

TEST_CASE("places count lines of every kind and columns in code points") {
  const Source source("s",
                      "\xEF\xBB\xBFone\r\ntwo\rthr\xC3\xA9"
                      "e\n\n\tfive");
  CHECK(source.line_count() == 5);
  CHECK(source.line(1) == "one");
  CHECK(source.line(2) == "two");
  CHECK(source.line(3) ==
        "thr\xC3\xA9"
        "e");
  CHECK(source.line(4).empty());
  CHECK(source.line(5) == "\tfive");
  CHECK(source.line(6).empty());
  const auto at = [&](std::string_view text) {
    const auto place = source.place(static_cast<std::uint32_t>(source.text().find(text)));
    return std::pair{place.line, place.column};
  };
  CHECK(at("one") == std::pair{1, 1});
  CHECK(at("two") == std::pair{2, 1});
  CHECK(at("e\n") == std::pair{3, 5});   // é is one column
  CHECK(at("five") == std::pair{5, 2});  // a tab is one column
  CHECK(source.place(10'000).line == 5);
  CHECK(source.text({2, 10'000}).size() == source.text().size() - 2);
  CHECK(Source("e", "").line_count() == 1);
}

// The form is that of models.md §3.1.
TEST_CASE("a diagnostic is shown with its line, marks, label, contexts and help") {
  const Source source("early.allot",
                      "policy early\nparam at: turns = 10\non turn at of group g {\n  when g.tokens >= at\n}\n");
  const auto offset = [&](std::string_view text, std::size_t from = 0) {
    return static_cast<std::uint32_t>(source.text().find(text, from));
  };
  const auto tokens = offset("g.tokens");
  Diagnostic diagnostic{.code = "E0214",
                        .span = {tokens, tokens + 8},
                        .message = "tokens cannot be compared with turns",
                        .label = "this is tokens",
                        .help = "compare `g.turn >= at`,\nor give `at` in tokens"};
  diagnostic.contexts.push_back({{offset("at\n"), offset("at\n") + 2}, "`at` is turns"});
  diagnostic.contexts.push_back({{offset("at:"), offset("at:") + 2}, "declared here"});
  CHECK(render(diagnostic, source) ==
        "error[E0214]: tokens cannot be compared with turns\n"
        "  --> early.allot:4:8\n"
        "   4 |   when g.tokens >= at\n"
        "     |        ^^^^^^^^ this is tokens\n"
        "     |                    -- `at` is turns\n"
        "   2 | param at: turns = 10\n"
        "     |       -- declared here\n"
        "   help: compare `g.turn >= at`,\n"
        "         or give `at` in tokens\n");
}

TEST_CASE("tabs are kept, wide letters take two columns, deceptive ones are spelled out") {
  const Source tabs("t", "\tab\tcd");
  CHECK(render({.code = "E1", .span = {4, 6}, .message = "m"}, tabs) ==
        "error[E1]: m\n  --> t:1:5\n   1 | \tab\tcd\n     | \t  \t^^\n");
  const Source wide("w", "\xE6\xBC\xA2 x");
  CHECK(render({.code = "E1", .span = {4, 5}, .message = "m"}, wide) ==
        "error[E1]: m\n  --> w:1:3\n   1 | \xE6\xBC\xA2 x\n     |    ^\n");
  const Source trick("u",
                     "a\xE2\x80\xAE"
                     "b");
  CHECK(render({.code = "E1", .span = {1, 4}, .message = "m"}, trick) ==
        "error[E1]: m\n  --> u:1:2\n   1 | a<U+202E>b\n     |  ^^^^^^^^\n");
  const Source bytes("b",
                     "a\xFF"
                     "b");
  CHECK(render({.code = "E1", .span = {1, 2}, .message = "m"}, bytes) ==
        "error[E1]: m\n  --> b:1:2\n   1 | a<FF>b\n     |  ^^^^\n");
}

TEST_CASE("a span over several lines is marked on its first, one after the end on the last") {
  const Source source("s", "ab\ncd");
  CHECK(render({.code = "E1", .span = {1, 4}, .message = "m"}, source) ==
        "error[E1]: m\n  --> s:1:2\n   1 | ab\n     |  ^\n");
  CHECK(render({.code = "E1", .span = {5, 5}, .message = "m"}, source) ==
        "error[E1]: m\n  --> s:2:3\n   2 | cd\n     |   ^\n");
}

TEST_CASE("diagnostics are sorted by place, one per place and code, and at most 50 are shown") {
  const Source source("s", std::string(200, 'x'));
  Diagnostics diagnostics;
  for (std::uint32_t i = 0; i < 60; ++i) {
    diagnostics.add({.severity = i % 2 == 0 ? Severity::Error : Severity::Warning,
                     .code = "E1",
                     .span = {59 - i, 60},
                     .message = "m"});
    diagnostics.add({.severity = Severity::Warning, .code = "E1", .span = {59 - i, 60}, .message = "again"});
  }
  CHECK(diagnostics.has_errors());
  diagnostics.sort();
  REQUIRE(diagnostics.all().size() == 60);
  CHECK(diagnostics.all()[0].span.begin == 0);
  CHECK(diagnostics.all()[0].message == "m");
  const auto shown = render_all(diagnostics, source);
  CHECK(shown.find("and 10 more\n") != std::string::npos);
  CHECK(shown.find(":1:50\n") != std::string::npos);
  CHECK(shown.find(":1:51\n") == std::string::npos);
}

TEST_CASE("a flood of diagnostics is counted, not kept, in both forms") {
  const Source source("s", std::string(100'000, 'x'));
  Diagnostics diagnostics;
  for (std::uint32_t i = 0; i < 100'000; ++i) diagnostics.add({.code = "E1", .span = {i, i + 1}, .message = "m"});
  diagnostics.sort();
  CHECK(diagnostics.has_errors());
  CHECK(diagnostics.all().size() == limits.kept_errors);
  const auto shown = render_all(diagnostics, source);
  CHECK(shown.find("and 99950 more\n") != std::string::npos);
  CHECK(shown.size() < 100'000);
  const auto json = render_json(diagnostics, source);
  CHECK(json.find("and 99950 more") != std::string::npos);
  CHECK(json.size() < 100'000);
}

TEST_CASE("a name as long as a file is not echoed") {
  const std::string name(900'000, 'a');
  const std::string text = "policy p\non finish of group g { when " + name + " > 1 then drop }\n";
  const Source source("s", text);
  Diagnostics diagnostics;
  diagnostics.add({.code = "E1", .span = {0, 6}, .message = "`" + name + "` is not declared", .help = "x " + name});
  const auto shown = render_all(diagnostics, source);
  CHECK(shown.size() < 600);
  CHECK(shown.find("...` is not declared") != std::string::npos);
}

TEST_CASE("diagnostics are JSON too") {
  const Source source("s.allot", "ab \"\xFF\"\ncd\n");
  Diagnostics diagnostics;
  CHECK(render_json(diagnostics, source) == "[]");
  diagnostics.add({.code = "E0001", .span = {7, 8}, .message = "expected \"x\"", .contexts = {{{0, 2}, "here"}}});
  const auto json = render_json(diagnostics, source);
  CHECK(json.find("\"code\": \"E0001\"") != std::string::npos);
  CHECK(json.find("\"line\": 2") != std::string::npos);
  CHECK(json.find("\"end_column\": 2") != std::string::npos);
  CHECK(json.find("\"message\": \"expected \\\"x\\\"\"") != std::string::npos);
  CHECK(json.find("\"words\": \"here\"") != std::string::npos);
  CHECK(json.find("\"severity\": \"error\"") != std::string::npos);
}

TEST_CASE("near matches are near, or there is none") {
  const std::vector<std::string> names{"threshold", "at", "reward_mean", "hits", "misses", "when"};
  CHECK(near_match("treshold", names) == "threshold");
  CHECK(near_match("reward_maen", names) == "reward_mean");
  CHECK(near_match("mean_reward", names) == "reward_mean");  // the same words in another order
  CHECK(near_match("mean_rewards", names).empty());
  CHECK(near_match("hist", names) == "hits");
  CHECK(near_match("whne", names) == "when");
  CHECK(near_match("is", names).empty());  // two letters may mean anything
  CHECK(near_match("tokens", names).empty());
  CHECK(near_match("zebra", names).empty());
  CHECK(near_match("", names).empty());
  CHECK(near_match("hits", {"hits"}).empty());  // the name itself is no suggestion
  CHECK(near_match(std::string(100'000, 'a'), names).empty());
}
