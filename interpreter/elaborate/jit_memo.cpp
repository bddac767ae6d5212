// Calls of compiled functions that a session has elaborated before. A statement like `p = step(p, x)` is elaborated whenever it runs, and
// expanding the body of `step` each time, with its gradients, may take longer than running it. What elaboration sees of a call is its
// function, the structure, types and sizes of arguments, and the globals the body reads: while these are the same, so is the result.
#include <fmt/format.h>

#include "interpreter/elaborate/elaborator.h"

namespace tercet {
namespace {

constexpr size_t most_memos = 256;   // then it begins anew

}  // namespace

/// None where more than that may decide: inside other transforms, loops and functions, or when a size is not a number.
std::optional<std::string> Elaborator::memo_key(const Sym::Transformed& t, std::span<const CallArgument> arguments, std::span<const Leaf> given) const {
  if (!axes_.empty() || !active_.empty() || uncertain_ || frame_->parent()) return std::nullopt;
  std::string key = fmt::format("{}/{}/{}", identity(t), t.spec->threads, t.spec->fast_math);
  for (const CallArgument& a : arguments) key += fmt::format(";{}={}", a.name, identity(a.value));
  for (const Leaf& x : given) {
    key += fmt::format(";{}{}{}{}@{}/{}", static_cast<int>(x.type.dtype), x.weak ? 'w' : ' ', x.untyped ? 'u' : ' ', x.frame ? ' ' : 'c', x.placement.devices, x.placement.axis);
    for (const Dim& d : x.type.dims) {
      if (d.is_ragged() || !d.constant()) return std::nullopt;
      key += fmt::format(",{}", *d.constant());
    }
  }
  return key;
}

std::optional<Elaborator::JitCall> Elaborator::remembered(const std::string& key, std::span<const Leaf> given) {
  auto found = environment_.jit_memos().find(key);
  if (found == environment_.jit_memos().end()) return std::nullopt;
  const JitMemo& memo = found->second;
  for (auto& [name, version] : memo.read)
    if (environment_.version(name) != version) return std::nullopt;
  JitCall out{memo.entry, {}, memo.result, memo.leaves};
  for (const Leaf& x : given) out.inputs.push_back(frame_->carry(x, span_));
  for (const Frame::Hidden& h : memo.hidden) out.inputs.push_back(frame_->carry(hidden_leaf(h), span_));
  return out;
}

void Elaborator::remember(const std::string& key, JitMemo memo) {
  for (const std::string& name : jit_read_) memo.read.emplace_back(name, environment_.version(name));
  std::map<std::string, JitMemo>& memos = environment_.jit_memos();
  if (memos.size() >= most_memos) memos.clear();
  memos.insert_or_assign(key, std::move(memo));
}

}  // namespace tercet
