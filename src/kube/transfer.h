// Transfer: one attempt at one request, as a libcurl easy handle. Line: what all transfers to one server share.
//
// Certificates are always verified. Tokens go into the request and nowhere else. libcurl uses a connection again only
// for the same client certificate, so a new one is shown on new connections.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/access.h"
#include "kube/credentials.h"
#include "kube/http.h"
#include "kube/pulse.h"

namespace reprieve {

struct LineOptions {
    bool plain_http = false;  // to loopback, as checked when the address was read
    std::string user_agent = "reprieve";
    long buffer_bytes = 64L << 10;
};

class Line {
public:
    Line(Access access, LineOptions options);

    [[nodiscard]] const Access& access() const { return access_; }
    [[nodiscard]] const LineOptions& options() const { return options_; }
    // The certificates to trust; empty: those of the system.
    [[nodiscard]] std::string authority() const;
    // Where the system keeps its own.
    [[nodiscard]] std::string authority_folder(std::string usual) const;
    [[nodiscard]] const std::string& connect_to() const { return connect_to_; }
    [[nodiscard]] const std::string& base() const { return base_; }
    [[nodiscard]] Credentials& credentials() { return credentials_; }

    [[nodiscard]] Pulse& pulse() { return pulse_; }
    [[nodiscard]] const Pulse& pulse() const { return pulse_; }

private:
    // libcurl shares a connection between requests with the same TLS settings, byte by byte. Something that means
    // nothing to TLS makes those of one round differ from those of another.
    [[nodiscard]] std::string mark_of_round(char meaningless) const;

    Access access_;
    LineOptions options_;
    Credentials credentials_;
    Pulse pulse_;
    std::string base_;        // the server as the certificate names it
    std::string connect_to_;  // where that really is, if it differs
};

// Whether the request's gate, if it has one, is open.
[[nodiscard]] bool may_go(const HttpRequest& request);
// Of a request that a shut gate kept back.
[[nodiscard]] HttpAnswer withheld_answer();

class Transfer {
public:
    // Takes bytes of a successful stream; false: not now, offer them again after `resume`. The first call comes with no
    // bytes, when the server has said that it answers.
    using Receive = std::function<bool(std::string_view)>;

    Transfer();
    ~Transfer();
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    // `request` must outlive the attempt.
    void prepare(Line& line, const HttpRequest& request, Receive receive);
    void resume();
    [[nodiscard]] HttpAnswer finish(CURLcode code);

    [[nodiscard]] CURL* handle() const { return easy_.get(); }
    [[nodiscard]] static Transfer* of(CURL* handle);
    [[nodiscard]] bool is_stream() const { return receive_ != nullptr; }

private:
    // Before the request goes out on a connection; whether it may.
    static int may_go_out(void* self, char*, char*, int, int);
    static std::size_t read_header(char* data, std::size_t size, std::size_t count, void* self);
    static std::size_t write_bytes(char* data, std::size_t size, std::size_t count, void* self);
    std::size_t take(std::string_view bytes);
    void note_date();
    void set_security(Line& line);
    void set_authority(const Line& line);
    void set_headers(Line& line);
    void set_body();

    struct FreeEasy {
        void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
    };
    struct FreeList {
        void operator()(curl_slist* list) const { curl_slist_free_all(list); }
    };
    std::unique_ptr<CURL, FreeEasy> easy_;
    std::unique_ptr<curl_slist, FreeList> headers_;
    std::unique_ptr<curl_slist, FreeList> connect_to_;
    Line* line_ = nullptr;
    std::uint64_t round_ = 0;
    const HttpRequest* request_ = nullptr;
    Receive receive_;
    HttpAnswer answer_;
    bool begun_ = false;  // the answer has begun to arrive
    bool sent_ = false;
    bool withheld_ = false;  // the gate was shut when there was a connection
    bool too_large_ = false;
    bool paused_ = false;
    char error_[CURL_ERROR_SIZE] = {};
};

}  // namespace reprieve
