#include "interpreter/runtime/processors.h"

#include <tbb/info.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

namespace tercet {
namespace {

/// Processors that `quota` of every `period` microseconds are. "max" and -1 are none.
std::optional<double> processors(const std::string& quota, const std::string& period) {
  const double time = std::atof(quota.c_str()), of = std::atof(period.c_str());
  return time > 0 && of > 0 ? std::optional(time / of) : std::nullopt;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<double> quota_of(const std::string& group, bool second_version) {
  if (!second_version) return processors(first_line(group + "/cpu.cfs_quota_us"), first_line(group + "/cpu.cfs_period_us"));
  std::istringstream words(first_line(group + "/cpu.max"));   // "150000 100000", "max 100000"
  std::string quota, period;
  words >> quota >> period;
  return processors(quota, period);
}

/// Is `name` among the words of "cpu,cpuacct"?
bool has_controller(const std::string& list, const std::string& name) {
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');)
    if (word == name) return true;
  return false;
}

}  // namespace

int processor_quota(const std::string& root) {
  double least = 0;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {   // "0::/a/b" or "4:cpu,cpuacct:/a/b"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool second_version = controllers.empty();
    if (!second_version && !has_controller(controllers, "cpu")) continue;
    const std::string mount = root + "/sys/fs/cgroup" + (second_version ? "" : "/cpu");
    for (std::string group = line.substr(second + 1);; group.erase(group.rfind('/'))) {   // an ancestor's quota binds too
      if (auto quota = quota_of(mount + group, second_version)) least = least > 0 ? std::min(least, *quota) : *quota;
      if (group.rfind('/') == std::string::npos) break;
    }
  }
  return static_cast<int>(std::ceil(least));
}

int usable_processors() {
  static const int count = [] {
    const int allowed = tbb::info::default_concurrency(), quota = processor_quota();
    return quota > 0 ? std::min(allowed, quota) : allowed;
  }();
  return count;
}

}  // namespace tercet
