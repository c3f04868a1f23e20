// Serves requests for swaps that come as files into a run's folder, and follows a file that is watched; on threads of its
// own, so that neither decisions nor the trainer wait.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/engine/file_watcher.h"
#include "runtime/engine/swap_files.h"

namespace allot::engine {

class SwapDesk {
 public:
  // `engine` must outlive the desk, and be what it was resumed to, between two iterations. What an earlier process had
  // accepted and that does not hold is carried out before this returns. `watched` may be empty. Of a run that is resumed, a
  // watched file is taken up that was changed since it was last looked at; before this returns too, if nobody writes it just
  // now.
  static Result<std::unique_ptr<SwapDesk>> open(Engine& engine, const std::filesystem::path& run,
                                                const std::filesystem::path& watched);
  ~SwapDesk();
  SwapDesk(const SwapDesk&) = delete;
  SwapDesk& operator=(const SwapDesk&) = delete;

  // The state on disk that the run is resumed from holds this change (SwapReport): requests up to it need not be kept.
  void saved(int change);
  // What was said of the watched file, and of swaps that cannot be made again, a line each, since the last call.
  std::vector<std::string> take_messages();

 private:
  struct Served {
    std::optional<SwapReport> report;  // none while it is under way
    bool told = false;                 // the answer on disk is the last one
  };

  SwapDesk(Engine& engine, const std::filesystem::path& run);
  void watch(const std::filesystem::path& file, bool resumed);
  void keep_watched();
  void work(const std::stop_token& stop);
  void beat();
  void announce(std::int64_t process);
  void carry_out_again();
  void take_what_lies_there();
  void take_requests();
  void serve(const std::string& id, SwapRequest request);
  void follow_file();
  void answer();
  void clean_up();

  Engine& engine_;
  SwapFiles files_;
  std::optional<FileWatcher> watcher_;
  bool missed_ = false;         // the file may have been changed before anybody watched it
  std::string missed_request_;  // what came of that
  std::int64_t beats_ = 0;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Served> served_;  // by request
  bool news_ = false;                     // one of them has its report
  std::vector<std::string> messages_;
  int saved_ = 0;
  std::map<std::string, std::jthread> workers_;  // by request
  std::jthread thread_;                          // last: it uses the others
};

}  // namespace allot::engine
