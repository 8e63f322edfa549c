#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace headwater {

// A unique_ptr to a polymorphic object that is copied along with its owner: a copy of the pointer
// owns a clone() of the object. A class that holds one needs no copy constructor of its own.
template <class T>
class ClonePointer {
 public:
  ClonePointer() = default;
  template <class U>
  requires std::convertible_to<std::unique_ptr<U>, std::unique_ptr<T>> ClonePointer(
      std::unique_ptr<U> object)
      : object_(std::move(object)) {}

  ClonePointer(const ClonePointer& other)
      : object_(other.object_ ? other.object_->clone() : nullptr) {}
  ClonePointer(ClonePointer&&) noexcept = default;
  ClonePointer& operator=(const ClonePointer& other) {
    if (this != &other) object_ = other.object_ ? other.object_->clone() : nullptr;
    return *this;
  }
  ClonePointer& operator=(ClonePointer&&) noexcept = default;
  ~ClonePointer() = default;

  T& operator*() const { return *object_; }
  T* operator->() const { return object_.get(); }
  T* get() const { return object_.get(); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  std::unique_ptr<T> object_;
};

}  // namespace headwater
