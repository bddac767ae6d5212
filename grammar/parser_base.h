// What the generated parser derives from: ANTLR's parser with other keeping of rule contexts. ANTLR's own loses a context when
// there is no memory to note it. The generated header includes this behind ANTLR's, which therefore is not included here.
#pragma once
#include <memory>
#include <utility>
#include <vector>

namespace tercet {

class ParserBase : public antlr4::Parser {
 public:
  using antlr4::Parser::Parser;

 protected:
  class Contexts {
   public:
    template <class T, class... A> T* createInstance(A&&... arguments) {
      auto made = std::make_unique<T>(std::forward<A>(arguments)...);
      T* out = made.get();
      all_.push_back(std::move(made));
      return out;
    }

   private:
    std::vector<std::unique_ptr<antlr4::tree::ParseTree>> all_;
  };
  Contexts _tracker;   // the name that generated code uses
};

}  // namespace tercet
using TercetParserBase = tercet::ParserBase;   // a grammar can name no namespace
