#include "grammar/suggest.h"

#include <algorithm>
#include <utility>

namespace rekey {

size_t EditDistance(std::string_view a, std::string_view b, size_t limit) {
  const size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap > limit) return limit + 1;
  // Three rows of the table: a swap looks two rows back.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    size_t least = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
      least = std::min(least, row[j]);
    }
    // A swap reaches from the row before the last, so that one must be hopeless as well.
    if (least > limit && *std::min_element(last.begin(), last.end()) > limit) return limit + 1;
    std::swap(before, last);
    std::swap(last, row);
  }
  return std::min(last[b.size()], limit + 1);
}

std::vector<std::string_view> Nearest(std::string_view word,
                                      const std::vector<std::string_view>& candidates,
                                      size_t count) {
  const size_t limit = word.size() < 3 ? 1 : (word.size() + 2) / 3;
  std::vector<std::pair<size_t, std::string_view>> near;
  for (std::string_view candidate : candidates) {
    // A word shares something with what it was meant to be: not all of it may be replaced.
    const size_t distance = EditDistance(word, candidate, limit);
    if (distance <= limit && distance < std::max(word.size(), candidate.size()))
      near.emplace_back(distance, candidate);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::string_view> words;
  for (const auto& [distance, candidate] : near) {
    if (words.size() == count) break;
    if (std::find(words.begin(), words.end(), candidate) == words.end()) words.push_back(candidate);
  }
  return words;
}

}  // namespace rekey
