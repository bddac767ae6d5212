#include "repl/lsp_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tercet/tercet.hpp>

namespace tercet {
namespace {

constexpr int parse_error = -32700, invalid_request = -32600, unknown_method = -32601, not_initialized = -32002;

constexpr const char* capabilities = R"({"capabilities": {"positionEncoding": "utf-16", "textDocumentSync": {"openClose": true, "change": 2},
 "hoverProvider": true, "definitionProvider": true, "completionProvider": {"triggerCharacters": ["."]}, "documentFormattingProvider": true,
 "documentSymbolProvider": true}, "serverInfo": {"name": "tercet", "version": ")" TERCET_VERSION R"("}})";

std::string json_of(LspPosition p) { return fmt::format(R"({{"line": {}, "character": {}}})", p.line, p.character); }
std::string range_json(LspPosition begin, LspPosition end) { return fmt::format(R"({{"start": {}, "end": {}}})", json_of(begin), json_of(end)); }
std::string range_json(const LspText& text, size_t begin, size_t end) { return range_json(text.position_of(begin), text.position_of(end)); }
LspPosition position_of(const Json& p) { return {p["line"].number(), p["character"].number()}; }

/// "file:///a%20b.tct" -> "/a b.tct"; other schemes stay.
std::string path_of(const std::string& uri) {
  std::string rest = uri.starts_with("file://") ? uri.substr(7) : uri, out;
  for (size_t i = 0; i < rest.size(); ++i) {
    auto digit = [&](size_t k) { return k < rest.size() ? std::string_view("0123456789abcdef").find(static_cast<char>(std::tolower(static_cast<unsigned char>(rest[k])))) : std::string_view::npos; };
    if (rest[i] == '%' && digit(i + 1) != std::string_view::npos && digit(i + 2) != std::string_view::npos) {
      out += static_cast<char>(digit(i + 1) * 16 + digit(i + 2));
      i += 2;
    } else {
      out += rest[i];
    }
  }
  return out;
}

std::string code_block(const std::string& code, const std::string& doc) { return "```tercet\n" + code + "\n```" + (doc.empty() ? "" : "\n" + doc); }

int completion_kind(const std::string& kind) { return kind == "function" ? 3 : kind == "module" ? 9 : 6; }
int symbol_kind(const std::string& kind) { return kind == "function" ? 12 : kind == "module" ? 2 : 13; }

}  // namespace

/// Sessions keep every source that they have read, so each is made anew after some.
struct LspServer::Engines {
  Engine engine{Engine::Options{.interpret = true}};
  std::optional<Session> with_files, without_files;
  int used = 0;

  void take() {
    constexpr int most = 64;
    constexpr Limits limits{.memory_bytes = int64_t{1} << 30, .deadline_ms = 5000, .files = true};
    if (with_files && ++used < most) return;
    used = 0;
    Limits closed = limits;
    closed.files = false;   // where reading a program would read its data
    with_files.emplace(engine, limits);
    without_files.emplace(engine, closed);
  }
  /// For what imports: a file's functions are checked with those of the files it imports.
  Session& checking() { return take(), *with_files; }
  Session& reading() { return take(), *without_files; }
};

LspServer::LspServer(Send send) : send_(std::move(send)), engines_(std::make_unique<Engines>()) {}
LspServer::~LspServer() = default;

void LspServer::handle(std::string_view text) {
  auto failed = [&](const std::string& id, int code, const std::string& what) {
    send_(fmt::format(R"({{"jsonrpc": "2.0", "id": {}, "error": {{"code": {}, "message": {}}}}})", id, code, in_quotes(what)));
  };
  const Json message = Json::parse(text);
  if (!message.is_valid()) return failed("null", parse_error, "this is no JSON");
  if (!message.is_object()) return failed("null", invalid_request, "this is no message");
  const std::string method = message["method"].text(), id = message["id"].id();
  if (method.empty()) return;   // an answer to what was never asked
  if (method == "exit") {
    ended_ = shut_down_ ? 0 : 1;
    return;
  }
  const Json& params = message["params"];
  if (id == "null") {
    if (initialized_) notified(method, params);
    return;
  }
  if (!initialized_ && method != "initialize") return failed(id, not_initialized, "the server is not initialized");
  if (shut_down_) return failed(id, invalid_request, "the server is shut down");
  std::string result = answer(method, params);
  if (result.empty()) return failed(id, unknown_method, "unknown method " + method);
  send_(fmt::format(R"({{"jsonrpc": "2.0", "id": {}, "result": {}}})", id, result));
}

std::string LspServer::answer(const std::string& method, const Json& params) {
  if (method == "initialize") {
    initialized_ = true;
    return capabilities;
  }
  if (method == "shutdown") {
    shut_down_ = true;
    return "null";
  }
  static const std::set<std::string> about_documents{"textDocument/hover", "textDocument/definition", "textDocument/completion", "textDocument/formatting", "textDocument/documentSymbol"};
  if (!about_documents.count(method)) return "";
  const Document* d = document(params);
  if (!d) return "null";
  if (method == "textDocument/hover") return hover(*d, params);
  if (method == "textDocument/definition") return definition(*d, params);
  if (method == "textDocument/completion") return completion(*d, params);
  if (method == "textDocument/formatting") return formatting(*d, params);
  return document_symbols(*d);
}

bool LspServer::notified(const std::string& method, const Json& params) {
  const std::string uri = params["textDocument"]["uri"].text();
  if (method == "textDocument/didOpen") opened(uri, params["textDocument"]["text"].text());
  else if (method == "textDocument/didChange") changed(uri, params["contentChanges"]);
  else if (method == "textDocument/didClose") {
    documents_.erase(uri);
    send_(fmt::format(R"({{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": {{"uri": {}, "diagnostics": []}}}})", in_quotes(uri)));
  } else {
    return false;
  }
  return true;
}

void LspServer::opened(const std::string& uri, std::string text) {
  documents_.insert_or_assign(uri, Document{LspText(std::move(text)), {}});
  check(uri);
}

void LspServer::changed(const std::string& uri, const Json& changes) {
  auto found = documents_.find(uri);
  if (found == documents_.end()) return;
  Document& d = found->second;
  for (const Json& c : changes.elements()) {
    std::string text = c["text"].text();
    if (c["range"].is_object()) {
      const size_t begin = d.text.offset(position_of(c["range"]["start"])), end = std::max(begin, d.text.offset(position_of(c["range"]["end"])));
      text = d.text.text().substr(0, begin) + text + d.text.text().substr(end);
    }
    d.text = LspText(std::move(text));
  }
  check(uri);
}

const LspServer::Document* LspServer::document(const Json& params) const {
  auto found = documents_.find(params["textDocument"]["uri"].text());
  return found == documents_.end() ? nullptr : &found->second;
}

/// Reads a document anew, and tells what is wrong with it.
void LspServer::check(const std::string& uri) {
  Document& d = documents_.at(uri);
  const std::string name = path_of(uri);
  const LspText& text = d.text;
  if (Result<std::string> found = engines_->reading().try_show(text.text(), name, "symbols")) {
    d.symbols.clear();
    const Json all = Json::parse(*found);
    for (const Json& s : all["symbols"].elements()) {
      auto byte = [&](const Json& place, const char* line, const char* column) { return text.offset(text.position(place[line].number(), place[column].number())); };
      d.symbols.push_back({s["name"].text(), s["kind"].text(), s["detail"].text(), s["doc"].text(), byte(s["source"], "line", "column"), byte(s["source"], "end_line", "end_column"),
                           byte(s["scope"], "line", "column"), byte(s["scope"], "end_line", "end_column"), s["top_level"].boolean()});
    }
  }
  std::string list;
  if (Session::Checked checked = engines_->checking().check(text.text(), name); checked.error) {
    const Json errors = Json::parse(checked.error->json());
    for (const Json& e : errors["errors"].elements()) {
      const Json& at = e["source"];
      const bool here = at["name"].text() == name;
      std::string message = e["message"].text(), help = e["help"].text();
      if (!here && !at.is_null()) message = fmt::format("{}:{}: {}", at["name"].text(), at["line"].number(), message);   // in a file that it imports
      if (!help.empty()) message += "\nhelp: " + help;
      const LspPosition begin = here ? text.position(at["line"].number(), at["column"].number()) : LspPosition{}, end = here ? text.position(at["end_line"].number(), at["end_column"].number()) : LspPosition{};
      list += fmt::format(R"({}{{"range": {}, "severity": 1, "code": {}, "source": "tercet", "message": {}}})", list.empty() ? "" : ", ", range_json(begin, std::max(begin, end)), in_quotes(e["kind"].text()), in_quotes(message));
    }
  }
  send_(fmt::format(R"({{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": {{"uri": {}, "diagnostics": [{}]}}}})", in_quotes(uri), list));
}

/// What a name means at its place: of the innermost part of the text that sees it the last definition before it, else the first.
const LspServer::Symbol* LspServer::resolve(const Document& d, const LspText::Word& word) const {
  const Symbol* best = nullptr;
  auto better = [&](const Symbol& s) {
    if (!best) return true;
    const size_t size = s.scope_end - s.scope_begin, best_size = best->scope_end - best->scope_begin;
    if (size != best_size) return size < best_size;
    const bool before = s.begin <= word.begin, best_before = best->begin <= word.begin;
    return before && (!best_before || s.begin > best->begin);
  };
  for (const Symbol& s : d.symbols) {
    const bool seen = s.scope_begin <= word.begin && word.end <= std::max(s.scope_end, s.top_level ? word.end : 0);
    if (s.name == word.name && seen && better(s)) best = &s;
  }
  return best;
}

std::string LspServer::hover(const Document& d, const Json& params) {
  const LspText::Word word = d.text.word_at(d.text.offset(position_of(params["position"])));
  if (word.name.empty()) return "null";
  std::string shown;
  const Symbol* s = resolve(d, word);
  if (s && (!word.after_dot || s->kind == "function")) shown = code_block(s->detail, s->doc);
  else if (Result<std::string> help = engines_->reading().try_help(word.name)) {
    const size_t line = std::min(help->find('\n'), help->size());
    shown = code_block(help->substr(0, line), help->substr(std::min(help->size(), line + 1)));
  } else {
    return "null";
  }
  return fmt::format(R"({{"contents": {{"kind": "markdown", "value": {}}}, "range": {}}})", in_quotes(shown), range_json(d.text, word.begin, word.end));
}

std::string LspServer::definition(const Document& d, const Json& params) {
  const LspText::Word word = d.text.word_at(d.text.offset(position_of(params["position"])));
  const Symbol* s = word.name.empty() ? nullptr : resolve(d, word);
  if (!s || (word.after_dot && s->kind != "function")) return "null";
  return fmt::format(R"({{"uri": {}, "range": {}}})", in_quotes(params["textDocument"]["uri"].text()), range_json(d.text, s->begin, s->end));
}

std::string LspServer::completion(const Document& d, const Json& params) {
  const size_t at = d.text.offset(position_of(params["position"]));
  LspText::Word word = d.text.word_at(at);
  word.name.resize(std::min(word.name.size(), at - std::min(at, word.begin)));
  std::string items;
  std::set<std::string> known;
  auto add = [&](const std::string& name, int kind, const std::string& detail) {
    if (!known.insert(name).second) return;
    items += fmt::format(R"({}{{"label": {}, "kind": {}{}}})", items.empty() ? "" : ", ", in_quotes(name), kind, detail.empty() ? "" : ", \"detail\": " + in_quotes(detail));
  };
  for (const Symbol& s : d.symbols) {
    const bool seen = s.top_level || (s.scope_begin <= at && at <= s.scope_end);
    if (seen && s.name.starts_with(word.name) && (!word.after_dot || s.kind == "function")) add(s.name, completion_kind(s.kind), s.detail);
  }
  Session& session = engines_->reading();
  constexpr size_t most_explained = 50;
  const std::vector<std::string> names = session.complete(word.name);
  for (const std::string& name : names) {
    Result<std::string> help = names.size() <= most_explained ? session.try_help(name) : Result<std::string>(std::string());
    const bool reserved = !help;
    if (!reserved || !word.after_dot) add(name, reserved ? 14 : 3, help ? help->substr(0, help->find('\n')) : "");
  }
  return fmt::format(R"({{"isIncomplete": false, "items": [{}]}})", items);
}

std::string LspServer::formatting(const Document& d, const Json& params) {
  Result<std::string> formatted = engines_->reading().try_show(d.text.text(), path_of(params["textDocument"]["uri"].text()), "formatted");
  if (!formatted) return "null";
  if (*formatted == d.text.text()) return "[]";
  return fmt::format(R"([{{"range": {}, "newText": {}}}])", range_json({0, 0}, d.text.end()), in_quotes(*formatted));
}

std::string LspServer::document_symbols(const Document& d) const {
  std::string out;
  for (const Symbol& s : d.symbols) {
    if (!s.top_level) continue;
    const std::string range = range_json(d.text, s.begin, s.end);
    out += fmt::format(R"({}{{"name": {}, "detail": {}, "kind": {}, "range": {}, "selectionRange": {}}})", out.empty() ? "" : ", ", in_quotes(s.name), in_quotes(s.detail), symbol_kind(s.kind), range, range);
  }
  return "[" + out + "]";
}

}  // namespace tercet
