#include "interpreter/elaborate/builtin.h"

#include <algorithm>
#include <limits>
#include <map>

#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

struct Table {
  std::vector<BuiltinDef> from_rows;
  std::map<std::string, const BuiltinDef*> by_name;
  std::map<std::string, std::vector<std::string>> parts;

  Table() {
    size_t rows = op_table().size();
    from_rows.reserve(rows);
    for (const OpDef* op : op_table())
      if (auto* surface = std::get_if<Public>(&op->surface)) {
        from_rows.push_back({op->name, surface->params, op->doc, nullptr, op});
        by_name[op->name] = &from_rows.back();
      }
    for (auto& [name, def] : by_name) parts["elementwise"].push_back(name);
    for (auto& [part, list] : std::initializer_list<std::pair<const char*, BuiltinList>>{
             {"arrays", creation_builtins}, {"arrays", shape_builtins}, {"arrays", indexing_builtins}, {"statistics", reduction_builtins},
             {"language", language_builtins}, {"linear", linear_builtins}, {"text", text_builtins}, {"search", order_builtins},
             {"random", random_builtins}, {"derivatives", derivative_builtins}, {"devices", device_builtins}, {"files", file_builtins}})
      for (const BuiltinDef& def : list) {
        by_name[def.name] = &def;
        parts[part].push_back(def.name);
      }
  }
};

const Table& table() {
  static const Table all;
  return all;
}

}  // namespace

const BuiltinDef* find_builtin(const std::string& name) {
  auto found = table().by_name.find(name);
  return found == table().by_name.end() ? nullptr : found->second;
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> out;
  for (auto& [name, def] : table().by_name) out.push_back(name);
  return out;
}

const std::map<std::string, std::vector<std::string>>& builtin_parts() { return table().parts; }

bool uses_files(const BuiltinDef& def) {
  auto is = [&](const BuiltinDef& other) { return &other == &def; };
  return std::any_of(file_builtins.begin(), file_builtins.end(), is) || def.name == std::string_view("read_text") ||
         def.name == std::string_view("read_lines") || def.name == std::string_view("read_jsonl");
}

std::optional<double> find_constant(const std::string& name) {
  static const std::map<std::string, double> constants{{"nan", std::numeric_limits<double>::quiet_NaN()},
                                                       {"inf", std::numeric_limits<double>::infinity()},
                                                       {"pi", 3.14159265358979323846}, {"e", 2.71828182845904523536}};
  auto found = constants.find(name);
  return found == constants.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tercet
