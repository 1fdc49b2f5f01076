#include "engine/formats/pickle_writer.h"

#include <bit>
#include <limits>
#include <utility>

namespace rekey {

PickleWriter::PickleWriter() : text_("\x80\x02") {}

void PickleWriter::Bytes(uint64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) text_.push_back(static_cast<char>(value >> (8 * i)));
}

void PickleWriter::Int(int64_t value) {
  if (value >= 0 && value <= 0xff) {
    Op('K');  // BININT1
    Bytes(static_cast<uint64_t>(value), 1);
  } else if (value >= 0 && value <= 0xffff) {
    Op('M');  // BININT2
    Bytes(static_cast<uint64_t>(value), 2);
  } else if (value >= std::numeric_limits<int32_t>::min() &&
             value <= std::numeric_limits<int32_t>::max()) {
    Op('J');  // BININT
    Bytes(static_cast<uint64_t>(value), 4);
  } else {
    // LONG1: two's complement in as few bytes as hold the sign.
    size_t count = 8;
    while ((value << (8 * (9 - count))) >> (8 * (9 - count)) == value) --count;
    Op('\x8a');
    Bytes(count, 1);
    Bytes(static_cast<uint64_t>(value), count);
  }
}

void PickleWriter::Float(double value) {
  Op('G');  // BINFLOAT, big endian
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8) text_.push_back(static_cast<char>(bits >> shift));
}

void PickleWriter::Text(std::string_view utf8) {
  Op('X');  // BINUNICODE
  Bytes(utf8.size(), 4);
  text_.append(utf8);
}

void PickleWriter::Word(std::string_view utf8) {
  std::string key(utf8);
  if (Fetch(key)) return;
  Text(utf8);
  Remember(std::move(key));
}

void PickleWriter::Global(std::string_view module, std::string_view name) {
  std::string spelling = "c";
  spelling.append(module).append("\n").append(name).append("\n");
  // A word may look like a global: the zero byte keeps them apart in the memo.
  std::string key = std::string(1, '\0') + spelling;
  if (Fetch(key)) return;
  text_.append(spelling);
  Remember(std::move(key));
}

bool PickleWriter::Fetch(const std::string& key) {
  const auto found = memo_.find(key);
  if (found == memo_.end()) return false;
  const bool small = found->second <= 0xff;
  Op(small ? 'h' : 'j');  // BINGET, LONG_BINGET
  Bytes(found->second, small ? 1 : 4);
  return true;
}

void PickleWriter::Remember(std::string key) {
  const auto index = static_cast<uint32_t>(memo_.size());
  const bool small = index <= 0xff;
  Op(small ? 'q' : 'r');  // BINPUT, LONG_BINPUT
  Bytes(index, small ? 1 : 4);
  memo_.emplace(std::move(key), index);
}

void PickleWriter::IntTuple(const Dims& values) {
  if (values.empty()) return EmptyTuple();
  if (values.size() > 3) Mark();
  for (int64_t value : values) Int(value);
  if (values.size() > 3) return Tuple();
  Op(static_cast<char>('\x84' + static_cast<int>(values.size())));  // TUPLE1 to TUPLE3
}

std::string PickleWriter::Finish() {
  Op('.');
  return std::move(text_);
}

}  // namespace rekey
