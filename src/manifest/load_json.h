// JsonLoad: the objects of a JSON text, which may be one object, a list, or several of them in a row.
//
// The text is cut into objects by its brackets; simdjson then sees one object at a time. So lists of any length take as
// little memory as their largest item, and what simdjson notes about an item is still in the cache when it is decoded.
#pragma once

#include <simdjson.h>

#include <expected>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "manifest/load.h"
#include "manifest/object_reader.h"
#include "manifest/text_window.h"

namespace reprieve {

class JsonLoad {
public:
    // `offset` is where the object starts in the whole text.
    using Deliver = std::function<void(Object&&, std::string_view json, std::size_t offset)>;
    using DeliverOwn = std::function<void(std::string_view kind, std::string_view json, std::size_t offset)>;

    JsonLoad(ObjectReader& reader, Deliver deliver, DeliverOwn deliver_own)
        : reader_(&reader),
          deliver_(std::move(deliver)),
          deliver_own_(std::move(deliver_own)) {}

    void set_field_check(FieldCheck check) { field_check_ = check; }

    // The offset of an error has not been dropped from the window.
    [[nodiscard]] std::expected<void, DecodeError> run(TextWindow& window);

    // metadata.resourceVersion and metadata.continue of the last list.
    [[nodiscard]] const std::string& list_version() const { return list_version_; }
    [[nodiscard]] const std::string& list_continue() const { return list_continue_; }

private:
    // A list while its fields are read.
    struct ListHead {
        std::string api_version;
        std::string kind;
        bool has_items = false;  // perhaps none
        // What the items are where they do not say so: those of a PodList are pods.
        [[nodiscard]] ObjectReader::Header of_items() const;
    };

    void read_document();
    // One field of the object at the front of the window, from its key at `at`; gives the place behind its value.
    std::size_t read_field(std::size_t at, ListHead& head);
    void read_items(const ListHead& head);
    void read_object(std::string_view text, const ObjectReader::Header& defaults);
    void read_list_metadata(std::string_view json);
    void check_fields(std::string_view text);

    // Places are counted from the front of the window; all of them may read more into it.
    [[nodiscard]] char peek(std::size_t at);
    [[nodiscard]] std::size_t skip_spaces(std::size_t at);
    [[nodiscard]] std::size_t end_of_value(std::size_t at);
    [[nodiscard]] std::size_t end_of_string(std::size_t at);
    void fail(std::size_t at, std::string what);
    [[nodiscard]] bool failed() const { return error_.has_value(); }
    bool parse(std::string_view text, simdjson::ondemand::document& document, simdjson::ondemand::value& root);

    ObjectReader* reader_;
    Deliver deliver_;
    DeliverOwn deliver_own_;
    simdjson::ondemand::parser parser_;
    TextWindow* window_ = nullptr;
    std::optional<DecodeError> error_;
    std::string list_version_;
    std::string list_continue_;
    FieldCheck field_check_ = FieldCheck::kOff;
    std::map<std::string, std::string> unknown_fields_;  // what is wrong -> told of the first object with it
};

}  // namespace reprieve
