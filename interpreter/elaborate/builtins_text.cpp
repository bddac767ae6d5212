// Library: text, rows, vocabularies, files.
#include <fmt/format.h>

#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/subwords.h"
#include "interpreter/runtime/files.h"
#include "interpreter/runtime/text.h"

namespace tercet {
namespace {

using A = BuiltinArguments;

Leaf text(Elaborator& e, const Sym& value, const char* what) {
  Leaf x = e.array(value, what);
  if (x.type.dtype != DType::Str) e.error(Kind::Type, fmt::format("`{}` takes text, and this is {}", what, describe(x)));
  return x;
}

/// Attributes for a row whose single result may be one row of a size known when run.
Attrs with_defines(const Leaf& x, Attrs attrs) {
  if (x.type.rank() == 0) attrs.set("defines", Dim::symbol("k"));
  return attrs;
}

constexpr char parse_int_name[] = "parse_int", parse_float_name[] = "parse_float";
constexpr char lower_name[] = "lower", upper_name[] = "upper", strip_name[] = "strip", bytes_name[] = "bytes", codepoints_name[] = "codepoints";
template <const char* Name> Sym per_text(Elaborator& e, A& a) { return e.emit(*find_op(Name), {e.use(text(e, *a[0], Name))}); }
template <const char* Name> Sym units(Elaborator& e, A& a) {
  Leaf x = text(e, *a[0], Name);
  return e.emit(*find_op(Name), {e.use(x)}, with_defines(x, {}));
}
/// Text by text, with broadcasting.
Leaf distances(Elaborator& e, const Leaf& a, const Leaf& b) {
  std::array<Leaf, 2> both{a, b};
  if (a.type.is_ragged() || b.type.is_ragged())
    return *e.rows_together(both, [&](std::span<const Leaf> row) -> Sym { return distances(e, row[0], row[1]); }).leaf();
  std::vector<Dim> dims = e.common_dims(both);
  return e.emit(*find_op("edit_distance"), {e.use(e.broadcast_to(a, dims)), e.use(e.broadcast_to(b, dims))});
}
Sym edit_distance(Elaborator& e, A& a) { return distances(e, text(e, *a[0], "edit_distance"), text(e, *a[1], "edit_distance")); }

constexpr char starts_name[] = "starts_with", ends_name[] = "ends_with", contains_name[] = "contains", find_name[] = "find", matches_name[] = "matches";

/// The row that takes its other texts as operands, element by element; everything broadcast to one shape.
Sym with_each(Elaborator& e, const std::string& name, std::span<const Leaf> texts) {
  if (std::any_of(texts.begin(), texts.end(), [](const Leaf& x) { return x.type.is_ragged(); }))
    return e.rows_together(texts, [&](std::span<const Leaf> x) { return with_each(e, name, x); });
  std::vector<Dim> dims = e.common_dims(texts);
  std::vector<ValueId> operands;
  for (const Leaf& x : texts) operands.push_back(e.use(e.broadcast_to(x, dims)));
  return e.emit(*find_op(name + "_each"), std::move(operands));
}
bool is_fixed(Elaborator& e, const Sym& value) {
  const Leaf* x = value.leaf();
  return !x || x->type.dtype != DType::Str || e.known_string(*x);
}

template <const char* Name> Sym text_with(Elaborator& e, A& a) {
  if (Name != std::string_view("matches")) {
    const Leaf part = text(e, *a[1], Name);
    if (!e.known_string(part)) return with_each(e, Name, std::array<Leaf, 2>{text(e, *a[0], Name), part});
  }
  return e.emit(*find_op(Name), {e.use(text(e, *a[0], Name))}, {{"text", e.static_string(*a[1], "the part")}});
}

Sym replace(Elaborator& e, A& a) {
  if (a[1]->leaf() && a[2]->leaf() && (!is_fixed(e, *a[1]) || !is_fixed(e, *a[2])))
    return with_each(e, "replace", std::array<Leaf, 3>{text(e, *a[0], "replace"), text(e, *a[1], "replace"), text(e, *a[2], "replace")});
  return e.emit(*find_op("replace"), {e.use(text(e, *a[0], "replace"))}, {{"from", e.static_string(*a[1], "`from`")}, {"to", e.static_string(*a[2], "`to`")}});
}

Sym replace_matches(Elaborator& e, A& a) {
  return e.emit(*find_op("replace_matches"), {e.use(text(e, *a[0], "replace_matches"))}, {{"text", e.static_string(*a[1], "the pattern")}, {"to", e.static_string(*a[2], "`to`")}});
}
Sym split_matches(Elaborator& e, A& a) {
  Leaf x = text(e, *a[0], "split_matches");
  return e.emit(*find_op("split_matches"), {e.use(x)}, with_defines(x, {{"text", e.static_string(*a[1], "the pattern")}}));
}

Leaf integers(Elaborator& e, const Sym& value, const char* what, bool rows) {
  Leaf x = e.array(value, what);
  if (!is_int(x.type.dtype) || (rows && x.type.rank() == 0))
    e.error(Kind::Type, fmt::format("`{}` takes {}, and this is {}", what, rows ? "rows of integers" : "integers", describe(x)), rows && is_int(x.type.dtype) ? "of one code point: chr(x)" : "");
  return x;
}
Sym chr(Elaborator& e, A& a) { return e.emit(*find_op("chr"), {e.use(e.cast(integers(e, *a[0], "chr", false), DType::I64))}); }
Sym from_bytes(Elaborator& e, A& a) {
  Leaf x = integers(e, *a[0], "from_bytes", true);
  if (x.type.dtype != DType::U8) e.error(Kind::Type, fmt::format("`from_bytes` takes rows of u8, and this is {}", describe(x)), "write u8(x)");
  return e.emit(*find_op("from_bytes"), {e.use(x)});
}
Sym from_codepoints(Elaborator& e, A& a) {
  return e.emit(*find_op("from_codepoints"), {e.use(e.cast(integers(e, *a[0], "from_codepoints", true), DType::I32))});
}

Sym tokenize(Elaborator& e, A& a) {
  Leaf x = text(e, *a[0], "tokenize");
  std::string kind = absent(a[1]) ? "words" : e.static_string(*a[1], "`kind`");
  const OpDef& op = *find_op(kind == "bytes" ? "bytes" : "tokenize");
  return e.emit(op, {e.use(x)}, with_defines(x, {{"text", kind}}));
}

Sym hash_tokens(Elaborator& e, A& a) {
  Leaf x = text(e, *a[0], "hash_tokens");
  return e.emit(*find_op("hash_tokens"), {e.use(x)}, {{"size", e.size(*a[1], "`size`")}, {"seed", absent(a[2]) ? int64_t{0} : e.static_int(*a[2], "`seed`")}});
}
Sym minhash(Elaborator& e, A& a) {
  Leaf x = text(e, *a[0], "minhash");
  if (x.type.rank() == 0) e.error(Kind::Type, "minhash takes rows of tokens, and this is one text", "split it first: tokenize(text)");
  return e.emit(*find_op("minhash"), {e.use(x)}, {{"n", absent(a[1]) ? Dim(128) : e.size(*a[1], "`n`")}, {"seed", absent(a[2]) ? int64_t{0} : e.static_int(*a[2], "`seed`")}});
}
Sym normalize(Elaborator& e, A& a) {
  return e.emit(*find_op("normalize"), {e.use(text(e, *a[0], "normalize"))}, {{"text", absent(a[1]) ? "NFC" : e.static_string(*a[1], "`form`")}});
}
Sym extract(Elaborator& e, A& a) {
  Leaf x = text(e, *a[0], "extract");
  std::string pattern = e.static_string(*a[1], "the pattern");
  int64_t groups = 0;
  try {
    groups = static_cast<int64_t>(count_groups(pattern));
  } catch (Failure& failure) {
    failure.first().span = e.span();
    throw;
  }
  std::vector<Leaf> out = e.emit_many(*find_op("extract"), {e.use(x)}, {{"text", pattern}, {"groups", groups}});
  if (out.size() == 1) return out[0];
  return Sym::Tuple{std::vector<Sym>(out.begin(), out.end())};
}

Sym split(Elaborator& e, A& a) {
  if (const Leaf* k = a[0]->leaf(); k && k->type.dtype == DType::Key) return split_key(e, *k, absent(a[2]) ? a[1] : a[2]);
  Leaf x = text(e, *a[0], "split");
  if (!absent(a[2])) e.error(Kind::Type, "split of text takes a separator, and no number of parts", "split(text, \" \")");
  return e.emit(*find_op("split"), {e.use(x)}, with_defines(x, {{"text", absent(a[1]) ? " " : e.static_string(*a[1], "the separator")}}));
}

Sym join(Elaborator& e, A& a) {
  Leaf x = text(e, *a[0], "join");
  if (x.type.rank() == 0) e.error(Kind::Type, "join takes rows of text, and this is one text");
  return e.emit(*find_op("join"), {e.use(x)}, {{"text", absent(a[1]) ? "" : e.static_string(*a[1], "the separator")}});
}

Leaf rows(Elaborator& e, const Sym& value, const char* what) {
  Leaf x = e.array(value, what);
  if (!x.type.is_ragged()) e.error(Kind::Type, fmt::format("`{}` takes rows of different length, and this is {}", what, describe(x)));
  return x;
}

Sym lengths(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "lengths");
  if (!x.type.is_ragged()) {
    if (x.type.rank() < 2) e.error(Kind::Type, fmt::format("`lengths` takes rows, and this is {}", describe(x)), x.type.dtype == DType::Str ? "vmap(len)(texts) gives the length of each text" : "");
    return e.full({x.type.dims[0]}, size_leaf(x.type.dims[1]), DType::I64);
  }
  return e.emit(*find_op("lengths"), {e.use(x)});
}

Sym flatten(Elaborator& e, A& a) {
  Leaf x = e.array(*a[0], "flatten");
  if (x.type.is_ragged()) return values_of_rows(e, x);
  return flattened(e, x);
}

Sym ragged(Elaborator& e, A& a) {
  Leaf values = e.array(*a[0], "ragged"), lengths = e.array(*a[1], "ragged");
  if (values.type.rank() == 0 || lengths.type.rank() != 1 || !is_int(lengths.type.dtype))
    e.error(Kind::Type, fmt::format("ragged takes values and their rows' lengths, and these are {} and {}", describe(values), describe(lengths)));
  return e.emit(*find_op("ragged"), {e.use(values), e.use(e.cast(lengths, DType::I64))});
}

Sym pad(Elaborator& e, A& a) {
  Leaf x = rows(e, *a[0], "pad");
  Leaf value = absent(a[2]) ? int_leaf(0) : e.array(*a[2], "`value`");
  if (x.type.dtype == DType::Str && absent(a[2])) value = e.emit(constant_op, {}, {{"value", [] { std::string_view empty; return Array::strings({&empty, 1}).reshaped({}); }()}});
  Attrs attrs;
  if (absent(a[1])) attrs.set("defines", Dim::symbol("longest"));
  else attrs.set("length", e.size(*a[1], "`length`"));
  return e.emit(*find_op("pad"), {e.use(x), e.use(e.cast(value, x.type.dtype))}, std::move(attrs));
}

Sym vocab(Elaborator& e, A& a) {
  e.refuse_in_compiled("vocab");
  Leaf tokens = text(e, *a[0], "vocab");
  Attrs attrs{{"defines", Dim::symbol("v")},
              {"max_size", absent(a[1]) ? int64_t{-1} : e.static_int(*a[1], "`max_size`")},
              {"min_count", absent(a[2]) ? int64_t{1} : e.static_int(*a[2], "`min_count`")}};
  if (!absent(a[3])) attrs.set("unknown", e.static_string(*a[3], "`unknown`"));
  std::vector<Leaf> out = e.emit_many(*find_op("vocab"), {e.use(tokens)}, std::move(attrs));
  return Sym::Record{{"tokens", "counts", "unknown"}, {out[0], out[1], absent(a[3]) ? Sym() : Sym(unknown_entry(e, e.static_string(*a[3], "`unknown`")))}};
}

struct VocabParts { Leaf tokens; bool unknown; };
/// The bytes of the model behind what load_subwords gives, or null.
const Leaf* subwords_of(const Sym& value) {
  auto* r = value.as<Sym::Record>();
  const Sym* model = r ? field<Leaf>(*r, "model") : nullptr;
  return model && field<Leaf>(*r, "pieces") ? model->leaf() : nullptr;
}

VocabParts vocab_parts(Elaborator& e, const Sym& value) {
  auto* r = value.as<Sym::Record>();
  const Sym *tokens = r ? field<Leaf>(*r, "tokens") : nullptr, *unknown = r ? field<Leaf>(*r, "unknown") : nullptr;
  if (!tokens || !unknown || !tokens->leaf()) e.error(Kind::Type, fmt::format("this takes a vocabulary, and this is {}", describe(value)), "make one with vocab(tokens)");
  return {*tokens->leaf(), !unknown->is_none()};   // a matter of types: so compiled code knows it
}

Sym encode(Elaborator& e, A& a) {
  if (const Leaf* model = subwords_of(*a[0])) {
    Leaf texts = text(e, *a[1], "encode");
    return e.emit(encode_subwords_op, {e.use(texts), e.use(*model)}, with_defines(texts, {}));
  }
  VocabParts v = vocab_parts(e, *a[0]);
  Leaf tokens = text(e, *a[1], "encode");
  Attrs attrs{{"unknown", v.unknown}};
  if (!v.unknown && tokens.type.rank() == 1) attrs.set("defines", Dim::symbol("known"));
  return e.emit(*find_op("encode"), {e.use(v.tokens), e.use(tokens)}, std::move(attrs));
}

Sym decode(Elaborator& e, A& a) {
  if (const Leaf* model = subwords_of(*a[0])) {
    Leaf ids = e.array(*a[1], "decode");
    if (!is_int(ids.type.dtype) || ids.type.rank() == 0) e.error(Kind::Type, fmt::format("decode of sub-words takes rows of integers, and this is {}", describe(ids)));
    return e.emit(decode_subwords_op, {e.use(e.cast(ids, DType::I32)), e.use(*model)});
  }
  VocabParts v = vocab_parts(e, *a[0]);
  Leaf ids = e.array(*a[1], "decode");
  if (!is_int(ids.type.dtype)) e.error(Kind::Type, fmt::format("decode takes integers, and this is {}", describe(ids)));
  return e.emit(*find_op("decode"), {e.use(v.tokens), e.use(ids)});
}

Sym read_text(Elaborator& e, A& a) {
  e.refuse_in_compiled("read_text");
  return e.emit(*find_op("read_text"), {e.use(text(e, *a[0], "read_text"))}, {{"replace", replaces_invalid(e, a[1])}});
}
Sym read_lines(Elaborator& e, A& a) {
  e.refuse_in_compiled("read_lines");
  return e.emit(*find_op("read_lines"), {e.use(text(e, *a[0], "read_lines"))}, {{"defines", Dim::symbol("lines")}, {"replace", replaces_invalid(e, a[1])}});
}

/// The file decides the columns, so it is read while the statement is elaborated (docs/decisions/0010).
Sym read_jsonl(Elaborator& e, A& a) {
  e.refuse_in_compiled("read_jsonl");
  if (e.frame().parent()) e.error(Kind::Unsupported, "read_jsonl inside a loop, branch or transformed function", "read the file in a statement of its own");
  std::string path = e.static_string(*a[0], "read_jsonl");
  std::vector<std::string> wanted;
  if (!absent(a[1])) {
    if (auto* t = a[1]->as<Sym::Tuple>()) for (const Sym& s : t->elements) wanted.push_back(e.static_string(s, "`columns`"));
    else wanted.push_back(e.static_string(*a[1], "`columns`"));
  }
  const InvalidBytes invalid = replaces_invalid(e, a[2]) ? InvalidBytes::Replace : InvalidBytes::Error;
  Sym::Record out;
  try {
    for (auto& [name, column] : ::tercet::read_jsonl(path, wanted, invalid)) {
      out.names.push_back(name);
      out.values.push_back(e.emit(constant_op, {}, {{"value", column}}));
    }
  } catch (Failure& failure) {
    failure.first().span = e.span();
    throw;
  }
  return out;
}

Sym arguments(Elaborator& e, A&) {
  std::vector<std::string_view> texts;
  for (const std::string& s : e.environment().arguments()) texts.push_back(s);
  return e.emit(constant_op, {}, {{"value", Array::strings(texts)}});
}

}  // namespace

namespace {
constexpr BuiltinDef list[] = {
    {"lower", "text", "In lower case.", per_text<lower_name>},
    {"upper", "text", "In upper case.", per_text<upper_name>},
    {"strip", "text", "Without white space at both ends.", per_text<strip_name>},
    {"replace", "text, from, to", "Every occurrence replaced.", replace},
    {"starts_with", "text, part", "Does the text start so?", text_with<starts_name>},
    {"ends_with", "text, part", "Does the text end so?", text_with<ends_name>},
    {"contains", "text, part", "Is the part in the text?", text_with<contains_name>},
    {"find", "text, part", "First position of the part, -1 when absent.", text_with<find_name>},
    {"matches", "text, pattern", "Does the regular expression occur?", text_with<matches_name>},
    {"replace_matches", "text, pattern, to", "Every match of a regular expression replaced; \\1 in `to` is what its first group captured.", replace_matches},
    {"split_matches", "text, pattern", "Pieces of a text between the matches of a regular expression.", split_matches},
    {"chr", "x", "A text of one code point, from its number.", chr},
    {"from_bytes", "rows", "The texts of rows of UTF-8 bytes.", from_bytes},
    {"from_codepoints", "rows", "The texts of rows of code points.", from_codepoints},
    {"bytes", "text", "The bytes as u8.", units<bytes_name>},
    {"codepoints", "text", "The code points as i32.", units<codepoints_name>},
    {"tokenize", "text, kind=", "Tokens: \"words\" (the default), \"chars\", or the matches of a regular expression.", tokenize},
    {"parse_int", "text", "The integer that a text is, as i64.", per_text<parse_int_name>},
    {"parse_float", "text", "The number that a text is, as f64.", per_text<parse_float_name>},
    {"hash_tokens", "tokens, size, seed=", "Numbers below size of tokens, by a hash.", hash_tokens},
    {"minhash", "tokens, n=, seed=", "Signatures of sets of tokens: the least of n hashes in each row.", minhash},
    {"edit_distance", "a, b", "How many insertions, deletions and replacements of code points turn a into b (Levenshtein distance).", edit_distance},
    {"normalize", "text, form=", "In Unicode normalisation form NFC (the default), NFD, NFKC or NFKD.", normalize},
    {"extract", "text, pattern", "What the groups of a regular expression capture at its first match.", extract},
    {"split", "x, separator=, n=", "Pieces of a text between separators; of a key: n keys that belong to it.", split},
    {"join", "rows, separator=", "The texts of each row in one.", join},
    {"lengths", "rows", "Length of each row.", lengths},
    {"flatten", "x", "All elements in one row.", flatten},
    {"ragged", "values, lengths", "Values cut into rows.", ragged},
    {"pad", "rows, length=, value=", "Rows cut or filled to one length; without a length, to the longest.", pad},
    {"vocab", "tokens, max_size=, min_count=, unknown=", "Tokens numbered by falling count.", vocab},
    {"encode", "vocab, tokens", "Numbers of tokens; by load_subwords' model, of the pieces of texts.", encode},
    {"decode", "vocab, ids", "Tokens of numbers.", decode},
    {"read_text", "path, errors=", "A file as one text.", read_text},
    {"read_lines", "path, errors=", "The lines of a file.", read_lines},
    {"read_jsonl", "path, columns=, errors=", "A file of JSON objects, one a line, as columns.", read_jsonl},
    {"arguments", "", "The program's arguments.", arguments},
};
}
const BuiltinList text_builtins = list;

}  // namespace tercet
