// Patterns and targets of rules, compiled: one RE2 text each way in, one template each way out.
//
// KeyPattern matches a whole key and gives the rule's variables; KeyTarget prints a key from them.
// Neither knows of other rules: which rule wins is rule_set.h's business.
//
//   pattern of `layers.{i:int}.attn`  ->  regex `layers\.(\d+)\.attn`, prefix "layers."
//   target  of `blocks.{i + 1}.attn`  ->  "blocks." + Code + ".attn"
#ifndef REKEY_ENGINE_PATTERN_H_
#define REKEY_ENGINE_PATTERN_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/expr.h"
#include "engine/status.h"
#include "grammar/source.h"

namespace re2 {
class RE2;
}

namespace rekey {

struct KeyPattern {
  Span span;
  std::string regex;        // RE2 text without anchors; every hole is a capturing group
  bool is_regex = false;    // written as /.../ (or below a scope that is)
  bool is_literal = false;  // no holes: the key is exactly `prefix`
  std::string prefix;       // the literal text that every match begins with, possibly empty
  std::vector<int> groups;  // variable number -> RE2 group, -1 where this pattern lacks it
  std::shared_ptr<const re2::RE2> re;  // compiled; null when is_literal

  // True if the whole key matches; then `variables` has one text per variable (data() == nullptr
  // where there is none). The texts point into `key`.
  bool Match(std::string_view key, std::vector<std::string_view>* variables) const;
};

struct KeyTarget {
  struct Part {
    std::string text;            // literal text, or
    std::unique_ptr<Code> code;  // what to print
    int pad = 0;                 // {i:03}
    Part() = default;
    Part(const Part& other);
    Part(Part&&) noexcept = default;
    Part& operator=(const Part& other);
    Part& operator=(Part&&) noexcept = default;
  };
  Span span;
  std::vector<Part> parts;

  // Appends the key to `out`. Errors: those of the expressions, a result below 0.
  Status Print(const Env& env, std::string* out) const;
  bool is_literal() const;
};

}  // namespace rekey

#endif  // REKEY_ENGINE_PATTERN_H_
