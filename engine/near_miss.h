// Near misses: the real keys closest to a key or pattern that matched nothing.
//
// A checkpoint may have a million keys and a rule file hundreds of rules, so keys are first folded
// into families (`layers.0.w`, `layers.17.w` are one), of which a bounded number is compared, by
// edit distance in which a hole costs nothing. Work is bounded and the answer is the same each
// time; it is a hint to a person, never a decision.
//
//   KeyFamilies families(keys);
//   families.Nearest("model.norm.weigth", 3)          // {"model.norm.weight"}
#ifndef REKEY_ENGINE_NEAR_MISS_H_
#define REKEY_ENGINE_NEAR_MISS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/live_keys.h"
#include "engine/pattern.h"
#include "engine/program.h"

namespace rekey {

// A pattern as a string with wildcards, for edit distance alone.
class PatternShape {
 public:
  explicit PatternShape(const KeyPattern& pattern);
  static PatternShape OfText(std::string_view text);

  // The edits that make `key` fit, or `limit` + 1 if there are more than `limit`.
  size_t Distance(std::string_view key, size_t limit) const;
  // How many edits still make a near miss: about a third of the literal text.
  size_t limit() const;

 private:
  enum class Kind : uint8_t { kLiteral, kDigits, kSegment, kAny };
  struct Token {
    Kind kind;
    char c;
  };
  PatternShape() = default;
  static bool Takes(const Token& token, char c);
  std::vector<Token> tokens_;
};

class KeyFamilies {
 public:
  explicit KeyFamilies(const std::vector<LiveKey>& keys);
  explicit KeyFamilies(const std::vector<std::string_view>& keys);

  // The first key of each family, in the order of the keys.
  const std::vector<std::string_view>& keys() const { return first_; }

  // The nearest first; at most `count`.
  std::vector<std::string> Nearest(const PatternShape& shape, size_t count = 3) const;
  std::vector<std::string> Nearest(std::string_view key, size_t count = 3) const;

 private:
  template <typename Keys>
  void Fold(const Keys& keys);
  std::vector<std::string_view> first_;
};

// The same for one question.
std::vector<std::string> NearestKeys(std::string_view key, const std::vector<LiveKey>& keys);

// A hole that stands for one segment and kept the pattern from matching one of the keys: its name
// and that key. `{p:any}` would have matched it.
struct NarrowHole {
  std::string name;
  std::string_view key;
};
std::optional<NarrowHole> FindNarrowHole(const KeyPattern& pattern,
                                         const std::vector<Variable>& variables,
                                         const std::vector<std::string_view>& keys);

}  // namespace rekey

#endif  // REKEY_ENGINE_NEAR_MISS_H_
