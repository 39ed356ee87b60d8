#include "kube/watcher.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace reprieve {
namespace {

constexpr int kMostListDoublings = 4;

std::int64_t steady_us() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

std::optional<Duration> Watcher::silent_for() const {
    const std::int64_t heard = heard_us_;
    if (heard == 0) return std::nullopt;
    return Duration{steady_us() - heard};
}

bool Watcher::is_current(std::chrono::steady_clock::time_point since) const {
    return open_ && std::chrono::steady_clock::time_point(std::chrono::microseconds(heard_us_)) >= since;
}

Duration Watcher::broken_for() const {
    const std::int64_t broken = broken_us_;
    return {broken == 0 ? 0 : steady_us() - broken};
}

void Watcher::start(std::string api_version, std::string path) {
    if (running()) return;
    api_version_ = std::move(api_version);
    path_ = std::move(path);
    backoff_.reset();
    page_cap_ = std::max(options_.most_page_items, options_.page_items);
    list({});
}

void Watcher::stop() {
    if (!running()) return;
    client_->forget(this);
    state_ = State::kAbsent;
    open_ = false;
    in_trouble_ = false;
    heard_us_ = 0;
    lost_us_ = 0;
    broken_us_ = 0;
    version_.clear();
    refusals_ = 0;
    waits_for_room_ = false;
    inbox_->put({.content = Parcel::Content::kAbsent, .kind = kind_});
}

void Watcher::on_room() {
    if (!waits_for_room_) return;
    waits_for_room_ = false;
    list(std::move(next_page_));
}

void Watcher::try_now() {
    constexpr Duration kSoon{200'000};
    if (state_ == State::kWaiting) retry_after(client_->jitter().soften(kSoon));
}

void Watcher::prove(std::chrono::steady_clock::time_point since) {
    if (state_ != State::kWatching || is_current(since)) return;
    client_->close(stream_);
    open_ = false;
    // What was read of a line is read again: the version is that of the last whole one.
    if (take_version()) return watch();
    list({});
}

void Watcher::heard() {
    heard_us_ = steady_us();
    if (std::exchange(in_trouble_, false) && recovered_) recovered_();
}

void Watcher::list(std::string continued) {
    state_ = State::kListing;
    if (inbox_->full()) {
        waits_for_room_ = true;
        next_page_ = std::move(continued);
        return;
    }
    const bool first = continued.empty();
    if (first) page_items_ = options_.page_items;
    HttpRequest request;
    request.path = fmt::format("{}?limit={}", path_, page_items_);
    if (!first) request.path += "&continue=" + url_encode(continued);
    request.deadline = options_.list_deadline;
    request.silence = {options_.list_silence.us << std::min(backoff_.failures(), kMostListDoublings)};
    request.patience = {};
    request.answer_limit = options_.page_bytes;
    client_->send(this, std::move(request), [this, first](HttpAnswer answer) { listed(std::move(answer), first); });
}

void Watcher::listed(HttpAnswer answer, bool first) {
    // A list that takes too long to read expires in the middle: from the beginning then. A page that did not come whole
    // may have been too large.
    if (!answer.ok()) {
        cut_all_pages();
        return retry(true, answer);
    }
    auto head = frames_.page_head(answer.body);
    if (!head) return retry(true, {.failure = head.error().message});
    refusals_ = 0;
    const bool last = head->continued.empty();
    if (!last) cut_next_page(answer.body.size());
    if (first) ++counts_->lists;
    inbox_->put({.content = Parcel::Content::kPage,
                 .kind = kind_,
                 .first = first,
                 .last = last,
                 .missed = {lost_us_ == 0 ? 0 : steady_us() - lost_us_},
                 .list_version = head->version,
                 .version = api_version_,
                 .bytes = std::move(answer.body)});
    heard();
    if (last) {
        lost_us_ = 0;
        broken_us_ = 0;
    }
    if (!last) return list(std::move(head->continued));
    version_ = std::move(head->version);
    watch();
}

void Watcher::cut_next_page(std::size_t bytes) {
    constexpr std::size_t kGrowth = 4;  // the next objects may be larger than these, and these fewer than asked for
    const std::size_t each = std::max<std::size_t>(bytes / std::max<std::size_t>(page_items_, 1), 1);
    page_items_ = std::clamp<std::size_t>(options_.page_goal / each, 1, std::min(page_items_ * kGrowth, page_cap_));
}

void Watcher::cut_all_pages() {
    constexpr std::size_t kPart = 4;
    if (page_items_ > options_.page_items) page_cap_ = std::max(page_items_ / kPart, options_.page_items);
}

void Watcher::watch() {
    state_ = State::kWatching;
    partial_.clear();
    last_line_.clear();
    ++counts_->watches;
    const std::int64_t seconds = options_.watch_length.seconds();
    HttpRequest request;
    request.path = fmt::format("{}?watch=true&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}",
                               path_,
                               url_encode(version_),
                               client_->jitter().between(seconds, 2 * seconds));
    request.silence = options_.watch_silence;
    stream_ = client_->open(
        this,
        std::move(request),
        [this](std::string_view bytes) { return receive(bytes); },
        [this](const HttpAnswer& answer) { watch_ended(answer); });
}

bool Watcher::receive(std::string_view bytes) {
    if (bytes.empty()) {
        heard();
        open_ = true;
        if (opened_) opened_();
        return true;
    }
    if (inbox_->full()) return false;
    heard();
    const std::size_t end = bytes.rfind('\n');
    if (end == std::string_view::npos) {
        partial_ += bytes;
        if (partial_.size() > options_.line_bytes) give_up_line();
        return true;
    }
    std::string lines = std::move(partial_);
    lines += bytes.substr(0, end + 1);
    partial_.assign(bytes.substr(end + 1));

    const std::size_t start = lines.rfind('\n', lines.size() - 2);
    last_line_.assign(start == std::string::npos ? lines : lines.substr(start + 1));
    last_line_.pop_back();
    refusals_ = 0;
    inbox_->put({.content = Parcel::Content::kEvents,
                 .kind = kind_,
                 .late = broken_for(),
                 .version = api_version_,
                 .bytes = std::move(lines)});
    broken_us_ = 0;
    return true;
}

// No object is that large: whoever is at the other end does not speak our language.
void Watcher::give_up_line() {
    partial_.clear();
    // A stream cannot be closed while it delivers.
    client_->run(this, [this, stream = stream_] {
        if (state_ != State::kWatching || stream != stream_) return;
        client_->close(stream);
        retry(true, {.failure = fmt::format("an event of more than {} bytes", options_.line_bytes)});
    });
}

bool Watcher::take_version() {
    if (last_line_.empty()) return true;
    const WatchFrame frame = frames_.frame(last_line_);
    // After an error event nothing is certain any more; mostly it says that the version is too old.
    if (frame.event == WatchEvent::kError || frame.event == WatchEvent::kUnknown) {
        spdlog::info("watch of {}: {}", path_, last_line_.substr(0, 300));
        return false;
    }
    version_ = frames_.version_of(frame.object);
    return !version_.empty();
}

// Only a time without trouble makes us trust a server again: one that answers with a line and then refuses would be
// asked as often as it can answer.
void Watcher::note_trouble() {
    const auto now = std::chrono::steady_clock::now();
    if (now - trouble_ > std::chrono::microseconds(options_.quiet.us)) backoff_.reset();
    trouble_ = now;
}

void Watcher::watch_ended(const HttpAnswer& answer) {
    open_ = false;
    note_trouble();
    ++restarts_;
    const bool has_version = take_version();
    if (!has_version || answer.status == 410) ++counts_->expired;
    // 400: the server does not understand the version; it may be another server than before.
    const bool relist = !has_version || answer.status == 410 || answer.status == 400;
    if (!relist && answer.status == 200 && backoff_.failures() == 0) {
        // Ended in time by the server. Waiting once keeps a server that ends every watch at once from being flooded.
        static_cast<void>(backoff_.next(client_->jitter()));
        return watch();
    }
    retry(relist, answer);
}

void Watcher::retry(bool relist, const HttpAnswer& answer) {
    if (relist && lost_us_ == 0) lost_us_ = heard_us_;
    if (broken_us_ == 0) broken_us_ = steady_us();
    const bool for_good = answer.status == 0 && !answer.retryable;
    if (for_good || answer.status == 404 || answer.status == 401 || answer.status == 403) {
        ++refusals_;
        if (refused_) refused_(answer);
        if (!running()) return;
    }
    note_trouble();
    const Duration wait = backoff_.next(client_->jitter(), answer.retry_after);
    if (backoff_.failures() > 3)
        spdlog::warn(
            "{} of {}: {}; again in {}", relist ? "list" : "watch", path_, answer.text(), format_duration(wait));
    open_ = false;
    in_trouble_ = true;
    waits_to_list_ = relist;
    state_ = State::kWaiting;
    retry_after(wait);
}

void Watcher::retry_after(Duration wait) {
    client_->run_after(this, wait, [this, number = ++wait_] {
        if (state_ != State::kWaiting || number != wait_) return;
        waits_to_list_ ? list({}) : watch();
    });
}

}  // namespace reprieve
