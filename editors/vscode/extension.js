// Starts `allot lsp` and lets it answer; everything it knows comes from there.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const program = vscode.workspace.getConfiguration("allot").get("program");
  const server = { command: program, args: ["lsp"] };
  client = new LanguageClient("allot", "Allot", server, { documentSelector: [{ language: "allot" }] });
  return client.start();
}

function deactivate() {
  return client === undefined ? undefined : client.stop();
}

module.exports = { activate, deactivate };
