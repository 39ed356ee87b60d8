// ObjectReader: reads one object of any kind at a cursor: finds out what it is, then calls the decoder of that kind.
//
// apiVersion, kind and metadata come first in what kubectl and the API server write; then an object is read in one
// pass. In any other order the fields before them are passed over and visited afterwards.
#pragma once

#include <simdjson.h>

#include <set>
#include <string>
#include <string_view>

#include "manifest/cursor.h"
#include "manifest/metadata.h"
#include "manifest/pod_draft.h"
#include "model/objects.h"

namespace reprieve {

class ObjectReader {
public:
    struct Header {
        std::string_view api_version;
        std::string_view kind;
    };
    enum class Outcome : std::uint8_t {
        kObject,
        kIgnored,  // a kind that no decision depends on; counted
        kOwn,      // a document for somebody else
        kFailed    // the reading has the error
    };

    explicit ObjectReader(Vocabulary& words) : reading_(words) {}

    // Kinds that are not objects of a cluster (Expect, SchedulerConfig).
    void set_own_kinds(std::set<std::string, std::less<>> kinds) { own_kinds_ = std::move(kinds); }

    // `fields` are those of `root`, at the first one; `defaults` come from the list that the object stands in.
    Outcome read(Cursor& root, Fields& fields, const Header& defaults, Object& out);

    [[nodiscard]] Reading& reading() { return reading_; }
    [[nodiscard]] const Header& header() const { return header_; }
    [[nodiscard]] const Counts& ignored() const { return ignored_; }

private:
    void read_header(Fields& fields);
    Outcome decode(Cursor& root, Fields& fields, Object& out);
    void find_name();
    [[nodiscard]] std::string name_of_object(bool namespaced) const;

    Reading reading_;
    Metadata metadata_;
    PodDraft draft_;
    Header header_;
    std::set<std::string, std::less<>> own_kinds_;
    Counts ignored_;
};

}  // namespace reprieve
