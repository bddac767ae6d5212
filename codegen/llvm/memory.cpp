// Loads and stores of a kernel: how elements lie in memory, and the ways to reach 16 of them at once.
#include <algorithm>

#include "base/diagnostic.h"
#include "codegen/llvm/body.h"

namespace tercet::codegen {
namespace {

constexpr unsigned lanes_in_vector = vector_lanes;

llvm::Align alignment_of(llvm::Type* element) { return llvm::Align(element->getScalarSizeInBits() / 8); }

}  // namespace

llvm::Type* Body::memory_type(DType dtype, bool vector) {
  llvm::Type* t = dtype == DType::F32   ? b_.getFloatTy()
                  : dtype == DType::F64 ? b_.getDoubleTy()
                                        : b_.getIntNTy(static_cast<unsigned>(size_of(dtype)) * 8);
  return vector ? llvm::FixedVectorType::get(t, lanes_in_vector) : t;
}

llvm::Value* Body::from_memory(llvm::Value* v, DType dtype) {
  llvm::Type* t = v->getType();
  switch (dtype) {
    case DType::Bool:
      return b_.CreateICmpNE(v, llvm::Constant::getNullValue(t));
    case DType::F16:
      return b_.CreateFPExt(b_.CreateBitCast(v, t->getWithNewType(b_.getHalfTy())), t->getWithNewType(b_.getFloatTy()));
    case DType::BF16: {
      llvm::Type* wide = t->getWithNewType(b_.getInt32Ty());
      return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(v, wide), llvm::ConstantInt::get(wide, 16)),
                              t->getWithNewType(b_.getFloatTy()));
    }
    default:
      return v;
  }
}

llvm::Value* Body::to_memory(llvm::Value* v, DType dtype) {
  llvm::Type* t = v->getType();
  if (dtype == DType::Bool) return b_.CreateZExt(v, t->getWithNewType(b_.getInt8Ty()));
  if (dtype != DType::F16 && dtype != DType::BF16) return v;
  llvm::Type* narrow = t->getWithNewType(b_.getInt16Ty());
  llvm::Value* bits = nullptr;
  if (dtype == DType::F16) {
    bits = b_.CreateBitCast(b_.CreateFPTrunc(v, t->getWithNewType(b_.getHalfTy())), narrow);
  } else {
    llvm::Type* wide = t->getWithNewType(b_.getInt32Ty());
    llvm::Value* exact = b_.CreateBitCast(numbers_.rounded(v, dtype), wide);
    bits = b_.CreateTrunc(b_.CreateLShr(exact, llvm::ConstantInt::get(wide, 16)), narrow);
  }
  llvm::Value* nan = llvm::ConstantInt::get(narrow, dtype == DType::F16 ? 0x7e00 : 0x7fc0);  // NaN has one form
  return b_.CreateSelect(b_.CreateFCmpUNO(v, v), nan, bits);
}

llvm::Value* Body::emit_load(const Node& n, const Running& r, llvm::Value* mask) {
  llvm::Type* element = memory_type(n.dtype, false);
  llvm::Value* start = stepped(r, n.depth);
  if (!start) start = b_.getInt64(0);
  llvm::Value* base = buffer(n.buffer);
  if (!in_lanes_) return load_single(n.dtype, n.buffer, start);
  llvm::Type* vector = memory_type(n.dtype, true);
  if (llvm::Value* offsets = lane_offsets(n.address)) {
    Dim step = stride(n.address);
    if (!step.is(0)) offsets = b_.CreateAdd(offsets, lane_steps(size(step)));
    return from_memory(load_scattered(vector, b_.CreateGEP(element, base, start), offsets, mask), n.dtype);
  }
  return from_memory(load_by_stride(vector, base, start, stride(n.address), mask), n.dtype);
}

// Windows are read again and again, one element further on each time, and nearly every such load touches two cache lines. Where the first
// and the last of them overlap or meet, together they have what those between read: one instruction takes it out of two registers.
void Body::find_overlaps() {
  auto suits = [&](const Node& n) {
    return n.kind == NodeKind::Load && n.depth == depth() && size_of(n.dtype) * vector_lanes == 64 && n.address.nodes.empty() && stride(n.address).is(1);
  };
  auto same_loops = [](const Index& a, const Index& b) {
    return Index{0, a.loops, {}} == Index{0, b.loops, {}};
  };
  std::vector<bool> seen(k_.nodes.size());
  for (size_t n = 0; n < k_.nodes.size(); ++n) {
    if (seen[n] || !suits(k_.nodes[n])) continue;
    std::vector<std::pair<int64_t, size_t>> group;   // by place behind node n
    for (size_t m = n; m < k_.nodes.size(); ++m) {
      const Node& other = k_.nodes[m];
      if (!suits(other) || other.buffer != k_.nodes[n].buffer || !same_loops(other.address, k_.nodes[n].address)) continue;
      if (std::optional<int64_t> behind = (other.address.offset - k_.nodes[n].address.offset).constant()) {
        group.emplace_back(*behind, m);
        seen[m] = true;
      }
    }
    std::sort(group.begin(), group.end());
    const auto [begin, first] = group.front();
    const auto [end, last] = group.back();
    if (group.size() < 3 || end - begin > vector_lanes) continue;
    for (auto [at, m] : group) between_[m] = {static_cast<NodeId>(first), static_cast<NodeId>(last), at - begin, end - begin};
  }
}

llvm::Value* Body::load_between(const Between& b) {
  auto edge = [&](NodeId n) {
    llvm::Value*& loaded = edges_[static_cast<size_t>(n)];
    if (!loaded) loaded = emit_load(k_.nodes[static_cast<size_t>(n)], running_[static_cast<size_t>(n)], nullptr);
    return loaded;
  };
  if (b.at == 0) return edge(b.first);
  if (b.at == b.distance) return edge(b.last);
  llvm::SmallVector<int> lanes;
  for (int64_t j = b.at; j < b.at + vector_lanes; ++j) lanes.push_back(static_cast<int>(j < vector_lanes ? j : vector_lanes + j - b.distance));
  return b_.CreateShuffleVector(edge(b.first), edge(b.last), lanes);
}

llvm::Value* Body::load_contiguous(llvm::Type* type, llvm::Value* pointer, llvm::Value* mask) {
  llvm::Align align = alignment_of(type->getScalarType());
  auto plain = [&]() -> llvm::Value* { return b_.CreateAlignedLoad(type, pointer, align); };
  auto masked = [&]() -> llvm::Value* {
    return b_.CreateMaskedLoad(type, pointer, align, mask, llvm::Constant::getNullValue(type));
  };
  if (whole_) return emit_either(b_, whole_, plain, masked);
  return mask ? masked() : plain();
}

llvm::Value* Body::load_scattered(llvm::Type* type, llvm::Value* base, llvm::Value* offsets, llvm::Value* mask) {
  llvm::Value* pointers = b_.CreateGEP(type->getScalarType(), base, offsets);
  if (!mask) mask = llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), lanes_in_vector));
  return b_.CreateMaskedGather(type, pointers, alignment_of(type->getScalarType()), mask,
                               llvm::Constant::getNullValue(type));
}

// A stride known only when run is 1, 0 (a size 1 that repeats) or something else; a branch that always goes the same
// way costs next to nothing in the loop.
llvm::Value* Body::load_by_stride(llvm::Type* type, llvm::Value* base, llvm::Value* start, const Dim& step,
                                  llvm::Value* mask) {
  llvm::Type* element = type->getScalarType();
  llvm::Value* pointer = b_.CreateGEP(element, base, start);
  if (step.is(1)) return load_contiguous(type, pointer, mask);
  auto repeated = [&] {
    return b_.CreateVectorSplat(lanes_in_vector, b_.CreateAlignedLoad(element, pointer, alignment_of(element)));
  };
  if (step.is(0)) return repeated();
  auto strided = [&] { return load_scattered(type, pointer, lane_steps(size(step)), mask); };
  if (step.is(-1)) {  // the 16 elements that end here, in reverse
    llvm::SmallVector<int> reversed;
    for (int i = vector_lanes - 1; i >= 0; --i) reversed.push_back(i);
    llvm::Value* lowest = b_.CreateConstGEP1_64(element, pointer, static_cast<uint64_t>(1 - vector_lanes));
    llvm::Value* forward = load_contiguous(type, lowest, mask ? b_.CreateShuffleVector(mask, reversed) : nullptr);
    return b_.CreateShuffleVector(forward, reversed);
  }
  if (step.constant()) return strided();

  auto block = [&](const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, f_); };
  llvm::BasicBlock *at_one = block("contiguous"), *at_zero = block("repeated"), *other = block("strided"),
                   *after = block("loaded");
  llvm::SwitchInst* choice = b_.CreateSwitch(size(step), other, 2);
  choice->addCase(b_.getInt64(1), at_one);
  choice->addCase(b_.getInt64(0), at_zero);
  std::vector<std::pair<llvm::Value*, llvm::BasicBlock*>> ways;
  auto way = [&](llvm::BasicBlock* at, auto load) {
    b_.SetInsertPoint(at);
    llvm::Value* v = load();
    ways.emplace_back(v, b_.GetInsertBlock());
    b_.CreateBr(after);
  };
  way(at_one, [&] { return load_contiguous(type, pointer, mask); });
  way(at_zero, repeated);
  way(other, strided);
  b_.SetInsertPoint(after);
  llvm::PHINode* loaded = b_.CreatePHI(type, 3);
  for (auto& [v, from] : ways) loaded->addIncoming(v, from);
  return loaded;
}

llvm::Value* Body::load_lanes(DType dtype, llvm::Value* memory, llvm::Value* base, const Dim& step, llvm::Value* mask) {
  return from_memory(load_by_stride(memory_type(dtype, true), memory, base, step, mask), dtype);
}

llvm::Value* Body::load_single(DType dtype, int32_t buffer_number, llvm::Value* at) {
  llvm::Type* element = memory_type(dtype, false);
  return from_memory(
      b_.CreateAlignedLoad(element, b_.CreateGEP(element, buffer(buffer_number), at), alignment_of(element)), dtype);
}

void Body::store_single(llvm::Value* v, DType dtype, int32_t buffer_number, llvm::Value* at) {
  llvm::Type* element = memory_type(dtype, false);
  b_.CreateAlignedStore(to_memory(v, dtype), b_.CreateGEP(element, buffer(buffer_number), at), alignment_of(element));
}

void Body::store_lanes(llvm::Value* v, DType dtype, llvm::Value* memory, llvm::Value* base, const Dim& step,
                       llvm::Value* mask) {
  llvm::Type* element = memory_type(dtype, false);
  llvm::Value* stored = to_memory(v, dtype);
  llvm::Value* pointer = b_.CreateGEP(element, memory, base);
  llvm::Align align = alignment_of(element);
  if (step.is(1)) {
    auto plain = [&]() -> llvm::Value* {
      llvm::StoreInst* store = b_.CreateAlignedStore(stored, pointer, streaming_ ? llvm::Align(64) : align);
      if (streaming_) {
        llvm::Metadata* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
        store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b_.getContext(), one));
      }
      return store;
    };
    auto masked = [&]() -> llvm::Value* { return b_.CreateMaskedStore(stored, pointer, align, mask); };
    if (whole_)
      emit_either(b_, whole_, plain, masked);
    else if (mask)
      masked();
    else
      plain();
    return;
  }
  if (!mask) mask = llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), lanes_in_vector));
  b_.CreateMaskedScatter(stored, b_.CreateGEP(element, pointer, lane_steps(size(step))), align, mask);
}

}  // namespace tercet::codegen
