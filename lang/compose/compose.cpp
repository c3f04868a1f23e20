#include "lang/compose/compose.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "lang/check/check.h"
#include "lang/check/declarations.h"
#include "lang/check/policy.h"
#include "lang/compose/link.h"
#include "lang/compose/merge.h"

namespace allot::lang::compose {
namespace {

// What a composition declares itself beside its members: it is one more member, without a name of its own.
bool declares(const tree::File& tree) {
  return !tree.params.empty() || !tree.states.empty() || !tree.budgets.empty() || !tree.refills.empty() ||
         !tree.inputs.empty() || !tree.handlers.empty() || !tree.migrations.empty() || tree.hit != tree::none ||
         tree.flat_within != tree::none;
}

class Composer {
 public:
  Composer(Linked linked, Diagnostics& diagnostics) : linked_(std::move(linked)), diagnostics_(diagnostics) {}

  // The first file with all that is told of it; of the others errors alone.
  std::optional<Program> run() { return program_of(0, diagnostics_.has_errors(), diagnostics_); }

 private:
  std::optional<Program> program_of(std::size_t index, bool unread, Diagnostics& diagnostics) {
    const auto tree = std::make_shared<const tree::File>(linked_.files[index].tree);
    if (tree->members.empty()) return checker::check_file(linked_.source, tree, unread, diagnostics);
    std::vector<Part> parts = members_of(index, *tree, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    if (declares(*tree)) {
      auto bare = std::make_shared<tree::File>(*tree);
      bare->members.clear();
      bare->tests.clear();
      bare->scenarios.clear();
      std::optional<Program> own = checker::check_file(linked_.source, bare, unread, diagnostics);
      if (!own) return std::nullopt;
      parts.push_back({"", tree->policy.text, *std::move(own), tree->policy.span});
    }
    Program program;
    program.name = tree->policy.text;
    program.doc = tree->doc;
    program.source = linked_.source;
    program.tree = tree;
    merge(program, std::move(parts), diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    checker::Policy policy{*linked_.source, *tree, program, diagnostics, {}, unread, 0, false, {}, {}, {}, {}, 0};
    checker::check_tests(policy);
    return program;
  }

  std::vector<Part> members_of(std::size_t index, const tree::File& tree, Diagnostics& diagnostics) {
    std::vector<Part> parts;
    std::set<std::string> names;
    for (std::size_t i = 0; i < tree.members.size(); ++i) {
      const tree::Member& member = tree.members[i];
      const int file = i < linked_.files[index].members.size() ? linked_.files[index].members[i] : -1;
      if (file < 0) continue;  // that has been told
      const std::string name = member.name.text.substr(member.name.text.rfind('.') + 1);
      if (!names.insert(name).second) {
        diagnostics.add({Severity::Error, "E0102", member.name.span, "two members are called `" + name + "`", "",
                         "import one under another name: `import " + member.name.text + " as …`"});
        continue;
      }
      Diagnostics theirs;
      std::optional<Program> program = program_of(static_cast<std::size_t>(file), false, theirs);
      for (const Diagnostic& each : theirs.all()) {
        if (each.severity == Severity::Error) diagnostics.add(each);
      }
      if (!program || theirs.has_errors()) continue;
      set_parameters(tree, member, *program, diagnostics);
      parts.push_back({name, name, *std::move(program), member.name.span});
    }
    return parts;
  }

  // `sara(size: 16 rollouts)` gives a parameter of the member another default.
  void set_parameters(const tree::File& tree, const tree::Member& member, Program& program, Diagnostics& diagnostics) {
    Program scratch;
    checker::Policy policy{*linked_.source, tree, scratch, diagnostics, {}, false, 0, false, {}, {}, {}, {}, 0};
    std::set<std::string> seen;
    for (const tree::Setting& setting : member.settings) {
      const std::string& name = setting.name.text;
      const auto parameter = std::find_if(program.parameters.begin(), program.parameters.end(),
                                          [&](const Parameter& each) { return each.name == name; });
      if (parameter == program.parameters.end()) {
        std::vector<std::string> names;
        for (const Parameter& each : program.parameters) names.push_back(each.name);
        policy.error("E0101", setting.name.span,
                     "`" + member.name.text + "` has no parameter " + checker::quoted(name), "",
                     checker::near_help(name, names));
        continue;
      }
      if (!seen.insert(name).second) {
        policy.error("E0102", setting.name.span, checker::quoted(name) + " is set twice");
        continue;
      }
      Type wanted = parameter->type;
      if (parameter->low) wanted.prob = false;  // the range is checked below
      const auto value = checker::constant(policy, setting.value, wanted, checker::quoted(name));
      if (!value) continue;
      if (parameter->low && parameter->high &&
          !checker::within(policy, *value, parameter->type, *parameter->low, *parameter->high,
                           tree[setting.value].span, checker::quoted(name))) {
        continue;
      }
      parameter->value = *value;
    }
  }

  Linked linked_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::optional<Program> compose(std::shared_ptr<const Source>& source, const tree::File& root, const Library* library,
                               Diagnostics& diagnostics) {
  std::optional<Linked> linked = link(source, root, library, diagnostics);
  if (!linked) return std::nullopt;
  return Composer(*std::move(linked), diagnostics).run();
}

}  // namespace allot::lang::compose
