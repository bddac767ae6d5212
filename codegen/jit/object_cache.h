// Object files on disk, by key, that outlive the process. Any number of processes and threads may share a directory.
//
// An entry is a file <directory>/<2 hexadecimal digits>/<62 more>: a header with the key, the size and a digest of the
// object, then the object. It is written under another name and renamed, so that it is there whole or not at all. What is
// damaged, of another version or another user's is as if it were not there, and is replaced. Nothing here throws or
// reports: a full or read-only disk only means that there is less to find.
//
// Example:  ObjectCache cache(directory);  CacheKey key = cache_key(text);
//           if (auto object = cache.find(key)) …;  else cache.store(key, compiled);
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tercet::codegen {

using CacheKey = std::array<uint8_t, 32>;
/// Digest (BLAKE3) of a text that says all that an object depends on.
CacheKey cache_key(std::string_view text);

class ObjectCache {
 public:
  static constexpr int64_t default_bytes = 512 << 20;
  /// Makes the directory when it first stores. `bytes`: what the entries may take; those not used for longest go first.
  /// An empty name, and a directory that others may write to, mean no cache.
  explicit ObjectCache(std::string directory, int64_t bytes = default_bytes)
      : directory_(std::move(directory)), shard_bytes_(bytes / shards) {}

  std::optional<std::string> find(const CacheKey& key) const;
  void store(const CacheKey& key, std::string_view object) const;

  struct Info {
    int64_t entries = 0, bytes = 0;
    std::string unusable;  // why not, empty when it can be used
  };
  Info info() const;
  /// Removes every entry and returns how many there were; other files stay.
  int64_t clear() const;

 private:
  static constexpr int shards = 256;  // subfolders; each keeps to its part of the bytes by itself

  std::string directory_;
  int64_t shard_bytes_;
};

}  // namespace tercet::codegen
