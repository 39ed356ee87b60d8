#include "manifest/json_fields.h"

#include <utility>

#include "base/utf8.h"

namespace reprieve {
namespace {

// Fields come one after the other, each once: nothing is looked up.
template <class Value>
void append(OrderedJson& object, const char* key, Value&& value) {
    object.get_ref<OrderedJson::object_t&>().emplace_back(key, std::forward<Value>(value));
}

}  // namespace

OrderedJson list_of(const std::vector<std::string>& texts) {
    OrderedJson list = OrderedJson::array();
    for (const std::string& text : texts)
        list.push_back(valid_utf8(text));
    return list;
}

void put(OrderedJson& object, const char* key, const std::string& value) {
    if (!value.empty()) append(object, key, valid_utf8(value));
}

void put(OrderedJson& object, const char* key, const std::vector<std::string>& texts) {
    if (!texts.empty()) append(object, key, list_of(texts));
}

void put(OrderedJson& object, const char* key, const CostVector& cost) {
    if (cost.empty()) return;
    OrderedJson list = OrderedJson::array();
    for (const auto& [term, value] : cost)
        list.push_back(OrderedJson::array({valid_utf8(term), value}));
    append(object, key, std::move(list));
}

void put(OrderedJson& object, const char* key, const std::map<std::string, std::int64_t>& counts) {
    if (counts.empty()) return;
    OrderedJson map = OrderedJson::object();
    for (const auto& [name, count] : counts)
        map[valid_utf8(name)] = count;
    append(object, key, std::move(map));
}

}  // namespace reprieve
