#include "runtime/replay/mapping.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "lang/diagnostics.h"

namespace allot::replay {

using lang::Fact;
using lang::ReadArgument;
using lang::ReadKey;

namespace {

std::string word(const ReadKey& key, std::size_t index) {
  if (index >= key.arguments.size() || key.arguments[index].kind != ReadArgument::Kind::Word) return {};
  return key.arguments[index].word;
}

std::string with_padding(std::string text, const std::string& padding) {
  if (padding == "unpadded") text += ", unpadded";
  return text + ")";
}

// Where the prefix length or the turn stands among a statistic's arguments.
std::optional<std::size_t> turn_argument(Fact fact) {
  switch (fact) {
    case Fact::PairwiseMean:
    case Fact::PairwiseMin:
    case Fact::PairwiseMax:
      return 1;
    case Fact::UniquePrefixRatio:
    case Fact::UniqueActionRatio:
    case Fact::Agreement:
    case Fact::ActionEntropy:
    case Fact::FinishedFraction:
      return 0;
    default:
      return std::nullopt;
  }
}

// Column and fact of the layout published with Selective Rollout; its K is our N.
struct Known {
  std::string_view column;
  std::string_view name;
};
constexpr std::array known_layout{
    Known{"task_id", "group"},
    Known{"K", "turn"},
    Known{"label", "label"},
    Known{"reward_var", "variance"},
    Known{"prefix_edit_distance_mean", "mean_pairwise(normalized_edit_distance)"},
    Known{"action_bigram_jaccard_mean", "mean_pairwise(bigram_jaccard)"},
    Known{"unique_prefix_ratio", "unique_ratio(prefixes)"},
    Known{"unique_action_ratio", "unique_ratio(actions_at)"},
    Known{"action_entropy", "entropy(normalized)"},
    Known{"termination_fraction", "finished_fraction"},
};

struct Setting {
  std::string name;
  std::optional<int> turn;
  std::string column;
};

Result<Setting> read_setting(const std::string& text) {
  const Error wrong{fmt::format("--map wants NAME=COLUMN or NAME@TURN=COLUMN, not '{}'", text),
                    "for example --map 'finished_fraction@10=done_at_10'"};
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return wrong;
  Setting setting{text.substr(0, equals), std::nullopt, text.substr(equals + 1)};
  const std::size_t at = setting.name.rfind('@');
  if (at == std::string::npos) return setting;
  int turn = 0;
  const char* const end = setting.name.data() + setting.name.size();
  const auto [read, failure] = std::from_chars(setting.name.data() + at + 1, end, turn);
  if (failure != std::errc() || read != end || turn < 1) return wrong;
  setting.name.resize(at);
  setting.turn = turn;
  return setting;
}

Result<std::size_t> column_named(const Csv& csv, const std::string& name) {
  if (const auto column = csv.column(name)) return *column;
  const std::string near = lang::near_match(name, csv.header);
  return Error{
      fmt::format("the table has no column '{}'", name),
      near.empty() ? fmt::format("it has {}", fmt::join(csv.header, ", ")) : fmt::format("did you mean {}?", near)};
}

// `turn_given` etc. are needed because a table may have its group in any column.
struct Seen {
  bool group = false;
};

void put(Mapping& mapping, Seen& seen, const Setting& setting, std::size_t column) {
  if (setting.name == "group") {
    mapping.group = column;
    seen.group = true;
  } else if (setting.name == "turn") {
    mapping.turn = column;
  } else if (setting.name == "label") {
    mapping.label = column;
  } else if (setting.name == "variance") {
    mapping.variance = column;
  } else {
    mapping.facts.emplace(setting.name, Mapping::Source{column, setting.turn});
  }
}

std::vector<std::string> known_names() {
  std::vector<std::string> names{"group", "turn", "label", "variance", "agreement", "finished_fraction"};
  for (const std::string_view range : {"mean", "min", "max"}) {
    for (const std::string_view distance : {"edit_distance", "normalized_edit_distance", "bigram_jaccard"}) {
      names.push_back(fmt::format("{}_pairwise({})", range, distance));
      names.push_back(fmt::format("{}_pairwise({}, unpadded)", range, distance));
    }
  }
  for (const std::string_view unit : {"bits", "nats", "normalized"}) names.push_back(fmt::format("entropy({})", unit));
  for (const std::string_view of : {"prefixes", "prefixes, unpadded", "actions_at"}) {
    names.push_back(fmt::format("unique_ratio({})", of));
  }
  for (const lang::FactRow& row : lang::fact_rows()) {
    if (row.subject == lang::Subject::Group && !row.name.empty()) names.push_back(fmt::format("g.{}", row.name));
  }
  return names;
}

}  // namespace

std::string short_name(const ReadKey& key) {
  switch (key.fact) {
    case Fact::PairwiseMean:
      return with_padding("mean_pairwise(" + word(key, 0), word(key, 2));
    case Fact::PairwiseMin:
      return with_padding("min_pairwise(" + word(key, 0), word(key, 2));
    case Fact::PairwiseMax:
      return with_padding("max_pairwise(" + word(key, 0), word(key, 2));
    case Fact::UniquePrefixRatio:
      return with_padding("unique_ratio(prefixes", word(key, 1));
    case Fact::UniqueActionRatio:
      return "unique_ratio(actions_at)";
    case Fact::Agreement:
      return "agreement";
    case Fact::ActionEntropy:
      return "entropy(" + word(key, 1) + ")";
    case Fact::FinishedFraction:
      return "finished_fraction";
    default:
      return fmt::format("g.{}", lang::row(key.fact).name);
  }
}

int turn_of(const ReadKey& key, const std::vector<lang::Cell>& parameters, int asked_at) {
  const auto index = turn_argument(key.fact);
  if (!index || *index >= key.arguments.size()) return asked_at;
  const std::int64_t turn = lang::value(key.arguments[*index], parameters);
  return turn < 0 ? asked_at : static_cast<int>(turn);
}

const Mapping::Source* Mapping::find(std::string_view fact, int turn) const {
  const Source* general = nullptr;
  const auto [first, last] = facts.equal_range(fact);
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second.turn == turn) return &entry->second;
    if (!entry->second.turn && this->turn) general = &entry->second;
  }
  return general;
}

Result<Mapping> read_mapping(const Csv& csv, const std::vector<std::string>& settings) {
  Mapping mapping;
  Seen seen;
  std::vector<Setting> given;
  const std::vector<std::string> names = known_names();
  for (const std::string& text : settings) {
    auto setting = read_setting(text);
    if (!setting) return setting.error();
    if (std::find(names.begin(), names.end(), setting->name) == names.end()) {
      const std::string near = lang::near_match(setting->name, names);
      return Error{fmt::format("--map does not know '{}'", setting->name),
                   near.empty() ? "`allot replay --help` lists the names" : fmt::format("did you mean {}?", near)};
    }
    given.push_back(*std::move(setting));
  }
  for (const Known& known : known_layout) {
    const auto column = csv.column(known.column);
    const bool replaced =
        std::any_of(given.begin(), given.end(), [&](const Setting& setting) { return setting.name == known.name; });
    if (column && !replaced) put(mapping, seen, {std::string(known.name), std::nullopt, ""}, *column);
  }
  for (const Setting& setting : given) {
    const auto column = column_named(csv, setting.column);
    if (!column) return column.error();
    put(mapping, seen, setting, *column);
  }
  if (!seen.group) {
    return Error{"the table does not say which column tells groups apart",
                 fmt::format("say it with --map group=COLUMN; the columns are {}", fmt::join(csv.header, ", "))};
  }
  return mapping;
}

}  // namespace allot::replay
