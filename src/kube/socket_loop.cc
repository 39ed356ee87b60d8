#include "kube/socket_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "base/check.h"

namespace reprieve {
namespace {

constexpr int kMostAtOnce = 64;

}  // namespace

SocketLoop::SocketLoop(CURLM* multi)
    : multi_(multi),
      sockets_(epoll_create1(EPOLL_CLOEXEC)),
      wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    REPRIEVE_CHECK(sockets_ >= 0 && wakeup_ >= 0, "no more files may be opened");
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = wakeup_;
    REPRIEVE_CHECK(epoll_ctl(sockets_, EPOLL_CTL_ADD, wakeup_, &event) == 0, "epoll refuses an eventfd");
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &SocketLoop::on_socket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &SocketLoop::on_timer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

SocketLoop::~SocketLoop() {
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, nullptr);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, nullptr);
    close(wakeup_);
    close(sockets_);
}

int SocketLoop::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
    static_cast<SocketLoop*>(self)->watch(socket, what);
    return 0;
}

int SocketLoop::on_timer(CURLM*, long milliseconds, void* self) {
    auto& due = static_cast<SocketLoop*>(self)->due_;
    if (milliseconds < 0)
        due.reset();
    else
        due = Clock::now() + std::chrono::milliseconds(milliseconds);
    return 0;
}

void SocketLoop::watch(curl_socket_t socket, int what) {
    epoll_event event{};
    event.data.fd = socket;
    if (what == CURL_POLL_REMOVE) {
        // A socket that is closed already has left the list by itself.
        epoll_ctl(sockets_, EPOLL_CTL_DEL, socket, &event);
        return;
    }
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) event.events |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) event.events |= EPOLLOUT;
    // Known or not: a number may have come back with another socket.
    if (epoll_ctl(sockets_, EPOLL_CTL_MOD, socket, &event) == 0) return;
    REPRIEVE_CHECK(errno == ENOENT && epoll_ctl(sockets_, EPOLL_CTL_ADD, socket, &event) == 0,
                   "epoll refuses socket {}: {}",
                   socket,
                   errno);
}

void SocketLoop::turn(std::chrono::milliseconds most) {
    if (due_) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due_ - Clock::now());
        most = std::clamp(left, std::chrono::milliseconds(0), most);
    }
    std::array<epoll_event, kMostAtOnce> ready{};
    const int count = epoll_wait(sockets_, ready.data(), kMostAtOnce, static_cast<int>(most.count()));
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = ready[static_cast<std::size_t>(i)];
        if (event.data.fd == wakeup_) {
            std::uint64_t times = 0;
            static_cast<void>(read(wakeup_, &times, sizeof times));
            continue;
        }
        int what = 0;
        if ((event.events & EPOLLIN) != 0) what |= CURL_CSELECT_IN;
        if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
        if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) what |= CURL_CSELECT_ERR;
        act(event.data.fd, what);
    }
    if (due_ && *due_ <= Clock::now()) {
        due_.reset();  // libcurl says when the next one is
        act(CURL_SOCKET_TIMEOUT, 0);
    }
}

void SocketLoop::act(curl_socket_t socket, int ready) {
    int running = 0;
    const CURLMcode code = curl_multi_socket_action(multi_, socket, ready, &running);
    // A socket that an earlier action of this turn has closed is none of libcurl's any more.
    REPRIEVE_CHECK(code == CURLM_OK || code == CURLM_BAD_SOCKET, "{}", curl_multi_strerror(code));
}

void SocketLoop::wake() {
    const std::uint64_t once = 1;
    static_cast<void>(write(wakeup_, &once, sizeof once));
}

}  // namespace reprieve
