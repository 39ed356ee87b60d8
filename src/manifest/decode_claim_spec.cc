// What a claim asks for: requests, their alternatives, and constraints over them. In v1beta1 a request carries
// everything itself; later versions wrap it in `exactly`.
#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.h"
#include "manifest/decode_devices.h"

namespace reprieve {
namespace {

constexpr std::int64_t kLargestAmount = INT64_MAX;

std::optional<DeviceTaintEffect> effect_from(std::string_view text) {
    if (text.empty()) return std::nullopt;
    if (text == "NoSchedule") return DeviceTaintEffect::kNoSchedule;
    return text == "NoExecute" ? DeviceTaintEffect::kNoExecute : DeviceTaintEffect::kOther;
}

// The API server lets no two of them have one name: what is given is told apart by it.
template <class Named>
std::optional<StringId> named_twice(const std::vector<Named>& all, StringId Named::* name) {
    for (auto at = all.begin(); at != all.end(); ++at) {
        if (std::find_if(all.begin(), at, [&](const Named& one) { return one.*name == (*at).*name; }) != at)
            return (*at).*name;
    }
    return std::nullopt;
}

// An operator that is not known tolerates nothing.
void decode_toleration(Cursor& at, std::vector<DeviceToleration>& tolerations) {
    DeviceToleration out;
    bool known = true;
    for (Fields f(at); f.next();) {
        std::string_view word;
        switch (f.id()) {
            case "key"_key:
                f->read(out.key);
                break;
            case "operator"_key:
                f->read(word);
                out.exists = word == "Exists";
                known = word.empty() || out.exists || word == "Equal";
                break;
            case "value"_key:
                f->read(out.value);
                break;
            case "effect"_key:
                f->read(word);
                out.effect = effect_from(word);
                break;
            default:
                break;
        }
    }
    if (known) tolerations.push_back(out);
}

void decode_amounts(Cursor& at, DeviceWish& wish) {
    for (Fields f(at); f.next();) {
        std::string_view text;
        f->read_quantity_text(text);
        const Result<Wide> nano = parse_nano_quantity(text);
        if (!nano) {
            note_trouble(wish.trouble, fmt::format("capacity {}: {}", f.key(), nano.error().message));
            continue;
        }
        if (*nano < 0) note_trouble(wish.trouble, fmt::format("capacity {}: \"{}\" is negative", f.key(), text));
        if (*nano == static_cast<Wide>(kLargestAmount) * kNanoPerUnit && text != "9223372036854775807")
            note_trouble(wish.trouble,
                         fmt::format("capacity {}: \"{}\" cannot be represented in 64 bits", f.key(), text));
        wish.amounts.emplace_back(f.key(), *nano);
    }
    std::ranges::sort(wish.amounts);
}

// False: no field of a wish.
bool decode_wish_field(Fields& f, DeviceWish& out) {
    switch (f.id()) {
        case "deviceClassName"_key:
            f->read(out.cls);
            return true;
        case "selectors"_key:
            decode_device_selectors(*f, out.selectors);
            return true;
        case "allocationMode"_key: {
            std::string_view mode;
            f->read(mode);
            if (mode == "All")
                out.mode = DeviceCount::kAll;
            else if (!mode.empty() && mode != "ExactCount")
                note_trouble(out.trouble, fmt::format("allocation mode {} is not supported", mode));
            return true;
        }
        case "count"_key:
            if (!f->is_null()) f->read(out.count);
            if (out.count == 0) out.count = 1;
            if (out.count < 0) note_trouble(out.trouble, fmt::format("a count of {} makes no sense", out.count));
            return true;
        case "adminAccess"_key:
            if (!f->is_null()) f->read(out.admin);
            return true;
        case "tolerations"_key:
            for (Items item(*f); item.next();)
                decode_toleration(*item, out.tolerations);
            return true;
        case "capacity"_key:
            if (f->is_null()) return true;
            for (Fields field(*f); field.next();) {
                if (field.id() == "requests"_key && !field->is_null()) decode_amounts(*field, out);
            }
            return true;
        case "derivedAttributes"_key:
            if (!f->is_null()) note_trouble(out.trouble, "derivedAttributes are not supported");
            return true;
        default:
            return false;
    }
}

void decode_request(Cursor& at, DeviceRequest& out) {
    DeviceWish flat;
    bool wrapped = false;  // has `exactly`
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "name"_key:
                f->read(out.name);
                break;
            case "exactly"_key:
                if (f->is_null()) break;
                wrapped = true;
                for (Fields field(*f); field.next();)
                    static_cast<void>(decode_wish_field(field, flat));
                break;
            case "firstAvailable"_key:
                if (f->is_null()) break;
                for (Items item(*f); item.next();) {
                    out.first_available = true;
                    DeviceWish& wish = out.wishes.emplace_back();
                    for (Fields field(*item); field.next();) {
                        if (field.id() == "name"_key)
                            field->read(wish.name);
                        else
                            static_cast<void>(decode_wish_field(field, wish));
                    }
                }
                break;
            default:
                static_cast<void>(decode_wish_field(f, flat));
                break;
        }
    }
    if (!out.first_available) out.wishes.push_back(std::move(flat));
    if (wrapped && out.first_available)
        note_trouble(out.wishes.front().trouble, "has both `exactly` and `firstAvailable`");
    if (const auto twice = named_twice(out.wishes, &DeviceWish::name); twice && out.first_available)
        note_trouble(out.wishes.front().trouble,
                     fmt::format("two alternatives are called \"{}\"", at.words().text(*twice)));
    for (DeviceWish& wish : out.wishes) {
        if (!wish.cls && wish.trouble.empty())
            wish.trouble = wrapped || out.first_available ? "has no device class"
                                                          : "has no device class (an unknown kind of request?)";
    }
}

void decode_constraint(Cursor& at, ClaimSpec& spec) {
    DeviceConstraint out;
    bool known = false;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "requests"_key:
                f->read(out.requests);
                break;
            case "matchAttribute"_key:
            case "distinctAttribute"_key: {
                if (f->is_null()) break;
                std::string_view name;
                f->read(name);
                out.attribute = qualified(at.words(), name, {});
                out.distinct = f.id() == "distinctAttribute"_key;
                known = true;
                break;
            }
            default:
                break;
        }
    }
    if (!known)
        note_trouble(
            spec.trouble,
            fmt::format("constraint #{} is empty, or of a kind that is not supported", spec.constraints.size()));
    spec.constraints.push_back(std::move(out));
}

}  // namespace

void note_trouble(std::string& trouble, std::string sentence) {
    if (trouble.empty()) trouble = std::move(sentence);
}

void read_amount(Cursor& at, Wide& out, std::string& trouble) {
    std::string_view text;
    at.read_quantity_text(text);
    if (at.reading().failed()) return;
    if (const Result<Wide> nano = parse_nano_quantity(text))
        out = *nano;
    else
        note_trouble(trouble, nano.error().message);
}

QualifiedName qualified(Vocabulary& words, std::string_view text, std::string_view driver) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return {words.string(driver), words.string(text)};
    return {words.string(text.substr(0, slash)), words.string(text.substr(slash + 1))};
}

void decode_device_selectors(Cursor& at, std::vector<DeviceSelector>& out) {
    for (Items item(at); item.next();) {
        DeviceSelector& selector = out.emplace_back();
        for (Fields f(*item); f.next();) {
            if (f.id() != "cel"_key || f->is_null()) continue;
            for (Fields field(*f); field.next();) {
                if (field.id() == "expression"_key) field->read(selector.expression);
            }
        }
    }
}

void decode_device_taint(Cursor& at, DeviceTaint& out) {
    for (Fields f(at); f.next();) {
        std::string_view effect;
        switch (f.id()) {
            case "key"_key:
                f->read(out.key);
                break;
            case "value"_key:
                f->read(out.value);
                break;
            case "effect"_key:
                f->read(effect);
                out.effect = effect_from(effect).value_or(DeviceTaintEffect::kOther);
                break;
            default:
                break;
        }
    }
}

void decode_claim_spec(Cursor& at, ClaimSpec& out) {
    for (Fields f(at); f.next();) {
        if (f.id() != "devices"_key || f->is_null()) continue;
        for (Fields field(*f); field.next();) {
            if (field->is_null()) continue;
            if (field.id() == "requests"_key) {
                for (Items item(*field); item.next();)
                    decode_request(*item, out.requests.emplace_back());
            } else if (field.id() == "constraints"_key) {
                for (Items item(*field); item.next();)
                    decode_constraint(*item, out);
            }
        }
    }
    if (const auto twice = named_twice(out.requests, &DeviceRequest::name))
        note_trouble(out.trouble, fmt::format("two requests are called \"{}\"", at.words().text(*twice)));
}

}  // namespace reprieve
