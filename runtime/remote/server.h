// Serves an engine to other processes of the same user over a local socket.
//
// One thread reads, decides and writes, and waits for nobody: what a client does not take stays in a bounded buffer,
// and a client that lets it fill is dropped. While an engine is served, its events come through clients, those of its
// own process too; what only looks (preview, save_state, …) and swaps may be asked of the engine too. A swap that a
// client asks for is prepared on a thread of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "common/result.h"
#include "runtime/engine/engine.h"
#include "runtime/remote/frames.h"
#include "runtime/remote/socket.h"

namespace allot::remote {

struct ServerSettings {
  double grace = 1.0;                   // seconds in which a client whose connection broke may come back
  double greeting = 5.0;                // seconds that a connection may take to say who it is
  std::size_t buffer_limit = 16 << 20;  // bytes for a client that does not read
  int connections = 1024;               // at once; more are turned away
  std::size_t longest_answer = frame_limit;  // bytes; what takes more is answered by an error
};

struct ServerCounts {
  std::int64_t connections = 0;  // all of them
  std::int64_t connected = 0;    // now
  std::int64_t requests = 0;     // carried out
  std::int64_t repeated = 0;     // came again over a new connection, and were not carried out twice
  std::int64_t refused = 0;      // texts that no client of ours sends, and connections that were turned away
  std::int64_t slow = 0;         // clients that did not read
  std::int64_t gone = 0;         // clients that went without a word
  std::int64_t aborted = 0;      // rollouts that ended because their client was gone
};

class Server {
 public:
  // `where`: see socket_of(). The engine must outlive the server. An error: another engine is served there, the
  // filesystem has no sockets, or the grace is no time.
  static Result<std::unique_ptr<Server>> open(engine::Engine& engine, const std::filesystem::path& where,
                                              const ServerSettings& settings = {});
  // Over what listen_at() gave, for who must know that the run is its own before it makes the engine.
  static std::unique_ptr<Server> over(Listener listener, engine::Engine& engine, const ServerSettings& settings = {});
  ~Server();  // close(); rollouts that run are left to whoever reports to the engine
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void close();  // waits for swaps that are under way
  const std::filesystem::path& path() const;
  ServerCounts counts() const;

 private:
  class Loop;
  explicit Server(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace allot::remote
