// A language server: what an editor asks about programs, answered from their text. It runs nothing.
//
// Messages are those of the language server protocol 3.17, without their headers. Known are initialize, shutdown, exit; opening,
// changing (whole or in part) and closing documents, which sends diagnostics; hover, definition, completion, formatting and the
// symbols of a document.
// Example:  LspServer server([](const std::string& message) { … });  server.handle(R"({"method": "initialize", …})");
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "repl/json.h"
#include "repl/lsp_text.h"

namespace tercet {

class LspServer {
 public:
  using Send = std::function<void(const std::string& message)>;
  explicit LspServer(Send send);
  ~LspServer();

  void handle(std::string_view message);
  /// The exit status, once the editor has asked to end.
  std::optional<int> ended() const { return ended_; }

 private:
  struct Symbol {
    std::string name, kind, detail, doc;
    size_t begin, end, scope_begin, scope_end;   // bytes
    bool top_level;
  };
  struct Document {
    LspText text;
    std::vector<Symbol> symbols;   // of the last text that could be read
  };
  struct Engines;

  std::string answer(const std::string& method, const Json& params);   // a result, as JSON
  bool notified(const std::string& method, const Json& params);
  void opened(const std::string& uri, std::string text);
  void changed(const std::string& uri, const Json& changes);
  void check(const std::string& uri);
  const Document* document(const Json& params) const;
  const Symbol* resolve(const Document& d, const LspText::Word& word) const;
  std::string hover(const Document& d, const Json& params);
  std::string definition(const Document& d, const Json& params);
  std::string completion(const Document& d, const Json& params);
  std::string formatting(const Document& d, const Json& params);
  std::string document_symbols(const Document& d) const;

  Send send_;
  std::unique_ptr<Engines> engines_;
  std::map<std::string, Document> documents_;   // by URI
  bool initialized_ = false, shut_down_ = false;
  std::optional<int> ended_;
};

}  // namespace tercet
