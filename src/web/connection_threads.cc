#include "web/connection_threads.h"

namespace reprieve {

void ConnectionThreads::enqueue(std::function<void()> connection) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(connection));
    // An idle thread may have been promised to a connection that came just before.
    if (idle_ < waiting_.size() && threads_.size() < most_) threads_.emplace_back([this] { work(); });
    wake_.notify_one();
}

void ConnectionThreads::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        ++idle_;
        wake_.wait(lock, [&] { return over_ || !waiting_.empty(); });
        --idle_;
        if (waiting_.empty()) return;
        const std::function<void()> connection = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        connection();
        lock.lock();
    }
}

void ConnectionThreads::shutdown() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

}  // namespace reprieve
