// Files read from the front, piece by piece; those that end in .gz or .zst are decompressed on the way.
//
// Example:  ByteStream file("docs.txt.gz");  while (size_t n = file.read(buffer, sizeof buffer)) { … }
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tercet {

/// Is this a name of compressed files?
bool is_compressed(std::string_view path);

class ByteStream {
 public:
  /// Error `io` when it cannot be opened.
  explicit ByteStream(const std::string& path);
  ~ByteStream();
  ByteStream(ByteStream&&) noexcept;
  ByteStream& operator=(ByteStream&&) noexcept;
  /// Up to `size` bytes; 0 at the end. Error `io` naming file and place where the file is damaged or ends too early.
  size_t read(char* to, size_t size);
  /// The share of the file that was read; -1 where it has no size.
  double share() const;
  struct Source;

 private:
  std::unique_ptr<Source> source_;
};

/// The bytes as a file of that name holds them: compressed where it ends in .gz or .zst.
std::string compressed_for(const std::string& path, std::string_view bytes);

}  // namespace tercet
