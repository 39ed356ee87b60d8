// A request to an API server and its answer, as plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/time.h"

namespace reprieve {

// What goes first. Urgent requests never wait for others; idle ones get what the usual ones leave, and a trickle.
enum class Lane : unsigned char { kUrgent, kUsual, kIdle };

struct HttpAnswer {
    int status = 0;  // 0: none came, and `failure` says why
    std::string body;
    Duration retry_after;
    std::optional<Duration> server_ahead;  // of our clock, as far as the server's date tells
    std::string failure;

    [[nodiscard]] bool ok() const { return status >= 200 && status < 300; }
    // Whether the same request may well succeed later: no answer, too many requests, trouble in the server.
    [[nodiscard]] bool passing() const { return failure.empty() ? (status == 429 || status >= 500) : retryable; }
    // One line for people: "404 NotFound: pods "x" not found".
    [[nodiscard]] std::string text() const;

    bool retryable = true;  // of a failure
    bool withheld = false;  // a failure: it was not sent, because its gate was shut
    bool unsure = false;    // this or an earlier attempt may have been carried out, though nobody said so
};

struct HttpRequest {
    const char* method = "GET";
    std::string path;  // with its query
    std::string body;
    std::function<std::string()> body_now;          // the body as it is when an attempt begins; none: `body` stands
    const char* content_type = "application/json";  // of a body
    bool brief = false;                             // of an object in the answer, its metadata will do
    Lane lane = Lane::kUsual;
    // Ranks in the idle lane: what is there for nobody any more, and what is for people alone. Both are paced.
    static constexpr std::uint64_t kTidy = 1;
    static constexpr std::uint64_t kNews = 2;
    std::uint64_t rank = 0;                 // within its lane, lower ones go first
    Duration deadline{15'000'000};          // of one attempt
    Duration patience{60'000'000};          // for all attempts and the waits between them; 0: one attempt
    std::size_t answer_limit = 16U << 20U;  // bytes
    // Of a stream: none longer than this; 0: any. Of a call: on all connections of its round; 0: as the client
    // has it. Twice as long after every failure.
    Duration silence;
    // Not tried again by the client where an attempt may have been carried out: whoever asked looks first.
    bool once = false;
    // Answers that look passing but are the server's last word.
    bool (*is_final)(const HttpAnswer&) = nullptr;
    // Asked before every attempt, and again when it has its connection; false: it is not made. Must outlive the
    // request.
    const std::function<bool()>* gate = nullptr;
};

// A Status object, as the API server sends it with an error. Empty where the body is something else.
struct ApiStatus {
    std::string reason;  // "NotFound"
    std::string message;
    int code = 0;
    bool budget_refused = false;  // an eviction that a PodDisruptionBudget does not allow
    bool wrong_uid = false;       // a patch that named another UID than the object's
};

[[nodiscard]] ApiStatus read_status(const std::string& body);

// For a path segment or a value of a query.
[[nodiscard]] std::string url_encode(const std::string& text);

}  // namespace reprieve
