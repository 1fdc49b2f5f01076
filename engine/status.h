// A value or the reason why there is none.
//
// Result<T> stands at every boundary of the engine: readers, the compiler, the planner, writers.
// The reason is a Diagnostic, because every failure ends in front of a person. It is not an
// exception; nothing in the engine throws across a file.
//
//   Result<Catalog> catalog = OpenCheckpoint(path, {});
//   if (!catalog.ok()) return catalog.error();
//   Use(*catalog);
//
//   REKEY_ASSIGN-style macros are left out on purpose: two plain lines say the same.
#ifndef REKEY_ENGINE_STATUS_H_
#define REKEY_ENGINE_STATUS_H_

#include <cassert>
#include <optional>
#include <utility>
#include <variant>

#include "grammar/diagnostic.h"

namespace rekey {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}           // NOLINT
  Result(Diagnostic error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Only when ok().
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  // Only when not ok().
  Diagnostic& error() & { return std::get<1>(state_); }
  const Diagnostic& error() const& { return std::get<1>(state_); }
  Diagnostic&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Diagnostic> state_;
};

// Success, or the reason of a failure.
class [[nodiscard]] Status {
 public:
  Status() = default;                                     // success
  Status(Diagnostic error) : error_(std::move(error)) {}  // NOLINT

  bool ok() const { return !error_.has_value(); }
  Diagnostic& error() & { return *error_; }
  const Diagnostic& error() const& { return *error_; }
  Diagnostic&& error() && { return std::move(*error_); }

 private:
  std::optional<Diagnostic> error_;
};

}  // namespace rekey

#endif  // REKEY_ENGINE_STATUS_H_
