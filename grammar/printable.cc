#include "grammar/printable.h"

#include <cstdint>
#include <cstdio>

namespace rekey {
namespace {

std::string Hex(const char* format, unsigned value) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

// Characters that move the cursor, change the reading order or cannot be seen.
bool Hidden(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xad || c == 0x61c ||
         (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

}  // namespace

size_t DecodeUtf8(std::string_view text, char32_t* code) {
  if (text.empty()) return 0;
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) {
    *code = first;
    return 1;
  }
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  char32_t c = first & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    c = c << 6 | (byte(i) & 0x3f);
  }
  const char32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return 0;
  *code = c;
  return length;
}

size_t ValidUtf8(std::string_view text) {
  size_t at = 0;
  char32_t code;
  while (at < text.size()) {
    const size_t length = DecodeUtf8(text.substr(at), &code);
    if (length == 0) break;
    at += length;
  }
  return at;
}

Glyph FirstGlyph(std::string_view text) {
  char32_t code = 0;
  const size_t bytes = DecodeUtf8(text, &code);
  if (bytes == 0) return {Hex("\\x%02x", static_cast<uint8_t>(text[0])), 1, 4};
  if (!Hidden(code)) return {std::string(text.substr(0, bytes)), bytes, 1};
  std::string shown = code == '\n'   ? "\\n"
                      : code == '\r' ? "\\r"
                      : code == '\t' ? "\\t"
                      : code < 0x80  ? Hex("\\x%02x", code)
                                     : Hex("\\u{%x}", code);
  const size_t width = shown.size();
  return {std::move(shown), bytes, width};
}

std::string Printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    Glyph glyph = FirstGlyph(text);
    out += glyph.shown;
    text.remove_prefix(glyph.bytes);
  }
  return out;
}

}  // namespace rekey
