#pragma once
// An optional value that takes the room of a pointer while there is none: for what is large and mostly
// absent.

#include <memory>
#include <utility>

namespace lavant {

template <class T>
class Box {
 public:
    Box() = default;
    Box(T value) : value_(std::make_unique<T>(std::move(value))) {}  // implicit, as std::optional's
    Box(const Box& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
    Box(Box&&) noexcept = default;
    Box& operator=(const Box& other) {
        if (this != &other) value_ = other.value_ ? std::make_unique<T>(*other.value_) : nullptr;
        return *this;
    }
    Box& operator=(Box&&) noexcept = default;
    ~Box() = default;

    explicit operator bool() const { return value_ != nullptr; }
    bool has_value() const { return value_ != nullptr; }
    T& operator*() { return *value_; }
    const T& operator*() const { return *value_; }
    T* operator->() { return value_.get(); }
    const T* operator->() const { return value_.get(); }
    void reset() { value_.reset(); }

    bool operator==(const Box& other) const {
        if (!value_ || !other.value_) return !value_ && !other.value_;
        return *value_ == *other.value_;
    }

 private:
    std::unique_ptr<T> value_;
};

}  // namespace lavant
