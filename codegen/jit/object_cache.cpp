#include "codegen/jit/object_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <llvm/Support/BLAKE3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

namespace tercet::codegen {
namespace {

struct Header {
  char magic[8];
  uint8_t key[32], digest[32];
  uint64_t size;
};
constexpr char magic[8] = {'T', 'e', 'r', 'c', 'e', 't', 'O', '1'};
constexpr int64_t largest = 256 << 20;    // of an object
constexpr time_t used_again = 3600;       // seconds: how exact "last used" is
constexpr time_t abandoned = 3600;        // seconds until an unfinished file belongs to nobody
constexpr size_t name_digits = 62;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

CacheKey digest_of(std::string_view bytes) {
  return llvm::BLAKE3::hash<32>(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

std::string hexadecimal(const CacheKey& key) {
  std::string out;
  for (uint8_t byte : key) out += fmt::format("{:02x}", byte);
  return out;
}

bool is_ours(const struct stat& s) { return s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0; }

/// Why a folder must not be read from: code out of it is run.
std::string distrust(int folder) {
  struct stat s;
  if (fstat(folder, &s) != 0) return std::strerror(errno);
  if (s.st_uid != geteuid()) return "it belongs to another user";
  return is_ours(s) ? "" : "others may write to it";
}

File open_folder(int parent, const char* name) { return File(openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }

/// The folder when it is there and can be trusted.
File trusted_folder(const std::string& name) {
  File folder = open_folder(AT_FDCWD, name.c_str());
  return folder && distrust(folder.get()).empty() ? std::move(folder) : File(-1);
}

void make_folders(const std::string& name) {
  for (size_t at = 1; at <= name.size(); ++at)
    if (at == name.size() || name[at] == '/') mkdir(name.substr(0, at).c_str(), 0700);
}

bool read_all(int file, char* to, size_t count) {
  while (count > 0) {
    ssize_t got = read(file, to, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got, count -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int file, const char* from, size_t count) {
  while (count > 0) {
    ssize_t put = write(file, from, count);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    from += put, count -= static_cast<size_t>(put);
  }
  return true;
}

bool is_entry(std::string_view name) {
  return name.size() == name_digits && name.find_first_not_of("0123456789abcdef") == name.npos;
}
constexpr std::string_view unfinished = "new.";

struct Entry {
  std::string name;
  int64_t bytes;  // on disk
  timespec used;
};

/// The entries of a shard; unfinished files that nobody will finish are removed by the way.
std::vector<Entry> entries_of(int shard) {
  std::vector<Entry> out;
  int again = openat(shard, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listing = again >= 0 ? fdopendir(again) : nullptr;
  if (!listing) {
    if (again >= 0) close(again);
    return out;
  }
  while (const dirent* d = readdir(listing)) {
    std::string_view name = d->d_name;
    struct stat s;
    if (!(is_entry(name) || name.starts_with(unfinished)) || fstatat(shard, d->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(s.st_mode)) continue;
    if (is_entry(name)) out.push_back({d->d_name, static_cast<int64_t>(s.st_blocks) * 512, s.st_mtim});
    else if (time(nullptr) - s.st_mtime > abandoned) unlinkat(shard, d->d_name, 0);
  }
  closedir(listing);
  return out;
}

/// Removes what was not used for longest until a tenth of the room is free again.
void keep_within(int shard, int64_t bytes) {
  std::vector<Entry> entries = entries_of(shard);
  int64_t total = 0;
  for (const Entry& e : entries) total += e.bytes;
  if (total <= bytes) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& e : entries) {
    if (total <= bytes / 10 * 9) break;
    unlinkat(shard, e.name.c_str(), 0);
    total -= e.bytes;
  }
}

template <class Work>
void for_each_shard(const std::string& directory, Work work) {
  File root = directory.empty() ? File(-1) : trusted_folder(directory);
  if (!root) return;
  for (int i = 0; i < 256; ++i)
    if (File shard = open_folder(root.get(), fmt::format("{:02x}", i).c_str())) work(shard.get());
}

}  // namespace

CacheKey cache_key(std::string_view text) { return digest_of(text); }

std::optional<std::string> ObjectCache::find(const CacheKey& key) const {
  File root = directory_.empty() ? File(-1) : trusted_folder(directory_);
  if (!root) return std::nullopt;
  std::string name = hexadecimal(key).insert(2, "/");
  File file(openat(root.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat s;
  if (!file || fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode) || !is_ours(s)) return std::nullopt;
  Header header;
  if (!read_all(file.get(), reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  if (std::memcmp(header.magic, magic, sizeof magic) != 0 || std::memcmp(header.key, key.data(), key.size()) != 0 ||
      header.size > largest || s.st_size != static_cast<off_t>(sizeof header + header.size))
    return std::nullopt;
  std::string object(header.size, '\0');
  if (!read_all(file.get(), object.data(), object.size())) return std::nullopt;
  if (std::memcmp(digest_of(object).data(), header.digest, sizeof header.digest) != 0) return std::nullopt;
  if (time(nullptr) - s.st_mtime > used_again) futimens(file.get(), nullptr);
  return object;
}

void ObjectCache::store(const CacheKey& key, std::string_view object) const {
  if (directory_.empty() || static_cast<int64_t>(object.size()) > std::min(largest, shard_bytes_)) return;
  std::string name = hexadecimal(key), shard_name = name.substr(0, 2);
  File root = trusted_folder(directory_);
  if (!root) {
    make_folders(directory_);
    root = trusted_folder(directory_);
  }
  if (!root) return;
  mkdirat(root.get(), shard_name.c_str(), 0700);
  File shard = open_folder(root.get(), shard_name.c_str());
  if (!shard) return;

  static std::atomic<uint64_t> count{0};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);  // where processes of two machines have one number
  std::string draft = fmt::format("{}{}.{}.{}", unfinished, getpid(), count.fetch_add(1), now.tv_nsec);
  File file(openat(shard.get(), draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return;
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  std::memcpy(header.key, key.data(), key.size());
  std::memcpy(header.digest, digest_of(object).data(), sizeof header.digest);
  header.size = object.size();
  bool whole = write_all(file.get(), reinterpret_cast<const char*>(&header), sizeof header) &&
               write_all(file.get(), object.data(), object.size());
  if (!whole || renameat(shard.get(), draft.c_str(), shard.get(), name.c_str() + 2) != 0)
    unlinkat(shard.get(), draft.c_str(), 0);
  keep_within(shard.get(), shard_bytes_);
}

ObjectCache::Info ObjectCache::info() const {
  Info out;
  if (directory_.empty()) return out.unusable = "it is turned off", out;
  File root = open_folder(AT_FDCWD, directory_.c_str());
  if (root) out.unusable = distrust(root.get());
  else if (errno != ENOENT) out.unusable = std::strerror(errno);
  for_each_shard(directory_, [&](int shard) {
    for (const Entry& e : entries_of(shard)) ++out.entries, out.bytes += e.bytes;
  });
  return out;
}

int64_t ObjectCache::clear() const {
  int64_t removed = 0;
  for_each_shard(directory_, [&](int shard) {
    for (const Entry& e : entries_of(shard)) removed += unlinkat(shard, e.name.c_str(), 0) == 0;
  });
  return removed;
}

}  // namespace tercet::codegen
