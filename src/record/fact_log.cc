#include "record/fact_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "record/blocks.h"

namespace reprieve {
namespace {

constexpr std::int64_t kBlockFacts = 2048;
constexpr std::size_t kBlockBytes = std::size_t{8} << 20U;

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void FactLog::line(Time at, const std::string& key, const char* field, const std::string& json) {
    if (!writing_) return;
    ++seq_;
    if (block_.empty()) {
        block_first_ = seq_;
        block_at_ = at;
        flushed_ = seq_ - 1;
        flushed_bytes_ = 0;
    }
    fmt::format_to(std::back_inserter(block_),
                   "{{\"at\":{},\"key\":{},\"{}\":{}}}\n",
                   at.us,
                   quoted(key),
                   field,
                   json.empty() ? std::string_view("null") : std::string_view(json));
}

bool FactLog::take(const FactItem& item) {
    if (item.text->json.empty()) {
        if (mirror_.erase(item.key) == 0) return false;
        line(item.at, item.key, "is", {});
        return true;
    }
    if (!projection_.project(item.text->api_version, item.text->kind, item.text->json, projected_)) return false;
    Mirrored& known = mirror_[item.key];
    if (known.json == projected_) return false;
    known.json = projected_;
    line(item.at, item.key, "is", projected_);
    return true;
}

bool FactLog::take(const BeliefItem& item) {
    const auto known = mirror_.find(item.key);
    if (known == mirror_.end() || known->second.overlay == item.overlay) return false;
    known->second.overlay = item.overlay;
    line(item.at, item.key, "believed", item.overlay);
    return true;
}

void FactLog::write_block(RecordFile& file, std::string_view text, std::int64_t first) {
    const std::string packed = pack_block(text);
    file.put("INSERT INTO block(kind, first, last, at, raw, body) VALUES(0, ?, ?, ?, ?, ?)",
             first,
             seq_,
             block_at_,
             static_cast<std::int64_t>(text.size()),
             RecordFile::Blob{packed});
}

bool FactLog::full() const {
    return !block_.empty() && (seq_ - block_first_ + 1 >= kBlockFacts || block_.size() >= kBlockBytes);
}

void FactLog::flush(RecordFile& file) {
    if (block_.empty() || flushed_ == seq_) return;
    if (full()) {
        if (flushed_ >= block_first_) file.put("DELETE FROM block WHERE kind = 0 AND first >= ?", block_first_);
        write_block(file, block_, block_first_);
        drop_block();
        return;
    }
    write_block(file, std::string_view(block_).substr(flushed_bytes_), flushed_ + 1);
    flushed_ = seq_;
    flushed_bytes_ = block_.size();
}

void FactLog::drop_block() {
    block_.clear();
    block_first_ = 0;
    flushed_ = seq_;
    flushed_bytes_ = 0;
}

void FactLog::write_keyframe(RecordFile& file, Time at, bool fresh) {
    ++seq_;
    std::vector<const std::pair<const std::string, Mirrored>*> all;
    all.reserve(mirror_.size());
    for (const auto& entry : mirror_)
        all.push_back(&entry);
    std::ranges::sort(all, {}, [](const auto* entry) { return std::string_view(entry->first); });
    std::string text;
    std::int64_t lines = 0;
    const auto write = [&] {
        if (text.empty()) return;
        const std::string packed = pack_block(text);
        file.put("INSERT INTO block(kind, first, last, at, raw, body) VALUES(1, ?, ?, ?, ?, ?)",
                 seq_,
                 seq_,
                 at,
                 static_cast<std::int64_t>(text.size()),
                 RecordFile::Blob{packed});
        text.clear();
        lines = 0;
    };
    for (const auto* entry : all) {
        const auto& [key, known] = *entry;
        fmt::format_to(
            std::back_inserter(text), "{{\"at\":{},\"key\":{},\"is\":{}}}\n", at.us, quoted(key), known.json);
        if (!known.overlay.empty()) {
            fmt::format_to(std::back_inserter(text),
                           "{{\"at\":{},\"key\":{},\"believed\":{}}}\n",
                           at.us,
                           quoted(key),
                           known.overlay);
        }
        if (++lines >= kBlockFacts || text.size() >= kBlockBytes) write();
    }
    write();
    file.put("INSERT OR REPLACE INTO keyframe(seq, at, objects, fresh) VALUES(?, ?, ?, ?)",
             seq_,
             at,
             static_cast<std::int64_t>(all.size()),
             std::int64_t{fresh ? 1 : 0});
}

}  // namespace reprieve
