#include "codegen/llvm/body.h"

#include <llvm/IR/IntrinsicsX86.h>

#include "base/diagnostic.h"
#include "codegen/plan/kernel_abi.h"

namespace tercet::codegen {
namespace {

constexpr unsigned lanes_in_vector = vector_lanes;
constexpr size_t cache_line = 64;

}  // namespace

llvm::FunctionType* kernel_type(llvm::LLVMContext& context) {
  auto* pointer = llvm::PointerType::getUnqual(context);
  return llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer}, false);
}

Body::Body(llvm::Module& module, const Kernel& kernel, const SizeTable& sizes, const std::string& name, int simd_bits)
    : k_(kernel),
      sizes_(sizes),
      b_(module.getContext()),
      entry_(module.getContext()),
      numbers_(b_) {
  f_ = llvm::Function::Create(kernel_type(module.getContext()), llvm::GlobalValue::ExternalLinkage, name, module);
  if (kernel.fast_math) {   // no reassociation: elementary functions count on the order of their corrections
    llvm::FastMathFlags flags;
    flags.setAllowContract();
    flags.setAllowReciprocal();
    flags.setNoSignedZeros();
    b_.setFastMathFlags(flags);
  }
  f_->addFnAttr(llvm::Attribute::NoUnwind);
  context_ = f_->getArg(0);
  ranges_ = f_->getArg(1);
  auto* entry = llvm::BasicBlock::Create(module.getContext(), "entry", f_);
  auto* start = llvm::BasicBlock::Create(module.getContext(), "start", f_);
  entry_.SetInsertPoint(llvm::BranchInst::Create(start, entry));
  b_.SetInsertPoint(start);
  buffers_.resize(k_.buffers.size());
  counters_.resize(k_.loops.size());
  values_.resize(k_.nodes.size());
  spread_.resize(k_.nodes.size());
  between_.resize(k_.nodes.size());
  if (simd_bits == 512) find_overlaps();
  for (const Node& n : k_.nodes) running_.push_back({&n.address});
  for (const Store& s : k_.stores) running_.push_back({&s.address});
}

void Body::finish() { b_.CreateRetVoid(); }

llvm::Constant* Body::lane_numbers(llvm::Type* integer) {
  std::vector<llvm::Constant*> lanes;
  for (unsigned i = 0; i < lanes_in_vector; ++i) lanes.push_back(llvm::ConstantInt::get(integer, i));
  return llvm::ConstantVector::get(lanes);
}

// ---- what the caller gave ----

llvm::Value* Body::context_field(unsigned byte_offset, llvm::Type* type) {
  return entry_.CreateLoad(type, entry_.CreateConstGEP1_64(entry_.getInt8Ty(), context_, byte_offset));
}

llvm::Value* Body::size(const Dim& d) {
  if (auto constant = d.constant()) return b_.getInt64(static_cast<uint64_t>(*constant));
  SizeSlot slot = sizes_.find(d);
  llvm::Value*& loaded = loaded_sizes_[slot];
  if (!loaded) {
    llvm::Value* table = context_field(offsetof(KernelContext, sizes), entry_.getPtrTy());
    llvm::LoadInst* load = entry_.CreateLoad(entry_.getInt64Ty(), entry_.CreateConstGEP1_64(entry_.getInt64Ty(), table, static_cast<uint64_t>(slot)));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));   // nothing changes a size
    loaded = load;
  }
  return loaded;
}

std::pair<llvm::Value*, llvm::Value*> Body::range(size_t loop) {
  auto at = [&](size_t k) {
    return entry_.CreateLoad(entry_.getInt64Ty(), entry_.CreateConstGEP1_64(entry_.getInt64Ty(), ranges_, k));
  };
  return {at(2 * loop), at(2 * loop + 1)};
}

llvm::Value* Body::buffer(int32_t k) {
  llvm::Value*& pointer = buffers_[static_cast<size_t>(k)];
  if (!pointer) {
    llvm::Value* table = context_field(offsetof(KernelContext, buffers), entry_.getPtrTy());
    pointer = entry_.CreateLoad(entry_.getPtrTy(),
                                entry_.CreateConstGEP1_64(entry_.getPtrTy(), table, static_cast<uint64_t>(k)));
  }
  return pointer;
}

llvm::Value* Body::totals() { return context_field(offsetof(KernelContext, totals), entry_.getPtrTy()); }
llvm::Value* Body::total(uint64_t k) {
  return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), totals(), k));
}
llvm::Value* Body::outputs() { return context_field(offsetof(KernelContext, outputs), entry_.getInt64Ty()); }

llvm::Value* Body::scratch(llvm::Type* type, uint64_t count) {
  llvm::AllocaInst* memory = entry_.CreateAlloca(type, entry_.getInt64(count));
  memory->setAlignment(llvm::Align(64));
  return memory;
}

// ---- streams ----

bool Body::can_stream() const {
  if (!two_bodies() || k_.loops.empty() || k_.stores.empty()) return false;
  for (const Store& s : k_.stores)
    if (!stride(s.address).is(1) || size_of(s.dtype) * vector_lanes < cache_line) return false;
  return true;
}

llvm::Value* Body::should_stream(llvm::Value* begin) {
  llvm::Value* wanted = b_.CreateIsNotNull(context_field(offsetof(KernelContext, stream), entry_.getInt8Ty()));
  at_column(begin);
  for (const Store& s : k_.stores) {
    llvm::Value* first = b_.CreateGEP(memory_type(s.dtype, false), buffer(s.buffer), address(s.address));
    llvm::Value* past = b_.CreateAnd(b_.CreatePtrToInt(first, b_.getInt64Ty()), b_.getInt64(cache_line - 1));
    wanted = b_.CreateAnd(wanted, b_.CreateIsNull(past));
  }
  return wanted;
}

void Body::set_streaming(bool on) {
  streaming_ = on;
  if (!on) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

// ---- addresses ----

llvm::Value* Body::add_product(llvm::Value* sum, llvm::Value* factor, const Dim& coefficient) {
  llvm::Value* product = coefficient.is(1) ? factor : b_.CreateMul(factor, size(coefficient));
  return sum ? b_.CreateAdd(sum, product) : product;
}

llvm::Value* Body::stepped(const Running& r, int depth) {
  llvm::Value* sum = r.outer;
  if (depth == 0 && !r.index->offset.is(0)) sum = size(r.index->offset);
  if (depth > 0)
    for (const Index::Term& t : r.index->loops)
      if (t.of == depth - 1) sum = add_product(sum, counters_[static_cast<size_t>(t.of)], t.coefficient);
  bool vector = in_lanes_;
  for (const Index::Term& t : r.index->nodes)
    if (k_.nodes[static_cast<size_t>(t.of)].depth == depth && !vector)
      sum = add_product(sum, single(t.of), t.coefficient);
  return sum;
}

void Body::advance(int depth) {
  for (Running& r : running_) r.outer = stepped(r, depth);
}

llvm::Value* Body::address(const Index& index) {
  llvm::Value* sum = size(index.offset);
  for (const Index::Term& t : index.loops) sum = add_product(sum, counters_[static_cast<size_t>(t.of)], t.coefficient);
  for (const Index::Term& t : index.nodes) sum = add_product(sum, single(t.of), t.coefficient);
  return sum;
}

llvm::Value* Body::lane_offsets(const Index& index) {
  llvm::Value* sum = nullptr;
  for (const Index::Term& t : index.nodes) {
    if (k_.nodes[static_cast<size_t>(t.of)].depth != depth() || !in_lanes_) continue;
    llvm::Value* v = lanes(t.of);
    if (!t.coefficient.is(1)) v = b_.CreateMul(v, b_.CreateVectorSplat(lanes_in_vector, size(t.coefficient)));
    sum = sum ? b_.CreateAdd(sum, v) : v;
  }
  return sum;
}

llvm::Value* Body::lane_steps(llvm::Value* stride) {
  return b_.CreateMul(lane_numbers(b_.getInt64Ty()), b_.CreateVectorSplat(lanes_in_vector, stride));
}

// ---- levels ----

void Body::emit_outermost() {
  for (size_t n = 0; n < k_.nodes.size(); ++n)
    if (k_.nodes[n].depth == 0) emit_node(n, nullptr);
  if (depth() > 0) advance(0);
}

void Body::enter(size_t loop, llvm::Value* i) {
  int depth_here = static_cast<int>(loop) + 1;
  counters_[loop] = i;
  for (size_t n = 0; n < k_.nodes.size(); ++n)
    if (k_.nodes[n].depth == depth_here) emit_node(n, nullptr);
  // The sums known outside this loop come back into force when another iteration or loop is emitted.
  advance(depth_here);
}

void Body::enter_sequence(llvm::Value* element) {
  const size_t first = k_.first_reduced(), end = k_.loops.size() - 1;
  Values counters(end);
  for (size_t l = end; l-- > first + 1;) {
    llvm::Value* extent = size(k_.loops[l].extent);
    counters[l] = b_.CreateURem(element, extent);
    element = b_.CreateUDiv(element, extent);
  }
  counters[first] = element;
  for (size_t l = first; l < end; ++l) enter(l, counters[l]);
}

void Body::emit_lanes(llvm::Value* i, llvm::Value* mask) {
  counters_.back() = i;
  in_lanes_ = true;
  edges_.clear();
  numbers_.set_lanes(lanes_in_vector);
  for (size_t n = 0; n < k_.nodes.size(); ++n)
    if (k_.nodes[n].depth == depth()) emit_node(n, mask);
}

void Body::emit_node(size_t n, llvm::Value* mask) {
  const Node& node = k_.nodes[n];
  const Running& r = running_[n];
  llvm::Value* v = nullptr;
  switch (node.kind) {
    case NodeKind::Load:
      v = between_[n].first != no_node && in_lanes_ && !mask && !whole_ ? load_between(between_[n]) : emit_load(node, r, mask);
      break;
    case NodeKind::IndexValue:
      v = emit_index(node, r);
      break;
    case NodeKind::Constant: {
      llvm::Type* bits = memory_type(node.dtype, false);
      llvm::Type* as_int = b_.getIntNTy(bits->getScalarSizeInBits());
      llvm::Value* raw = llvm::ConstantInt::get(as_int, node.bits);
      v = from_memory(b_.CreateBitCast(raw, bits), node.dtype);
      break;
    }
    case NodeKind::Clamp:
      v = emit_clamp(node);
      break;
    case NodeKind::Compute:
      v = emit_compute(node);
      break;
  }
  values_[n] = v;
  spread_[n] = in_lanes_ ? v : depth() > 0 ? b_.CreateVectorSplat(lanes_in_vector, v) : nullptr;
}

llvm::Value* Body::lanes(NodeId n) { return spread_[static_cast<size_t>(n)]; }

llvm::Value* Body::emit_index(const Node& n, const Running& r) {
  llvm::Value* start = stepped(r, n.depth);
  if (!start) start = b_.getInt64(0);
  if (!in_lanes_)
    return numbers_.rounded(LlvmNumbers::value(numbers_.convert(numbers_.wrap(start, DType::I64), n.dtype)), n.dtype);
  llvm::Value* offsets = lane_offsets(n.address);
  // Integers of at most 32 bits count in their own width: counting wraps as narrowing does.
  DType counted = !offsets && is_int(n.dtype) ? n.dtype : DType::I64;
  llvm::Type* narrow = b_.getIntNTy(static_cast<unsigned>(size_of(counted)) * 8);
  llvm::Value* first = b_.CreateVectorSplat(lanes_in_vector, b_.CreateTrunc(start, narrow));
  llvm::Value* stride_value = b_.CreateTrunc(size(stride(n.address)), narrow);
  llvm::Value* steps = b_.CreateMul(lane_numbers(narrow), b_.CreateVectorSplat(lanes_in_vector, stride_value));
  llvm::Value* v = b_.CreateAdd(first, steps);
  if (offsets) v = b_.CreateAdd(v, offsets);
  return numbers_.rounded(LlvmNumbers::value(numbers_.convert(numbers_.wrap(v, counted), n.dtype)), n.dtype);
}

llvm::Value* Body::emit_clamp(const Node& n) {
  NodeId operand = n.operands[0];
  DType dtype = k_.nodes[static_cast<size_t>(operand)].dtype;
  llvm::Value* index = in_lanes_ ? lanes(operand) : single(operand);
  index = LlvmNumbers::value(numbers_.convert(numbers_.wrap(index, dtype), DType::I64));
  llvm::Value *bound = size(n.bound), *zero = b_.getInt64(0);
  if (in_lanes_) {
    bound = b_.CreateVectorSplat(lanes_in_vector, bound);
    zero = llvm::Constant::getNullValue(bound->getType());
  }
  // In this order: 0 wins where there is nothing to index (bound -1).
  index = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, index, bound);
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, index, zero);
}

llvm::Value* Body::emit_compute(const Node& n) {
  std::vector<Num> operands;
  for (NodeId o : n.operands) {
    DType dtype = compute_dtype(k_.nodes[static_cast<size_t>(o)].dtype);
    operands.push_back(numbers_.wrap(in_lanes_ ? lanes(o) : single(o), dtype));
  }
  Num result = std::get<CodeElementwise>(n.op->def->code).emit(operands, *n.op, n.dtype);
  TERCET_CHECK(result.dtype == compute_dtype(n.dtype));
  return numbers_.rounded(LlvmNumbers::value(result), n.dtype);
}

// ---- effects ----

void Body::emit_effects(llvm::Value* mask) {
  for (size_t s = 0; s < k_.stores.size(); ++s) {
    const Store& store = k_.stores[s];
    llvm::Value* at = stepped(running_[k_.nodes.size() + s], depth());
    if (!at) at = b_.getInt64(0);
    if (in_lanes_)
      store_lanes(lanes(store.value), store.dtype, buffer(store.buffer), at, stride(store.address), mask);
    else
      store_single(single(store.value), store.dtype, store.buffer, at);
  }
  for (const Check& c : k_.checks) emit_check(c, mask);
}

void Body::emit_check(const Check& c, llvm::Value* mask) {
  std::vector<Num> operands, sizes;
  auto value = [&](NodeId n) { return in_lanes_ ? lanes(n) : single(n); };
  for (NodeId n : c.operands)
    operands.push_back(numbers_.wrap(value(n), compute_dtype(k_.nodes[static_cast<size_t>(n)].dtype)));
  for (auto& [name, attr] : c.op->attrs.items())
    if (const Dim* d = std::get_if<Dim>(&attr)) {
      llvm::Value* v = size(*d);
      sizes.push_back(numbers_.wrap(in_lanes_ ? b_.CreateVectorSplat(lanes_in_vector, v) : v, DType::I64));
    }
  llvm::Value* failed = LlvmNumbers::value(std::get<CodeCheck>(c.op->def->code).failed(operands, sizes));
  if (c.live != no_node) failed = b_.CreateAnd(failed, value(c.live));
  if (mask) failed = b_.CreateAnd(failed, mask);
  if (in_lanes_) failed = b_.CreateOrReduce(failed);
  emit_if(b_, failed,
          [&] { b_.CreateStore(b_.getInt8(1), context_field(offsetof(KernelContext, failed), b_.getPtrTy())); });
}

}  // namespace tercet::codegen
