// ConnectionThreads: a thread for every open connection of a server, made when needed and kept for a while.
//
// A connection never waits for another one to end, as it would in a pool of fixed size: an event stream lasts for
// hours. Beyond `most` connections at once new ones wait for a thread.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace reprieve {

class ConnectionThreads final : public httplib::TaskQueue {
public:
    explicit ConnectionThreads(std::size_t most) : most_(most) {}

    void enqueue(std::function<void()> connection) override;
    void shutdown() override;

private:
    void work();

    std::size_t most_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> waiting_;
    std::size_t idle_ = 0;
    bool over_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace reprieve
