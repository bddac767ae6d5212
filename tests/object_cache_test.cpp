// The cache of compiled code on disk: what is whole comes back, what is not is as if it were not there, and the oldest
// goes when room ends. That code out of it computes the same is tested with make_llvm_backend in codegen_test.cpp.
#include "codegen/jit/object_cache.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/temporary_folder.h"

namespace tercet::codegen {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

std::vector<fs::path> files(const std::string& folder) {
  std::vector<fs::path> out;
  if (fs::exists(folder))
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) out.push_back(entry.path());
  return out;
}

std::string contents(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}
void overwrite(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes; }

TEST_CASE("object cache: what is stored is found, by its key alone") {
  TemporaryFolder folder;
  ObjectCache cache(folder.path() + "/new/deep");
  std::string object(100000, '\0');
  for (size_t i = 0; i < object.size(); ++i) object[i] = static_cast<char>(i * i >> 3);
  CHECK_FALSE(cache.find(cache_key("a")));
  CHECK(cache.info().entries == 0);
  cache.store(cache_key("a"), object);
  cache.store(cache_key("b"), "");
  CHECK(cache.find(cache_key("a")) == object);
  CHECK(cache.find(cache_key("b")) == "");
  CHECK_FALSE(cache.find(cache_key("c")));
  CHECK(ObjectCache(folder.path() + "/new/deep").find(cache_key("a")) == object);
  CHECK(cache.info().entries == 2);
  CHECK(cache.info().bytes >= 100000);
  CHECK(cache.info().unusable.empty());
  CHECK(cache.clear() == 2);
  CHECK(cache.info().entries == 0);
  CHECK_FALSE(cache.find(cache_key("a")));
}

TEST_CASE("object cache: a damaged entry is not there, and is replaced") {
  TemporaryFolder folder;
  ObjectCache cache(folder.path());
  const std::string object = "object file " + std::string(500, 'x');
  cache.store(cache_key("a"), object);
  REQUIRE(files(folder.path()).size() == 1);
  const fs::path file = files(folder.path())[0];
  const std::string good = contents(file);
  std::vector<std::string> damaged{"", good.substr(0, 10), good.substr(0, good.size() - 1), good + "x", std::string(good.size(), '\0')};
  for (size_t at = 0; at < good.size(); at += 7) {
    std::string one = good;
    one[at] = static_cast<char>(one[at] ^ 0x20);
    damaged.push_back(one);
  }
  for (const std::string& bytes : damaged) {
    overwrite(file, bytes);
    CHECK_FALSE(cache.find(cache_key("a")));
    cache.store(cache_key("a"), object);
    CHECK(cache.find(cache_key("a")) == object);
  }
  // The entry of one key under the name of another.
  cache.store(cache_key("b"), "other");
  for (const fs::path& other : files(folder.path()))
    if (other != file) overwrite(file, contents(other));
  CHECK_FALSE(cache.find(cache_key("a")));
  CHECK(cache.find(cache_key("b")) == "other");
  // A folder, a link and a pipe that nobody writes to in its place.
  fs::remove(file);
  fs::create_directory(file);
  CHECK_FALSE(cache.find(cache_key("a")));
  cache.store(cache_key("a"), object);
  fs::remove(file);
  fs::create_symlink("/dev/zero", file);
  CHECK_FALSE(cache.find(cache_key("a")));
  fs::remove(file);
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  CHECK_FALSE(cache.find(cache_key("a")));
}

TEST_CASE("object cache: no folder to write to is no error") {
  TemporaryFolder folder;
  overwrite(folder.path() + "/file", "text");
  for (const std::string& name : {std::string(), folder.path() + "/file", folder.path() + "/file/below", std::string("/proc/nothing")}) {
    ObjectCache cache(name);
    cache.store(cache_key("a"), "object");
    CHECK_FALSE(cache.find(cache_key("a")));
    CHECK(cache.clear() == 0);
  }
  CHECK(contents(folder.path() + "/file") == "text");
}

TEST_CASE("object cache: what a full disk cuts off is not stored") {
  TemporaryFolder folder;
  ObjectCache cache(folder.path());
  cache.store(cache_key("small"), "object");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small{1000, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  cache.store(cache_key("large"), std::string(5000, 'x'));
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK_FALSE(cache.find(cache_key("large")));
  CHECK(cache.find(cache_key("small")) == "object");
  CHECK(files(folder.path()).size() == 1);   // the part that was written is gone
}

TEST_CASE("object cache: a folder that others may write to is not used") {
  TemporaryFolder folder;
  ObjectCache cache(folder.path());
  cache.store(cache_key("a"), "object");
  fs::permissions(folder.path(), fs::perms::all);
  CHECK_FALSE(cache.find(cache_key("a")));
  CHECK_FALSE(cache.info().unusable.empty());
  fs::permissions(folder.path(), fs::perms::owner_all);
  CHECK(cache.find(cache_key("a")) == "object");
}

TEST_CASE("object cache: the oldest entries go when room ends") {
  TemporaryFolder folder;
  ObjectCache cache(folder.path(), 256 * 64 * 1024);   // 64 KiB for each of 256 shards
  const std::string object(15000, 'x');                // 16 KiB on disk
  std::vector<CacheKey> keys;                          // all in one shard
  for (int i = 0; keys.size() < 10; ++i)
    if (CacheKey key = cache_key(std::to_string(i)); key[0] == 0) keys.push_back(key);
  for (size_t i = 0; i < keys.size(); ++i) {
    cache.store(keys[i], object);
    for (const fs::path& file : files(folder.path())) fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(2));
    CHECK(cache.find(keys[0]) == object);              // used, so never the oldest
  }
  CHECK(cache.info().bytes <= 64 * 1024);
  CHECK(cache.info().entries >= 2);
  CHECK(cache.find(keys.back()));
  CHECK_FALSE(cache.find(keys[1]));
  cache.store(cache_key("huge"), std::string(1 << 20, 'x'));   // more than there is room for at all
  CHECK_FALSE(cache.find(cache_key("huge")));
}

TEST_CASE("object cache: unfinished files of others stay until they are old") {
  TemporaryFolder folder;
  ObjectCache cache(folder.path());
  cache.store(cache_key("a"), "object");
  fs::path shard = files(folder.path())[0].parent_path(), young = shard / "new.1.2", old = shard / "new.3.4";
  overwrite(young, "");
  overwrite(old, "");
  fs::last_write_time(old, fs::last_write_time(old) - std::chrono::hours(2));
  cache.store(cache_key("a"), "object");
  CHECK(fs::exists(young));
  CHECK_FALSE(fs::exists(old));
  CHECK(cache.info().entries == 1);
}

TEST_CASE("object cache: many threads store and find the same keys") {
  TemporaryFolder folder;
  ObjectCache cache(folder.path());
  std::atomic<int> wrong{0}, found{0};
  auto work = [&](int thread) {
    for (int i = 0; i < 300; ++i) {
      std::string name = std::to_string(i * (thread + 1) % 20), object(2000 + name.size(), name[0]);
      if (auto known = cache.find(cache_key(name))) {
        ++found;
        wrong += *known != object;
      }
      cache.store(cache_key(name), object);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(found > 0);
  CHECK(cache.info().entries == 20);
  CHECK(files(folder.path()).size() == 20);
}

}  // namespace
}  // namespace tercet::codegen
