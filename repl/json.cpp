#include "repl/json.h"

#include <fmt/format.h>
#include <simdjson.h>

namespace tercet {

struct JsonReader {
  static Json read(const simdjson::dom::element& e) {
    Json out;
    switch (e.type()) {
      case simdjson::dom::element_type::OBJECT: {
        Json::Object fields;
        for (auto [name, value] : simdjson::dom::object(e)) fields[std::string(name)] = read(value);
        out.value_ = std::move(fields);
        break;
      }
      case simdjson::dom::element_type::ARRAY: {
        std::vector<Json> elements;
        for (simdjson::dom::element x : simdjson::dom::array(e)) elements.push_back(read(x));
        out.value_ = std::move(elements);
        break;
      }
      case simdjson::dom::element_type::STRING: out.value_ = std::string(std::string_view(e)); break;
      case simdjson::dom::element_type::INT64: out.value_ = int64_t(e); break;
      case simdjson::dom::element_type::UINT64: out.value_ = static_cast<double>(uint64_t(e)); break;
      case simdjson::dom::element_type::DOUBLE: out.value_ = double(e); break;
      case simdjson::dom::element_type::BOOL: out.value_ = bool(e); break;
      case simdjson::dom::element_type::NULL_VALUE: break;
    }
    return out;
  }
};

Json Json::parse(std::string_view text) {
  Json out;
  try {
    simdjson::dom::parser parser;
    out = JsonReader::read(parser.parse(text.data(), text.size()));
  } catch (const simdjson::simdjson_error&) {
    out.valid_ = false;
  }
  return out;
}

namespace {
const Json& nothing() {
  static const Json none;
  return none;
}
}  // namespace

const Json& Json::operator[](std::string_view name) const {
  auto* object = std::get_if<Object>(&value_);
  if (!object) return nothing();
  auto found = object->find(name);
  return found == object->end() ? nothing() : found->second;
}
const Json& Json::operator[](size_t i) const { return i < elements().size() ? elements()[i] : nothing(); }
const std::vector<Json>& Json::elements() const {
  static const std::vector<Json> none;
  auto* list = std::get_if<std::vector<Json>>(&value_);
  return list ? *list : none;
}
std::string Json::text() const {
  auto* s = std::get_if<std::string>(&value_);
  return s ? *s : "";
}
int64_t Json::number(int64_t otherwise) const {
  auto* n = std::get_if<int64_t>(&value_);
  return n ? *n : otherwise;
}
bool Json::boolean() const {
  auto* b = std::get_if<bool>(&value_);
  return b && *b;
}
std::string Json::id() const {
  if (auto* n = std::get_if<int64_t>(&value_)) return std::to_string(*n);
  if (auto* s = std::get_if<std::string>(&value_)) return in_quotes(*s);
  return "null";
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else out += c;
  }
  return out + '"';
}

}  // namespace tercet
