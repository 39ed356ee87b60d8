#include "window/loop_and_record.h"

namespace reprieve::window {

RecordSource* LoopAndRecord::record() {
    const std::lock_guard lock(mutex_);
    if (record_) return record_.get();
    auto reader = RecordReader::open(folder_);
    if (!reader) return nullptr;
    record_ = std::make_unique<RecordSource>(
        std::move(*reader), Origin{.kind = "record", .arguments = "--record " + folder_}, folder_);
    return record_.get();
}

template <class Use>
auto LoopAndRecord::of_moment(const std::optional<Time>& at, Use&& use)
    -> decltype(use(std::declval<MomentSource&>())) {
    if (!at) return use(loop_);
    RecordSource* source = record();
    if (!source) return fail("nothing is recorded yet", ErrorKind::kNotFound);
    return use(*source);
}

Result<std::shared_ptr<const Moment>> LoopAndRecord::moment(std::optional<Time> at) {
    return of_moment(at, [&](MomentSource& source) { return source.moment(at); });
}

Result<std::string> LoopAndRecord::ask(std::optional<Time> at, const Question& question) {
    return of_moment(at, [&](MomentSource& source) { return source.ask(at, question); });
}

Result<std::string> LoopAndRecord::ask_about(const DecisionEntry& entry, const Question& question) {
    if (!is_recorded(entry)) return loop_.ask_about(entry, question);
    return of_moment(entry.at, [&](MomentSource& source) { return source.ask_about(entry, question); });
}

Result<std::string> LoopAndRecord::receipt(const DecisionEntry& entry) {
    if (is_recorded(entry)) return of_moment(entry.at, [&](MomentSource& source) { return source.receipt(entry); });
    auto receipt = loop_.receipt(entry);
    RecordSource* source = record();
    const auto cycle = receipt && source ? source->cycle_of(entry) : std::nullopt;
    if (!cycle) return receipt;
    // What this loop decided a moment ago can be looked up already.
    OrderedJson json = OrderedJson::parse(*receipt);
    const OrderedJson& evictions = json["evictions"];
    const std::string about = evictions.empty() ? entry.owner : evictions[0].value("pod", entry.owner);
    OrderedJson commands = OrderedJson::array();
    for (std::string& command : commands_of_cycle(about, "--record " + folder_, *cycle))
        commands.push_back(std::move(command));
    for (const auto& command : json["commands"])
        commands.push_back(command);
    json["commands"] = std::move(commands);
    return json.dump();
}

Result<std::string> LoopAndRecord::room(std::optional<Time> at) {
    return of_moment(at, [&](MomentSource& source) { return source.room(at); });
}

Result<std::string> LoopAndRecord::lifelines(std::optional<Time> at, const std::string& queue) {
    return of_moment(at, [&](MomentSource& source) { return source.lifelines(at, queue); });
}

std::optional<Extent> LoopAndRecord::extent() {
    RecordSource* source = record();
    return source ? source->extent() : std::nullopt;
}

}  // namespace reprieve::window
