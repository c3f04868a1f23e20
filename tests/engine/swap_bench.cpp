#include "tests/engine/swap_bench.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace allot::engine::bench {

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }
Clock::duration seconds(double count) { return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count)); }

double option(const std::vector<std::string>& words, const std::string& name, double otherwise) {
  const auto found = std::find(words.begin(), words.end(), name);
  return found == words.end() || found + 1 == words.end() ? otherwise : std::stod(*(found + 1));
}

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  statm >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

int mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<int>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

void fail(const std::string& what) {
  fmt::print(stderr, "swap_soak: {}\n", what);
  std::exit(1);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string policy_text(int lines, int variant) {
  std::string text = fmt::format("policy soak\nparam at: real = 0.{}\n", 100 + variant % 800);
  for (int i = 0; i < lines / 2; ++i) text += fmt::format("fn f{}(x: real) -> real = x * {} + {}\n", i, i, 0.5 * i);
  text += "on every turn of group g {\n";
  for (int i = 0; i < lines / 2 - 5; ++i) {
    text += fmt::format("  when f{}(at) + {} < 0 then stop, drop because \"rule {}: {{at}}\"\n", i % std::max(1, lines / 2), i, i);
  }
  text += "  otherwise continue\n}\n";
  return text + fmt::format("# variant {}\n", variant);
}

PolicyText text_of(const std::string& text) {
  PolicyText made;
  made.file = "soak.allot";
  made.text = text;
  made.whole = true;
  return made;
}

std::vector<std::string> prompts(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("p{}", i));
  return names;
}

Settings settings_of(int slots, const std::filesystem::path& run) {
  Settings settings;
  settings.slots = slots;
  settings.group_size = 2;
  settings.turn_limit = 1000;
  settings.run_folder = run;
  return settings;
}

std::unique_ptr<LiveEngine> engine_of(const Settings& settings, std::shared_ptr<Policy> policy) {
  auto engine = LiveEngine::create(settings, std::move(policy));
  if (!engine) fail(engine.error().text());
  return *std::move(engine);
}

std::unique_ptr<LiveEngine> engine_of(const std::string& text, int slots, const std::filesystem::path& run) {
  auto policy = load_policy(text_of(text), {});
  if (!policy) fail(policy.error().text());
  return engine_of(settings_of(slots, run), *std::move(policy));
}

double SlotClient::step() {
  const auto begin = Clock::now();
  const bool ends = turn_ == turns;
  auto orders = ends ? engine_.ended({group_, sample_}, {Status::Completed, 1.0, std::nullopt, "", ""})
                     : engine_.turn({group_, sample_}, turn());
  const double took = seconds_since(begin);
  if (!orders) fail(orders.error().text());
  for (const Start& start : orders->start) next_ = start.group;
  sample_ = 1 - sample_;
  if (sample_ == 0) ++turn_;
  if (next_ >= 0) {
    group_ = std::exchange(next_, -1);
    sample_ = turn_ = 0;
  }
  return took;
}

Turn SlotClient::turn() const {
  Turn made;
  made.action = turn_ % 2 == 0 ? "look" : "go";
  made.tokens = 1;
  made.last = turn_ + 1 == turns;
  return made;
}

}  // namespace allot::engine::bench
