#include "record/recorder.h"

#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <unordered_set>

#include "record/fact_log.h"
#include "record/ledger.h"
#include "record/record_file.h"
#include "record/schema.h"

namespace reprieve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFarewell{5};
constexpr std::int64_t kLeastPart = std::int64_t{64} << 20U;
constexpr std::int64_t kPartsOfMost = 4;  // a file takes at most this part of all that may be kept
constexpr std::string_view kPodKey = "Pod ";

// Roughly what an item holds on to.
std::size_t weight_of(const RecordItem& item) {
    constexpr std::size_t kPlain = 256;
    if (const auto* fact = std::get_if<FactItem>(&item)) return kPlain + fact->text->json.size();
    if (const auto* cycle = std::get_if<CycleItem>(&item)) {
        const Plan& plan = cycle->plan;
        return kPlain * (1 + plan.placements.size() + plan.evictions.size() + 2 * plan.unplaced.size());
    }
    return kPlain;
}

}  // namespace

struct Recorder::Shared {
    RecordOptions options;
    std::mutex mutex;
    std::condition_variable wake;     // of the writer
    std::condition_variable settled;  // of those who wait for it
    std::deque<RecordItem> items;
    std::size_t waiting = 0;
    std::size_t most = 0;  // that may wait
    bool dropped = false;  // facts were left out of `items`
    bool closing = false;
    bool done = false;
    std::uint64_t flush_asked = 0;
    std::uint64_t flush_done = 0;

    std::atomic<std::int64_t> changes = 0;
    std::atomic<std::int64_t> cycles = 0;
    std::atomic<std::int64_t> gaps = 0;
    std::atomic<std::int64_t> bytes = 0;
    std::atomic<bool> recording = false;

    // Keeps of each object only the newest fact; everything else is dropped. Called with the lock held.
    void thin_out() {
        std::unordered_set<std::string> seen;
        std::deque<RecordItem> kept;
        waiting = 0;
        for (auto at = items.rbegin(); at != items.rend(); ++at) {
            std::string key;
            if (const auto* fact = std::get_if<FactItem>(&*at)) key = "f" + fact->key;
            if (const auto* belief = std::get_if<BeliefItem>(&*at)) key = "b" + belief->key;
            const bool ready = std::holds_alternative<ReadyItem>(*at);
            if (!ready && (key.empty() || !seen.insert(key).second)) continue;
            waiting += weight_of(*at);
            kept.push_front(std::move(*at));
        }
        items = std::move(kept);
        dropped = true;
        // What is left may be as much as the cluster holds; it is not looked through again for every new fact.
        most = std::max(options.most_waiting, 2 * waiting);
    }
};

// The recorder's thread: takes items in order and keeps files.
class Recorder::Writer {
public:
    explicit Writer(std::shared_ptr<Shared> shared) : shared_(std::move(shared)), options_(shared_->options) {}

    void run() {
        std::deque<RecordItem> items;
        while (true) {
            bool closing = false;
            bool dropped = false;
            std::uint64_t asked = 0;
            {
                std::unique_lock lock(shared_->mutex);
                shared_->wake.wait_for(lock, options_.commit, [&] {
                    return shared_->closing || !shared_->items.empty() || shared_->flush_asked > shared_->flush_done;
                });
                items.swap(shared_->items);
                shared_->waiting = 0;
                closing = shared_->closing;
                dropped = std::exchange(shared_->dropped, false);
                asked = shared_->flush_asked;
            }
            if (dropped && file_) stop("more came in than could be written");
            for (const RecordItem& item : items)
                take(item);
            items.clear();
            resume_if_due();
            const bool must = closing || asked > flushed_;
            if (must || Clock::now() - committed_ >= options_.commit) commit();
            flushed_ = asked;
            if (closing) file_.reset();
            const std::lock_guard lock(shared_->mutex);
            shared_->flush_done = asked;
            shared_->done = closing;
            shared_->settled.notify_all();
            if (closing) return;
        }
    }

private:
    void take(const RecordItem& item) {
        const Time at = time_of(item);
        if (at > now_) now_ = at;
        if (file_) rotate_if_due();
        resume_if_due();
        std::visit([this](const auto& one) { take_one(one); }, item);
        if (file_ && (facts_.full() || ledger_.full())) {
            facts_.flush(*file_);
            ledger_.flush(*file_);
            if (!file_->fault().empty()) commit();
        }
    }

    void resume_if_due() {
        if (!file_ && ready_ && Clock::now() >= retry_) start_recording();
    }

    void take_one(const FactItem& item) {
        if (facts_.take(item) && file_) ++shared_->changes;
        if (item.key.starts_with(kPodKey)) ledger_.see(item.key.substr(kPodKey.size()), item, file_.get());
    }
    void take_one(const BeliefItem& item) {
        if (facts_.take(item) && file_) ++shared_->changes;
    }
    void take_one(const CycleItem& item) {
        if (file_) ++shared_->cycles;
        ledger_.take(item, run_, facts_.seq(), file_.get());
    }
    void take_one(const StepItem& item) { ledger_.take(item, file_.get()); }
    void take_one(const MissedItem& item) {
        if (!file_) return;
        file_->put("INSERT INTO gap VALUES(?, ?, ?)", item.from, item.at, item.why);
        ++shared_->gaps;
    }
    void take_one(const ReadyItem&) {
        if (std::exchange(ready_, true)) return;
        start_recording();
    }

    void commit() {
        committed_ = Clock::now();
        if (!file_) return;
        facts_.flush(*file_);
        ledger_.flush(*file_);
        if (auto done = file_->commit(); !done) return stop(done.error().message);
        written_ = now_;
        shared_->bytes = file_->bytes();
    }

    // From the last commit on nothing is known, until recording starts again.
    void stop(const std::string& why) {
        file_.reset();
        facts_.drop_block();
        facts_.set_writing(false);
        ledger_.forget();
        shared_->recording = false;
        if (!broken_) {
            gap_since_ = written_;
            gap_why_ = why;
            if (options_.warn) options_.warn(fmt::format("recording has stopped: {}", why));
        }
        broken_ = true;
        retry_ = Clock::now() + options_.retry;
    }

    void start_recording() {
        if (auto started = open_file(true); !started) return stop(started.error().message);
        if (gap_since_.is_set()) {
            file_->put("INSERT INTO gap VALUES(?, ?, ?)", gap_since_, now_, gap_why_);
            ++shared_->gaps;
        }
        gap_since_ = {};
        gap_why_.clear();
        commit();
        if (!file_) return;
        shared_->recording = true;
        if (std::exchange(broken_, false) && options_.warn) options_.warn("recording goes on");
    }

    // Opens the file of the day. `fresh`: nothing connects it with what was recorded before.
    Result<void> open_file(bool fresh) {
        std::error_code none;
        std::filesystem::create_directories(options_.folder, none);
        delete_old_files(options_.folder, {}, options_.keep, now_);
        const std::vector<RecordPath> there = record_files(options_.folder);
        Result<std::unique_ptr<RecordFile>> opened = fail("");
        const std::int64_t most = options_.most_pages ? options_.most_pages() : 0;
        // A file of this day that is not ours to go on with is left as it is.
        for (int part = next_part(there, fresh); part < 1000; ++part) {
            const std::string path = options_.folder + "/" + record_file_name(now_, part);
            const bool existed = std::filesystem::exists(path, none);
            opened = RecordFile::open(path, options_.version, most);
            if (opened && !(*opened)->goes_on()) opened = fail(fmt::format("{}: is of an older format", path));
            if (opened) break;
            if (existed) continue;
            // It could not even be begun.
            for (const char* suffix : {"", "-wal", "-shm"})
                std::filesystem::remove(path + suffix, none);
            break;
        }
        if (!opened) return std::unexpected(opened.error());
        if (fresh) {
            if (auto on = go_on_from(there, **opened); !on) return on;
        }
        file_ = std::move(*opened);
        day_ = day_of(now_);
        facts_.set_writing(true);
        facts_.drop_block();
        write_run();
        ledger_.start_file(*file_);
        facts_.write_keyframe(*file_, now_, fresh);
        if (auto done = file_->commit(); !done) return done;
        written_ = now_;
        return {};
    }

    // A process that starts goes on in the last file of the day; one that has filled it begins another.
    [[nodiscard]] int next_part(const std::vector<RecordPath>& there, bool fresh) const {
        int last = 0;
        for (const RecordPath& one : there) {
            if (one.path.ends_with(record_file_name(now_, one.part))) last = one.part;
        }
        return fresh ? std::max(last, 1) : last + 1;
    }

    // Numbers go on from whatever was recorded last, here or in an older file.
    Result<void> go_on_from(const std::vector<RecordPath>& there, RecordFile& file) {
        RecordCounters counters;
        Time last;
        const auto look = [&](RecordFile& one) -> Result<void> {
            const auto found = one.counters();
            if (!found) return std::unexpected(found.error());
            const auto moment = one.last_moment();
            if (!moment) return std::unexpected(moment.error());
            counters.seq = std::max(counters.seq, found->seq);
            counters.cycle = std::max(counters.cycle, found->cycle);
            counters.plan = std::max(counters.plan, found->plan);
            counters.decision = std::max(counters.decision, found->decision);
            last = std::max(last, *moment);
            return {};
        };
        if (auto seen = look(file); !seen) return seen;
        for (auto one = there.rbegin(); one != there.rend() && counters.seq == 0; ++one) {
            if (one->path == file.path()) continue;
            const auto older = RecordFile::open(one->path, options_.version, 0);
            if (older) static_cast<void>(look(**older));
        }
        counters.seq = std::max(counters.seq, facts_.seq());
        counters.cycle = std::max(counters.cycle, ledger_.counters().cycle);
        counters.plan = std::max(counters.plan, ledger_.counters().plan);
        counters.decision = std::max(counters.decision, ledger_.counters().decision);
        if (!gap_since_.is_set() && last.is_set() && last < now_) {
            gap_since_ = last;
            if (gap_why_.empty()) gap_why_ = "nobody was recording";
        }
        facts_.go_on_from(counters.seq);
        ledger_.go_on_from(counters);
        return {};
    }

    void write_run() {
        file_->put("INSERT OR IGNORE INTO config(body) VALUES(?)", RecordFile::Blob{options_.config_text});
        file_->put("INSERT INTO run(at, version, config, dry) SELECT ?, ?, id, ? FROM config WHERE body = ?",
                   now_,
                   options_.version,
                   std::int64_t{options_.dry_run},
                   RecordFile::Blob{options_.config_text});
        run_ = file_->last_row();
    }

    void rotate_if_due() {
        const bool new_day = day_of(now_) > day_;
        const bool large =
            options_.keep.bytes > 0 && shared_->bytes > std::max(kLeastPart, options_.keep.bytes / kPartsOfMost);
        if (!new_day && !large) return;
        commit();
        if (!file_) return;
        file_.reset();
        shared_->bytes = 0;
        if (auto opened = open_file(false); !opened) return stop(opened.error().message);
        shared_->bytes = file_->bytes();
    }

    std::shared_ptr<Shared> shared_;
    const RecordOptions& options_;
    std::unique_ptr<RecordFile> file_;
    FactLog facts_;
    Ledger ledger_;
    bool ready_ = false;
    Time now_;
    Time written_;  // up to here everything is on disk
    std::int64_t day_ = 0;
    std::int64_t run_ = 0;
    Time gap_since_;
    std::string gap_why_;
    bool broken_ = false;
    Clock::time_point committed_;
    Clock::time_point retry_;
    std::uint64_t flushed_ = 0;
};

Result<std::unique_ptr<Recorder>> Recorder::open(RecordOptions options) {
    std::error_code fault;
    std::filesystem::create_directories(options.folder, fault);
    if (fault) return fail(fmt::format("{}: cannot be made: {}", options.folder, fault.message()));
    const std::string probe = options.folder + "/.writable";
    std::FILE* file = std::fopen(probe.c_str(), "w");
    if (!file) return fail(fmt::format("{}: cannot be written to", options.folder));
    std::fclose(file);
    std::filesystem::remove(probe, fault);
    auto shared = std::make_shared<Shared>();
    shared->options = std::move(options);
    shared->most = shared->options.most_waiting;
    return std::unique_ptr<Recorder>(new Recorder(std::move(shared)));
}

Recorder::Recorder(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {
    thread_ = std::thread([shared = shared_] { Writer(shared).run(); });
}

Recorder::~Recorder() { close(); }

void Recorder::put(RecordItem item) {
    const std::size_t weight = weight_of(item);
    const std::lock_guard lock(shared_->mutex);
    if (shared_->waiting + weight > shared_->most) shared_->thin_out();
    shared_->waiting += weight;
    shared_->items.push_back(std::move(item));
    if (shared_->items.size() == 1) shared_->wake.notify_one();
}

void Recorder::flush() {
    std::unique_lock lock(shared_->mutex);
    const std::uint64_t mine = ++shared_->flush_asked;
    shared_->wake.notify_one();
    shared_->settled.wait(lock, [&] { return shared_->flush_done >= mine || shared_->done; });
}

void Recorder::close() {
    if (!thread_.joinable()) return;
    std::unique_lock lock(shared_->mutex);
    shared_->closing = true;
    shared_->wake.notify_one();
    const bool done = shared_->settled.wait_for(lock, kFarewell, [&] { return shared_->done; });
    lock.unlock();
    // A disk that hangs must not keep the program from ending.
    if (done)
        thread_.join();
    else
        thread_.detach();
}

RecordCounts Recorder::counts() const {
    RecordCounts out{.changes = shared_->changes,
                     .cycles = shared_->cycles,
                     .gaps = shared_->gaps,
                     .bytes = shared_->bytes,
                     .waiting = 0,
                     .recording = shared_->recording};
    const std::lock_guard lock(shared_->mutex);
    out.waiting = static_cast<std::int64_t>(shared_->waiting);
    return out;
}

}  // namespace reprieve
