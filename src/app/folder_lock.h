// FolderLock: a folder into which one process writes at a time.
//
// A file in the folder is locked, not merely there: however its holder ends, the lock ends with it. Children that the
// holder forked off hold it too, so that it is free only when none of them writes any more.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace reprieve {

class FolderLock {
public:
    // The error: somebody else holds it, or the folder cannot be written to.
    [[nodiscard]] static Result<FolderLock> take(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(FolderLock&& other) noexcept;
    FolderLock& operator=(FolderLock&&) = delete;

private:
    FolderLock(std::filesystem::path path, int file);

    std::filesystem::path path_;
    int file_;
};

}  // namespace reprieve
