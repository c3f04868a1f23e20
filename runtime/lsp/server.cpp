#include "runtime/lsp/server.h"

#include "runtime/lsp/framing.h"

namespace allot::lsp {

namespace {

// Codes of JSON-RPC and of the protocol.
constexpr int parse_error = -32700;
constexpr int invalid_request = -32600;
constexpr int method_not_found = -32601;
constexpr int invalid_params = -32602;
constexpr int not_initialized = -32002;
constexpr int request_failed = -32803;

Json capabilities() {
  return {{"capabilities",
           {{"positionEncoding", "utf-16"},
            {"textDocumentSync", {{"openClose", true}, {"change", 1}}},
            {"hoverProvider", true},
            {"completionProvider", {{"triggerCharacters", {"."}}}},
            {"definitionProvider", true},
            {"referencesProvider", true},
            {"documentHighlightProvider", true},
            {"documentSymbolProvider", true},
            {"renameProvider", {{"prepareProvider", true}}},
            {"documentFormattingProvider", true}}},
          {"serverInfo", {{"name", "allot"}}}};
}

Position position(const Json& params) {
  const Json& at = params.at("position");
  return {at.at("line").get<int>(), at.at("character").get<int>()};
}

// The folders that the editor has open.
std::vector<std::string> roots(const Json& params) {
  std::vector<std::string> found;
  const auto folders = params.find("workspaceFolders");
  if (folders != params.end() && folders->is_array()) {
    for (const Json& folder : *folders) found.push_back(folder.at("uri").get<std::string>());
  }
  const auto root = params.find("rootUri");
  if (found.empty() && root != params.end() && root->is_string()) found.push_back(root->get<std::string>());
  return found;
}

}  // namespace

void Server::send(const Json& message) {
  write_message(out_, message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Server::reply(const Json& id, Json result) {
  send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void Server::refuse(const Json& id, int code, const std::string& words) {
  send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", words}}}});
}

int Server::run(std::istream& in) {
  while (const auto message = read_message(in)) {
    if (!handle(*message)) break;
  }
  return shut_down_ ? 0 : 1;
}

bool Server::handle(const std::string& text) {
  const Json message = Json::parse(text, nullptr, false);
  if (!message.is_object()) {
    refuse(nullptr, parse_error, "this is no JSON object");
    return true;
  }
  static const Json nothing, no_parameters = Json::object();
  // By reference: a copy of what is nested deep takes as much of the stack.
  const auto member = [&](const char* name, const Json& otherwise) -> const Json& {
    const auto found = message.find(name);
    return found == message.end() ? otherwise : *found;
  };
  const Json& id = member("id", nothing);
  const bool is_request = message.contains("id");
  if (!id.is_null() && !id.is_string() && !id.is_number()) {  // it is sent back, so it must be small and flat
    refuse(nullptr, invalid_request, "an id is a number or a string");
    return true;
  }
  if (!message.contains("method") || !message["method"].is_string()) {
    if (is_request && !message.contains("result") && !message.contains("error")) {
      refuse(id, invalid_request, "there is no method");
    }
    return true;  // an answer to a request that was never made
  }
  const auto method = message["method"].get<std::string>();
  if (method == "exit") return false;
  const Json& params = member("params", no_parameters);
  try {  // the library throws where a parameter is missing or of another type
    is_request ? request(id, method, params) : notification(method, params);
  } catch (const Json::exception& error) {
    if (is_request) refuse(id, invalid_params, error.what());
  }
  return true;
}

const Document* Server::document(const Json& params) const {
  return workspace_.find(params.at("textDocument").at("uri").get<std::string>());
}

void Server::request(const Json& id, const std::string& method, const Json& params) {
  if (method == "initialize") {
    initialized_ = true;
    for (const std::string& root : roots(params)) workspace_.add_root(root);
    return reply(id, capabilities());
  }
  if (!initialized_) return refuse(id, not_initialized, "`initialize` comes first");
  if (shut_down_) return refuse(id, invalid_request, "the server is shut down");
  if (method == "shutdown") {
    shut_down_ = true;
    return reply(id, nullptr);
  }
  if (!method.starts_with("textDocument/")) return refuse(id, method_not_found, "there is no method " + method);
  const Document* const asked = document(params);
  if (asked == nullptr) return refuse(id, invalid_params, "this document is not open");
  if (method == "textDocument/hover") return reply(id, workspace_.hover(*asked, position(params)));
  if (method == "textDocument/completion") return reply(id, asked->completion(position(params)));
  if (method == "textDocument/definition") return reply(id, workspace_.definition(*asked, position(params)));
  if (method == "textDocument/documentHighlight") return reply(id, asked->highlights(position(params)));
  if (method == "textDocument/documentSymbol") return reply(id, asked->outline());
  if (method == "textDocument/formatting") return reply(id, asked->formatting());
  if (method == "textDocument/prepareRename") {
    return reply(id, workspace_.rename_range(*asked, position(params)));
  }
  if (method == "textDocument/references") {
    const bool with_declaration = params.at("context").value("includeDeclaration", true);
    return reply(id, workspace_.references(*asked, position(params), with_declaration));
  }
  if (method == "textDocument/rename") {
    auto edits = workspace_.rename(*asked, position(params), params.at("newName").get<std::string>());
    return edits ? reply(id, *std::move(edits)) : refuse(id, request_failed, edits.error().what);
  }
  refuse(id, method_not_found, "there is no method " + method);
}

void Server::publish(const std::string& uri, Json diagnostics) {
  send({{"jsonrpc", "2.0"},
        {"method", "textDocument/publishDiagnostics"},
        {"params", {{"uri", uri}, {"diagnostics", std::move(diagnostics)}}}});
}

void Server::open(const std::string& uri, std::string text) {
  const std::vector<const Document*> others = workspace_.open(uri, std::move(text));
  publish(uri, workspace_.find(uri)->diagnostics());
  for (const Document* other : others) publish(other->uri(), other->diagnostics());
}

void Server::notification(const std::string& method, const Json& params) {
  if (!initialized_ || shut_down_) return;
  if (method == "textDocument/didOpen") {
    const Json& opened = params.at("textDocument");
    open(opened.at("uri").get<std::string>(), opened.at("text").get<std::string>());
  } else if (method == "textDocument/didChange") {
    // Changes are whole texts, as the capabilities say; the last one counts.
    const Json& changes = params.at("contentChanges");
    if (changes.empty()) return;
    open(params.at("textDocument").at("uri").get<std::string>(), changes.back().at("text").get<std::string>());
  } else if (method == "textDocument/didClose") {
    const auto uri = params.at("textDocument").at("uri").get<std::string>();
    const std::vector<const Document*> others = workspace_.close(uri);
    publish(uri, Json::array());
    for (const Document* other : others) publish(other->uri(), other->diagnostics());
  }
}

}  // namespace allot::lsp
