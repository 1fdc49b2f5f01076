// What a rule file declares: params, lets and tables, by name.
//
// One space of names for all three, in the order of declaration. It also remembers the names that
// are declared further down, so that a use before the declaration is told from a mistyped one, and
// which names were used, for the lints. It evaluates nothing: a let's Code is made by params.h.
//
//   names.Declare({Declared::Kind::kLet, "half", span, code}, &diagnostics);
//   if (const Declared* half = names.Use("half")) ... half->code
#ifndef REKEY_ENGINE_NAMES_H_
#define REKEY_ENGINE_NAMES_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/expr.h"
#include "grammar/diagnostic.h"

namespace rekey {

struct Declared {
  enum class Kind { kParam, kLet, kTable };
  Kind kind = Kind::kParam;
  std::string name;
  Span span;
  Code code;  // params and lets; of a table whose rows lack a param: that param, missing
  std::shared_ptr<const TableValues> table;
  bool included = false;  // declared in an included file
  bool used = false;
};

class Names {
 public:
  // Reports a name that is taken or means something in expressions.
  void Declare(Declared name, Diagnostics* diagnostics);

  // A name that Declare will be told of later.
  void Announce(const std::string& name, Span span) { announced_.emplace(name, span); }

  // Null when there is none (yet).
  const Declared* Find(std::string_view name) const;
  const Declared* Use(std::string_view name);
  // Where the name is declared, also further down; nowhere when it is not.
  Span PlaceOf(std::string_view name) const;

  const std::vector<Declared>& all() const { return names_; }

 private:
  std::vector<Declared> names_;
  std::map<std::string, size_t, std::less<>> index_;
  std::map<std::string, Span, std::less<>> announced_;
};

// True for words that expressions give a meaning: dtypes, `true`, `false`.
bool IsValueWord(std::string_view word);

// Reports a hole or loop name that a param, a let or the language has taken.
void CheckHoleName(const Names& names, const std::string& name, Span span,
                   Diagnostics* diagnostics);

}  // namespace rekey

#endif  // REKEY_ENGINE_NAMES_H_
