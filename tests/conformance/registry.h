// Which function of the project stands behind which function name of the vector files.
//
// A subject adds its adapters in one file (statistics.cpp, allocation.cpp, …) and is called from main.cpp. A name that
// nobody adds is reported as skipped, never as passed.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace allot::conformance {

using Json = nlohmann::json;

// From a vector's `inputs` to what the project computes, in the shape of its `expected`. Numbers may be NaN. What it
// throws fails the vector.
using Adapter = std::function<Json(const Json& inputs)>;

class Registry {
 public:
  // Throws std::logic_error where the name is taken.
  void add(std::string name, Adapter adapter);
  const Adapter* find(const std::string& name) const;  // null where the project does not know the function

 private:
  std::map<std::string, Adapter> adapters_;
};

void register_statistics(Registry& registry);
void register_allocation(Registry& registry);
// Methods, whose rules are asked of the language (language.h).
void register_methods(Registry& registry);
// Vectors, matrices, trees and classes, by expressions of the language.
void register_expressions(Registry& registry);
// Whole policies of stdlib/ (policies.h).
void register_policies(Registry& registry);
// In estimators.cpp, beside the trainer; called where the target allot_training exists and the file is there.
void register_estimators(Registry& registry);

}  // namespace allot::conformance
