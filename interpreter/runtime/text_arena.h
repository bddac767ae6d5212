// Where the text of long string elements is put: blocks that fill up one after another, kept alive by the arrays.
//
// Example:  TextArena arena;  StringRef s = arena.add("a long piece of text");  arena.give_to(array);
#pragma once
#include <string_view>
#include <unordered_set>

#include "interpreter/runtime/array.h"

namespace tercet {

class TextArena {
 public:
  /// An element with this text: inside the element when short, else copied into a block.
  StringRef add(std::string_view text);
  /// Room for a text of this size (more than 12 bytes), to be written, and the element that refers to it afterwards.
  char* room(size_t size);
  /// Hands the blocks to an array whose elements refer to them.
  void give_to(Array& array);

 private:
  std::vector<std::shared_ptr<const void>> blocks_;
  char* at_ = nullptr;
  size_t left_ = 0, next_block_ = 512;
};

/// Lets `array` keep alive what `source` does.
void share_owners(Array& array, const Array& source);

/// Many blocks held as one: every row taken of an array holds what the array does.
void bundle_owners(Array& array);

/// As share_owners, for one array and any number of sources.
class OwnerUnion {
 public:
  explicit OwnerUnion(Array& array) : array_(array) {}
  void add(const Array& source);

 private:
  Array& array_;
  std::unordered_set<const void*> known_;
  std::vector<const void*> last_;   // the sources are often rows of one array
};

}  // namespace tercet
