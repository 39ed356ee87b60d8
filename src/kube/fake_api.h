// FakeApi: an API server for unit tests, on loopback: remembers what it was asked and answers as the test says.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kube/access.h"
#include "kube/http_client.h"

namespace reprieve {

class FakeApi {
public:
    struct Asked {
        std::string method;
        std::string path;  // without its query
        std::string query;
        std::string body;
        std::string authorization;
        [[nodiscard]] bool is(const std::string& wanted_method, const std::string& wanted_path) const {
            return method == wanted_method && path == wanted_path;
        }
        [[nodiscard]] bool is_watch() const { return query.find("watch=true") != std::string::npos; }
    };
    struct Reply {
        int status = 200;
        std::string body = "{}";
        std::string retry_after;
        std::string date;
        bool stays_open = false;  // the body comes at once, the end when the fake is told to `end_streams`
        bool silent = false;      // nothing comes before the fake is told to `end_streams`
    };
    using Script = std::function<Reply(const Asked&)>;

    explicit FakeApi(Script script);
    ~FakeApi();

    [[nodiscard]] Access access() const;
    [[nodiscard]] HttpClientOptions client_options() const;
    [[nodiscard]] std::vector<Asked> asked() const;
    [[nodiscard]] std::size_t count(const std::string& method, const std::string& path) const;
    // Waits until what was asked so far satisfies the test. False: it never did.
    [[nodiscard]] bool wait(const std::function<bool(const std::vector<Asked>&)>& condition) const;
    // Ends streams that are open now.
    void end_streams();

private:
    struct Listener;
    // Until the streams of that round are to end.
    void wait_for_end(std::unique_lock<std::mutex>& lock, std::size_t round);

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    Script script_;
    std::vector<Asked> asked_;
    std::size_t stream_round_ = 0;
    bool stopping_ = false;
    std::unique_ptr<Listener> listener_;
};

// An empty list of any kind.
[[nodiscard]] std::string list_json(const std::string& version,
                                    const std::vector<std::string>& items = {},
                                    const std::string& continued = {});
// A pod in namespace "ns", with further fields of metadata, spec and status as JSON members.
[[nodiscard]] std::string pod_json(const std::string& name,
                                   const std::string& version,
                                   const std::string& spec = {},
                                   const std::string& status = {},
                                   const std::string& metadata = {});
[[nodiscard]] std::string event_json(const std::string& type, const std::string& object);
[[nodiscard]] std::string status_json(int code, const std::string& reason, const std::string& message);

}  // namespace reprieve
