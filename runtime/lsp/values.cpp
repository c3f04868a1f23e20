#include "runtime/lsp/values.h"

#include <algorithm>
#include <string>
#include <utility>

namespace allot::lsp {

namespace tree = lang::tree;
using lang::format::Token;
using lang::format::TokenKind;

namespace {

class Places {
 public:
  explicit Places(const std::vector<Token>& tokens) : tokens_(tokens) {}

  void add(const tree::Expr& expr) {
    if (expr.kind != tree::ExprKind::Name && expr.kind != tree::ExprKind::Call) return;
    auto token = std::partition_point(tokens_.begin(), tokens_.end(),
                                      [&](const Token& each) { return each.span.begin < expr.span.begin; });
    if (token == tokens_.end() || token->span.begin != expr.span.begin) return;
    // Brackets around a value belong to its place.
    while (token != tokens_.end() && (token->text == "(" || token->kind == TokenKind::Comment)) ++token;
    if (token != tokens_.end() && token->text == expr.text) found_.push_back(token->span.begin);
  }

  // `main.limit` is of another file.
  void add(const tree::Name& name) {
    if (!name.text.empty() && name.text.find('.') == std::string::npos) found_.push_back(name.span.begin);
  }

  template <typename Named>
  void add_names(const std::vector<Named>& all) {
    for (const Named& each : all) add(each.name);
  }

  std::vector<std::uint32_t> take() {
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  const std::vector<Token>& tokens_;
  std::vector<std::uint32_t> found_;
};

}  // namespace

std::vector<std::uint32_t> places_of_values(const tree::File& file, const std::vector<Token>& tokens) {
  Places places(tokens);
  for (const tree::Expr& expr : file.exprs) places.add(expr);
  for (const tree::MigrateDecl& each : file.migrations) places.add(each.state);
  for (const tree::TestDecl& test : file.tests) {
    places.add_names(test.settings);
    places.add_names(test.givens);
    for (const tree::Expect& each : test.expects) places.add(each.subject);
  }
  for (const tree::ScenarioDecl& scenario : file.scenarios) {
    places.add_names(scenario.settings);
    places.add_names(scenario.givens);
  }
  return places.take();
}

}  // namespace allot::lsp
