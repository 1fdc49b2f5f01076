#include "engine/formats/pickle_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

namespace rekey {
namespace {

// The number that `digits` spell in `base`; nothing if they are fewer than `count` or not digits.
std::optional<uint32_t> Digits(std::string_view text, size_t count, int base) {
  if (text.size() < count) return std::nullopt;
  uint32_t value = 0;
  const char* end = text.data() + count;
  const auto parsed = std::from_chars(text.data(), end, value, base);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto tail = [&](int shift) {
    out.push_back(static_cast<char>(0x80 | ((code >> shift) & 0x3f)));
  };
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xc0 | code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | code >> 12));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xf0 | code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// The byte for a one-letter escape.
std::optional<char> Letter(char c) {
  switch (c) {
    case '\\':
    case '\'':
    case '"':
      return c;
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return std::nullopt;
  }
}

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

}  // namespace

std::optional<std::string> Unquote(std::string_view literal) {
  if (literal.size() < 2 || literal.front() != literal.back()) return std::nullopt;
  if (literal.front() != '\'' && literal.front() != '"') return std::nullopt;
  const std::string_view text = literal.substr(1, literal.size() - 2);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out.push_back(text[i]);
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (const std::optional<char> letter = Letter(text[i])) {
      out.push_back(*letter);
    } else if (text[i] == 'x') {
      const std::optional<uint32_t> code = Digits(text.substr(i + 1), 2, 16);
      if (!code) return std::nullopt;
      out.push_back(static_cast<char>(*code));
      i += 2;
    } else if (IsOctal(text[i])) {
      size_t count = 1;
      while (count < 3 && i + count < text.size() && IsOctal(text[i + count])) ++count;
      out.push_back(static_cast<char>(*Digits(text.substr(i), count, 8)));
      i += count - 1;
    } else {  // Python keeps the backslash of an escape that it does not know
      out.push_back('\\');
      out.push_back(text[i]);
    }
  }
  return out;
}

std::optional<std::string> FromRawUnicodeEscape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == 'u' || text[i + 1] == 'U');
    if (!escape) {
      AppendUtf8(static_cast<unsigned char>(text[i]), out);
      continue;
    }
    const size_t count = text[i + 1] == 'u' ? 4 : 8;
    const std::optional<uint32_t> code = Digits(text.substr(i + 2), count, 16);
    if (!code || *code > 0x10ffff) return std::nullopt;
    AppendUtf8(*code, out);
    i += 1 + count;
  }
  return out;
}

std::string DecimalOfLittleEndian(std::string_view bytes) {
  std::vector<uint8_t> magnitude(bytes.begin(), bytes.end());
  const bool negative = !magnitude.empty() && (magnitude.back() & 0x80) != 0;
  if (negative) {
    unsigned carry = 1;
    for (uint8_t& byte : magnitude) {
      const unsigned sum = static_cast<uint8_t>(~byte) + carry;
      byte = static_cast<uint8_t>(sum);
      carry = sum >> 8;
    }
  }
  std::string digits;  // least first
  while (!magnitude.empty()) {
    unsigned rest = 0;
    for (size_t i = magnitude.size(); i-- > 0;) {
      const unsigned value = rest << 8 | magnitude[i];
      magnitude[i] = static_cast<uint8_t>(value / 10);
      rest = value % 10;
    }
    digits.push_back(static_cast<char>('0' + rest));
    while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  if (digits.empty()) digits = "0";
  if (negative) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace rekey
