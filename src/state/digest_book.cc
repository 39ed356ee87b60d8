#include "state/digest_book.h"

namespace reprieve {

DigestBook::EntryId DigestBook::open(std::uint64_t object) {
    EntryId id;
    if (unused_.empty()) {
        id = entries_.push_back({object, {}});
    } else {
        id = unused_.back();
        unused_.pop_back();
        entries_[id] = {object, {}};
    }
    index_.insert(object, id);
    if (index_.needs_room()) index_.make_room([&](EntryId each) { return entries_[each].object; });
    return id;
}

void DigestBook::note(std::uint64_t object, Digest digest) {
    const auto same = [&](EntryId each) { return entries_[each].object == object; };
    EntryId id = index_.find(object, same);
    if (!id && digest == Digest{}) return;
    if (!id) id = open(object);
    Digest& before = entries_[id].digest;
    total_.low += digest.low - before.low;
    total_.high += digest.high - before.high;
    before = digest;
    if (digest != Digest{}) return;
    index_.erase(object, same);
    unused_.push_back(id);
}

}  // namespace reprieve
