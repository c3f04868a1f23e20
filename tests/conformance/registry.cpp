#include "tests/conformance/registry.h"

#include <stdexcept>

namespace allot::conformance {

void Registry::add(std::string name, Adapter adapter) {
  const auto [entry, fresh] = adapters_.emplace(std::move(name), std::move(adapter));
  if (!fresh) throw std::logic_error("two adapters for " + entry->first);
}

const Adapter* Registry::find(const std::string& name) const {
  const auto found = adapters_.find(name);
  return found == adapters_.end() ? nullptr : &found->second;
}

}  // namespace allot::conformance
