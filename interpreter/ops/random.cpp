// Rows: random keys and bits (language.md section 8), bit for bit what JAX's default generator gives.
//
// A key is used through three rows: `use_key` marks it (and fails when it was used before), `key_words` reads its words,
// and `threefry` makes random words of them, one a counter. `new_keys` makes keys of words.
#include <fmt/format.h>

#include <set>

#include "interpreter/ops/effect_rules.h"
#include "interpreter/ops/elementwise.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/runtime/keys.h"
#include "interpreter/runtime/threefry.h"

namespace tercet {
namespace {

constexpr NotDifferentiable on_bits{"it works on bits"};

Array words(const Shape& shape) {
  Array a = Array::make(DType::U64, shape);
  for (int64_t i = 0, n = a.count(); i < n; ++i) a.data<uint64_t>()[i] = static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u;
  return a;
}

// ---- threefry: attr "dtype" u64 (both halves of the block) or u32 (their xor) ----
std::vector<Type> infer_threefry(const InferInput& in) {
  DType to = in.attrs.get<DType>("dtype");
  TERCET_CHECK(in.operands.size() == 2 && in.operands[0].dtype == DType::U64 && in.operands[0] == in.operands[1]);
  TERCET_CHECK(to == DType::U64 || to == DType::U32);
  return {{to, in.operands[0].dims}};
}
std::vector<Array> eval_threefry(EvalContext&, const Function& f, const Op& op, std::span<Array> in) {
  Array out = Array::make(f.type(op.output()).dtype, in[0].shape);
  const uint64_t *key = in[0].data<uint64_t>(), *counter = in[1].data<uint64_t>();
  in_strips(out.count(), [&](int64_t begin, int64_t end) {
    if (out.dtype == DType::U64)
      for (int64_t i = begin; i < end; ++i) out.data<uint64_t>()[i] = joined(threefry(key[i], counter[i]));
    else
      for (int64_t i = begin; i < end; ++i) out.data<uint32_t>()[i] = mixed(threefry(key[i], counter[i]));
  });
  return {std::move(out)};
}
Num emit_threefry(std::span<const Num> x, const Op&, DType result) {
  auto block = threefry(x[0], x[1]);
  return result == DType::U64 ? joined(block) : mixed(block);
}
std::vector<Sample> threefry_samples() {
  std::vector<Sample> out;
  for (DType to : {DType::U64, DType::U32})
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{37}, Shape{3, 5}}) out.push_back({{words(shape), words(shape)}, {{"dtype", to}}});
  return out;
}

// ---- unit_interval: random bits as a float in [0, 1), a multiple of its epsilon ----
DType float_of(DType bits) {
  TERCET_CHECK(is_unsigned_int(bits));
  return bits == DType::U64 ? DType::F64 : bits == DType::U32 ? DType::F32 : bits == DType::U16 ? DType::F16 : DType::BF16;
}
std::vector<Type> infer_unit_interval(const InferInput& in) { return {{float_of(in.operands[0].dtype), in.operands[0].dims}}; }
std::vector<Array> eval_unit_interval(EvalContext&, const Function& f, const Op& op, std::span<Array> in) {
  Array out = Array::make(f.type(op.output()).dtype, in[0].shape);
  auto run = [&]<class U, class T>(U, T) {
    in_strips(out.count(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out.data<T>()[i] = Compute<T>::store(unit_interval(in[0].data<U>()[i]));
    });
  };
  if (out.dtype == DType::F64) run(uint64_t{}, double{});
  else if (out.dtype == DType::F32) run(uint32_t{}, float{});
  else if (out.dtype == DType::F16) run(uint16_t{}, Half{});
  else run(uint8_t{}, BFloat{});
  return {std::move(out)};
}
Num emit_unit_interval(std::span<const Num> x, const Op&, DType) { return unit_interval(x[0]); }
std::vector<Sample> unit_interval_samples() {
  std::vector<Sample> out;
  for (const Sample& s : samples_of(Domain::Ints, 1))
    if (is_unsigned_int(s.operands[0].dtype)) out.push_back(s);
  return out;
}

// ---- key_words, new_keys, mark_keys ----
std::vector<Type> infer_key_words(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == 1 && in.operands[0].dtype == DType::Key);
  return {{DType::U64, in.operands[0].dims}};
}
std::vector<Array> eval_key_words(EvalContext&, const Function&, const Op&, std::span<Array> in) { return {words_of(in[0])}; }
std::vector<Sample> keys_samples() {
  return {{{fresh_keys(words({}))}, {}}, {{fresh_keys(words({5}))}, {}}, {{fresh_keys(words({2, 3}))}, {}}, {{fresh_keys(words({0}))}, {}}};
}

std::vector<Type> infer_new_keys(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == 1 && in.operands[0].dtype == DType::U64);
  return {{DType::Key, in.operands[0].dims}};
}
std::vector<Array> eval_new_keys(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return {fresh_keys(in[0], op.attrs.has("common") ? KeyBits::Common : KeyBits::None)};
}
std::vector<Sample> new_keys_samples() { return {{{words({})}, {}}, {{words({5})}, {}}, {{words({2, 3})}, {{"common", true}}}}; }

std::vector<Type> infer_keys(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == 1 && in.operands[0].dtype == DType::Key);
  return {in.operands[0]};
}
/// "same": meant to be the same in every lane. "common", "opaque", "own": at borders of lanes that run one after another.
std::vector<Array> eval_mark_keys(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  const std::string& name = op.attrs.get<std::string>("mark");
  auto mark = name == "same" ? KeyBits::Same : name == "common" ? KeyBits::Common : name == "opaque" ? KeyBits::Opaque : KeyBits::None;
  Array out = std::move(in[0]).owned();
  KeyBits* keys = out.data<KeyBits>();
  in_strips(out.count(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      if (mark == KeyBits::Same || keys[i].mark() != KeyBits::Same) keys[i] = keys[i].marked(mark);
  });
  return {std::move(out)};
}
std::vector<Sample> mark_keys_samples() {
  std::vector<Sample> out;
  for (const char* mark : {"same", "common", "opaque", "own"}) out.push_back({{fresh_keys(words({5}))}, {{"mark", std::string(mark)}}});
  return out;
}

// ---- use_key: attr "use" "draw", "split" or "fold"; "common": the key is the same in all lanes of some vmap ----
KeyUse use_of(const Op& op) {
  const std::string& use = op.attrs.get<std::string>("use");
  return use == "draw" ? KeyUse::Drawn : use == "split" ? KeyUse::Split : KeyUse::Folded;
}

Diagnostic key_diagnostic(const Op& op, const char* message, const char* help) {
  Diagnostic d;
  d.kind = Kind::Key;
  d.span = op.span;
  d.message = message;
  d.help = help;
  return d;
}
Diagnostic used_before(const Op& op, const KeyConflict& conflict) {
  bool folded = conflict.before == KeyUse::Folded, folds = use_of(op) == KeyUse::Folded, again = conflict.where.known() && conflict.where == op.span;
  Diagnostic d = key_diagnostic(op,
      folded ? "this key was given to fold_in before, and a key is used once" : conflict.before == KeyUse::Split ?
          "this key was split before, and a key is used once" : "this key was drawn from before, and a key is used once",
      folded ? "draw from fold_in(k, i) here too, with another i; clone(k) is deliberate reuse" :
      folds ? "fold into a key of its own: let (k1, k2) = split(k); clone(k) is deliberate reuse" :
      again ? "make a new key for each time: let (next, now) = split(k), or fold_in(k, i); clone(k) is deliberate reuse" :
          "make a key for each use: let (k1, k2) = split(k); clone(k) is deliberate reuse");
  if (conflict.where.known())
    d.notes.push_back({conflict.where, again ? "this is where it was used before" : "it was used here"});
  return d;
}
Diagnostic same_in_every_lane(const Op& op) {
  return key_diagnostic(op, "this key is the same in every lane, and all would draw the same numbers",
                        "map over keys, as in vmap(f)(split(k, n)), or draw from fold_in(k, i) with the lane's i; same(k) says it is meant");
}

std::vector<Array> eval_use_key(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  KeyLedger& ledger = context.keys();
  KeyUse use = use_of(op);
  KeyState used = ledger.used(use, op.span);
  LaneIndex running = context.running_lane();
  std::set<const KeyState*> together;   // keys that the lanes use together
  Lanes lanes(op, in);
  int64_t per_lane = lanes.count() ? in[0].count() / lanes.count() : 0;
  PollCounter polls;
  for (int64_t lane = 0; lane < lanes.count(); ++lane) {
    if (!lanes.alive(lane)) continue;
    for (int64_t i = lane * per_lane; i < (lane + 1) * per_lane; ++i) {
      polls.add(16);
      const KeyBits& key = in[0].data<KeyBits>()[i];
      bool meant = key.mark() == KeyBits::Same, common = op.attrs.has("common") || key.mark() >= KeyBits::Common;
      bool draws = use == KeyUse::Drawn || (use == KeyUse::Split && key.mark() == KeyBits::Opaque);
      std::optional<Diagnostic> d;
      if (draws && common && !meant) d = same_in_every_lane(op);
      else if (!(meant || common) || together.insert(key.state()).second)
        if (auto conflict = (meant || common) && !running.empty() ? ledger.use_in_lane(key, used, running) : ledger.use(key, used))
          d = used_before(op, *conflict);
      if (!d) continue;
      context.report(std::move(*d), lanes.index(lane));
      return {};
    }
  }
  return {};
}

/// Splitting and folding a key that lanes share is done once for all of them; drawing from it is an error, unless it is
/// meant, when the program comes there.
std::vector<BatchedValue> batch_use_key(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (in[0].mapped) return batch_effect_mapped(c, op, in);
  Op common = op;
  common.attrs.set("common", true);
  return use_of(op) == KeyUse::Drawn ? batch_effect_mapped(c, common, in) : batch_check(c, f, common, in);
}
std::vector<Sample> use_key_samples() {
  std::vector<Sample> out;
  for (const char* use : {"draw", "split", "fold"})
    for (const Shape& shape : {Shape{}, Shape{5}}) out.push_back({{fresh_keys(words(shape))}, {{"use", std::string(use)}}});
  return out;
}

}  // namespace

const OpDef threefry_op = {
    .name = "threefry", .doc = "The random word of a key at a counter.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_threefry, .eval = eval_threefry, .batch = BatchElementwise{}, .diff = on_bits, .code = CodeElementwise{emit_threefry},
    .samples = threefry_samples};
const OpDef unit_interval_op = {
    .name = "unit_interval", .doc = "Random bits as a float from 0 up to 1.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_unit_interval, .eval = eval_unit_interval, .batch = BatchElementwise{}, .diff = on_bits, .code = CodeElementwise{emit_unit_interval},
    .samples = unit_interval_samples};
const OpDef key_words_op = {
    .name = "key_words", .doc = "The words of keys.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_key_words, .eval = eval_key_words, .batch = BatchElementwise{}, .diff = on_bits, .code = CodeCall{}, .samples = keys_samples};
const OpDef new_keys_op = {
    .name = "new_keys", .doc = "Keys of these words, not used yet.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_new_keys, .eval = eval_new_keys, .batch = BatchElementwise{}, .diff = on_bits, .code = CodeCall{}, .samples = new_keys_samples};
const OpDef mark_keys_op = {
    .name = "mark_keys", .doc = "The same keys, with a mark about lanes.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_keys, .eval = eval_mark_keys, .batch = BatchElementwise{}, .diff = on_bits, .code = CodeCall{}, .samples = mark_keys_samples};
const OpDef use_key_op = {
    .name = "use_key", .doc = "A key is used, and was not used before.", .surface = Internal{}, .effect = Effect::Check, .ragged = RaggedRule::Dense,
    .infer = infer_nothing, .eval = eval_use_key, .batch = BatchCustom{batch_use_key}, .diff = on_bits, .code = CodeCheck{nullptr},
    .samples = use_key_samples};

namespace {
constexpr const OpDef* rows[] = {&threefry_op, &unit_interval_op, &key_words_op, &new_keys_op, &mark_keys_op, &use_key_op};
}
const Family random_rows = rows;

}  // namespace tercet
