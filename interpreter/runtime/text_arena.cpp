#include "interpreter/runtime/text_arena.h"

#include <algorithm>

#include "interpreter/runtime/polling.h"

namespace tercet {
namespace {

constexpr size_t largest_block = 1 << 20, longest_text = UINT32_MAX;

}  // namespace

char* TextArena::room(size_t size) {
  if (size > longest_text) fail(Kind::Limit, {}, "a string may have at most 4,294,967,295 bytes");
  if (size > left_) {
    left_ = std::max(size, next_block_);
    next_block_ = std::min(2 * next_block_, largest_block);
    std::shared_ptr<Buffer> block = Buffer::allocate(static_cast<int64_t>(left_));
    at_ = reinterpret_cast<char*>(block->data());
    blocks_.push_back(std::move(block));
  }
  char* out = at_;
  at_ += size;
  left_ -= size;
  return out;
}

StringRef TextArena::add(std::string_view text) {
  if (text.size() <= 12) return StringRef(text);
  char* out = room(text.size());
  copy_bytes(out, text.data(), text.size());
  return StringRef{std::string_view(out, text.size())};
}

void TextArena::give_to(Array& array) {
  for (auto& block : blocks_) array.owners.push_back(std::move(block));
  blocks_.clear();
  left_ = 0;
}

void share_owners(Array& array, const Array& source) {
  for (const auto& owner : source.owners)
    if (std::find(array.owners.begin(), array.owners.end(), owner) == array.owners.end()) array.owners.push_back(owner);
}

void bundle_owners(Array& array) {
  constexpr size_t few = 8;
  if (array.owners.size() <= few) return;
  auto all = std::make_shared<std::vector<std::shared_ptr<const void>>>(std::move(array.owners));
  array.owners.clear();
  array.owners.push_back(std::move(all));
}

void OwnerUnion::add(const Array& source) {
  auto same = [](const auto& owner, const void* last) { return owner.get() == last; };
  if (std::equal(source.owners.begin(), source.owners.end(), last_.begin(), last_.end(), same)) return;
  last_.clear();
  for (const auto& owner : source.owners) {
    last_.push_back(owner.get());
    if (known_.insert(owner.get()).second) array_.owners.push_back(owner);
  }
}

}  // namespace tercet
