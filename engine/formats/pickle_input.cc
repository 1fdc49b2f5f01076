#include "engine/formats/pickle_input.h"

#include <algorithm>
#include <utility>

namespace rekey {
namespace {

constexpr uint64_t kReadAhead = uint64_t{64} << 10;

}  // namespace

PickleInput::PickleInput(std::string_view bytes) : size_(bytes.size()), window_(bytes) {}

PickleInput::PickleInput(const InputFile& file, uint64_t begin, uint64_t end)
    : file_(&file), begin_(begin), size_(end - begin) {}

bool PickleInput::Fill(uint64_t bytes) {
  if (bytes > remaining()) return false;
  if (bytes <= window_.size() - at_) return true;
  if (!status_.ok()) return false;
  const std::string_view rest = Window();
  // Twice what is there, so that a line that grows is not read again and again.
  const uint64_t wanted = std::max({bytes, kReadAhead, 2 * uint64_t{rest.size()}});
  const uint64_t all = std::min(wanted, remaining());
  std::string grown;
  grown.reserve(all);
  grown.append(rest);
  grown.resize(all);
  status_ = file_->ReadAt(begin_ + position_ + rest.size(), grown.data() + rest.size(),
                          all - rest.size());
  if (!status_.ok()) return false;
  buffer_ = std::move(grown);
  window_ = buffer_;
  at_ = 0;
  return true;
}

const char* PickleInput::Take(uint64_t bytes) {
  if (!Fill(bytes)) return nullptr;
  const char* at = window_.data() + at_;
  at_ += bytes;
  position_ += bytes;
  return at;
}

std::optional<std::string_view> PickleInput::TakeLine() {
  size_t searched = 0;
  for (;;) {
    const size_t end = Window().find('\n', searched);
    if (end != std::string_view::npos) return std::string_view(Take(end + 1), end);
    searched = Window().size();
    if (searched >= kMaxLine || !Fill(searched + 1)) return std::nullopt;
  }
}

}  // namespace rekey
