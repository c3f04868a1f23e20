// How values are shown to people.
#include <array>
#include <charconv>

#include "lang/program.h"

namespace allot::lang {
namespace {

// The shortest digits that read back to the same number.
std::string digits(double value) {
  std::array<char, 64> buffer{};
  const auto [end, problem] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return problem == std::errc() ? std::string(buffer.data(), end) : std::string("?");
}

}  // namespace

std::string show(const Cell& cell, const Type& type) {
  if (cell.defined == 0) return "undefined";
  switch (type.base) {
    case Base::Bool:
      return cell.truth() ? "true" : "false";
    case Base::Int:
      return std::to_string(cell.integer());
    case Base::Real:
      return digits(cell.real());
    case Base::Beta:
      return "beta(" + digits(cell.real()) + ", " + digits(cell.second) + ")";
    case Base::Prompt:
      return "prompt " + std::to_string(cell.integer());
    case Base::Category:
      return "category " + std::to_string(cell.integer());
    default:
      return "?";
  }
}

std::string show(std::span<const Cell> cells, const Type& type) {
  if (!type.vector()) return cells.empty() ? "undefined" : show(cells.front(), type);
  if (type.missing && cells.empty()) return "undefined";
  const std::size_t width = type.matrix() && type.columns > 0 ? static_cast<std::size_t>(type.columns) : 0;
  std::string text = width > 0 ? "[[" : "[";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text += width > 0 && i % width == 0 ? "], [" : ", ";
    text += show(cells[i], type);
  }
  return text + (width > 0 ? "]]" : "]");
}

}  // namespace allot::lang
