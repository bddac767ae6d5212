// Functions of the host that programs call.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "embed/handles.h"
#include "grammar/parser.h"
#include "interpreter/ir/host_function.h"

using namespace tercet;
using namespace tercet::embed;

namespace {

/// "(f64, f32[n])" -> "(p0: f64, p1: f32[n])": commas inside brackets do not separate.
std::string with_names(std::string_view signature) {
  std::string out;
  int depth = 0, count = 0;
  bool start = false, arrow = false;
  for (size_t i = 0; i < signature.size(); ++i) {
    char c = signature[i];
    arrow |= signature.substr(i, 2) == "->";
    if (start && c != ' ' && c != ')') out += fmt::format("p{}: ", count++);
    start &= c == ' ';
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    out += c;
    if (!arrow && depth == 1 && (c == '(' || c == ',')) start = true;
  }
  return out;
}

Type type_of(const ast::TypeExpr& t, std::map<std::string, Dim>& sizes, bool may_name) {
  Type out;
  if (!parse_dtype(t.dtype, &out.dtype)) fail(Kind::Name, t.span, fmt::format("`{}` is no type", t.dtype));
  for (const ast::TypeExpr::Size& s : t.sizes) {
    if (s.ragged) fail(Kind::Unsupported, s.span, "a host function takes and gives arrays whose rows have one length");
    if (s.value) out.dims.emplace_back(*s.value);
    else if (s.name == "_") out.dims.push_back(Dim::symbol("_"));
    else if (may_name || sizes.count(s.name)) out.dims.push_back(sizes.try_emplace(s.name, Dim::symbol(s.name)).first->second);
    else fail(Kind::Name, s.span, fmt::format("the size `{}` of the result stands in no argument", s.name));
  }
  return out;
}

std::string text_of(const Type& t) {
  std::string sizes;
  for (const Dim& d : t.dims) sizes += (sizes.empty() ? "" : ", ") + d.text();
  return name_of(t.dtype) + (t.dims.empty() ? std::string() : "[" + sizes + "]");
}

std::shared_ptr<HostFunction> read_signature(std::string name, const SourceFile& source) {
  ParseResult parsed = parse(source);
  if (!parsed.diagnostics.empty()) throw Failure(parsed.diagnostics);
  auto* f = parsed.program.statements.size() == 1 ? parsed.program.statements[0]->as<ast::FunctionStmt>() : nullptr;
  require(f && f->function->name == name, "a signature is written as (f64, f32[n]) -> f32[n]");
  auto out = std::make_shared<HostFunction>();
  out->name = std::move(name);
  std::map<std::string, Dim> sizes;
  for (const ast::Param& p : f->function->params) {
    require(p.type.has_value() && !p.default_value, "a signature is written as (f64, f32[n]) -> f32[n]");
    out->parameters.push_back(type_of(*p.type, sizes, true));
    out->texts.push_back(text_of(out->parameters.back()));
  }
  if (f->function->result) out->results.push_back(type_of(*f->function->result, sizes, false));
  return out;
}

bool is_known(tct_status s) {
  return (s >= TCT_ERR_SYNTAX && s <= TCT_ERR_UNSUPPORTED) || (s >= TCT_ERR_INDEX && s <= TCT_ERR_HOST) || (s >= TCT_ERR_INTERRUPTED && s <= TCT_ERR_LIMIT) || s == TCT_ERR_USAGE;
}

/// The program fails as the host's function did.
[[noreturn]] void fail_as_host(const std::string& name, tct_status status, tct_error* error) {
  std::shared_ptr<tct_error> held(error, tct_error_release);
  Diagnostic d;
  d.kind = Kind::Value;
  d.message = fmt::format("`{}` of the host failed{}", name, error && !error->message.empty() ? ": " + error->message : "");
  auto failure = std::make_shared<HostFailure>();
  failure->status = is_known(status) ? status : TCT_ERR_HOST;
  if (error) failure->error = error->host_data;
  d.host = failure;
  throw Failure(std::move(d));
}

std::vector<Array> call_host(const std::string& name, tct_host_fn function, void* context, std::vector<Array> arguments) {
  std::vector<std::unique_ptr<tct_value, void (*)(tct_value*)>> values;
  std::vector<tct_value*> handles;
  for (Array& a : arguments) handles.push_back(values.emplace_back(new_value(std::move(a)), tct_value_release).get());
  tct_value* result = nullptr;
  tct_error* error = nullptr;
  tct_status status = function(context, handles.data(), handles.size(), &result, &error);
  if (status != TCT_OK) fail_as_host(name, status, error);
  std::unique_ptr<tct_value, void (*)(tct_value*)> taken(result, tct_value_release);
  if (!taken || !taken->value.leaf()) return {};
  return {*taken->value.leaf()};
}

}  // namespace

extern "C" {

TCT_API tct_error* tct_host_failure(tct_str message, void* data, void (*drop)(void*)) {
  try {
    Owner taken = take_owner(data, drop);
    auto error = std::make_unique<tct_error>();
    error->status = TCT_ERR_HOST;
    error->code = "host";
    error->message = view_of(message);
    error->rendered = "error[host]: " + error->message + "\n";
    error->json = "{\"errors\": []}";
    error->host_data = std::move(taken);
    return error.release();
  } catch (...) {
    return nullptr;
  }
}

TCT_API tct_status tct_define(tct_session* session, tct_str name, tct_str signature, tct_host_fn function, void* context, void (*drop)(void*),
                              tct_error** out_error) {
  std::optional<SourceMap> sources;
  try {
    Owner owner = take_owner(context, drop);
    sources.emplace();
    require(session && function, "the session or the function is NULL");
    require(name.size > 0, "the name is empty");
    std::string text(view_of(name));
    std::shared_ptr<HostFunction> host = read_signature(text, sources->add("signature", "fn " + text + with_names(view_of(signature)) + " = 0"));
    host->call = [text, function, owner](std::vector<Array> arguments) { return call_host(text, function, owner.get(), std::move(arguments)); };
    session->session.set(text, Value(Handle{host_function, std::shared_ptr<const void>(host)}));
    return TCT_OK;
  } catch (...) {
    return caught(out_error, [&](const std::vector<Diagnostic>& list) { return make_error(list, sources ? *sources : SourceMap{}); });
  }
}

}  // extern "C"
