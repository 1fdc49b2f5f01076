#include "grammar/source.h"

#include <algorithm>
#include <utility>

namespace rekey {

Source::Source(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)), line_starts_{0} {
  for (size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(static_cast<uint32_t>(i + 1));
}

Location Source::Locate(uint32_t offset) const {
  auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<uint32_t>(after - line_starts_.begin());
  return {line, offset - line_starts_[line - 1] + 1};
}

std::string_view Source::Line(uint32_t number) const {
  if (number < 1 || number > line_starts_.size()) return {};
  const size_t begin = line_starts_[number - 1];
  size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace rekey
