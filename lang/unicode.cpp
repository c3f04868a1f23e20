#include "lang/unicode.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace allot::lang {
namespace {

struct Named {
  std::int32_t code_point;
  std::string_view name;
};

constexpr std::array<Named, 25> deceptive_names{{
    {0x0000, "NUL"},
    {0x00AD, "soft hyphen"},
    {0x061C, "Arabic letter mark"},
    {0x180E, "Mongolian vowel separator"},
    {0x200B, "zero-width space"},
    {0x200C, "zero-width non-joiner"},
    {0x200D, "zero-width joiner"},
    {0x200E, "left-to-right mark"},
    {0x200F, "right-to-left mark"},
    {0x2028, "line separator"},
    {0x2029, "paragraph separator"},
    {0x202A, "left-to-right embedding"},
    {0x202B, "right-to-left embedding"},
    {0x202C, "pop directional formatting"},
    {0x202D, "left-to-right override"},
    {0x202E, "right-to-left override"},
    {0x2060, "word joiner"},
    {0x2066, "left-to-right isolate"},
    {0x2067, "right-to-left isolate"},
    {0x2068, "first strong isolate"},
    {0x2069, "pop directional isolate"},
    {0x2061, "function application"},
    {0x2062, "invisible times"},
    {0x2063, "invisible separator"},
    {0xFEFF, "zero-width no-break space"},
}};

struct Letter {
  std::int32_t code_point;
  char ascii;
  std::string_view name;
};

// Letters and signs that a reader takes for ASCII. Not a full table of confusables: those that keyboards and word
// processors really produce.
constexpr std::array<Letter, 75> letters{{
    {0x0430, 'a', "Cyrillic a"},
    {0x0435, 'e', "Cyrillic ie"},
    {0x043E, 'o', "Cyrillic o"},
    {0x0440, 'p', "Cyrillic er"},
    {0x0441, 'c', "Cyrillic es"},
    {0x0443, 'y', "Cyrillic u"},
    {0x0445, 'x', "Cyrillic ha"},
    {0x0455, 's', "Cyrillic dze"},
    {0x0456, 'i', "Cyrillic i"},
    {0x0458, 'j', "Cyrillic je"},
    {0x04BB, 'h', "Cyrillic shha"},
    {0x0501, 'd', "Cyrillic komi de"},
    {0x051B, 'q', "Cyrillic qa"},
    {0x051D, 'w', "Cyrillic we"},
    {0x0475, 'v', "Cyrillic izhitsa"},
    {0x0432, 'b', "Cyrillic ve"},
    {0x043A, 'k', "Cyrillic ka"},
    {0x043C, 'm', "Cyrillic em"},
    {0x043D, 'h', "Cyrillic en"},
    {0x0442, 't', "Cyrillic te"},
    {0x0433, 'r', "Cyrillic ghe"},
    {0x0410, 'A', "Cyrillic capital a"},
    {0x0412, 'B', "Cyrillic capital ve"},
    {0x0415, 'E', "Cyrillic capital ie"},
    {0x041A, 'K', "Cyrillic capital ka"},
    {0x041C, 'M', "Cyrillic capital em"},
    {0x041D, 'H', "Cyrillic capital en"},
    {0x041E, 'O', "Cyrillic capital o"},
    {0x0420, 'P', "Cyrillic capital er"},
    {0x0421, 'C', "Cyrillic capital es"},
    {0x0422, 'T', "Cyrillic capital te"},
    {0x0423, 'Y', "Cyrillic capital u"},
    {0x0425, 'X', "Cyrillic capital ha"},
    {0x0405, 'S', "Cyrillic capital dze"},
    {0x0406, 'I', "Cyrillic capital i"},
    {0x0408, 'J', "Cyrillic capital je"},
    {0x03B1, 'a', "Greek alpha"},
    {0x03B5, 'e', "Greek epsilon"},
    {0x03B9, 'i', "Greek iota"},
    {0x03BA, 'k', "Greek kappa"},
    {0x03BD, 'v', "Greek nu"},
    {0x03BF, 'o', "Greek omicron"},
    {0x03C1, 'p', "Greek rho"},
    {0x03C4, 't', "Greek tau"},
    {0x03C5, 'u', "Greek upsilon"},
    {0x03C7, 'x', "Greek chi"},
    {0x03B3, 'y', "Greek gamma"},
    {0x0391, 'A', "Greek capital alpha"},
    {0x0392, 'B', "Greek capital beta"},
    {0x0395, 'E', "Greek capital epsilon"},
    {0x0397, 'H', "Greek capital eta"},
    {0x0399, 'I', "Greek capital iota"},
    {0x039A, 'K', "Greek capital kappa"},
    {0x039C, 'M', "Greek capital mu"},
    {0x039D, 'N', "Greek capital nu"},
    {0x039F, 'O', "Greek capital omicron"},
    {0x03A1, 'P', "Greek capital rho"},
    {0x03A4, 'T', "Greek capital tau"},
    {0x03A5, 'Y', "Greek capital upsilon"},
    {0x03A7, 'X', "Greek capital chi"},
    {0x0396, 'Z', "Greek capital zeta"},
    {0x0131, 'i', "dotless i"},
    {0x0251, 'a', "Latin alpha"},
    {0x0261, 'g', "Latin script g"},
    {0x00A0, ' ', "no-break space"},
    {0x2013, '-', "en dash"},
    {0x2014, '-', "em dash"},
    {0x2212, '-', "minus sign"},
    {0x2018, '"', "left single quotation mark"},
    {0x2019, '"', "right single quotation mark"},
    {0x201C, '"', "left double quotation mark"},
    {0x201D, '"', "right double quotation mark"},
    {0x00D7, '*', "multiplication sign"},
    {0x00F7, '/', "division sign"},
    {0x3000, ' ', "ideographic space"},
}};

struct Sign {
  std::int32_t code_point;
  std::string_view ascii;
  std::string_view name;
};
constexpr std::array<Sign, 7> signs{{
    {0x2264, "<=", "less-than or equal sign"},
    {0x2265, ">=", "greater-than or equal sign"},
    {0x2260, "!=", "not-equal sign"},
    {0x2026, "..", "ellipsis"},
    {0x2192, "->", "rightwards arrow"},
    {0x2227, "and", "logical and"},
    {0x2228, "or", "logical or"},
}};

// The ASCII letter under an accent, or 0.
char base_letter(std::int32_t code_point) {
  std::array<utf8proc_int32_t, 8> parts{};
  int boundary = 0;
  const auto count = utf8proc_decompose_char(code_point, parts.data(), parts.size(),
                                             static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE), &boundary);
  if (count < 1 || count > static_cast<utf8proc_ssize_t>(parts.size())) return 0;
  return parts[0] < 0x80 && parts[0] != code_point ? static_cast<char>(parts[0]) : '\0';
}

std::string_view kind_of(std::int32_t code_point) {
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return "letter outside ASCII";
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return "digit outside ASCII";
    default:
      return "character outside ASCII";
  }
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t offset) {
  utf8proc_int32_t value = -1;
  const auto read = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + offset),
                                     static_cast<utf8proc_ssize_t>(text.size() - offset), &value);
  if (read <= 0) return {};
  return {value, static_cast<int>(read)};
}

bool deceptive(std::int32_t code_point) {
  if (code_point == '\t' || code_point == '\n' || code_point == '\r') return false;
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    default:
      return false;
  }
}

std::string deceptive_name(std::int32_t code_point) {
  const auto found = std::find_if(deceptive_names.begin(), deceptive_names.end(),
                                  [&](const Named& named) { return named.code_point == code_point; });
  if (found != deceptive_names.end()) return fmt::format("{}, {}", found->name, notation(code_point));
  const bool control = utf8proc_category(code_point) == UTF8PROC_CATEGORY_CC;
  return fmt::format("{}, {}", control ? "control character" : "invisible character", notation(code_point));
}

namespace {

bool breaks_line(std::int32_t code_point) { return code_point == '\n' || code_point == '\t' || code_point == '\r'; }

std::string escaped(std::int32_t code_point) {
  if (code_point < 0) return "\xEF\xBF\xBD";
  switch (code_point) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    default: return fmt::format("\\u{:04x}", code_point);
  }
}

std::string shown(std::string_view text, bool one_line) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint read = code_point_at(text, at);
    const bool plain = read.value >= 0 && !deceptive(read.value) && !(breaks_line(read.value) && (one_line || read.value == '\r'));
    result += plain ? std::string(text.substr(at, static_cast<std::size_t>(read.bytes))) : escaped(read.value);
    at += static_cast<std::size_t>(read.bytes);
  }
  return result;
}

}  // namespace

std::string shown_in_line(std::string_view text) { return shown(text, true); }
std::string shown(std::string_view text) { return shown(text, false); }

LookAlike look_alike(std::int32_t code_point) {
  const auto category = utf8proc_category(code_point);
  const bool letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;  // L*, M*, N*
  for (const auto& known : letters) {
    if (known.code_point != code_point) continue;
    return {fmt::format("{}, {}", known.name, notation(code_point)), std::string(1, known.ascii), letter};
  }
  for (const auto& sign : signs) {
    if (sign.code_point != code_point) continue;
    return {fmt::format("{}, {}", sign.name, notation(code_point)), std::string(sign.ascii), letter};
  }
  if (code_point >= 0xFF01 && code_point <= 0xFF5E) {  // the full-width forms mirror ASCII
    const char ascii = static_cast<char>(code_point - 0xFF01 + 0x21);
    return {fmt::format("full-width {}, {}", ascii, notation(code_point)), std::string(1, ascii), letter};
  }
  if (const char base = base_letter(code_point)) {
    return {fmt::format("{} with an accent, {}", base, notation(code_point)), std::string(1, base), letter};
  }
  return {fmt::format("{}, {}", kind_of(code_point), notation(code_point)), "", letter};
}

std::string notation(std::int32_t code_point) {
  return fmt::format("U+{:04X}", code_point);
}

int display_width(std::int32_t code_point) {
  return code_point < 0x80 ? 1 : std::max(0, utf8proc_charwidth(code_point));
}

}  // namespace allot::lang
