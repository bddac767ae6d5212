// JSON texts, read: what editors send, and what the interface tells of a program.
//
// Example:  Json j = Json::parse(R"({"a": [1, "x"]})");  j["a"][1].text();   // "x"
// What is not there, or of another kind, is empty: reading a message never fails behind its syntax.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tercet {

class Json {
 public:
  /// Of no JSON, is_valid() is false.
  static Json parse(std::string_view text);
  bool is_valid() const { return valid_; }
  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  const Json& operator[](std::string_view name) const;
  const Json& operator[](size_t i) const;
  const std::vector<Json>& elements() const;
  std::string text() const;
  int64_t number(int64_t otherwise = 0) const;
  bool boolean() const;
  /// The number or string as JSON again, as the id of an answer; else "null".
  std::string id() const;

 private:
  friend struct JsonReader;
  using Object = std::map<std::string, Json, std::less<>>;
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, std::vector<Json>, Object> value_ = nullptr;
  bool valid_ = true;
};

/// The text as a JSON string. (The library's own, base/json_text.h, is no part of its public interface.)
std::string in_quotes(std::string_view text);

}  // namespace tercet
