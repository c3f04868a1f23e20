// allot train: hands over to the trainer, so that this program starts quickly and needs no LibTorch.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "runtime/cli/command.h"

namespace allot::cli {

Exit start_trainer(char** arguments) {
  std::error_code failure;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failure);
  std::string trainer = (self.parent_path() / "allot-train").string();
  std::vector<char*> words{trainer.data()};
  for (char** word = arguments; *word != nullptr; ++word) words.push_back(*word);
  words.push_back(nullptr);
  ::execv(trainer.c_str(), words.data());
  complain({fmt::format("the trainer {} cannot be started: {}", trainer, std::strerror(errno)),
            "`./dev build` builds it; a build with -DALLOT_TRAINING=OFF has none"});
  return Exit::Misuse;
}

// Listed with the other commands; its words are the trainer's to read, so they never reach CLI11.
void add_train(CLI::App& app) {
  app.add_subcommand("train", "Train a model under a policy (`allot train --help` tells more)");
}

}  // namespace allot::cli
