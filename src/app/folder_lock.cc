#include "app/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace reprieve {
namespace {

// Children of a holder that was killed end a moment after it.
constexpr int kTries = 20;
constexpr std::chrono::milliseconds kPause{25};

// Whether the file that was locked is still the one of that name: its last holder takes it away when it ends.
bool is_current(const std::filesystem::path& path, int file) {
    struct stat here{};
    struct stat there{};
    return fstat(file, &here) == 0 && stat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
           here.st_dev == there.st_dev;
}

}  // namespace

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / ".lock";
    for (int tries = 0; tries < kTries; ++tries) {
        const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (file < 0) return fail(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
        const bool locked = flock(file, LOCK_EX | LOCK_NB) == 0;
        if (locked && is_current(path, file)) return FolderLock(path, file);
        const int why = errno;
        close(file);
        if (!locked && why != EWOULDBLOCK)
            return fail(fmt::format("{}: cannot be locked: {}", path.string(), std::strerror(why)));
        if (!locked) std::this_thread::sleep_for(kPause);
    }
    return fail(fmt::format("{}: another process is writing there; wait until it has ended, or name another folder",
                            folder.string()));
}

FolderLock::FolderLock(std::filesystem::path path, int file) : path_(std::move(path)), file_(file) {}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)) {}

FolderLock::~FolderLock() {
    if (file_ < 0) return;
    unlink(path_.c_str());
    close(file_);
}

}  // namespace reprieve
