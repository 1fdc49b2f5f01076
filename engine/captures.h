// The variables of a key that is known to fit its pattern.
//
// RE2 finds captures by general means, which cost more than all of the matching (rule_set.h). Most
// patterns can be read one way only: every hole ends where its class must end, at a dot or at a
// character that is no digit. Those are taken apart by hand; all others go to KeyPattern::Match.
// The result is the same.
//
//   Captures captures(pattern);                      // `layers.{i:int}.{x}.weight`
//   captures.Read("layers.12.attn.weight", &v);      // {"12", "attn"}
#ifndef REKEY_ENGINE_CAPTURES_H_
#define REKEY_ENGINE_CAPTURES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/pattern.h"

namespace rekey {

class Captures {
 public:
  // The pattern must outlive the object.
  explicit Captures(const KeyPattern& pattern);

  // As pattern.Match(key, variables), for a key that matches. False if it does not after all.
  bool Read(std::string_view key, std::vector<std::string_view>* variables) const;

  // True if RE2 is not needed.
  bool is_simple() const { return simple_; }

 private:
  enum class Kind { kText, kDigits, kSegment, kAny };
  struct Piece {
    Kind kind;
    std::string text;   // kText
    int variable = -1;  // else
  };
  bool Parse();
  bool IsDetermined();
  bool Forward(std::string_view key, size_t end, size_t* at,
               std::vector<std::string_view>* variables) const;
  bool Backward(std::string_view key, size_t begin, size_t* at,
                std::vector<std::string_view>* variables) const;

  const KeyPattern* pattern_;
  bool simple_ = false;
  std::vector<Piece> pieces_;
  size_t any_ = 0;  // the place of the one kAny piece; pieces_.size() if there is none
};

}  // namespace rekey

#endif  // REKEY_ENGINE_CAPTURES_H_
