// Transfer: one attempt at one request, as a libcurl easy handle. Line: what all transfers to one server share.
//
// Certificates are always verified. Tokens go into the request and nowhere else.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/access.h"
#include "kube/http.h"
#include "kube/token.h"

namespace reprieve {

struct LineOptions {
    bool http2 = true;
    bool plain_http = false;  // to loopback, as checked when the address was read
    std::string user_agent = "reprieve";
    long buffer_bytes = 64L << 10;
};

class Line {
public:
    Line(Access access, LineOptions options);

    [[nodiscard]] const Access& access() const { return access_; }
    [[nodiscard]] const LineOptions& options() const { return options_; }
    [[nodiscard]] const std::string& authority() const { return authority_; }
    [[nodiscard]] const std::string& connect_to() const { return connect_to_; }
    [[nodiscard]] const std::string& base() const { return base_; }
    [[nodiscard]] BearerToken& token() { return token_; }

    // Requests to come use no connection that is open now: one of them has fallen silent.
    void avoid_open_connections();

private:
    Access access_;
    LineOptions options_;
    BearerToken token_;
    std::string authority_;
    std::string base_;        // the server as the certificate names it
    std::string connect_to_;  // where that really is, if it differs
};

class Transfer {
public:
    // Takes bytes of a successful stream; false: not now, offer them again after `resume`.
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
    static std::size_t write_bytes(char* data, std::size_t size, std::size_t count, void* self);
    std::size_t take(std::string_view bytes);
    void note_date();
    void set_security(Line& line);
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
    const HttpRequest* request_ = nullptr;
    Receive receive_;
    HttpAnswer answer_;
    bool begun_ = false;  // the answer has begun to arrive
    bool too_large_ = false;
    bool paused_ = false;
    char error_[CURL_ERROR_SIZE] = {};
};

}  // namespace reprieve
