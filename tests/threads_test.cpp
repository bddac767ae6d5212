// How many threads run: what the system leaves this process, and beside a host that has threads of its own.
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "codegen/backend.h"
#include "interpreter/engine/callable.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/processors.h"
#include "tests/temporary_folder.h"

namespace tercet {
namespace {

/// A folder that stands for the system's root.
class Root {
 public:
  Root& file(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = folder_.path() + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text << "\n";
    return *this;
  }
  int quota() const { return processor_quota(folder_.path()); }

 private:
  test::TemporaryFolder folder_;
};

TEST_CASE("the quota of a control group, version 2", "[threads]") {
  CHECK(Root().quota() == 0);
  CHECK(Root().file("/proc/self/cgroup", "0::/").quota() == 0);
  CHECK(Root().file("/proc/self/cgroup", "0::/").file("/sys/fs/cgroup/cpu.max", "max 100000").quota() == 0);
  CHECK(Root().file("/proc/self/cgroup", "0::/").file("/sys/fs/cgroup/cpu.max", "200000 100000").quota() == 2);
  CHECK(Root().file("/proc/self/cgroup", "0::/").file("/sys/fs/cgroup/cpu.max", "150000 100000").quota() == 2);
  CHECK(Root().file("/proc/self/cgroup", "0::/").file("/sys/fs/cgroup/cpu.max", "5000 100000").quota() == 1);
  CHECK(Root().file("/proc/self/cgroup", "0::/").file("/sys/fs/cgroup/cpu.max", "nonsense").quota() == 0);
  Root nested;
  nested.file("/proc/self/cgroup", "0::/user/work").file("/sys/fs/cgroup/user/work/cpu.max", "400000 100000");
  CHECK(nested.quota() == 4);
  nested.file("/sys/fs/cgroup/user/cpu.max", "300000 100000");   // an ancestor that has less
  CHECK(nested.quota() == 3);
  nested.file("/sys/fs/cgroup/user/cpu.max", "max 100000");
  CHECK(nested.quota() == 4);
}

TEST_CASE("the quota of a control group, version 1", "[threads]") {
  Root root;
  root.file("/proc/self/cgroup", "9:memory:/a\n4:cpu,cpuacct:/a").file("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1");
  root.file("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
  CHECK(root.quota() == 0);
  root.file("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "250000");
  CHECK(root.quota() == 3);
  CHECK(Root().file("/proc/self/cgroup", "4:cpuset:/a").file("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000").quota() == 0);
}

TEST_CASE("no more threads than the process may use", "[threads]") {
  CHECK(usable_processors() >= 1);
  CHECK(usable_processors() <= tbb::info::default_concurrency());
  CHECK(available_threads() <= usable_processors());
  ThreadLimit one(1);
  CHECK(available_threads() == 1);
}

int threads_of_process() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

/// A host's own loop on oneTBB, each step of which calls compiled code that would use all threads by itself.
TEST_CASE("a host's threads and those of compiled code are the same", "[threads]") {
  SessionOptions options;
  options.backend = make_llvm_backend("");
  options.compile.optimize = Optimize::Never;   // no thread for that
  Session session(options);
  Outcome defined = session.run(session.add_source("host", "jit (x => sum(exp(x) * 0.5 + x) + sum(x.reshape(1000, 1000) @ ones((1000, 8))))"));
  REQUIRE(defined.ok());
  Callable f(session, *defined.value);
  Array x = Array::make(DType::F32, {1'000'000});
  std::fill_n(x.data<float>(), x.count(), 0.25f);
  const std::vector<Value> arguments = {Value(x)};
  const float expected = f.call(arguments).leaf()->data<float>()[0];

  const int before = threads_of_process(), steps = 64;
  std::atomic<int> most{0}, wrong{0};
  tbb::parallel_for(0, steps, [&](int) {
    if (f.call(arguments).leaf()->data<float>()[0] != expected) ++wrong;
    const int now = threads_of_process();
    for (int old = most; old < now && !most.compare_exchange_weak(old, now);) {}
  });
  CHECK(wrong == 0);
  INFO("threads before: " << before << ", most: " << most);
  // oneTBB adds at most one thread less than it is allowed for all arenas together, and those may have been there before.
  CHECK(most <= before + static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)) - 1);
}

}  // namespace
}  // namespace tercet
