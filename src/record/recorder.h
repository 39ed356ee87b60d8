// Recorder: keeps what went into the loop and what came out, on a thread of its own.
//
// `put` costs the loop a lock and a move: it never waits for a disk. When the disk is full, slow or gone, recording
// stops, says so, and tries again from time to time; once it can write, it writes a mark that says from when to when
// nothing is known, and a keyframe. If the thread falls so far behind that too much waits in memory, facts that newer
// ones of the same object replace are dropped, with such a mark.
//
// What is put is on disk at most a second later; a kill at any moment leaves a record that can be read.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "record/items.h"
#include "record/retention.h"

namespace reprieve {

struct RecordOptions {
    std::string folder;
    KeepRules keep;
    std::string version;
    std::string config_text;
    bool dry_run = false;
    std::chrono::milliseconds commit{500};
    std::chrono::milliseconds retry{5000};         // after a failure
    std::size_t most_waiting = 256U << 20U;        // bytes in memory before facts are dropped
    std::function<std::int64_t()> most_pages;      // asked when a file is opened; see RecordFile. None: no limit
    std::function<void(const std::string&)> warn;  // called on the recorder's thread
};

struct RecordCounts {
    std::int64_t changes = 0;  // written
    std::int64_t cycles = 0;
    std::int64_t gaps = 0;
    std::int64_t bytes = 0;    // of the file that is written
    std::int64_t waiting = 0;  // bytes in memory
    bool recording = false;
};

class Recorder {
public:
    // Makes the folder and checks that it can be written to.
    [[nodiscard]] static Result<std::unique_ptr<Recorder>> open(RecordOptions options);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // From the loop's thread.
    void put(RecordItem item);
    // Waits until everything put so far is on disk, or has been given up; for tests, and at the end.
    void flush();
    // Writes what is left, within reason, and ends the thread.
    void close();

    // From any thread.
    [[nodiscard]] RecordCounts counts() const;

private:
    class Writer;
    struct Shared;
    explicit Recorder(std::shared_ptr<Shared> shared);

    std::shared_ptr<Shared> shared_;  // outlives a thread that hangs in a write
    std::thread thread_;
};

}  // namespace reprieve
