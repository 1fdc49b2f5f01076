#include "engine/near_miss.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "engine/regex.h"

namespace rekey {
namespace {

constexpr size_t kMostFamilies = 4000;
constexpr size_t kMostCharacters = 300;  // longer keys are not compared

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The key with each run of digits written as one 0.
std::string FamilyOf(std::string_view key) {
  std::string family;
  for (const char c : key)
    if (!IsDigit(c)) {
      family += c;
    } else if (family.empty() || family.back() != '0') {
      family += '0';
    }
  return family;
}

// The end of the group that opens at `at`, that is behind its `)`.
size_t EndOfGroup(std::string_view regex, size_t at) {
  size_t depth = 0;
  bool in_class = false;
  for (; at < regex.size(); ++at) {
    const char c = regex[at];
    if (c == '\\') {
      ++at;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && --depth == 0) {
      return at + 1;
    }
  }
  return regex.size();
}

}  // namespace

// --- PatternShape -------------------------------------------------------------------------------

PatternShape PatternShape::OfText(std::string_view text) {
  PatternShape shape;
  for (const char c : text) shape.tokens_.push_back({Kind::kLiteral, c});
  return shape;
}

// Reads RE2 text loosely: what is not plainly literal becomes a wildcard.
PatternShape::PatternShape(const KeyPattern& pattern) {
  if (pattern.is_literal) {
    *this = OfText(pattern.prefix);
    return;
  }
  const std::string_view regex = pattern.regex;
  const auto wild = [&](Kind kind) {
    if (tokens_.empty() || tokens_.back().kind != kind) tokens_.push_back({kind, 0});
  };
  for (size_t i = 0; i < regex.size(); ++i) {
    const char c = regex[i];
    if (c == '(') {
      const size_t end = EndOfGroup(regex, i);
      const std::string_view group = regex.substr(i, end - i);
      // A group of literal text, as a regex piece is wrapped in, is read through.
      if (group.starts_with("(?:") && group.find('|') == std::string_view::npos) {
        i += 2;
        continue;
      }
      if (group == "(.+)" || group == "(.*)") {
        wild(Kind::kAny);
      } else if (group.find("\\d") != std::string_view::npos &&
                 group.find('|') == std::string_view::npos) {
        wild(Kind::kDigits);
      } else {
        wild(Kind::kSegment);
      }
      i = end - 1;
    } else if (c == '\\' && i + 1 < regex.size()) {
      const char next = regex[++i];
      if (next == 'd') {
        wild(Kind::kDigits);
      } else if ((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z')) {
        wild(Kind::kSegment);
      } else {
        tokens_.push_back({Kind::kLiteral, next});
      }
    } else if (c == '[') {
      const size_t end = regex.find(']', i + 2);
      wild(Kind::kSegment);
      i = end == std::string_view::npos ? regex.size() : end;
    } else if (c == '.') {
      wild(Kind::kAny);
    } else if (c == ')' || c == '+' || c == '*' || c == '?' || c == '^' || c == '$') {
      continue;
    } else {
      tokens_.push_back({Kind::kLiteral, c});
    }
  }
}

bool PatternShape::Takes(const Token& token, char c) {
  switch (token.kind) {
    case Kind::kLiteral:
      return token.c == c;
    case Kind::kDigits:
      return IsDigit(c);
    case Kind::kSegment:
      return c != '.' && c != '/';
    case Kind::kAny:
      return true;
  }
  return false;
}

size_t PatternShape::limit() const {
  const size_t literal =
      static_cast<size_t>(std::count_if(tokens_.begin(), tokens_.end(), [](const Token& token) {
        return token.kind == Kind::kLiteral;
      }));
  return std::min<size_t>((literal + 2) / 3, 12);
}

// Edit distance, one row a character of the key. A wildcard takes one character or more for free.
size_t PatternShape::Distance(std::string_view key, size_t limit) const {
  const size_t n = tokens_.size();
  std::vector<size_t> last(n + 1), row(n + 1);
  for (size_t i = 0; i <= n; ++i) last[i] = i;
  for (size_t j = 1; j <= key.size(); ++j) {
    const char c = key[j - 1];
    row[0] = j;
    size_t least = j;
    for (size_t i = 1; i <= n; ++i) {
      const Token& token = tokens_[i - 1];
      const bool takes = Takes(token, c);
      size_t best = std::min(last[i - 1] + (takes ? 0 : 1), row[i - 1] + 1);
      best = std::min(best, last[i] + (takes && token.kind != Kind::kLiteral ? 0 : 1));
      row[i] = best;
      least = std::min(least, best);
    }
    if (least > limit) return limit + 1;
    std::swap(last, row);
  }
  return std::min(last[n], limit + 1);
}

// --- KeyFamilies --------------------------------------------------------------------------------

template <typename Keys>
void KeyFamilies::Fold(const Keys& keys) {
  std::unordered_set<std::string> known;
  for (const auto& key : keys) {
    if (first_.size() == kMostFamilies) break;
    std::string_view text;
    if constexpr (std::is_same_v<std::decay_t<decltype(key)>, LiveKey>) {
      text = key.key;
    } else {
      text = key;
    }
    if (text.size() <= kMostCharacters && known.insert(FamilyOf(text)).second)
      first_.push_back(text);
  }
}

KeyFamilies::KeyFamilies(const std::vector<LiveKey>& keys) { Fold(keys); }
KeyFamilies::KeyFamilies(const std::vector<std::string_view>& keys) { Fold(keys); }

std::vector<std::string> KeyFamilies::Nearest(const PatternShape& shape, size_t count) const {
  std::vector<std::pair<size_t, std::string_view>> near;
  size_t limit = shape.limit();
  for (const std::string_view key : first_) {
    const size_t distance = shape.Distance(key, limit);
    if (distance > limit) continue;
    near.emplace_back(distance, key);
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (near.size() > count) near.pop_back();
    if (near.size() == count) limit = std::min(limit, near.back().first);
  }
  std::vector<std::string> keys;
  for (const auto& [distance, key] : near) keys.emplace_back(key);
  return keys;
}

std::vector<std::string> KeyFamilies::Nearest(std::string_view key, size_t count) const {
  if (key.size() > kMostCharacters) return {};
  return Nearest(PatternShape::OfText(key), count);
}

std::vector<std::string> NearestKeys(std::string_view key, const std::vector<LiveKey>& keys) {
  return KeyFamilies(keys).Nearest(key);
}

// --- Narrow holes -------------------------------------------------------------------------------

std::optional<NarrowHole> FindNarrowHole(const KeyPattern& pattern,
                                         const std::vector<Variable>& variables,
                                         const std::vector<std::string_view>& keys) {
  constexpr std::string_view kNarrow = "([^./]+)";
  int group = 0;
  for (size_t at = 0; at < pattern.regex.size(); ++at) {
    const char c = pattern.regex[at];
    if (c == '\\') {
      ++at;
      continue;
    }
    if (c != '(' || pattern.regex.compare(at, 2, "(?") == 0) continue;
    ++group;
    if (pattern.regex.compare(at, kNarrow.size(), kNarrow) != 0) continue;
    const auto number = std::find(pattern.groups.begin(), pattern.groups.end(), group);
    if (number == pattern.groups.end()) continue;
    std::string wide = pattern.regex;
    wide.replace(at, kNarrow.size(), "(.+)");
    const re2::RE2 re(wide, RegexOptions());
    if (!re.ok()) continue;
    for (const std::string_view key : keys) {
      if (!key.starts_with(pattern.prefix)) continue;
      if (re.Match(re2::StringPiece(key.data(), key.size()), 0, key.size(), re2::RE2::ANCHOR_BOTH,
                   nullptr, 0))
        return NarrowHole{variables[static_cast<size_t>(number - pattern.groups.begin())].name,
                          key};
    }
  }
  return std::nullopt;
}

}  // namespace rekey
