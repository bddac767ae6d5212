#include "codegen/jit/program_key.h"

#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>

#include "codegen/jit/build_id.h"

namespace tercet::codegen {
namespace {

/// The CPU as LLVM sees it.
const std::string& host() {
  static const std::string text = [] {
    std::vector<std::string> features;
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      features.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
    std::sort(features.begin(), features.end());
    std::string out = llvm::sys::getProcessTriple() + " " + llvm::sys::getHostCPUName().str();
    for (const std::string& f : features) out += f;
    return out;
  }();
  return text;
}

/// Arrays and handles are told by their addresses in a kernel's key.
bool lasts(const Op* op) {
  if (!op) return true;
  return std::none_of(op->attrs.items().begin(), op->attrs.items().end(), [](const auto& item) {
    return std::holds_alternative<Array>(item.second) || std::holds_alternative<std::shared_ptr<const void>>(item.second);
  });
}
bool lasts(const Kernel& k) {
  return std::all_of(k.nodes.begin(), k.nodes.end(), [](const Node& n) { return lasts(n.op); }) &&
         std::all_of(k.checks.begin(), k.checks.end(), [](const Check& c) { return lasts(c.op); });
}

}  // namespace

std::optional<CacheKey> program_key(const KernelCodes& codes, CodePart part, int simd_bits, Tier tier) {
  if (build_id().empty()) return std::nullopt;
  std::string text = fmt::format("{}\n{}\n{}\n{}\n", build_id(), host(), simd_bits, static_cast<int>(tier));
  for (size_t at = part.begin; at < part.end; ++at) {
    const KernelCode& code = codes.all[at];
    if (code.kernel && !lasts(*code.kernel)) return std::nullopt;
    if (!std::all_of(code.calls.begin(), code.calls.end(), [&](size_t k) { return lasts(*codes.all[k].kernel); })) return std::nullopt;
    text += fmt::format("{} {}\n", code.symbol, code.key);
  }
  return cache_key(text);
}

}  // namespace tercet::codegen
