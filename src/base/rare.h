// Rare: a value that is hardly ever anything but its default. It takes one pointer then, and no memory of its own.
#pragma once

#include <memory>
#include <utility>

namespace reprieve {

template <class T>
class Rare {
public:
    Rare() = default;
    explicit Rare(T value) : value_(std::make_unique<T>(std::move(value))) {}
    Rare(const Rare& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
    Rare(Rare&&) noexcept = default;
    Rare& operator=(const Rare& other) {
        if (this != &other) value_ = other.value_ ? std::make_unique<T>(*other.value_) : nullptr;
        return *this;
    }
    Rare& operator=(Rare&&) noexcept = default;
    ~Rare() = default;

    // Whether it was ever made something else.
    [[nodiscard]] bool made() const { return value_ != nullptr; }
    [[nodiscard]] const T& operator*() const { return value_ ? *value_ : usual(); }
    [[nodiscard]] const T* operator->() const { return &**this; }
    // To be changed.
    T& make() {
        if (!value_) value_ = std::make_unique<T>();
        return *value_;
    }
    friend bool operator==(const Rare& a, const Rare& b) { return *a == *b; }

private:
    static const T& usual() {
        static const T kUsual{};
        return kUsual;
    }
    std::unique_ptr<T> value_;
};

}  // namespace reprieve
