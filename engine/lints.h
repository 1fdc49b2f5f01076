// The warnings of the rule language, by name.
//
// A warning's name stands in brackets behind its message and is the argument of --allow. `help
// lints` and the language reference print this table; a test holds it against the sources. Errors
// have names too, but cannot be allowed.
//
//   for (const Lint& lint : kLints) std::cout << lint.name << "  " << lint.what << "\n";
#ifndef REKEY_ENGINE_LINTS_H_
#define REKEY_ENGINE_LINTS_H_

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/diagnostic.h"

namespace rekey {

struct Lint {
  std::string_view name;
  std::string_view what;  // one line
};

inline constexpr auto kLints = std::to_array<Lint>({
    // While a rule file is compiled.
    {"redundant-anchor", "`^` or `$` at the end of a regex, which matches the whole key anyway"},
    {"unescaped-dot", "`.` in a regex where a dot between names is meant"},
    {"leading-any", "`.*` in front of a regex, which also matches half a segment"},
    {"unused-group", "a group of a regex that the target does not use"},
    {"unused-hole", "a hole that the target does not use"},
    {"unused-param", "a param that nothing uses"},
    {"unused-let", "a let that nothing uses"},
    {"unused-table", "a table that nothing uses"},
    {"duplicate-word", "a word that stands twice in a hole"},
    {"empty-scope", "a scope without rules"},
    // When the rules meet a checkpoint's keys.
    {"unused-rule", "a rule that claims no key"},
    {"unused-edit", "a strip or rename that changes no key"},
    {"shadowed-rule", "a rule whose keys are all claimed by earlier rules"},
    {"empty-segment", "a key with an empty segment, as `a..b`, after an edit"},
    {"nothing-remapped", "no rule or edit touches any key"},
    // When a checkpoint is read.
    {"entries-left-out", "entries of a pickle that may hold tensors and are not read"},
    {"tensors-left-out", "tensors of a kind that is not read, such as sparse ones"},
    {"not-tensors", "entries of the state_dict that are no tensors"},
    {"left-out", "files of a folder that no `source` line takes"},
    {"metadata-differs", "a metadata entry that differs between the files"},
    {"pieces", "a file that holds one rank's pieces of tensors"},
    {"unlisted-key", "tensors of a shard that the index does not name"},
    // What the program says of a run.
    {"not-called", "a pickle that names callables; none was called"},
    {"passed-keys", "keys that the default `else pass` let through as they were"},
});

inline bool IsLint(std::string_view name) {
  return std::any_of(kLints.begin(), kLints.end(),
                     [name](const Lint& lint) { return lint.name == name; });
}

// Those that remain when the lints named in `allow` are taken out, even where `strict` made errors
// of them. Errors that are no lints always remain.
Diagnostics WithoutAllowed(Diagnostics diagnostics, const std::vector<std::string>& allow);

}  // namespace rekey

#endif  // REKEY_ENGINE_LINTS_H_
