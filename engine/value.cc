#include "engine/value.h"

#include <charconv>
#include <cmath>

namespace rekey {
namespace {

std::string Written(double real) {
  if (std::isnan(real)) return "nan";
  if (std::isinf(real)) return real < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), real).ptr;
  std::string text(buffer, end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string Written(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string Written(const ValueList& list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i) text += (i ? ", " : "") + ToString(list[i]);
  return text + "]";
}

}  // namespace

std::string ToString(const Value& value) {
  if (const bool* truth = value.truth()) return *truth ? "true" : "false";
  if (const int64_t* integer = value.integer()) return std::to_string(*integer);
  if (const double* real = value.real()) return Written(*real);
  if (const std::string* text = value.text()) return Written(*text);
  if (const DType* dtype = value.dtype()) return std::string(Name(*dtype));
  return Written(*value.list());
}

std::string_view TypeName(const Value& value) {
  if (value.truth()) return "a truth value";
  if (value.integer()) return "an integer";
  if (value.real()) return "a float";
  if (value.text()) return "a text";
  if (value.dtype()) return "a dtype";
  return "a list";
}

}  // namespace rekey
