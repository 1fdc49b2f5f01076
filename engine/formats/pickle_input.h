// The bytes of a pickle, from memory or from a part of a file, taken piece by piece.
//
// From a file it reads a window ahead and no more: in torch's legacy stream a few kilobytes of
// pickles stand before gigabytes of weights. It checks every length against the bytes that remain
// before it allocates. It knows no opcode.
//
//   PickleInput input(file, 0, file.size());
//   const char* length = input.Take(4);   // nullptr: fewer than four bytes remain
#ifndef REKEY_ENGINE_FORMATS_PICKLE_INPUT_H_
#define REKEY_ENGINE_FORMATS_PICKLE_INPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/file.h"
#include "engine/status.h"

namespace rekey {

class PickleInput {
 public:
  // The longest line of a text opcode; longer ones are refused as if the input ended.
  static constexpr uint64_t kMaxLine = uint64_t{64} << 20;

  explicit PickleInput(std::string_view bytes);
  // Bytes [begin, end) of the file, which must outlive this.
  PickleInput(const InputFile& file, uint64_t begin, uint64_t end);

  // Bytes taken so far.
  uint64_t position() const { return position_; }
  uint64_t remaining() const { return size_ - position_; }

  // The next `bytes` bytes, valid until the next call; nullptr if they are not there.
  const char* Take(uint64_t bytes);

  // The next line without its line feed, valid until the next call; nothing if no line feed comes.
  std::optional<std::string_view> TakeLine();

  // Why the file could not be read, if that is why a Take failed.
  const Status& status() const { return status_; }

 private:
  // True if `bytes` more bytes are in the window, reading ahead if need be.
  bool Fill(uint64_t bytes);
  std::string_view Window() const { return window_.substr(at_); }

  const InputFile* file_ = nullptr;
  uint64_t begin_ = 0;     // of the input in the file
  uint64_t size_ = 0;      // of the input
  uint64_t position_ = 0;  // in the input
  std::string buffer_;
  std::string_view window_;
  size_t at_ = 0;  // of `position_` in the window
  Status status_;
};

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_PICKLE_INPUT_H_
