// Everything that can be said about a run on the command line, with defaults that work.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/training/batch_advantage.h"
#include "runtime/training/config.h"
#include "runtime/training/update.h"

namespace allot::training {

struct RunOptions {
  // what is run
  std::string world = "household";
  std::filesystem::path games;               // TextWorld: a folder with training/ and held_out/
  std::string world_command;                 // process: the program that speaks the protocol
  int worlds = 16;                           // child processes at most
  std::filesystem::path policy;
  std::map<std::string, std::string> parameters;
  std::filesystem::path inputs;              // JSON: what the policy's `input`s are; empty: none
  std::vector<std::string> arms = {"none", "policy"};
  std::vector<std::uint64_t> seeds = {7};
  int iterations = 60;
  std::filesystem::path run;                 // empty: runs/<world>-<n>
  bool resume = false;
  std::filesystem::path model;               // start from this folder instead of a fresh model

  // how groups are made
  int slots = 8;
  int group_size = 8;
  int turn_limit = 0;                        // 0: the world's own
  int tokens_per_turn = 8;
  double temperature = 0.7;                  // of the Selective Rollout paper
  double top_p = 1.0;
  int gate_turn = 10;                        // of the arms `random` and `oracle`
  bool shadow = false;
  double holdout = 0;
  std::optional<double> pause_below;
  bool stop_on_fault = false;
  bool native = true;
  bool keep_events = false;
  std::filesystem::path watch;               // a policy file that is followed while it runs

  // how it learns
  ModelConfig shape;
  std::string device = "cpu";
  int threads = 0;
  OptimizerOptions optimizer;
  UpdateOptions update;
  AdvantageOptions advantage{Estimator::Grpo, 1, 1e-6};
  int demonstrations = 4800;
  int warm_up_steps = 1800;
  int warm_up_batch = 16;
  double warm_up_rate = 3e-3;
  int held_out = 0;                          // tasks of the evaluation; 0: all

  // how it talks
  bool json = false;
  bool quiet = false;
  bool quick = false;
};

// "allot train: what happened", and help where there is some, on stderr; `json`: as {"error": …, "help": …} on stdout too,
// for there is no other document then.
void complain(const Error& error, bool json);

// Parses the command line. Prints help or an error itself; the result is then the exit status.
struct Parsed {
  RunOptions options;
  std::optional<int> exit_status;
};
Parsed parse_options(int argc, char** argv);

}  // namespace allot::training
