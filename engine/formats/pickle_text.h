// How pickles spell texts and numbers: the escapes of protocol 0 and integers of any length.
//
// Facts from Python's pickletools.py. Nothing here knows the stack.
//
//   Unquote(R"('a\x00b')")          // the three bytes a, NUL, b
//   DecimalOfLittleEndian("\x80")   // "-128"
#ifndef REKEY_ENGINE_FORMATS_PICKLE_TEXT_H_
#define REKEY_ENGINE_FORMATS_PICKLE_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

namespace rekey {

// The bytes of a Python 2 string literal, with its quotes; nothing if it is not one.
std::optional<std::string> Unquote(std::string_view literal);

// Python's raw-unicode-escape as UTF-8: \uXXXX and \UXXXXXXXX, all other bytes Latin-1; nothing if
// an escape is broken. A lone surrogate comes out as its three bytes, which are not UTF-8.
std::optional<std::string> FromRawUnicodeEscape(std::string_view text);

// Two's complement, least byte first, as a decimal number. Quadratic: the caller bounds its length.
std::string DecimalOfLittleEndian(std::string_view bytes);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_PICKLE_TEXT_H_
