// JsonLoad: the objects of one padded JSON text, which may be an object, a list, or several of them in a row.
#pragma once

#include <simdjson.h>

#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include "manifest/object_reader.h"

namespace reprieve {

class JsonLoad {
public:
    using Deliver = std::function<void(Object&&, std::size_t offset)>;
    using DeliverOwn = std::function<void(std::string_view kind, std::string_view json, std::size_t offset)>;

    JsonLoad(ObjectReader& reader, Deliver deliver, DeliverOwn deliver_own)
        : reader_(&reader), deliver_(std::move(deliver)), deliver_own_(std::move(deliver_own)) {}

    // REQUIRES: SIMDJSON_PADDING readable bytes behind `text`.
    [[nodiscard]] std::expected<void, DecodeError> run(std::string_view text);

    [[nodiscard]] const std::string& list_version() const { return list_version_; }
    [[nodiscard]] const std::string& list_continue() const { return list_continue_; }

private:
    // One document of `text`; true: more follows it.
    std::expected<bool, DecodeError> run_one(std::string_view text, std::size_t base);
    void read_root(Cursor& root);
    static bool is_list(Fields& fields, ObjectReader::Header& items);
    void read_list(Fields& fields, const ObjectReader::Header& items);
    void read_object(Cursor& at, Fields& fields, const ObjectReader::Header& defaults);

    ObjectReader* reader_;
    Deliver deliver_;
    DeliverOwn deliver_own_;
    simdjson::ondemand::parser parser_;
    std::string_view document_;
    std::size_t base_ = 0;
    std::string list_version_;
    std::string list_continue_;
};

}  // namespace reprieve
