// Allotting to many prompts, as a comparison with other programs calls it: `PROGRAM --data DIR --json [--case TEXT]`.
// DIR holds beta_N_counts_a.bin and _b.bin (doubles, posteriors under the prior beta(1, 1)). One JSON object a line:
// case, peer, min_s, median_s, result (the expected number of prompts that are hit). Built and run by hand.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "runtime/allocation/hits.h"

namespace {

constexpr int most = 64;      // of one prompt
constexpr int mean = 8;       // of all
constexpr int repeats = 7;

std::vector<std::int32_t> read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<std::int32_t> result;
  for (double value = 0; stream.read(reinterpret_cast<char*>(&value), sizeof value);) {
    result.push_back(static_cast<std::int32_t>(value) - 1);
  }
  return result;
}

void run(const std::string& folder, int prompts) {
  const std::string name = folder + "/beta_" + std::to_string(prompts) + "_counts_";
  const std::vector<std::int32_t> hits = read(name + "a.bin");
  const std::vector<std::int32_t> misses = read(name + "b.bin");
  if (hits.empty() || hits.size() != misses.size()) {
    std::fprintf(stderr, "error: %sa.bin and b.bin are not there, or not alike\n", name.c_str());
    return;
  }
  std::vector<double> seconds;
  double utility = 0;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    utility = allot::allocation::allot_hits({1, 1}, hits, misses, std::int64_t{mean} * prompts, most).utility;
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(seconds.begin(), seconds.end());
  std::printf("{\"case\": \"allocate N=%d counts\", \"peer\": \"allot\", \"min_s\": %.9g, \"median_s\": %.9g, "
              "\"result\": %.12g}\n",
              prompts, seconds.front(), seconds[repeats / 2], utility);
}

}  // namespace

int main(int count, char** arguments) {
  std::string folder = "data";
  std::string wanted;
  for (int i = 1; i + 1 < count; ++i) {
    if (std::string(arguments[i]) == "--data") folder = arguments[i + 1];
    if (std::string(arguments[i]) == "--case") wanted = arguments[i + 1];
  }
  for (const int prompts : {1'000, 100'000, 1'000'000}) {
    if (("allocate N=" + std::to_string(prompts) + " counts").find(wanted) != std::string::npos) run(folder, prompts);
  }
}
