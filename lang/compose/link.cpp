#include "lang/compose/link.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lang/limits.h"
#include "lang/parser.h"

namespace allot::lang::compose {
namespace {

// One name that a file uses, where, and the file it means.
struct Use {
  std::string name;
  Span span;
  int file = -1;
  Error problem;           // where there is no file
  std::string also = {};   // another file that the name could mean
};

struct Found {
  std::string name;
  FoundFile file;
  std::vector<Use> imports;  // by tree.imports
  std::vector<Use> members;  // by tree.members
};

class Linker {
 public:
  Linker(const Library* library, Diagnostics& diagnostics) : library_(library), diagnostics_(diagnostics) {}

  void discover(const Source& source, const tree::File& root) {
    const std::string key = library_ == nullptr ? source.name() : library_->key(source.name());
    found_.push_back({root.policy.text, {source.name(), key, std::string(source.text())}, {}, {}});
    uses_of(0, root);
    for (std::size_t i = 1; i < found_.size(); ++i) {
      const Source alone(found_[i].file.path, found_[i].file.text);
      Diagnostics later;  // what is wrong in it is told when all files are read together
      if (const auto tree = parse(alone, later)) uses_of(i, *tree);
    }
  }

  std::shared_ptr<const Source> source() const {
    std::vector<std::pair<std::string, std::string>> files;
    for (const Found& found : found_) files.emplace_back(found.file.path, found.file.text);
    return std::make_shared<const Source>(std::move(files));
  }

  std::optional<Linked> read(std::shared_ptr<const Source> source) {
    Linked linked;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      std::optional<tree::File> tree = parse(*source, diagnostics_, i);
      if (!tree) return std::nullopt;
      place(found_[i], *tree);
      LinkedFile file{found_[i].name, *std::move(tree), {}};
      for (const Use& use : found_[i].members) file.members.push_back(use.file);
      linked.files.push_back(std::move(file));
    }
    linked.source = std::move(source);
    tell_problems();
    order_.clear();
    state_.assign(found_.size(), 0);
    if (!visit(0) || conflict_) return std::nullopt;
    for (const int file : order_) adopt(linked, file);
    return linked;
  }

 private:
  void uses_of(std::size_t index, const tree::File& tree) {
    const std::string importing = found_[index].file.path;
    std::vector<Use> imports, members;
    for (const tree::ImportDecl& import : tree.imports) imports.push_back(resolve(import.file.text, importing));
    for (const tree::Member& member : tree.members) {
      const auto import = std::find_if(tree.imports.begin(), tree.imports.end(), [&](const tree::ImportDecl& each) {
        return each.alias.text == member.name.text;
      });
      members.push_back(import == tree.imports.end()
                            ? resolve(member.name.text, importing)
                            : imports[static_cast<std::size_t>(import - tree.imports.begin())]);
    }
    found_[index].imports = std::move(imports);
    found_[index].members = std::move(members);
  }

  Use resolve(const std::string& name, const std::string& importing) {
    Use use;
    use.name = name;
    if (library_ == nullptr) {
      use.problem = {"no file can be imported here", "put what is needed into this file"};
      return use;
    }
    Result<FoundFile> file = library_->find(name, importing);
    if (!file) {
      use.problem = file.error();
      return use;
    }
    use.also = file->also;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (found_[i].file.key == file->key) use.file = static_cast<int>(i);
    }
    if (use.file >= 0) return use;
    if (found_.size() >= limits.files) {
      use.problem = {"more than " + std::to_string(limits.files) + " files", "join some of them"};
      return use;
    }
    use.file = static_cast<int>(found_.size());
    found_.push_back({name, *std::move(file), {}, {}});
    return use;
  }

  // Now that all files stand in one source, where each use stands in it.
  static void place(Found& found, const tree::File& tree) {
    for (std::size_t i = 0; i < found.imports.size() && i < tree.imports.size(); ++i) {
      found.imports[i].span = tree.imports[i].file.span;
    }
    for (std::size_t i = 0; i < found.members.size() && i < tree.members.size(); ++i) {
      found.members[i].span = tree.members[i].name.span;
    }
  }

  void error(std::string code, Span span, std::string message, std::string label, std::string help,
             std::vector<Context> contexts = {}) {
    diagnostics_.add({Severity::Error, std::move(code), span, std::move(message), std::move(label), std::move(help),
                      std::move(contexts)});
  }

  // A name without a file; one name that means two files, whose texts differ.
  void tell_problems() {
    std::map<std::string, Use> first;
    for (const Found& found : found_) {
      for (const auto* uses : {&found.imports, &found.members}) {
        for (const Use& use : *uses) {
          if (use.file < 0) {
            error("E0601", use.span, use.problem.what, "", use.problem.help);
            continue;
          }
          if (!use.also.empty()) {
            conflict_ = true;
            error("E0603", use.span, "`" + use.name + "` means two files", use.also + " as well as " + file(use).path,
                  "rename the one that is yours");
            continue;
          }
          const auto [it, fresh] = first.emplace(use.name, use);
          if (fresh || it->second.file == use.file || text(it->second) == text(use)) continue;
          conflict_ = true;
          error("E0603", use.span, "`" + use.name + "` means two files",
                "here it is " + file(use).path, "give one of them another name, or import the same one twice",
                {{it->second.span, "here it is " + file(it->second).path}});
        }
      }
    }
  }

  const FoundFile& file(const Use& use) const { return found_[static_cast<std::size_t>(use.file)].file; }
  const std::string& text(const Use& use) const { return file(use).text; }

  // Depth first, so that a file comes after all that it uses; false where the way comes back to itself.
  bool visit(int index) {
    const auto at = static_cast<std::size_t>(index);
    state_[at] = 1;
    path_.push_back({index, {}});
    for (const auto* uses : {&found_[at].imports, &found_[at].members}) {
      for (const Use& use : *uses) {
        if (use.file < 0 || state_[static_cast<std::size_t>(use.file)] == 2) continue;
        path_.back().second = use.span;
        if (state_[static_cast<std::size_t>(use.file)] == 1) {
          const auto name = [&](int file) { return found_[static_cast<std::size_t>(file)].name; };
          std::string circle;
          std::vector<Context> others;
          auto it = std::find_if(path_.begin(), path_.end(), [&](const auto& step) { return step.first == use.file; });
          for (; it != path_.end(); ++it) {
            circle += name(it->first) + " → ";
            if (it->first != index) others.push_back({it->second, "used by `" + name(it->first) + "`"});
          }
          error("E0602", use.span, "files that use each other in a circle", circle + name(use.file),
                "move what both need into a third file", std::move(others));
          return false;
        }
        if (!visit(use.file)) return false;
      }
    }
    path_.pop_back();
    state_[at] = 2;
    order_.push_back(index);
    return true;
  }

  void adopt(Linked& linked, int index) {
    tree::File& into = linked.files[static_cast<std::size_t>(index)].tree;
    const std::vector<Use>& imports = found_[static_cast<std::size_t>(index)].imports;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < imports.size() && i < into.imports.size(); ++i) {
      const tree::Name& alias = into.imports[i].alias;
      if (!seen.insert(alias.text).second) {
        error("E0102", alias.span, "two files are imported as `" + alias.text + "`", "",
              "give one another name: `import " + into.imports[i].file.text + " as …`");
        continue;
      }
      if (imports[i].file < 0) {
        into.unread.push_back(alias.text);  // that has been told: nobody who calls its functions is blamed
        continue;
      }
      adopt_functions(into, linked.files[static_cast<std::size_t>(imports[i].file)].tree, alias.text);
    }
  }

  const Library* library_;
  Diagnostics& diagnostics_;
  std::vector<Found> found_;
  std::vector<char> state_;  // 0 unseen, 1 on the way, 2 done
  std::vector<std::pair<int, Span>> path_;  // files, each with the place where it names the next
  std::vector<int> order_;
  bool conflict_ = false;
};

void shift(tree::TypeName& type, tree::ExprId by) {
  if (type.low != tree::none) type.low += by;
  if (type.high != tree::none) type.high += by;
  for (tree::TypeName& argument : type.arguments) shift(argument, by);
}

}  // namespace

void adopt_functions(tree::File& into, const tree::File& from, const std::string& alias) {
  for (const std::string& name : from.unread) into.unread.push_back(alias + "." + name);
  if (from.functions.empty()) return;
  std::set<std::string> own;
  for (const tree::FunctionDecl& function : from.functions) own.insert(function.name.text);
  // A name that `from` does not have must not find one of `into` by chance.
  for (const tree::FunctionDecl& function : into.functions) own.insert(function.name.text);
  const auto unread = [&](const std::string& call) {
    return std::any_of(from.unread.begin(), from.unread.end(),
                       [&](const std::string& name) { return call.starts_with(name + "."); });
  };
  const auto by = static_cast<tree::ExprId>(into.exprs.size());
  for (tree::Expr expr : from.exprs) {
    if (expr.kind == tree::ExprKind::Call && (own.contains(expr.text) || unread(expr.text))) expr.text = alias + "." + expr.text;
    for (tree::ExprId& arg : expr.args) arg += arg == tree::none ? 0 : by;
    for (tree::StringPart& part : expr.parts) part.hole += part.hole == tree::none ? 0 : by;
    into.exprs.push_back(std::move(expr));
  }
  for (tree::FunctionDecl function : from.functions) {
    function.name.text = alias + "." + function.name.text;
    for (tree::Param& param : function.params) shift(param.type, by);
    shift(function.result, by);
    function.body += by;
    function.imported = true;
    into.functions.push_back(std::move(function));
  }
}

std::optional<Linked> link(std::shared_ptr<const Source>& source, const tree::File& root, const Library* library,
                           Diagnostics& diagnostics) {
  Linker linker(library, diagnostics);
  linker.discover(*source, root);
  source = linker.source();
  return linker.read(source);
}

}  // namespace allot::lang::compose
