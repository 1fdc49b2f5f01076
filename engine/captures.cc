#include "engine/captures.h"

#include <algorithm>

namespace rekey {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSeparator(char c) { return c == '.' || c == '/'; }

}  // namespace

Captures::Captures(const KeyPattern& pattern) : pattern_(&pattern) {
  simple_ = !pattern.is_literal && Parse() && IsDetermined();
}

// Reads the pattern's regex as literal text and plain holes; false if there is anything else.
bool Captures::Parse() {
  std::string_view regex = pattern_->regex;
  // A /regex/ is wrapped in a group of its own, so that its alternatives end with it.
  if (regex.starts_with("(?:") && regex.ends_with(')') && !regex.ends_with("\\)"))
    regex = regex.substr(3, regex.size() - 4);
  int group = 0;
  const auto hole = [&](std::string_view text, Kind kind) {
    if (!regex.starts_with(text)) return false;
    const auto at = std::find(pattern_->groups.begin(), pattern_->groups.end(), ++group);
    const bool known = at != pattern_->groups.end();
    pieces_.push_back({kind, "", known ? static_cast<int>(at - pattern_->groups.begin()) : -1});
    regex.remove_prefix(text.size());
    return true;
  };
  const auto literal = [&](char c) {
    if (pieces_.empty() || pieces_.back().kind != Kind::kText)
      pieces_.push_back({Kind::kText, "", -1});
    pieces_.back().text += c;
  };
  while (!regex.empty()) {
    const char c = regex[0];
    if (hole("(\\d+)", Kind::kDigits) || hole("([^./]+)", Kind::kSegment) ||
        hole("(.+)", Kind::kAny))
      continue;
    if (std::string_view("()[]{}.*+?|^$").find(c) != std::string_view::npos) return false;
    if (c != '\\') {
      literal(c);
      regex.remove_prefix(1);
      continue;
    }
    if (regex.size() < 2) return false;
    const char next = regex[1];
    const bool letter = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
    if (letter || IsDigit(next) || static_cast<unsigned char>(next) >= 0x80) return false;
    literal(next);
    regex.remove_prefix(2);
  }
  return true;
}

// True if every hole ends where it must: before the one open-ended hole on its right, after it on
// its left.
bool Captures::IsDetermined() {
  const auto is_any = [](const Piece& piece) { return piece.kind == Kind::kAny; };
  if (std::count_if(pieces_.begin(), pieces_.end(), is_any) > 1) return false;
  any_ =
      static_cast<size_t>(std::find_if(pieces_.begin(), pieces_.end(), is_any) - pieces_.begin());
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (piece.kind != Kind::kDigits && piece.kind != Kind::kSegment) continue;
    const bool forward = i < any_;
    if (forward && i + 1 == pieces_.size()) continue;
    if (!forward && i == 0) continue;
    const Piece& next = pieces_[forward ? i + 1 : i - 1];
    if (next.kind != Kind::kText) return false;
    const char c = forward ? next.text.front() : next.text.back();
    if (piece.kind == Kind::kDigits ? IsDigit(c) : !IsSeparator(c)) return false;
  }
  return true;
}

bool Captures::Forward(std::string_view key, size_t end, size_t* at,
                       std::vector<std::string_view>* variables) const {
  for (size_t i = 0; i < any_; ++i) {
    const Piece& piece = pieces_[i];
    const size_t begin = *at;
    if (piece.kind == Kind::kText) {
      if (key.compare(begin, piece.text.size(), piece.text) != 0) return false;
      *at += piece.text.size();
      continue;
    }
    if (piece.kind == Kind::kDigits) {
      while (*at < end && IsDigit(key[*at])) ++*at;
    } else {
      while (*at < end && !IsSeparator(key[*at])) ++*at;
    }
    if (*at == begin) return false;
    if (piece.variable >= 0)
      (*variables)[static_cast<size_t>(piece.variable)] = key.substr(begin, *at - begin);
  }
  return true;
}

// From the end of the key down to the open-ended hole.
bool Captures::Backward(std::string_view key, size_t begin, size_t* at,
                        std::vector<std::string_view>* variables) const {
  for (size_t i = pieces_.size(); i > any_ + 1; --i) {
    const Piece& piece = pieces_[i - 1];
    const size_t end = *at;
    if (piece.kind == Kind::kText) {
      if (end - begin < piece.text.size()) return false;
      *at -= piece.text.size();
      if (key.compare(*at, piece.text.size(), piece.text) != 0) return false;
      continue;
    }
    if (piece.kind == Kind::kDigits) {
      while (*at > begin && IsDigit(key[*at - 1])) --*at;
    } else {
      while (*at > begin && !IsSeparator(key[*at - 1])) --*at;
    }
    if (*at == end) return false;
    if (piece.variable >= 0)
      (*variables)[static_cast<size_t>(piece.variable)] = key.substr(*at, end - *at);
  }
  return true;
}

bool Captures::Read(std::string_view key, std::vector<std::string_view>* variables) const {
  if (!simple_) return pattern_->Match(key, variables);
  variables->assign(pattern_->groups.size(), std::string_view());
  size_t begin = 0, end = key.size();
  if (!Forward(key, end, &begin, variables)) return false;
  if (any_ == pieces_.size()) return begin == end;
  if (!Backward(key, begin, &end, variables) || end <= begin) return false;
  const Piece& any = pieces_[any_];
  if (any.variable >= 0)
    (*variables)[static_cast<size_t>(any.variable)] = key.substr(begin, end - begin);
  return true;
}

}  // namespace rekey
