#include "record/retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/quantity.h"
#include "record/schema.h"

namespace reprieve {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "record-";
constexpr std::string_view kSuffix = ".db";
constexpr std::size_t kDayLength = 10;

bool looks_like_day(std::string_view day) {
    for (std::size_t i = 0; i < kDayLength; ++i) {
        const bool dash = i == 4 || i == 7;
        if (dash ? day[i] != '-' : (day[i] < '0' || day[i] > '9')) return false;
    }
    return true;
}

bool read_name(std::string_view name, RecordPath& out) {
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
    name.remove_prefix(kPrefix.size());
    name.remove_suffix(kSuffix.size());
    if (name.size() < kDayLength || !looks_like_day(name)) return false;
    out.day = name.substr(0, kDayLength);
    name.remove_prefix(kDayLength);
    if (name.empty()) return true;
    if (!name.starts_with('.')) return false;
    const auto read = std::from_chars(name.data() + 1, name.data() + name.size(), out.part);
    return read.ec == std::errc{} && read.ptr == name.data() + name.size();
}

void remove_file(const std::string& path) {
    std::error_code none;
    for (const char* suffix : {"", "-wal", "-shm"})
        fs::remove(path + suffix, none);
}

}  // namespace

std::vector<RecordPath> record_files(const std::string& folder) {
    std::vector<RecordPath> out;
    std::error_code none;
    for (fs::directory_iterator at(folder, none), end; at != end && !none; at.increment(none)) {
        RecordPath found;
        if (!read_name(at->path().filename().string(), found)) continue;
        found.path = at->path().string();
        for (const char* suffix : {"", "-wal", "-shm"}) {
            std::error_code missing;
            const auto size = fs::file_size(found.path + suffix, missing);
            if (!missing) found.bytes += static_cast<std::int64_t>(size);
        }
        out.push_back(std::move(found));
    }
    std::ranges::sort(out, {}, [](const RecordPath& one) { return std::pair(one.day, one.part); });
    return out;
}

std::vector<std::string> delete_old_files(const std::string& folder,
                                          const std::string& current,
                                          KeepRules rules,
                                          Time now) {
    std::vector<RecordPath> files = record_files(folder);
    std::int64_t total = 0;
    for (const RecordPath& file : files)
        total += file.bytes;
    std::vector<std::string> out;
    for (const RecordPath& file : files) {
        if (file.path == current) continue;
        const auto day = parse_time(file.day + "T00:00:00Z");
        const bool old = rules.age.us > 0 && day && now - *day > Duration{rules.age.us + kRecordDayUs};
        const bool much = rules.bytes > 0 && total > rules.bytes;
        if (!old && !much) continue;
        remove_file(file.path);
        total -= file.bytes;
        out.push_back(file.path);
    }
    return out;
}

Result<std::int64_t> parse_bytes(const std::string& text) {
    std::string_view number = text;
    if (number.ends_with("iB")) number.remove_suffix(1);
    const auto bytes = parse_quantity(number, QuantityUnit::kWhole);
    if (!bytes) return fail(bytes.error().message);
    if (*bytes <= 0) return fail(fmt::format("\"{}\" must be more than nothing", text));
    return *bytes;
}

Result<Duration> parse_days(const std::string& text) {
    if (text.ends_with('d')) {
        std::int64_t days = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size() - 1, days);
        if (read.ec == std::errc{} && read.ptr == text.data() + text.size() - 1 && days > 0 && days < 100'000)
            return Duration{days * kRecordDayUs};
        return fail(fmt::format("\"{}\" is no number of days", text));
    }
    const auto duration = parse_duration(text);
    if (!duration) return std::unexpected(duration.error());
    if (duration->us <= 0) return fail(fmt::format("\"{}\" must be more than nothing", text));
    return *duration;
}

}  // namespace reprieve
