// DigestBook: the digest of a set of objects that change one by one: their sum, and what each of them added to it.
//
// An object that adds nothing has no entry.
#pragma once

#include <cstdint>
#include <vector>

#include "base/digest.h"
#include "base/flat_index.h"
#include "base/id.h"

namespace reprieve {

class DigestBook {
public:
    // What the object (by its hash) adds from now on.
    void note(std::uint64_t object, Digest digest);
    [[nodiscard]] Digest total() const { return total_; }

private:
    using EntryId = Id<struct DigestEntryTag>;
    struct Entry {
        std::uint64_t object = 0;
        Digest digest;
    };
    EntryId open(std::uint64_t object);

    Digest total_;
    IdVector<EntryId, Entry> entries_;
    std::vector<EntryId> unused_;
    FlatIndex<EntryId> index_;
};

}  // namespace reprieve
