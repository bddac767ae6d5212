// Values: what they are, and trees of them.
#include "embed/handles.h"
#include "interpreter/engine/echo.h"

using namespace tercet;
using namespace tercet::embed;

namespace tercet::embed {

tct_value* new_value(Value v) { return new tct_value(std::move(v)); }

}  // namespace tercet::embed

namespace {

/// The text, made once; "" when there is no memory for it.
template <class Make> tct_str remembered(const tct_value* value, std::unique_ptr<const std::string> tct_value::* slot, Make make) {
  if (!value) return tct_str_of("");
  try {
    std::scoped_lock lock(value->mutex);
    if (!(value->*slot)) const_cast<tct_value*>(value)->*slot = std::make_unique<const std::string>(make(value->value));
    const std::string& text = *(value->*slot);
    return {text.c_str(), text.size()};
  } catch (...) {
    return tct_str_of("");
  }
}

const std::vector<Value>* elements_of(const tct_value* value) {
  if (!value) return nullptr;
  if (auto* t = value->value.as<Value::Tuple>()) return &t->elements;
  if (auto* r = value->value.as<Value::Record>()) return &r->values;
  return nullptr;
}

std::vector<Value> values_of(tct_value* const* list, size_t count) {
  std::vector<Value> out;
  for (size_t i = 0; i < count; ++i) {
    require(list && list[i], "an element is NULL");
    out.push_back(list[i]->value);
  }
  return out;
}

}  // namespace

extern "C" {

TCT_API void tct_value_retain(tct_value* value) { if (value) value->retain(); }
TCT_API void tct_value_release(tct_value* value) { if (value && value->release()) delete value; }

TCT_API tct_kind tct_value_kind(const tct_value* value) {
  if (!value || value->value.is_none()) return TCT_NONE;
  const Value& v = value->value;
  if (v.leaf()) return TCT_ARRAY;
  if (v.as<Value::Tuple>()) return TCT_TUPLE;
  if (v.as<Value::Record>()) return TCT_RECORD;
  if (v.as<Value::Range>()) return TCT_RANGE;
  return v.is_function() ? TCT_FUNCTION : TCT_OTHER;
}
TCT_API tct_str tct_value_type(const tct_value* value) { return remembered(value, &tct_value::type, [](const Value& v) { return type_text(v); }); }
TCT_API tct_str tct_value_text(const tct_value* value) { return remembered(value, &tct_value::text, [](const Value& v) { return value_text(v); }); }
TCT_API tct_str tct_value_full_type(const tct_value* value) { return remembered(value, &tct_value::full_type, [](const Value& v) { return full_type(v); }); }
TCT_API tct_str tct_value_echo(const tct_value* value) { return remembered(value, &tct_value::echo, [](const Value& v) { return echo_text(v); }); }

TCT_API size_t tct_value_count(const tct_value* value) {
  auto* all = elements_of(value);
  return all ? all->size() : 0;
}
TCT_API tct_status tct_value_at(const tct_value* value, size_t index, tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_value, "out_value is NULL");
    auto* all = elements_of(value);
    require(all, "the value is no tuple and no record");
    require(index < all->size(), "the index is out of range");
    *out_value = new_value((*all)[index]);
    return TCT_OK;
  });
}
TCT_API tct_status tct_value_field(const tct_value* value, tct_str name, tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(value && out_value, "the value or out_value is NULL");
    auto* record = value->value.as<Value::Record>();
    require(record, "the value is no record");
    const Value* found = field<Array>(*record, view_of(name));
    if (!found) fail(Kind::Name, {}, "the record has no field `" + std::string(view_of(name)) + "`");
    *out_value = new_value(*found);
    return TCT_OK;
  });
}
TCT_API tct_str tct_value_field_name(const tct_value* value, size_t index) {
  auto* record = value ? value->value.as<Value::Record>() : nullptr;
  if (!record || index >= record->names.size()) return tct_str_of("");
  return {record->names[index].c_str(), record->names[index].size()};
}

TCT_API tct_status tct_tuple(tct_value* const* elements, size_t count, tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_value, "out_value is NULL");
    *out_value = new_value(Value::Tuple{values_of(elements, count)});
    return TCT_OK;
  });
}
TCT_API tct_status tct_record(const tct_str* names, tct_value* const* fields, size_t count, tct_value** out_value, tct_error** out_error) {
  return guarded(out_error, [&] {
    require(out_value && (names || count == 0), "out_value or the names are NULL");
    Value::Record record{{}, values_of(fields, count)};
    for (size_t i = 0; i < count; ++i) {
      require(names[i].size > 0, "a field's name is empty");
      for (const std::string& before : record.names) require(before != view_of(names[i]), "a field is named twice");
      record.names.emplace_back(view_of(names[i]));
    }
    *out_value = new_value(std::move(record));
    return TCT_OK;
  });
}

}  // extern "C"
