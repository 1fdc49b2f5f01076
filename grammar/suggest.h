// "Did you mean": the real names nearest to a mistyped one, by edit distance.
//
//   Nearest("strpi", {"strip", "split", "map"})   // {"strip"}
#ifndef REKEY_GRAMMAR_SUGGEST_H_
#define REKEY_GRAMMAR_SUGGEST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rekey {

// Damerau-Levenshtein distance (insert, delete, replace, swap of neighbours), or `limit` + 1 as
// soon as it is known to be greater than `limit`.
size_t EditDistance(std::string_view a, std::string_view b, size_t limit);

// At most `count` of `candidates`, nearest first, those within about a third of the word's length;
// ties in the order given. Words are not copied: the views point into `candidates`.
std::vector<std::string_view> Nearest(std::string_view word,
                                      const std::vector<std::string_view>& candidates,
                                      size_t count = 3);

}  // namespace rekey

#endif  // REKEY_GRAMMAR_SUGGEST_H_
