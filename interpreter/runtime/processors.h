// How many threads this process should run at once.
//
// Example:  in a container started with --cpus 1.5 on a machine of eight: usable_processors() == 2
#pragma once
#include <string>

namespace tercet {

/// The processors this process may run on (affinity), and no more than its control group has time for: a quota of 1.5 processors counts
/// as two. Asked once.
int usable_processors();

/// The time that control groups leave this process, in processors rounded up, or 0 where nothing bounds it. The groups are those in
/// `root`/proc/self/cgroup with their ancestors; the bounds are cpu.max (version 2), cpu.cfs_quota_us and cpu.cfs_period_us (version 1)
/// in `root`/sys/fs/cgroup. What cannot be read bounds nothing.
int processor_quota(const std::string& root = "");

}  // namespace tercet
