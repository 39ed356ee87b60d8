// SocketLoop: waits for the sockets of a libcurl multi handle, and lets libcurl act on those alone that are ready.
//
// curl_multi_perform and curl_multi_poll look at every transfer and every socket each time. With a watch for each kind
// and dozens of requests under way that was a fifth of the scheduler's processor time in a storm (bench/e2e/p2). Here
// libcurl says which sockets it wants to hear of and when it wants to be called without one, and the kernel keeps the
// list.
//
// `wake` may be called from any thread; everything else belongs to the thread that waits.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <optional>

namespace reprieve {

class SocketLoop {
public:
    // REQUIRES: `multi` outlives it, and nobody else sets its callbacks for sockets and timers.
    explicit SocketLoop(CURLM* multi);
    ~SocketLoop();
    SocketLoop(const SocketLoop&) = delete;
    SocketLoop& operator=(const SocketLoop&) = delete;

    // Waits until a socket is ready, libcurl's own timer is due, somebody wakes it or the time is up; then libcurl does
    // what there is to do. 0: does not wait.
    void turn(std::chrono::milliseconds most);
    void wake();

private:
    using Clock = std::chrono::steady_clock;

    static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* unused);
    static int on_timer(CURLM* multi, long milliseconds, void* self);
    void watch(curl_socket_t socket, int what);
    void act(curl_socket_t socket, int ready);

    CURLM* multi_;
    int sockets_;                           // epoll
    int wakeup_;                            // eventfd
    std::optional<Clock::time_point> due_;  // when libcurl wants to be called in any case
};

}  // namespace reprieve
