// A run of several processes under one chain, and what an audit and the next process say to its folder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/auditing.h"
#include "runtime/engine/live_engine.h"
#include "runtime/engine/record_rows.h"
#include "tests/engine/folder.h"
#include "tests/engine/played_runs.h"

namespace allot::engine::bench {

using Lines = std::vector<std::string>;

PlayedRun learning();

// Five processes; the fourth ended before its first barrier. Iterations 0–2, 3–4, 5, none, 6–7.
void play_five(const Folder& folder);

// The sums as whoever rewrites a journal makes them anew, by their definition and not by LineChain. Gives the sum at the end.
std::string sum_anew(Lines& lines, std::string before, bool of_the_run_too = true);

// The next process over a folder of learning().
Result<std::unique_ptr<LiveEngine>> open_run(const std::filesystem::path& folder);

// What the next process says to `state`; empty where it goes on.
std::string refusal(const std::filesystem::path& folder, const std::filesystem::path& state);

// Fails the test where the folder cannot be audited.
AuditResult audit(const std::filesystem::path& folder, const std::vector<std::string>& kept = {});

// The rows of one kind that `allot log` tells of. Fails the test where the folder cannot be read.
std::vector<RecordRow> rows_of(const Folder& folder, const std::string& kind);

// A line each.
std::string all(const std::vector<std::string>& damage);

bool contains(const std::string& text, const std::string& part);

}  // namespace allot::engine::bench
