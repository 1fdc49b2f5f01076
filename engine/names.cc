#include "engine/names.h"

#include <utility>

#include "engine/dtype.h"

namespace rekey {
namespace {

bool IsFunction(std::string_view word) { return word == "dots" || word == "slashes"; }

const char* What(Declared::Kind kind) {
  return kind == Declared::Kind::kParam ? "param" : kind == Declared::Kind::kLet ? "let" : "table";
}

Diagnostic Reserved(const std::string& name, Span span) {
  return Error("reserved-name", "`" + name + "` cannot be declared")
      .At(span, "a word of the language")
      .Help("choose another name");
}

}  // namespace

bool IsValueWord(std::string_view word) {
  return word == "true" || word == "false" || DTypeByName(word).has_value();
}

void Names::Declare(Declared name, Diagnostics* diagnostics) {
  if (IsValueWord(name.name) || IsFunction(name.name))
    diagnostics->push_back(Reserved(name.name, name.span));
  const auto [it, is_new] = index_.emplace(name.name, names_.size());
  if (is_new) {
    names_.push_back(std::move(name));
    return;
  }
  const Declared& first = names_[it->second];
  diagnostics->push_back(Error("duplicate-name", std::string("the ") + What(first.kind) + " `" +
                                                     name.name + "` is declared twice")
                             .At(name.span, "the second time")
                             .Also(first.span, "the first time"));
}

const Declared* Names::Find(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? nullptr : &names_[it->second];
}

const Declared* Names::Use(std::string_view name) {
  const auto it = index_.find(name);
  if (it == index_.end()) return nullptr;
  names_[it->second].used = true;
  return &names_[it->second];
}

Span Names::PlaceOf(std::string_view name) const {
  if (const Declared* declared = Find(name)) return declared->span;
  const auto it = announced_.find(name);
  return it == announced_.end() ? Span() : it->second;
}

void CheckHoleName(const Names& names, const std::string& name, Span span,
                   Diagnostics* diagnostics) {
  if (IsValueWord(name)) diagnostics->push_back(Reserved(name, span));
  const Declared* taken = names.Find(name);
  if (taken == nullptr || taken->kind == Declared::Kind::kTable) return;
  diagnostics->push_back(
      Error("hole-name", "the hole `" + name + "` is named like a " + What(taken->kind))
          .At(span, "the hole")
          .Also(taken->span, std::string("the ") + What(taken->kind))
          .Help("give the hole another name"));
}

}  // namespace rekey
