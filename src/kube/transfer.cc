#include "kube/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "kube/server_clock.h"

namespace reprieve {
namespace {

// A server that cannot leave out the rest sends all of it.
constexpr const char* kAcceptBrief =
    "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json";

// "host:port" of "scheme://host:port/path".
std::string authority_part(const std::string& server) {
    const std::size_t start = server.find("://") + 3;
    std::string part = server.substr(start, server.find('/', start) - start);
    const bool has_port = part.find(':', part.starts_with('[') ? part.find(']') : 0) != std::string::npos;
    return has_port ? part : part + ":443";
}

curl_blob blob_of(const std::string& bytes) {
    return {.data = const_cast<char*>(bytes.data()), .len = bytes.size(), .flags = CURL_BLOB_COPY};
}

constexpr long kOldestIdle = 60;  // seconds; servers close what is idle for longer, perhaps just now

long milliseconds(Duration duration) { return static_cast<long>(std::max<std::int64_t>(duration.us / 1000, 1)); }

}  // namespace

bool may_go(const HttpRequest& request) { return request.gate == nullptr || (*request.gate)(); }

HttpAnswer withheld_answer() {
    return {.failure = "not sent: it is not to be done any more", .retryable = false, .withheld = true};
}

Line::Line(Access access, LineOptions options)
    : access_(std::move(access)),
      options_(std::move(options)),
      credentials_(access_),
      base_(access_.server) {
    if (access_.tls_server_name.empty() || options_.plain_http) return;
    const std::string real = authority_part(access_.server);
    const std::string port = real.substr(real.rfind(':') + 1);
    const std::size_t path = access_.server.find('/', access_.server.find("://") + 3);
    base_ = fmt::format(
        "https://{}:{}{}", access_.tls_server_name, port, path == std::string::npos ? "" : access_.server.substr(path));
    connect_to_ = fmt::format("{}:{}:{}", access_.tls_server_name, port, real);
}

std::string Line::mark_of_round(char meaningless) const {
    constexpr std::uint64_t kRounds = 64;  // by then the first one's connections are long gone
    return std::string(pulse_.round() % kRounds, meaningless);
}

std::string Line::authority() const {
    return access_.authority_pem.empty() ? std::string() : access_.authority_pem + mark_of_round('\n');
}

std::string Line::authority_folder(std::string usual) const { return usual += mark_of_round('/'); }

Transfer::Transfer() : easy_(curl_easy_init()) { REPRIEVE_CHECK(easy_ != nullptr, "no memory for a transfer"); }
Transfer::~Transfer() = default;

Transfer* Transfer::of(CURL* handle) {
    char* self = nullptr;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &self);
    return reinterpret_cast<Transfer*>(self);
}

void Transfer::prepare(Line& line, const HttpRequest& request, Receive receive) {
    CURL* easy = easy_.get();
    curl_easy_reset(easy);
    line_ = &line;
    round_ = line.pulse().round();
    request_ = &request;
    receive_ = std::move(receive);
    answer_ = {};
    begun_ = sent_ = withheld_ = too_large_ = paused_ = false;
    error_[0] = '\0';

    curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_);
    curl_easy_setopt(easy, CURLOPT_URL, (line.base() + request.path).c_str());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Transfer::write_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
    if (is_stream()) {
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Transfer::read_header);
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
    }
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, line.options().buffer_bytes);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &Transfer::may_go_out);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, this);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, kOldestIdle);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 15L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 10'000L);
    if (!is_stream()) curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds(request.deadline));
    if (request.silence.us > 0) {
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(request.silence.seconds())));
    }
    set_security(line);
    set_headers(line);
    set_body();
}

void Transfer::set_security(Line& line) {
    CURL* easy = easy_.get();
    const Access& access = line.access();
    // A proxy that is asked for by name is used; the environment's is for other machines. Plain HTTP leaves no machine.
    if (line.options().plain_http || (access.proxy.empty() && is_loopback(access.server)))
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    else if (!access.proxy.empty())
        curl_easy_setopt(easy, CURLOPT_PROXY, access.proxy.c_str());
    if (line.options().plain_http) {
        REPRIEVE_CHECK(is_loopback(access.server), "plain HTTP to another machine");
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http");
        return;
    }
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    // A request at a time on each connection: docs/decisions/0036.
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set_authority(line);
    const CertificatePair& pair = line.credentials().certificate(std::chrono::steady_clock::now());
    if (!pair.certificate_pem.empty()) {
        const curl_blob certificate = blob_of(pair.certificate_pem);
        const curl_blob key = blob_of(pair.key_pem);
        curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &certificate);
        curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
    }
    if (!line.connect_to().empty()) {
        connect_to_.reset(curl_slist_append(nullptr, line.connect_to().c_str()));
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_.get());
    }
}

void Transfer::set_authority(const Line& line) {
    CURL* easy = easy_.get();
    const std::string authority = line.authority();
    if (!authority.empty()) {
        const curl_blob blob = blob_of(authority);
        curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
        curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);  // this authority and no other
        return;
    }
    char* usual = nullptr;
    curl_easy_getinfo(easy, CURLINFO_CAPATH, &usual);
    if (usual != nullptr) curl_easy_setopt(easy, CURLOPT_CAPATH, line.authority_folder(usual).c_str());
}

void Transfer::set_headers(Line& line) {
    curl_slist* list = curl_slist_append(nullptr, request_->brief ? kAcceptBrief : "Accept: application/json");
    list = curl_slist_append(list, ("User-Agent: " + line.options().user_agent).c_str());
    const std::string& token = line.credentials().token(std::chrono::steady_clock::now());
    if (!token.empty()) list = curl_slist_append(list, ("Authorization: Bearer " + token).c_str());
    if (!request_->body.empty()) {
        list = curl_slist_append(list, fmt::format("Content-Type: {}", request_->content_type).c_str());
        list = curl_slist_append(list, "Expect:");
    }
    headers_.reset(list);
    curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, list);
}

void Transfer::set_body() {
    CURL* easy = easy_.get();
    if (!request_->body.empty()) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_->body.size()));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request_->body.c_str());
    }
    if (std::strcmp(request_->method, "GET") != 0 || !request_->body.empty())
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request_->method);
}

// When a connection that was used before ends without an answer, libcurl sends the request again on a new one and says
// nothing. But the server may have done what it was asked for: whoever changes something has to know. And making a
// connection takes time, in which the leave to act may have ended.
int Transfer::may_go_out(void* self, char*, char*, int, int) {
    auto* transfer = static_cast<Transfer*>(self);
    const bool again = std::exchange(transfer->sent_, true);
    const bool changes = std::strcmp(transfer->request_->method, "GET") != 0;
    if (again && changes) return CURL_PREREQFUNC_ABORT;
    transfer->withheld_ = !may_go(*transfer->request_);
    return transfer->withheld_ ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

// A watch on which nothing happens says nothing for a minute; that it is there is said by its headers.
std::size_t Transfer::read_header(char* data, std::size_t size, std::size_t count, void* self) {
    auto* transfer = static_cast<Transfer*>(self);
    const std::string_view line(data, size * count);
    long status = 0;
    curl_easy_getinfo(transfer->easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (line == "\r\n" && status == 200) static_cast<void>(transfer->receive_({}));
    return line.size();
}

std::size_t Transfer::write_bytes(char* data, std::size_t size, std::size_t count, void* self) {
    return static_cast<Transfer*>(self)->take({data, size * count});
}

// The date is of the moment when the answer began: it means nothing once the rest has arrived, perhaps much later.
void Transfer::note_date() {
    if (std::exchange(begun_, true)) return;
    curl_header* header = nullptr;
    if (curl_easy_header(easy_.get(), "Date", 0, CURLH_HEADER, -1, &header) != CURLHE_OK) return;
    const time_t date = curl_getdate(header->value, nullptr);
    if (date < 0) return;
    const Time middle{static_cast<std::int64_t>(date) * 1'000'000 + 500'000};
    answer_.server_ahead = middle - machine_clock();
}

std::size_t Transfer::take(std::string_view bytes) {
    line_->pulse().hear(round_, std::chrono::steady_clock::now());
    note_date();
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (is_stream() && status == 200) {
        if (receive_(bytes)) return bytes.size();
        paused_ = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (answer_.body.size() + bytes.size() > request_->answer_limit) {
        too_large_ = true;
        return 0;
    }
    answer_.body += bytes;
    return bytes.size();
}

void Transfer::resume() {
    if (!paused_) return;
    paused_ = false;
    curl_easy_pause(easy_.get(), CURLPAUSE_CONT);
}

HttpAnswer Transfer::finish(CURLcode code) {
    long status = 0;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &retry_after);
    if (too_large_) {
        answer_.failure = fmt::format("the answer is larger than {} bytes", request_->answer_limit);
        answer_.retryable = false;
        answer_.body.clear();
    } else if (code == CURLE_ABORTED_BY_CALLBACK && withheld_) {
        answer_ = withheld_answer();
    } else if (code == CURLE_ABORTED_BY_CALLBACK) {
        answer_.failure = "the connection was lost before an answer came";
    } else if (code != CURLE_OK) {
        answer_.failure = error_[0] != '\0' ? error_ : curl_easy_strerror(code);
        // That a certificate is not trusted does not pass by itself.
        answer_.retryable =
            code != CURLE_PEER_FAILED_VERIFICATION && code != CURLE_SSL_CERTPROBLEM && code != CURLE_SSL_CACERT_BADFILE;
    } else {
        answer_.status = static_cast<int>(status);
        answer_.retry_after = {static_cast<std::int64_t>(std::clamp<curl_off_t>(retry_after, 0, 600)) * 1'000'000};
    }
    receive_ = nullptr;
    return std::move(answer_);
}

}  // namespace reprieve
