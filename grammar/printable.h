// Text from a file or a checkpoint, made safe to look at.
//
// Keys and file names come from strangers: they may hold escape sequences, characters that reverse
// the reading order, or bytes that are not UTF-8. Printable writes such characters as escapes and
// leaves all others alone. It is for people's eyes only, never for output that is read back.
//
//   Printable("a\x1b[2J")     // "a\\x1b[2J"
//   ValidUtf8("ab\xff")       // 2
#ifndef REKEY_GRAMMAR_PRINTABLE_H_
#define REKEY_GRAMMAR_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace rekey {

// The bytes of the character that `text` begins with, or 0 if it is no well-formed UTF-8 (or
// empty): no overlong forms, no surrogates, nothing above U+10FFFF. `code` receives its number.
size_t DecodeUtf8(std::string_view text, char32_t* code);

// The length of the longest beginning of `text` that is UTF-8: all of it if text is.
size_t ValidUtf8(std::string_view text);

// The first character of `text` as it is shown, and the bytes it takes there.
struct Glyph {
  std::string shown;
  size_t bytes;
  size_t width;  // columns
};
Glyph FirstGlyph(std::string_view text);

std::string Printable(std::string_view text);

}  // namespace rekey

#endif  // REKEY_GRAMMAR_PRINTABLE_H_
