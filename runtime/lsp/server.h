// The server: messages in, messages out. It keeps the open policies and nothing else; no file is written.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "runtime/lsp/workspace.h"

namespace allot::lsp {

class Server {
 public:
  explicit Server(std::ostream& out) : out_(out) {}

  // Until `exit` or the end of the stream. The status of the process: 0 where `shutdown` came first.
  int run(std::istream& in);
  // One message; false where it was `exit`.
  bool handle(const std::string& message);

 private:
  void send(const Json& message);
  void reply(const Json& id, Json result);
  void refuse(const Json& id, int code, const std::string& words);
  void request(const Json& id, const std::string& method, const Json& params);
  void notification(const std::string& method, const Json& params);
  void publish(const std::string& uri, Json diagnostics);
  void open(const std::string& uri, std::string text);
  const Document* document(const Json& params) const;

  std::ostream& out_;
  Workspace workspace_;
  bool initialized_ = false;
  bool shut_down_ = false;
};

}  // namespace allot::lsp
