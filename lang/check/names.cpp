#include "lang/check/names.h"

#include <utility>

namespace allot::lang::checker {

Binding value_binding(const tree::Name& name, std::string kind) {
  Binding binding;
  binding.kind = std::move(kind);
  binding.name = name.text;
  binding.span = name.span;
  return binding;
}

// From the innermost frame outwards; from a function's body straight to the file's names.
template <typename Visit>
void Names::walk(Visit visit) const {
  for (std::size_t i = frames_.size(); i-- > 0;) {
    if (visit(frames_[i]) || frames_[i].sealed) return;
    if (frames_[i].function_body && i > 0) i = 1;
  }
}

Binding* Names::find(std::string_view name) {
  Binding* found = nullptr;
  walk([&](const Frame& frame) {
    const auto it = frame.names.find(name);
    if (it != frame.names.end()) found = it->second;
    return found != nullptr;
  });
  return found;
}

Binding* Names::declare(Binding binding) {
  binding.id = static_cast<int>(bindings_.size());
  bindings_.push_back(std::move(binding));
  Binding* const kept = &bindings_.back();
  frames_.back().names[kept->name] = kept;
  return kept;
}

std::vector<std::string> Names::visible() const {
  std::vector<std::string> result;
  walk([&](const Frame& frame) {
    for (const auto& [name, binding] : frame.names) result.push_back(name);
    return false;
  });
  return result;
}

const Binding* Names::innermost(Subject subject) const {
  const Binding* found = nullptr;
  walk([&](const Frame& frame) {
    for (const auto& [name, binding] : frame.names) {
      if (binding->meaning == Meaning::Subject && binding->subject == subject) found = binding;
    }
    return found != nullptr;
  });
  return found;
}

}  // namespace allot::lang::checker
