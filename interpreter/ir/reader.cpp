#include "interpreter/ir/reader.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "interpreter/ir/op_def.h"
#include "interpreter/runtime/keys.h"

namespace tercet {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  FunctionPtr all() {
    if (accept("sizes ")) names();
    FunctionPtr f = function();
    skip();
    if (at_ != text_.size()) bad("the end of the text");
    return f;
  }

 private:
  // ---- characters ----
  [[noreturn]] void bad(const std::string& wanted) const {
    size_t line = 1 + static_cast<size_t>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
    fail(Kind::Syntax, {}, fmt::format("text of a function, line {}: expected {} at `{}`", line, wanted, text_.substr(at_, 20)));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool next_is(std::string_view what) {
    skip();
    return text_.substr(at_).starts_with(what);
  }
  bool accept(std::string_view what) {
    if (!next_is(what)) return false;
    at_ += what.size();
    return true;
  }
  void expect(std::string_view what) {
    if (!accept(what)) bad(fmt::format("`{}`", what));
  }
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }
  std::string_view word() {
    skip();
    size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (begin == at_) bad("a name");
    return text_.substr(begin, at_ - begin);
  }
  std::string_view number() {
    skip();
    size_t begin = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.' || text_[at_] == '-' || text_[at_] == '+')) ++at_;
    if (begin == at_) bad("a number");
    return text_.substr(begin, at_ - begin);
  }
  template <class T> T parse(std::string_view digits) {
    T value{};
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) bad("a number in place of " + std::string(digits));
    return value;
  }
  int64_t integer() {
    skip();
    size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
    return parse<int64_t>(text_.substr(begin, at_ - begin));
  }
  std::string string() {
    expect("\"");
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 4 <= text_.size()) {
        unsigned value = 0;
        std::from_chars(text_.data() + at_ + 2, text_.data() + at_ + 4, value, 16);
        out += static_cast<char>(value);
        at_ += 4;
      } else {
        out += text_[at_++];
      }
    }
    expect("\"");
    return out;
  }
  /// Items between `open` and `close`, separated by commas.
  template <class F> void list(std::string_view open, std::string_view close, F item) {
    expect(open);
    while (!accept(close)) {
      item();
      if (!next_is(close)) expect(",");
    }
  }

  // ---- sizes ----
  void names() {
    std::vector<std::pair<std::string, bool>> all;
    do {
      std::string name(word());
      all.emplace_back(name, accept("!"));
    } while (accept(","));
    for (size_t i = all.size(); i-- > 0;) sizes_[all[i].first] = Dim::symbol(all[i].first, all[i].second);   // as print() orders them
  }
  Dim size() {
    check_stack({});
    bool negative = accept("-");
    Dim sum = product();
    if (negative) sum = Dim(-1) * sum;
    for (;;) {
      if (accept("+")) sum = sum + product();
      else if (accept("-")) sum = sum - product();
      else return sum;
    }
  }
  Dim product() {
    Dim out = factor();
    while (accept("*")) out = out * factor();
    return out;
  }
  Dim factor() {
    if (accept("*")) return ragged_;
    if (accept("(")) {
      Dim a = size();
      bool division = accept("//");
      if (!division) expect("%");
      Dim b = size();
      expect(")");
      return division ? floordiv(a, b) : mod(a, b);
    }
    for (auto [name, combine] : {std::pair{"min(", +[](const Dim& a, const Dim& b) { return min(a, b); }},
                                 {"max(", +[](const Dim& a, const Dim& b) { return max(a, b); }},
                                 {"broadcast(", +[](const Dim& a, const Dim& b) { return broadcast(a, b); }}}) {
      if (!accept(name)) continue;
      Dim a = size();
      expect(",");
      Dim b = size();
      expect(")");
      return combine(a, b);
    }
    skip();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return integer();
    auto found = sizes_.find(std::string(word()));
    if (found == sizes_.end()) bad("a size that `sizes` names");
    return found->second;
  }
  std::vector<Dim> size_list() {
    std::vector<Dim> out;
    list("[", "]", [&] { out.push_back(size()); });
    return out;
  }
  DType dtype() {
    DType out;
    if (std::string_view name = word(); !parse_dtype(name, &out)) bad("a dtype in place of " + std::string(name));
    return out;
  }
  Type type() {
    Type out{dtype(), {}};
    if (next_is("[")) out.dims = size_list();
    return out;
  }

  // ---- attributes ----
  Array array(bool weak) {
    DType element = dtype();
    Shape shape;
    list("(", ")", [&] { shape.push_back(integer()); });
    if (next_is("[…")) fail(Kind::Unsupported, {}, "the text leaves out a long constant");
    double count = 1;   // its elements follow, so that there are fewer than bytes
    for (int64_t s : shape) {
      if (s < 0) bad("a size");
      count *= static_cast<double>(s);
    }
    if (count > static_cast<double>(text_.size())) bad("a constant as long as its elements");
    Array out = Array::make(element, shape);
    out.weak = weak;
    std::vector<std::string> texts;
    int64_t i = 0;
    list("[", "]", [&] {
      if (i >= out.count()) bad("fewer elements");
      visit_dtype(element, [&]<class T>() {
        if constexpr (std::is_same_v<T, StringRef>) texts.push_back(string());
        else if constexpr (std::is_same_v<T, KeyBits>) out.data<T>()[i] = key_of(parse<uint64_t>(number()), nullptr);   // constant keys are never used
        else if constexpr (std::is_same_v<T, bool>) out.data<T>()[i] = word() == "true";
        else out.data<T>()[i] = Compute<T>::store(parse<typename Compute<T>::type>(number()));
      });
      ++i;
    });
    if (i != out.count()) bad("more elements");
    if (element != DType::Str) return out;
    std::vector<std::string_view> views(texts.begin(), texts.end());
    return Array::strings(views).reshaped(shape);
  }
  Attr attribute() {
    if (next_is("\"")) return string();
    if (accept("<handle>")) fail(Kind::Unsupported, {}, "the text leaves out a handle");
    if (accept("<")) {
      Attr out = next_is("[") ? Attr(size_list()) : Attr(size());
      expect(">");
      return out;
    }
    if (next_is("[")) {
      std::vector<int64_t> out;
      list("[", "]", [&] { out.push_back(integer()); });
      return out;
    }
    if (accept("weak ")) return array(true);
    size_t begin = at_;
    std::string_view token = number();
    if (token == "true" || token == "false") return token == "true";
    if (DType named; parse_dtype(token, &named)) {
      if (!next_is("(")) return named;
      at_ = begin;
      return array(false);
    }
    bool whole = token.find_first_not_of("-0123456789") == std::string_view::npos;
    if (whole) return parse<int64_t>(token);
    return parse<double>(token);
  }

  // ---- functions ----
  struct Values {
    std::map<std::string, ValueId, std::less<>> ids;
  };
  std::string_view value_name() {
    expect("%");
    return word();
  }
  ValueId value(const Values& known) {
    auto found = known.ids.find(value_name());
    if (found == known.ids.end()) bad("a value that is defined above");
    return found->second;
  }

  FunctionPtr function() {
    check_stack({});
    Values known;
    Builder b{std::string(word())};
    list("(", ")", [&] {
      std::string name(value_name());
      expect(":");
      known.ids[name] = b.param(type());
    });
    expect("{");
    while (!accept("return")) operation(b, known);
    std::vector<ValueId> results;
    while (!accept("}")) {
      results.push_back(value(known));
      if (!next_is("}")) expect(",");
    }
    return b.finish(results);
  }

  void operation(Builder& b, Values& known) {
    std::vector<std::pair<std::string, Type>> outputs;
    while (next_is("%")) {
      std::string name(value_name());
      expect(":");
      outputs.emplace_back(name, type());
      if (!accept(",")) expect("=");
    }
    std::string name(word());
    const OpDef* def = find_op(name);
    if (!def) bad("an operation in place of " + name);
    std::vector<ValueId> inputs;
    list("(", ")", [&] { inputs.push_back(value(known)); });
    Attrs attrs;
    if (next_is("{"))
      list("{", "}", [&] {
        std::string key(word());
        expect("=");
        attrs.set(key, attribute());
      });
    std::vector<FunctionPtr> bodies;
    while (body_follows()) bodies.push_back(function());
    std::vector<ValueId> ids = b.emit_many(*def, std::move(inputs), std::move(attrs), {}, std::move(bodies));
    TERCET_CHECK(ids.size() == outputs.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      TERCET_CHECK(b.type(ids[i]) == outputs[i].second);
      known.ids[outputs[i].first] = ids[i];
    }
  }
  /// A body's first line ends in `{` and is no operation: `name(%0: …`.
  bool body_follows() {
    skip();
    size_t line_end = text_.find('\n', at_);
    std::string_view line = text_.substr(at_, line_end == std::string_view::npos ? line_end : line_end - at_);
    return !line.starts_with('%') && line.ends_with(") {");
  }

  std::string_view text_;
  size_t at_ = 0;
  std::map<std::string, Dim> sizes_;
  Dim ragged_ = Dim::ragged();
};

}  // namespace

FunctionPtr read_function(std::string_view text) { return Reader(text).all(); }

}  // namespace tercet
